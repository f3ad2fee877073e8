/* Stores four pixels of a quad of channels as elements of 2 to 16 bits; see store.h. */
#include "store.h"

#include "../packed/packed.h"

typedef uint16_t __attribute__((may_alias)) half;

static void store_halves(const struct dory_product *product, const int32_t *element, uint32_t index, uint32_t pixels,
                         uint32_t quad)
{
    uint32_t channels = product->blocks.channels, lanes = dory_minimum(4, channels - 4 * quad);
    half *output = (half *)product->output + index * channels + 4 * quad;
    for (uint32_t p = 0; p < pixels; p++, element += 4, output += channels) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            output[lane] = (uint16_t)element[lane];
        }
    }
}

void dory_store_any(const struct dory_product *product, const int32_t element[16], uint32_t index, uint32_t pixels,
                    uint32_t quad)
{
    if (product->output_bits == 16) {
        store_halves(product, element, index, pixels, quad);
    } else if (product->output_bits < 8) {
        dory_packed_store(product, element, index, pixels, quad);
    } else {
        dory_product_store(product, element, index, pixels, quad);
    }
}
