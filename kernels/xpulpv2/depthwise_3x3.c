/* Depth-wise layers 3x3 of unsigned bytes, stride 1 or 2, in strips of four columns that are computed from top to bottom. */
#include "depthwise.h"
#include "xpulpv2.h"

/* The lanes of a strip that are left to do. The elements of a row are written from the last one to the first; those that
 * do not exist go where an existing one is written afterwards. */
struct lanes {
    const uint8_t *weights;   /* three words a lane: a kernel row each, with a zero byte behind it */
    const uint8_t *constants; /* multiplier and addend of each lane */
    uint8_t *output;          /* of the last element of the first row */
    uint32_t left;
    uint32_t saved[2]; /* registers */
};

#if defined(DORY_XPULPV2)

/* Four sums to bytes. The clip to [0, 255] is an immediate: n = 9 is 8 bits. */
#define CLIP(a) ".insn r 0x33, 2, 0x0A, " a ", " a ", x9\n"
#if defined(__pulp__) || defined(__gap8__)
#undef CLIP
#define CLIP(a) "p.clipu " a ", " a ", 9\n"
#endif
#define STORE(a, b, c, d, label_of_last)                                                                                    \
    P_SB_STEP(d, "s8", "a2") P_SB_STEP(c, "s9", "a2") P_SB_STEP(b, "s10", "a2") label_of_last P_SB_STEP(a, "s11", "a2")

#define SCALE(a, b, c, d)                                                                                                   \
    "mul " a ", " a ", a3\n"                                                                                                \
    "mul " b ", " b ", a3\n"                                                                                                \
    "mul " c ", " c ", a3\n"                                                                                                \
    "mul " d ", " d ", a3\n"

/* DORY_DIRECT: 16 instructions for four elements. t0 and t1 name registers that are free; not here. */
#define FINISH(a, b, c, d, t0, t1, label_of_last)                                                                           \
    SCALE(a, b, c, d)                                                                                                       \
    P_ADDNR(a, "a4", "a5")                                                                                                  \
    P_ADDNR(b, "a4", "a5") P_ADDNR(c, "a4", "a5") P_ADDNR(d, "a4", "a5") CLIP(a) CLIP(b) CLIP(c) CLIP(d)                    \
        STORE(a, b, c, d, label_of_last)

/* The clamped kinds, see direct.h, have their bounds in gp and tp. 20 and 28 instructions. */
#define CLAMP(a, b, c, d)                                                                                                   \
    P_MAX(a, a, "gp")                                                                                                       \
    P_MAX(b, b, "gp") P_MAX(c, c, "gp") P_MAX(d, d, "gp") P_MIN(a, a, "tp") P_MIN(b, b, "tp") P_MIN(c, c, "tp")             \
        P_MIN(d, d, "tp")

#define FINISH_CLAMPED(a, b, c, d, t0, t1, label_of_last)                                                                   \
    CLAMP(a, b, c, d)                                                                                                       \
    SCALE(a, b, c, d)                                                                                                       \
    P_ADDUNR(a, "a4", "a5")                                                                                                 \
    P_ADDUNR(b, "a4", "a5") P_ADDUNR(c, "a4", "a5") P_ADDUNR(d, "a4", "a5") STORE(a, b, c, d, label_of_last)

#define FINISH_CLAMPED_LESS_ONE(a, b, c, d, t0, t1, label_of_last)                                                          \
    CLAMP(a, b, c, d)                                                                                                       \
    SCALE(a, b, c, d)                                                                                                       \
    "add " a ", " a ", a4\n"                                                                                                \
    "add " b ", " b ", a4\n"                                                                                                \
    "add " c ", " c ", a4\n"                                                                                                \
    "add " d ", " d ", a4\n"                                                                                                \
    "srl " t0 ", " a ", a5\n"                                                                                               \
    "srl " t1 ", " b ", a5\n" P_ADDUNR(a, t0, "a5") P_ADDUNR(b, t1, "a5") "srl " t0 ", " c ", a5\n"                         \
                                                                          "srl " t1 ", " d ", a5\n" P_ADDUNR(c, t0, "a5")   \
                                                                              P_ADDUNR(d, t1, "a5")                         \
                                                                                  STORE(a, b, c, d, label_of_last)

