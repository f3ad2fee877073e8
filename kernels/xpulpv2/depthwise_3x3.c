/* Depth-wise layers 3x3 of unsigned bytes, stride 1 or 2, in strips of four columns that are computed from top to bottom. */
#include "depthwise.h"
#include "xpulpv2.h"

/* A strip as the innermost code wants it. The elements of a row are written from the last one to the first; those that do
 * not exist go where an existing one is written afterwards. */
struct job {
    const uint8_t *unit[3];
    const uint8_t *weights;   /* three words a lane: a kernel row each, with a zero byte behind it */
    const uint8_t *constants; /* multiplier and addend of each lane */
    uint8_t *output;          /* of the last element of the first row */
    int32_t step[3];          /* from element 3 to 2, 2 to 1, 1 to 0 */
    int32_t row_step;         /* from element 0 to the last element of the next row */
    int32_t shift;
    uint32_t rounds, rest;    /* rows = rounds * (3, stride 2: 2) + rest */
    uint32_t lanes;
};

#if defined(DORY_XPULPV2)

/* Four sums to bytes. The clip to [0, 255] is an immediate: n = 9 is 8 bits. */
#define CLIP(a) ".insn r 0x33, 2, 0x0A, " a ", " a ", x9\n"
#if defined(__pulp__) || defined(__gap8__)
#undef CLIP
#define CLIP(a) "p.clipu " a ", " a ", 9\n"
#endif
#define FINISH(a, b, c, d, label_of_last)                                                                              \
    "mul " a ", " a ", a3\n"                                                                                           \
    "mul " b ", " b ", a3\n"                                                                                           \
    "mul " c ", " c ", a3\n"                                                                                           \
    "mul " d ", " d ", a3\n"                                                                                           \
    P_ADDNR(a, "a4", "a5") P_ADDNR(b, "a4", "a5") P_ADDNR(c, "a4", "a5") P_ADDNR(d, "a4", "a5")                        \
    CLIP(a) CLIP(b) CLIP(c) CLIP(d)                                                                                    \
    P_SB_STEP(d, "s8", "a2") P_SB_STEP(c, "s9", "a2") P_SB_STEP(b, "s10", "a2")                                        \
    label_of_last P_SB_STEP(a, "s11", "a2")

/* What both strides have in common: a2 output, a3 multiplier, a4 addend, a5 shift, a6 selector, s8-s11 steps. The words of
 * the units follow each other from lane to lane, other addresses are kept in memory: all registers but s0 are in use. */
#define LOAD_STRIP                                                                                                     \
    "lw a5, %[shift]\n"                                                                                                \
    "lw s8, %[step0]\n"                                                                                                \
    "lw s9, %[step1]\n"                                                                                                \
    "lw s10, %[step2]\n"                                                                                               \
    "lw s11, %[row_step]\n"

#define LOAD_LANE                                                                                                      \
    "lw t0, %[weights]\n"                                                                                              \
    "lw t1, %[constants]\n"                                                                                            \
    "lw a2, %[output]\n"                                                                                               \
    P_LW_NEXT("s1", "t0") P_LW_NEXT("s2", "t0") P_LW_NEXT("s3", "t0")                                                  \
    P_LW_NEXT("a3", "t1") P_LW_NEXT("a4", "t1")                                                                        \
    "addi t2, a2, 1\n"                                                                                                 \
    "sw t0, %[weights]\n"                                                                                              \
    "sw t1, %[constants]\n"                                                                                            \
    "sw t2, %[output]\n"

/* To `label` for the next lane. */
#define NEXT_LANE(label)                                                                                               \
    "lw t6, %[lanes]\n"                                                                                                \
    "nop\n"                                                                                                            \
    "addi t6, t6, -1\n"                                                                                                \
    "sw t6, %[lanes]\n"                                                                                                \
    "bnez t6, " label "\n"

#define CHANGED_OPERANDS(job)                                                                                          \
    [weights] "+m"((job)->weights), [constants] "+m"((job)->constants), [output] "+m"((job)->output),                  \
        [lanes] "+m"((job)->lanes)

#define OPERANDS(job)                                                                                                  \
    [shift] "m"((job)->shift), [step0] "m"((job)->step[0]), [step1] "m"((job)->step[1]), [step2] "m"((job)->step[2]),  \
        [row_step] "m"((job)->row_step), [unit0] "m"((job)->unit[0]), [unit1] "m"((job)->unit[1]),                     \
        [unit2] "m"((job)->unit[2]), [rounds] "m"((job)->rounds), [rest] "m"((job)->rest)

#define CLOBBERED                                                                                                      \
    "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s1", "s2", "s3", "s4",  \
        "s5", "s6", "s7", "s8", "s9", "s10", "s11", "ra", "memory"

/* Stride 1. Outputs 0 and 1 are dot products of the word at column 0 with the weights and with the weights a byte
 * further; outputs 2 and 3 the same of the word at column 2, which a shuffle makes of two words.
 *
 * a0, a1   words of the left and the right unit, moving
 * s1-s3    weights of three kernel rows;  s4-s6  a byte further
 * t0-t5    words at columns 0 and 2 of three input rows, in rotation
 * t6, a7, s7, ra   sums */
