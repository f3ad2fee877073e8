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
    const struct layer *layer;
    const struct dory_layer *record;
    const struct requantisation *requantisation;
    uint32_t group_channels, taps; /* of one output in the model */
    int8_t *lines, *run;           /* scratch: one chunk of a quad's outputs, one run of one of them */
};

/* Behind the last channel that a quad has in the blob, filled up or not. */
static uint32_t quad_end(const struct source *source, uint32_t quad) { return 4 * quad + dory_lanes(source->record); }

/* True where the firmware has the weights of an output with the other sign: see struct requantised_channel. */
static bool is_negated(const struct source *source, uint32_t output)
{
    return source->requantisation->channels[output].is_negated;
}

/* The weights of one output and some input channels at one tap, all as the firmware counts them: in a layer that reads its
 * whole input, whose channels are elements in HWC order, taps go on where channels end. Zero where the output is one that
 * fills up a quad, or a channel not of its group. */
static void gather(const struct source *source, uint32_t output, uint32_t first, uint32_t count, uint32_t tap, int8_t *to)
{
    const struct dory_layer *record = source->record;
    bool in_groups = record->operation == DORY_GROUPED;
    uint32_t channels = source->group_channels, inputs = in_groups ? channels : record->input_channels;
    uint32_t group = in_groups ? output / record->group_outputs * channels : 0;
    uint32_t start = first > group ? first : group, end = dory_minimum(first + count, group + inputs);
    memset(to, 0, count);
    if (output >= record->output_channels || start >= end)
        return;
    const int8_t *weights = source->layer->weights + (size_t)output * channels * source->taps;
    uint32_t taps = source->taps, at = (start - group) % channels * taps;
    bool negated = is_negated(source, output);
    tap += (start - group) / channels;
    for (uint32_t i = start - first; i < end - first; i++) {
        int8_t weight = weights[at + tap];
        to[i] = negated ? (int8_t)-weight : weight;
        at += taps;
        if (at < channels * taps)
            continue;
        at = 0;
        tap++;
    }
}

/* Some input channels of a convolution. */
struct chunk {
    uint32_t first_channel, channels;
};

/* The chunk's weights of one output: whole fours of all runs, the rests of all runs, zeros; or runs that are filled up. */
static void gather_chunk(const struct source *source, const struct chunk *chunk, uint32_t output, int8_t *line)
{
    bool taps = dory_fills_taps(source->record); /* each is a run */
    bool fills_runs = taps || source->record->operation == DORY_GROUPED;
    uint32_t runs = taps ? source->record->kernel_width : dory_runs(source->record);
    uint32_t elements = taps ? chunk->channels : dory_run_elements(source->record, chunk->channels);
    uint32_t rest = fills_runs ? 0 : elements % 4, fours = dory_round_up(elements - rest, 4),
             columns = elements / chunk->channels;
    memset(line, 0, dory_chunk_elements(source->record, chunk->channels));
    for (uint32_t run = 0; run < runs; run++) {
        for (uint32_t column = 0; column < columns; column++)
            gather(source, output, chunk->first_channel, chunk->channels, run * columns + column,
                   source->run + column * chunk->channels);
        memcpy(line + run * fours, source->run, elements - rest);
        memcpy(line + runs * fours + run * rest, source->run + fours, rest);
    }
}

/* A word with 4 elements of as many outputs as go into a byte; element i is in byte i. `line`: of the first of them. */
static void write_word(struct writer *writer, uint32_t bits, const int8_t *line, uint32_t elements)
{
    memcpy(writer->next, line, 4);
    for (uint32_t i = 0; i < 4 && bits < 8; i++) {
        uint32_t byte = 0, mask = (1u << bits) - 1;
        for (uint32_t bit = 0, at = i; bit < 8; bit += bits, at += elements)
            byte |= ((uint32_t)line[at] & mask) << bit;
        writer->next[i] = (uint8_t)byte;
    }
    writer->next += 4;
}

static void write_chunk(struct writer *writer, const struct source *source, uint32_t quad, const struct chunk *chunk)
{
    uint32_t elements = dory_chunk_elements(source->record, chunk->channels), bits = source->record->weight_bits;
    uint32_t lanes = dory_lanes(source->record);
    if ((size_t)(writer->end - writer->next) < dory_chunk_bytes(source->record, chunk->channels)) {
        writer->overflow = true;
        return;
    }
    for (uint32_t lane = 0; lane < lanes; lane++)
        gather_chunk(source, chunk, 4 * quad + lane, source->lines + (size_t)lane * elements);
    for (uint32_t first = 0; first < elements; first += 4)
        for (uint32_t lane = 0; lane < lanes; lane += 8 / bits)
            write_word(writer, bits, source->lines + (size_t)lane * elements + first, elements);
}

