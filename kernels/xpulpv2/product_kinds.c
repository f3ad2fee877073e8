/* The product for other normalisations than the shortest one, each with its own innermost code. */
#include "product_block.h"
#include "product_run.h"

#if defined(DORY_XPULPV2)

#define DEFINE_MULTIPLY(name, kind, end)                                                                                    \
    static inline __attribute__((always_inline)) void multiply_##name(struct dory_blocks *blocks, bool is_signed)           \
    {                                                                                                                       \
        (void)is_signed;                                                                                                    \
        MULTIPLY(blocks, LOAD_BYTES, "", 24, PV_DOTUSP_B, PV_SDOTUSP_B, "", kind, end);                                     \
    }

#else

#define DEFINE_MULTIPLY(name, kind, end)                                                                                    \
    static void multiply_##name(struct dory_blocks *blocks, bool is_signed)                                                 \
    {                                                                                                                       \
        dory_multiply(blocks, is_signed, dory_unpack_bytes, 16);                                                            \
    }

#endif

#define DEFINE_RUN(name, kind, end)                                                                                         \
    DEFINE_MULTIPLY(name, kind, end)                                                                                        \
    static void finish_##name(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,   \
                              uint32_t pixels, uint32_t quad)                                                               \
    {                                                                                                                       \
        dory_product_finish_by(product, sum, constants, index, pixels, quad, dory_normalise_lane_##name);                   \
    }                                                                                                                       \
    void dory_product_run_##name(struct dory_product *product, struct dory_grid_share share, dory_pixel_source *source,     \
                                 void *state)                                                                               \
    {                                                                                                                       \
        dory_product_run_with(product, share, source, state, multiply_##name, NULL, finish_##name, NULL, false);            \
    }

DEFINE_RUN(clamped, CLAMPED, LOW)
DEFINE_RUN(high, HIGH, LOW)
DEFINE_RUN(split, SPLIT, HIGH)
