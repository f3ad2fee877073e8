/* Pass `layout`: the weights in the order in which the kernels read them (dory/layer.h, "weight blob"), and the flash
 * image that holds them.
 *
 * Every blob is written front to back into the place that the plan has for it; a blob that does not come out with exactly
 * the bytes that the plan counted is a fault of dory and is reported as one, since the firmware would read past it. */
#include "describe/requantise.h"
#include "emit/assemble.h"

#include <string.h>

/* ---- bytes, little endian ---- */

struct writer {
    uint8_t *next, *end;
    bool overflow;
};

static void write_bytes(struct writer *writer, uint64_t value, unsigned bytes)
{
    if ((size_t)(writer->end - writer->next) < bytes) {
        writer->overflow = true;
        return;
    }
    for (unsigned i = 0; i < bytes; i++)
        *writer->next++ = (uint8_t)(value >> (8 * i));
}

/* ---- weights ---- */

/* One layer's weights, as the model has them and as the firmware wants them. */
struct source {
    const struct network *network;
    const struct layer *layer;
    const struct dory_layer *record;
    const struct requantisation *requantisation;
    const struct tensor *input;
    bool reads_whole_input;
};

/* The weight of input channel `channel` at a position of the kernel, both as the firmware counts them; in groups, zero where
 * the output is not of the channel's group. */
static int8_t weight_at(const struct source *source, uint32_t output, uint32_t channel, uint32_t row, uint32_t column)
{
    uint32_t rows = (uint32_t)source->layer->kernel_height, columns = (uint32_t)source->layer->kernel_width;
    uint32_t channels = (uint32_t)(source->input->channels / source->layer->groups);
    if (output >= source->record->output_channels)
        return 0;                    /* the last quad is filled up */
    if (source->reads_whole_input) { /* the firmware's channels are elements in HWC order */
        row = channel / channels / columns;
        column = channel / channels % columns;
        channel %= channels;
    }
    if (source->record->operation == DORY_GROUPED) {
        channel -= output / source->record->group_outputs * channels; /* may wrap */
        if (channel >= channels)
            return 0;
    }
    return source->layer->weights[((output * channels + channel) * rows + row) * columns + column];
}

/* Contiguous weights, filled up with zeros to whole words: what the kernel reads beside one run of input bytes. */
struct run {
    uint32_t row, column;             /* of the kernel, at the run's start */
    uint32_t first_channel, channels; /* minor order */
    uint32_t columns;                 /* major order */
};

static uint32_t run_weight(const struct source *source, const struct run *run, uint32_t output, uint32_t element)
{
    uint32_t channel = run->first_channel + element % run->channels, column = run->column + element / run->channels;
    if (element >= run->columns * run->channels)
        return 0;
    return (uint32_t)weight_at(source, output, channel, run->row, column) & ((1u << source->record->weight_bits) - 1);
}

/* The 4 bytes of a run that start at element `first`; element i of a word is in bits i * weight_bits and up. */
static uint32_t run_word(const struct source *source, const struct run *run, uint32_t output, uint32_t first)
{
    uint32_t bits = source->record->weight_bits, word = 0;
    for (uint32_t i = 0; i < 32 / bits; i++)
        word |= run_weight(source, run, output, first + i) << (i * bits);
    return word;
}

/* Some input channels of a convolution. */
struct chunk {
    uint32_t first_channel, channels;
};

