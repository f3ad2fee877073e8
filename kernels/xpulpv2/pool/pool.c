/* Computes maximum and average pools of bytes. Shapes: any window, stride and dilation, HWC.
 *
 * A core's share is a range of the grid of pixels by quads of channels. Inner loop: a word of four channels is loaded; a
 * maximum of the four takes one instruction, their sums take four dot products. Channels that no quad has are computed one
 * by one. */
#include "pool.h"

#include "../share.h"
#include "../walk.h"
#include "../xpulpv2.h"

static int32_t finish(const struct dory_pool *pool, int32_t value) { return dory_scalar_finish_apply(&pool->finish, value); }

static inline void maximum(const struct dory_pool *pool, const uint8_t *input, uint8_t *output)
{
    uint32_t word = dory_load_word(input);
    for (uint32_t row = pool->rows; row > 0; row--, input += pool->row_step) {
        word = dory_pool_maximum_of_row(pool, &input, word);
    }
    if (!pool->is_plain) {
        int32_t value[4];
        for (unsigned lane = 0; lane < 4; lane++) {
            uint32_t byte = word >> (8 * lane) & 0xFF;
            value[lane] = pool->is_signed ? (int8_t)byte : (int32_t)byte;
        }
        dory_pool_finish_four(&pool->finish, value);
        word = dory_pack_bytes(value);
    }
    dory_store_word(output, word);
}

static inline void average(const struct dory_pool *pool, const uint8_t *input, uint8_t *output)
{
    int32_t sum[4] = {0, 0, 0, 0};
    for (uint32_t row = pool->rows; row > 0; row--, input += pool->row_step) {
        dory_pool_add_row(pool, &input, sum);
    }
    dory_pool_finish_four(&pool->finish, sum);
    dory_store_word(output, dory_pack_bytes(sum));
}

static int32_t element(const struct dory_pool *pool, const uint8_t *input)
{
    return pool->is_signed ? (int8_t)*input : (int32_t)*input;
}

/* Of a channel that no quad has. */
static inline __attribute__((always_inline)) uint8_t single(const struct dory_pool *pool, const uint8_t *input,
                                                            bool is_maximum)
{
    int32_t result = is_maximum ? element(pool, input) : 0;
    for (uint32_t row = pool->rows; row > 0; row--, input += pool->row_step) {
        for (uint32_t column = pool->columns; column > 0; column--, input += pool->step) {
            int32_t value = element(pool, input);
            result = !is_maximum ? result + value : value > result ? value : result;
        }
    }
    return (uint8_t)(pool->is_plain ? result : finish(pool, result));
}

static inline __attribute__((always_inline)) void quad_of(const struct dory_pool *pool, const uint8_t *input,
                                                          uint8_t *output, bool is_maximum)
{
    if (is_maximum) {
        maximum(pool, input, output);
    } else {
        average(pool, input, output);
    }
}

/* A core's share is a range of the grid of pixels by channel quads and channels that are left over. */
static inline __attribute__((always_inline)) void pool_with(const struct dory_layer *layer, const struct dory_tile *tile,
                                                            unsigned core, unsigned cores, bool is_maximum)
{
    struct dory_pool pool;
    dory_pool_start(&pool, layer, tile, tile->channels);
    uint32_t quads = tile->channels / 4u, items = quads + tile->channels % 4u;
    struct dory_grid_share share = dory_grid_share_of((uint32_t)tile->rows * tile->columns, items, core, cores);
    struct dory_walk walk = dory_walk_from(layer, tile, share.row);
    uint8_t *output = (uint8_t *)tile->output + share.row * tile->channels;
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, items);
        for (uint32_t item = share.first; item < end; item++) {
            if (item < quads) {
                quad_of(&pool, walk.input + 4 * item, output + 4 * item, is_maximum);
            } else {
                uint32_t channel = item + 3 * quads;
                output[channel] = single(&pool, walk.input + channel, is_maximum);
            }
        }
        dory_walk_on(&walk);
        output += tile->channels;
        dory_grid_share_next_row(&share, end);
    }
}

/* Two, so that a network has only what it needs. */
void dory_xpulpv2_pool_maximum(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    pool_with(layer, tile, core, cores, true);
}

void dory_xpulpv2_pool_average(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    pool_with(layer, tile, core, cores, false);
}
