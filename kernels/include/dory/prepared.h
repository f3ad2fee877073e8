/* Tiles that the generator has placed. The driver computes where a tile lies and what must be copied for it in some 3,000
 * cycles of the fabric controller, which small layers do not last; to take it from a table is less than half of that. */
#ifndef DORY_PREPARED_H
#define DORY_PREPARED_H

#include "dory/hal.h"
#include "dory/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tile with its copies. Addresses are offsets: those in L1 from the start of its arena, `external` ones of weights from
 * where weights_offset of a step counts, all others from the start of the L2 arena. Null stays null. */
struct dory_prepared_tile {
    struct dory_tile tile;
    struct dory_valid valid;
    uint8_t starts_step, ends_step;
    uint8_t overlaps;              /* may be loaded while the tile before is computed */
    uint8_t load_weights;          /* the first of `loads` is that of weights */
    uint8_t has_border, has_table; /* as in the driver's word to the cores */
    uint8_t output_buffer;
    uint8_t store_count, load_count;
    struct hal_dma_copy store, loads[3];
};

/* Bytes of such a tile in the firmware of a microcontroller, whose pointers have 32 bits: what the generator counts. */
#define DORY_PREPARED_TILE_BYTES 232u
#if UINTPTR_MAX == UINT32_MAX && !defined(__cplusplus)
_Static_assert(sizeof(struct dory_prepared_tile) == DORY_PREPARED_TILE_BYTES, "the generator counts these bytes");
#endif

#ifdef __cplusplus
}
#endif

#endif
