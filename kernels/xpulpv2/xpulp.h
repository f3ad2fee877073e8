/* The XpulpV2 instructions that the kernels use, each once as assembly text and most also as a function.
 *
 * DORY_XPULPV2 is defined where the core has them (GAP8). Then the text is
 *   - the mnemonic, with a PULP or GAP compiler (__pulp__, __gap8__), whose assembler knows it,
 *   - `.insn`, with the stock riscv64-unknown-elf-gcc. All encodings were compared with gvsoc's ISA description.
 * On any other machine the functions are C models of the instructions, and the blocks of assembly in the kernels have
 * a twin in C that calls them, so that addressing, remainders and normalisation around them are tested on a PC.
 *
 * Hardware loops: level 0 is the inner one, level 1 may surround it. Interrupts must not use them in between; cluster
 * cores take none. A compiler that makes hardware loops itself has to be told not to (-mnohwloop).
 * Words: docs/glossary.md. */
#ifndef DORY_XPULP_H
#define DORY_XPULP_H

#include <stdint.h>
#include <string.h>

/* A word of 4 bytes, or 2 halfwords, lane 0 in the low bits. */
typedef uint32_t __attribute__((may_alias)) dory_word;

#if defined(DORY_XPULPV2)

#if defined(__pulp__) || defined(__gap8__)
#define XPULP_R(mnemonic, opcode, funct3, funct7, d, a, b)               mnemonic " " d ", " a ", " b "\n"
#define XPULP_SHIFTED(mnemonic, places, opcode, funct3, funct7, d, a, b) mnemonic " " d ", " a ", " b ", " places "\n"
#define P_ABS(d, a)                                                      "p.abs " d ", " a "\n"
#define P_FL1(d, a)                                                      "p.fl1 " d ", " a "\n"
#define XPULP_LOAD_NEXT(d, base)                                         "p.lw " d ", 4(" base "!)\n"
#define XPULP_LOAD_BEFORE_NEXT(d, base)                                  "p.lw " d ", 8(" base "!)\n"
#define XPULP_STORE_NEXT(s, base)                                        "p.sw " s ", 4(" base "!)\n"
#define XPULP_LOAD_AT(d, offset, base)                                   "p.lw " d ", " offset "(" base ")\n"
#define XPULP_LOAD_STEP(d, step, base)                                   "p.lw " d ", " step "(" base "!)\n"
#define XPULP_STORE_STEP(s, step, base)                                  "p.sw " s ", " step "(" base "!)\n"
#define XPULP_STORE_BYTE_STEP(s, step, base)                             "p.sb " s ", " step "(" base "!)\n"
#define XPULP_STORE_HALF_STEP(s, step, base)                             "p.sh " s ", " step "(" base "!)\n"
#define XPULP_LOAD_BYTE_AT(d, offset, base)                              "p.lbu " d ", " offset "(" base ")\n"
#define XPULP_LOAD_BYTE_STEP(d, step, base)                              "p.lbu " d ", " step "(" base "!)\n"
#define XPULP_LOAD_BYTE_NEXT(d, base)                                    "p.lbu " d ", 1(" base "!)\n"
#define XPULP_STORE_BYTE_NEXT(s, base)                                   "p.sb " s ", 1(" base "!)\n"
#define XPULP_LOAD_SIGNED_BYTE_NEXT(d, base)                             "p.lb " d ", 1(" base "!)\n"
#define XPULP_LOAD_SIGNED_BYTE_STEP(d, step, base)                       "p.lb " d ", " step "(" base "!)\n"
#define XPULP_LOAD_HALF_STEP(d, step, base)                              "p.lhu " d ", " step "(" base "!)\n"
#define XPULP_LOAD_SIGNED_HALF_STEP(d, step, base)                       "p.lh " d ", " step "(" base "!)\n"
#define XPULP_LOOP(level, count, instructions, label)                    "lp.setup " level ", " count ", " label "f\n"
#define XPULP_LOOP_START(level, instructions, label)                     "lp.starti " level ", " label "f\n"
#define XPULP_LOOP_END(level, instructions, label)                       "lp.endi " level ", " label "f\n"
#define XPULP_LOOP_COUNT(level, count)                                   "lp.count " level ", " count "\n"
#else
#define XPULP_R(mnemonic, opcode, funct3, funct7, d, a, b)                                                                  \
    ".insn r " #opcode ", " #funct3 ", " #funct7 ", " d ", " a ", " b "\n"
