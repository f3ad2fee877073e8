/* Maximum and average of bytes, four channels at a time, and those that are left over one at a time. */
#include "dory/normalise.h"
#include "share.h"
#include "stage.h"
#include "walk.h"
#include "xpulpv2.h"

struct pool {
    bool is_signed, is_plain; /* plain: what comes out is the maximum itself */
    uint32_t rows, columns;   /* of the window */
    uint32_t step;            /* bytes from pixel to pixel */
    int32_t row_step;         /* from behind a row of the window to the start of the next */
    struct dory_scalar_finish finish;
};

#if defined(DORY_XPULPV2)

#define MAXIMUM(larger)                                                                                                     \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[count]", 2, "1") P_LW_STEP(                                        \
                         "t0", "%[step]", "%[input]") "1: " larger("%[result]", "%[result]", "t0") ".option pop\n"          \
                     : [input] "+r"(*input), [result] "+r"(result)                                                          \
                     : [count] "r"(pool->columns), [step] "r"(pool->step)                                                   \
                     : "t0", "memory")

static inline uint32_t maximum_of_row(const struct pool *pool, const uint8_t **input, uint32_t result)
{
    if (pool->is_signed) {
        MAXIMUM(PV_MAX_B);
    } else {
        MAXIMUM(PV_MAXU_B);
    }
    return result;
}

/* A dot product with a word that is one byte of 1 picks a channel and adds it. */
#define SUM(add)                                                                                                            \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[count]", 5, "1") P_LW_STEP("t0", "%[step]", "%[input]")            \
                         add("%[s0]", "t0", "%[w0]") add("%[s1]", "t0", "%[w1]")                                            \
                             add("%[s2]", "t0", "%[w2]") "1: " add("%[s3]", "t0", "%[w3]") ".option pop\n"                  \
                     : [input] "+r"(*input), [s0] "+r"(sum[0]), [s1] "+r"(sum[1]), [s2] "+r"(sum[2]), [s3] "+r"(sum[3])     \
                     : [count] "r"(pool->columns), [step] "r"(pool->step), [w0] "r"(1), [w1] "r"(0x100), [w2] "r"(0x10000), \
                       [w3] "r"(0x1000000)                                                                                  \
                     : "t0", "memory")

static inline void add_row(const struct pool *pool, const uint8_t **input, int32_t sum[4])
{
    if (pool->is_signed) {
        SUM(PV_SDOTSP_B);
    } else {
        SUM(PV_SDOTUP_B);
    }
}

#else

static uint32_t maximum_of_row(const struct pool *pool, const uint8_t **input, uint32_t result)
{
    for (uint32_t i = 0; i < pool->columns; i++, *input += pool->step) {
        uint32_t word = dory_load_word(*input);
        result = pool->is_signed ? pv_max_b(result, word) : pv_maxu_b(result, word);
    }
    return result;
}

static void add_row(const struct pool *pool, const uint8_t **input, int32_t sum[4])
{
    for (uint32_t i = 0; i < pool->columns; i++, *input += pool->step) {
        uint32_t word = dory_load_word(*input);
        for (unsigned lane = 0; lane < 4; lane++) {
            uint32_t one = 1u << (8 * lane);
            sum[lane] = pool->is_signed ? pv_sdotsp_b(sum[lane], word, one) : pv_sdotup_b(sum[lane], word, one);
        }
    }
}

#endif

static int32_t finish(const struct pool *pool, int32_t value) { return dory_scalar_finish_apply(&pool->finish, value); }

static void maximum(const struct pool *pool, const uint8_t *input, uint8_t *output)
{
    uint32_t word = dory_load_word(input);
    for (uint32_t row = pool->rows; row > 0; row--, input += pool->row_step) {
        word = maximum_of_row(pool, &input, word);
    }
    for (unsigned lane = 0; lane < 4 && !pool->is_plain; lane++) {
        uint32_t byte = word & 0xFF;
        int32_t value = pool->is_signed ? (int8_t)byte : (int32_t)byte;
        word = word >> 8 | (uint32_t)finish(pool, value) << 24;
    }
    dory_store_word(output, word);
}

static void average(const struct pool *pool, const uint8_t *input, uint8_t *output)
{
    int32_t sum[4] = {0, 0, 0, 0};
    for (uint32_t row = pool->rows; row > 0; row--, input += pool->row_step) {
        add_row(pool, &input, sum);
    }
    output[0] = (uint8_t)finish(pool, sum[0]);
    output[1] = (uint8_t)finish(pool, sum[1]);
    output[2] = (uint8_t)finish(pool, sum[2]);
    output[3] = (uint8_t)finish(pool, sum[3]);
}

static int32_t element(const struct pool *pool, const uint8_t *input)
{
    return pool->is_signed ? (int8_t)*input : (int32_t)*input;
}

/* Of a channel that no quad has. */
static uint8_t single(const struct pool *pool, const uint8_t *input, bool is_maximum)
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

static void quad_of(const struct pool *pool, const uint8_t *input, uint8_t *output, bool is_maximum)
{
    if (is_maximum) {
        maximum(pool, input, output);
    } else {
        average(pool, input, output);
    }
}

static void pool_start(struct pool *pool, const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct dory_range range = dory_element_range(8, layer->input_is_signed);
    pool->is_signed = layer->input_is_signed;
    pool->rows = layer->kernel_height;
    pool->columns = layer->kernel_width;
    pool->step = (uint32_t)layer->dilation_width * tile->channels;
    pool->row_step =
        (int32_t)((uint32_t)layer->dilation_height * tile->input_columns * tile->channels - pool->columns * pool->step);
    if (layer->operation == DORY_AVERAGE_POOL) {
        range.least *= pool->rows * pool->columns;
        range.most *= pool->rows * pool->columns;
    }
    dory_scalar_finish_start(&pool->finish, layer, range);
    pool->is_plain = pool->finish.is_plain && layer->operation == DORY_MAXIMUM_POOL;
}

/* A core's share is a range of the grid of pixels by channel quads and channels that are left over. */
void dory_xpulpv2_pool(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct pool pool;
    pool_start(&pool, layer, tile);
    bool is_maximum = layer->operation == DORY_MAXIMUM_POOL;
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