#define DOTS(dot, left, right, weights, further)                                                                       \
    dot("t6", left, weights) dot("a7", left, further) dot("s7", right, weights) dot("ra", right, further)

/* One output row, 31 instructions; the third input row is loaded here. */
#define ROW(left0, right0, left1, right1, left2, right2, label_of_last)                                                \
    P_LW_NEXT(right2, "a1")                                                                                            \
    P_LW_NEXT(left2, "a0")                                                                                             \
    DOTS(PV_DOTUSP_B, left0, right0, "s1", "s4")                                                                       \
    DOTS(PV_SDOTUSP_B, left1, right1, "s2", "s5")                                                                      \
    PV_SHUFFLE2_B(right2, left2, "a6")                                                                                 \
    DOTS(PV_SDOTUSP_B, left2, right2, "s3", "s6")                                                                      \
    FINISH("t6", "a7", "s7", "ra", label_of_last)

static inline void compute_stride_1(struct job *job)
{
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n"
                     LOAD_STRIP
                     "lw a0, %[unit0]\n"
                     "lw a1, %[unit1]\n"
                     "li a6, 0x01000706\n"
                     "0:\n"
                     LOAD_LANE
                     "slli s4, s1, 8\n"
                     "slli s5, s2, 8\n"
                     "slli s6, s3, 8\n"
                     P_LW_NEXT("t1", "a1")
                     P_LW_NEXT("t0", "a0")
                     P_LW_NEXT("t3", "a1")
                     P_LW_NEXT("t2", "a0")
                     "lw s7, %[rounds]\n"
                     "lw t6, %[rest]\n"
                     PV_SHUFFLE2_B("t1", "t0", "a6")
                     PV_SHUFFLE2_B("t3", "t2", "a6")
                     "beqz s7, 2f\n"
                     LP_SETUP("x0", "s7", 93, "1")
                     ROW("t0", "t1", "t2", "t3", "t4", "t5", "")
                     ROW("t2", "t3", "t4", "t5", "t0", "t1", "")
                     ROW("t4", "t5", "t0", "t1", "t2", "t3", "1: ")
                     "lw t6, %[rest]\n"
                     "nop\n"
                     "2: beqz t6, 3f\n"
                     ROW("t0", "t1", "t2", "t3", "t4", "t5", "")
                     "lw t6, %[rest]\n"
                     "li s7, 1\n"
                     "beq t6, s7, 3f\n"
                     ROW("t2", "t3", "t4", "t5", "t0", "t1", "")
                     "3:\n"
                     NEXT_LANE("0b")
                     ".option pop\n"
                     : CHANGED_OPERANDS(job)
                     : OPERANDS(job)
                     : CLOBBERED);
}

/* Stride 2. Outputs 0 and 2 read the words of the first and second unit, outputs 1 and 3 words between two units.
 *
 * a0, a1, a7   words of the three units, moving
 * s1-s3        weights of three kernel rows
 * t0-t2        words of the units
 * t3-t6 and s4-s7   sums of this output row and of the next, which shares an input row with it; in turn */
#define LOAD_UNITS P_LW_NEXT("t0", "a0") P_LW_NEXT("t1", "a1") P_LW_NEXT("t2", "a7")

#define INPUT_ROW(dot, a, b, c, d, weights)                                                                            \
    LOAD_UNITS                                                                                                         \
    dot(a, "t0", weights) PV_SHUFFLE2_B("t0", "t1", "a6") dot(c, "t1", weights) PV_SHUFFLE2_B("t1", "t2", "a6")        \
    dot(b, "t0", weights) dot(d, "t1", weights)

#define SHARED_INPUT_ROW(a, b, c, d, next_a, next_b, next_c, next_d)                                                   \
    LOAD_UNITS                                                                                                         \
    PV_SDOTUSP_B(a, "t0", "s3") PV_DOTUSP_B(next_a, "t0", "s1")                                                        \
    PV_SHUFFLE2_B("t0", "t1", "a6")                                                                                    \
    PV_SDOTUSP_B(c, "t1", "s3") PV_DOTUSP_B(next_c, "t1", "s1")                                                        \
    PV_SHUFFLE2_B("t1", "t2", "a6")                                                                                    \
    PV_SDOTUSP_B(b, "t0", "s3") PV_DOTUSP_B(next_b, "t0", "s1")                                                        \
    PV_SDOTUSP_B(d, "t1", "s3") PV_DOTUSP_B(next_d, "t1", "s1")

/* One output row, 38 instructions. */
#define STRIDE_2_ROW(a, b, c, d, next_a, next_b, next_c, next_d, label_of_last)                                        \
    INPUT_ROW(PV_SDOTUSP_B, a, b, c, d, "s2")                                                                          \
    SHARED_INPUT_ROW(a, b, c, d, next_a, next_b, next_c, next_d)                                                       \
    FINISH(a, b, c, d, label_of_last)

