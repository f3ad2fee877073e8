/* Channel after channel: its constants are in registers while its pixels go by. Inner loop: load a sum, 3 to 9 instructions
 * of its form, store an element. Of the form WIDE four channels at a time, which are a word of the output. */
#include "finish.h"

#include "../xpulpv2/xpulp.h"
#include "dory/normalise.h"

/* The forms that have a loop of their own. */
enum form { FORM_32, FORM_CLAMPED, FORM_CLAMPED_DIVIDED, FORM_SPLIT, FORM_SPLIT_AWAY, FORM_HIGH, FORM_SHARED, FORM_ANY };

static enum form form_of(const struct dory_layer *layer)
{
    if (layer->output_bits != 8) {
        return FORM_ANY;
    }
    switch (layer->normalisation) {
    case DORY_NORMALISE_32: return FORM_32;
    case DORY_NORMALISE_CLAMPED: return layer->reciprocal ? FORM_CLAMPED_DIVIDED : FORM_CLAMPED;
    case DORY_NORMALISE_SPLIT: return layer->rounding == DORY_ROUND_AWAY ? FORM_SPLIT_AWAY : FORM_SPLIT;
    case DORY_NORMALISE_HIGH: return layer->rounding == DORY_ROUND_EVEN ? FORM_ANY : FORM_HIGH;
    case DORY_NORMALISE_SHARED: return layer->rounding == DORY_ROUND_EVEN ? FORM_ANY : FORM_SHARED;
    default: return FORM_ANY;
    }
}

/* A channel's constants, and the layer's. */
struct scale {
    uint32_t constant[7];
    uint32_t shift, reciprocal;
    int32_t minimum, maximum;
    uint32_t away; /* what is taken off where the sum is negative */
};

static inline __attribute__((always_inline)) int32_t clip(const struct scale *scale, int32_t value)
{
    return p_min(p_max(value, scale->minimum), scale->maximum);
}

/* As the functions of dory/normalise.h. */
static inline __attribute__((always_inline)) int32_t element_of(enum form form, const struct scale *scale, int32_t sum)
{
    const uint32_t *c = scale->constant;
    if (form == FORM_32) {
        return clip(scale, p_addnr((int32_t)((uint32_t)sum * c[0]), (int32_t)c[1], (int32_t)scale->shift));
    }
    if (form == FORM_SPLIT || form == FORM_SPLIT_AWAY) {
        int32_t x = p_clipur((int32_t)((uint32_t)sum + c[0]), (int32_t)c[1]);
        uint32_t fine = p_addunr((uint32_t)x * c[2], c[3], c[3]);
        uint32_t both = (uint32_t)p_mac((int32_t)fine, x, (int32_t)c[4]);
        return (int32_t)((both - (form == FORM_SPLIT_AWAY && x < (int32_t)c[5] ? c[6] : 0)) >> 24);
    }
    if (form == FORM_HIGH || form == FORM_SHARED) {
        int32_t biased = (int32_t)((uint32_t)sum + c[0]), shifted = (int32_t)((uint32_t)biased << scale->shift);
        uint32_t high = (uint32_t)((int64_t)shifted * (int32_t)c[1] >> 32);
        return clip(scale, (int32_t)(high + c[2] - ((uint32_t)(biased >> 31) & scale->away)) >> c[3]);
    }
    uint32_t scaled = (uint32_t)p_min(p_max(sum, (int32_t)c[0]), (int32_t)c[1]) * c[2];
    if (form == FORM_CLAMPED_DIVIDED) {
        return (int32_t)((uint32_t)((uint64_t)(scaled + c[3]) * scale->reciprocal >> 32) >> scale->shift);
    }
    return (int32_t)p_addunr(scaled, c[3], scale->shift);
}

static inline __attribute__((always_inline)) void
finish_channel(enum form form, const struct scale *scale, const struct dory_neureka_elements *elements, uint32_t channel)
{
    const int32_t *sum = elements->sums + channel;
    uint8_t *output = elements->output + channel;
    uint32_t sum_step = elements->sum_step, output_step = elements->output_step;
    for (uint32_t rows = elements->rows; rows > 0; rows--, sum += elements->sum_skip, output += elements->output_skip) {
#pragma GCC unroll 4
        for (uint32_t pixels = elements->pixels; pixels > 0; pixels--, sum += sum_step, output += output_step) {
            *output = (uint8_t)element_of(form, scale, *sum);
        }
    }
}

