/* Innermost code of convolutions whose pixels have few words: the weights of two output channels, and what finishes their
 * sums, stay in registers, and pixel after pixel goes by. A pixel of W words takes 3 W instructions and those of `finish`,
 * where blocks of 4 pixels x 4 channels (product.h) take as many for the same products, but load constants, addresses and
 * counts anew for every 16 sums.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_NARROW_H
#define DORY_XPULPV2_NARROW_H

#include "../normalise.h"
#include "../xpulp.h"

/* Pixels that follow each other in the input, by two channels. */
struct dory_narrow {
    const uint8_t *weights;   /* of the first channel; the second one's lie 4 bytes behind it, further words 16 bytes */
    const uint8_t *constants; /* of both channels */
    const uint8_t *input;
    uint8_t *output;         /* of the first pixel's first channel */
    int32_t step[2];         /* from there to its second channel, and on to the next pixel's first one */
    uint32_t pixels;         /* at least 1 */
    uint32_t words;          /* of a pixel, for the model in C */
    uint32_t constants_step; /* the same: of a channel */
    const struct dory_normaliser *normaliser;
    int32_t shift, bias[2];
    uint32_t saved[2]; /* registers */
};

#if defined(DORY_XPULPV2)

/* clang-format off */

/* a0, a1   input and output, moving
 * a2, a3   steps of the output
 * t0, t1   words of input in turn; then free
 * t2, t3   sums of both channels
 * the others: weights, from s1 and from s9 on, and constants. None is left to address operands but sp, so `narrow` is a local
 * variable of the function that this is inlined in. */
#define WEIGHTS_0(word) word("s1", "s9", "t0")
#define WEIGHTS_1(word) word("s2", "s10", "t1")
#define WEIGHTS_2(word) word("s3", "s11", "t0")
#define WEIGHTS_3(word) word("s4", "a4", "t1")
#define WEIGHTS_4(word) word("s5", "a5", "t0")
#define WEIGHTS_5(word) word("s6", "a6", "t1")
#define WEIGHTS_6(word) word("s7", "a7", "t0")
#define WEIGHTS_7(word) word("s8", "t4", "t1")

#define LOAD_WEIGHTS(a, b, x)  P_LW_NEXT(a, "t0") P_LW_STEP(b, "t1", "t0")
#define FIRST_PRODUCTS(a, b, x) PV_DOTUSP_B("t2", x, a) PV_DOTUSP_B("t3", x, b)
#define PRODUCTS(a, b, x)       PV_SDOTUSP_B("t2", x, a) PV_SDOTUSP_B("t3", x, b)
#define EVEN P_LW_NEXT("t0", "a0")
#define ODD  P_LW_NEXT("t1", "a0")

/* Of W words: loads of the weights, and the products of a pixel, whose words are loaded two ahead. */
#define LOAD_WEIGHTS_2 WEIGHTS_0(LOAD_WEIGHTS) WEIGHTS_1(LOAD_WEIGHTS)
#define LOAD_WEIGHTS_3 LOAD_WEIGHTS_2 WEIGHTS_2(LOAD_WEIGHTS)
#define LOAD_WEIGHTS_4 LOAD_WEIGHTS_3 WEIGHTS_3(LOAD_WEIGHTS)
#define LOAD_WEIGHTS_6 LOAD_WEIGHTS_4 WEIGHTS_4(LOAD_WEIGHTS) WEIGHTS_5(LOAD_WEIGHTS)
#define LOAD_WEIGHTS_7 LOAD_WEIGHTS_6 WEIGHTS_6(LOAD_WEIGHTS)
#define LOAD_WEIGHTS_8 LOAD_WEIGHTS_7 WEIGHTS_7(LOAD_WEIGHTS)

