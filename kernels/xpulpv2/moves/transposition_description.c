/* What the planner knows of transpositions. */
#include "../description.h"

#include "dory/transposition.h"

static bool transposition_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_TRANSPOSITION && layer->input_bits == 8 && layer->output_bits == 8;
}

/* Of a 4 x 4 block, 18 instructions; words that are not aligned take longer. */
static uint32_t block_tenths(uint32_t element_step, uint32_t line_step)
{
    return 190 + (element_step % 4 != 0 ? 80u : 0) + (line_step % 4 != 0 ? 40u : 0);
}

/* The output's dimension that lies along the input's channels is that of the lines, the other one counts matrices. */
static uint64_t matrices_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    const uint32_t sizes[3] = {tile->rows, tile->columns, tile->channels},
                   steps[2] = {(uint32_t)tile->columns * tile->channels, tile->channels};
    uint32_t line = dory_axis(layer, 2), lines = sizes[line], count = sizes[1 - line], elements = tile->channels;
    uint32_t columns = sizes[dory_axis(layer, 1)], channels = sizes[dory_axis(layer, 2)];
    uint32_t element_step = dory_axis(layer, 1) == 2 ? channels : columns * channels;
    if (lines < 4 || elements < 4) {
        uint32_t most = lines < 4 ? elements : lines, least = lines < 4 ? lines : elements;
        return (uint64_t)count * least * (dory_divide_up(most, cores) * 27 / 10 + 45) + 150;
    }
    uint64_t blocks = (uint64_t)count * dory_divide_up(lines, 4) * dory_divide_up(elements, 4);
    uint64_t share = (blocks + cores - 1) / cores, calls = share / dory_divide_up(elements, 4) + 1;
    return share * block_tenths(element_step, steps[line]) / 10 + calls * (elements % 4 != 0 ? 80 : 55) + 200;
}

static uint64_t transposition_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    if (dory_axis(layer, 2) != 2) {
        return matrices_cycles(layer, tile, cores);
    }
    uint64_t pixels = ((uint64_t)tile->rows * tile->columns + cores - 1) / cores;
    return pixels * dory_run_cycles(tile->channels, tile->channels, 0, tile->channels) + 200;
}

DORY_DESCRIBE(xpulpv2_transposition, transposition_supports, NULL, transposition_cycles)
