/* The product for other normalisations than the shortest one, each with its own innermost code. */
#include "product_block.h"
#include "product_run.h"

#define DEFINE_RUN(name, kind, end)                                                                                         \
    DORY_DEFINE_MULTIPLY_OF_KIND(name, kind, end)                                                                           \
    static void finish_##name(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,   \
                              uint32_t pixels, uint32_t quad)                                                               \
    {                                                                                                                       \
        dory_product_finish_by(product, sum, constants, index, pixels, quad, dory_normalise_lane_##name);                   \
    }                                                                                                                       \
    void dory_product_run_##name(struct dory_product *product, struct dory_grid_share share, dory_pixel_source *source,     \
                                 void *state)                                                                               \
    {                                                                                                                       \
        dory_product_run_with(product, share, source, state, multiply_##name, NULL, finish_##name, NULL);                   \
    }

DEFINE_RUN(clamped, CLAMPED, LOW)
DEFINE_RUN(high, HIGH, LOW)
DEFINE_RUN(split, SPLIT, HIGH)
