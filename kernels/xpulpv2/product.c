#include "product.h"

#include "normalise.h"

void dory_product_start(struct dory_product *product, const struct dory_layer *layer, const struct dory_tile *tile,
                        uint32_t run_bytes, uint32_t runs, uint32_t jump)
{
    uint32_t words = (run_bytes + 3) / 4;
    product->blocks.words = words;
    product->blocks.more_words = words - 1;
    product->blocks.more_runs = runs - 1;
    product->blocks.jump = jump;
    product->blocks.channels = tile->channels;
    product->blocks.normaliser = dory_normaliser_of(layer);
    product->weights = tile->weights;
    product->output = tile->output;
    product->accumulators = tile->accumulators;
    product->input_is_signed = layer->input_is_signed;
    product->first_chunk = tile->first_chunk;
    product->last_chunk = tile->last_chunk;
    product->direct = product->first_chunk && product->last_chunk ? product->blocks.normaliser.direct : DORY_NOT_DIRECT;
    if (product->input_is_signed && product->direct != DORY_DIRECT) { /* not worth the code */
        product->direct = DORY_NOT_DIRECT;
    }
    product->constants_bytes = product->last_chunk ? dory_constants_bytes(layer) : 0;
    product->quad_bytes = runs * words * 16 + product->constants_bytes;
    product->quads = (tile->channels + 3u) / 4;
    product->pixel_count = (uint32_t)tile->rows * tile->columns;
}

#if defined(DORY_XPULPV2)

/* Register    Use
 * a0, a1      input and weights, moving
 * a3 - a5     offsets of the pixels 1 to 3
 * t0 - t3     weights of four channels; then multiplier, addend, shift and clip bound
 * t4, t5      input of two pixels in turn; then counters, output and its stride
 * the others  the sums; s0 is left to the compiler, for the address of struct dory_blocks */
#define SUM0  "s1"
#define SUM1  "s2"
#define SUM2  "s3"
#define SUM3  "s4"
#define SUM4  "s5"
#define SUM5  "s6"
#define SUM6  "s7"
#define SUM7  "s8"
#define SUM8  "s9"
#define SUM9  "s10"
#define SUM10 "s11"
#define SUM11 "a2"
#define SUM12 "a6"
#define SUM13 "a7"
#define SUM14 "t6"
#define SUM15 "ra"

/* 4 bytes of each pixel by 4 bytes of each channel: 24 instructions. No result is used by the instruction behind it. */
#define STEP(dot, behind_use_of_t4, label_of_last)                                                                          \
    P_LW_NEXT("t0", "a1")                                                                                                   \
    P_LW_NEXT("t1", "a1")                                                                                                   \
    P_LW_NEXT("t2", "a1")                                                                                                   \
    P_LW_NEXT("t3", "a1")                                                                                                   \
    P_LW_NEXT("t4", "a0")                                                                                                   \
    P_LW_AT("t5", "a3", "a0")                                                                                               \
    dot(SUM0, "t4", "t0") dot(SUM1, "t4", "t1") dot(SUM2, "t4", "t2") dot(SUM3, "t4", "t3") P_LW_AT("t4", "a4", "a0")       \
        dot(SUM4, "t5", "t0") dot(SUM5, "t5", "t1") dot(SUM6, "t5", "t2") dot(SUM7, "t5", "t3") P_LW_AT("t5", "a5", "a0")   \
            dot(SUM8, "t4", "t0") dot(SUM9, "t4", "t1") dot(SUM10, "t4", "t2") dot(SUM11, "t4", "t3") behind_use_of_t4      \
            dot(SUM12, "t5", "t0") dot(SUM13, "t5", "t1") dot(SUM14, "t5", "t2") label_of_last                              \
            dot(SUM15, "t5", "t3")

/* Four sums of one channel. In groups of four, because a product is not ready for the very next instruction. */
#define NORMALISE(a, b, c, d)                                                                                               \
    P_LW_NEXT("t0", "a1")                                                                                                   \
    P_LW_NEXT("t1", "a1")                                                                                                   \
    "mul " a ", " a ", t0\n"                                                                                                \
    "mul " b ", " b ", t0\n"                                                                                                \
    "mul " c ", " c ", t0\n"                                                                                                \
    "mul " d ", " d ", t0\n" P_ADDNR(a, "t1", "t2") P_ADDNR(b, "t1", "t2") P_ADDNR(c, "t1", "t2") P_ADDNR(d, "t1", "t2")    \
        P_CLIPUR(a, a, "t3") P_CLIPUR(b, b, "t3") P_CLIPUR(c, c, "t3") P_CLIPUR(d, d, "t3")

