/* DMA between L2 and L1: every shape against a copy by the core, with guard bytes; tickets of several cores at once. */
#include <string.h>

#include "dory/hal.h"
#include "expect.h"

#define AREA       8192u
#define FAR_STRIDE 70000u /* does not fit the DMA's 16-bit stride */

static uint8_t local[AREA] DORY_L1;
static uint8_t external[AREA] DORY_L2, expected_local[AREA] DORY_L2, expected_external[AREA] DORY_L2;
static uint8_t far_external[2 * FAR_STRIDE] DORY_L2;

/* ---- one shape --------------------------------------------------------------------------------------------- */

static void copy_by_core(const struct hal_dma_copy *copy)
{
    for (uint32_t plane = 0; plane < copy->planes; plane++)
        for (uint32_t run = 0; run < copy->runs; run++) {
            uint8_t *inside = (uint8_t *)copy->local + plane * copy->local_plane_stride + run * copy->local_run_stride;
            uint8_t *outside =
                (uint8_t *)copy->external + plane * copy->external_plane_stride + run * copy->external_run_stride;
            if (copy->direction == HAL_TO_LOCAL)
                memcpy(inside, outside, copy->run_bytes);
            else
                memcpy(outside, inside, copy->run_bytes);
        }
}

static void fill(uint32_t seed)
{
    for (uint32_t i = 0; i < AREA; i++) {
        expected_local[i] = local[i] = (uint8_t)(i * 7 + seed);
        expected_external[i] = external[i] = (uint8_t)(i * 11 + (i >> 8) + seed * 3 + 128);
    }
}

static void check_copy(const struct hal_dma_copy *copy, uint32_t seed)
{
    fill(seed);
    hal_dma_ticket ticket;
    EXPECT_EQUAL(hal_dma_open(&ticket), DORY_OK);
    EXPECT_EQUAL(hal_dma_copy(ticket, copy), DORY_OK);
    EXPECT_EQUAL(hal_dma_wait(ticket), DORY_OK);

    struct hal_dma_copy reference = *copy;
    reference.local = expected_local + ((uint8_t *)copy->local - local);
    reference.external = expected_external + ((uint8_t *)copy->external - external);
    copy_by_core(&reference);
    int same = memcmp(local, expected_local, AREA) == 0 && memcmp(external, expected_external, AREA) == 0;
    EXPECT(same, "direction %d, %lu planes of %lu runs of %lu bytes; strides: external %lu, %lu, local %lu, %lu",
           copy->direction, (unsigned long)copy->planes, (unsigned long)copy->runs, (unsigned long)copy->run_bytes,
           (unsigned long)copy->external_plane_stride, (unsigned long)copy->external_run_stride,
           (unsigned long)copy->local_plane_stride, (unsigned long)copy->local_run_stride);
}

