/* Computes fully connected layers, and convolutions of few pixels, with weights of 4 and 2 bits.
 *
 * Each core takes a part of the quads of output channels. Inner loop: linear.h's, with weights that are unpacked in
 * registers. */
#include "../linear/linear.h"
#include "../xpulpv2.h"
#include "packed_weights.h"

/* dots_4: 11 instructions for 16 MAC, and sums of 16 times the products. dots_2: 13 instructions. */

#if defined(DORY_XPULPV2)

#define DOTS(instructions, unpack, add)                                                                                     \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[words]", instructions, "1") unpack add("%[s0]", "t4", "t0")        \
                         add("%[s1]", "t4", "t1") add("%[s2]", "t4", "t2") "1: " add("%[s3]", "t4", "t3") ".option pop\n"   \
                     : [s0] "+r"(sum[0]), [s1] "+r"(sum[1]), [s2] "+r"(sum[2]), [s3] "+r"(sum[3]), [input] "+r"(*input),    \
                       [weights] "+r"(*weights)                                                                             \
                     : [words] "r"(words)                                                                                   \
                     : "t0", "t1", "t2", "t3", "t4", "memory")

#define LOAD_AND_UNPACK_4 P_LW_NEXT("t0", "%[weights]") P_LW_NEXT("t2", "%[weights]") P_LW_NEXT("t4", "%[input]") UNPACK_4
#define LOAD_AND_UNPACK_2 P_LW_NEXT("t3", "%[weights]") P_LW_NEXT("t4", "%[input]") UNPACK_2

static inline __attribute__((always_inline)) void dots_4(int32_t sum[4], const uint8_t **input, const uint8_t **weights,
                                                         uint32_t words, bool is_signed)
{
    if (is_signed) {
        DOTS(11, LOAD_AND_UNPACK_4, PV_SDOTSP_B);
    } else {
        DOTS(11, LOAD_AND_UNPACK_4, PV_SDOTUSP_B);
    }
}

static inline __attribute__((always_inline)) void dots_2(int32_t sum[4], const uint8_t **input, const uint8_t **weights,
                                                         uint32_t words, bool is_signed)
{
    if (is_signed) {
        DOTS(13, LOAD_AND_UNPACK_2, PV_SDOTSP_B);
    } else {
        DOTS(13, LOAD_AND_UNPACK_2, PV_SDOTUSP_B);
    }
}

#else

static inline void add_dots(int32_t sum[4], uint32_t x, const uint32_t word[4], bool is_signed)
{
    for (unsigned i = 0; i < 4; i++) {
        sum[i] = is_signed ? pv_sdotsp_b(sum[i], x, word[i]) : pv_sdotusp_b(sum[i], x, word[i]);
    }
}

static inline void dots_4(int32_t sum[4], const uint8_t **input, const uint8_t **weights, uint32_t words, bool is_signed)
{
    for (; words > 0; words--, *input += 4, *weights += 8) {
        uint32_t a = dory_load_word(*weights), b = dory_load_word(*weights + 4);
        const uint32_t word[4] = {a << 4 & 0xF0F0F0F0, a & 0xF0F0F0F0, b << 4 & 0xF0F0F0F0, b & 0xF0F0F0F0};
        add_dots(sum, dory_load_word(*input), word, is_signed);
    }
}

static inline void dots_2(int32_t sum[4], const uint8_t **input, const uint8_t **weights, uint32_t words, bool is_signed)
{
    for (; words > 0; words--, *input += 4, *weights += 4) {
        uint32_t a = dory_load_word(*weights);
        const uint32_t word[4] = {dory_signed_field_0_2(a), dory_signed_field_2_2(a), dory_signed_field_4_2(a),
                                  dory_signed_field_6_2(a)};
        add_dots(sum, dory_load_word(*input), word, is_signed);
    }
}

#endif

#define DEFINE_LINEAR(bits, scale_log2)                                                                                     \
    static inline __attribute__((always_inline)) void finish_##bits(                                                        \
        const struct dory_product *product, const int32_t sum[4], const uint8_t *constants, uint32_t pixel, uint32_t quad)  \
    {                                                                                                                       \
        int32_t kept[4] = {sum[0] >> (scale_log2), sum[1] >> (scale_log2), sum[2] >> (scale_log2), sum[3] >> (scale_log2)}; \
        dory_packed_finish(product, kept, constants, pixel, 1, quad);                                                       \
    }                                                                                                                       \
    void dory_xpulpv2_packed_linear_##bits(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core,     \
                                           unsigned cores)                                                                  \
    {                                                                                                                       \
        dory_linear_run(layer, tile, core, cores, DORY_NOT_DIRECT, dots_##bits, finish_##bits);                             \
    }

DEFINE_LINEAR(4, 4)
DEFINE_LINEAR(2, 0)
