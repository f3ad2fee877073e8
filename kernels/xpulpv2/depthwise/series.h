/* Depth-wise layers of any kernel and stride: four outputs next to each other ("a four") from words of four columns.
 *
 * Outputs 0 and 1 read the near words, at columns 4 * t, and outputs 2 and 3 the far ones, 2 * stride columns further. With
 * the same words outputs 0 and 2 take the weights as they are, and outputs 1 and 3 the weights moved on by `stride` bytes,
 * as many of them as moved ones need: four loads and four dot products for 16 products, none of them misaligned. Two fours
 * are summed together, so that a pair of words of weights serves both.
 *
 * Of a strip of one or two columns, "far" are the same columns some rows below, so that a four has no columns in vain.
 *
 * Two fours one above the other, stride 1, of a kernel of H rows and S steps take 13 + S * (12 * H + 3) instructions and
 * twice those that finish a four (16 to 34, see finish.h): 22 an output of 5x5 with DORY_DIRECT_CLAMPED, of which 10 are dot
 * products (a dot product of 4 for 2.5 that are needed), 5 loads and 5 the end; the transpose takes 3 to 4 more, and what is
 * done once a lane or a strip 2. In 25 columns that is 5.6 MAC/cycle on 8 cores, in 16 columns 6.6; see
 * docs/notes/gap8-cycles.md.
 *
 * With strides of 3 and 4 the columns and rows between windows are transposed, too: of 3x3 an output takes 59 cycles of a
 * core, 6.4 a product, of which 36 are the transpose (16 input columns and 4 rows a four).
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_SERIES_H
#define DORY_XPULPV2_SERIES_H

#include "../scratch.h"
#include "finish.h"
#include "two_steps.h"

/* The fours of some lanes (channels next to each other) that follow each other along rows or along columns. Their sums are
 * made in `outer` steps, each with sources of its own, of `inner` steps, in which these move on. The elements of a four are
 * written from the last one to the first, and those that do not exist where one that does is written afterwards. */
struct dory_series {
    struct dory_normaliser normaliser;
    const uint8_t *source[2 * DORY_DEPTHWISE_MAXIMUM_STEPS + 2]; /* near and far of each outer step; two are read in vain */
    uint32_t outer, inner, step;
    uint32_t rolls; /* not 0: the second four is a row below the first, and there are 2 * rolls + 1 inner steps, all rows */
    uint32_t second, pair_step;       /* from a four's inputs to the next one's, and to the next pair's */
    const uint8_t *weights;           /* words as they are and moved on, in turn, in the order of the steps */
    const uint8_t *constants;         /* of the quad of channels */
    uint32_t *words;                  /* in scratch: see dory_depthwise_quad_bytes */
    uint8_t *output;                  /* the first element of the first four */
    uint32_t columns;                 /* of a four, 1 to 4 */
    uint32_t below;                   /* not 0: fours of two columns or one, whose far words are so many rows below */
    uint32_t pixel_bytes, four_bytes; /* of the output: from element to element, from four to four */
    uint32_t pairs, single;           /* so many fours, and whether there is one more */
    uint32_t lanes, lane_bytes;       /* from lane to lane of the sources */
    uint32_t weights_bytes;           /* of a lane */
    bool is_signed;                   /* the input */
    struct {
        const uint8_t *weights;
        uint8_t *last; /* element of the first four, which is written first */
        uint32_t offset;
    } first; /* of the first lane to compute, of `lanes` */
    struct {
        const uint8_t *const *source;
        const uint8_t *weights, *constants;
        uint8_t *last;
        int32_t step[3], four_step;
        uint32_t offset, count, saved[2], left, constants_bytes;
        uint32_t zero, step_below; /* of DORY_DIRECT_SPLIT_AWAY */
        uint32_t further;          /* of one step or two: whether there are two */
        int32_t to_next_pair;      /* likewise: from behind a pair's inputs to those of the next one */
    } own;                         /* of a lane at work, and how many there are with it */
};

typedef void dory_compute_series(struct dory_series *series);

/* All lanes from behind so many pairs of fours on; a four of a lane has so many bytes. */
static inline void dory_start_lanes(struct dory_series *series, uint32_t pairs, uint32_t four_bytes)
{
    series->own.offset = series->first.offset + pairs * series->pair_step;
    series->own.last = series->first.last + 2 * pairs * four_bytes;
    series->own.weights = series->first.weights;
    series->own.constants = series->constants;
    series->own.left = series->lanes;
    series->own.further = series->outer - 1;
    series->own.to_next_pair = (int32_t)(series->pair_step - series->step * (series->inner + (series->rolls != 0)));
}