#define XPULP_SHIFTED(mnemonic, places, opcode, funct3, funct7, d, a, b) XPULP_R(mnemonic, opcode, funct3, funct7, d, a, b)
#define P_ABS(d, a)                                                      ".insn r 0x33, 0, 0x02, " d ", " a ", x0\n"
#define P_FL1(d, a)                                                      ".insn r 0x33, 1, 0x08, " d ", " a ", x0\n"
#define XPULP_LOAD_NEXT(d, base)                                         ".insn i 0x0B, 2, " d ", " base ", 4\n"
#define XPULP_LOAD_BEFORE_NEXT(d, base)                                  ".insn i 0x0B, 2, " d ", " base ", 8\n"
#define XPULP_STORE_NEXT(s, base)                                        ".insn s 0x2B, 2, " s ", 4(" base ")\n"
#define XPULP_LOAD_AT(d, offset, base)                                   ".insn r 0x03, 7, 0x10, " d ", " base ", " offset "\n"
#define XPULP_LOAD_STEP(d, step, base)                                   ".insn r 0x0B, 7, 0x10, " d ", " base ", " step "\n"
#define XPULP_STORE_STEP(s, step, base)                                  ".insn r 0x2B, 6, 0x00, " step ", " base ", " s "\n"
#define XPULP_STORE_BYTE_STEP(s, step, base)                             ".insn r 0x2B, 4, 0x00, " step ", " base ", " s "\n"
#define XPULP_STORE_HALF_STEP(s, step, base)                             ".insn r 0x2B, 5, 0x00, " step ", " base ", " s "\n"
#define XPULP_LOAD_BYTE_AT(d, offset, base)                              ".insn r 0x03, 7, 0x20, " d ", " base ", " offset "\n"
#define XPULP_LOAD_BYTE_STEP(d, step, base)                              ".insn r 0x0B, 7, 0x20, " d ", " base ", " step "\n"
#define XPULP_LOAD_BYTE_NEXT(d, base)                                    ".insn i 0x0B, 4, " d ", " base ", 1\n"
#define XPULP_STORE_BYTE_NEXT(s, base)                                   ".insn s 0x2B, 0, " s ", 1(" base ")\n"
#define XPULP_LOAD_SIGNED_BYTE_NEXT(d, base)                             ".insn i 0x0B, 0, " d ", " base ", 1\n"
#define XPULP_LOAD_SIGNED_BYTE_STEP(d, step, base)                       ".insn r 0x0B, 7, 0x00, " d ", " base ", " step "\n"
#define XPULP_LOAD_HALF_STEP(d, step, base)                              ".insn r 0x0B, 7, 0x28, " d ", " base ", " step "\n"
#define XPULP_LOAD_SIGNED_HALF_STEP(d, step, base)                       ".insn r 0x0B, 7, 0x08, " d ", " base ", " step "\n"
#define XPULP_LOOP(level, count, instructions, label)                    ".insn i 0x7B, 4, " level ", " count ", 2 * (" #instructions ")\n"
#define XPULP_LOOP_START(level, instructions, label)                     ".insn i 0x7B, 0, " level ", x0, 2 * (" #instructions ")\n"
#define XPULP_LOOP_END(level, instructions, label)                       ".insn i 0x7B, 1, " level ", x0, 2 * (" #instructions ")\n"
#define XPULP_LOOP_COUNT(level, count)                                   ".insn i 0x7B, 2, " level ", " count ", 0\n"
#endif

/* Loads and stores of words, bytes and halfwords (U: unsigned) with an address that moves on by their size (NEXT) or by a
 * register (STEP) afterwards, or that is the sum of two registers (AT). Arguments are strings: register names or operands
 * such as "%0". */