#define START_PIXEL(finish) EVEN ODD START_##finish
#define MORE_OF_4           EVEN WEIGHTS_1(PRODUCTS) ODD WEIGHTS_2(PRODUCTS)
#define MORE_OF_6           MORE_OF_4 EVEN WEIGHTS_3(PRODUCTS) ODD WEIGHTS_4(PRODUCTS)
#define PIXEL_2(finish)     START_PIXEL(finish) WEIGHTS_1(PRODUCTS)
#define PIXEL_3(finish)     START_PIXEL(finish) EVEN WEIGHTS_1(PRODUCTS) WEIGHTS_2(PRODUCTS)
#define PIXEL_4(finish)     START_PIXEL(finish) MORE_OF_4 WEIGHTS_3(PRODUCTS)
#define PIXEL_6(finish)     START_PIXEL(finish) MORE_OF_6 WEIGHTS_5(PRODUCTS)
#define PIXEL_7(finish)     START_PIXEL(finish) MORE_OF_6 EVEN WEIGHTS_5(PRODUCTS) WEIGHTS_6(PRODUCTS)
#define PIXEL_8(finish)     START_PIXEL(finish) MORE_OF_6 EVEN WEIGHTS_5(PRODUCTS) ODD WEIGHTS_6(PRODUCTS) WEIGHTS_7(PRODUCTS)

/* The first word's products, which set the sums. */
#define START_DIRECT           WEIGHTS_0(FIRST_PRODUCTS)
#define START_CLAMPED          START_DIRECT
#define START_SPLIT            START_DIRECT
#define START_SPLIT_APART      START_DIRECT

#define STORE_BYTES(a, b) P_SB_STEP(a, "a2", "a1") "1: " P_SB_STEP(b, "a3", "a1")

/* DORY_DIRECT, to [0, 255]: 8 instructions behind up to 8 words. */
#if defined(__pulp__) || defined(__gap8__)
#define CLIP(a) "p.clipu " a ", " a ", 9\n"
#else
#define CLIP(a) ".insn r 0x33, 2, 0x0A, " a ", " a ", x9\n"
#endif
#define CONSTANTS_DIRECT P_LW_NEXT("t5", "t0") P_LW_NEXT("t6", "t0") P_LW_NEXT("ra", "t0") P_LW_NEXT("gp", "t0")
#define LENGTH_DIRECT 8
#define FINISH_DIRECT                                                                                                       \
    "mul t2, t2, t5\n"                                                                                                      \
    "mul t3, t3, ra\n" P_ADDNR("t2", "t6", "tp") P_ADDNR("t3", "gp", "tp") CLIP("t2") CLIP("t3") STORE_BYTES("t2", "t3")

/* DORY_DIRECT_CLAMPED: 10 instructions behind up to 6 words. */
#define CONSTANTS_CLAMPED                                                                                                   \
    P_LW_NEXT("s7", "t0") P_LW_NEXT("s8", "t0") P_LW_NEXT("t5", "t0") P_LW_NEXT("t6", "t0")                                 \
    P_LW_NEXT("a7", "t0") P_LW_NEXT("t4", "t0") P_LW_NEXT("ra", "t0") P_LW_NEXT("gp", "t0")
#define CLAMP                                                                                                               \
    P_MAX("t2", "t2", "s7") P_MAX("t3", "t3", "a7") P_MIN("t2", "t2", "s8") P_MIN("t3", "t3", "t4")                         \
    "mul t2, t2, t5\n"                                                                                                      \
    "mul t3, t3, ra\n"
#define LENGTH_CLAMPED 10
#define FINISH_CLAMPED CLAMP P_ADDUNR("t2", "t6", "tp") P_ADDUNR("t3", "gp", "tp") STORE_BYTES("t2", "t3")

/* The split kind: 12 instructions behind up to 4 words where the bytes of both channels, the high ones of the results, lie side
 * by side, for which a2 becomes the step of a pixel; else 14. */
#define CONSTANTS_SPLIT_APART                                                                                               \
    P_LW_NEXT("s5", "t0") P_LW_NEXT("s6", "t0") P_LW_NEXT("t5", "t0") P_LW_NEXT("t6", "t0") P_LW_NEXT("s7", "t0")           \
    P_LW_NEXT("s8", "t0") P_LW_NEXT("a5", "t0") P_LW_NEXT("ra", "t0") P_LW_NEXT("gp", "t0") P_LW_NEXT("a6", "t0")
#define CONSTANTS_SPLIT CONSTANTS_SPLIT_APART                                                                               \
    "li a7, 0x0703\n"                                                                                                       \
    "add a2, a2, a3\n"
