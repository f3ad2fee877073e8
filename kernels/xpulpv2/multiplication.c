/* Computes the element-wise product of two tensors of bytes. Shapes: any, HWC; the second input may be one pixel, whose
 * channels are factors, or one channel, whose pixels are.
 *
 * Each core takes a part of the words, or of the pixels. Inner loop: four elements; zero points are added to halves of
 * words, products are 16 by 16 bits, and the high half of a 64-bit product requantises them: 48 cycles, 56 to 60 with
 * rounding. */
#include "repeated.h"
#include "share.h"
#include "stage.h"
#include "xpulpv2.h"

struct multiplication {
    struct dory_high high;
    int32_t first_addend, second_addend; /* minus the zero points */
    uint8_t first_sign, second_sign;     /* 0x80 where signed */
    bool is_fast;
};

static inline uint8_t multiply_one(const struct multiplication *work, uint8_t first, uint8_t second)
{
    int32_t a = (first ^ work->first_sign) - work->first_sign + work->first_addend;
    int32_t b = (second ^ work->second_sign) - work->second_sign + work->second_addend;
    return (uint8_t)dory_high_apply(&work->high, a * b, 0);
}

#if defined(DORY_XPULPV2)

/* Words of both inputs as two halfwords each, of the even bytes and of the odd ones. */
#define SPLIT_HALVES                                                                                                        \
    P_LW_NEXT("%[x0]", "%[first]")                                                                                          \
    P_LW_NEXT("%[x2]", "%[second]")                                                                                         \
    "and %[y0], %[x0], %[bytes]\n" PV_SRL_SC_H("%[y1]", "%[x0]", "%[eight]") "and %[y2], %[x2], %[bytes]\n" PV_SRL_SC_H(    \
        "%[y3]", "%[x2]", "%[eight]")
#define ADD_ADDENDS                                                                                                         \
    PV_ADD_H("%[y0]", "%[y0]", "%[first_addend]")                                                                           \
    PV_ADD_H("%[y1]", "%[y1]", "%[first_addend]")                                                                           \
    PV_ADD_H("%[y2]", "%[y2]", "%[second_addend]") PV_ADD_H("%[y3]", "%[y3]", "%[second_addend]")
#define SHIFT_LEFT(x) "sll %[" x "], %[" x "], %[left_shift]\n"
#define MULTIPLY_HALVES                                                                                                     \
    P_MULS("%[x0]", "%[y0]", "%[y2]")                                                                                       \
    P_MULHHS("%[x2]", "%[y0]", "%[y2]") P_MULS("%[x1]", "%[y1]", "%[y3]") P_MULHHS("%[x3]", "%[y1]", "%[y3]")

/* Four elements; 28 instructions beside `products`, of which mulh takes 5 cycles: 48 cycles, 56 with halves away from zero,
 * 60 to even.
 */
#define MULTIPLY_FOURS(products, count_of_them)                                                                             \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 30 + count_of_them, "1")                                               \
            SPLIT_HALVES ADD_ADDENDS MULTIPLY_HALVES DORY_FOUR(SHIFT_LEFT) products DORY_HIGH_STORE("1: ") ".option pop\n"  \
        : [first] "+r"(first), [second] "+r"(second), [output] "+r"(output), [x0] "=&r"(x[0]), [x1] "=&r"(x[1]),            \
          [x2] "=&r"(x[2]), [x3] "=&r"(x[3]), [y0] "=&r"(y[0]), [y1] "=&r"(y[1]), [y2] "=&r"(y[2]), [y3] "=&r"(y[3])        \
        : [fours] "r"(fours), [bytes] "r"(0x00FF00FF), [eight] "r"(8), [first_addend] "r"(twice(work->first_addend)),       \
          [second_addend] "r"(twice(work->second_addend)), [left_shift] "r"(work->high.normaliser.direct_shift),            \
          [multiplier] "r"(work->high.multiplier), [away] "r"(work->high.normaliser.away), [addend] "r"(work->high.addend), \
          [shift] "r"(work->high.shift), [maximum] "r"(work->high.normaliser.maximum), [least] "r"(work->high.least)        \
        : "memory")

