/* The fours of some lanes of a kernel of one step or two, assembly text; see series.h, which has what is not defined here.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_TWO_STEPS_H
#define DORY_XPULPV2_TWO_STEPS_H

/* clang-format off */

/* Kernels of one or two steps, as those of 3x3, 5x5 and 7x7: addresses of inputs last for all pairs of a lane, and its single
 * four comes behind these. 13 instructions a pair beside its rows and its end. a0 and a1, s1 and s2 are where near and far
 * words are; s3 is `rolls`, s10 `to_next_pair`. */
#define START_TWO_STEPS(load_constants)                                                                                     \
    "sw gp, %[saved_gp]\n"                                                                                                  \
    "sw tp, %[saved_tp]\n"                                                                                                  \
    "lw a5, %[shift]\n"                                                                                                     \
    "lw s8, %[step0]\n"                                                                                                     \
    "lw s11, %[four_step]\n"                                                                                                \
    "5: lw t1, %[constants]\n"                                                                                              \
    "lw s3, %[source]\n"                                                                                                    \
    load_constants                                                                                                          \
    "lw s10, %[offset]\n"                                                                                                   \
    P_LW_NEXT("a0", "s3") P_LW_NEXT("a1", "s3") P_LW_NEXT("s1", "s3") P_LW_NEXT("s2", "s3")                                 \
    "sw t1, %[constants]\n"                                                                                                 \
    "lw t1, %[single]\n"                                                                                                    \
    "lw t0, %[pairs]\n"                                                                                                     \
    "lw a2, %[last]\n"                                                                                                      \
    "sw t1, %[count]\n"                                                                                                     \
    "add a0, a0, s10\n"                                                                                                     \
    "add a1, a1, s10\n"                                                                                                     \
    "add s1, s1, s10\n"                                                                                                     \
    "add s2, s2, s10\n"                                                                                                     \
    "lw s10, %[to_next_pair]\n"                                                                                             \
    "lw s3, %[rolls]\n"                                                                                                     \
    "beqz t0, 4f\n"

#define LOAD_ROW(near, far, own, moved) P_LW_NEXT("t0", near) P_LW_NEXT(own, "a6") P_LW_NEXT("t1", far) P_LW_NEXT(moved, "a6")

/* 39 instructions, and what is wanted in between. */
#define ROLLING_STEP(first, dot, near, far, beside)                                                                         \
    LOAD_ROW(near, far, "t4", "t5")                                                                                         \
    UPPER_DOTS(first, "t4", "t5")                                                                                             \
    LP_SETUP("x0", "s3", 24, "2")                                                                                           \
    LOAD_ROW(near, far, "t2", "t3")                                                                                         \
    LOWER_DOTS(dot, "t4", "t5")                                                                                             \
    UPPER_DOTS(dot, "t2", "t3")                                                                                             \
    LOAD_ROW(near, far, "t4", "t5")                                                                                         \
    LOWER_DOTS(dot, "t2", "t3")                                                                                             \
    dot("t6", "t0", "t4") dot("a7", "t0", "t5") dot("s7", "t1", "t4") "2: " dot("ra", "t1", "t5")                           \
    P_LW_NEXT("t0", near) P_LW_NEXT("t1", far)                                                                              \
    beside                                                                                                                  \
    LOWER_DOTS(dot, "t4", "t5")

/* 15 instructions, where s10 is `second` and s3 `inner`. */
#define PLAIN_STEP(near, far)                                                                                               \
    LP_SETUP("x0", "s3", 14, "2")                                                                                           \
    P_LW_AT("t2", "s10", near) P_LW_AT("t3", "s10", far) LOAD_ROW(near, far, "t4", "t5")                                    \
    UPPER_DOTS(PV_SDOTUSP_B, "t4", "t5")                                                                                    \
    PV_SDOTUSP_B("s4", "t2", "t4") PV_SDOTUSP_B("s5", "t2", "t5") PV_SDOTUSP_B("s6", "t3", "t4")                            \
    "2: " PV_SDOTUSP_B("s9", "t3", "t5")