/* What both strides have in common: a2 output, a3 multiplier, a4 addend, a5 shift, a6 selector, s8-s11 steps. The words of
 * the units follow each other from lane to lane, other addresses are kept in memory: all registers but s0 are in use. */
#define LOAD_STRIP                                                                                                          \
    "lw a5, %[shift]\n"                                                                                                     \
    "lw s8, %[step0]\n"                                                                                                     \
    "lw s9, %[step1]\n"                                                                                                     \
    "lw s10, %[step2]\n"                                                                                                    \
    "lw s11, %[row_step]\n"

#define LOAD_CONSTANTS                  P_LW_NEXT("a3", "t1") P_LW_NEXT("a4", "t1")
#define LOAD_CONSTANTS_CLAMPED          P_LW_NEXT("gp", "t1") P_LW_NEXT("tp", "t1") P_LW_NEXT("a3", "t1") P_LW_NEXT("a4", "t1")
#define LOAD_CONSTANTS_CLAMPED_LESS_ONE LOAD_CONSTANTS_CLAMPED "addi a4, a4, 1\n"

#define LOAD_LANE(load_constants)                                                                                           \
    "lw t0, %[weights]\n"                                                                                                   \
    "lw t1, %[constants]\n"                                                                                                 \
    "lw a2, %[output]\n" P_LW_NEXT("s1", "t0") P_LW_NEXT("s2", "t0") P_LW_NEXT("s3", "t0") load_constants                   \
        "addi t2, a2, 1\n"                                                                                                  \
        "sw t0, %[weights]\n"                                                                                               \
        "sw t1, %[constants]\n"                                                                                             \
        "sw t2, %[output]\n"

/* To `label` for the next lane. */
#define NEXT_LANE(label)                                                                                                    \
    "lw t6, %[lanes]\n"                                                                                                     \
    "nop\n"                                                                                                                 \
    "addi t6, t6, -1\n"                                                                                                     \
    "sw t6, %[lanes]\n"                                                                                                     \
    "bnez t6, " label "\n"

/* The compiler's gp and tp; nothing that would need them happens meanwhile, for cluster cores take no interrupts. */
#define SAVE_POINTERS                                                                                                       \
    "sw gp, %[saved_gp]\n"                                                                                                  \
    "sw tp, %[saved_tp]\n"
#define RESTORE_POINTERS                                                                                                    \
    "lw gp, %[saved_gp]\n"                                                                                                  \
    "lw tp, %[saved_tp]\n"

#define CHANGED_OPERANDS                                                                                                    \
    [weights] "+m"(lanes->weights), [constants] "+m"(lanes->constants), [output] "+m"(lanes->output),                       \
        [lanes] "+m"(lanes->left), [saved_gp] "+m"(lanes->saved[0]), [saved_tp] "+m"(lanes->saved[1])

#define OPERANDS                                                                                                            \
    [shift] "m"(work->normaliser.direct_shift), [step0] "m"(strip->own.step[0]), [step1] "m"(strip->own.step[1]),           \
        [step2] "m"(strip->own.step[2]), [row_step] "m"(strip->own.row_step), [rounds] "m"(strip->own.rounds),              \
        [rest] "m"(strip->own.rest), [unit0] "m"(strip->unit[0]), [unit1] "m"(strip->unit[1]), [unit2] "m"(strip->unit[2])

#define CLOBBERED                                                                                                           \
    "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s1", "s2", "s3", "s4", "s5", \
        "s6", "s7", "s8", "s9", "s10", "s11", "ra", "memory"

/* Stride 1. Outputs 0 and 1 are dot products of the word at column 0 with the weights and with the weights a byte
 * further; outputs 2 and 3 the same of the word at column 2, which a shuffle makes of two words.
 *
 * a0, a1   words of the left and the right unit, moving
 * s1-s3    weights of three kernel rows;  s4-s6  a byte further
 * t0-t5    words at columns 0 and 2 of three input rows, in rotation
 * t6, a7, s7, ra   sums */
#define DOTS(dot, left, right, weights, further)                                                                            \
    dot("t6", left, weights) dot("a7", left, further) dot("s7", right, weights) dot("ra", right, further)

