/* Shared by the tests of the host HAL: a fresh HAL for every test, and runs on the cluster in one line. */
#ifndef DORY_TESTS_HAL_SUPPORT_H
#define DORY_TESTS_HAL_SUPPORT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "expect.h"

#include "dory/hal_host.h"

/* Violations are what many tests provoke: they are counted, but not printed. */
static inline void fresh_hal(enum hal_host_timing timing, uint64_t seed)
{
    struct hal_host_options options = {.seed = seed, .timing = timing, .quiet = 1};
    EXPECT_EQUAL(hal_host_configure(&options), DORY_OK);
}

static inline uint8_t *reserve(enum hal_memory memory, size_t bytes)
{
    void *address = NULL;
    EXPECT_EQUAL(hal_memory_reserve(memory, bytes, &address), DORY_OK);
    REQUIRE(address);
    return address;
}

static inline int run_on(unsigned cores, void (*entry)(void *argument), void *argument)
{
    EXPECT_EQUAL(hal_cluster_open(cores), DORY_OK);
    int status = hal_cluster_run(entry, argument);
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    return status;
}

static inline uint64_t violations(void)
{
    struct hal_host_counters counters;
    hal_host_get_counters(&counters);
    return counters.violations;
}

static inline void fill_pattern(uint8_t *bytes, size_t count, uint8_t first)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(first + i * 7);
}

static inline struct hal_dma_copy copy_1d(void *local, void *external, uint32_t bytes, enum hal_direction direction)
{
    return (struct hal_dma_copy){
        .local = local, .external = external, .run_bytes = bytes, .runs = 1, .planes = 1, .direction = direction};
}

/* A test that needs to look at memory which is in flight. */
#if defined(__clang__)
#define LOOKS_IN_FLIGHT __attribute__((no_sanitize("address", "thread")))
#else
#define LOOKS_IN_FLIGHT __attribute__((no_sanitize_address, no_sanitize_thread, noinline))
#endif

#endif