static inline uint32_t twice(int32_t halfword) { return ((uint32_t)halfword & 0xFFFF) * 0x10001u; }

static void multiply_fours(const struct multiplication *work, const uint8_t *first, const uint8_t *second, uint8_t *output,
                           uint32_t fours)
{
    uint32_t x[4], y[4];
    if (fours == 0) { /* a hardware loop of no rounds is not allowed */
        return;
    }
    if (work->high.is_unrounded) {
        MULTIPLY_FOURS(DORY_FOUR(DORY_HIGH), 4);
    } else if (work->high.is_even) {
        MULTIPLY_FOURS(DORY_FOUR(DORY_HIGH) DORY_FOUR_PAIRS(DORY_EVEN), 16);
    } else {
        MULTIPLY_FOURS(DORY_FOUR_PAIRS(DORY_HIGH_AWAY), 12);
    }
}

#else

static void multiply_fours(const struct multiplication *work, const uint8_t *first, const uint8_t *second, uint8_t *output,
                           uint32_t fours)
{
    for (uint32_t i = 0; i < 4 * fours; i++) {
        output[i] = multiply_one(work, first[i], second[i]);
    }
}

#endif

static void multiply(const struct multiplication *work, const uint8_t *first, const uint8_t *second, uint8_t *output,
                     uint32_t count)
{
    uint32_t fours = work->is_fast ? count / 4 : 0;
    multiply_fours(work, first, second, output, fours);
    for (uint32_t i = 4 * fours; i < count; i++) {
        output[i] = multiply_one(work, first[i], second[i]);
    }
}

/* A byte and it fit a halfword. */
static bool is_small(int32_t addend) { return addend >= INT16_MIN && addend <= INT16_MAX - UINT8_MAX; }

static void start(struct multiplication *work, const struct dory_layer *layer)
{
    dory_high_start(&work->high, layer, layer->left_shift);
    work->first_addend = (int32_t)layer->stages->input[0].addend;
    work->second_addend = (int32_t)layer->stages->input[1].addend;
    work->first_sign = layer->input_is_signed ? 0x80 : 0;
    work->second_sign = layer->second_input_is_signed ? 0x80 : 0;
    work->is_fast = work->high.is_byte && !layer->input_is_signed && !layer->second_input_is_signed &&
                    is_small(work->first_addend) && is_small(work->second_addend);
}

void dory_xpulpv2_multiplication(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct multiplication work;
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, channels = tile->channels, bytes = pixels * channels;
    const uint8_t *first = tile->input, *second = tile->second_input;
    uint8_t *output = tile->output;
    start(&work, layer);
    if (layer->second_repeats == DORY_REPEATS_PIXEL) { /* a core's share are pixels */
        struct dory_grid_share share = dory_grid_share_of(1, pixels, core, cores);
        for (uint32_t pixel = share.first; pixel < share.first + share.items; pixel++) {
            multiply(&work, first + pixel * channels, second, output + pixel * channels, channels);
        }
        return;
    }
    struct dory_grid_share share = dory_grid_share_of(1, (bytes + 3) / 4, core, cores); /* words */
    uint32_t from = 4 * share.first, end = dory_minimum(from + 4 * share.items, bytes);
    if (!layer->second_repeats && from < end) {
        multiply(&work, first + from, second + from, output + from, end - from);
        return;
    }
    uint8_t *laid = (uint8_t *)tile->scratch + core * DORY_REPEATED_BATCH;
    for (uint32_t count; from < end; from += count) {
        count = dory_minimum(DORY_REPEATED_BATCH, end - from);
        dory_repeat(laid, layer, tile, from, count);
        multiply(&work, first + from, laid, output + from, count);
    }
}