#define LAST_STEP(near, far)                                                                                               \
    LP_SETUP("x0", "t0", 8, "2")                                                                                            \
    LOAD_ROW(near, far, "t4", "t5")                                                                                         \
    PV_SDOTUSP_B("s4", "t0", "t4") PV_SDOTUSP_B("s6", "t1", "t4") PV_SDOTUSP_B("s5", "t0", "t5") "2: " PV_SDOTUSP_B("s9", "t1", "t5")

/* Sums start with the bias; or with 0, and where they roll with their first products. */
#define REGISTER_ZERO             "x0"
#define REGISTER_BIAS             "gp"
#define FIRST_ZERO                PV_DOTUSP_B
#define FIRST_BIAS                PV_SDOTUSP_B
#define SET_ROLLING_ZERO          ""
#define SET_ROLLING_BIAS          SET("t6", "a7", "s7", "ra", "gp")
#define INSTRUCTIONS_ROLLING_ZERO 91
#define INSTRUCTIONS_ROLLING_BIAS 95
#define INSTRUCTIONS_PLAIN        43

/* The loop over pairs starts with either way to compute two fours, and ends with their common end, which is entered for a
 * single four once more. */
#define TWO_STEPS(start, finish, instructions, load_constants, next)                                                        \
    START_TWO_STEPS(load_constants)                                                                                         \
    LP_COUNT("x1", "t0")                                                                                                    \
    LP_END("x1", 4 + INSTRUCTIONS_PLAIN + INSTRUCTIONS_ROLLING_##start + 2 * instructions, "1")                             \
    LP_START("x1", 4, "7")                                                                                                  \
    "beqz s3, 7f\n"                                                                                                         \
    LP_START("x1", 2 + INSTRUCTIONS_PLAIN, "0")                                                                             \
    "j 0f\n"                                                                                                                \
    "7: lw s3, %[inner]\n"                                                                                                  \
    "lw a6, %[weights]\n"                                                                                                   \
    "lw s10, %[second]\n"                                                                                                   \
    SET("t6", "a7", "s7", "ra", REGISTER_##start)                                                                           \
    SET("s4", "s5", "s6", "s9", REGISTER_##start)                                                                           \
    PLAIN_STEP("a0", "a1")                                                                                                  \
    PLAIN_STEP("s1", "s2")                                                                                                  \
    "lw s10, %[to_next_pair]\n"                                                                                             \
    "j 8f\n"                                                                                                                \
    "0: lw a6, %[weights]\n"                                                                                                \
    SET_ROLLING_##start                                                                                                     \
    SET("s4", "s5", "s6", "s9", REGISTER_##start)                                                                           \
    ROLLING_STEP(FIRST_##start, PV_SDOTUSP_B, "a0", "a1", "lw t2, %[further]\n")                                            \
    "beqz t2, 8f\n"                                                                                                         \
    ROLLING_STEP(PV_SDOTUSP_B, PV_SDOTUSP_B, "s1", "s2", "")                                                                \
    "8: add a0, a0, s10\n"                                                                                                  \
    "lw t2, %[step1]\n"                                                                                                     \
    "lw t3, %[step2]\n"                                                                                                     \
    "add a1, a1, s10\n"                                                                                                     \
    "add s1, s1, s10\n"                                                                                                     \
    "add s2, s2, s10\n"                                                                                                     \
    finish("t6", "a7", "s7", "ra", "t0", "t1", "")                                                                          \
    "9:\n"                                                                                                                  \
    finish("s4", "s5", "s6", "s9", "t0", "t1", "1: ")                                                                       \
    "4: lw t0, %[count]\n"                                                                                                  \
    "sw x0, %[count]\n"                                                                                                     \
    "beqz t0, 6f\n"                                                                                                         \
    "lw a6, %[weights]\n"                                                                                                   \
    "lw t0, %[inner]\n"                                                                                                     \
    SET("s4", "s5", "s6", "s9", REGISTER_##start)                                                                           \
    LAST_STEP("a0", "a1")                                                                                                   \
    "lw t2, %[further]\n"                                                                                                   \
    "lw t0, %[inner]\n"                                                                                                     \
    "lw t3, %[step2]\n"                                                                                                     \
    "beqz t2, 3f\n"                                                                                                         \
    LAST_STEP("s1", "s2")                                                                                                   \
    "3: lw t2, %[step1]\n"                                                                                                  \
    "j 9b\n"                                                                                                                \
    "6:\n"                                                                                                                  \
    next

/* clang-format on */

#endif