#define P_LW_NEXT(d, base)        XPULP_LOAD_NEXT(d, base)
#define P_LW_BEFORE_NEXT(d, base) XPULP_LOAD_BEFORE_NEXT(d, base) /* and on by a word that is not loaded */
#define P_SW_NEXT(s, base)        XPULP_STORE_NEXT(s, base)
#define P_LW_AT(d, offset, base)  XPULP_LOAD_AT(d, offset, base)
#define P_LW_STEP(d, step, base)  XPULP_LOAD_STEP(d, step, base)
#define P_SW_STEP(s, step, base)  XPULP_STORE_STEP(s, step, base)
#define P_LBU_AT(d, offset, base) XPULP_LOAD_BYTE_AT(d, offset, base)
#define P_LBU_STEP(d, step, base) XPULP_LOAD_BYTE_STEP(d, step, base)
#define P_LBU_NEXT(d, base)       XPULP_LOAD_BYTE_NEXT(d, base)
#define P_SB_NEXT(s, base)        XPULP_STORE_BYTE_NEXT(s, base)
#define P_LB_NEXT(d, base)        XPULP_LOAD_SIGNED_BYTE_NEXT(d, base)
#define P_LB_STEP(d, step, base)  XPULP_LOAD_SIGNED_BYTE_STEP(d, step, base)
#define P_LHU_STEP(d, step, base) XPULP_LOAD_HALF_STEP(d, step, base)
#define P_LH_STEP(d, step, base)  XPULP_LOAD_SIGNED_HALF_STEP(d, step, base)
#define P_SB_STEP(s, step, base)  XPULP_STORE_BYTE_STEP(s, step, base)
#define P_SH_STEP(s, step, base)  XPULP_STORE_HALF_STEP(s, step, base)

/* A hardware loop: the `instructions` 32-bit instructions that follow are executed `count` times, at least once;
 * `label` stands before the last of them. */
#define LP_SETUP(level, count, instructions, label) XPULP_LOOP(level, count, instructions, label)

/* The same in parts, so that it may be entered in its middle: `label` is its first instruction, or its last one, and stands
 * `instructions` 32-bit instructions behind this one. */
#define LP_START(level, instructions, label) XPULP_LOOP_START(level, instructions, label)
#define LP_END(level, instructions, label)   XPULP_LOOP_END(level, instructions, label)
#define LP_COUNT(level, count)               XPULP_LOOP_COUNT(level, count)

/* High halves, that of `a` above that of `b`. A core without the instruction takes three, by way of tp, which is nobody's:
 * there are no threads. MORE_FOR_HIGH_PACKS: how many more instructions so many packs are, for the lengths of loops. */
#if defined(DORY_XPULPV2_WITHOUT_HIGH_PACK)
#define PV_PACK_H_H(d, a, b)       "srli tp, " a ", 16\nsrli " d ", " b ", 16\n" PV_PACK_H(d, "tp", d)
#define MORE_FOR_HIGH_PACKS(packs) (2 * packs)
#else
#define PV_PACK_H_H(d, a, b)       XPULP_R("pv.pack.h.h", 0x57, 6, 0x68, d, a, b)
#define MORE_FOR_HIGH_PACKS(packs) 0
#endif

