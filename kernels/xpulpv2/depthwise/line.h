/* The inner loops of depth-wise layers along one dimension: four outputs next to each other on a line, made of words of four
 * pixels of one channel ("a lane"). Words are packed from bytes where they are used (4 loads, 2 packs), so that nothing is
 * transposed, channels may be any number, and a line may lie in a row or in a column.
 *
 * Outputs 0 and 1 of a four read near words, at pixels 4 * i, outputs 2 and 3 far ones, 2 * stride pixels further. Outputs 0
 * and 2 take words of weights as they are, 1 and 3 the same moved on by `stride` bytes; so many steps as moved ones need.
 *
 * Instructions of a four beside those that finish it (16 to 34; see finish.h), for K taps:
 * - sliding, stride 1, unsigned, up to 5 steps (K <= 19): the near words move on by one a four, and a far word is made of
 *   two near ones. Up to 3 steps have their weights in registers: 6 + 6 * steps; more load them: 7 + 8 * steps.
 * - any: 8 + 18 * steps.
 *
 * What ends in 64 bits or by a division has sums in memory, 8 fours at a time. docs/notes/gap8-cycles.md has the cycles.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_LINE_H
#define DORY_XPULPV2_LINE_H

#include <stdbool.h>

#define STEP_1 "s8" /* outputs of a four are equally far from each other */
#define STEP_2 "s8"
#include "finish.h"

/* The same fours of some lanes next to each other, of which all that has to do with one moves on from lane to lane. */
struct dory_line {
    struct dory_normaliser normaliser;
    uint32_t lanes;         /* of one quad, or four of each of some quads */
    const uint8_t *input;   /* of the first four */
    const uint8_t *weights; /* words as they are and moved on, in turn; of up to 3 sliding steps, as they are alone */
    uint32_t weights_bytes;
    const uint8_t *constants;
    uint32_t to_next_weights, to_next_constants; /* from behind a quad's to those of the next one */
    uint8_t *last;                               /* the last element of the first four, which is written first */
    uint32_t pixel_step;                         /* from pixel to pixel of the input */
    uint32_t tail_back, tail_step; /* sliding: how far before the next pixel the last word of the last four starts, of which
                                      two pixels at most are read; and from one to the other */
    uint32_t steps;
    uint32_t sliding; /* steps, or 0 */
    bool is_signed;
    uint32_t far, four_step;       /* not sliding: from near to far words, and from a four to the next one */
    int32_t back, to_next;         /* from an element to the one before; from a four's first to the next one's last */
    uint32_t fours;                /* at least 1 */
    uint32_t more, ends, saved[2]; /* of a lane at work */
    uint32_t zero, step_below;     /* likewise, of DORY_DIRECT_SPLIT_AWAY */
};

typedef void dory_compute_line(struct dory_line *line);

/* Bytes 2 and 3 of a word, 0 and 1 of the next one. */
#define DORY_LINE_FAR 0x05040302

#if defined(DORY_XPULPV2)

/* clang-format off */

/* Registers beside those of finish.h: t6, a7, s7 and ra sums, before them bytes of pixels; s1 to s4 near words; s5, s6, s9,
 * s10, t2 and t3 weights; a0 and a1 input and its step; a6 selector of far words. */
#define START_LINE                                                                                                          \
    "sw gp, %[saved_gp]\n"                                                                                                  \
    "sw tp, %[saved_tp]\n"                                                                                                  \
    "lw a5, %[shift]\n"                                                                                                     \
    "lw s8, %[back]\n"                                                                                                      \
    "lw s11, %[to_next]\n"                                                                                                  \
    "lw a1, %[pixel_step]\n"

/* t0 is where a lane's weights are. */
#define START_LANE(load_constants)                                                                                          \
    "0: lw t1, %[constants]\n"                                                                                              \
    "lw a0, %[input]\n"                                                                                                     \
    "lw a2, %[last]\n"                                                                                                      \
    "lw t0, %[weights]\n"                                                                                                   \
    load_constants                                                                                                          \
    "lw t5, %[weights_bytes]\n"                                                                                             \
    "addi t2, a0, 1\n"                                                                                                      \
    "addi t3, a2, 1\n"                                                                                                      \
    "add t5, t5, t0\n"                                                                                                      \
    "sw t1, %[constants]\n"                                                                                                 \
    "sw t2, %[input]\n"                                                                                                     \
    "sw t3, %[last]\n"                                                                                                      \
    "sw t5, %[weights]\n"

