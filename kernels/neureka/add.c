/* Elements of an addition behind a convolution, made at once with those that it adds: first * x + second * other + addend,
 * shifted and clipped, where the sum fits 32 bits. Inner loop, of the form WIDE: two channels in 18 or 22 instructions. What
 * that does not do is made in two passes, the second over elements that are there.
 *
 * Apart from finish.c, so that code of other layers lies together in the cores' cache. */
#include "finish.h"

struct sum {
    int32_t first, second, addend, shift, minimum, maximum;
};

static inline struct sum sum_of(const struct dory_stages *stages)
{
    return (struct sum){
        .first = (int32_t)stages->input[0].multiplier,
        .second = (int32_t)stages->input[1].multiplier,
        .addend = (int32_t)stages->first.addend,
        .shift = (int32_t)stages->first.divisor,
        .minimum = stages->first.minimum,
        .maximum = stages->first.maximum,
    };
}

/* To elements that are there: channel after channel, of all pixels. */
static void add_other(const struct dory_layer *layer, const struct dory_neureka_elements *elements, const uint8_t *others)
{
    const struct sum sum = sum_of(layer->stages); /* which no store of an element changes */
    for (uint32_t channel = elements->first_channel; channel < elements->end_channel; channel++) {
        uint8_t *output = elements->output + channel;
        const uint8_t *other = others + channel;
        for (uint32_t row = 0; row < elements->rows; row++, output += elements->output_skip) {
            for (uint32_t i = 0; i < elements->pixels; i++, output += elements->output_step) {
                int32_t added = p_mac((int32_t)(*other * (uint32_t)sum.second), *output, sum.first);
                *output = (uint8_t)p_min(p_max(p_addnr(added, sum.addend, sum.shift), sum.minimum), sum.maximum);
                other += elements->output_step;
            }
        }
    }
}

#if defined(DORY_XPULPV2)

/* clang-format off */

#define CLIP(a) P_CLIPUR(a, a, "%[maximum]")
#define STEP(a, channel)                                                                                                    \
    "slt t4, " a ", %[zero" channel "]\n"                                                                                   \
    P_MSU(a, "t4", "%[step" channel "]")
#define ZERO_AND_STEP(i) [zero##i] "r"(wide[i].zero), [step##i] "r"(wide[i].step)

/* Two channels, and what is added to them, row after row, in 18 instructions: with the constants of four there are not
 * enough registers. */
#define EACH_SUM_OF_PAIR(instructions, steps, ...)                                                                          \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n"                                                                                      \
                     LP_SETUP("x1", "%[rows]", 2 + instructions, "2") LP_SETUP("x0", "%[pixels]", instructions, "1")        \
                     "lw t1, 4(%[z])\n" P_LW_STEP("t0", "%[step]", "%[z]")                                                  \
                     "lbu t3, 1(%[other])\n" P_LBU_STEP("t2", "%[output_step]", "%[other]") steps                           \
                     P_ADDNR("t0", "%[a0]", "%[f0]") P_ADDNR("t1", "%[a1]", "%[f1]")                                        \
                     "mul t2, t2, %[second]\n"                                                                              \
                     "mul t3, t3, %[second]\n"                                                                              \
                     CLIP("t0") CLIP("t1") P_MAC("t2", "t0", "%[first]") P_MAC("t3", "t1", "%[first]")                      \
                     P_ADDNR("t2", "%[addend]", "%[shift]") P_ADDNR("t3", "%[addend]", "%[shift]")                          \
                     CLIP("t2") CLIP("t3") PV_PACKLO_B("t2", "t3", "t2")                                                    \
                     "1: " P_SH_STEP("t2", "%[output_step]", "%[output]")                                                   \
                     "2: add %[output], %[output], %[output_skip]\n"                                                        \
                     ".option pop\n"                                                                                        \
                     : [z] "+r"(z), [output] "+r"(output), [other] "+r"(other)                                              \
                     : [rows] "r"(elements->rows), [pixels] "r"(elements->pixels), [step] "r"(4 * elements->sum_step),      \
                       [output_step] "r"(elements->output_step), [output_skip] "r"(elements->output_skip),                  \
                       [maximum] "r"(layer->maximum), [a0] "r"(wide[0].addend), [f0] "r"(wide[0].shift),                    \
                       [a1] "r"(wide[1].addend), [f1] "r"(wide[1].shift), [first] "r"(sum.first), [second] "r"(sum.second), \
                       [addend] "r"(sum.addend), [shift] "r"(sum.shift) __VA_ARGS__                                         \
                     : "t0", "t1", "t2", "t3", "t4", "memory")