#if defined(DORY_XPULPV2)

/* clang-format off */

#define STEP_1 "t2"
#define STEP_2 "t3"

/* Registers beside those of finish.h: t6, a7, s7, ra and s4, s5, s6, s9 sums; t0 and t1 near and far word, t2 and t3 those of
 * the second four; t4 and t5 weights; a0, a1 and a6 where these are; s1 and s2 step and second; s3 sources; s10 offset. */
#define START_SERIES(load_constants)                                                                                        \
    "sw gp, %[saved_gp]\n"                                                                                                  \
    "sw tp, %[saved_tp]\n"                                                                                                  \
    "lw a5, %[shift]\n"                                                                                                     \
    "lw s8, %[step0]\n"                                                                                                     \
    "lw s11, %[four_step]\n"                                                                                                \
    "lw s1, %[step]\n"                                                                                                      \
    "lw s2, %[second]\n"                                                                                                    \
    "5: lw t1, %[constants]\n"                                                                                              \
    "lw s10, %[offset]\n"                                                                                                   \
    load_constants                                                                                                          \
    "lw a2, %[last]\n"                                                                                                      \
    "lw t0, %[pairs]\n"                                                                                                     \
    "sw t1, %[constants]\n"                                                                                                 \
    "sw t0, %[count]\n"

/* On to the next lane, whose weights and constants lie behind this one's. Sums in memory are of one. */
#define NEXT_LANE                                                                                                           \
    "lw t0, %[left]\n"                                                                                                      \
    "lw t1, %[offset]\n"                                                                                                    \
    "lw t2, %[lane_bytes]\n"                                                                                                \
    "lw t4, %[last]\n"                                                                                                      \
    "add t1, t1, t2\n"                                                                                                      \
    "addi t0, t0, -1\n"                                                                                                     \
    "addi t4, t4, 1\n"                                                                                                      \
    "sw t1, %[offset]\n"                                                                                                    \
    "sw a6, %[weights]\n"                                                                                                   \
    "sw t4, %[last]\n"                                                                                                      \
    "sw t0, %[left]\n"                                                                                                      \
    "bnez t0, 5b\n"
#define NO_NEXT_LANE ""

#define END_SERIES                                                                                                          \
    "lw gp, %[saved_gp]\n"                                                                                                  \
    "lw tp, %[saved_tp]\n"

#define SET(a, b, c, d, start)                                                                                              \
    "mv " a ", " start "\n"                                                                                                 \
    "mv " b ", " start "\n"                                                                                                 \
    "mv " c ", " start "\n"                                                                                                 \
    "mv " d ", " start "\n"

/* All steps: `inner` is a step of so many instructions. */
#define STEPS(inner, instructions)                                                                                          \
    "lw t0, %[outer]\n"                                                                                                     \
    "lw s3, %[source]\n"                                                                                                    \
    "lw a6, %[weights]\n"                                                                                                   \
    P_LW_NEXT("a0", "s3")                                                                                                   \
    P_LW_NEXT("a1", "s3")                                                                                                   \
    LP_SETUP("x1", "t0", 6 + instructions, "3")                                                                             \
    "lw t0, %[inner]\n"                                                                                                     \
    "add a0, a0, s10\n"                                                                                                     \
    "add a1, a1, s10\n"                                                                                                     \
    LP_SETUP("x0", "t0", instructions, "2")                                                                                 \
    inner                                                                                                                   \
    P_LW_NEXT("a0", "s3")                                                                                                   \
    "3: " P_LW_NEXT("a1", "s3")                                                                                             \
    "lw t2, %[step1]\n"                                                                                                     \
    "lw t3, %[step2]\n"

#define PAIR_STEP(dot)                                                                                                      \
    P_LW_AT("t2", "s2", "a0") P_LW_AT("t3", "s2", "a1")                                                                     \
    P_LW_NEXT("t4", "a6") P_LW_STEP("t0", "s1", "a0") P_LW_NEXT("t5", "a6") P_LW_STEP("t1", "s1", "a1")                     \
    dot("t6", "t0", "t4") dot("a7", "t0", "t5") dot("s7", "t1", "t4") dot("ra", "t1", "t5")                                 \
    dot("s4", "t2", "t4") dot("s5", "t2", "t5") dot("s6", "t3", "t4") "2: " dot("s9", "t3", "t5")

