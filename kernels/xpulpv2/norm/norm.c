/* Computes norms of bytes over the channels of each pixel. Shapes: any, HWC.
 *
 * Each core takes a part of the elements, as a rule whole rows, of which it finds sum and squares by dot products, 3
 * instructions for four elements, and one root. Inner loop: an element, its factor and term are loaded; a product, a
 * difference, a product, a high product, a sum with its shift, a clip: 10 instructions in 14 cycles, two elements at a
 * time. Where a run of elements shares factor and term, 8 in 12. */
#include "dory/norm.h"

#include "../share.h"
#include "../xpulp.h"
#include "../xpulpv2.h"

/* What a row's elements are made with. */
struct applied {
    struct dory_norm_row row;
    uint32_t shift;
    int32_t maximum;
};

/* ---- sums ---- */

struct sums {
    uint32_t sum, squares;
};

#if defined(DORY_XPULPV2)

static inline void add_fours(const uint8_t *input, uint32_t fours, struct sums *sums)
{
    uint32_t word;
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" P_LW_NEXT("%[word]", "%[input]") LP_SETUP("x0", "%[fours]", 3, "1")
                         PV_SDOTUP_B("%[sum]", "%[word]", "%[ones]") PV_SDOTUP_B(
                             "%[squares]", "%[word]", "%[word]") "1: " P_LW_NEXT("%[word]", "%[input]") ".option pop\n"
                     : [input] "+r"(input), [word] "=&r"(word), [sum] "+r"(sums->sum), [squares] "+r"(sums->squares)
                     : [fours] "r"(fours), [ones] "r"(0x01010101)
                     : "memory");
}

#else

static inline void add_fours(const uint8_t *input, uint32_t fours, struct sums *sums)
{
    for (uint32_t i = 0; i < fours; i++) {
        uint32_t word = dory_load_word(input + 4 * i);
        sums->sum = (uint32_t)pv_sdotup_b((int32_t)sums->sum, word, 0x01010101);
        sums->squares = (uint32_t)pv_sdotup_b((int32_t)sums->squares, word, word);
    }
}

#endif

static struct sums sums_of(const uint8_t *input, uint32_t channels)
{
    struct sums sums = {0, 0};
    if (channels >= 4) {
        add_fours(input, channels / 4, &sums);
    }
    for (uint32_t i = channels & ~3u; i < channels; i++) {
        sums.sum += input[i];
        sums.squares += (uint32_t)input[i] * input[i];
    }
    return sums;
}

/* ---- elements ---- */

static inline uint8_t apply(const struct applied *work, const struct dory_norm_constants *constants, uint8_t x)
{
    uint32_t product = (x * work->row.slope - work->row.offset) * (uint32_t)constants->factor;
    int32_t high = (int32_t)((int64_t)(int32_t)product * work->row.multiplier >> 32);
    return (uint8_t)p_clipur(p_addnr(high, constants->term, (int32_t)work->shift), work->maximum);
}

#if defined(DORY_XPULPV2)

#define BOTH(instruction, operand) instruction " %[x], %[x], " operand "\n" instruction " %[y], %[y], " operand "\n"

/* Pairs of elements, each with constants of its own; two at a time, for a product is not ready for the next instruction. */
static inline void apply_each(const struct applied *work, const struct dory_norm_constants *constants, const uint8_t *input,
                              uint8_t *output, uint32_t pairs)
{
    uint32_t x, y, x_factor, y_factor, x_term, y_term;
    __asm__ volatile(
        ".option push\n"
        ".balign 4\n"
        ".option norvc\n" LP_SETUP("x0", "%[pairs]", 20, "1") P_LBU_NEXT("%[x]", "%[input]") P_LBU_NEXT("%[y]", "%[input]")
            BOTH("mul", "%[slope]") P_LW_NEXT("%[x_factor]", "%[constants]") BOTH("sub", "%[offset]") P_LW_NEXT(
                "%[x_term]", "%[constants]") "mul %[x], %[x], %[x_factor]\n" P_LW_NEXT("%[y_factor]", "%[constants]")
                P_LW_NEXT("%[y_term]", "%[constants]") "mul %[y], %[y], %[y_factor]\n" BOTH("mulh", "%[multiplier]")
                    P_ADDNR("%[x]", "%[x_term]", "%[shift]") P_ADDNR("%[y]", "%[y_term]", "%[shift]")
                        P_CLIPUR("%[x]", "%[x]", "%[maximum]") P_CLIPUR("%[y]", "%[y]", "%[maximum]")
                            P_SB_NEXT("%[x]", "%[output]") "1: " P_SB_NEXT("%[y]", "%[output]") ".option pop\n"
        : [input] "+r"(input), [output] "+r"(output), [constants] "+r"(constants), [x] "=&r"(x), [y] "=&r"(y),
          [x_factor] "=&r"(x_factor), [y_factor] "=&r"(y_factor), [x_term] "=&r"(x_term), [y_term] "=&r"(y_term)
        : [pairs] "r"(pairs), [slope] "r"(work->row.slope), [offset] "r"(work->row.offset),
          [multiplier] "r"(work->row.multiplier), [shift] "r"(work->shift), [maximum] "r"(work->maximum)
        : "memory");
}