static uint32_t random_below(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

/* A stride that leaves no gap in half of the cases: those are the ones that the HAL joins. */
static uint32_t random_stride(uint32_t *state, uint32_t least)
{
    return random_below(state, 2) ? least : least + random_below(state, 9);
}

static void check_random_shape(uint32_t *state)
{
    struct hal_dma_copy copy = {.direction = random_below(state, 2) ? HAL_TO_LOCAL : HAL_FROM_LOCAL};
    copy.planes = 1 + random_below(state, 4);
    copy.runs = 1 + random_below(state, 6);
    copy.run_bytes = 1 + random_below(state, 150);
    copy.external_run_stride = random_stride(state, copy.run_bytes);
    copy.local_run_stride = random_stride(state, copy.run_bytes);
    copy.external_plane_stride = random_stride(state, copy.external_run_stride * copy.runs);
    copy.local_plane_stride = random_stride(state, copy.local_run_stride * copy.runs);
    copy.local = local + 1 + random_below(state, 100);
    copy.external = external + 1 + random_below(state, 100);
    check_copy(&copy, *state);
}

static void test_shapes(void *argument)
{
    (void)argument;
    if (hal_core_id() != 0)
        return;
    uint32_t state = 1;
    for (int shape = 0; shape < 300; shape++)
        check_random_shape(&state);
    check_copy(&(struct hal_dma_copy){.local = local, .external = external, .run_bytes = AREA, .runs = 1, .planes = 1}, 5);
}

/* ---- beyond 16 bits ---------------------------------------------------------------------------------------- */

static void test_far_stride(void *argument)
{
    (void)argument;
    if (hal_core_id() != 0)
        return;
    for (uint32_t i = 0; i < 100; i++) {
        far_external[i] = (uint8_t)(i + 1);
        far_external[FAR_STRIDE + i] = (uint8_t)(200 - i);
    }
    hal_dma_ticket ticket;
    hal_dma_open(&ticket);
    hal_dma_copy(ticket, &(struct hal_dma_copy){.local = local,
                                                .external = far_external,
                                                .run_bytes = 100,
                                                .runs = 2,
                                                .planes = 1,
                                                .external_run_stride = FAR_STRIDE,
                                                .local_run_stride = 100});
    hal_dma_wait(ticket);
    EXPECT_BYTES(local, far_external, 100);
    EXPECT_BYTES(local + 100, far_external + FAR_STRIDE, 100);
}

/* ---- tickets ----------------------------------------------------------------------------------------------- */

#define SLICE (AREA / 8)

static void copy_slice(hal_dma_ticket ticket, enum hal_direction direction, uint32_t offset, uint32_t bytes)
{
    hal_dma_copy(ticket, &(struct hal_dma_copy){.local = local + offset,
                                                .external = external + offset,
                                                .run_bytes = bytes,
                                                .runs = 1,
                                                .planes = 1,
                                                .direction = direction});
}

/* Each core holds a ticket of two copies in, waits, adds 1 to its slice, and writes it back, at its own pace. */
static void use_tickets(void *argument)
{
    uint32_t rounds = *(uint32_t *)argument, core = hal_core_id(), offset = core * SLICE;
    for (uint32_t round = 0; round < rounds; round++) {
        hal_dma_ticket in, out;
        hal_dma_open(&in);
        copy_slice(in, HAL_TO_LOCAL, offset, SLICE / 2);
        copy_slice(in, HAL_TO_LOCAL, offset + SLICE / 2, SLICE / 2);
        hal_dma_wait(in);
        for (uint32_t i = 0; i < SLICE; i++)
            local[offset + i]++;
        hal_dma_open(&out);
        copy_slice(out, HAL_FROM_LOCAL, offset, SLICE);
        if (round % 3 == core % 3)
            hal_barrier(); /* with an event of the DMA possibly pending */
        else
            hal_barrier();
        hal_dma_wait(out);
    }
}

/* One core with two tickets open, waited for in the other order; an empty ticket. */
static void interleave_tickets(void *argument)
{
    (void)argument;
    if (hal_core_id() != 3)
        return;
    hal_dma_ticket first, second, empty;
    hal_dma_open(&first);
    copy_slice(first, HAL_TO_LOCAL, 0, 4096);
    hal_dma_open(&second);
    copy_slice(second, HAL_TO_LOCAL, 4096, 64);
    hal_dma_open(&empty);
    EXPECT_THAT(first != second && second != empty);
    EXPECT_EQUAL(hal_dma_wait(empty), DORY_OK);
    EXPECT_EQUAL(hal_dma_wait(second), DORY_OK);
    EXPECT_BYTES(local + 4096, external + 4096, 64);
    EXPECT_EQUAL(hal_dma_wait(first), DORY_OK);
    EXPECT_BYTES(local, external, 4096);
}

static void test_tickets(void)
{
    uint32_t rounds = 20;
    fill(0);
    EXPECT_EQUAL(hal_cluster_run(use_tickets, &rounds), DORY_OK);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < AREA; i++)
        wrong += external[i] != (uint8_t)(expected_external[i] + rounds);
    EXPECT_EQUAL(wrong, 0);
    EXPECT_EQUAL(hal_cluster_run(interleave_tickets, NULL), DORY_OK);
}

int main(void)
{
    EXPECT_EQUAL(hal_cluster_open(8), DORY_OK);
    EXPECT_EQUAL(hal_cluster_run(test_shapes, NULL), DORY_OK);
    EXPECT_EQUAL(hal_cluster_run(test_far_stride, NULL), DORY_OK);
    test_tickets();
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    return expect_result("chip: dma");
}
