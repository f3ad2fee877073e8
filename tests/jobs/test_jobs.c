/* Runs beside an application, on every target: what they compute, what belongs to whom, and what is refused. */
#include "expect.h"
#include "jobs_digits.h"
#include "jobs_dumped.h"
#include "jobs_resident.h"
#include "jobs_residual.h"

#define MAXIMUM_INPUT_BYTES  4096
#define MAXIMUM_OUTPUT_BYTES 4096
#define MAXIMUM_LAYERS       32
#define CANCELS              12 /* points of a run, from its start on */

/* Does a run go on by itself, in a time that can be told? Of the machines that this runs on, on bare metal with cycles. */
#ifdef __riscv
#define HAS_INTERRUPTS hal_cycles_available()
#else
#define HAS_INTERRUPTS 0
#endif

static union {
    uint8_t digits[JOBS_DIGITS_L1_BYTES], residual[JOBS_RESIDUAL_L1_BYTES], resident[JOBS_RESIDENT_L1_BYTES];
    uint8_t dumped[JOBS_DUMPED_L1_BYTES];
} l1 DORY_L1;
static union {
    uint8_t digits[JOBS_DIGITS_L2_BYTES], residual[JOBS_RESIDUAL_L2_BYTES], dumped[JOBS_DUMPED_L2_BYTES];
} l2 DORY_L2;
static uint8_t resident_l2[JOBS_RESIDENT_L2_BYTES] DORY_L2;
static uint8_t input[MAXIMUM_INPUT_BYTES] DORY_L2;
static uint8_t outputs[2][MAXIMUM_OUTPUT_BYTES] DORY_L2;
static struct dory_job jobs[2] DORY_FC;

/* A network, and what it computes of `input`. */
static struct subject {
    const char *name;
    const struct dory_network *network;
    int (*run)(const struct dory_buffers *buffers, const void *input, void *output);
    int (*start)(struct dory_job *job, const struct dory_buffers *buffers, const void *input, void *output);
    int (*poll)(struct dory_job *job);
    int (*wait)(struct dory_job *job);
    void (*cancel)(struct dory_job *job);
    struct dory_buffers buffers;
    uint8_t expected[MAXIMUM_OUTPUT_BYTES];
} subjects[] = {
#define SUBJECT(name) #name, &name##_network, name##_run, name##_start, name##_poll, name##_wait, name##_cancel
    {SUBJECT(jobs_digits), {.l1 = &l1, .l1_bytes = sizeof l1, .l2 = &l2, .l2_bytes = sizeof l2}, {0}},
    {SUBJECT(jobs_residual), {.l1 = &l1, .l1_bytes = sizeof l1, .l2 = &l2, .l2_bytes = sizeof l2}, {0}},
    {SUBJECT(jobs_resident), {.l1 = &l1, .l1_bytes = sizeof l1, .l2 = resident_l2, .l2_bytes = sizeof resident_l2}, {0}},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)

static bool is_exact(const struct subject *subject, const uint8_t *output)
{
    return memcmp(output, subject->expected, subject->network->outputs[0].bytes) == 0;
}

/* ---- the application's own work ---------------------------------------------------------------------------- */

static uint32_t work_done;
static unsigned polls_too_early; /* right after the start */
static unsigned runs_cancelled;

/* Nobody but this function knows its numbers: what it has on the stack must be there still after an interrupt. */
static void work_a_little(void)
{
    uint32_t a = work_done, b = a ^ 0x9E3779B9u, c = a * 31, d = ~a;
    for (unsigned i = 0; i < 50; i++) {
        a += b, b ^= c << 3, c += d, d ^= a >> 5;
    }
    uint32_t once = a ^ b ^ c ^ d;
    a = work_done, b = a ^ 0x9E3779B9u, c = a * 31, d = ~a;
    for (volatile unsigned i = 0; i < 50; i++) {
        a += b, b ^= c << 3, c += d, d ^= a >> 5;
    }
    EXPECT(once == (a ^ b ^ c ^ d), "the application's own numbers have changed");
    work_done++;
}

/* ---- runs -------------------------------------------------------------------------------------------------- */

static int start(struct subject *subject, unsigned job, enum hal_progress progress)
{
    memset(outputs[job], 0xEE, sizeof outputs[job]);
    subject->buffers.progress = progress;
    struct dory_buffers buffers = subject->buffers; /* of which nothing may be kept */
    int status = subject->start(&jobs[job], &buffers, input, outputs[job]);
    memset(&buffers, 0xEE, sizeof buffers);
    return status;
}

static int poll_to_the_end(struct subject *subject, unsigned job)
{
    int status;
    while ((status = subject->poll(&jobs[job])) == DORY_RUNNING) {
        work_a_little();
    }
    return status;
}

