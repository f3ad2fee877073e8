/* What a firmware with a DMA controller of its own does: copies that are not complete before they are waited for. Until then
 * their destination is poisoned: who reads it too early, or does not wait, computes something else. */
#include <stdbool.h>
#include <string.h>

#include "dory/hal_cortexm.h"

#define MOST   64
#define POISON 0xDB

static struct hal_dma_copy queue[MOST];
static unsigned count;

static void each_run(const struct hal_dma_copy *copy, void (*act)(void *to, const void *from, size_t bytes))
{
    for (uint32_t plane = 0; plane < copy->planes; plane++) {
        for (uint32_t run = 0; run < copy->runs; run++) {
            uint8_t *local = (uint8_t *)copy->local + plane * copy->local_plane_stride + run * copy->local_run_stride;
            uint8_t *external =
                (uint8_t *)copy->external + plane * copy->external_plane_stride + run * copy->external_run_stride;
            if (copy->direction == HAL_TO_LOCAL)
                act(local, external, copy->run_bytes);
            else
                act(external, local, copy->run_bytes);
        }
    }
}

static void move(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }

static void poison(void *to, const void *from, size_t bytes)
{
    (void)from;
    memset(to, POISON, bytes);
}

int hal_cortexm_copy(const struct hal_dma_copy *copy)
{
    if (count == MOST)
        return DORY_ERROR_DMA;
    each_run(copy, poison);
    queue[count++] = *copy;
    return DORY_OK;
}

int hal_cortexm_copy_wait(void)
{
    static bool has_said;
    if (!has_said)
        hal_log("late copies\n");
    has_said = true;
    for (unsigned i = 0; i < count; i++)
        each_run(&queue[i], move);
    count = 0;
    return DORY_OK;
}