/* Pairs one above the other, stride 1, a kernel of 2 * `rolls` + 1 rows: each input row is loaded once, for the lower four's
 * kernel row is that of the upper one a row before, which is kept in turn in t4 and t5 and in t2 and t3. 12 instructions a
 * row less two. */
#define FOUR_DOTS(dot, a, b, c, d, own, moved) dot(a, "t0", own) dot(b, "t0", moved) dot(c, "t1", own) dot(d, "t1", moved)
#define UPPER_DOTS(dot, own, moved) FOUR_DOTS(dot, "t6", "a7", "s7", "ra", own, moved)
#define LOWER_DOTS(dot, own, moved) FOUR_DOTS(dot, "s4", "s5", "s6", "s9", own, moved)
#define LOAD_ROW_STEP(own, moved)                                                                                           \
    P_LW_STEP("t0", "s1", "a0") P_LW_NEXT(own, "a6") P_LW_STEP("t1", "s1", "a1") P_LW_NEXT(moved, "a6")

#define ROLLING_STEPS(dot)                                                                                                  \
    "lw t0, %[outer]\n"                                                                                                     \
    "lw s3, %[source]\n"                                                                                                    \
    "lw a6, %[weights]\n"                                                                                                   \
    P_LW_NEXT("a0", "s3")                                                                                                   \
    P_LW_NEXT("a1", "s3")                                                                                                   \
    LP_SETUP("x1", "t0", 44, "3")                                                                                           \
    "lw t2, %[rolls]\n"                                                                                                     \
    "add a0, a0, s10\n"                                                                                                     \
    "add a1, a1, s10\n"                                                                                                     \
    LOAD_ROW_STEP("t4", "t5")                                                                                               \
    UPPER_DOTS(dot, "t4", "t5")                                                                                             \
    LP_SETUP("x0", "t2", 24, "2")                                                                                           \
    LOAD_ROW_STEP("t2", "t3")                                                                                               \
    LOWER_DOTS(dot, "t4", "t5")                                                                                             \
    UPPER_DOTS(dot, "t2", "t3")                                                                                             \
    LOAD_ROW_STEP("t4", "t5")                                                                                               \
    LOWER_DOTS(dot, "t2", "t3")                                                                                             \
    dot("t6", "t0", "t4") dot("a7", "t0", "t5") dot("s7", "t1", "t4") "2: " dot("ra", "t1", "t5")                           \
    P_LW_STEP("t0", "s1", "a0") P_LW_STEP("t1", "s1", "a1")                                                                 \
    P_LW_NEXT("a0", "s3")                                                                                                   \
    P_LW_NEXT("a1", "s3")                                                                                                   \
    dot("s4", "t0", "t4") dot("s5", "t0", "t5") dot("s6", "t1", "t4") "3: " dot("s9", "t1", "t5")                           \
    "lw t2, %[step1]\n"                                                                                                     \
    "lw t3, %[step2]\n"

#define SINGLE_STEP(dot)                                                                                                    \
    P_LW_STEP("t0", "s1", "a0") P_LW_NEXT("t4", "a6") P_LW_STEP("t1", "s1", "a1") P_LW_NEXT("t5", "a6")                     \
    dot("t6", "t0", "t4") dot("s7", "t1", "t4") dot("a7", "t0", "t5") "2: " dot("ra", "t1", "t5")

#define SERIES(text, ...)                                                                                                   \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n"                                                                                                   \
        text                                                                                                                \
        END_SERIES                                                                                                          \
        ".option pop\n"                                                                                                     \
        : /* all in memory, which is clobbered: of operands that change there may be fewer */                               \
        : FINISH_OPERANDS(series->normaliser), [offset] "m"(series->own.offset), [last] "m"(series->own.last),              \
          [left] "m"(series->own.left), [saved_gp] "m"(series->own.saved[0]), [saved_tp] "m"(series->own.saved[1]),         \
          [constants] "m"(series->own.constants), [weights] "m"(series->own.weights),                                       \
          [source] "m"(series->own.source), [step0] "m"(series->own.step[0]), [step1] "m"(series->own.step[1]),             \
          [step2] "m"(series->own.step[2]), [four_step] "m"(series->own.four_step), [inner] "m"(series->inner),             \
          [second] "m"(series->second), [rolls] "m"(series->rolls), [pairs] "m"(series->pairs),                             \
          [lane_bytes] "m"(series->lane_bytes), [zero] "m"(series->own.zero), [step_below] "m"(series->own.step_below),     \
          [count] "m"(series->own.count),                                                                                   \
          __VA_ARGS__                                                                                                       \
        : CLOBBERED)