/* All with the same. */
static inline void apply_run(const struct applied *work, const struct dory_norm_constants *constants, const uint8_t *input,
                             uint8_t *output, uint32_t pairs)
{
    uint32_t x, y;
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x0", "%[pairs]", 16, "1") P_LBU_NEXT("%[x]", "%[input]")
                         P_LBU_NEXT("%[y]", "%[input]") BOTH("mul", "%[slope]") BOTH("sub", "%[offset]")
                             BOTH("mul", "%[factor]") BOTH("mulh", "%[multiplier]") P_ADDNR("%[x]", "%[term]", "%[shift]")
                                 P_ADDNR("%[y]", "%[term]", "%[shift]") P_CLIPUR("%[x]", "%[x]", "%[maximum]")
                                     P_CLIPUR("%[y]", "%[y]", "%[maximum]")
                                         P_SB_NEXT("%[x]", "%[output]") "1: " P_SB_NEXT("%[y]", "%[output]") ".option pop\n"
                     : [input] "+r"(input), [output] "+r"(output), [x] "=&r"(x), [y] "=&r"(y)
                     : [pairs] "r"(pairs), [slope] "r"(work->row.slope), [offset] "r"(work->row.offset),
                       [multiplier] "r"(work->row.multiplier), [shift] "r"(work->shift), [maximum] "r"(work->maximum),
                       [factor] "r"(constants->factor), [term] "r"(constants->term)
                     : "memory");
}

#else

static inline void apply_each(const struct applied *work, const struct dory_norm_constants *constants, const uint8_t *input,
                              uint8_t *output, uint32_t pairs)
{
    for (uint32_t i = 0; i < 2 * pairs; i++) {
        output[i] = apply(work, &constants[i], input[i]);
    }
}

static inline void apply_run(const struct applied *work, const struct dory_norm_constants *constants, const uint8_t *input,
                             uint8_t *output, uint32_t pairs)
{
    for (uint32_t i = 0; i < 2 * pairs; i++) {
        output[i] = apply(work, constants, input[i]);
    }
}

#endif

/* `step` 0: all elements have the same constants. A hardware loop of no rounds is not allowed. */
static inline void apply_all(const struct applied *work, const struct dory_norm_constants *constants, uint32_t step,
                             const uint8_t *input, uint8_t *output, uint32_t count)
{
    uint32_t even = count & ~1u;
    if (even != 0) {
        if (step != 0) {
            apply_each(work, constants, input, output, even / 2);
        } else {
            apply_run(work, constants, input, output, even / 2);
        }
    }
    if (even != count) {
        output[even] = apply(work, constants + even * step, input[even]);
    }
}

/* ---- a part of a row ---- */

/* dory_norm_row_of(), to which this core finds the highest bit by one instruction. */
static inline struct dory_norm_row row_of(const struct dory_norm *norm, uint32_t channels, const struct sums *sums)
{
    uint64_t w = dory_norm_variance(norm, channels, sums->sum, sums->squares);
    uint32_t high = (uint32_t)(w >> 32), low = (uint32_t)w;
    int32_t bits = 64;
    if (high == 0) {
        high = low;
        low = 0;
        bits = 32;
    }
    uint32_t places = (31 - p_fl1(high)) & ~1u;
    uint32_t highest = high << places | low >> 1 >> (31 - places);
    return dory_norm_row_by(norm, channels, sums->sum, highest, bits - (int32_t)places);
}

