/* Copies of a core's own, where no DMA controller makes them. */
#ifndef DORY_HAL_COPY_H
#define DORY_HAL_COPY_H

#include <string.h>

#include "dory/hal.h"

/* In words, at any addresses: picolibc's memcpy for these cores copies byte by byte. The empty statement keeps the compiler
 * from making a call to it of the loop. */
static inline void copy_bytes(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uint32_t words[4];
    for (; bytes >= sizeof words; bytes -= (uint32_t)sizeof words, to += sizeof words, from += sizeof words) {
        memcpy(words, from, sizeof words);
        memcpy(to, words, sizeof words);
        __asm__ volatile("" ::: "memory");
    }
    for (; bytes > 0; bytes--) {
        *to++ = *from++;
        __asm__ volatile("");
    }
}

static inline void copy_run(const struct hal_dma_copy *copy, uint32_t plane, uint32_t run)
{
    uint8_t *local = (uint8_t *)copy->local + plane * copy->local_plane_stride + run * copy->local_run_stride;
    uint8_t *external = (uint8_t *)copy->external + plane * copy->external_plane_stride + run * copy->external_run_stride;
    if (copy->direction == HAL_TO_LOCAL)
        copy_bytes(local, external, copy->run_bytes);
    else
        copy_bytes(external, local, copy->run_bytes);
}

static inline void copy_by_core(const struct hal_dma_copy *copy)
{
    for (uint32_t plane = 0; plane < copy->planes; plane++)
        for (uint32_t run = 0; run < copy->runs; run++)
            copy_run(copy, plane, run);
}

#endif
