/* Elements and weights of 2 and 4 bits: what unpacks them to bytes, and the product of weights that are unpacked in
 * registers.
 *
 * Two things keep this cheap. Byte i of a word of weights belongs to input element i, whatever the bits (dory/layer.h): a
 * few shifts by bytes make the words of four channels of it, and the product's step remains one of 4 input bytes. And input
 * elements become bytes where four pixels are gathered, once for all output channels.
 *
 * Nothing of this is linked into a network whose layers have bytes only.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_PACKED_H
#define DORY_XPULPV2_PACKED_H

#include "../product.h"
#include "../xpulp.h"

#if defined(DORY_XPULPV2)

/* Shifts of the four bytes of a word, and a bit mask for each of them (-32 to 31). */
#if defined(__pulp__) || defined(__gap8__)
#define XPULP_BYTES(mnemonic, code, d, a, value) mnemonic " " d ", " a ", " #value "\n"
#else
#define XPULP_BYTES(mnemonic, code, d, a, value)                                                                            \
    ".insn i 0x57, 7, " d ", " a ", " #code " + (((" #value ") & 1) << 5) + ((" #value ") >> 1 & 31)\n"
#endif
#define PV_SLL_B(d, a, bits)  XPULP_BYTES("pv.sll.sci.b", 0x500, d, a, bits)
#define PV_SRA_B(d, a, bits)  XPULP_BYTES("pv.sra.sci.b", 0x480, d, a, bits)
#define PV_AND_B(d, a, value) XPULP_BYTES("pv.and.sci.b", 0x680, d, a, value)

/* Bits `position` to `position` + `bits` - 1 of each byte, sign-extended. */
#define XPULP_FIELD(position, bits)                                                                                         \
    static inline uint32_t dory_signed_field_##position##_##bits(uint32_t word)                                             \
    {                                                                                                                       \
        uint32_t field;                                                                                                     \
        __asm__(PV_SLL_B("%0", "%1", 8 - position - bits) PV_SRA_B("%0", "%0", 8 - bits) : "=&r"(field) : "r"(word));       \
        return field;                                                                                                       \
    }

#else

#define XPULP_FIELD(position, bits)                                                                                         \
    static inline uint32_t dory_signed_field_##position##_##bits(uint32_t word)                                             \
    {                                                                                                                       \
        uint32_t sign = 0x01010101u << (bits - 1), field = word >> position & (0x01010101u * ((1u << bits) - 1));           \
        for (unsigned bit = bits; bit < 8; bit++) {                                                                         \
            field |= (field & sign) << (bit - bits + 1);                                                                    \
        }                                                                                                                   \
        return field;                                                                                                       \
    }

#endif

XPULP_FIELD(0, 4)
XPULP_FIELD(4, 4)
XPULP_FIELD(0, 2)
XPULP_FIELD(2, 2)
XPULP_FIELD(4, 2)
XPULP_FIELD(6, 2)

/* dory_product_run for weights of 8, 4 and 2 bits, and for outputs of any bits. */
dory_product_runner dory_packed_run_8, dory_packed_run_4, dory_packed_run_2;

/* dory_product_store for elements below 8 bits. */
void dory_packed_store(const struct dory_product *product, const int32_t *element, uint32_t index, uint32_t pixels,
                       uint32_t quad);

/* dory_product_finish for outputs of any bits but 16. */
void dory_packed_finish(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                        uint32_t pixels, uint32_t quad);

#endif
