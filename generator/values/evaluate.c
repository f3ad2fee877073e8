#include "values/evaluate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/terminal.h"
#include "network/interpret.h"

/* What the threads share. Each takes the next image that nobody has. */
struct work {
    const struct data_set *set;
    atomic_size_t next, done, right;
    atomic_bool failed;
    pthread_mutex_t mutex; /* of the diagnostics */
    struct diagnostics *diagnostics;
};

/* The first fault of a thread, for the user. */
static void report(struct work *work, const struct diagnostics *own)
{
    pthread_mutex_lock(&work->mutex);
    if (!atomic_exchange(&work->failed, true) && own->count > 0)
        diagnose(work->diagnostics, SEVERITY_ERROR, own->list[0].node, own->list[0].attribute, "%s", own->list[0].text);
    pthread_mutex_unlock(&work->mutex);
}

static size_t largest(const int64_t *values, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        best = values[i] > values[best] ? i : best;
    return best;
}

static bool run_image(struct work *work, size_t index, int64_t *const *tensors, struct arena *arena,
                      struct diagnostics *diagnostics)
{
    const struct network *network = work->set->network;
    int input = network->inputs[0], output = network->outputs[0];
    const int64_t *image = data_set_image(work->set, index, arena, diagnostics);
    if (!image)
        return false;
    memcpy(tensors[input], image, tensor_elements(&network->tensors[input]) * sizeof *image);
    for (int layer = 0; layer < network->layer_count; layer++)
        if (!interpret_layer(network, layer, tensors, diagnostics))
            return false;
    if ((int64_t)largest(tensors[output], tensor_elements(&network->tensors[output])) == work->set->labels[index])
        atomic_fetch_add(&work->right, 1);
    return true;
}

static void *run_images(void *argument)
{
    struct work *work = argument;
    struct arena kept = {0};
    int64_t **tensors = interpret_allocate(work->set->network, &kept);
    while (!atomic_load(&work->failed)) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        size_t index = atomic_fetch_add(&work->next, 1);
        bool is_there = index < work->set->count;
        if (is_there && !run_image(work, index, tensors, &arena, &diagnostics))
            report(work, &diagnostics);
        arena_free(&arena);
        if (!is_there)
            break;
        atomic_fetch_add(&work->done, 1);
    }
    arena_free(&kept);
    return NULL;
}

/* The thread that was called shows how far the others are; progress belongs to one thread. */
static void show_progress(struct work *work)
{
    const struct timespec pause = {0, 20 * 1000 * 1000};
    while (!atomic_load(&work->failed) && atomic_load(&work->done) < work->set->count) {
        progress_part((int)atomic_load(&work->done), (int)work->set->count);
        nanosleep(&pause, NULL);
    }
}

#define MAXIMUM_THREADS 256

static unsigned start(struct work *work, unsigned threads, pthread_t *started)
{
    unsigned count = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0)
        threads = cores > 0 ? (unsigned)cores : 1;
    while (count < threads && count < MAXIMUM_THREADS && pthread_create(&started[count], NULL, run_images, work) == 0)
        count++;
    return count;
}

bool evaluate(const struct data_set *set, unsigned threads, struct evaluation *evaluation, struct diagnostics *diagnostics)
{
    struct work work = {.set = set, .diagnostics = diagnostics};
    pthread_t started[MAXIMUM_THREADS];
    double begin = terminal_seconds();
    pthread_mutex_init(&work.mutex, NULL);
    progress_step("evaluating");
    unsigned count = start(&work, threads, started);
    if (count > 0)
        show_progress(&work);
    else
        run_images(&work);
    for (unsigned i = 0; i < count; i++)
        pthread_join(started[i], NULL);
    progress_step(NULL);
    pthread_mutex_destroy(&work.mutex);
    *evaluation = (struct evaluation){set->count, atomic_load(&work.right), terminal_seconds() - begin};
    return !atomic_load(&work.failed);
}
