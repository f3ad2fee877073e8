/* Stacks that overflow, on every target that has stacks of its own: said by hal_cluster_run and hal_cluster_close, with the
 * owner's name in the log, and good again after the next hal_cluster_open. With CASE 1 the fabric controller's, which
 * nothing can make good again; with CASE 2 one that destroys another.
 *
 * The victim is the core behind whose stack there is nothing of another core's. Its frames are sparse: a few bytes of each
 * are touched, as a buffer that is too large for what it holds, and the guard must notice all the same. */
#include "dory/hal.h"
#include "expect.h"

#ifndef CASE
#define CASE 0
#endif

#if CASE == 2
#define VICTIM 3               /* between others */
#elif defined(DORY_HAL_INLINE) /* gap8: the last core's stack is the lowest */
#define VICTIM 7
#else
#define VICTIM 0
#endif
#define CORES 8

static volatile unsigned bytes_to_use;

#define SPARSE 96 /* bytes of a frame, of which one is touched */
#define DENSE  24

/* AddressSanitizer would keep their arrays elsewhere, to see a use after the return. */
#define ON_THE_STACK __attribute__((noinline, no_sanitize_address))

static ON_THE_STACK unsigned use_sparsely(uintptr_t top)
{
    volatile uint8_t block[SPARSE];
    block[0] = 1;
    unsigned deeper = top - (uintptr_t)block < bytes_to_use ? use_sparsely(top) : 0;
    return deeper + block[0];
}

static ON_THE_STACK unsigned use_densely(uintptr_t top)
{
    volatile uint8_t block[DENSE];
    block[0] = 1;
    unsigned deeper = top - (uintptr_t)block < bytes_to_use ? use_densely(top) : 0;
    return deeper + block[0];
}

static ON_THE_STACK void use_on_victim(void *argument)
{
    volatile uint8_t here = 0;
    (void)argument;
    if (hal_core_id() == VICTIM)
        here = (uint8_t)use_sparsely((uintptr_t)&here);
    (void)here;
    hal_barrier();
}

static uint32_t peak_of(unsigned core)
{
    struct hal_stack stack = {0};
    EXPECT_THAT(hal_stack_peak(core, &stack) == DORY_OK);
    return stack.peak_bytes;
}

static uint32_t bytes_of(unsigned core)
{
    struct hal_stack stack = {0};
    EXPECT_THAT(hal_stack_peak(core, &stack) == DORY_OK);
    return stack.bytes;
}

static int run_with(unsigned bytes)
{
    bytes_to_use = bytes;
    return hal_cluster_run(use_on_victim, NULL);
}

static void test_cores(void)
{
    EXPECT_EQUAL(hal_cluster_open(CORES), DORY_OK);
    uint32_t bytes = bytes_of(VICTIM);
    EXPECT_EQUAL(run_with(1), DORY_OK);
    uint32_t least = peak_of(VICTIM);
    EXPECT_EQUAL(run_with(bytes / 2), DORY_OK);
    uint32_t half = peak_of(VICTIM);
    EXPECT_THAT(half >= bytes / 2 && half < bytes / 2 + least + 2 * SPARSE);
    EXPECT_THAT(peak_of(VICTIM - 1u < CORES ? VICTIM - 1u : VICTIM + 1u) < half); /* the other cores did nothing */
    int status = DORY_OK;
    for (unsigned more = bytes - least; status == DORY_OK && peak_of(VICTIM) <= bytes; more += DENSE)
        status = run_with(more); /* just into the guard: there may be no memory behind it */
    EXPECT_THAT(status == DORY_ERROR_STACK && peak_of(VICTIM) > bytes);
    EXPECT_EQUAL(run_with(1), DORY_ERROR_STACK); /* it was so, whatever has happened since */
    EXPECT_EQUAL(hal_cluster_close(), DORY_ERROR_STACK);
    EXPECT_EQUAL(hal_cluster_open(CORES), DORY_OK);
    EXPECT_EQUAL(run_with(1), DORY_OK);
    EXPECT_THAT(peak_of(VICTIM) < half);
    EXPECT_THAT(hal_stack_peak(CORES, &(struct hal_stack){0}) == DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_stack_peak(0, NULL), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
}

static ON_THE_STACK void test_fabric_controller(void)
{
    volatile uint8_t here = 0;
    uint32_t before = peak_of(HAL_FABRIC_CONTROLLER), bytes = bytes_of(HAL_FABRIC_CONTROLLER);
    EXPECT_EQUAL(hal_cluster_open(CORES), DORY_OK);
    EXPECT_THAT(before > 0 && before < bytes);
    EXPECT_EQUAL(run_with(1), DORY_OK);
    bytes_to_use = bytes - before - SPARSE; /* nearly full: the last frame passes that by its own size */
    here = (uint8_t)use_densely((uintptr_t)&here);
    EXPECT_THAT(peak_of(HAL_FABRIC_CONTROLLER) > bytes_to_use && run_with(1) == DORY_OK);
    /* somewhere in the guard, and not beyond it */
    for (bytes_to_use = bytes - before; peak_of(HAL_FABRIC_CONTROLLER) <= bytes; bytes_to_use += DENSE)
        here = (uint8_t)use_densely((uintptr_t)&here);
    EXPECT_EQUAL(run_with(1), DORY_ERROR_STACK);
    EXPECT_EQUAL(hal_cluster_close(), DORY_ERROR_STACK);
}

/* Through the whole stack of another core, which waits at a barrier: there is no way back, but there must be a message. */
static void test_far(void)
{
    EXPECT_EQUAL(hal_cluster_open(CORES), DORY_OK);
    run_with(2 * bytes_of(3));
}

static void (*const cases[])(void) = {test_cores, test_fabric_controller, test_far};

int main(void)
{
    cases[CASE]();
    return expect_result("overflowing stacks");
}