/* One output row, 31 instructions; the third input row is loaded here. */
#define ROW(finish, left0, right0, left1, right1, left2, right2, label_of_last)                                             \
    P_LW_NEXT(right2, "a1")                                                                                                 \
    P_LW_NEXT(left2, "a0")                                                                                                  \
    DOTS(PV_DOTUSP_B, left0, right0, "s1", "s4")                                                                            \
    DOTS(PV_SDOTUSP_B, left1, right1, "s2", "s5")                                                                           \
    PV_SHUFFLE2_B(right2, left2, "a6")                                                                                      \
    DOTS(PV_SDOTUSP_B, left2, right2, "s3", "s6")                                                                           \
    finish("t6", "a7", "s7", "ra", left0, right0, label_of_last)

#define COMPUTE_STRIDE_1(finish, load_constants, instructions)                                                              \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n" SAVE_POINTERS LOAD_STRIP "lw a0, %[unit0]\n"                                                      \
        "lw a1, %[unit1]\n"                                                                                                 \
        "li a6, 0x01000706\n"                                                                                               \
        "0:\n" LOAD_LANE(                                                                                                   \
            load_constants) "slli s4, s1, 8\n"                                                                              \
                            "slli s5, s2, 8\n"                                                                              \
                            "slli s6, s3, 8\n" P_LW_NEXT("t1", "a1") P_LW_NEXT("t0", "a0") P_LW_NEXT("t3", "a1") P_LW_NEXT( \
                                "t2", "a0") "lw s7, %[rounds]\n"                                                            \
                                            "lw t6, %[rest]\n" PV_SHUFFLE2_B("t1", "t0", "a6")                              \
                                                PV_SHUFFLE2_B("t3", "t2", "a6") "beqz s7, 2f\n" LP_SETUP(                   \
                                                    "x0", "s7", 3 * (instructions), "1")                                    \
                                                    ROW(finish, "t0", "t1", "t2", "t3", "t4", "t5", "")                     \
                                                        ROW(finish, "t2", "t3", "t4", "t5", "t0", "t1", "")                 \
                                                            ROW(finish, "t4", "t5", "t0", "t1", "t2", "t3",                 \
                                                                "1: ") "lw t6, %[rest]\n"                                   \
                                                                       "nop\n"                                              \
                                                                       "2: beqz t6, 3f\n" ROW(                              \
                                                                           finish, "t0", "t1", "t2", "t3", "t4", "t5",      \
                                                                           "") "lw t6, %[rest]\n"                           \
                                                                               "li s7, 1\n"                                 \
                                                                               "beq t6, s7, 3f\n" ROW(                      \
                                                                                   finish, "t2", "t3", "t4", "t5", "t0",    \
                                                                                   "t1", "") "3:\n" NEXT_LANE("0b")         \
                                                                                   RESTORE_POINTERS ".option pop\n"         \
        : CHANGED_OPERANDS:OPERANDS                                                                                         \
        : CLOBBERED)

/* Stride 2. Outputs 0 and 2 read the words of the first and second unit, outputs 1 and 3 words between two units.
 *
 * a0, a1, a7   words of the three units, moving
 * s1-s3        weights of three kernel rows
 * t0-t2        words of the units
 * t3-t6 and s4-s7   sums of this output row and of the next, which shares an input row with it; in turn */
#define LOAD_UNITS P_LW_NEXT("t0", "a0") P_LW_NEXT("t1", "a1") P_LW_NEXT("t2", "a7")

#define INPUT_ROW(dot, a, b, c, d, weights)                                                                                 \
    LOAD_UNITS                                                                                                              \
    dot(a, "t0", weights) PV_SHUFFLE2_B("t0", "t1", "a6") dot(c, "t1", weights) PV_SHUFFLE2_B("t1", "t2", "a6")             \
        dot(b, "t0", weights) dot(d, "t1", weights)

#define SHARED_INPUT_ROW(a, b, c, d, next_a, next_b, next_c, next_d)                                                        \
    LOAD_UNITS                                                                                                              \
    PV_SDOTUSP_B(a, "t0", "s3")                                                                                             \
    PV_DOTUSP_B(next_a, "t0", "s1") PV_SHUFFLE2_B("t0", "t1", "a6") PV_SDOTUSP_B(c, "t1", "s3")                             \
        PV_DOTUSP_B(next_c, "t1", "s1") PV_SHUFFLE2_B("t1", "t2", "a6") PV_SDOTUSP_B(b, "t0", "s3")                         \
            PV_DOTUSP_B(next_b, "t0", "s1") PV_SDOTUSP_B(d, "t1", "s3") PV_DOTUSP_B(next_d, "t1", "s1")