/* The weight at a position of a chunk: whole fours of all runs, the rests of all runs, zeros; or runs that are filled up. */
static uint32_t chunk_weight(const struct source *source, const struct chunk *chunk, uint32_t output, uint32_t position)
{
    bool taps = dory_fills_taps(source->record); /* each is a run */
    uint32_t runs = taps ? source->record->kernel_width : dory_runs(source->record);
    uint32_t elements = taps ? chunk->channels : dory_run_elements(source->record, chunk->channels);
    uint32_t rest = taps ? 0 : elements % 4, fours = dory_round_up(elements - rest, 4);
    uint32_t run_columns = runs / source->record->kernel_height;
    bool in_rests = position >= runs * fours;
    uint32_t length = in_rests ? rest : fours, place = in_rests ? position - runs * fours : position;
    if (length == 0 || place >= runs * length)
        return 0;
    struct run run = {.row = place / length / run_columns,
                      .column = place / length % run_columns,
                      .first_channel = chunk->first_channel,
                      .channels = chunk->channels,
                      .columns = elements / chunk->channels};
    return run_weight(source, &run, output, (in_rests ? fours : 0) + place % length);
}

/* A word with 4 elements of as many outputs as go into a byte; element i is in byte i. */
static uint32_t interleaved_word(const struct source *source, const struct chunk *chunk, uint32_t output, uint32_t first)
{
    uint32_t bits = source->record->weight_bits, word = 0;
    for (uint32_t bit = 0; bit < 32; bit += bits)
        word |= chunk_weight(source, chunk, output + bit % 8 / bits, first + bit / 8) << bit;
    return word;
}

/* Behind the last channel that a quad has in the blob, filled up or not. */
static uint32_t quad_end(const struct source *source, uint32_t quad) { return 4 * quad + dory_lanes(source->record); }

static void write_chunk(struct writer *writer, const struct source *source, uint32_t quad, const struct chunk *chunk)
{
    uint32_t elements = dory_chunk_elements(source->record, chunk->channels), outputs = 8u / source->record->weight_bits;
    for (uint32_t first = 0; first < elements; first += 4)
        for (uint32_t output = 4 * quad; output < quad_end(source, quad); output += outputs)
            write_bytes(writer, interleaved_word(source, chunk, output, first), 4);
}

static void write_convolution_quad(struct writer *writer, const struct source *source, uint32_t quad)
{
    uint32_t all = source->record->input_channels;
    uint32_t slice = source->record->tile_input_channels ? source->record->tile_input_channels : all;
    for (uint32_t first = 0; first < all; first += slice)
        write_chunk(writer, source, quad, &(struct chunk){first, dory_minimum(slice, all - first)});
}

static void write_grouped_quad(struct writer *writer, const struct source *source, uint32_t quad)
{
    write_chunk(writer, source, quad,
                &(struct chunk){dory_window_start(source->record, quad), dory_window_channels(source->record)});
}

static void write_depthwise_quad(struct writer *writer, const struct source *source, uint32_t quad)
{
    uint32_t columns = source->record->kernel_width;
    for (uint32_t output = 4 * quad; output < 4 * quad + 4; output++)
        for (uint32_t row = 0; row < source->record->kernel_height; row++)
            for (uint32_t first = 0; first < columns; first += 4) {
                struct run run = {.row = row, .channels = 1, .columns = columns};
                write_bytes(writer, run_word(source, &run, output, first), 4);
            }
}

/* ---- normalisation constants ---- */

static bool fits(int64_t value, unsigned bytes) { return bytes == 8 || (value >= INT32_MIN && value <= INT32_MAX); }

/* False where a constant does not fit: requantise.c chooses the form, so that would be its fault. Those of the clamped form
 * and of the split one are modulo 2^32. */
static bool write_constants(struct writer *writer, const struct source *source, uint32_t output)
{
    static const struct requantised_channel none = {{0}};
    bool is_there = output < source->record->output_channels;
    const struct requantised_channel *channel = is_there ? &source->requantisation->channels[output] : &none;
    uint8_t form = source->record->normalisation;
    unsigned bytes = form == DORY_NORMALISE_64 || form == DORY_NORMALISE_DIVIDE ? 8 : 4;
    unsigned count = dory_channel_constants_bytes(source->record) / bytes;
    bool fit = true;
    for (unsigned i = 0; i < count; i++) {
        write_bytes(writer, (uint64_t)channel->words[i], bytes);
        fit = fit && (fits(channel->words[i], bytes) || form == DORY_NORMALISE_CLAMPED || form == DORY_NORMALISE_SPLIT);
    }
    return fit;
}

