/* The product's loops over pixels and channels, for innermost code of any kind; see product.h.
 * Words: docs/glossary.md. */
#ifndef DORY_XPULPV2_PRODUCT_RUN_H
#define DORY_XPULPV2_PRODUCT_RUN_H

#include "product.h"

/* The innermost code: blocks up to weights_end where blocks->direct is set, else the sums of one. */
typedef void dory_product_multiply(struct dory_blocks *blocks, bool is_signed);

/* The same for one block of fewer than four channels. */
typedef void dory_product_multiply_part(struct dory_blocks *blocks);

/* What follows the innermost code for the sums of one block; as dory_product_finish. */
typedef void dory_product_finisher(const struct dory_product *product, int32_t *sum, const uint8_t *constants,
                                   uint32_t index, uint32_t pixels, uint32_t quad);

/* What follows it for elements below 8 bits, which come as 4 bytes of 4 pixels. */
typedef void dory_product_packer(const struct dory_product *product, const uint32_t word[4], uint32_t index, uint32_t quad);

/* Elements of a block of which some pixels or channels do not exist: 4 bytes of 4 pixels. */
void dory_product_store_part(const struct dory_product *product, const uint32_t word[4], uint32_t index, uint32_t pixels,
                             uint32_t quad);

/* Takes the rows of pixel quads off the share that follow one of which all quads are direct, and are so themselves: only
 * their pixels and the place of their output differ. Returns how many. */
static inline uint32_t dory_product_rows_alike(const struct dory_product *product, struct dory_grid_share *share,
                                               uint32_t whole_end)
{
    uint32_t quads = product->quads, rows = 0, whole_rows = product->pixel_count / 4;
    if (share->first == 0 && whole_end == quads) {
        while (share->items >= 2 * quads && share->row + 1 < whole_rows) {
            share->items -= quads;
            share->row++;
            rows++;
        }
    }
    return rows;
}

static inline void dory_product_start_part(struct dory_product *product)
{
    struct dory_blocks *blocks = &product->blocks;
    int32_t lane_step = (int32_t)product->channel_step, pixel_step = (int32_t)product->pixel_step;
    uint32_t lanes = blocks->channels % 4;
    blocks->part.lanes = lanes;
    blocks->part.lane_step = lane_step;
    blocks->part.pixel_step = pixel_step - (int32_t)(lanes - 1) * lane_step;
}

/* `multiply_part` is null where there is none, or all quads have four channels. `pack` is null where all elements are bytes
 * or words, else it is called where `packs`. */
static inline __attribute__((always_inline)) void
dory_product_run_with(struct dory_product *product, struct dory_grid_share share, dory_pixel_source *source, void *state,
                      dory_product_multiply *multiply, dory_product_multiply_part *multiply_part,
                      dory_product_finisher *finish, dory_product_packer *pack)
{
    bool packs = pack && product->output_bits < 8;
    struct dory_blocks *blocks = &product->blocks;
    uint32_t start = product->writes_chw ? 3 * product->channel_step : 0;
    int32_t output_step = blocks->output_step;
    int32_t sum[16];
    uint32_t word[4];
    blocks->sum = sum;
    blocks->weights = product->weights + share.first * product->quad_bytes;
    blocks->direct = product->direct;
    if (multiply_part) {
        dory_product_start_part(product);
    }
    blocks->special = blocks->direct == DORY_NOT_DIRECT || blocks->more_runs != 0;
    uint32_t first_row = DORY_STEPS_ONTO_OTHERS ? 0 : share.row + (share.first != 0);
    while (share.items > 0) {
        uint32_t index = 4 * share.row, pixels = dory_minimum(4, product->pixel_count - index), back = 0;
        if (pixels < 4 && product->direct && product->steps_back && share.row > first_row) {
            back = 4 - pixels;
            index -= back;
            pixels = 4;
        }
        uint32_t end = dory_grid_share_row_end(&share, product->quads);
        uint32_t whole_end = product->direct && pixels == 4 ? dory_minimum(blocks->channels / 4, end) : 0;
        uint32_t alike = packs ? 0 : dory_product_rows_alike(product, &share, whole_end);
        int32_t to_next_row = (int32_t)(4 * (product->pixel_step - product->quads * product->channel_step));
        source(state, &blocks->pixels, pixels, back);
        blocks->output = product->output + index * product->pixel_step + 4 * share.first * product->channel_step + start;
        for (uint32_t quad = share.first; quad < end;) {
            bool whole = quad < whole_end, stays = whole && !packs; /* what does not stay is stored anew */
            if (multiply_part && !whole && pixels == 4) {
                blocks->part.output = product->output + index * product->pixel_step + 4 * quad * product->channel_step;
                multiply_part(blocks);
                quad++;
                continue;
            }
            uint32_t next = stays ? whole_end : quad + 1;
            if (packs) {
                blocks->direct = whole ? product->direct : DORY_NOT_DIRECT;
                blocks->special = blocks->direct == DORY_NOT_DIRECT || blocks->more_runs != 0;
            }
            blocks->weights_end = blocks->weights + (next - quad) * product->quad_bytes;
            if (!stays) {
                blocks->output = (uint8_t *)word;
                blocks->output_step = 4;
            }
            for (;;) {
                multiply(blocks, product->input_is_signed);
                if (alike == 0) {
                    break;
                }
                alike--;
                blocks->weights = product->weights;
                blocks->output += to_next_row;
                source(state, &blocks->pixels, 4, 0);
            }
            if (stays) {
                quad = next;
                continue;
            }
            blocks->output_step = output_step;
            if (blocks->direct == DORY_NOT_DIRECT) {
                finish(product, sum, blocks->weights, index, pixels, quad);
                blocks->weights += product->constants_bytes;
            } else if (packs) {
                pack(product, word, index, quad);
            } else {
                dory_product_store_part(product, word, index, pixels, quad);
            }
            quad = next;
        }
        blocks->weights = product->weights;
        dory_grid_share_next_row(&share, end);
    }
    blocks->sum = NULL; /* as what it pointed to ends here, and the product may go on */
}

#endif