/* The clamped kinds; see direct.h. */
#define CLAMP(a, b, c, d)                                                                                                   \
    P_LW_NEXT("t0", "a1")                                                                                                   \
    P_LW_NEXT("t1", "a1")                                                                                                   \
    P_LW_NEXT("t3", "a1")                                                                                                   \
    P_LW_NEXT("t4", "a1")                                                                                                   \
    P_MAX(a, a, "t0")                                                                                                       \
    P_MAX(b, b, "t0") P_MAX(c, c, "t0") P_MAX(d, d, "t0") P_MIN(a, a, "t1") P_MIN(b, b, "t1") P_MIN(c, c, "t1")             \
        P_MIN(d, d, "t1") "mul " a ", " a ", t3\n"                                                                          \
                          "mul " b ", " b ", t3\n"                                                                          \
                          "mul " c ", " c ", t3\n"                                                                          \
                          "mul " d ", " d ", t3\n"

#define NORMALISE_CLAMPED(a, b, c, d)                                                                                       \
    CLAMP(a, b, c, d)                                                                                                       \
    P_ADDUNR(a, "t4", "t2") P_ADDUNR(b, "t4", "t2") P_ADDUNR(c, "t4", "t2") P_ADDUNR(d, "t4", "t2")

#define NORMALISE_CLAMPED_LESS_ONE(a, b, c, d)                                                                              \
    CLAMP(a, b, c, d)                                                                                                       \
    "addi t4, t4, 1\n"                                                                                                      \
    "add " a ", " a ", t4\n"                                                                                                \
    "add " b ", " b ", t4\n"                                                                                                \
    "add " c ", " c ", t4\n"                                                                                                \
    "add " d ", " d ", t4\n"                                                                                                \
    "srl t0, " a ", t2\n"                                                                                                   \
    "srl t1, " b ", t2\n"                                                                                                   \
    "srl t3, " c ", t2\n"                                                                                                   \
    "srl t4, " d ", t2\n" P_ADDUNR(a, "t0", "t2") P_ADDUNR(b, "t1", "t2") P_ADDUNR(c, "t3", "t2") P_ADDUNR(d, "t4", "t2")

/* All 16 sums, a channel at a time. */
#define FOR_CHANNELS(normalise)                                                                                             \
    normalise(SUM0, SUM4, SUM8, SUM12) normalise(SUM1, SUM5, SUM9, SUM13) normalise(SUM2, SUM6, SUM10, SUM14)               \
        normalise(SUM3, SUM7, SUM11, SUM15)

/* From label 7 on, for t5 = direct - 1; the sums then go to label 10. */
#define CLAMPED_KINDS                                                                                                       \
    "addi t5, t5, -1\n"                                                                                                     \
    "bnez t5, 11f\n" FOR_CHANNELS(NORMALISE_CLAMPED) "j 10b\n"                                                              \
                                                     "11:\n" FOR_CHANNELS(NORMALISE_CLAMPED_LESS_ONE) "j 10b\n"

/* Four channels of one pixel into a word; the address moves on to the next pixel. */
#define STORE(a, b, c, d) PV_PACKLO_B(a, b, a) PV_PACKHI_B(a, d, c) P_SW_STEP(a, "t5", "t4")

#define KEEP(a, b, c, d, offset)                                                                                            \
    "sw " a ", " #offset "(t0)\n"                                                                                           \
    "sw " b ", " #offset " + 4(t0)\n"                                                                                       \
    "sw " c ", " #offset " + 8(t0)\n"                                                                                       \
    "sw " d ", " #offset " + 12(t0)\n"

/* The first step of a block sets the sums, which saves 16 instructions that would clear them. The words of a run are
 * counted by the inner hardware loop, the runs behind the first by the outer one; a loop of no rounds is not
 * allowed and jumped over. A block of one run takes 24 * words + 84 cycles. */