/* ---- blob and image ---- */

static bool write_blob(struct writer *writer, const struct source *source)
{
    bool fit = true;
    for (uint32_t quad = 0; quad < dory_divide_up(source->record->output_channels, 4); quad++) {
        if (source->record->operation == DORY_DEPTHWISE)
            write_depthwise_quad(writer, source, quad);
        else if (source->record->operation == DORY_GROUPED)
            write_grouped_quad(writer, source, quad);
        else
            write_convolution_quad(writer, source, quad);
        for (uint32_t output = 4 * quad; output < quad_end(source, quad); output++)
            fit = write_constants(writer, source, output) && fit;
    }
    return fit;
}

static void layout_layer(struct plan *plan, int index, struct diagnostics *diagnostics)
{
    const struct plan_layer *planned = &plan->layers[index];
    const struct layer *layer = &plan->network->layers[index];
    if (planned->weights_bytes == 0)
        return;
    if (planned->weights_address < FLASH_HEADER_BYTES || planned->weights_address > plan->flash_bytes ||
        planned->weights_bytes > plan->flash_bytes - planned->weights_address) {
        diagnose(diagnostics, SEVERITY_ERROR, layer->name, NULL,
                 "a fault of dory: weights planned outside of the flash image");
        return;
    }
    uint8_t *start = plan->flash_image + planned->weights_address;
    struct writer writer = {.next = start, .end = start + planned->weights_bytes};
    struct source source = {.network = plan->network,
                            .layer = layer,
                            .record = &planned->record,
                            .requantisation = planned->requantisation,
                            .input = &plan->network->tensors[layer->inputs[0]],
                            .reads_whole_input = layer_reads_whole_input(plan->network, layer)};
    bool fit = write_blob(&writer, &source);
    if (!fit)
        diagnose(diagnostics, SEVERITY_ERROR, layer->name, NULL,
                 "a fault of dory: normalisation constants exceed their form");
    if (writer.overflow || writer.next != writer.end)
        diagnose(diagnostics, SEVERITY_ERROR, layer->name, NULL,
                 "a fault of dory: weights take other than the %u bytes planned", planned->weights_bytes);
}

/* Of little-endian words, whatever this machine's are; zeros fill the last one. */
static uint32_t hash_bytes(const uint8_t *bytes, size_t count)
{
    uint32_t hash = DORY_FLASH_HASH_START;
    for (size_t i = 0; i < count; i += 4) {
        uint32_t word = 0;
        for (size_t byte = 0; byte < 4 && i + byte < count; byte++)
            word |= (uint32_t)bytes[i + byte] << (8 * byte);
        hash = dory_flash_hash_step(hash, word);
    }
    return hash;
}

static void write_header(struct plan *plan)
{
    uint32_t hash = hash_bytes(plan->flash_image + FLASH_HEADER_BYTES, plan->flash_bytes - FLASH_HEADER_BYTES);
    struct writer writer = {.next = plan->flash_image, .end = plan->flash_image + FLASH_HEADER_BYTES};
    memcpy(writer.next, "DORY", 4);
    writer.next += 4;
    write_bytes(&writer, DORY_FLASH_VERSION, 4);
    write_bytes(&writer, plan->flash_bytes, 4);
    write_bytes(&writer, hash, 4);
}

bool layout_weights(struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    int errors = diagnostics->error_count;
    if (plan->flash_bytes < FLASH_HEADER_BYTES)
        plan->flash_bytes = FLASH_HEADER_BYTES;
    plan->flash_image = arena_allocate(arena, plan->flash_bytes);
    for (int i = 0; i < plan->network->layer_count; i++)
        layout_layer(plan, i, diagnostics);
    write_header(plan);
    return diagnostics->error_count == errors;
}
