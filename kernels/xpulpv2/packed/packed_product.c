/* The product for weights of 4 and 2 bits, and for outputs of any bits: see packed.h and product.h. */
#include "../product_block.h"
#include "../product_run.h"
#include "packed.h"
#include "packed_weights.h"

DORY_DEFINE_MULTIPLIES

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

void dory_packed_store(const struct dory_product *product, const int32_t *element, uint32_t index, uint32_t pixels,
                       uint32_t quad)
{
    uint32_t bits = product->output_bits, lanes = dory_minimum(4, product->blocks.channels - 4 * quad);
    uint32_t pixel_bytes = product->output_pixel_bytes;
    uint8_t *output = product->output + index * pixel_bytes + quad * bits / 2;
    for (uint32_t p = 0; p < pixels; p++, element += 4, output += pixel_bytes) {
        store_lanes(output, element, lanes, bits);
    }
}

void dory_packed_finish(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                        uint32_t pixels, uint32_t quad)
{
    if (product->output_bits >= 8) {
        dory_product_finish(product, sum, constants, index, pixels, quad);
    } else if (dory_product_normalise(product, sum, constants, index, pixels, quad, dory_normalise_lane)) {
        dory_packed_store(product, sum, index, pixels, quad);
    }
}

#define DEFINE_RUN(bits)                                                                                                    \
    void dory_packed_run_##bits(struct dory_product *product, struct dory_grid_share share, dory_pixel_source *source,      \
                                void *state)                                                                                \
    {                                                                                                                       \
        dory_product_run_with(product, share, source, state, multiply_##bits, NULL, dory_packed_finish, pack_block);        \
    }

DEFINE_RUN(8)
DEFINE_RUN(4)
DEFINE_RUN(2)