/* One output row, 38 instructions. */
#define STRIDE_2_ROW(finish, a, b, c, d, next_a, next_b, next_c, next_d, label_of_last)                                     \
    INPUT_ROW(PV_SDOTUSP_B, a, b, c, d, "s2")                                                                               \
    SHARED_INPUT_ROW(a, b, c, d, next_a, next_b, next_c, next_d)                                                            \
    finish(a, b, c, d, "t0", "t1", label_of_last)

#define COMPUTE_STRIDE_2(finish, load_constants, instructions)                                                              \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" SAVE_POINTERS LOAD_STRIP "lw a0, %[unit0]\n"                                         \
                     "lw a1, %[unit1]\n"                                                                                    \
                     "lw a7, %[unit2]\n"                                                                                    \
                     "li a6, 0x05040302\n"                                                                                  \
                     "0:\n" LOAD_LANE(load_constants) "lw ra, %[rounds]\n" INPUT_ROW(                                       \
                         PV_DOTUSP_B, "t3", "t4", "t5", "t6",                                                               \
                         "s1") "lw s4, %[rest]\n"                                                                           \
                               "beqz ra, 2f\n" LP_SETUP("x0", "ra", 2 * (instructions), "1")                                \
                                   STRIDE_2_ROW(finish, "t3", "t4", "t5", "t6", "s4", "s5", "s6", "s7", "") STRIDE_2_ROW(   \
                                       finish, "s4", "s5", "s6", "s7", "t3", "t4", "t5", "t6",                              \
                                       "1: ") "lw s4, %[rest]\n"                                                            \
                                              "nop\n"                                                                       \
                                              "2: beqz s4, 3f\n" STRIDE_2_ROW(finish, "t3", "t4", "t5", "t6", "s4", "s5",   \
                                                                              "s6", "s7", "") "3:\n" NEXT_LANE("0b")        \
                                                  RESTORE_POINTERS ".option pop\n"                                          \
                     : CHANGED_OPERANDS:OPERANDS                                                                            \
                     : CLOBBERED)

/* `kind` is a constant. */
static inline __attribute__((always_inline)) void compute(const struct dory_depthwise *work, const struct dory_strip *strip,
                                                          struct lanes *lanes, uint32_t stride, enum dory_direct kind)
{
    if (stride == 1 && kind == DORY_DIRECT) {
        COMPUTE_STRIDE_1(FINISH, LOAD_CONSTANTS, 31);
    } else if (stride == 1 && kind == DORY_DIRECT_CLAMPED) {
        COMPUTE_STRIDE_1(FINISH_CLAMPED, LOAD_CONSTANTS_CLAMPED, 35);
    } else if (stride == 1) {
        COMPUTE_STRIDE_1(FINISH_CLAMPED_LESS_ONE, LOAD_CONSTANTS_CLAMPED_LESS_ONE, 43);
    } else if (kind == DORY_DIRECT) {
        COMPUTE_STRIDE_2(FINISH, LOAD_CONSTANTS, 38);
    } else if (kind == DORY_DIRECT_CLAMPED) {
        COMPUTE_STRIDE_2(FINISH_CLAMPED, LOAD_CONSTANTS_CLAMPED, 42);
    } else {
        COMPUTE_STRIDE_2(FINISH_CLAMPED_LESS_ONE, LOAD_CONSTANTS_CLAMPED_LESS_ONE, 50);
    }
}

#else

/* The four sums of one output row; `offset` is that of its first input row in the units. */
static void sum_row(int32_t sum[4], const struct dory_strip *strip, const uint8_t *weights, uint32_t offset, unsigned stride)
{
    for (unsigned i = 0; i < 4; i++) {
        uint32_t column = i * stride, unit = column / 4;
        sum[i] = 0;
        for (unsigned ky = 0; ky < 3; ky++) {
            uint32_t first = dory_load_word(strip->unit[unit] + offset + 4 * ky);
            uint32_t second = column % 4 == 0 ? 0 : dory_load_word(strip->unit[unit + 1] + offset + 4 * ky);
            uint64_t both = (uint64_t)second << 32 | first;
            sum[i] = pv_sdotusp_b(sum[i], (uint32_t)(both >> (8 * (column % 4))), dory_load_word(weights + 4 * ky));
        }
    }
}

