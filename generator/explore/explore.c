/* Plans for all that is asked. The planner counts cycles of the cluster, which depend on the ratio of the clocks alone:
 * pairs with one ratio share a plan. */
#include "explore/explore.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/terminal.h"
#include "solve/budget.h"

#define MAXIMUM_PROCESSES   64
#define GROUPS_OF_A_PROCESS 2 /* at least, where there are so many, so that all processes end together */

/* What the processes share. */
struct shared {
    atomic_int next, done;
    uint64_t cycles[]; /* by memories and ratio */
};

struct work {
    const struct explore_question *question;
    struct shared *shared;
    int *ratio_of;   /* by pair of clocks */
    int *first_pair; /* by ratio */
    int ratio_count, unit_count;
    int parts; /* into which the ratios are divided */
};

/* ---- ratios ---- */

static bool has_same_ratio(const struct clock_pair *a, const struct clock_pair *b)
{
    return (uint64_t)a->controller_mhz * b->cluster_mhz == (uint64_t)b->controller_mhz * a->cluster_mhz;
}

static void find_ratios(struct work *work, struct arena *arena)
{
    const struct explore_question *question = work->question;
    work->ratio_of = arena_array(arena, int, (size_t)question->clock_count);
    work->first_pair = arena_array(arena, int, (size_t)question->clock_count);
    for (int i = 0; i < question->clock_count; i++) {
        int ratio = 0;
        while (ratio < work->ratio_count &&
               !has_same_ratio(&question->clocks[work->first_pair[ratio]], &question->clocks[i]))
            ratio++;
        if (ratio == work->ratio_count)
            work->first_pair[work->ratio_count++] = i;
        work->ratio_of[i] = ratio;
    }
}

/* ---- one plan ---- */

/* 0: it does not fit. */
static uint64_t cycles_of(const struct work *work, int memories, int ratio, struct plan_memory *memory)
{
    const struct explore_question *question = work->question;
    const struct clock_pair *clocks = &question->clocks[work->first_pair[ratio]];
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target = *question->target;
    struct plan_options options = {
        .cores = question->cores, .l2_application_bytes = question->application_bytes, .memory = memory};
    struct plan plan = {0};
    target.l1_bytes = question->l1_bytes[memories / question->l2_count];
    target.l2_bytes = question->l2_bytes[memories % question->l2_count];
    options.l2_firmware_bytes = target.l2_firmware_bytes + question->application_bytes;
    bool fits = options.l2_firmware_bytes < target.l2_bytes &&
                target_set_clocks(&target, clocks->controller_mhz, clocks->cluster_mhz, &diagnostics) &&
                budget_plan(question->network, &target, &options, &plan, &arena, &diagnostics);
    uint64_t cycles = fits ? plan.predicted_cycles : 0;
    arena_free(&arena);
    return cycles;
}

/* All sizes of L2 with one size of L1 and a part of the ratios: much that is found for one of them is true for others. */
static void work_on_group(const struct work *work, int l1, int part)
{
    struct arena arena = {0};
    struct plan_memory *memory = plan_memory_make(&arena);
    int l2_count = work->question->l2_count;
    for (int memories = l1 * l2_count; memories < (l1 + 1) * l2_count; memories++)
        for (int ratio = part; ratio < work->ratio_count; ratio += work->parts) {
            work->shared->cycles[memories * work->ratio_count + ratio] = cycles_of(work, memories, ratio, memory);
            atomic_fetch_add(&work->shared->done, 1);
        }
    arena_free(&arena);
}

static void work_on(const struct work *work)
{
    int groups = work->question->l1_count * work->parts;
    for (int group; (group = atomic_fetch_add(&work->shared->next, 1)) < groups;)
        work_on_group(work, group % work->question->l1_count, group / work->question->l1_count);
}

/* ---- processes: the planner's solver is made for one thread ---- */

static int count_processes(const struct work *work)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN), most = cores < MAXIMUM_PROCESSES ? cores : MAXIMUM_PROCESSES;
    return most < 1 ? 1 : most < work->unit_count ? (int)most : work->unit_count;
}

/* As few parts of ratios as there must be for all processes to have something to do. */
static int count_parts(const struct work *work, int processes)
{
    int l1_count = work->question->l1_count, parts = (GROUPS_OF_A_PROCESS * processes + l1_count - 1) / l1_count;
    return parts < work->ratio_count ? parts : work->ratio_count;
}

static int start_processes(const struct work *work, int most, pid_t *processes)
{
    int count = 0;
    fflush(NULL);
    while (count < most) {
        pid_t process = fork();
        if (process == 0) {
            terminal_set_verbosity(VERBOSITY_QUIET);
            work_on(work);
            _exit(0);
        }
        if (process < 0)
            break;
        processes[count++] = process;
    }
    return count;
}

/* False where one of them did not come to its end. */
static bool await_processes(const struct work *work, const pid_t *processes, int count)
{
    const struct timespec pause = {0, 20 * 1000 * 1000};
    bool good = true;
    for (int i = 0; i < count; i++) {
        int status = 0;
        pid_t ended;
        while ((ended = waitpid(processes[i], &status, WNOHANG)) == 0) {
            progress_part(atomic_load(&work->shared->done), work->unit_count);
            nanosleep(&pause, NULL);
        }
        good = good && ended == processes[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return good;
}

static bool plan_all(struct work *work, struct diagnostics *diagnostics)
{
    pid_t processes[MAXIMUM_PROCESSES];
    size_t bytes = sizeof *work->shared + (size_t)work->unit_count * sizeof *work->shared->cycles;
    work->shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (work->shared == MAP_FAILED) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "no memory to share: %s", strerror(errno));
        return false;
    }
    progress_step("exploring");
    int most = count_processes(work);
    work->parts = count_parts(work, most);
    int count = start_processes(work, most, processes);
    bool good = await_processes(work, processes, count);
    if (count == 0)
        work_on(work);
    progress_step(NULL);
    if (!good)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "a process that planned did not come to its end");
    return good;
}

/* ---- all of it ---- */

static void fill_points(const struct work *work, struct exploration *exploration)
{
    const struct explore_question *question = work->question;
    for (int i = 0; i < exploration->count; i++) {
        int pair = i % question->clock_count, memories = i / question->clock_count;
        exploration->points[i] = (struct explored){
            .l1_bytes = question->l1_bytes[memories / question->l2_count],
            .l2_bytes = question->l2_bytes[memories % question->l2_count],
            .clocks = question->clocks[pair],
            .cycles = work->shared->cycles[memories * work->ratio_count + work->ratio_of[pair]],
        };
    }
}

bool explore(const struct explore_question *question, struct exploration *exploration, struct arena *arena,
             struct diagnostics *diagnostics)
{
    struct work work = {.question = question};
    int memories = question->l1_count * question->l2_count;
    find_ratios(&work, arena);
    work.unit_count = memories * work.ratio_count;
    if (!plan_all(&work, diagnostics))
        return false;
    *exploration =
        (struct exploration){.question = question, .count = memories * question->clock_count, .plans = work.unit_count};
    exploration->points = arena_array(arena, struct explored, (size_t)exploration->count);
    fill_points(&work, exploration);
    munmap(work.shared, sizeof *work.shared + (size_t)work.unit_count * sizeof *work.shared->cycles);
    explore_estimate(exploration);
    return true;
}