#define SERIES_OF_TWO_STEPS(text)                                                                                           \
    SERIES(text, [single] "m"(series->single), [further] "m"(series->own.further),                                          \
           [to_next_pair] "m"(series->own.to_next_pair))
#define SERIES_OF_ANY_STEPS(text)                                                                                           \
    SERIES(text, [outer] "m"(series->outer), [step] "m"(series->step), [pair_step] "m"(series->pair_step))

#define PAIRS(steps, start, finish, load_constants)                                                                               \
    START_SERIES(load_constants)                                                                                            \
    "1:\n"                                                                                                                  \
    SET("t6", "a7", "s7", "ra", start)                                                                                          \
    SET("s4", "s5", "s6", "s9", start)                                                                                          \
    steps                                                                                                                   \
    finish("t6", "a7", "s7", "ra", "t0", "t1", "")                                                                          \
    finish("s4", "s5", "s6", "s9", "t0", "t1", "")                                                                          \
    "lw t1, %[count]\n"                                                                                                     \
    "lw t0, %[pair_step]\n"                                                                                                 \
    "addi t1, t1, -1\n"                                                                                                     \
    "add s10, s10, t0\n"                                                                                                    \
    "sw t1, %[count]\n"                                                                                                     \
    "bnez t1, 1b\n"

#define SINGLE(dot, start, finish, load_constants)                                                                                \
    START_SERIES(load_constants)                                                                                            \
    SET("t6", "a7", "s7", "ra", start)                                                                                          \
    STEPS(SINGLE_STEP(dot), 8)                                                                                              \
    finish("t6", "a7", "s7", "ra", "t0", "t1", "")

#define LANES(dot, rolling, start, finish, load_constants, four_bytes, next)                                                \
    do {                                                                                                                    \
        if (series->pairs && series->rolls && rolling) {                                                                    \
            SERIES_OF_ANY_STEPS(PAIRS(ROLLING_STEPS(dot), start, finish, load_constants) next);                             \
        } else if (series->pairs) {                                                                                         \
            SERIES_OF_ANY_STEPS(PAIRS(STEPS(PAIR_STEP(dot), 14), start, finish, load_constants) next);                      \
        }                                                                                                                   \
        if (series->single) {                                                                                               \
            dory_start_lanes(series, series->pairs, four_bytes);                                                            \
            SERIES_OF_ANY_STEPS(SINGLE(dot, start, finish, load_constants) next);                                           \
        }                                                                                                                   \
    } while (0)

