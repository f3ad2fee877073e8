/* How cores divide a tile: its work is a grid of equal items, row after row, of which each core takes a contiguous part,
 * the first cores one more where it does not divide. With pixel quads as rows and channel quads as columns that is
 * a split by pixels, by channels or by both, whichever is even, at the price of one started row a core.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_SHARE_H
#define DORY_XPULPV2_SHARE_H

#include "dory/layer.h"

struct dory_grid_share {
    uint32_t row, first; /* the next item */
    uint32_t items;      /* left to do */
};

/* A division of gvsoc's and silicon's cores takes about 30 cycles; for a remainder beside it the compiler would make a
 * second one. */
static inline uint32_t dory_quotient(uint32_t dividend, uint32_t divisor)
{
    uint32_t quotient = dividend / divisor;
    __asm__("" : "+r"(quotient));
    return quotient;
}

/* A core's part of a grid of one row. */
struct dory_line_share {
    uint32_t first, items;
};

static inline struct dory_line_share dory_line_share_of(uint32_t total, unsigned core, unsigned cores)
{
    uint32_t each = cores == 8 ? total / 8 : dory_quotient(total, cores), more = total - each * cores;
    return (struct dory_line_share){core * each + dory_minimum(core, more), each + (core < more)};
}

static inline struct dory_grid_share dory_grid_share_of(uint32_t rows, uint32_t columns, unsigned core, unsigned cores)
{
    struct dory_line_share share = dory_line_share_of(rows * columns, core, cores);
    uint32_t row = dory_quotient(share.first, columns);
    return (struct dory_grid_share){.row = row, .first = share.first - row * columns, .items = share.items};
}

/* The end of the part of the current row that is this core's. */
static inline uint32_t dory_grid_share_row_end(const struct dory_grid_share *share, uint32_t columns)
{
    return dory_minimum(share->first + share->items, columns);
}

static inline void dory_grid_share_next_row(struct dory_grid_share *share, uint32_t row_end)
{
    share->items -= row_end - share->first;
    share->first = 0;
    share->row++;
}

#endif