static void test_polls(struct subject *subject, enum hal_progress progress)
{
    EXPECT(start(subject, 0, progress) == DORY_OK, "%s: starts", subject->name);
    polls_too_early += subject->poll(&jobs[0]) == DORY_RUNNING;
    EXPECT(poll_to_the_end(subject, 0) == DORY_OK && is_exact(subject, outputs[0]), "%s: exact with polls", subject->name);
    EXPECT(subject->poll(&jobs[0]) == DORY_OK && subject->wait(&jobs[0]) == DORY_OK, "%s: the end is the end",
           subject->name);
}

/* By interrupts the application need not look until the end. */
static void test_no_polls(struct subject *subject)
{
    uint32_t before = hal_cycles();
    EXPECT(subject->run(&subject->buffers, input, outputs[0]) == DORY_OK, "%s: runs", subject->name);
    uint32_t cycles = hal_cycles() - before;
    EXPECT(start(subject, 0, HAL_BY_INTERRUPT) == DORY_OK, "%s: starts", subject->name);
    before = hal_cycles();
    while (hal_cycles() - before < 5 * cycles) {
        work_a_little();
    }
    EXPECT(subject->poll(&jobs[0]) == DORY_OK && is_exact(subject, outputs[0]), "%s: complete without a poll",
           subject->name);
}

static void test_wait(struct subject *subject, enum hal_progress progress)
{
    for (unsigned polls = 0; polls < 20; polls = 3 * polls + 1) {
        bool has_ended = false;
        EXPECT(start(subject, 1, progress) == DORY_OK, "%s: starts", subject->name);
        for (unsigned i = 0; i < polls && !has_ended; i++) {
            has_ended = subject->poll(&jobs[1]) != DORY_RUNNING;
            work_a_little();
        }
        EXPECT(subject->wait(&jobs[1]) == DORY_OK && is_exact(subject, outputs[1]), "%s: exact after some polls",
               subject->name);
    }
}

/* Cancelled after some polls. Where others than the application drive, they may be through by then. */
static void test_cancel(struct subject *subject, enum hal_progress progress)
{
    for (unsigned polls = 0; polls < CANCELS; polls++) {
        int status = start(subject, 0, progress);
        for (unsigned i = 0; i < polls && status >= DORY_OK; i++) {
            work_a_little();
            status = subject->poll(&jobs[0]) == DORY_RUNNING ? DORY_OK : -1;
        }
        subject->cancel(&jobs[0]);
        status = polls % 2 ? subject->wait(&jobs[0]) : poll_to_the_end(subject, 0);
        EXPECT(status == DORY_ERROR_CANCELLED || (status == DORY_OK && is_exact(subject, outputs[0])), "%s: cancels",
               subject->name);
        runs_cancelled += status == DORY_ERROR_CANCELLED;
        memset(outputs[1], 0xEE, sizeof outputs[1]);
        EXPECT(subject->run(&subject->buffers, input, outputs[1]) == DORY_OK && is_exact(subject, outputs[1]),
               "%s: exact after a run that was cancelled", subject->name);
    }
    subject->cancel(&jobs[0]);
}

static void test_second_start(struct subject *subject, enum hal_progress progress)
{
    EXPECT(start(subject, 0, progress) == DORY_OK, "%s: starts", subject->name);
    EXPECT(start(subject, 1, progress) == DORY_ERROR_BUSY, "%s: no second start", subject->name);
    EXPECT(subject->start(&jobs[0], &subject->buffers, input, outputs[1]) == DORY_ERROR_BUSY, "%s: nor of its own",
           subject->name);
    EXPECT(subject->run(&subject->buffers, input, outputs[1]) == DORY_ERROR_BUSY, "%s: nor a run", subject->name);
    EXPECT(dory_network_load(subject->network, &subject->buffers) == DORY_ERROR_BUSY, "%s: nor weights", subject->name);
    EXPECT(dory_network_check_flash(subject->network, &subject->buffers) == DORY_ERROR_BUSY, "%s: nor a look",
           subject->name);
    EXPECT(poll_to_the_end(subject, 0) == DORY_OK && is_exact(subject, outputs[0]), "%s: exact after refusals",
           subject->name);
}

/* ---- observer and profile ---------------------------------------------------------------------------------- */

struct observer {
    unsigned layers, last_layer;
};

static int observe(void *user, const struct dory_buffers *buffers, unsigned layer)
{
    struct observer *observer = user;
    observer->layers++;
    return buffers->user == user && layer < observer->last_layer ? DORY_OK : DORY_ERROR_MISMATCH;
}