#define MULTIPLY(blocks, set, add, clamped_kinds)                                                                           \
    __asm__ volatile(                                                                                                       \
        ".option push\n"                                                                                                    \
        ".balign 4\n"                                                                                                       \
        ".option norvc\n"                                                                                                   \
        "lw a1, %[weights]\n"                                                                                               \
        "lw a3, %[offset1]\n"                                                                                               \
        "lw a4, %[offset2]\n"                                                                                               \
        "lw a5, %[offset3]\n"                                                                                               \
        "0: lw a0, %[input]\n" STEP(set, "lw t4, %[more_words]\n", "") "beqz t4, 2f\n" LP_SETUP("x0", "t4", 24, "1") STEP(  \
            add, "", "1: ") "2: lw t5, %[special]\n"                                                                        \
                            "lw t2, %[shift]\n"                                                                             \
                            "lw t3, %[maximum]\n"                                                                           \
                            "bnez t5, 4f\n"                                                                                 \
                            "3:\n" FOR_CHANNELS(                                                                            \
                                NORMALISE) "10: lw t4, %[output]\n"                                                         \
                                           "lw t5, %[channels]\n"                                                           \
                                           "lw t1, %[weights_end]\n"                                                        \
                                           "addi t0, t4, 4\n"                                                               \
                                           "sw t0, %[output]\n" STORE(SUM0, SUM1, SUM2, SUM3) STORE(SUM4, SUM5, SUM6, SUM7) \
                                               STORE(SUM8, SUM9, SUM10, SUM11) STORE(                                       \
                                                   SUM12, SUM13, SUM14,                                                     \
                                                   SUM15) "bne a1, t1, 0b\n"                                                \
                                                          "j 9f\n"                                                          \
                                                          "4: lw t5, %[more_runs]\n"                                        \
                                                          "nop\n"                                                           \
                                                          "beqz t5, 7f\n" LP_SETUP(                                         \
                                                              "x1", "t5", 29,                                               \
                                                              "6") "lw t4, %[words]\n"                                      \
                                                                   "lw t5, %[jump]\n"                                       \
                                                                   "nop\n"                                                  \
                                                                   "add a0, a0, t5\n" LP_SETUP("x0", "t4", 24, "5") STEP(   \
                                                                       add, "",                                             \
                                                                       "5: ") "6: nop\n"                                    \
                                                                              "7: lw t4, %[direct]\n"                       \
                                                                              "lw t2, %[shift]\n"                           \
                                                                              "lw t3, %[maximum]\n"                         \
                                                                              "addi t5, t4, -1\n"                           \
                                                                              "beqz t4, 8f\n"                               \
                                                                              "beqz t5, 3b\n" clamped_kinds                 \
                                                                              "8: lw t0, %[sum]\n"                          \
                                                                              "nop\n" KEEP(SUM0, SUM1, SUM2, SUM3, 0)       \
                                                                                  KEEP(SUM4, SUM5, SUM6, SUM7, 16)          \
                                                                                      KEEP(SUM8, SUM9, SUM10, SUM11, 32)    \
                                                                                          KEEP(SUM12, SUM13, SUM14, SUM15,  \
                                                                                               48) "9: sw a1, %[weights]\n" \
                                                                                                   ".option pop\n"          \
        : [weights] "+m"((blocks)->weights), [output] "+m"((blocks)->output)                                                \
        : [input] "m"((blocks)->pixels.input), [offset1] "m"((blocks)->pixels.offset[0]),                                   \
          [offset2] "m"((blocks)->pixels.offset[1]), [offset3] "m"((blocks)->pixels.offset[2]),                             \
          [words] "m"((blocks)->words), [more_words] "m"((blocks)->more_words), [more_runs] "m"((blocks)->more_runs),       \
          [jump] "m"((blocks)->jump), [weights_end] "m"((blocks)->weights_end), [special] "m"((blocks)->special),           \
          [direct] "m"((blocks)->direct), [shift] "m"((blocks)->normaliser.direct_shift),                                   \
          [maximum] "m"((blocks)->normaliser.maximum), [channels] "m"((blocks)->channels), [sum] "m"((blocks)->sum)         \
        : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s1", "s2", "s3", \
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "memory")

static inline __attribute__((always_inline)) void multiply(struct dory_blocks *blocks, bool is_signed)
{
    if (is_signed) {
        MULTIPLY(blocks, PV_DOTSP_B, PV_SDOTSP_B, "");
    } else {
        MULTIPLY(blocks, PV_DOTUSP_B, PV_SDOTUSP_B, CLAMPED_KINDS);
    }
}

#else

static void multiply_step(int32_t sum[16], const uint8_t *const pixel[4], const uint8_t *weights, bool is_signed)
{
    for (unsigned i = 0; i < 16; i++) {
        uint32_t x = dory_load_word(pixel[i / 4]), w = dory_load_word(weights + 4 * (i % 4));
        sum[i] = is_signed ? pv_sdotsp_b(sum[i], x, w) : pv_sdotusp_b(sum[i], x, w);
    }
}

static void multiply_block(struct dory_blocks *blocks, bool is_signed)
{
    const uint8_t *input = blocks->pixels.input;
    memset(blocks->sum, 0, 16 * sizeof *blocks->sum);
    for (uint32_t run = 0; run <= blocks->more_runs; run++) {
        for (uint32_t word = 0; word < blocks->words; word++) {
            const uint8_t *next = input + 4, *pixel[4] = {input};
            for (unsigned p = 1; p < 4; p++) {
                pixel[p] = next + blocks->pixels.offset[p - 1];
            }
            multiply_step(blocks->sum, pixel, blocks->weights, is_signed);
            input = next;
            blocks->weights += 16;
        }
        input += blocks->jump;
    }
}

static void store_block(struct dory_blocks *blocks)
{
    int32_t *sum = blocks->sum;
    for (unsigned lane = 0; lane < 4; lane++, blocks->weights += dory_direct_constants_bytes(&blocks->normaliser)) {
        if (blocks->direct == DORY_DIRECT) {
            dory_normalise_directly(&blocks->normaliser, sum + lane, 4, blocks->weights);
        } else {
            dory_normalise_clamped_directly(&blocks->normaliser, sum + lane, 4, blocks->weights);
        }
    }
    for (unsigned p = 0; p < 4; p++, sum += 4) {
        dory_store_word(blocks->output + p * blocks->channels, dory_pack_bytes(sum));
    }
    blocks->output += 4;
}

static void multiply(struct dory_blocks *blocks, bool is_signed)
{
    do {
        multiply_block(blocks, is_signed);
        if (!blocks->direct) {
            return;
        }
        store_block(blocks);
    } while (blocks->weights != blocks->weights_end);
}

#endif

/* Sums of earlier chunks of input channels. */
static void add_partial_sums(int32_t sum[16], const int32_t *partial, uint32_t stride, uint32_t pixels)
{
    for (uint32_t p = 0; p < pixels; p++, sum += 4, partial += stride) {
        sum[0] += partial[0];
        sum[1] += partial[1];
        sum[2] += partial[2];
        sum[3] += partial[3];
    }
}

static void keep_partial_sums(const int32_t sum[16], int32_t *partial, uint32_t stride, uint32_t pixels)
{
    for (uint32_t p = 0; p < pixels; p++, sum += 4, partial += stride) {
        partial[0] = sum[0];
        partial[1] = sum[1];
        partial[2] = sum[2];
        partial[3] = sum[3];
    }
}

/* The way that takes every kind of normalisation, output and chunk. */
__attribute__((noinline)) void dory_product_finish(const struct dory_product *product, int32_t *sum,
                                                   const uint8_t *constants, uint32_t index, uint32_t pixels, uint32_t quad)
{
    const struct dory_blocks *blocks = &product->blocks;
    uint32_t lanes = dory_minimum(4, blocks->channels - 4 * quad), stride = 4 * product->quads;
    int32_t *partial = product->accumulators + index * stride + 4 * quad;
    if (!product->first_chunk) {
        add_partial_sums(sum, partial, stride, pixels);
    }
    if (!product->last_chunk) {
        keep_partial_sums(sum, partial, stride, pixels);
        return;
    }
    uint32_t bytes = blocks->normaliser.output_bytes;
    uint8_t *output = product->output + (index * blocks->channels + 4 * quad) * bytes;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        if (blocks->normaliser.direct == DORY_DIRECT && pixels == 4) {
            dory_normalise_directly(&blocks->normaliser, sum + lane, 4, constants + 8 * lane);
        } else {
            dory_normalise_lane(&blocks->normaliser, constants, lane, sum + lane, 4, pixels);
        }
    }
    for (uint32_t p = 0; p < pixels; p++, sum += 4, output += blocks->channels * bytes) {
        dory_store_elements(output, sum, lanes, bytes);
    }
}

