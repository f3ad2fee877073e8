/* Wrong firmware on purpose. Each case has to be stopped: by the HAL, by AddressSanitizer or by ThreadSanitizer. The
 * test looks for the message; a case that runs to its end prints "not noticed". */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dory/hal_host.h"

static uint8_t *l1, *l2;
static volatile uint8_t seen;

static void load(hal_dma_ticket *ticket)
{
    struct hal_dma_copy copy = {
        .local = l1, .external = l2, .run_bytes = 64, .runs = 1, .planes = 1, .direction = HAL_TO_LOCAL};
    hal_dma_open(ticket);
    hal_dma_copy(*ticket, &copy);
}

static void read_before_wait(void *argument)
{
    hal_dma_ticket ticket;
    (void)argument;
    load(&ticket);
    seen = l1[3];
    hal_dma_wait(ticket);
}

static void read_without_barrier(void *argument)
{
    hal_dma_ticket ticket;
    (void)argument;
    if (hal_core_id() == 0) {
        load(&ticket);
        hal_dma_wait(ticket);
    }
    hal_dma_open(&ticket); /* both use the HAL: that must order nothing */
    hal_dma_wait(ticket);
    if (hal_core_id() == 1)
        seen = l1[3];
}

static void write_without_barrier(void *argument)
{
    hal_dma_ticket ticket;
    (void)argument;
    if (hal_core_id() == 1)
        l2[5] = 7; /* is another core's source */
    if (hal_core_id() == 0) {
        load(&ticket);
        hal_dma_wait(ticket);
    }
}

static void two_l3_callers(void *argument)
{
    (void)argument;
    for (int i = 0; i < 100; i++) /* of two accesses at the very same time ThreadSanitizer may miss one */
        hal_l3_wait(0);
}

static void read_what_is_lent(void *argument)
{
    (void)argument;
    for (int i = 0; i < 100; i++)
        seen = l1[3];
}

static void write_behind_reservation(void *argument)
{
    (void)argument;
    if (hal_core_id() == 0)
        l1[64] = 1;
}

static void core_leaves(void *argument)
{
    (void)argument;
    if (hal_core_id() != 1)
        hal_barrier();
}

static void core_is_late(void *argument)
{
    (void)argument;
    if (hal_core_id() != 1)
        hal_barrier();
    while (!seen)
        ;
}

static void no_notice(void *argument)
{
    (void)argument;
    if (hal_is_driver())
        hal_await_notice();
}

static const struct {
    const char *name;
    void (*entry)(void *argument);
} cases[] = {
    {"read_before_wait", read_before_wait},
    {"read_without_barrier", read_without_barrier},
    {"write_without_barrier", write_without_barrier},
    {"two_l3_callers", two_l3_callers},
    {"application_writes_what_is_lent", read_what_is_lent},
    {"write_behind_reservation", write_behind_reservation},
    {"core_leaves", core_leaves},
    {"core_is_late", core_is_late},
    {"no_notice", no_notice},
};

/* The application goes on, and writes to memory that is the run's. */
static void run_beside(void (*entry)(void *argument))
{
    static uint8_t stack[HAL_DRIVER_STACK_BYTES] __attribute__((aligned(HAL_DRIVER_STACK_ALIGNMENT)));
    hal_cluster_start(entry, NULL, HAL_BY_INTERRUPT, stack);
    l1[3] = 1;
    hal_cluster_wait();
}

static int run(void (*entry)(void *argument))
{
    void *first, *second;
    struct hal_host_options options = {.seed = 1, .barrier_timeout_milliseconds = 500};
    int status = hal_host_configure(&options);
    status |= hal_memory_reserve(HAL_L1, 64, &first);
    status |= hal_memory_reserve(HAL_L2, 64, &second);
    if (status)
        return status;
    l1 = first;
    l2 = second;
    memset(l2, 1, 64);
    hal_l3_open(NULL, NULL);
    hal_cluster_open(2);
    if (entry == read_what_is_lent)
        run_beside(entry);
    else
        hal_cluster_run(entry, NULL);
    hal_cluster_close();
    hal_l3_close();
    return hal_memory_reset();
}

/* ctest takes a signal for a failure whatever the program has printed. */
static void leave(int signal)
{
    (void)signal;
    _exit(3);
}

int main(int count, char **arguments)
{
    signal(SIGABRT, leave);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (count == 2 && strcmp(arguments[1], cases[i].name) == 0)
            return run(cases[i].entry) ? 1 : (puts("not noticed"), 0);
    }
    fprintf(stderr, "usage: hal_misuse CASE\n");
    return 2;
}
