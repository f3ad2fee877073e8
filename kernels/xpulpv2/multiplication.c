/* Products of the elements of two tensors of bytes; the second one may have one pixel, whose channels are factors. */
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

#define ADD_ADDENDS(x, y)                                                                                                   \
    "add %[" x "], %[" x "], %[first_addend]\n"                                                                             \
    "add %[" y "], %[" y "], %[second_addend]\n"
#define PRODUCT(x, y) "mul %[" x "], %[" x "], %[" y "]\n"
#define SHIFT_LEFT(x) "sll %[" x "], %[" x "], %[left_shift]\n"

/* Four elements; 36 instructions beside `products`. */
#define MULTIPLY_FOURS(products, count_of_them)                                                                             \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n" LP_SETUP("x0", "%[fours]", 36 + count_of_them, "1") DORY_FOUR_PAIRS(DORY_LOAD_BYTE_OF_BOTH)       \
            DORY_FOUR_PAIRS(ADD_ADDENDS) DORY_FOUR_PAIRS(PRODUCT) DORY_FOUR(SHIFT_LEFT)                                     \
                products DORY_HIGH_STORE("1: ") ".option pop\n"                                                             \
        : [first] "+r"(first), [second] "+r"(second), [output] "+r"(output), [x0] "=&r"(x[0]), [x1] "=&r"(x[1]),            \
          [x2] "=&r"(x[2]), [x3] "=&r"(x[3]), [y0] "=&r"(y[0]), [y1] "=&r"(y[1]), [y2] "=&r"(y[2]), [y3] "=&r"(y[3])        \
        : [fours] "r"(fours), [one] "r"(1), [first_addend] "r"(work->first_addend),                                         \
          [second_addend] "r"(work->second_addend), [left_shift] "r"(work->high.normaliser.direct_shift),                   \
          [multiplier] "r"(work->high.multiplier), [away] "r"(work->high.normaliser.away), [addend] "r"(work->high.addend), \
          [shift] "r"(work->high.shift), [maximum] "r"(work->high.normaliser.maximum), [least] "r"(work->high.least)        \
        : "memory")

static void multiply_fours(const struct multiplication *work, const uint8_t *first, const uint8_t *second, uint8_t *output,
                           uint32_t fours)
{
    uint32_t x[4], y[4];
    if (fours == 0) { /* a hardware loop of no rounds is not allowed */
        return;
    }
    if (work->high.is_unrounded) {
        MULTIPLY_FOURS(DORY_FOUR(DORY_HIGH), 4);
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

static void start(struct multiplication *work, const struct dory_layer *layer)
{
    dory_high_start(&work->high, layer, layer->left_shift);
    work->first_addend = (int32_t)layer->stages->input[0].addend;
    work->second_addend = (int32_t)layer->stages->input[1].addend;
    work->first_sign = layer->input_is_signed ? 0x80 : 0;
    work->second_sign = layer->second_input_is_signed ? 0x80 : 0;
    work->is_fast = work->high.is_byte && !layer->input_is_signed && !layer->second_input_is_signed;
}

void dory_xpulpv2_multiplication(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct multiplication work;
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, channels = tile->channels, bytes = pixels * channels;
    const uint8_t *first = tile->input, *second = tile->second_input;
    uint8_t *output = tile->output;
    start(&work, layer);
    if (layer->second_is_pixel) { /* a core's share are pixels */
        struct dory_grid_share share = dory_grid_share_of(1, pixels, core, cores);
        for (uint32_t pixel = share.first; pixel < share.first + share.items; pixel++) {
            multiply(&work, first + pixel * channels, second, output + pixel * channels, channels);
        }
    } else { /* words */
        struct dory_grid_share share = dory_grid_share_of(1, (bytes + 3) / 4, core, cores);
        uint32_t from = 4 * share.first, end = dory_minimum(from + 4 * share.items, bytes);
        if (from < end) {
            multiply(&work, first + from, second + from, output + from, end - from);
        }
    }
}