#define PV_DOTUP_B(d, a, b)    XPULP_R("pv.dotup.b", 0x57, 1, 0x40, d, a, b)
#define PV_DOTUSP_B(d, a, b)   XPULP_R("pv.dotusp.b", 0x57, 1, 0x44, d, a, b)
#define PV_DOTSP_B(d, a, b)    XPULP_R("pv.dotsp.b", 0x57, 1, 0x4C, d, a, b)
#define PV_SDOTUP_B(d, a, b)   XPULP_R("pv.sdotup.b", 0x57, 1, 0x50, d, a, b)
#define PV_SDOTUSP_B(d, a, b)  XPULP_R("pv.sdotusp.b", 0x57, 1, 0x54, d, a, b)
#define PV_SDOTSP_B(d, a, b)   XPULP_R("pv.sdotsp.b", 0x57, 1, 0x5C, d, a, b)
#define PV_DOTUSP_H(d, a, b)   XPULP_R("pv.dotusp.h", 0x57, 0, 0x44, d, a, b)
#define PV_DOTSP_H(d, a, b)    XPULP_R("pv.dotsp.h", 0x57, 0, 0x4C, d, a, b)
#define PV_SDOTUP_H(d, a, b)   XPULP_R("pv.sdotup.h", 0x57, 0, 0x50, d, a, b)
#define PV_SDOTUSP_H(d, a, b)  XPULP_R("pv.sdotusp.h", 0x57, 0, 0x54, d, a, b)
#define PV_SDOTSP_H(d, a, b)   XPULP_R("pv.sdotsp.h", 0x57, 0, 0x5C, d, a, b)
#define PV_MAX_B(d, a, b)      XPULP_R("pv.max.b", 0x57, 1, 0x18, d, a, b)
#define PV_MAXU_B(d, a, b)     XPULP_R("pv.maxu.b", 0x57, 1, 0x1C, d, a, b)
#define PV_MAXU_H(d, a, b)     XPULP_R("pv.maxu.h", 0x57, 0, 0x1C, d, a, b)
#define PV_SHUFFLE2_B(d, a, b) XPULP_R("pv.shuffle2.b", 0x57, 1, 0x64, d, a, b)
#define PV_PACK_H(d, a, b)     XPULP_R("pv.pack.h", 0x57, 0, 0x68, d, a, b)
#define PV_PACKLO_B(d, a, b)   XPULP_R("pv.packlo.b", 0x57, 1, 0x70, d, a, b)
#define PV_PACKHI_B(d, a, b)   XPULP_R("pv.packhi.b", 0x57, 1, 0x6C, d, a, b)
#define PV_ADD_H(d, a, b)      XPULP_R("pv.add.h", 0x57, 0, 0x00, d, a, b)
#define PV_SRL_SC_H(d, a, b)   XPULP_R("pv.srl.sc.h", 0x57, 4, 0x20, d, a, b)
#define PV_MIN_SC_H(d, a, b)   XPULP_R("pv.min.sc.h", 0x57, 4, 0x10, d, a, b)
#define P_MULS(d, a, b)        XPULP_R("p.muls", 0x5B, 0, 0x40, d, a, b)   /* the low halves, signed */
#define P_MULHHS(d, a, b)      XPULP_R("p.mulhhs", 0x5B, 0, 0x60, d, a, b) /* the high halves */
#define P_MAX(d, a, b)         XPULP_R("p.max", 0x33, 6, 0x02, d, a, b)
#define P_MIN(d, a, b)         XPULP_R("p.min", 0x33, 4, 0x02, d, a, b)
#define P_CLIPR(d, a, b)       XPULP_R("p.clipr", 0x33, 5, 0x0A, d, a, b)
#define P_CLIPUR(d, a, b)      XPULP_R("p.clipur", 0x33, 6, 0x0A, d, a, b)
#define P_ADDNR(d, a, b)       XPULP_R("p.addNr", 0x5B, 2, 0x20, d, a, b)
#define P_ADDUNR(d, a, b)      XPULP_R("p.adduNr", 0x5B, 2, 0x60, d, a, b)
#define P_ADDRNR(d, a, b)      XPULP_R("p.addRNr", 0x5B, 6, 0x20, d, a, b)
#define P_MAC(d, a, b)         XPULP_R("p.mac", 0x33, 0, 0x21, d, a, b)
#define P_MSU(d, a, b)         XPULP_R("p.msu", 0x33, 1, 0x21, d, a, b)
#define P_MACU_16(d, a, b)     XPULP_SHIFTED("p.macuN", "16", 0x5B, 1, 0x10, d, a, b) /* (d + low halves) >> 16, unsigned */
#define P_MULHHU_16(d, a, b)   XPULP_SHIFTED("p.mulhhuN", "16", 0x5B, 0, 0x30, d, a, b) /* high halves >> 16, unsigned */
#define P_MACHHS(d, a, b)      XPULP_R("p.machhs", 0x5B, 1, 0x60, d, a, b)              /* of the high halves, signed */

#define XPULP_FUNCTION(name, type, operand, text)                                                                           \
    static inline type name(operand a, operand b)                                                                           \
    {                                                                                                                       \
        type d;                                                                                                             \
        __asm__(text("%0", "%1", "%2") : "=r"(d) : "r"(a), "r"(b));                                                         \
        return d;                                                                                                           \
    }
#define XPULP_UPDATE(name, type, operand, text)                                                                             \
    static inline type name(type d, operand a, operand b)                                                                   \
    {                                                                                                                       \
        __asm__(text("%0", "%1", "%2") : "+r"(d) : "r"(a), "r"(b));                                                         \
        return d;                                                                                                           \
    }

#define XPULP_UNARY(name, type, text)                                                                                       \
    static inline type name(type a)                                                                                         \
    {                                                                                                                       \
        type d;                                                                                                             \
        __asm__(text("%0", "%1") : "=r"(d) : "r"(a));                                                                       \
        return d;                                                                                                           \
    }

#else /* a C model of each instruction, in the same order of operands */