#define SCALE_SPLIT_TO(a, b)                                                                                                \
    "add t2, t2, s5\n"                                                                                                      \
    "add t3, t3, s8\n" P_CLIPUR("t2", "t2", "s6") P_CLIPUR("t3", "t3", "a5")                                                \
    "mul " a ", t2, t5\n"                                                                                                   \
    "mul " b ", t3, ra\n" P_ADDUNR(a, "t6", "t6") P_ADDUNR(b, "gp", "gp") P_MAC(a, "t2", "s7") P_MAC(b, "t3", "a6")
#define SCALE_SPLIT SCALE_SPLIT_TO("t0", "t1")
#define LENGTH_SPLIT 12
#define FINISH_SPLIT SCALE_SPLIT PV_SHUFFLE2_B("t0", "t1", "a7") "1: " P_SH_STEP("t0", "a2", "a1")
#define LENGTH_SPLIT_APART 14
#define FINISH_SPLIT_APART                                                                                                  \
    SCALE_SPLIT                                                                                                                   \
    "srli t0, t0, 24\n"                                                                                                     \
    "srli t1, t1, 24\n" STORE_BYTES("t0", "t1")

/* Two pixels whose channels lie apart: both bytes of a channel are written together. 12 instructions a pixel, too. */
#define CONSTANTS_SPLIT_PAIR CONSTANTS_SPLIT_APART                                                                          \
    "li a7, 0x0703\n"                                                                                                       \
    "addi a3, a3, 1\n"
#define PAIR_SPLIT(words)                                                                                                   \
    PIXEL_##words(SPLIT) SCALE_SPLIT_TO("t4", "tp") PIXEL_##words(SPLIT) SCALE_SPLIT PV_SHUFFLE2_B("t4", "t0", "a7")        \
    PV_SHUFFLE2_B("tp", "t1", "a7") P_SH_STEP("t4", "a2", "a1") "1: " P_SH_STEP("tp", "a3", "a1")
#define LENGTH_PAIR_SPLIT(words) (2 * (3 * words + 10) + 4)

/* The same behind 6 or 7 words: biases stay in memory, and the sums start with them. 12 and 14 instructions. */
#define CONSTANTS_BIASED_SPLIT_APART                                                                                        \
    P_LW_NEXT("t1", "t0") P_LW_NEXT("tp", "t0") P_LW_NEXT("t5", "t0") P_LW_NEXT("t6", "t0") P_LW_NEXT("s8", "t0")           \
    P_LW_NEXT("t1", "t0") P_LW_NEXT("s0", "t0") P_LW_NEXT("ra", "t0") P_LW_NEXT("gp", "t0") P_LW_NEXT("t4", "t0")
#define CONSTANTS_BIASED_SPLIT                                                                                              \
    CONSTANTS_BIASED_SPLIT_APART                                                                                            \
    "add a2, a2, a3\n"                                                                                                      \
    "li a3, 0x0703\n"
#define START_BIASED_SPLIT                                                                                                  \
    "lw t2, %[bias0]\n"                                                                                                     \
    "lw t3, %[bias1]\n" WEIGHTS_0(PRODUCTS)
#define START_BIASED_SPLIT_APART START_BIASED_SPLIT
#define SCALE_BIASED_SPLIT                                                                                                        \
    P_CLIPUR("t2", "t2", "tp") P_CLIPUR("t3", "t3", "s0")                                                                   \
    "mul t0, t2, t5\n"                                                                                                      \
    "mul t1, t3, ra\n" P_ADDUNR("t0", "t6", "t6") P_ADDUNR("t1", "gp", "gp") P_MAC("t0", "t2", "s8") P_MAC("t1", "t3", "t4")
#define LENGTH_BIASED_SPLIT 12
#define FINISH_BIASED_SPLIT SCALE_BIASED_SPLIT PV_SHUFFLE2_B("t0", "t1", "a3") "1: " P_SH_STEP("t0", "a2", "a1")
#define LENGTH_BIASED_SPLIT_APART 14
#define FINISH_BIASED_SPLIT_APART                                                                                           \
    SCALE_BIASED_SPLIT                                                                                                            \
    "srli t0, t0, 24\n"                                                                                                     \
    "srli t1, t1, 24\n" STORE_BYTES("t0", "t1")

