/* Weights in quads: how large they are, and the writer. */
#include "quads.h"
#include "dory/engine.h"

#include <string.h>

static uint8_t block_shift(const struct dory_layer *layer)
{
    (void)layer;
    return 2;
}

static uint32_t chunk_bytes(const struct dory_layer *layer, uint32_t input_channels)
{
    return layer->operation == DORY_CONVOLUTION ? dory_chunk_bytes(layer, input_channels)
           : layer->operation == DORY_CONSTANT  ? 4
                                                : dory_depthwise_quad_weight_bytes(layer);
}

static uint32_t constants_bytes(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONSTANT ? 0 : dory_constants_bytes(layer);
}

/* ---- the writer ---- */

struct writer {
    const struct dory_layer *layer;
    const struct dory_model_weights *model;
    uint8_t *next, *end;
};

static bool has_room(const struct writer *writer, uint32_t bytes) { return (size_t)(writer->end - writer->next) >= bytes; }

/* Some input channels of a convolution. */
struct chunk {
    uint32_t first_channel, channels;
};

/* Where the elements of a chunk come from, see quads.h: runs of so many elements, whole fours of all runs first, then
 * the rests of all runs; or runs that are filled up to whole fours, which then have no rest. */
struct runs {
    uint32_t count, elements, fours, rest;
};

static struct runs runs_of(const struct dory_layer *layer, const struct chunk *chunk)
{
    bool taps = dory_fills_taps(layer); /* each is a run */
    struct runs runs = {.count = taps ? layer->kernel_width : dory_runs(layer),
                        .elements = taps ? chunk->channels : dory_run_elements(layer, chunk->channels)};
    runs.rest = taps || layer->operation == DORY_GROUPED ? 0 : runs.elements % 4;
    runs.fours = dory_round_up(runs.elements - runs.rest, 4);
    return runs;
}

static int8_t chunk_weight(const struct writer *writer, const struct chunk *chunk, const struct runs *runs, uint32_t output,
                           uint32_t position)
{
    uint32_t whole = runs->count * runs->fours, run = runs->count, element = 0;
    if (position < whole) {
        run = position / runs->fours;
        element = position % runs->fours;
    } else if (runs->rest != 0) {
        run = (position - whole) / runs->rest;
        element = runs->fours + (position - whole) % runs->rest;
    }
    if (run >= runs->count || element >= runs->elements) {
        return 0; /* fills up */
    }
    uint32_t columns = runs->elements / chunk->channels;
    return dory_model_weight(writer->layer, writer->model, output, chunk->first_channel + element % chunk->channels,
                             run * columns + element / chunk->channels);
}

/* A word with 4 elements of as many outputs as go into a byte; element i is in byte i. */
static void write_word(struct writer *writer, const struct chunk *chunk, const struct runs *runs, uint32_t output,
                       uint32_t first)
{
    uint32_t bits = writer->layer->weight_bits, mask = (1u << bits) - 1;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t byte = 0;
        for (uint32_t bit = 0; bit < 8; bit += bits) {
            byte |= ((uint32_t)chunk_weight(writer, chunk, runs, output + bit / bits, first + i) & mask) << bit;
        }
        *writer->next++ = (uint8_t)byte;
    }
}

static bool write_chunk(struct writer *writer, uint32_t quad, const struct chunk *chunk)
{
    const struct dory_layer *layer = writer->layer;
    struct runs runs = runs_of(layer, chunk);
    uint32_t elements = dory_chunk_elements(layer, chunk->channels), lanes = dory_lanes(layer);
    if (!has_room(writer, dory_chunk_bytes(layer, chunk->channels))) {
        return false;
    }
    for (uint32_t first = 0; first < elements; first += 4) {
        for (uint32_t lane = 0; lane < lanes; lane += 8u / layer->weight_bits) {
            write_word(writer, chunk, &runs, 4 * quad + lane, first);
        }
    }
    return true;
}

static bool write_convolution(struct writer *writer, uint32_t quad)
{
    uint32_t all = writer->layer->input_channels;
    uint32_t slice = writer->layer->tile.input_channels ? writer->layer->tile.input_channels : all;
    bool good = true;
    for (uint32_t first = 0; first < all && good; first += slice) {
        good = write_chunk(writer, quad, &(struct chunk){first, dory_minimum(slice, all - first)});
    }
    return good;
}

static bool write_grouped(struct writer *writer, uint32_t quad)
{
    const struct dory_layer *layer = writer->layer;
    return write_chunk(writer, quad, &(struct chunk){dory_window_start(layer, quad), dory_window_channels(layer)});
}

/* Of each output, each row of the kernel filled up to whole words. */
static bool write_depthwise(struct writer *writer, uint32_t quad)
{
    const struct dory_layer *layer = writer->layer;
    uint32_t columns = layer->kernel_width, row_bytes = dory_round_up(columns, 4);
    if (!has_room(writer, dory_depthwise_quad_weight_bytes(layer))) {
        return false;
    }
    for (uint32_t output = 4 * quad; output < 4 * quad + 4; output++) {
        for (uint32_t row = 0; row < layer->kernel_height; row++) {
            for (uint32_t column = 0; column < row_bytes; column++) {
                int8_t weight =
                    column < columns ? dory_model_weight(layer, writer->model, output, 0, row * columns + column) : 0;
                *writer->next++ = (uint8_t)weight;
            }
        }
    }
    return true;
}

/* The elements themselves. */
static bool write_elements(struct writer *writer, uint32_t quad)
{
    uint32_t first = 4 * quad, there = dory_minimum(4, writer->layer->output_channels - first);
    if (!has_room(writer, 4)) {
        return false;
    }
    memset(writer->next, 0, 4);
    memcpy(writer->next, writer->model->weights + first, there);
    writer->next += 4;
    return true;
}

static bool write_weights(struct writer *writer, uint32_t quad)
{
    return writer->layer->operation == DORY_DEPTHWISE ? write_depthwise(writer, quad)
           : writer->layer->operation == DORY_GROUPED ? write_grouped(writer, quad)
                                                      : write_convolution(writer, quad);
}

static bool write_quad_constants(struct writer *writer, uint32_t quad)
{
    const struct dory_layer *layer = writer->layer;
    bool fit = has_room(writer, dory_constants_bytes(layer));
    for (uint32_t output = 4 * quad; output < 4 * quad + dory_lanes(layer) && fit; output++) {
        bool is_there = output < layer->output_channels;
        fit = dory_write_constants(layer, is_there ? &writer->model->constants[output] : 0, writer->next);
        writer->next += dory_channel_constants_bytes(layer);
    }
    return fit;
}

static bool write_quads(const struct dory_layer *layer, const struct dory_model_weights *model, uint8_t *to, uint32_t bytes)
{
    struct writer writer = {layer, model, to, to + bytes};
    bool good = true;
    for (uint32_t quad = 0; quad < dory_divide_up(layer->output_channels, 4) && good; quad++) {
        good = layer->operation == DORY_CONSTANT ? write_elements(&writer, quad)
                                                 : write_weights(&writer, quad) && write_quad_constants(&writer, quad);
    }
    return good && writer.next == writer.end;
}

const struct dory_weights_format dory_quads = {
    .name = "quads",
    .block_shift = block_shift,
    .chunk_bytes = chunk_bytes,
    .constants_bytes = constants_bytes,
    .write = write_quads,
};