static void compute_lane(const struct dory_depthwise *work, const struct dory_strip *strip, const struct lanes *lanes,
                         unsigned stride, uint32_t offset)
{
    uint32_t rows = strip->own.rounds * (stride == 2 ? 2 : 3) + strip->own.rest;
    uint8_t *output = lanes->output;
    for (uint32_t row = 0; row < rows; row++, output += strip->own.row_step) {
        int32_t sum[4];
        sum_row(sum, strip, lanes->weights, offset + 4 * row * stride, stride);
        if (work->normaliser.direct == DORY_DIRECT) {
            dory_normalise_directly(&work->normaliser, sum, 1, lanes->constants);
        } else {
            dory_normalise_clamped_directly(&work->normaliser, sum, 1, lanes->constants);
        }
        for (unsigned i = 3; i > 0; output += strip->own.step[3 - i], i--) {
            *output = (uint8_t)sum[i];
        }
        *output = (uint8_t)sum[0];
    }
}

static void compute(const struct dory_depthwise *work, const struct dory_strip *strip, struct lanes *lanes, uint32_t stride,
                    enum dory_direct kind)
{
    (void)kind;
    for (uint32_t offset = 0; lanes->left > 0; lanes->left--) {
        compute_lane(work, strip, lanes, stride, offset);
        offset += 4 * strip->input_rows;
        lanes->weights += 12;
        lanes->constants += dory_direct_constants_bytes(&work->normaliser);
        lanes->output++;
    }
}

#endif

/* The quotient of a number of rows up to 40 by 3, without a division's 30 cycles. */
static inline uint32_t third(uint32_t rows) { return rows * 43 >> 7; }

/* The order of writing, for a strip of so many columns. */
static inline void set_steps(const struct dory_depthwise *work, struct dory_strip *strip, int32_t channels, int32_t last)
{
    strip->own.step[0] = last > 2 ? -channels : 0;
    strip->own.step[1] = last > 1 ? -channels : 0;
    strip->own.step[2] = last > 0 ? -channels : 0;
    strip->own.row_step = ((int32_t)work->columns + last) * channels;
}

static inline __attribute__((always_inline)) void compute_strip(const struct dory_depthwise *work, struct dory_strip *strip,
                                                                uint32_t stride, enum dory_direct kind)
{
    int32_t channels = (int32_t)work->channels, last = (int32_t)strip->columns - 1;
    if (strip->new_band) {
        strip->own.rounds = stride == 2 ? strip->rows / 2 : third(strip->rows);
        strip->own.rest = strip->rows - strip->own.rounds * (stride == 2 ? 2 : 3);
    }
    if (strip->new_band || last < 3) {
        set_steps(work, strip, channels, last);
    }
    struct lanes lanes;
    lanes.weights = strip->weights;
    lanes.constants = strip->constants;
    lanes.output = strip->output + last * channels;
    lanes.left = strip->lanes;
    compute(work, strip, &lanes, stride, kind);
}

/* One function for each stride and kind of normalisation, so that a network has only what it needs. */
#define KERNEL(name, units, stride, kind)                                                                                   \
    static inline void strip_of_##name(const struct dory_depthwise *work, struct dory_strip *strip)                         \
    {                                                                                                                       \
        compute_strip(work, strip, stride, kind);                                                                           \
    }                                                                                                                       \
    void dory_xpulpv2_depthwise_3x3_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,     \
                                           unsigned cores)                                                                  \
    {                                                                                                                       \
        dory_depthwise_run(layer, tile, core, cores, units, stride, 0, strip_of_##name);                                    \
    }

KERNEL(stride_1, 2, 1, DORY_DIRECT)
KERNEL(stride_1_clamped, 2, 1, DORY_DIRECT_CLAMPED)
KERNEL(stride_1_clamped_less_one, 2, 1, DORY_DIRECT_CLAMPED_LESS_ONE)
KERNEL(stride_2, 3, 2, DORY_DIRECT)
KERNEL(stride_2_clamped, 3, 2, DORY_DIRECT_CLAMPED)
KERNEL(stride_2_clamped_less_one, 3, 2, DORY_DIRECT_CLAMPED_LESS_ONE)
