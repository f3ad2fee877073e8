/* L1 bytes of a tile's operands: what the tile loop lays out and the planner adds up. */
#include "dory/contract.h"

/* Rows of border above and below, one at most: they are laid over rows of the next plane, which the tile loop reads with
 * those of a plane, and of which there must be as many (tile_copies.c). */
static bool has_thin_border(const struct dory_layer *layer)
{
    uint32_t rows = dory_input_rows(layer, layer->output_height);
    return layer->input_height >= 2 && layer->padding_top >= 0 && layer->padding_top <= 1 &&
           rows <= (uint32_t)layer->padding_top + layer->input_height + 1u;
}

bool dory_kernel_supports(const struct dory_kernel_description *kernel, const struct dory_layer *layer)
{
    bool writes = layer->output_layout == DORY_HWC || (kernel->writes_chw && layer->output_bits == 8);
    bool reads =
        kernel->reads_chw ? layer->input_layout == DORY_CHW && has_thin_border(layer) : layer->input_layout == DORY_HWC;
    return reads && writes && (kernel->joins_rows || !dory_joins_rows(layer)) && kernel->supports(layer);
}

uint8_t dory_operands_in_place(const struct dory_l1_map *map)
{
    return (uint8_t)((dory_is_in_place(map->input) ? DORY_INPUTS_IN_PLACE : 0) |
                     (dory_is_in_place(map->weights) ? DORY_WEIGHTS_IN_PLACE : 0) |
                     (dory_is_in_place(map->output) ? DORY_OUTPUT_IN_PLACE : 0));
}

uint32_t dory_input_tile_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned input)
{
    if (layer->operation == DORY_TRANSPOSITION) {
        return dory_output_tile_bytes(layer, tile);
    }
    uint32_t rows = dory_input_rows(layer, tile->rows);
    uint32_t columns = dory_input_extent(tile->columns, layer->kernel_width, layer->stride_width, layer->dilation_width);
    uint32_t channels = layer->operation == DORY_CONVOLUTION ? tile->input_channels
                        : dory_reads_all_channels(layer)     ? dory_input_channels(layer, input)
                        : dory_repeats_channel(layer, input) ? 1
                                                             : tile->channels;
    if (layer->input_layout == DORY_CHW) {
        columns = layer->input_width;
    }
    if (input == 1 && (layer->second_repeats & DORY_REPEATS_PIXEL)) {
        rows = columns = 1;
    }
    if (input == 1 && layer->operation == DORY_MATRIX_PRODUCT) {
        rows = dory_second_rows(layer, rows);
        columns = tile->channels;
    }
    return rows * columns * dory_element_bytes(channels, input ? layer->second_input_bits : layer->input_bits);
}

uint32_t dory_output_tile_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    uint32_t gaps = tile->rows > 0 ? (tile->rows - 1u) * dory_output_gap(layer) : 0;
    return ((uint32_t)tile->rows * tile->columns + gaps) * dory_element_bytes(tile->channels, layer->output_bits);
}

uint32_t dory_accumulator_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile)
{
    bool tiled = layer->operation == DORY_CONVOLUTION && tile->input_channels < layer->input_channels;
    return tiled ? (uint32_t)tile->rows * tile->columns * dory_round_up(tile->channels, dory_block_channels(layer)) *
                       (uint32_t)sizeof(int32_t)
                 : 0;
}