static void test_observer(struct subject *subject, enum hal_progress progress)
{
    static struct dory_layer_profile profile[MAXIMUM_LAYERS];
    struct observer observer = {.last_layer = 1000};
    subject->buffers.observe = observe;
    subject->buffers.user = &observer;
    subject->buffers.profile = profile;
    int status = start(subject, 0, progress);
    status = status == DORY_OK ? poll_to_the_end(subject, 0) : status;
    EXPECT(status == DORY_OK && is_exact(subject, outputs[0]), "%s: exact with an observer", subject->name);
    EXPECT(observer.layers == subject->network->layer_count, "%s: observed", subject->name);
    for (unsigned i = 0; i < subject->network->layer_count; i++)
        EXPECT(profile[i].tiles > 0, "%s: tiles of layer %u in the profile", subject->name, i);

    observer = (struct observer){.last_layer = 1};
    status = start(subject, 0, progress);
    status = status == DORY_OK ? poll_to_the_end(subject, 0) : status;
    EXPECT(status == DORY_ERROR_MISMATCH && observer.layers == 2, "%s: an observer ends a run", subject->name);
    subject->buffers.observe = NULL;
    subject->buffers.profile = NULL;
}

/* ---- several, and none ------------------------------------------------------------------------------------- */

static void test_turns(enum hal_progress progress)
{
    for (unsigned i = 0; i < 2 * SUBJECTS; i++) {
        struct subject *subject = &subjects[i % SUBJECTS];
        EXPECT(start(subject, i % 2, progress) == DORY_OK, "%s: starts", subject->name);
        int status = i % 3 ? poll_to_the_end(subject, i % 2) : subject->wait(&jobs[i % 2]);
        EXPECT(status == DORY_OK && is_exact(subject, outputs[i % 2]), "%s: exact by turns", subject->name);
    }
}

static void test_refusals(struct subject *subject)
{
    static struct dory_job never;
    struct dory_buffers wrong = subject->buffers;
    wrong.l2_bytes--;
    EXPECT(dory_job_poll(&never) == DORY_ERROR_ARGUMENT && dory_job_wait(&never) == DORY_ERROR_ARGUMENT, "%s: no job",
           subject->name);
    EXPECT(dory_job_poll(NULL) == DORY_ERROR_ARGUMENT && dory_job_wait(NULL) == DORY_ERROR_ARGUMENT, "%s: null",
           subject->name);
    dory_job_cancel(NULL);
    dory_job_cancel(&never);
    EXPECT(subject->start(NULL, &subject->buffers, input, outputs[0]) == DORY_ERROR_ARGUMENT, "%s: null job", subject->name);
    EXPECT(subject->start(&never, NULL, input, outputs[0]) == DORY_ERROR_ARGUMENT, "%s: null buffers", subject->name);
    wrong.l2_bytes = 8;
    EXPECT(subject->start(&never, &wrong, input, outputs[0]) == DORY_ERROR_L2_TOO_SMALL, "%s: too small", subject->name);
    EXPECT(dory_job_poll(&never) == DORY_ERROR_ARGUMENT, "%s: a start that was refused is none", subject->name);
    EXPECT(jobs_dumped_start(&never, &subject->buffers, input, outputs[0]) == DORY_ERROR_UNSUPPORTED, "%s: no dump",
           subject->name);
    EXPECT(!hal_cluster_is_busy(), "%s: nothing goes on", subject->name);
}

/* ---- all --------------------------------------------------------------------------------------------------- */

static void prepare(struct subject *subject, const void *weights)
{
    subject->buffers.flash_address = hal_flash_address(weights);
    EXPECT(dory_network_load(subject->network, &subject->buffers) == DORY_OK, "%s: loads", subject->name);
    EXPECT(subject->run(&subject->buffers, input, subject->expected) == DORY_OK, "%s: runs", subject->name);
}

static void test(void)
{
    for (unsigned i = 0; i < sizeof input; i++) {
        input[i] = (uint8_t)(i * 37 + 11);
    }
    prepare(&subjects[0], jobs_digits_weights);
    prepare(&subjects[1], jobs_residual_weights);
    prepare(&subjects[2], jobs_resident_weights);
    test_refusals(&subjects[0]);
    for (int by_poll = 0; by_poll < 2; by_poll++) {
        enum hal_progress progress = by_poll ? HAL_BY_POLL : HAL_BY_INTERRUPT;
        for (unsigned i = 0; i < SUBJECTS; i++) {
            if (!by_poll && HAS_INTERRUPTS) {
                test_no_polls(&subjects[i]);
            }
            test_polls(&subjects[i], progress);
            test_wait(&subjects[i], progress);
            test_cancel(&subjects[i], progress);
            test_second_start(&subjects[i], progress);
            test_observer(&subjects[i], progress);
        }
        test_turns(progress);
    }
}

int main(void)
{
    int l3 = hal_l3_open(NULL, NULL), cluster = hal_cluster_open(hal_cluster_maximum_cores());
    EXPECT_EQUAL(l3, DORY_OK);
    EXPECT_EQUAL(cluster, DORY_OK);
    if (l3 != DORY_OK || cluster != DORY_OK)
        return expect_result("jobs");
    test();
    EXPECT(polls_too_early > 0, "no job goes on at a first poll");
    EXPECT(runs_cancelled > 0, "no run can be cancelled");
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    EXPECT_EQUAL(hal_l3_close(), DORY_OK);
    printf("the application's own work %s\n", work_done > 0 ? "went on" : "did not go on");
    return expect_result("jobs");
}