void dory_product_run(struct dory_product *product, struct dory_grid_share share, dory_pixel_source *source, void *state)
{
    struct dory_blocks *blocks = &product->blocks;
    int32_t sum[16];
    blocks->sum = sum;
    blocks->weights = product->weights + share.first * product->quad_bytes;
    while (share.items > 0) {
        uint32_t index = 4 * share.row, pixels = dory_minimum(4, product->pixel_count - index);
        uint32_t end = dory_grid_share_row_end(&share, product->quads);
        uint32_t direct_end = product->direct && pixels == 4 ? dory_minimum(blocks->channels / 4, end) : 0;
        source(state, &blocks->pixels, pixels);
        blocks->output = product->output + index * blocks->channels + 4 * share.first;
        for (uint32_t quad = share.first; quad < end;) {
            blocks->direct = quad < direct_end ? product->direct : DORY_NOT_DIRECT;
            blocks->special = blocks->direct != DORY_DIRECT || blocks->more_runs != 0;
            blocks->weights_end = blocks->weights + (direct_end - quad) * product->quad_bytes;
            multiply(blocks, product->input_is_signed);
            if (blocks->direct) {
                quad = direct_end;
            } else {
                dory_product_finish(product, sum, blocks->weights, index, pixels, quad++);
                blocks->weights += product->constants_bytes;
            }
        }
        blocks->weights = product->weights;
        dory_grid_share_next_row(&share, end);
    }
}