#define LANES_OF_SIGN(start, finish, instructions, load_constants, four_bytes, next)                                        \
    do {                                                                                                                    \
        dory_start_lanes(series, 0, four_bytes);                                                                            \
        if (series->is_signed) {                                                                                            \
            LANES(PV_SDOTSP_B, true, REGISTER_##start, finish, load_constants, four_bytes, next);                                      \
        } else if (series->outer == 2 || (series->outer == 1 && series->rolls)) {                                           \
            SERIES_OF_TWO_STEPS(TWO_STEPS(start, finish, instructions, load_constants, next));                \
        } else {                                                                                                            \
            LANES(PV_SDOTUSP_B, false, REGISTER_##start, finish, load_constants, four_bytes, next);                                    \
        }                                                                                                                   \
    } while (0)

/* clang-format on */

/* All fours of all lanes. `kind` is a constant; DORY_NOT_DIRECT writes sums. */
static inline __attribute__((always_inline)) void dory_compute_lanes(struct dory_series *series, enum dory_direct kind)
{
    switch (kind) {
    case DORY_DIRECT: LANES_OF_SIGN(ZERO, FINISH_UP_TO, 16, LOAD_CONSTANTS_UP_TO, series->four_bytes, NEXT_LANE); break;
    case DORY_DIRECT_CLAMPED:
        LANES_OF_SIGN(ZERO, FINISH_CLAMPED, 20, LOAD_CONSTANTS_CLAMPED, series->four_bytes, NEXT_LANE);
        break;
    case DORY_DIRECT_SPLIT:
        LANES_OF_SIGN(BIAS, FINISH_BIASED_SPLIT, 24, LOAD_CONSTANTS_SPLIT, series->four_bytes, NEXT_LANE);
        break;
    case DORY_DIRECT_SPLIT_AWAY:
        LANES_OF_SIGN(BIAS, FINISH_BIASED_SPLIT_AWAY, 34, LOAD_CONSTANTS_SPLIT_AWAY, series->four_bytes, NEXT_LANE);
        break;
    case DORY_DIRECT_HIGH_AWAY:
        LANES_OF_SIGN(BIAS, FINISH_BIASED_HIGH_AWAY, 35, LOAD_CONSTANTS_HIGH, series->four_bytes, NEXT_LANE);
        break;
    case DORY_DIRECT_HIGH_EVEN:
        LANES_OF_SIGN(BIAS, FINISH_BIASED_HIGH_EVEN, 38, LOAD_CONSTANTS_HIGH, series->four_bytes, NEXT_LANE);
        break;
    default: LANES_OF_SIGN(ZERO, FINISH_NOT, 4, LOAD_CONSTANTS_NOT, 16, NO_NEXT_LANE); break;
    }
}

#else

/* The sums of the four whose inputs are `offset` behind the sources. */
static inline void dory_sum_four(const struct dory_series *series, uint32_t offset, int32_t sum[4])
{
    const uint8_t *weights = series->own.weights;
    sum[0] = sum[1] = sum[2] = sum[3] = 0;
    for (uint32_t outer = 0; outer < series->outer; outer++) {
        for (uint32_t inner = 0; inner < series->inner; inner++, weights += 8) {
            for (unsigned i = 0; i < 4; i++) {
                uint32_t x = dory_load_word(series->own.source[2 * outer + i / 2] + offset + inner * series->step);
                uint32_t w = dory_load_word(weights + 4 * (i % 2));
                sum[i] = series->is_signed ? pv_sdotsp_b(sum[i], x, w) : pv_sdotusp_b(sum[i], x, w);
            }
        }
    }
}

static inline void dory_store_four(struct dory_series *series, const int32_t sum[4], bool finished)
{
    if (!finished) {
        memcpy(series->own.last, sum, 16);
        series->own.last += 16;
        return;
    }
    for (unsigned i = 3; i > 0; i--) {
        *series->own.last = (uint8_t)sum[i];
        series->own.last += series->own.step[3 - i];
    }
    *series->own.last = (uint8_t)sum[0];
    series->own.last += series->own.four_step;
}

static inline void dory_compute_lane(struct dory_series *series, enum dory_direct kind)
{
    for (uint32_t i = 0; i < 2 * series->pairs + series->single; i++) {
        int32_t sum[4];
        dory_sum_four(series, series->own.offset + i / 2 * series->pair_step + i % 2 * series->second, sum);
        if (kind != DORY_NOT_DIRECT) {
            dory_normalise_in_its_kind(&series->normaliser, sum, 1, 4, series->own.constants);
        }
        dory_store_four(series, sum, kind != DORY_NOT_DIRECT);
    }
}

static inline void dory_compute_lanes(struct dory_series *series, enum dory_direct kind)
{
    for (uint32_t lane = 0; lane < series->lanes; lane++) {
        dory_start_lanes(series, 0, 0);
        series->own.offset += lane * series->lane_bytes;
        series->own.last += lane;
        series->own.weights += lane * series->weights_bytes;
        series->own.constants += lane * series->own.constants_bytes;
        dory_compute_lane(series, kind);
    }
}

#endif

/* How elements are written, of the direct kinds. */
static inline void dory_start_elements(struct dory_series *series)
{
    uint32_t last = series->columns - 1, pixel = series->pixel_bytes, below = series->below * series->four_bytes;
    for (uint32_t i = 0; i < 3; i++) {
        series->own.step[i] = below && i == 1 ? (int32_t)(last * pixel) - (int32_t)below
                              : below         ? -(int32_t)(last * pixel)
                              : last + i > 2  ? -(int32_t)pixel
                                              : 0;
    }
    series->own.four_step = (int32_t)(series->four_bytes + below + last * pixel);
}

/* All lanes of a direct kind. */
static inline __attribute__((always_inline)) void dory_compute_directly(struct dory_series *series, enum dory_direct kind)
{
    series->first.last = series->output + series->own.four_step - series->four_bytes;
    series->own.source = series->source;
    series->own.constants_bytes = dory_finish_constants_bytes(kind);
    series->first.weights = series->weights;
    series->first.offset = 0;
    dory_compute_lanes(series, kind);
}

#endif
