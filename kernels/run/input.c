#include "input.h"

#include <stddef.h>

#include "dory/hal.h"

/* ---- border ---- */

typedef uint32_t __attribute__((may_alias)) word;

/* Like memset, which a small C library does byte by byte. */
static void fill(uint8_t *start, uint32_t bytes, uint8_t value)
{
    uint8_t *end = start + bytes;
    word four = value * 0x01010101u;
    for (; start < end && (uintptr_t)start % sizeof four != 0; start++) {
        *start = value;
    }
    for (; end - start >= 4 * (ptrdiff_t)sizeof four; start += 4 * sizeof four) {
        word *words = (word *)(void *)start;
        words[0] = words[1] = words[2] = words[3] = four;
    }
    for (; end - start >= (ptrdiff_t)sizeof four; start += sizeof four) {
        *(word *)(void *)start = four;
    }
    for (; start < end; start++) {
        *start = value;
    }
}

/* A byte full of elements of the border: the value that a maximum never picks, or the layer's. */
static uint8_t border_byte(const struct dory_layer *layer)
{
    uint32_t bits = dory_minimum(layer->input_bits, 8), element = (uint32_t)layer->border_value;
    if (layer->operation == DORY_MAXIMUM_POOL) {
        element = layer->input_is_signed ? 1u << (bits - 1) : 0;
    }
    element &= (1u << bits) - 1;
    return (uint8_t)(element * (bits == 8 ? 1u : bits == 4 ? 0x11u : 0x55u));
}

/* This core's part of bytes that follow each other, as of some whole rows. */
static __attribute__((noinline)) void fill_share(uint8_t *start, uint32_t bytes, uint8_t value)
{
    if (bytes == 0) { /* a division takes as long as some fills */
        return;
    }
    uint32_t share = dory_round_up(dory_divide_up(bytes, hal_core_count()), sizeof(word));
    uint32_t first = hal_core_id() * share;
    if (first < bytes) {
        fill(start + first, dory_minimum(share, bytes - first), value);
    }
}

#define SHORT_BYTES 24

/* Of rows of a plane, in short runs, which fill() would take long for; and so would memset, which the compiler would make of
 * the loops. */
static __attribute__((noinline)) void fill_run(uint8_t *start, uint32_t bytes, uint8_t value, bool is_words)
{
    uint8_t *end = start + bytes;
    if (!is_words && bytes >= SHORT_BYTES) {
        fill(start, bytes, value);
        return;
    }
    for (word four = value * 0x01010101u; is_words && start < end; start += sizeof four) {
        *(word *)(void *)start = four;
        __asm__ volatile("" : "+r"(start));
    }
    for (; end - start >= 4; start += 4) {
        start[0] = start[1] = start[2] = start[3] = value;
        __asm__ volatile("" : "+r"(start));
    }
    for (; start < end; start++) {
        *start = value;
        __asm__ volatile("" : "+r"(start));
    }
}

/* In CHW, rows above and below each plane's. Those below a plane and above the next follow each other. */
static void fill_rows_of_planes(const struct dory_tile *tile, const struct dory_valid *valid, uint8_t value)
{
    uint32_t plane_bytes = (uint32_t)tile->input_rows * tile->input_columns;
    uint32_t above = valid->top * tile->input_columns, there = valid->bottom * tile->input_columns;
    uint32_t share = dory_divide_up(tile->input_channels, hal_core_count()), first = hal_core_id() * share;
    uint32_t end = dory_minimum(first + share, tile->input_channels);
    uint8_t *plane = (uint8_t *)(uintptr_t)tile->input + first * plane_bytes;
    bool is_words = tile->input_columns % sizeof(word) == 0;
    if (first >= end) {
        return;
    }
    fill_run(plane, above, value, is_words);
    for (; first + 1 < end; first++, plane += plane_bytes) {
        fill_run(plane + there, plane_bytes - there + above, value, is_words);
    }
    fill_run(plane + there, plane_bytes - there, value, is_words);
}

void dory_fill_border(const struct dory_layer *layer, const struct dory_tile *tile, const struct dory_valid *valid)
{
    uint8_t value = border_byte(layer);
    if (layer->input_layout == DORY_CHW) {
        fill_rows_of_planes(tile, valid, value);
        return;
    }
    uint32_t pixel = dory_element_bytes(tile->input_channels, layer->input_bits);
    uint32_t row_bytes = tile->input_columns * pixel, left = valid->left * pixel, right = valid->right * pixel;
    uint8_t *base = (uint8_t *)(uintptr_t)tile->input;
    fill_share(base, valid->top * row_bytes, value);
    fill_share(base + valid->bottom * row_bytes, (tile->input_rows - valid->bottom) * row_bytes, value);
    if (valid->bottom - valid->top == 1) { /* of one dimension, where borders are long */
        uint8_t *start = base + valid->top * row_bytes;
        fill_share(start, left, value);
        fill_share(start + right, row_bytes - right, value);
        return;
    }
    for (uint32_t row = valid->top + hal_core_id(); row < valid->bottom; row += hal_core_count()) {
        uint8_t *start = base + row * row_bytes;
        fill(start, left, value);
        fill(start + right, row_bytes - right, value);
    }
}

/* ---- tables ---- */

void dory_copy_table(const struct dory_layer *layer, const struct dory_tile *tile)
{
    const word *from = (const word *)(const void *)layer->table; /* or its terms */
    word *to = (word *)(uintptr_t)tile->weights;
    uint32_t words = dory_table_bytes(layer) / sizeof(word);
    for (uint32_t i = hal_core_id(); i < words; i += hal_core_count()) {
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