/* `words` and `finish` are names behind PIXEL_ and FINISH_. gp and tp are the compiler's, and nothing that would need them
 * happens meanwhile, for cluster cores take no interrupts. */
#define DORY_NARROW(narrow, words, finish)                                                                                  \
    DORY_NARROW_LOOP(narrow, words, CONSTANTS_##finish, 3 * words + LENGTH_##finish, PIXEL_##words(finish) FINISH_##finish)
#define DORY_NARROW_PAIRS(narrow, words)                                                                                    \
    DORY_NARROW_LOOP(narrow, words, CONSTANTS_SPLIT_PAIR, LENGTH_PAIR_SPLIT(words), PAIR_SPLIT(words))
#define DORY_NARROW_LOOP(narrow, words, load_constants, instructions, body)                                                 \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n"                                                                                                   \
        "sw gp, %[saved_gp]\n"                                                                                              \
        "sw tp, %[saved_tp]\n"                                                                                              \
        "lw t0, %[weights]\n"                                                                                               \
        "li t1, 12\n"                                                                                                       \
        LOAD_WEIGHTS_##words                                                                                                \
        "lw t0, %[constants]\n"                                                                                             \
        "lw tp, %[shift]\n"                                                                                                 \
        "lw a2, %[step0]\n"                                                                                                 \
        "lw a3, %[step1]\n"                                                                                                 \
        load_constants                                                                                                      \
        "lw t0, %[pixels]\n"                                                                                                \
        "lw a0, %[input]\n"                                                                                                 \
        "lw a1, %[output]\n"                                                                                                 \
        LP_SETUP("x0", "t0", instructions, "1")                                                                             \
        body                                                                                                                \
        "lw gp, %[saved_gp]\n"                                                                                              \
        "lw tp, %[saved_tp]\n"                                                                                              \
        ".option pop\n"                                                                                                     \
        : [saved_gp] "+m"((narrow)->saved[0]), [saved_tp] "+m"((narrow)->saved[1])                                          \
        : [weights] "m"((narrow)->weights), [constants] "m"((narrow)->constants), [input] "m"((narrow)->input),             \
          [output] "m"((narrow)->output), [step0] "m"((narrow)->step[0]), [step1] "m"((narrow)->step[1]),                   \
          [pixels] "m"((narrow)->pixels), [shift] "m"((narrow)->shift), [bias0] "m"((narrow)->bias[0]),                     \
          [bias1] "m"((narrow)->bias[1])                                                                                    \
        : "s0", "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s1", "s2", "s3", \
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "memory")

/* clang-format on */

#else

static inline void dory_narrow_pixel(const struct dory_narrow *narrow, const uint8_t *input, uint8_t *output)
{
    for (uint32_t lane = 0; lane < 2; lane++) {
        int32_t sum[4] = {0};
        for (uint32_t word = 0; word < narrow->words; word++) {
            sum[0] = pv_sdotusp_b(sum[0], dory_load_word(input + 4 * word),
                                  dory_load_word(narrow->weights + 16 * word + 4 * lane));
        }
        dory_normalise_in_its_kind(narrow->normaliser, sum, 1, 4, narrow->constants + lane * narrow->constants_step);
        output[lane ? narrow->step[0] : 0] = (uint8_t)sum[0];
    }
}

static inline void dory_narrow_pixels(const struct dory_narrow *narrow)
{
    const uint8_t *input = narrow->input;
    uint8_t *output = narrow->output;
    for (uint32_t left = narrow->pixels; left > 0; left--) {
        dory_narrow_pixel(narrow, input, output);
        input += 4 * narrow->words;
        output += narrow->step[0] + narrow->step[1];
    }
}

#define DORY_NARROW(narrow, words, finish) dory_narrow_pixels(narrow)
#define DORY_NARROW_PAIRS(narrow, words)                                                                                    \
    do {                                                                                                                    \
        (narrow)->pixels *= 2;                                                                                              \
        dory_narrow_pixels(narrow);                                                                                         \
    } while (0)

#endif