/* clang-format on */

/* Where that loop does what the layer and its stages say: sums of all pixels follow one another. */
static bool has_loop(const struct dory_layer *layer, const struct dory_neureka_elements *elements)
{
    const struct dory_stage *sum = &layer->stages->first;
    return layer->minimum == 0 && sum->minimum == 0 && layer->maximum == sum->maximum && elements->sum_skip == 0 &&
           elements->pixels > 0 && elements->rows > 0; /* a hardware loop of no rounds is not allowed */
}

/* Four channels, of which records are so many bytes apart. */
static void add_to_quad(const struct dory_layer *layer, const struct dory_neureka_elements *elements, const uint8_t *others,
                        uint32_t channel, const uint8_t *record, uint32_t record_bytes)
{
    const struct sum sum = sum_of(layer->stages);
    for (uint32_t end = channel + 4; channel < end; channel += 2, record += 2 * record_bytes) {
        const struct dory_neureka_record wide[2] = {dory_neureka_load_record(record),
                                                    dory_neureka_load_record(record + record_bytes)};
        const int32_t *z = elements->sums + channel;
        uint8_t *output = elements->output + channel;
        const uint8_t *other = others + channel;
        if (layer->rounding == DORY_ROUND_AWAY) {
            EACH_SUM_OF_PAIR(22, STEP("t0", "0") STEP("t1", "1"), , ZERO_AND_STEP(0), ZERO_AND_STEP(1));
        } else {
            EACH_SUM_OF_PAIR(18, );
        }
    }
}

#else

static bool has_loop(const struct dory_layer *layer, const struct dory_neureka_elements *elements)
{
    (void)layer, (void)elements;
    return false;
}

static void add_to_quad(const struct dory_layer *layer, const struct dory_neureka_elements *elements, const uint8_t *others,
                        uint32_t channel, const uint8_t *record, uint32_t record_bytes)
{
    (void)layer, (void)elements, (void)others, (void)channel, (void)record, (void)record_bytes;
}

#endif

void dory_neureka_add(const struct dory_layer *layer, const struct dory_neureka_elements *elements, const uint8_t *other)
{
    dory_neureka_finish(layer, elements);
    add_other(layer, elements, other);
}

void dory_neureka_add_wide(const struct dory_layer *layer, const struct dory_neureka_elements *elements,
                           const uint8_t *other, const struct dory_neureka_records *of_block)
{
    struct dory_neureka_elements some = *elements;
    uint32_t record_bytes = of_block->record_bytes, end = elements->end_channel, first = elements->first_constant;
    const uint8_t *records = elements->constants + of_block->first_record + first * record_bytes;
    const uint8_t *kinds = elements->constants + of_block->first_kind + first;
    for (uint32_t channel = elements->first_channel; channel < end; channel = some.end_channel) {
        bool is_quad = channel + 4 <= end && dory_load_word(kinds + channel) == 0x01010101;
        some.first_channel = channel;
        some.end_channel = dory_minimum(channel + 4, end);
        if (is_quad && has_loop(layer, elements)) {
            add_to_quad(layer, elements, other, channel, records + channel * record_bytes, record_bytes);
        } else {
            dory_neureka_finish_wide(layer, &some, of_block);
            add_other(layer, &some, other);
        }
    }
}