static void write_convolution_quad(struct writer *writer, const struct source *source, uint32_t quad)
{
    uint32_t all = source->record->input_channels;
    uint32_t slice = source->record->tile.input_channels ? source->record->tile.input_channels : all;
    for (uint32_t first = 0; first < all; first += slice)
        write_chunk(writer, source, quad, &(struct chunk){first, dory_minimum(slice, all - first)});
}

static void write_grouped_quad(struct writer *writer, const struct source *source, uint32_t quad)
{
    write_chunk(writer, source, quad,
                &(struct chunk){dory_window_start(source->record, quad), dory_window_channels(source->record)});
}

/* Of each output, each row of the kernel filled up to whole words. */
static void write_depthwise_quad(struct writer *writer, const struct source *source, uint32_t quad)
{
    uint32_t columns = source->record->kernel_width;
    for (uint32_t output = 4 * quad; output < 4 * quad + 4; output++)
        for (uint32_t tap = 0; tap < source->taps; tap++) {
            bool is_there = output < source->record->output_channels;
            int8_t weight = is_there ? source->layer->weights[output * source->taps + tap] : 0;
            write_bytes(writer, (uint8_t)(is_there && is_negated(source, output) ? -weight : weight), 1);
            if (tap % columns == columns - 1)
                write_bytes(writer, 0, dory_round_up(columns, 4) - columns);
        }
}

/* ---- normalisation constants ---- */

static bool fits(int64_t value, unsigned bytes) { return bytes == 8 || (value >= INT32_MIN && value <= INT32_MAX); }

/* False where a constant does not fit: requantise.c chooses the form, so that would be its fault. Those of the clamped form
 * and of the split one are modulo 2^32. */
static bool write_constants(struct writer *writer, const struct source *source, uint32_t output)
{
    static const struct requantised_channel none = {.words = {0}};
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

static struct source source_of(const struct plan *plan, int index, struct arena *scratch)
{
    const struct layer *layer = &plan->network->layers[index];
    const struct dory_layer *record = &plan->layers[index].record;
    struct source source = {
        .layer = layer,
        .record = record,
        .requantisation = plan->layers[index].requantisation,
        .group_channels = (uint32_t)(plan->network->tensors[layer->inputs[0]].channels / layer->groups),
        .taps = (uint32_t)layer->kernel_height * (uint32_t)layer->kernel_width,
    };
    bool in_groups = record->operation == DORY_GROUPED;
    size_t elements = dory_chunk_elements(record, in_groups ? dory_window_channels(record) : record->input_channels);
    source.lines = arena_array(scratch, int8_t, dory_lanes(record) * elements);
    source.run = arena_array(scratch, int8_t, elements);
    return source;
}

static void layout_layer(struct plan *plan, int index, struct diagnostics *diagnostics)
{
    const struct plan_layer *planned = &plan->layers[index];
    const struct layer *layer = &plan->network->layers[index];
    struct arena scratch = {0};
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
    struct source source = source_of(plan, index, &scratch);
    bool fit = write_blob(&writer, &source);
    arena_free(&scratch);
    if (!fit)
        diagnose(diagnostics, SEVERITY_ERROR, layer->name, NULL,
                 "a fault of dory: normalisation constants exceed their form");
    if (writer.overflow || writer.next != writer.end)
        diagnose(diagnostics, SEVERITY_ERROR, layer->name, NULL,
                 "a fault of dory: weights take other than the %u bytes planned", planned->weights_bytes);
}

static uint32_t little_endian_word(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Of little-endian words, whatever this machine's are; zeros fill the last one. */
static uint32_t hash_bytes(const uint8_t *bytes, size_t count)
{
    uint32_t hash = DORY_FLASH_HASH_START;
    size_t words = count / 4;
    uint8_t rest[4] = {0};
    for (size_t i = 0; i < words; i++)
        hash = dory_flash_hash_step(hash, little_endian_word(bytes + 4 * i));
    memcpy(rest, bytes + 4 * words, count % 4);
    return count % 4 ? dory_flash_hash_step(hash, little_endian_word(rest)) : hash;
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