/* The split kind. Both bytes of a pixel may lie side by side, and are written together then. */
#define DORY_NARROW_SPLIT(narrow, words, finish)                                                                            \
    do {                                                                                                                    \
        if ((narrow)->step[0] == 1) {                                                                                       \
            DORY_NARROW(narrow, words, finish);                                                                             \
        } else {                                                                                                            \
            DORY_NARROW(narrow, words, finish##_APART);                                                                     \
        }                                                                                                                   \
    } while (0)

/* From an odd number of pixels the last two are computed once more: no pixel is left then. Counts pairs, and says whether
 * one is to come. */
static inline bool dory_narrow_take_pairs(struct dory_narrow *narrow)
{
    bool is_odd = narrow->pixels % 2 != 0;
    narrow->pixels /= 2;
    return is_odd;
}

static inline void dory_narrow_take_last(struct dory_narrow *narrow, uint32_t pixels)
{
    narrow->input += (pixels - 2) * 4 * narrow->words;
    narrow->output += pixels - 2;
    narrow->pixels = 1;
}

/* The same for 2 or 4 words: two pixels at a time where the bytes of a pixel lie in two planes, and those of a channel side
 * by side. */
#define DORY_NARROW_PAIRED_SPLIT(narrow, words)                                                                             \
    do {                                                                                                                    \
        uint32_t all = (narrow)->pixels;                                                                                    \
        if ((narrow)->step[0] == 1 || all == 1) {                                                                           \
            DORY_NARROW_SPLIT(narrow, words, SPLIT);                                                                        \
            break;                                                                                                          \
        }                                                                                                                   \
        for (bool more = dory_narrow_take_pairs(narrow);; more = false) {                                                   \
            DORY_NARROW_PAIRS(narrow, words);                                                                               \
            if (!more) {                                                                                                    \
                break;                                                                                                      \
            }                                                                                                               \
            dory_narrow_take_last(narrow, all);                                                                             \
        }                                                                                                                   \
    } while (0)

/* The same for 6 or 7 words. */
#define DORY_NARROW_BIASED_SPLIT(narrow, words)                                                                             \
    do {                                                                                                                    \
        (narrow)->bias[0] = (int32_t)dory_load_word((narrow)->constants);                                                   \
        (narrow)->bias[1] = (int32_t)dory_load_word((narrow)->constants + (narrow)->constants_step);                        \
        DORY_NARROW_SPLIT(narrow, words, BIASED_SPLIT);                                                                     \
    } while (0)

typedef void dory_narrow_compute(struct dory_narrow *narrow);

/* What is the same for all pairs of channels of a tile, of pixels of so many words. */
static inline void dory_narrow_start(struct dory_narrow *narrow, const struct dory_normaliser *normaliser,
                                     const struct dory_layer *layer, const struct dory_tile *tile, uint32_t words)
{
    bool planes = layer->output_layout == DORY_CHW;
    int32_t pixels = (int32_t)tile->rows * tile->columns;
    narrow->normaliser = normaliser;
    narrow->shift = normaliser->direct_shift;
    narrow->words = words;
    narrow->constants_step = dory_channel_constants_bytes(layer);
    narrow->step[0] = planes ? pixels : 1;
    narrow->step[1] = planes ? 1 - pixels : (int32_t)tile->channels - 1;
}

/* So many pixels of a pair, from pixel `first` on, where they lie in the tile. */
static inline void dory_narrow_place(struct dory_narrow *narrow, const struct dory_tile *tile, uint32_t pair, uint32_t first,
                                     uint32_t pixels)
{
    uint32_t quad_bytes = 16 * narrow->words + 4 * narrow->constants_step, half = pair % 2;
    int32_t pixel_step = narrow->step[0] + narrow->step[1];
    const uint8_t *quad = (const uint8_t *)tile->weights + pair / 2 * quad_bytes;
    narrow->weights = quad + 8 * half;
    narrow->constants = quad + 16 * narrow->words + 2 * half * narrow->constants_step;
    narrow->input = (const uint8_t *)tile->input + first * 4 * narrow->words;
    narrow->output = (uint8_t *)tile->output + 2 * pair * (uint32_t)narrow->step[0] + first * (uint32_t)pixel_step;
    narrow->pixels = pixels;
}

#endif