/* Bounds from below are rare: a Relu, where zero is not the least element. */
static void raise(uint8_t *output, uint32_t count, uint32_t minimum)
{
    for (uint32_t i = 0; i < count; i++) {
        output[i] = output[i] < minimum ? (uint8_t)minimum : output[i];
    }
}

static __attribute__((noinline)) void apply_runs(const struct applied *work, const struct dory_norm_constants *constants,
                                                 uint32_t run, const uint8_t *input, uint8_t *output, uint32_t first,
                                                 uint32_t count)
{
    for (uint32_t i = first / run; count != 0; i++) {
        uint32_t part = dory_minimum(count, (i + 1) * run - first);
        apply_all(work, constants + i, 0, input + first, output, part);
        first += part;
        output += part;
        count -= part;
    }
}

/* Elements first .. first + count - 1 of a norm without a root, which has no bounds but those of a byte. */
static __attribute__((noinline)) void apply_other(const struct dory_norm *norm, const struct sums *sums, uint32_t channels,
                                                  const struct dory_norm_constants *constants, const uint8_t *input,
                                                  uint8_t *output, uint32_t first, uint32_t count)
{
    const struct dory_norm_row row = dory_norm_row_other(norm, channels, sums->sum, sums->squares);
    for (uint32_t i = first; i < first + count; i++) {
        int32_t y = dory_norm_apply_other(norm, &row, constants + (norm->run == 1 ? i : i / norm->run), input[i]);
        output[i - first] = (uint8_t)p_clipur(y, 255);
    }
}

static uint32_t pixel_in_image(const struct dory_layer *layer, const struct dory_tile *tile, uint32_t pixel)
{
    uint32_t row = dory_quotient(pixel, tile->columns), column = pixel - row * tile->columns;
    return (tile->first_row + row) * layer->output_width + tile->first_column + column;
}

/* Elements first .. first + count - 1 of a row, at least one; `pixel` is counted in the tile. */
static void norm_part(const struct dory_layer *layer, const struct dory_norm *norm, const uint8_t *input, uint8_t *output,
                      const struct dory_tile *tile, uint32_t pixel, uint32_t first, uint32_t count)
{
    uint32_t channels = layer->input_channels, runs = norm->run == 1 ? channels : dory_quotient(channels, norm->run);
    struct sums sums = sums_of(input, channels);
    const struct dory_norm_row row =
        norm->has_roots ? dory_norm_row_with(norm, channels, sums.sum, ((const uint8_t *)tile->second_input)[pixel])
                        : row_of(norm, channels, &sums);
    const struct applied work = {row, norm->shift, layer->maximum};
    const struct dory_norm_constants *constants = dory_norm_constants(norm);
    if (norm->count != runs) {
        constants += pixel_in_image(layer, tile, pixel) * runs % norm->count;
    }
    if (norm->arithmetic != DORY_NORM_BY_ROOT) {
        apply_other(norm, &sums, channels, constants, input, output, first, count);
    } else if (norm->run == 1) {
        apply_all(&work, constants + first, 1, input + first, output, count);
    } else {
        apply_runs(&work, constants, norm->run, input, output, first, count);
    }
    if (layer->minimum > 0) {
        raise(output, count, (uint32_t)layer->minimum);
    }
}

/* Cores take rows; where these are fewer, parts of them, each of which finds the sums of all of its row. */
void dory_xpulpv2_norm(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t pixels = (uint32_t)tile->rows * tile->columns, channels = tile->channels;
    uint32_t parts = pixels < cores ? dory_quotient(cores, pixels) : 1, length = (channels + parts - 1) / parts;
    struct dory_grid_share share = dory_grid_share_of(pixels, parts, core, cores);
    for (; share.items != 0; share.items--) {
        uint32_t first = share.first * length, end = dory_minimum(first + length, channels);
        if (first < end) {
            norm_part(layer, tile->weights, (const uint8_t *)tile->input + share.row * layer->input_channels,
                      (uint8_t *)tile->output + share.row * channels + first, tile, share.row, tile->first_channel + first,
                      end - first);
        }
        if (++share.first == parts) {
            share.first = 0;
            share.row++;
        }
    }
}
