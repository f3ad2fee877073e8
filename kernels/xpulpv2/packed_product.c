/* The product for weights of 4 and 2 bits, and for outputs of any bits: see packed.h and product.h. */
#include "packed.h"
#include "product_block.h"
#include "product_run.h"

#if defined(DORY_XPULPV2)

/* 4 bits: two channels in a word. They are left in the high half of each byte, 16 times as large as they are: 26
 * instructions a step, and 16 for the sums at the end. */
#define LOAD_4                                                                                                              \
    P_LW_NEXT("t0", "a1")                                                                                                   \
    P_LW_NEXT("t2", "a1")
#define UNPACK_4                                                                                                            \
    PV_AND_B("t1", "t0", -16)                                                                                               \
    PV_SLL_B("t0", "t0", 4)                                                                                                 \
    PV_AND_B("t3", "t2", -16)                                                                                               \
    PV_SLL_B("t2", "t2", 4)
#define SCALE(sum) "srai " sum ", " sum ", 4\n"
#define SCALE_4                                                                                                             \
    SCALE(SUM0)                                                                                                             \
    SCALE(SUM1)                                                                                                             \
    SCALE(SUM2)                                                                                                             \
    SCALE(SUM3)                                                                                                             \
    SCALE(SUM4)                                                                                                             \
    SCALE(SUM5)                                                                                                             \
    SCALE(SUM6)                                                                                                             \
    SCALE(SUM7)                                                                                                             \
    SCALE(SUM8)                                                                                                             \
    SCALE(SUM9)                                                                                                             \
    SCALE(SUM10)                                                                                                            \
    SCALE(SUM11)                                                                                                            \
    SCALE(SUM12)                                                                                                            \
    SCALE(SUM13)                                                                                                            \
    SCALE(SUM14)                                                                                                            \
    SCALE(SUM15)

/* 2 bits: four channels in a word, 28 instructions a step. */
#define LOAD_2 P_LW_NEXT("t3", "a1")
#define UNPACK_2                                                                                                            \
    PV_SLL_B("t0", "t3", 6)                                                                                                 \
    PV_SLL_B("t1", "t3", 4)                                                                                                 \
    PV_SLL_B("t2", "t3", 2)                                                                                                 \
    PV_SRA_B("t0", "t0", 6)                                                                                                 \
    PV_SRA_B("t1", "t1", 6)                                                                                                 \
    PV_SRA_B("t2", "t2", 6)                                                                                                 \
    PV_SRA_B("t3", "t3", 6)

#define DEFINE_MULTIPLY(bits, load, unpack, step, scale)                                                                    \
    static inline __attribute__((always_inline)) void multiply_##bits(struct dory_blocks *blocks, bool is_signed)           \
    {                                                                                                                       \
        if (is_signed) {                                                                                                    \
            MULTIPLY(blocks, load, unpack, step, PV_DOTSP_B, PV_SDOTSP_B, scale, DIRECT, LOW);                              \
        } else {                                                                                                            \
            MULTIPLY(blocks, load, unpack, step, PV_DOTUSP_B, PV_SDOTUSP_B, scale, ANY, LOW);                               \
        }                                                                                                                   \
    }

DEFINE_MULTIPLY(8, LOAD_BYTES, "", 24, "")
DEFINE_MULTIPLY(4, LOAD_4, UNPACK_4, 26, SCALE_4)
DEFINE_MULTIPLY(2, LOAD_2, UNPACK_2, 28, "")

#else

static void load_4(const uint8_t *weights, uint32_t word[4])
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t packed = dory_load_word(weights + 4 * i);
        word[2 * i] = dory_signed_field_0_4(packed);
        word[2 * i + 1] = dory_signed_field_4_4(packed);
    }
}

