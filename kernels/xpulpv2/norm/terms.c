/* Computes functions of two tensors of bytes by tables of what each element's term is: the squares of differences, as
 * TensorFlow Lite Micro scales them, and quotients, whose terms are numerators and reciprocals. Shapes: any, HWC; the second
 * input may be one pixel, or one channel.
 *
 * Each core takes a part of the words. Inner loop: four elements; terms of both inputs from tables, a sum, its square, a
 * shift, a high product that requantises it: 52 instructions in 68 cycles. Of quotients: the high half of the product of
 * both terms, a sum and a shift: 40 instructions in 56 cycles. */
#include "../repeated.h"
#include "../share.h"
#include "../stage.h"
#include "../xpulpv2.h"

struct terms {
    struct dory_high high;
    const uint8_t *tables; /* of the first input, then of the second: words */
    uint32_t left_shift;
    bool is_square, is_fast;
};

static inline uint8_t square_one(const struct terms *work, uint32_t first, uint32_t second)
{
    uint32_t sum = first + second;
    return (uint8_t)dory_high_apply(&work->high, (int32_t)(sum * sum << work->left_shift), 0);
}

static inline uint8_t divide_one(const struct terms *work, uint32_t first, uint32_t second)
{
    int32_t high = (int32_t)((int64_t)(int32_t)first * (int32_t)second >> 32);
    int32_t quotient = p_addnr(high, work->high.addend, work->high.shift);
    return (uint8_t)p_min(p_max(quotient, work->high.normaliser.minimum), work->high.normaliser.maximum);
}

static inline uint8_t combine_one(const struct terms *work, uint8_t first, uint8_t second)
{
    uint32_t a = dory_load_word(work->tables + 4 * first), b = dory_load_word(work->tables + 1024 + 4 * second);
    return work->is_square ? square_one(work, a, b) : divide_one(work, a, b);
}

#if defined(DORY_XPULPV2)

#define OFFSETS(x, y)                                                                                                       \
    "slli %[" x "], %[" x "], 2\n"                                                                                          \
    "slli %[" y "], %[" y "], 2\n"
#define LOOK_UP(x, y) P_LW_AT("%[" x "]", "%[" x "]", "%[first_table]") P_LW_AT("%[" y "]", "%[" y "]", "%[second_table]")
#define ADD(x, y)     "add %[" x "], %[" x "], %[" y "]\n"
#define SQUARE(x)     "mul %[" x "], %[" x "], %[" x "]\n"
#define SHIFT_LEFT(x) "sll %[" x "], %[" x "], %[left_shift]\n"
#define DIVIDE(x, y)  "mulh %[" x "], %[" x "], %[" y "]\n"

/* Four elements, `count` instructions of which are from both terms to what a sum and a shift finish. */
#define COMBINE_FOURS(steps, count)                                                                                         \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 36 + count, "1") DORY_FOUR_PAIRS(DORY_LOAD_BYTE_OF_BOTH)               \
            DORY_FOUR_PAIRS(OFFSETS) DORY_FOUR_PAIRS(LOOK_UP) steps DORY_HIGH_STORE("1: ") ".option pop\n"                  \
        : [first] "+r"(first), [second] "+r"(second), [output] "+r"(output), [x0] "=&r"(x[0]), [x1] "=&r"(x[1]),            \
          [x2] "=&r"(x[2]), [x3] "=&r"(x[3]), [y0] "=&r"(y[0]), [y1] "=&r"(y[1]), [y2] "=&r"(y[2]), [y3] "=&r"(y[3])        \
        : [fours] "r"(fours), [one] "r"(1), [first_table] "r"(work->tables), [second_table] "r"(work->tables + 1024),       \
          [left_shift] "r"(work->left_shift), [multiplier] "r"(work->high.multiplier), [addend] "r"(work->high.addend),     \
          [shift] "r"(work->high.shift), [maximum] "r"(work->high.normaliser.maximum), [least] "r"(work->high.least)        \
        : "memory")

/* Squares are not negative, so that rounding away from zero is rounding up. */
static void combine_fours(const struct terms *work, const uint8_t *first, const uint8_t *second, uint8_t *output,
                          uint32_t fours)
{
    uint32_t x[4], y[4];
    if (work->is_square) {
        COMBINE_FOURS(DORY_FOUR_PAIRS(ADD) DORY_FOUR(SQUARE) DORY_FOUR(SHIFT_LEFT) DORY_FOUR(DORY_HIGH), 16);
    } else {
        COMBINE_FOURS(DORY_FOUR_PAIRS(DIVIDE), 4);
    }
}

#else

static void combine_fours(const struct terms *work, const uint8_t *first, const uint8_t *second, uint8_t *output,
                          uint32_t fours)
{
    for (uint32_t i = 0; i < 4 * fours; i++) {
        output[i] = combine_one(work, first[i], second[i]);
    }
}

#endif

static void combine(const struct terms *work, const uint8_t *first, const uint8_t *second, uint8_t *output, uint32_t count)
{
    uint32_t fours = work->is_fast ? count / 4 : 0;
    if (fours != 0) { /* a hardware loop of no rounds is not allowed */
        combine_fours(work, first, second, output, fours);
    }
    for (uint32_t i = 4 * fours; i < count; i++) {
        output[i] = combine_one(work, first[i], second[i]);
    }
}

static void combine_tile(const struct terms *work, const struct dory_layer *layer, const struct dory_tile *tile,
                         unsigned core, unsigned cores)
{
    uint32_t bytes = (uint32_t)tile->rows * tile->columns * tile->channels;
    struct dory_grid_share share = dory_grid_share_of(1, (bytes + 3) / 4, core, cores); /* words */
    uint32_t from = 4 * share.first, end = dory_minimum(from + 4 * share.items, bytes);
    const uint8_t *first = tile->input, *second = tile->second_input;
    uint8_t *output = tile->output, *laid = (uint8_t *)tile->scratch + core * DORY_REPEATED_BATCH;
    if (!layer->second_repeats && from < end) {
        combine(work, first + from, second + from, output + from, end - from);
        return;
    }
    for (uint32_t count; from < end; from += count) {
        count = dory_minimum(DORY_REPEATED_BATCH, end - from);
        dory_repeat(laid, layer, tile, from, count);
        combine(work, first + from, laid, output + from, count);
    }
}

static struct terms start(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct terms work = {.tables = tile->weights, .left_shift = layer->left_shift};
    work.is_square = layer->operation == DORY_SQUARED_DIFFERENCE;
    dory_high_start(&work.high, layer, 0); /* the square has done it */
    work.is_fast = work.high.is_byte && !(work.is_square && work.high.is_even);
    return work;
}

void dory_xpulpv2_squared_difference(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,
                                     unsigned cores)
{
    struct terms work = start(layer, tile);
    combine_tile(&work, layer, tile, core, cores);
}

void dory_xpulpv2_quotient(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct terms work = start(layer, tile);
    combine_tile(&work, layer, tile, core, cores);
}
