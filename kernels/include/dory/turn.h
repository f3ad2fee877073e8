#ifndef DORY_TURN_H
#define DORY_TURN_H

/* What the driver starts of transfers from and to L3 beside one tile, which its plan has to know, too. */
#include <stdbool.h>
#include <stdint.h>

/* More than L3 moves beside a tile: on GAP8 in 264,000 cycles, and tiles take up to 150,000. */
#define DORY_BYTES_A_TURN 262144u

/* Less than a HAL's queue has room for, 64. */
#define DORY_TRANSFERS_A_TURN 32u

/* Whether a further one is started beside a tile where so many are, of so many bytes together. */
static inline bool dory_turn_goes_on(uint32_t transfers, uint64_t bytes)
{
    return transfers < DORY_TRANSFERS_A_TURN && bytes < DORY_BYTES_A_TURN;
}

#endif