static inline void compute_stride_2(struct job *job)
{
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n"
                     LOAD_STRIP
                     "lw a0, %[unit0]\n"
                     "lw a1, %[unit1]\n"
                     "lw a7, %[unit2]\n"
                     "li a6, 0x05040302\n"
                     "0:\n"
                     LOAD_LANE
                     "lw ra, %[rounds]\n"
                     INPUT_ROW(PV_DOTUSP_B, "t3", "t4", "t5", "t6", "s1")
                     "lw s4, %[rest]\n"
                     "beqz ra, 2f\n"
                     LP_SETUP("x0", "ra", 76, "1")
                     STRIDE_2_ROW("t3", "t4", "t5", "t6", "s4", "s5", "s6", "s7", "")
                     STRIDE_2_ROW("s4", "s5", "s6", "s7", "t3", "t4", "t5", "t6", "1: ")
                     "lw s4, %[rest]\n"
                     "nop\n"
                     "2: beqz s4, 3f\n"
                     STRIDE_2_ROW("t3", "t4", "t5", "t6", "s4", "s5", "s6", "s7", "")
                     "3:\n"
                     NEXT_LANE("0b")
                     ".option pop\n"
                     : CHANGED_OPERANDS(job)
                     : OPERANDS(job)
                     : CLOBBERED);
}

#else

/* The four sums of one output row. */
static void sum_row(int32_t sum[4], const struct job *job, uint32_t offset, unsigned stride)
{
    for (unsigned i = 0; i < 4; i++) {
        uint32_t column = i * stride, unit = column / 4;
        sum[i] = 0;
        for (unsigned ky = 0; ky < 3; ky++) {
            uint32_t first = dory_load_word(job->unit[unit] + offset + 4 * ky);
            uint32_t second = column % 4 == 0 ? 0 : dory_load_word(job->unit[unit + 1] + offset + 4 * ky);
            uint64_t both = (uint64_t)second << 32 | first;
            sum[i] = pv_sdotusp_b(sum[i], (uint32_t)(both >> (8 * (column % 4))), dory_load_word(job->weights + 4 * ky));
        }
    }
}

static void compute_lane(const struct job *job, unsigned stride, uint32_t offset, uint32_t rows)
{
    const struct dory_normaliser normaliser = {.shift = job->shift, .maximum = 255};
    uint8_t *output = job->output;
    for (uint32_t row = 0; row < rows; row++, output += job->row_step) {
        int32_t sum[4];
        sum_row(sum, job, offset + 4 * row * stride, stride);
        dory_normalise_directly(&normaliser, sum, 1, job->constants);
        for (unsigned i = 3; i > 0; output += job->step[3 - i], i--) {
            *output = (uint8_t)sum[i];
        }
        *output = (uint8_t)sum[0];
    }
}

static void compute(struct job *job, unsigned stride, uint32_t rows)
{
    uint32_t offset = 0;
    for (; job->lanes > 0; job->lanes--) {
        compute_lane(job, stride, offset, rows);
        offset += 4 * ((rows - 1) * stride + 3);
        job->weights += 12;
        job->constants += 8;
        job->output++;
    }
}

static void compute_stride_1(struct job *job) { compute(job, 1, 3 * job->rounds + job->rest); }
static void compute_stride_2(struct job *job) { compute(job, 2, 2 * job->rounds + job->rest); }

#endif

/* The quotient of a number of rows up to 40 by 3, without a division's 30 cycles. */
static inline uint32_t third(uint32_t rows) { return rows * 43 >> 7; }

static inline __attribute__((always_inline)) void compute_strip(const struct dory_depthwise *work, const struct dory_strip *strip,
                                                                uint32_t stride)
{
    int32_t channels = (int32_t)work->channels, last = (int32_t)strip->columns - 1;
    struct job job = {
        .unit = {strip->unit[0], strip->unit[1], strip->unit[2]},
        .weights = strip->weights,
        .constants = strip->constants,
        .output = strip->output + last * channels,
        .step = {last > 2 ? -channels : 0, last > 1 ? -channels : 0, last > 0 ? -channels : 0},
        .row_step = ((int32_t)work->columns + last) * channels,
        .shift = work->normaliser.shift,
        .rounds = stride == 2 ? strip->rows / 2 : third(strip->rows),
        .lanes = strip->lanes,
    };
    job.rest = strip->rows - job.rounds * (stride == 2 ? 2 : 3);
    if (stride == 2) {
        compute_stride_2(&job);
    } else {
        compute_stride_1(&job);
    }
}

static inline void strip_of_stride_1(const struct dory_depthwise *work, const struct dory_strip *strip)
{
    compute_strip(work, strip, 1);
}

static inline void strip_of_stride_2(const struct dory_depthwise *work, const struct dory_strip *strip)
{
    compute_strip(work, strip, 2);
}

/* Two functions, so that a network without strides needs only one of them. */
void dory_xpulpv2_depthwise_3x3_stride_1(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    dory_depthwise_run(layer, tile, core, cores, strip_of_stride_1, 0);
}

void dory_xpulpv2_depthwise_3x3_stride_2(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    dory_depthwise_run(layer, tile, core, cores, strip_of_stride_2, 0);
}