static void load_2(const uint8_t *weights, uint32_t word[4])
{
    uint32_t packed = dory_load_word(weights);
    word[0] = dory_signed_field_0_2(packed);
    word[1] = dory_signed_field_2_2(packed);
    word[2] = dory_signed_field_4_2(packed);
    word[3] = dory_signed_field_6_2(packed);
}

static void multiply_8(struct dory_blocks *blocks, bool is_signed)
{
    dory_multiply(blocks, is_signed, dory_unpack_bytes, 16);
}
static void multiply_4(struct dory_blocks *blocks, bool is_signed) { dory_multiply(blocks, is_signed, load_4, 8); }
static void multiply_2(struct dory_blocks *blocks, bool is_signed) { dory_multiply(blocks, is_signed, load_2, 4); }

#endif

/* ---- outputs below 8 bits ---------------------------------------------------------------------------------- */

/* Of 4 bytes the low 4 bits, side by side in two bytes; there must be no others. */
static inline void store_halves(uint8_t *output, uint32_t word)
{
    word |= word >> 4;
    uint32_t packed = pv_shuffle2_b(word, word, 0x03030200);
#if defined(DORY_XPULPV2)
    *(uint16_t __attribute__((may_alias)) *)output = (uint16_t)packed; /* at any address */
#else
    memcpy(output, &packed, 2);
#endif
}

/* The same for 2 bits, in one byte. */
static inline void store_quarters(uint8_t *output, uint32_t word)
{
    word |= word >> 6;
    *output = (uint8_t)(word | word >> 12);
}

/* The elements of a quad take 1 or 2 whole bytes of a pixel. */
static inline void pack_block(const struct dory_product *product, const uint32_t word[4], uint32_t index, uint32_t quad)
{
    uint32_t bits = product->output_bits, pixel_bytes = product->output_pixel_bytes;
    uint8_t *output = product->output + index * pixel_bytes + quad * bits / 2;
    if (bits == 4) {
        for (unsigned p = 0; p < 4; p++, output += pixel_bytes) {
            store_halves(output, word[p]);
        }
    } else {
        for (unsigned p = 0; p < 4; p++, output += pixel_bytes) {
            store_quarters(output, word[p]);
        }
    }
}

/* The first `lanes` of 4 elements, and zeros behind them up to a whole byte. */
static inline void store_lanes(uint8_t *output, const int32_t element[4], uint32_t lanes, uint32_t bits)
{
    uint32_t present = dory_pack_bytes(element) & 0xFFFFFFFFu >> (32 - 8 * lanes);
    if (bits == 2) {
        store_quarters(output, present & 0x03030303);
    } else if (lanes > 2) {
        store_halves(output, present & 0x0F0F0F0F);
    } else {
        *output = (uint8_t)((present & 0xF) | (present >> 4 & 0xF0));
    }
}

void dory_packed_finish(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                        uint32_t pixels, uint32_t quad)
{
    uint32_t bits = product->output_bits, channels = product->blocks.channels;
    if (bits >= 8) {
        dory_product_finish(product, sum, constants, index, pixels, quad);
        return;
    }
    if (!dory_product_normalise(product, sum, constants, index, pixels, quad)) {
        return;
    }
    uint32_t lanes = dory_minimum(4, channels - 4 * quad), pixel_bytes = product->output_pixel_bytes;
    uint8_t *output = product->output + index * pixel_bytes + quad * bits / 2;
    for (uint32_t p = 0; p < pixels; p++, sum += 4, output += pixel_bytes) {
        store_lanes(output, sum, lanes, bits);
    }
}

#define DEFINE_RUN(bits)                                                                                                    \
    void dory_packed_run_##bits(struct dory_product *product, struct dory_grid_share share, dory_pixel_source *source,      \
                                void *state)                                                                                \
    {                                                                                                                       \
        dory_product_run_with(product, share, source, state, multiply_##bits, dory_packed_finish, pack_block);              \
    }

DEFINE_RUN(8)
DEFINE_RUN(4)
DEFINE_RUN(2)
