/* The product that convolutions of bytes come down to, for the requantisation that is a multiplication, an addition and a
 * shift of 32 bits (DORY_DIRECT); product_kinds.c has the others. See product.h, and product_block.h for the inner loop. */
#include "product.h"

#include "normalise.h"
#include "product_block.h"
#include "product_run.h"

void dory_product_start(struct dory_product *product, const struct dory_layer *layer, const struct dory_tile *tile,
                        enum dory_direct direct, uint32_t run_bytes, uint32_t runs, uint32_t jump)
{
    uint32_t words = (run_bytes + 3) / 4;
    product->blocks.words = words;
    product->blocks.more_words = words - 1;
    product->blocks.more_runs = runs - 1;
    product->blocks.jump = jump;
    product->blocks.channels = tile->channels;
    dory_start_normaliser_as(&product->blocks.normaliser, layer, direct);
    product->weights = tile->weights;
    product->output = tile->output;
    product->accumulators = tile->accumulators;
    product->input_is_signed = layer->input_is_signed;
    product->output_bits = layer->output_bits;
    product->output_pixel_bytes = dory_element_bytes(tile->channels, layer->output_bits);
    product->first_chunk = tile->first_chunk;
    product->last_chunk = tile->last_chunk;
    product->direct = product->first_chunk && product->last_chunk ? (int8_t)direct : DORY_NOT_DIRECT;
    /* all quads have four channels here: linear/few.h has the layers with fewer */
    product->constants_bytes = product->last_chunk ? 4 * dory_channel_constants_bytes(layer) : 0;
    product->quad_bytes = runs * words * 2 * layer->weight_bits + product->constants_bytes;
    product->quads = (tile->channels + 3u) / 4;
    product->pixel_count = (uint32_t)tile->rows * tile->columns;
    product->steps_back = false;
    product->writes_chw = layer->output_layout == DORY_CHW;
    product->pixel_step = product->writes_chw ? 1 : tile->channels;
    product->channel_step = product->writes_chw ? product->pixel_count : 1;
    product->blocks.output_step = product->writes_chw ? -(int32_t)product->channel_step : (int32_t)product->pixel_step;
}

#if defined(DORY_XPULPV2)

static inline __attribute__((always_inline)) void multiply(struct dory_blocks *blocks, bool is_signed)
{
    if (is_signed) {
        MULTIPLY(blocks, LOAD_BYTES, "", 24, PV_DOTSP_B, PV_SDOTSP_B, "", DIRECT, LOW);
    } else {
        MULTIPLY(blocks, LOAD_BYTES, "", 24, PV_DOTUSP_B, PV_SDOTUSP_B, "", DIRECT, LOW);
    }
}

#else

static void multiply(struct dory_blocks *blocks, bool is_signed) { dory_multiply(blocks, is_signed, dory_unpack_bytes, 16); }

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

__attribute__((noinline)) bool dory_product_normalise(const struct dory_product *product, int32_t *sum,
                                                      const uint8_t *constants, uint32_t index, uint32_t pixels,
                                                      uint32_t quad, dory_lane_normaliser *normalise)
{
    const struct dory_blocks *blocks = &product->blocks;
    uint32_t lanes = dory_minimum(4, blocks->channels - 4 * quad), stride = 4 * product->quads;
    int32_t *partial = product->accumulators + index * stride + 4 * quad;
    if (!product->first_chunk) {
        add_partial_sums(sum, partial, stride, pixels);
    }
    if (!product->last_chunk) {
        keep_partial_sums(sum, partial, stride, pixels);
        return false;
    }
    for (uint32_t lane = 0; lane < lanes; lane++) {
        if (blocks->normaliser.direct == DORY_DIRECT && pixels == 4) {
            dory_normalise_directly(&blocks->normaliser, sum + lane, 4, 4, constants + 8 * lane);
        } else {
            normalise(&blocks->normaliser, constants, lane, sum + lane, 4, pixels);
        }
    }
    return true;
}

__attribute__((noinline)) void dory_product_store(const struct dory_product *product, const int32_t *element, uint32_t index,
                                                  uint32_t pixels, uint32_t quad)
{
    const struct dory_blocks *blocks = &product->blocks;
    uint32_t lanes = dory_minimum(4, blocks->channels - 4 * quad), bytes = blocks->normaliser.output_bytes;
    uint8_t *output = product->output + (index * product->pixel_step + 4 * quad * product->channel_step) * bytes;
    for (uint32_t p = 0; p < pixels; p++, element += 4, output += product->pixel_step * bytes) {
        if (product->writes_chw) {
            for (uint32_t lane = 0; lane < lanes; lane++) {
                output[lane * product->channel_step] = (uint8_t)element[lane];
            }
        } else {
            dory_store_elements(output, element, lanes, bytes);
        }
    }
}

void dory_product_finish_by(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                            uint32_t pixels, uint32_t quad, dory_lane_normaliser *normalise)
{
    if (dory_product_normalise(product, sum, constants, index, pixels, quad, normalise)) {
        dory_product_store(product, sum, index, pixels, quad);
    }
}

void dory_product_finish(const struct dory_product *product, int32_t *sum, const uint8_t *constants, uint32_t index,
                         uint32_t pixels, uint32_t quad)
{
    dory_product_finish_by(product, sum, constants, index, pixels, quad, dory_normalise_lane);
}

__attribute__((noinline)) void dory_product_store_part(const struct dory_product *product, const uint32_t word[4],
                                                       uint32_t index, uint32_t pixels, uint32_t quad)
{
    uint32_t lanes = dory_minimum(4, product->blocks.channels - 4 * quad);
    uint32_t step = product->channel_step, pixel_step = product->pixel_step;
    uint8_t *output = product->output + index * pixel_step + 4 * quad * step;
    for (const uint32_t *end = word + pixels; word != end; output += pixel_step) {
        uint32_t left = *word++;
        output[0] = (uint8_t)left;
        if (lanes > 1) {
            output[step] = (uint8_t)(left >> 8);
        }
        if (lanes > 2) {
            output[2 * step] = (uint8_t)(left >> 16);
        }
        if (lanes > 3) {
            output[3 * step] = (uint8_t)(left >> 24);
        }
    }
}

void dory_product_run(struct dory_product *product, struct dory_grid_share share, dory_pixel_source *source, void *state)
{
    dory_product_run_with(product, share, source, state, multiply, NULL, dory_product_finish, NULL);
}
