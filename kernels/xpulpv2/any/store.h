/* From sums to elements of any bits, and to where they belong.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_STORE_H
#define DORY_XPULPV2_STORE_H

#include "../product.h"
#include "../scratch.h"

/* Up to 4 pixels from output pixel `index` on, in the order [pixel][lane], of a quad of channels. */
void dory_store_any(const struct dory_product *product, const int32_t element[16], uint32_t index, uint32_t pixels,
                    uint32_t quad);

#if defined(DORY_XPULPV2)

#define DORY_STORE_LANE(store)                                                                                              \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[count]", 2, "1")                                                   \
                         P_LW_STEP("t0", "%[next]", "%[element]") "1: " store("t0", "%[step]", "%[output]") ".option pop\n" \
                     : [element] "+r"(element), [output] "+r"(output)                                                       \
                     : [count] "r"(count), [next] "r"(4 * next), [step] "r"(step)                                           \
                     : "t0", "memory")

/* `count` elements of a channel, at least one, so many words apart, to so many bytes apart. */
static inline void dory_store_lane(uint8_t *output, uint32_t step, const int32_t *element, uint32_t next, uint32_t count,
                                   uint32_t bytes)
{
    if (bytes == 1) {
        DORY_STORE_LANE(P_SB_STEP);
    } else if (bytes == 2) {
        DORY_STORE_LANE(P_SH_STEP);
    } else {
        DORY_STORE_LANE(P_SW_STEP);
    }
}

#else

static inline void dory_store_lane(uint8_t *output, uint32_t step, const int32_t *element, uint32_t next, uint32_t count,
                                   uint32_t bytes)
{
    for (; count > 0; count--, element += next, output += step) {
        dory_store_element(output, *element, bytes);
    }
}

#endif

/* Elements of fewer bits than a byte has, four pixels of four channels at a time. */
static inline void dory_store_packed(const struct dory_product *product, const int32_t *element, uint32_t lane_step,
                                     uint32_t pixel_step, uint32_t index, uint32_t pixels, uint32_t quad)
{
    for (uint32_t first = 0; first < pixels; first += 4) {
        int32_t block[16];
        for (uint32_t i = 0; i < 16; i++) {
            block[i] = element[i % 4 * lane_step + (first + i / 4) * pixel_step];
        }
        dory_store_any(product, block, index + first, dory_minimum(4, pixels - first), quad);
    }
}

/* From sums that no earlier chunk has a part of to elements where they belong. They are so many words apart; of a channel,
 * constants are loaded once. `constants` are the quad's. In line, for both steps are constants. */
static inline void dory_finish_sums(const struct dory_product *product, int32_t *sum, uint32_t lane_step,
                                    uint32_t pixel_step, const uint8_t *constants, uint32_t index, uint32_t pixels,
                                    uint32_t quad)
{
    uint32_t channels = product->blocks.channels, bytes = product->output_bits / 8;
    uint32_t lanes = dory_minimum(4, channels - 4 * quad), count = bytes != 0 ? pixels : dory_round_up(pixels, 4);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        int32_t *of_lane = sum + lane * lane_step;
        dory_normalise_lane(&product->blocks.normaliser, constants, lane, of_lane, pixel_step, count);
        if (bytes != 0) {
            uint8_t *output = product->output + (index * channels + 4 * quad + lane) * bytes;
            dory_store_lane(output, channels * bytes, of_lane, pixel_step, pixels, bytes);
        }
    }
    if (bytes == 0) {
        dory_store_packed(product, sum, lane_step, pixel_step, index, pixels, quad);
    }
}

#endif
