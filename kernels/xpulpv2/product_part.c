/* The product for a last quad of fewer than four channels, each with its own innermost code; others have none of it, for it
 * would take L2 from networks whose channels are fours. */
#include "product_part.h"
#include "product_run.h"

/* What is not of `direct`, or signed, has no such code: the runner of all quads does it. */
#define DEFINE_RUN(name, kind, end, direct, run_others)                                                                     \
    DORY_DEFINE_MULTIPLY_OF_KIND(name, kind, end)                                                                           \
    static inline __attribute__((always_inline)) void multiply_##name##_part(struct dory_blocks *blocks)                    \
    {                                                                                                                       \
        MULTIPLY_PART(blocks, kind);                                                                                        \
    }                                                                                                                       \
    static void finish_##name(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,   \
                              uint32_t pixels, uint32_t quad)                                                               \
    {                                                                                                                       \
        dory_product_finish_by(product, sum, constants, index, pixels, quad, dory_normalise_lane_##name);                   \
    }                                                                                                                       \
    void dory_product_run_##name##_part(struct dory_product *product, struct dory_grid_share share,                         \
                                        dory_pixel_source *source, void *state)                                             \
    {                                                                                                                       \
        if (product->blocks.channels % 4 == 0 || !dory_product_has_part(product, direct)) {                                 \
            run_others(product, share, source, state);                                                                      \
            return;                                                                                                         \
        }                                                                                                                   \
        dory_product_run_with(product, share, source, state, multiply_##name, multiply_##name##_part, finish_##name, NULL); \
    }

DEFINE_RUN(clamped, CLAMPED, LOW, DORY_DIRECT_CLAMPED, dory_product_run_clamped)
DEFINE_RUN(split, SPLIT, HIGH, DORY_DIRECT_SPLIT, dory_product_run_split)