/* Words of a channel's constants: a number that the compiler knows, so that they are in registers. */
static inline __attribute__((always_inline)) uint32_t words_of(enum form form)
{
    return form == FORM_SHARED ? 1 : form == FORM_32 ? 2 : form == FORM_SPLIT ? 5 : form == FORM_SPLIT_AWAY ? 7 : 4;
}

static inline __attribute__((always_inline)) void load_constants(enum form form, struct scale *scale, const uint8_t *from)
{
#pragma GCC unroll 7
    for (uint32_t i = 0; i < words_of(form); i++) {
        scale->constant[i] = dory_load_word(from + 4 * i);
    }
}

/* What a layer's channels have in common. */
static inline __attribute__((always_inline)) struct scale scale_of(enum form form, const struct dory_layer *layer)
{
    bool is_high = form == FORM_HIGH || form == FORM_SHARED;
    struct scale scale = {.shift = is_high ? layer->left_shift : layer->shift, .reciprocal = layer->reciprocal};
    scale.minimum = layer->minimum;
    scale.maximum = layer->maximum;
    scale.constant[1] = (uint32_t)layer->multiplier; /* those of FORM_SHARED, which others have of each channel */
    scale.constant[2] = (uint32_t)layer->addend;
    scale.constant[3] = layer->shift;
    scale.away = is_high && layer->rounding == DORY_ROUND_AWAY ? 1u << layer->left_shift >> 1 : 0;
    return scale;
}

/* A pixel, channel after channel: where it is the only one, as of a fully connected layer, to come to a channel takes a core
 * four times as long as its element. */
static inline __attribute__((always_inline)) void finish_pixel(enum form form, struct scale *scale,
                                                               const struct dory_neureka_elements *elements)
{
    uint32_t bytes = 4 * words_of(form);
    const uint8_t *words = elements->constants + (elements->first_constant + elements->first_channel) * bytes;
    const int32_t *sum = elements->sums + elements->first_channel;
    uint8_t *output = elements->output + elements->first_channel;
    for (uint32_t left = elements->end_channel - elements->first_channel; left > 0; left--, words += bytes) {
        load_constants(form, scale, words);
        *output++ = (uint8_t)element_of(form, scale, *sum++);
    }
}

static inline __attribute__((always_inline)) void finish_as(enum form form, const struct dory_layer *layer,
                                                            const struct dory_neureka_elements *elements)
{
    struct scale scale = scale_of(form, layer);
    if (elements->first_channel >= elements->end_channel) {
        return;
    }
    if (elements->pixels == 1 && elements->rows == 1) {
        finish_pixel(form, &scale, elements);
        return;
    }
    for (uint32_t channel = elements->first_channel; channel < elements->end_channel; channel++) {
        load_constants(form, &scale, elements->constants + (elements->first_constant + channel) * 4 * words_of(form));
        finish_channel(form, &scale, elements, channel);
    }
}

/* Any form, any elements. */
static void finish_any_pixel(const struct dory_layer *layer, const struct dory_neureka_elements *elements,
                             const int32_t *sums, uint8_t *output)
{
    for (uint32_t channel = elements->first_channel; channel < elements->end_channel; channel++) {
        int32_t value = dory_normalise(layer, elements->constants, elements->first_constant + channel, sums[channel]);
        if (layer->output_bits == 8) {
            output[channel] = (uint8_t)value;
        } else {
            dory_store_word(output + 4 * channel, (uint32_t)value);
        }
    }
}

static void finish_any(const struct dory_layer *layer, const struct dory_neureka_elements *elements)
{
    const int32_t *sums = elements->sums;
    uint8_t *output = elements->output;
    for (uint32_t row = 0; row < elements->rows; row++, sums += elements->sum_skip, output += elements->output_skip) {
        for (uint32_t i = 0; i < elements->pixels; i++, sums += elements->sum_step, output += elements->output_step) {
            finish_any_pixel(layer, elements, sums, output);
        }
    }
}

