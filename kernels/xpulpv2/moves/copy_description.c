/* What the planner knows of the kernels that copy bytes, or write constant ones. */
#include "../description.h"

#include "copy_run.h"

static bool copy_supports(const struct dory_layer *layer)
{
    return layer->operation == DORY_COPY && layer->input_bits == 8 && layer->output_bits == 8;
}

/* Of four pixels so many bytes apart, how many do not start at a word. */
static uint32_t misaligned_of_four(uint32_t first, uint32_t step)
{
    uint32_t count = 0;
    for (uint32_t pixel = 0; pixel < 4; pixel++) {
        count += (first + pixel * step) % 4 != 0;
    }
    return count;
}

/* Cycles of a pixel's run, of pixels so many bytes apart, to a byte of the output's pixels: two words at a time, which take
 * longer where they lie across two, and bytes. */
uint64_t dory_run_cycles(uint32_t bytes, uint32_t step, uint32_t start, uint32_t output_step)
{
    uint32_t misaligned = misaligned_of_four(0, step) + misaligned_of_four(start, output_step);
    uint32_t pairs = bytes / 8, rest = bytes % 8;
    return bytes == 0 ? 0 : 20 + (rest ? rest * 7 - 4 : 0) + (pairs ? pairs * (96 + 7 * misaligned) / 10 - 8 : 0);
}

static uint32_t count_read(const int32_t *places, uint32_t count)
{
    uint32_t read = 0;
    for (uint32_t i = 0; i < count; i++) {
        read += places[i] >= 0;
    }
    return read;
}

/* Of a core's pixels those that the map takes from the input. The others are its border: between pixels that are spread for
 * a transposed convolution, three of four. */
static uint64_t pixels_read(const struct dory_layer *layer, uint64_t pixels)
{
    const int32_t *map = layer->constants.map;
    uint64_t rows = count_read(map, layer->output_height),
             columns = count_read(map + layer->output_height, layer->output_width);
    return pixels * rows * columns / ((uint64_t)layer->output_height * layer->output_width);
}

/* By a map, which lies in L2: of a pixel's channels first ones are a run, and others are picked one by one. Their places
 * are read once. */
static uint64_t mapped_cycles(const struct dory_layer *layer, uint32_t pixels, uint32_t channels, unsigned cores)
{
    uint32_t length = dory_joined_length(pixels, channels, cores), parts = dory_divide_up(channels, length);
    uint32_t run = dory_minimum(layer->map_channels.run, channels);
    run = run < DORY_LEAST_RUN ? 0 : run;
    uint32_t picked = channels - run, pieces = dory_divide_up(picked, DORY_PICKED_AT_ONCE);
    uint64_t items = dory_divide_up(pixels * parts, cores), read = pixels_read(layer, items);
    uint64_t one = dory_run_cycles(run, layer->input_channels, 0, channels) + picked * 3 + pieces * 22;
    return (read * one + (items - read) * channels) / parts + items * (run ? 16 : 0) + picked * 18 / parts + 330;
}

static uint64_t copy_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint32_t all = (uint32_t)tile->rows * tile->columns, pixels = dory_divide_up(all, cores), channels = tile->channels,
             step = layer->input_channels * layer->stride_width;
    if (dory_copies_all(layer, channels)) {
        return dory_divide_up(all * channels, 8 * cores) * 10ull + 150;
    }
    return layer->constants.map ? mapped_cycles(layer, all, channels, cores)
                                : (uint64_t)pixels * (dory_run_cycles(channels, step, 0, channels) + 1) + 290;
}

DORY_DESCRIBE(xpulpv2_copy, copy_supports, NULL, copy_cycles)

static bool constant_supports(const struct dory_layer *layer) { return layer->operation == DORY_CONSTANT; }

/* Eight bytes in ten cycles, and up to seven in five each. */
static uint64_t constant_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)layer;
    uint32_t bytes = 4 * dory_divide_up(dory_divide_up(tile->channels, 4), cores);
    return bytes / 8 * 10 + bytes % 8 * 5 + 100;
}

DORY_DESCRIBE(xpulpv2_constant, constant_supports, NULL, constant_cycles)