/* Behind the last lane of a quad the next quad's weights and constants follow. */
#define NEXT_LANE                                                                                                           \
    "lw t0, %[lanes]\n"                                                                                                     \
    "lw t2, %[to_next_weights]\n"                                                                                           \
    "addi t0, t0, -1\n"                                                                                                     \
    "sw t0, %[lanes]\n"                                                                                                     \
    "andi t1, t0, 3\n"                                                                                                      \
    "bnez t1, 0b\n"                                                                                                         \
    "beqz t0, 6f\n"                                                                                                         \
    "lw t1, %[weights]\n"                                                                                                   \
    "lw t3, %[constants]\n"                                                                                                 \
    "lw t4, %[to_next_constants]\n"                                                                                         \
    "add t1, t1, t2\n"                                                                                                      \
    "add t3, t3, t4\n"                                                                                                      \
    "sw t1, %[weights]\n"                                                                                                   \
    "sw t3, %[constants]\n"                                                                                                 \
    "j 0b\n"                                                                                                                \
    "6:\n"

#define END_LINE                                                                                                            \
    "lw gp, %[saved_gp]\n"                                                                                                  \
    "lw tp, %[saved_tp]\n"

/* 6 instructions. */
#define PACK_WORD(word, pointer, b0, b1, b2, b3)                                                                            \
    P_LBU_STEP(b0, "a1", pointer) P_LBU_STEP(b1, "a1", pointer) P_LBU_STEP(b2, "a1", pointer) P_LBU_STEP(b3, "a1", pointer) \
    PV_PACKLO_B(word, b1, b0) PV_PACKHI_B(word, b3, b2)
#define SLIDE_WORD(word) PACK_WORD(word, "a0", "t6", "a7", "s7", "ra")

/* 6 instructions: the near word becomes far, and then that of the next four. */
#define SLIDE(dot, near, next, own, moved)                                                                                  \
    dot("t6", near, own) dot("a7", near, moved) PV_SHUFFLE2_B(near, next, "a6")                                             \
    dot("s7", near, own) dot("ra", near, moved)                                                                             \
    "mv " near ", " next "\n"

/* Up to 3 steps make the moved words themselves. More have six near words, and weights from t3 on. */
#define SELECT_FAR "li a6, 0x05040302\n"
#define WEIGHTS_1  P_LW_NEXT("s5", "t0") "nop\n" "slli s6, s5, 8\n"
#define WEIGHTS_2                                                                                                           \
    P_LW_NEXT("s5", "t0") P_LW_NEXT("s9", "t0") "li a6, 0x06050403\n"                                                       \
    "slli s6, s5, 8\n"                                                                                                      \
    "mv s10, s5\n" PV_SHUFFLE2_B("s10", "s9", "a6") SELECT_FAR
#define WEIGHTS_3                                                                                                           \
    P_LW_NEXT("s5", "t0") P_LW_NEXT("s9", "t0") P_LW_NEXT("t2", "t0") "li a6, 0x06050403\n"                                 \
    "slli s6, s5, 8\n"                                                                                                      \
    "mv s10, s5\n" PV_SHUFFLE2_B("s10", "s9", "a6")                                                                         \
    "mv t3, s9\n" PV_SHUFFLE2_B("t3", "t2", "a6") SELECT_FAR
#define WEIGHTS_4 "mv t3, t0\n"
#define WEIGHTS_5 WEIGHTS_4

#define FIRST_WORDS_1             SLIDE_WORD("s1")
#define FIRST_WORDS_2             FIRST_WORDS_1 SLIDE_WORD("s2")
#define FIRST_WORDS_3             FIRST_WORDS_2 SLIDE_WORD("s3")
#define FIRST_WORDS_4             FIRST_WORDS_3 SLIDE_WORD("s4")
#define FIRST_WORDS_5             FIRST_WORDS_4 SLIDE_WORD("t2")
#define LAST_WORD_1               "s2"
#define LAST_WORD_2               "s3"
#define LAST_WORD_3               "s4"
#define LAST_WORD_4               "t4"
#define LAST_WORD_5               "t4"
#define INSTRUCTIONS_1            6
#define INSTRUCTIONS_2            12
#define INSTRUCTIONS_3            18
#define INSTRUCTIONS_4            33
#define INSTRUCTIONS_5            41
#define SLIDE_LOADED(dot, near, next) P_LW_NEXT("s5", "t1") P_LW_NEXT("s6", "t1") SLIDE(dot, near, next, "s5", "s6")
#define SLIDE_1(first, dot) SLIDE(first, "s1", "s2", "s5", "s6")
#define SLIDE_2(first, dot) SLIDE_1(first, dot) SLIDE(dot, "s2", "s3", "s9", "s10")
#define SLIDE_3(first, dot) SLIDE_2(first, dot) SLIDE(dot, "s3", "s4", "t2", "t3")
#define SLIDE_4_OF(first, dot, end)                                                                                         \
    "mv t1, t3\n" SLIDE_LOADED(first, "s1", "s2") SLIDE_LOADED(dot, "s2", "s3") SLIDE_LOADED(dot, "s3", "s4")               \
    SLIDE_LOADED(dot, "s4", end)