void dory_neureka_finish(const struct dory_layer *layer, const struct dory_neureka_elements *elements)
{
    switch (form_of(layer)) {
    case FORM_32: finish_as(FORM_32, layer, elements); break;
    case FORM_CLAMPED: finish_as(FORM_CLAMPED, layer, elements); break;
    case FORM_CLAMPED_DIVIDED: finish_as(FORM_CLAMPED_DIVIDED, layer, elements); break;
    case FORM_SPLIT: finish_as(FORM_SPLIT, layer, elements); break;
    case FORM_SPLIT_AWAY: finish_as(FORM_SPLIT_AWAY, layer, elements); break;
    case FORM_HIGH: finish_as(FORM_HIGH, layer, elements); break;
    case FORM_SHARED: finish_as(FORM_SHARED, layer, elements); break;
    default: finish_any(layer, elements); break;
    }
}

/* ---- WIDE ---- */

static void finish_wide_channel(const struct dory_layer *layer, const struct dory_neureka_elements *elements,
                                uint32_t channel, const struct dory_neureka_record *wide)
{
    const int32_t *sum = elements->sums + channel;
    uint8_t *output = elements->output + channel;
    for (uint32_t row = 0; row < elements->rows; row++, sum += elements->sum_skip, output += elements->output_skip) {
        for (uint32_t i = 0; i < elements->pixels; i++, sum += elements->sum_step, output += elements->output_step) {
            int32_t z = (int32_t)((uint32_t)*sum - (*sum < wide->zero ? wide->step : 0));
            *output = (uint8_t)p_min(p_max(p_addnr(z, wide->addend, wide->shift), layer->minimum), layer->maximum);
        }
    }
}

#if defined(DORY_XPULPV2)

/* clang-format off */

/* Four channels, pixel after pixel: so many instructions, with those that take steps off and clip t0 to t3. Around them,
 * what goes from row to row. */
#define EACH_PIXEL(start, instructions, steps, clips, end, ...)                                                             \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n"                                                                                      \
                     start LP_SETUP("x0", "%[pixels]", instructions, "1")                                                   \
                     P_LW_NEXT("t0", "%[z]") P_LW_NEXT("t1", "%[z]") P_LW_NEXT("t2", "%[z]")                                \
                     P_LW_STEP("t3", "%[step]", "%[z]") steps                                                               \
                     P_ADDNR("t0", "%[a0]", "%[f0]") P_ADDNR("t1", "%[a1]", "%[f1]")                                        \
                     P_ADDNR("t2", "%[a2]", "%[f2]") P_ADDNR("t3", "%[a3]", "%[f3]")                                        \
                     clips PV_PACKLO_B("t0", "t1", "t0") PV_PACKHI_B("t0", "t3", "t2")                                      \
                     "1: " P_SW_STEP("t0", "%[output_step]", "%[output]") end                                               \
                     ".option pop\n"                                                                                        \
                     : [z] "+r"(z), [output] "+r"(output)                                                                   \
                     : [pixels] "r"(elements->pixels), [step] "r"(4 * elements->sum_step - 12),                             \
                       [output_step] "r"(elements->output_step), [maximum] "r"(layer->maximum),                             \
                       [a0] "r"(wide[0].addend), [f0] "r"(wide[0].shift), [a1] "r"(wide[1].addend),                         \
                       [f1] "r"(wide[1].shift), [a2] "r"(wide[2].addend), [f2] "r"(wide[2].shift),                          \
                       [a3] "r"(wide[3].addend), [f3] "r"(wide[3].shift) __VA_ARGS__                                        \
                     : "t0", "t1", "t2", "t3", "t4", "memory")
#define EACH_ROW(instructions, clips, ...)                                                                                  \
    EACH_PIXEL(LP_SETUP("x1", "%[rows]", 3 + instructions, "2"), instructions, , clips,                                     \
               "add %[z], %[z], %[sum_skip]\n2: add %[output], %[output], %[output_skip]\n", ,                              \
               [rows] "r"(elements->rows), [sum_skip] "r"(4 * elements->sum_skip),                                          \
               [output_skip] "r"(elements->output_skip) __VA_ARGS__)
