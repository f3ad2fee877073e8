#include "input.h"

#include <stddef.h>
#include <string.h>

#include "dory/hal.h"

/* ---- border ---- */

typedef uint32_t __attribute__((may_alias)) word;

/* At any address; cores with XpulpV2 store such words with a cycle or two more. */
static inline __attribute__((always_inline)) void store_word(uint8_t *address, word value)
{
#if defined(DORY_XPULPV2)
    *(word *)(void *)address = value;
#else
    memcpy(address, &value, sizeof value);
#endif
}

/* Like memset, which a small C library does byte by byte. The last word may lie on the one before. */
static inline __attribute__((always_inline)) void fill(uint8_t *start, uint32_t bytes, word four)
{
    uint8_t *end = start + bytes;
    if (bytes < sizeof four) {
        for (; start < end; start++) {
            *start = (uint8_t)four;
            __asm__ volatile("" : "+r"(start)); /* no call of memset */
        }
        return;
    }
    uint8_t *last = end - sizeof four;
    for (; last - start > (ptrdiff_t)sizeof four; start += 2 * sizeof four) {
        store_word(start, four);
        store_word(start + sizeof four, four);
    }
    if (start < last) {
        store_word(start, four);
    }
    store_word(last, four);
}

/* A word full of elements of the border: the value that a maximum never picks, or the layer's. */
static word border_word(const struct dory_layer *layer)
{
    uint32_t bits = dory_minimum(layer->input_bits, 8), element = (uint32_t)layer->border_value;
    if (layer->operation == DORY_MAXIMUM_POOL) {
        element = layer->input_is_signed ? 1u << (bits - 1) : 0;
    }
    element &= (1u << bits) - 1;
    return (element * (bits == 8 ? 1u : bits == 4 ? 0x11u : 0x55u) & 0xFF) * 0x01010101u;
}

/* The most of so many that falls to one; a division takes as long as some fills. */
static inline uint32_t share_of(uint32_t total, unsigned shares)
{
    return shares == 8 ? dory_divide_up(total, 8) : dory_divide_up(total, shares);
}

/* A share of bytes that follow each other, as of some whole rows. */
static __attribute__((noinline)) void fill_share(uint8_t *start, uint32_t bytes, word four, unsigned share, unsigned shares)
{
    uint32_t most = dory_round_up(share_of(bytes, shares), sizeof four), first = share * most;
    if (first < bytes) {
        fill(start + first, dory_minimum(most, bytes - first), four);
    }
}

/* In CHW, rows above and below each plane's. Those below a plane and above the next follow each other. */
static __attribute__((noinline)) void fill_rows_of_planes(const struct dory_tile *tile, const struct dory_valid *valid,
                                                          word four, unsigned share, unsigned shares)
{
    uint32_t plane_bytes = (uint32_t)tile->input_rows * tile->input_columns, there = valid->bottom * tile->input_columns;
    uint32_t above = valid->top * tile->input_columns, below = plane_bytes - there, bytes = above;
    uint32_t most = share_of(tile->input_channels, shares), first = share * most;
    uint8_t *run = (uint8_t *)(uintptr_t)tile->input + first * plane_bytes, *next = run + there;
    if (first >= tile->input_channels) {
        return;
    }
    for (uint32_t left = dory_minimum(most, tile->input_channels - first);; left--, next += plane_bytes) {
        fill(run, bytes, four);
        if (left == 0) {
            return;
        }
        run = next;
        bytes = left > 1 ? below + above : below;
    }
}

/* In HWC, rows above and below, and what is left and right of the rows between. */
static __attribute__((noinline)) void fill_frame(const struct dory_layer *layer, const struct dory_tile *tile,
                                                 const struct dory_valid *valid, word four, unsigned share, unsigned shares)
{
    uint32_t pixel = dory_element_bytes(tile->input_channels, layer->input_bits);
    uint32_t row_bytes = tile->input_columns * pixel, left = valid->left * pixel, right = valid->right * pixel;
    uint8_t *base = (uint8_t *)(uintptr_t)tile->input;
    fill_share(base, valid->top * row_bytes, four, share, shares);
    fill_share(base + valid->bottom * row_bytes, (tile->input_rows - valid->bottom) * row_bytes, four, share, shares);
    if (valid->bottom - valid->top == 1) { /* of one dimension, where borders are long */
        uint8_t *start = base + valid->top * row_bytes;
        fill_share(start, left, four, share, shares);
        fill_share(start + right, row_bytes - right, four, share, shares);
        return;
    }
    for (uint32_t row = valid->top + share; row < valid->bottom; row += shares) {
        uint8_t *start = base + row * row_bytes;
        fill(start, left, four);
        fill(start + right, row_bytes - right, four);
    }
}

void dory_fill_border(const struct dory_layer *layer, const struct dory_tile *tile, const struct dory_valid *valid,
                      unsigned share, unsigned shares)
{
    word four = border_word(layer);
    if (layer->input_layout == DORY_CHW) {
        fill_rows_of_planes(tile, valid, four, share, shares);
    } else {
        fill_frame(layer, tile, valid, four, share, shares);
    }
}

/* ---- tables ---- */

void dory_copy_table(const struct dory_layer *layer, const struct dory_tile *tile, unsigned share, unsigned shares)
{
    const word *from = layer->constants.any;
    word *to = (word *)(uintptr_t)tile->weights;
    uint32_t words = dory_table_bytes(layer) / sizeof(word);
    for (uint32_t i = share; i < words; i += shares) {
        to[i] = from[i];
    }
}

void dory_copy_layer(struct dory_layer *to, struct dory_stages *stages, const struct dory_layer *from, unsigned share,
                     unsigned shares)
{
    dory_copy_struct(to, from, sizeof *to, share, shares);
    if (from->stages) {
        uint32_t pointer = offsetof(struct dory_layer, stages) / sizeof(dory_member);
        dory_copy_struct(stages, from->stages, sizeof *stages, share, shares);
        if (pointer % shares == share) { /* this part has it */
            to->stages = stages;
        }
    }
}