#define SLIDE_4(first, dot) SLIDE_4_OF(first, dot, "t4")
#define SLIDE_5(first, dot) SLIDE_4_OF(first, dot, "t2") SLIDE_LOADED(dot, "t2", "t4")

/* Sums start with the bias, or with their first products. */
#define SET_BIAS            "mv t6, gp\n" "mv a7, gp\n" "mv s7, gp\n" "mv ra, gp\n"
#define INSTRUCTIONS_BIAS   4
#define SET_ZERO            "mv t6, x0\n" "mv a7, x0\n" "mv s7, x0\n" "mv ra, x0\n"
#define FIRST_BIAS(dot)     PV_S##dot
#define SET_NOTHING         ""
#define INSTRUCTIONS_NOTHING 0
#define FIRST_NOTHING(dot)  PV_##dot

/* The last four has its last word from memory: the loop's body is entered behind its load once more, for one round. */
#define SLIDING(steps, dot, start, finish, instructions, load_constants)                                                    \
    START_LINE                                                                                                              \
    SELECT_FAR                                                                                                              \
    START_LANE(load_constants)                                                                                           \
    WEIGHTS_##steps                                                                                                         \
    FIRST_WORDS_##steps                                                                                                     \
    "lw t0, %[more]\n"                                                                                                      \
    "li t1, 1\n"                                                                                                            \
    "sw t1, %[ends]\n"                                                                                                      \
    LP_START("x0", 4, "1")                                                                                                  \
    LP_END("x0", 2 + 6 + INSTRUCTIONS_##steps + INSTRUCTIONS_##start + instructions, "3")                                   \
    "beqz t0, 4f\n"                                                                                                         \
    LP_COUNT("x0", "t0")                                                                                                    \
    "1: " SLIDE_WORD(LAST_WORD_##steps)                                                                                     \
    "2:\n"                                                                                                                  \
    SET_##start                                                                                                             \
    SLIDE_##steps(FIRST_##start(dot), PV_S##dot)                                                                            \
    finish("t6", "a7", "s7", "ra", "t0", "t1", "3: ")                                                                       \
    "4: lw t0, %[ends]\n"                                                                                                   \
    "lw t1, %[tail_back]\n"                                                                                                 \
    "sw x0, %[ends]\n"                                                                                                      \
    "beqz t0, 5f\n"                                                                                                         \
    "lw t5, %[tail_step]\n"                                                                                                 \
    "sub a0, a0, t1\n"                                                                                                      \
    LP_COUNT("x0", "t0")                                                                                                    \
    P_LBU_STEP("t6", "t5", "a0") P_LBU_STEP("a7", "x0", "a0")                                                               \
    "nop\n"                                                                                                                 \
    PV_PACKLO_B(LAST_WORD_##steps, "a7", "t6")                                                                              \
    "j 2b\n"                                                                                                                \
    "5:\n"                                                                                                                  \
    NEXT_LANE

/* Near words from a0 on, far ones from s9 on, weights from s10 on. */
#define ANY_STEPS(dot, start, finish, instructions, load_constants)                                                         \
    START_LINE                                                                                                              \
    START_LANE(load_constants)                                                                                              \
    "lw s9, %[far]\n"                                                                                                       \
    "lw t2, %[steps]\n"                                                                                                     \
    "lw t3, %[fours]\n"                                                                                                     \
    "lw s3, %[four_step]\n"                                                                                                 \
    "mv s4, t0\n"                                                                                                           \
    "add s9, s9, a0\n"                                                                                                      \
    LP_SETUP("x1", "t3", 26 + instructions, "3")                                                                            \
    "mv s10, s4\n"                                                                                                          \
    SET_##start                                                                                                             \
    LP_SETUP("x0", "t2", 18, "2")                                                                                           \
    PACK_WORD("s1", "a0", "t0", "t1", "t4", "t5") PACK_WORD("s2", "s9", "t0", "t1", "t4", "t5")                             \
    P_LW_NEXT("s5", "s10") P_LW_NEXT("s6", "s10")                                                                           \
    dot("t6", "s1", "s5") dot("a7", "s1", "s6") dot("s7", "s2", "s5") "2: " dot("ra", "s2", "s6")                           \
    "add a0, a0, s3\n"                                                                                                      \
    "add s9, s9, s3\n"                                                                                                      \
    finish("t6", "a7", "s7", "ra", "t0", "t1", "3: ")                                                                       \
    NEXT_LANE

#define LINE(text)                                                                                                          \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n"                                                                                                   \
        text                                                                                                                \
        END_LINE                                                                                                            \
        ".option pop\n"                                                                                                     \
        : /* all in memory, which is clobbered: of operands that change there may be fewer */                               \
        : FINISH_OPERANDS(line->normaliser), [back] "m"(line->back), [to_next] "m"(line->to_next),                          \
          [weights_bytes] "m"(line->weights_bytes), [pixel_step] "m"(line->pixel_step), [more] "m"(line->more),             \
          [far] "m"(line->far), [steps] "m"(line->steps), [fours] "m"(line->fours), [four_step] "m"(line->four_step),       \
          [ends] "m"(line->ends),                                                                                           \
          [saved_gp] "m"(line->saved[0]),                                                                                   \
          [saved_tp] "m"(line->saved[1]),                                                                                   \
          [constants] "m"(line->constants),                                                                                 \
          [weights] "m"(line->weights),                                                                                     \
          [input] "m"(line->input),                                                                                         \
          [last] "m"(line->last),                                                                                           \
          [lanes] "m"(line->lanes),                                                                                         \
          [tail_back] "m"(line->tail_back), [tail_step] "m"(line->tail_step),                                               \
          [to_next_weights] "m"(line->to_next_weights), [to_next_constants] "m"(line->to_next_constants),                   \
          [zero] "m"(line->zero),                                                                                           \
          [step_below] "m"(line->step_below)                                                                                \
        : CLOBBERED)

/* Signed pixels are worth no sliding. */
#define LINE_OF_STEPS(start, any_start, ...)                                                                                \
    switch (line->sliding) {                                                                                                \
    case 1: LINE(SLIDING(1, DOTUSP_B, start, __VA_ARGS__)); break;                                                          \
    case 2: LINE(SLIDING(2, DOTUSP_B, start, __VA_ARGS__)); break;                                                          \
    case 3: LINE(SLIDING(3, DOTUSP_B, start, __VA_ARGS__)); break;                                                          \
    case 4: LINE(SLIDING(4, DOTUSP_B, start, __VA_ARGS__)); break;                                                          \
    case 5: LINE(SLIDING(5, DOTUSP_B, start, __VA_ARGS__)); break;                                                          \
    default:                                                                                                                \
        if (line->is_signed) {                                                                                              \
            LINE(ANY_STEPS(PV_SDOTSP_B, any_start, __VA_ARGS__));                                                           \
        } else {                                                                                                            \
            LINE(ANY_STEPS(PV_SDOTUSP_B, any_start, __VA_ARGS__));                                                          \
        }                                                                                                                   \
    }

/* clang-format on */

/* All lanes. `kind` is a constant; DORY_NOT_DIRECT writes sums. */
static inline __attribute__((always_inline)) void dory_line_compute(struct dory_line *line, enum dory_direct kind)
{
    line->more = line->fours - 1;
    switch (kind) {
    case DORY_DIRECT: LINE_OF_STEPS(NOTHING, ZERO, FINISH_UP_TO, 16, LOAD_CONSTANTS_UP_TO); break;
    case DORY_DIRECT_CLAMPED: LINE_OF_STEPS(NOTHING, ZERO, FINISH_CLAMPED, 20, LOAD_CONSTANTS_CLAMPED); break;
    case DORY_DIRECT_SPLIT: LINE_OF_STEPS(BIAS, BIAS, FINISH_BIASED_SPLIT, 24, LOAD_CONSTANTS_SPLIT); break;
    case DORY_DIRECT_SPLIT_AWAY: LINE_OF_STEPS(BIAS, BIAS, FINISH_BIASED_SPLIT_AWAY, 34, LOAD_CONSTANTS_SPLIT_AWAY); break;
    case DORY_DIRECT_HIGH_AWAY: LINE_OF_STEPS(BIAS, BIAS, FINISH_BIASED_HIGH_AWAY, 35, LOAD_CONSTANTS_HIGH); break;
    case DORY_DIRECT_HIGH_EVEN: LINE_OF_STEPS(BIAS, BIAS, FINISH_BIASED_HIGH_EVEN, 38, LOAD_CONSTANTS_HIGH); break;
    default: LINE_OF_STEPS(NOTHING, ZERO, FINISH_NOT, 4, LOAD_CONSTANTS_NOT); break;
    }
}

#else

static inline uint32_t dory_line_word(const struct dory_line *line, const uint8_t *input)
{
    uint32_t word = 0;
    for (unsigned i = 0; i < 4; i++) {
        word |= (uint32_t)input[i * line->pixel_step] << (8 * i);
    }
    return word;
}

static inline uint32_t dory_line_tail(const struct dory_line *line, const uint8_t *next)
{
    const uint8_t *pixel = next - line->tail_back;
    return (uint32_t)pixel[line->tail_step] << 8 | pixel[0];
}

static inline uint32_t dory_line_weights(const struct dory_line *line, uint32_t step, unsigned is_moved)
{
    if (line->sliding == 0 || line->sliding > 3) {
        return dory_load_word(line->weights + 8 * step + 4 * is_moved);
    }
    uint32_t own = dory_load_word(line->weights + 4 * step),
             before = step ? dory_load_word(line->weights + 4 * step - 4) : 0;
    return is_moved ? pv_shuffle2_b(before, own, 0x06050403) : own;
}

/* Near and far word of a step of a four. */
static inline void dory_line_words(const struct dory_line *line, uint32_t four, uint32_t step, uint32_t word[2])
{
    uint32_t word_bytes = 4 * line->pixel_step;
    if (line->sliding == 0) {
        const uint8_t *input = line->input + step * word_bytes + four * (line->four_step + line->steps * word_bytes);
        word[0] = dory_line_word(line, input);
        word[1] = dory_line_word(line, input + line->far);
        return;
    }
    const uint8_t *input = line->input + (four + step) * word_bytes;
    bool is_tail = four + 1 == line->fours && step + 1 == line->steps;
    word[0] = dory_line_word(line, input);
    uint32_t next = is_tail ? dory_line_tail(line, input + word_bytes) : dory_line_word(line, input + word_bytes);
    word[1] = pv_shuffle2_b(word[0], next, DORY_LINE_FAR);
}

static inline void dory_line_lane(struct dory_line *line, enum dory_direct kind)
{
    uint8_t *last = line->last;
    for (uint32_t four = 0; four < line->fours; four++) {
        int32_t sum[4] = {0, 0, 0, 0};
        for (uint32_t step = 0; step < line->steps; step++) {
            uint32_t word[2];
            dory_line_words(line, four, step, word);
            for (unsigned i = 0; i < 4; i++) {
                uint32_t w = dory_line_weights(line, step, i % 2);
                sum[i] = line->is_signed ? pv_sdotsp_b(sum[i], word[i / 2], w) : pv_sdotusp_b(sum[i], word[i / 2], w);
            }
        }
        if (kind == DORY_NOT_DIRECT) {
            memcpy(last, sum, sizeof sum);
            last += sizeof sum;
            continue;
        }
        dory_normalise_in_its_kind(&line->normaliser, sum, 1, 4, line->constants);
        for (unsigned i = 4; i > 0; i--) {
            *last = (uint8_t)sum[i - 1];
            last += i > 1 ? line->back : line->to_next;
        }
    }
}

static inline void dory_line_compute(struct dory_line *line, enum dory_direct kind)
{
    while (line->lanes > 0) {
        dory_line_lane(line, kind);
        line->input++;
        line->last++;
        line->weights += line->weights_bytes;
        line->constants += dory_finish_constants_bytes(kind);
        line->lanes--;
        if (line->lanes != 0 && line->lanes % 4 == 0) {
            line->weights += line->to_next_weights;
            line->constants += line->to_next_constants;
        }
    }
}

#endif

#endif