#define XPULP_UNARY(name, type, text)                                                                                       \
    static inline type name(type a) { return XPULP_MODEL_##text; }
#define XPULP_FUNCTION(name, type, operand, text)                                                                           \
    static inline type name(operand a, operand b) { return XPULP_MODEL_##text; }
#define XPULP_UPDATE(name, type, operand, text)                                                                             \
    static inline type name(type d, operand a, operand b) { return XPULP_MODEL_##text; }

static inline uint32_t xpulp_unsigned_lane(uint32_t word, unsigned lane) { return word >> (8 * lane) & 0xFF; }
static inline int32_t xpulp_signed_lane(uint32_t word, unsigned lane) { return (int8_t)(word >> (8 * lane)); }

/* The sum of four products, modulo 2^32 as in hardware. */
static inline uint32_t xpulp_dot(uint32_t a, uint32_t b, int a_is_signed, int b_is_signed)
{
    uint32_t sum = 0;
    for (unsigned lane = 0; lane < 4; lane++) {
        uint32_t x = a_is_signed ? (uint32_t)xpulp_signed_lane(a, lane) : xpulp_unsigned_lane(a, lane);
        uint32_t y = b_is_signed ? (uint32_t)xpulp_signed_lane(b, lane) : xpulp_unsigned_lane(b, lane);
        sum += x * y;
    }
    return sum;
}

static inline uint32_t xpulp_larger_bytes(uint32_t a, uint32_t b, int is_signed)
{
    uint32_t result = 0;
    for (unsigned lane = 0; lane < 4; lane++) {
        int a_wins = is_signed ? xpulp_signed_lane(a, lane) > xpulp_signed_lane(b, lane)
                               : xpulp_unsigned_lane(a, lane) > xpulp_unsigned_lane(b, lane);
        result |= xpulp_unsigned_lane(a_wins ? a : b, lane) << (8 * lane);
    }
    return result;
}

static inline uint32_t xpulp_larger_halves(uint32_t a, uint32_t b)
{
    uint32_t low = (a & 0xFFFF) > (b & 0xFFFF) ? a : b, high = a >> 16 > b >> 16 ? a : b;
    return (high & 0xFFFF0000) | (low & 0xFFFF);
}

/* Each byte of the selector names a byte: bits 0-1 the lane, bit 2 of the first operand (1) or of the old result (0). */
static inline uint32_t xpulp_shuffle2(uint32_t old, uint32_t a, uint32_t selector)
{
    uint32_t result = 0;
    for (unsigned lane = 0; lane < 4; lane++) {
        uint32_t choice = selector >> (8 * lane);
        result |= xpulp_unsigned_lane(choice & 4 ? a : old, choice & 3) << (8 * lane);
    }
    return result;
}

#define XPULP_MODEL_PV_DOTUP_B    (int32_t) xpulp_dot(a, b, 0, 0)
#define XPULP_MODEL_PV_DOTUSP_B   (int32_t) xpulp_dot(a, b, 0, 1)
#define XPULP_MODEL_PV_DOTSP_B    (int32_t) xpulp_dot(a, b, 1, 1)
#define XPULP_MODEL_PV_SDOTUP_B   (int32_t)((uint32_t)d + xpulp_dot(a, b, 0, 0))
#define XPULP_MODEL_PV_SDOTUSP_B  (int32_t)((uint32_t)d + xpulp_dot(a, b, 0, 1))
#define XPULP_MODEL_PV_SDOTSP_B   (int32_t)((uint32_t)d + xpulp_dot(a, b, 1, 1))
#define XPULP_MODEL_PV_MAX_B      xpulp_larger_bytes(a, b, 1)
#define XPULP_MODEL_PV_MAXU_B     xpulp_larger_bytes(a, b, 0)
#define XPULP_MODEL_PV_MAXU_H     xpulp_larger_halves(a, b)
#define XPULP_MODEL_PV_SHUFFLE2_B xpulp_shuffle2(d, a, b)
#define XPULP_MODEL_PV_PACK_H     (a << 16 | (b & 0xFFFF))
#define XPULP_MODEL_PV_PACK_H_H   ((a & 0xFFFF0000) | b >> 16)
#define XPULP_MODEL_PV_PACKLO_B   ((d & 0xFFFF0000) | (a & 0xFF) << 8 | (b & 0xFF))
#define XPULP_MODEL_PV_PACKHI_B   ((d & 0xFFFF) | a << 24 | (b & 0xFF) << 16)
#define XPULP_MODEL_P_MAX         (a > b ? a : b)
#define XPULP_MODEL_P_MIN         (a < b ? a : b)
#define XPULP_MODEL_P_CLIPR       (a < -b - 1 ? -b - 1 : a > b ? b : a)
#define XPULP_MODEL_P_CLIPUR      (a < 0 ? 0 : a > b ? b : a)
#define XPULP_MODEL_P_ADDNR       ((int32_t)((uint32_t)d + (uint32_t)a) >> (b & 31))
#define XPULP_MODEL_P_ADDUNR      ((d + a) >> (b & 31))
#define XPULP_MODEL_P_ADDRNR      ((int32_t)((uint32_t)d + (uint32_t)a + (1u << (b & 31)) / 2) >> (b & 31))
#define XPULP_MODEL_P_ABS         (a < 0 ? -a : a)
#define XPULP_MODEL_P_FL1         (31u - (uint32_t)__builtin_clz(a))
#define XPULP_MODEL_P_MAC         (int32_t)((uint32_t)d + (uint32_t)a * (uint32_t)b)

#endif

/* Sums of four products of bytes. In the usp ones the first operand is unsigned and the second signed. */
XPULP_FUNCTION(pv_dotup_b, int32_t, uint32_t, PV_DOTUP_B)
XPULP_FUNCTION(pv_dotusp_b, int32_t, uint32_t, PV_DOTUSP_B)
XPULP_FUNCTION(pv_dotsp_b, int32_t, uint32_t, PV_DOTSP_B)
XPULP_UPDATE(pv_sdotup_b, int32_t, uint32_t, PV_SDOTUP_B)
XPULP_UPDATE(pv_sdotusp_b, int32_t, uint32_t, PV_SDOTUSP_B)
XPULP_UPDATE(pv_sdotsp_b, int32_t, uint32_t, PV_SDOTSP_B)

XPULP_FUNCTION(pv_max_b, uint32_t, uint32_t, PV_MAX_B)
XPULP_FUNCTION(pv_maxu_b, uint32_t, uint32_t, PV_MAXU_B)
XPULP_FUNCTION(pv_maxu_h, uint32_t, uint32_t, PV_MAXU_H)

/* Any four bytes of `d` (selector bytes 0-3) and `a` (4-7). */
XPULP_UPDATE(pv_shuffle2_b, uint32_t, uint32_t, PV_SHUFFLE2_B)
/* Low halves (pack.h) or high halves (pack.h.h): `a` above `b`. */
XPULP_FUNCTION(pv_pack_h, uint32_t, uint32_t, PV_PACK_H)
#if defined(DORY_XPULPV2_WITHOUT_HIGH_PACK)
static inline __attribute__((always_inline)) uint32_t pv_pack_h_h(uint32_t a, uint32_t b)
{
    return pv_pack_h(a >> 16, b >> 16);
}
#else
XPULP_FUNCTION(pv_pack_h_h, uint32_t, uint32_t, PV_PACK_H_H)
#endif
/* Bytes 1 and 0 (packlo) or 3 and 2 (packhi) of `d` become the low bytes of `a` and `b`. */
XPULP_UPDATE(pv_packlo_b, uint32_t, uint32_t, PV_PACKLO_B)
XPULP_UPDATE(pv_packhi_b, uint32_t, uint32_t, PV_PACKHI_B)

XPULP_UNARY(p_abs, int32_t, P_ABS)
/* The place of the highest bit of a number that is not 0. */
XPULP_UNARY(p_fl1, uint32_t, P_FL1)

XPULP_FUNCTION(p_max, int32_t, int32_t, P_MAX)
XPULP_FUNCTION(p_min, int32_t, int32_t, P_MIN)
XPULP_FUNCTION(p_clipr, int32_t, int32_t, P_CLIPR)   /* to [-b - 1, b], b >= 0 */
XPULP_FUNCTION(p_clipur, int32_t, int32_t, P_CLIPUR) /* to [0, b], b >= 0 */
XPULP_UPDATE(p_addnr, int32_t, int32_t, P_ADDNR)     /* (d + a) >> b, arithmetic; the sum wraps at 32 bits */
XPULP_UPDATE(p_addunr, uint32_t, uint32_t, P_ADDUNR) /* the same, unsigned */
XPULP_UPDATE(p_addrnr, int32_t, int32_t, P_ADDRNR)   /* (d + a + half of 2^b) >> b */
XPULP_UPDATE(p_mac, int32_t, int32_t, P_MAC)

/* A word at any address. Misaligned ones cost the core 1 (silicon) or 2 (gvsoc) cycles more. */
static inline uint32_t dory_load_word(const void *address)
{
#if defined(DORY_XPULPV2)
    return *(const dory_word *)address;
#else
    uint32_t word;
    memcpy(&word, address, sizeof word);
    return word;
#endif
}

static inline void dory_store_word(void *address, uint32_t word)
{
#if defined(DORY_XPULPV2)
    *(dory_word *)address = word;
#else
    memcpy(address, &word, sizeof word);
#endif
}

#endif