#define EACH_SUM(text) text("t0") text("t1") text("t2") text("t3")
#define CLIP_FROM_0(a) P_CLIPUR(a, a, "%[maximum]")
#define CLIP(a)        P_MAX(a, a, "%[minimum]") P_MIN(a, a, "%[maximum]")
#define STEP(a, channel)                                                                                                    \
    "slt t4, " a ", %[zero" channel "]\n"                                                                                   \
    P_MSU(a, "t4", "%[step" channel "]")
#define ZERO_AND_STEP(i) [zero##i] "r"(wide[i].zero), [step##i] "r"(wide[i].step)

/* clang-format on */

/* What a loop in assembly clips to. */
static bool has_loop(const struct dory_layer *layer) { return layer->minimum == 0 || layer->rounding != DORY_ROUND_AWAY; }

static void finish_wide_quad(const struct dory_layer *layer, const struct dory_neureka_elements *elements, uint32_t channel,
                             const struct dory_neureka_record wide[4])
{
    const int32_t *z = elements->sums + channel;
    uint8_t *output = elements->output + channel;
    if (elements->pixels == 0 || elements->rows == 0) { /* a hardware loop of no rounds is not allowed */
        return;
    }
    if (layer->rounding != DORY_ROUND_AWAY && layer->minimum == 0) {
        EACH_ROW(15, EACH_SUM(CLIP_FROM_0));
        return;
    }
    if (layer->rounding != DORY_ROUND_AWAY) {
        EACH_ROW(19, EACH_SUM(CLIP), , [minimum] "r"(layer->minimum));
        return;
    }
    for (uint32_t row = 0; row < elements->rows; row++) { /* registers are few */
        EACH_PIXEL(, 23, STEP("t0", "0") STEP("t1", "1") STEP("t2", "2") STEP("t3", "3"), EACH_SUM(CLIP_FROM_0), , ,
                   ZERO_AND_STEP(0), ZERO_AND_STEP(1), ZERO_AND_STEP(2), ZERO_AND_STEP(3));
        z += elements->sum_skip;
        output += elements->output_skip;
    }
}

#else

static bool has_loop(const struct dory_layer *layer) { return layer->output_bits == 8; }

static void finish_wide_quad(const struct dory_layer *layer, const struct dory_neureka_elements *elements, uint32_t channel,
                             const struct dory_neureka_record wide[4])
{
    for (uint32_t i = 0; i < 4; i++) {
        finish_wide_channel(layer, elements, channel + i, &wide[i]);
    }
}

#endif

/* In its own form a channel is like one of a layer that is not WIDE. */
static void finish_own_channel(const struct dory_layer *layer, const struct dory_neureka_elements *elements,
                               uint32_t channel, const uint8_t *record)
{
    struct dory_neureka_elements one = *elements;
    one.constants = record - (one.first_constant + channel) * dory_channel_constants_bytes(layer);
    one.first_channel = channel;
    one.end_channel = channel + 1;
    dory_neureka_finish(layer, &one);
}

void dory_neureka_finish_wide(const struct dory_layer *layer, const struct dory_neureka_elements *elements,
                              const struct dory_neureka_records *of_block)
{
    uint32_t record_bytes = of_block->record_bytes, end = elements->end_channel, first = elements->first_constant;
    const uint8_t *records = elements->constants + of_block->first_record + first * record_bytes;
    const uint8_t *kinds = elements->constants + of_block->first_kind + first;
    for (uint32_t channel = elements->first_channel; channel < end;) {
        const uint8_t *record = records + channel * record_bytes;
        if (channel % 4 == 0 && channel + 4 <= end && dory_load_word(kinds + channel) == 0x01010101 && has_loop(layer)) {
            struct dory_neureka_record wide[4] = {
                dory_neureka_load_record(record), dory_neureka_load_record(record + record_bytes),
                dory_neureka_load_record(record + 2 * record_bytes), dory_neureka_load_record(record + 3 * record_bytes)};
            finish_wide_quad(layer, elements, channel, wide);
            channel += 4;
        } else if (kinds[channel]) {
            struct dory_neureka_record wide = dory_neureka_load_record(record);
            finish_wide_channel(layer, elements, channel++, &wide);
        } else {
            finish_own_channel(layer, elements, channel++, record);
        }
    }
}
