/* Pass `check`: proves a plan anew, by plain arithmetic and without asking the planner.
 *
 * First everything that can be looked at on its own: shapes, tiles, L1 maps, blobs, addresses within bounds, buffers that
 * live together apart. Then, if all addresses are sound, check_memory.c plays the plan. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "dory/hal.h"
#include "placed_tile.h"
#include "plan/check_memory.h"

#define MOST_FAULTS 8

void check_fault(struct checker *checker, const char *format, ...)
{
    char text[400];
    va_list arguments;
    if (++checker->faults > MOST_FAULTS)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    diagnose(checker->diagnostics, SEVERITY_ERROR, NULL, NULL, "a fault of dory, please report it: the plan is wrong: %s",
             text);
}

static const char *layer_name(const struct checker *c, int layer) { return c->plan->network->layers[layer].name; }

/* ---- tiles and L1 ---- */

static void check_tile(struct checker *c, int index)
{
    const struct dory_layer *run = &c->plan->layers[index].run;
    bool tiles = run->tile_rows > 0 && run->tile_columns > 0 && run->tile_channels > 0;
    bool quads = run->tile_channels % 4 == 0 || run->tile_channels == run->output_channels;
    bool slices = !dory_reads_all_channels(run) ||
                  (run->tile_input_channels > 0 && run->tile_input_channels <= run->input_channels &&
                   (run->tile_input_channels % 4 == 0 || run->tile_input_channels == run->input_channels));
    if (!tiles || !quads || !slices)
        check_fault(c, "layer '%s': a tile of %d x %d x %d from %d channels", layer_name(c, index), run->tile_rows,
                    run->tile_columns, run->tile_channels, run->tile_input_channels);
    const struct dory_kernel_description *kernel = c->plan->layers[index].kernel;
    bool sliced = dory_reads_all_channels(run) && run->tile_input_channels < run->input_channels;
    if (!kernel || !dory_kernel_supports(kernel, run) || (sliced && !kernel->can_tile_input_channels))
        check_fault(c, "layer '%s': its kernel cannot compute it", layer_name(c, index));
}

/* Tiles in CHW are as wide as the tensor, whose rows then follow one another; both ends see a tensor alike, and the caller
 * knows none but HWC. */
static void check_layout(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct layer *layer = &plan->network->layers[index];
    const struct dory_layer *run = &plan->layers[index].run;
    bool planes = run->input_layout != DORY_HWC || run->output_layout != DORY_HWC;
    bool wide = run->tile_columns == run->output_width, bytes = run->input_layout == DORY_HWC || run->input_bits == 8;
    bool alike = run->output_layout == plan->tensors[layer->output].layout;
    for (int i = 0; i < (dory_has_second_input(run) ? 2 : 1); i++)
        alike = alike && (i ? DORY_HWC : run->input_layout) == plan->tensors[layer->inputs[i]].layout;
    if (!alike || (planes && !(wide && bytes)))
        check_fault(c, "layer '%s': it takes a tensor for one in another layout, or its tiles are no planes",
                    layer_name(c, index));
}

struct range {
    uint64_t start, end;
};

/* Most groups that the channels of a quad belong to, counted. */
static uint64_t groups_of_a_quad(const struct dory_layer *run)
{
    uint64_t most = 0;
    for (uint32_t first = 0; first < 4u * run->group_outputs; first += 4) { /* behind it they lie as at the start */
        uint64_t groups = (first + 3) / run->group_outputs - first / run->group_outputs + 1;
        most = groups > most ? groups : most;
    }
    return most;
}

/* Bytes of one quad from its definition: chunks of words of 4 channels, then constants. */
static uint64_t quad_bytes(const struct dory_layer *run, uint64_t *first_chunk)
{
    bool contiguous = run->dilation_width == 1;
    uint64_t runs = (uint64_t)run->kernel_height * (contiguous ? 1 : run->kernel_width), sum = 0;
    *first_chunk = 0;
    if (run->operation == DORY_DEPTHWISE)
        *first_chunk = sum = 4ull * run->kernel_height * ((run->kernel_width + 3u) / 4 * 4);
    if (run->operation == DORY_GROUPED)
        *first_chunk = sum = (groups_of_a_quad(run) * run->group_channels + 3) / 4 * 2 * run->weight_bits *
                             run->kernel_height * run->kernel_width;
    for (uint32_t first = 0; run->operation == DORY_CONVOLUTION && first < run->input_channels;
         first += run->tile_input_channels) {
        uint32_t channels = dory_minimum(run->tile_input_channels, run->input_channels - first);
        uint64_t elements = (uint64_t)(contiguous ? run->kernel_width : 1) * channels;
        uint64_t chunk = (runs * elements + 3) / 4 * (2u * run->weight_bits);
        *first_chunk = first == 0 ? chunk : *first_chunk;
        sum += chunk;
    }
    return sum ? sum + dory_constants_bytes(run) : 0;
}

/* One or two buffers of an operand, or none where it has no bytes. */
static int add_ranges(struct checker *c, int layer, const uint32_t offset[2], uint64_t bytes, struct range *ranges,
                      int count)
{
    if (bytes == 0)
        return count;
    if (offset[0] % 4 != 0 || offset[1] % 4 != 0)
        check_fault(c, "layer '%s': an L1 buffer at a multiple of less than 4 bytes", layer_name(c, layer));
    ranges[count++] = (struct range){offset[0], offset[0] + bytes};
    if (offset[1] != offset[0])
        ranges[count++] = (struct range){offset[1], offset[1] + bytes};
    return count;
}

static uint64_t pixels_read(const struct dory_layer *run)
{
    uint64_t divisor = run->row_divisor ? run->row_divisor : 1;
    uint64_t rows = ((uint64_t)run->tile_rows - 1) * run->stride_height;
    rows = (rows + divisor - 1) / divisor + ((uint64_t)run->kernel_height - 1) * run->dilation_height + 1;
    uint64_t columns =
        ((uint64_t)run->tile_columns - 1) * run->stride_width + ((uint64_t)run->kernel_width - 1) * run->dilation_width + 1;
    return rows * (run->input_layout == DORY_CHW ? run->input_width : columns);
}

static bool is_sliced(const struct dory_layer *run)
{
    return dory_reads_all_channels(run) && run->tile_input_channels < run->input_channels;
}

static uint64_t weights_tile_bytes(const struct dory_layer *run)
{
    uint64_t quads = (run->tile_channels + 3u) / 4, chunk, whole = quad_bytes(run, &chunk);
    return whole == 0 ? dory_table_bytes(run) : quads * (is_sliced(run) ? chunk + dory_constants_bytes(run) : whole);
}

#define MOST_RANGES 11

/* The buffers of a layer's map of L1, and what lies in front of them. */
static int l1_ranges(struct checker *c, int index, const struct dory_l1_map *map, struct range ranges[MOST_RANGES])
{
    const struct plan_layer *layer = &c->plan->layers[index];
    const struct dory_layer *run = &layer->run;
    bool reads_all = dory_reads_all_channels(run), concatenation = run->operation == DORY_CONCATENATION;
    uint32_t input_channels = reads_all ? run->tile_input_channels : run->tile_channels;
    uint32_t second_channels = concatenation ? (uint32_t)run->output_channels - run->input_channels : input_channels;
    uint64_t quads = (run->tile_channels + 3u) / 4, outputs = (uint64_t)run->tile_rows * run->tile_columns;
    struct dory_tile_shape shape = {run->tile_rows, run->tile_columns, run->tile_channels, input_channels};
    uint32_t accumulators[2] = {map->accumulators, map->accumulators}, scratch[2] = {map->scratch, map->scratch};
    int count = 1;
    ranges[0] = (struct range){0, DORY_L1_RUNTIME_BYTES};
    count = add_ranges(c, index, map->input, pixels_read(run) * dory_element_bytes(input_channels, run->input_bits), ranges,
                       count);
    if (dory_has_second_input(run))
        count = add_ranges(c, index, map->second_input,
                           (run->second_is_pixel ? 1 : pixels_read(run)) *
                               dory_element_bytes(second_channels, run->second_input_bits),
                           ranges, count);
    count = add_ranges(c, index, map->weights, weights_tile_bytes(run), ranges, count);
    count =
        add_ranges(c, index, map->output, outputs * dory_element_bytes(run->tile_channels, run->output_bits), ranges, count);
    count = add_ranges(c, index, accumulators, is_sliced(run) ? outputs * quads * 16 : 0, ranges, count);
    return add_ranges(c, index, scratch, layer->kernel->scratch_bytes(run, &shape, c->plan->cores), ranges, count);
}

static void check_l1(struct checker *c, int index)
{
    struct range ranges[MOST_RANGES];
    int count = l1_ranges(c, index, &c->plan->layers[index].run.l1, ranges);
    for (int i = 0; i < count; i++) {
        if (ranges[i].end > c->plan->l1_peak_bytes)
            check_fault(c, "layer '%s': an L1 buffer ends at %" PRIu64 ", behind the arena of %u bytes",
                        layer_name(c, index), ranges[i].end, c->plan->l1_peak_bytes);
        for (int j = 0; j < i; j++)
            if (ranges[i].start < ranges[j].end && ranges[j].start < ranges[i].end)
                check_fault(c, "layer '%s': L1 buffers at %" PRIu64 " and %" PRIu64 " overlap", layer_name(c, index),
                            ranges[j].start, ranges[i].start);
    }
}

/* The map of a layer with the buffers only that its last tile is computed from. */
static struct dory_l1_map map_at_end(const struct plan *plan, int index)
{
    const struct plan_layer *layer = &plan->layers[index];
    struct dory_placed_tile tile, before;
    struct dory_l1_map map = layer->run.l1;
    dory_place_nothing(&before);
    for (int i = layer->first_step; i < layer->first_step + layer->step_count; i++) {
        bool more = true;
        tile.step = &plan->steps[i].run;
        for (dory_cursor_first(&tile.at, tile.step); more; more = dory_cursor_next(&tile.at, &layer->run, tile.step)) {
            dory_place_tile(&tile, &before, &layer->run, NULL);
            before = tile;
        }
    }
    map.input[0] = map.input[1] = map.input[before.input_buffer];
    map.second_input[0] = map.second_input[1] = map.second_input[before.input_buffer];
    map.weights[0] = map.weights[1] = map.weights[before.weights_buffer];
    return map;
}

/* Weights that come while the layer before still computes overwrite nothing of it. */
static void check_early(struct checker *c, int index)
{
    const struct dory_layer *run = &c->plan->layers[index].run;
    struct range ranges[MOST_RANGES];
    if (!c->plan->steps[c->plan->layers[index].first_step].run.weights_are_early)
        return;
    if (index == 0 || run->quad_bytes == 0 || c->plan->layers[index].block >= 0 || c->plan->layers[index - 1].block >= 0) {
        check_fault(c, "layer '%s': weights that come early, behind no layer or one that takes turns, or none at all",
                    layer_name(c, index));
        return;
    }
    struct dory_l1_map map = map_at_end(c->plan, index - 1);
    int count = l1_ranges(c, index - 1, &map, ranges);
    uint64_t start = run->l1.weights[0], end = start + weights_tile_bytes(run);
    for (int i = 0; i < count; i++)
        if (ranges[i].start < end && start < ranges[i].end)
            check_fault(c, "layer '%s': its weights come early to byte %" PRIu64 " of L1, which layer '%s' still uses",
                        layer_name(c, index), start, layer_name(c, index - 1));
}

/* ---- weights in flash ---- */

static void check_blob(struct checker *c, int index)
{
    const struct plan_layer *layer = &c->plan->layers[index];
    uint64_t chunk, quad = quad_bytes(&layer->run, &chunk), bytes = quad * ((layer->run.output_channels + 3u) / 4);
    if (layer->run.quad_bytes != quad || (quad && layer->run.chunk_bytes != chunk) || layer->weights_bytes != bytes)
        check_fault(c, "layer '%s': sizes of its weights: %u a quad, %u in all; they have %" PRIu64 " and %" PRIu64,
                    layer_name(c, index), layer->run.quad_bytes, layer->weights_bytes, quad, bytes);
    if (layer->weights_bytes == 0)
        return;
    uint64_t end = (uint64_t)layer->weights_address + layer->weights_bytes;
    if (layer->weights_address < FLASH_HEADER_BYTES || end > c->plan->flash_bytes || layer->weights_address % 8 != 0)
        check_fault(c, "layer '%s': weights at %u in a flash image of %u bytes", layer_name(c, index),
                    layer->weights_address, c->plan->flash_bytes);
    for (int i = 0; i < index; i++) {
        const struct plan_layer *other = &c->plan->layers[i];
        if (other->weights_bytes && other->weights_address < end &&
            layer->weights_address < (uint64_t)other->weights_address + other->weights_bytes)
            check_fault(c, "layers '%s' and '%s': weights overlap in flash", layer_name(c, i), layer_name(c, index));
    }
}

/* ---- steps ---- */

/* A tensor as its layer sees it. */
struct seen {
    int tensor;
    uint32_t height, width, channels, bits;
};

/* True where a window lies within a tensor and within L2. A ring has all channels, and not more rows than the tensor. */
static bool window_is_sound(const struct checker *c, const struct dory_window *window, const struct seen *seen)
{
    uint64_t bytes = (uint64_t)window->rows * seen->width * dory_element_bytes(window->channels, seen->bits);
    bool ring = c->plan->tensors[seen->tensor].home == HOME_RING;
    uint32_t end = ring ? window->rows : (uint32_t)window->first_row + window->rows;
    return window->rows > 0 && window->channels > 0 && end <= seen->height &&
           (!ring || (window->channels == seen->channels && window->first_row < seen->height)) &&
           (uint32_t)window->first_channel + window->channels <= seen->channels &&
           window->offset + bytes <= c->plan->l2_peak_bytes && window->first_channel * seen->bits % 8 == 0;
}

/* A ring is in the buffer of its tensor. That all steps see its rows at the same places shows where they find them. */
static bool fits_buffer(const struct plan *plan, int buffer, const struct dory_window *window, const struct seen *seen)
{
    uint64_t bytes = (uint64_t)window->rows * seen->width * dory_element_bytes(window->channels, seen->bits);
    return plan->tensors[seen->tensor].home != HOME_RING ||
           (plan->tensors[seen->tensor].buffer == buffer && plan->buffers[buffer].kind == BUFFER_RING &&
            bytes <= plan->buffers[buffer].bytes);
}

static bool in_buffer(const struct plan *plan, int buffer, int step, uint64_t start)
{
    return buffer >= 0 && buffer < plan->buffer_count && plan->buffers[buffer].offset == start &&
           plan->buffers[buffer].first_step <= step && step <= plan->buffers[buffer].last_step;
}

static bool operand_is_sound(const struct checker *c, int step, int buffer, const struct dory_window *window,
                             const struct seen *seen)
{
    return window_is_sound(c, window, seen) && in_buffer(c->plan, buffer, step, window->offset) &&
           fits_buffer(c->plan, buffer, window, seen);
}

/* Weights that are linked are read where they lie in the image, which is a part of the program. */
static bool in_image(const struct plan *plan, const struct plan_step *step, uint64_t bytes)
{
    const struct plan_layer *layer = &plan->layers[step->layer];
    uint64_t first = (uint64_t)(step->run.first_channel / 4) * layer->run.quad_bytes;
    return layer->resident && step->run.weights_offset == layer->weights_address + first &&
           first + bytes <= layer->weights_bytes;
}

/* In their buffer, or among those that stay in L2. */
static bool in_weights_place(const struct plan *plan, const struct plan_step *step, int index, uint64_t bytes)
{
    uint64_t offset = step->run.weights_offset;
    if (!plan->layers[step->layer].resident)
        return in_buffer(plan, step->weights_buffer, index, (uint32_t)offset);
    return offset >= plan->resident_offset && offset + bytes <= (uint64_t)plan->resident_offset + plan->resident_bytes;
}

static void check_step_windows(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_step *step = &plan->steps[index];
    const struct dory_layer *run = &plan->layers[step->layer].run;
    const struct dory_window *in = step->run.input;
    bool concatenation = run->operation == DORY_CONCATENATION;
    uint32_t second_channels = concatenation ? (uint32_t)run->output_channels - run->input_channels : run->input_channels;
    const struct layer *layer = &plan->network->layers[step->layer];
    uint32_t second_height = run->second_is_pixel ? 1 : run->input_height;
    uint32_t second_width = run->second_is_pixel ? 1 : run->input_width;
    const struct seen seen[] = {
        {layer->inputs[0], run->input_height, run->input_width, run->input_channels, run->input_bits},
        {layer->inputs[1], second_height, second_width, second_channels, run->second_input_bits},
        {layer->output, run->output_height, run->output_width, run->output_channels, run->output_bits}};
    bool sound = operand_is_sound(c, index, step->input_buffer[0], &in[0], &seen[0]) &&
                 operand_is_sound(c, index, step->output_buffer, &step->run.output, &seen[2]);
    if (dory_has_second_input(run))
        sound = sound && operand_is_sound(c, index, step->input_buffer[1], &in[1], &seen[1]);
    if (!sound)
        check_fault(c, "step %d of layer '%s': a window that does not lie in tensor, buffer and L2", index,
                    layer_name(c, step->layer));
    if (plan->layers[step->layer].weights_bytes == 0)
        return;
    uint64_t bytes = (uint64_t)((step->run.channels + 3u) / 4) * run->quad_bytes;
    if (plan->weights_are_linked ? !in_image(plan, step, bytes)
                                 : step->run.weights_offset + bytes > plan->l2_peak_bytes ||
                                       step->run.weights_offset % 4 != 0 || !in_weights_place(plan, step, index, bytes))
        check_fault(c, "step %d of layer '%s': its weights do not lie in their buffer and in L2", index,
                    layer_name(c, step->layer));
}

/* Layers are completed one after the other. One behind that at work only starts where a layer of the same block is at work.
 */
static bool is_in_order(const struct plan *plan, int index)
{
    const struct plan_step *step = &plan->steps[index], *before = index > 0 ? step - 1 : NULL;
    if (step->layer < 0 || step->layer >= plan->network->layer_count || (!before && step->layer != 0))
        return false;
    if (!before || step->layer == before->layer)
        return !before || !before->run.last_of_layer;
    int block = plan->layers[step->layer].block;
    bool same_block = block >= 0 && block == plan->layers[before->layer].block;
    return same_block || (before->run.last_of_layer && step->layer == before->layer + 1);
}

/* Its steps are as many as are said to be, and only the last of them completes it, behind the layer before. */
static void check_steps_of_layer(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_layer *layer = &plan->layers[index];
    int count = 0;
    bool good = layer->first_step >= 0 && layer->last_step < plan->step_count && layer->block <= index;
    for (int i = 0; i < plan->step_count; i++)
        count += plan->steps[i].layer == index;
    good = good && count == layer->step_count && count > 0 && plan->steps[layer->first_step].layer == index &&
           plan->steps[layer->last_step].layer == index && (index == 0 || layer[-1].last_step < layer->last_step);
    if (!good)
        check_fault(c, "layer '%s' has steps %d to %d, %d in all, of %d", layer_name(c, index), layer->first_step,
                    layer->last_step, layer->step_count, count);
}

static void check_step(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_step *step = &plan->steps[index], *before = index > 0 ? &plan->steps[index - 1] : NULL;
    bool same = before && before->layer == step->layer;
    if (!is_in_order(plan, index)) {
        check_fault(c, "step %d is of layer %d, out of order", index, step->layer);
        return;
    }
    const struct plan_layer *layer = &plan->layers[step->layer];
    if (index < layer->first_step || index > layer->last_step || step->run.layer_number != step->layer ||
        step->run.last_of_layer != (index == layer->last_step))
        check_fault(c, "step %d is not among the steps of layer '%s'", index, layer_name(c, step->layer));
    if (!same && !step->run.drain)
        check_fault(c, "step %d: the first one of layer '%s', or of its turn, does not drain", index,
                    layer_name(c, step->layer));
    bool rows = step->run.rows > 0 && (uint32_t)step->run.first_row + step->run.rows <= layer->run.output_height;
    bool channels = step->run.channels > 0 && step->run.first_channel % 4 == 0 &&
                    (uint32_t)step->run.first_channel + step->run.channels <= layer->run.output_channels;
    bool quads = layer->run.tile_channels % 4 == 0 || step->run.channels <= layer->run.tile_channels;
    if (!rows || !channels || !quads)
        check_fault(c, "step %d of layer '%s': rows %d + %d, channels %d + %d", index, layer_name(c, step->layer),
                    step->run.first_row, step->run.rows, step->run.first_channel, step->run.channels);
    uint32_t awaited = step->run.transfers_awaited, started = step->run.transfers_started;
    bool ordered = awaited <= started && started <= (uint32_t)plan->transfer_count &&
                   (!before || (before->run.transfers_started <= started && before->run.transfers_awaited <= awaited));
    if (!ordered)
        check_fault(c, "step %d of layer '%s' awaits %u transfers and starts %u of %d", index, layer_name(c, step->layer),
                    awaited, started, plan->transfer_count);
    check_step_windows(c, index);
}

/* ---- transfers ---- */

static uint64_t end_of(uint64_t start, uint64_t runs, uint64_t run_bytes, uint64_t stride)
{
    return start + (runs - 1) * stride + run_bytes;
}

/* The numbers in the steps must say what people are told of the transfer. */
static bool times_are_told(const struct plan *plan, int index)
{
    const struct plan_transfer *transfer = &plan->transfers[index];
    int start = 0, needed = 0;
    while (start < plan->step_count && plan->steps[start].run.transfers_started <= index)
        start++;
    while (needed < plan->step_count && plan->steps[needed].run.transfers_awaited <= index)
        needed++;
    return transfer->start_step == start && transfer->needed_step >= needed;
}

static void check_transfer(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_transfer *transfer = &plan->transfers[index];
    const struct dory_transfer *run = &transfer->run;
    if (transfer->buffer < 0 || transfer->buffer >= plan->buffer_count || run->runs == 0 || run->run_bytes == 0 ||
        run->kind > HAL_RAM_WRITE) {
        check_fault(c, "transfer %d copies nothing, or to nowhere", index);
        return;
    }
    const struct plan_buffer *buffer = &plan->buffers[transfer->buffer];
    uint32_t l3_bytes = run->kind == HAL_FLASH_READ ? plan->flash_bytes : plan->ram_bytes;
    uint64_t l2_end = end_of(run->l2_offset, run->runs, run->run_bytes, run->l2_stride);
    if (l2_end > plan->l2_peak_bytes || run->l2_offset < buffer->offset || l2_end > (uint64_t)buffer->offset + buffer->bytes)
        check_fault(c, "transfer %d leaves its buffer in L2", index);
    if (end_of(run->l3_address, run->runs, run->run_bytes, run->l3_stride) > l3_bytes)
        check_fault(c, "transfer %d leaves its level of L3", index);
    bool strides = run->runs == 1 || (run->l2_stride % HAL_L3_ALIGNMENT == 0 && run->l3_stride % 2 == 0);
    if (run->l2_offset % HAL_L3_ALIGNMENT || run->run_bytes % HAL_L3_ALIGNMENT || run->l3_address % 2 || !strides)
        check_fault(c, "transfer %d is not aligned", index);
    if (!times_are_told(plan, index))
        check_fault(c, "transfer %d does not start, or is not awaited, when it is said to be", index);
    if (transfer->start_step < plan->step_count && run->kind != HAL_RAM_WRITE && transfer->start_step < buffer->first_step)
        check_fault(c, "transfer %d starts before its buffer is there", index);
}

/* ---- buffers and tensors ---- */

static void check_buffer(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_buffer *buffer = &plan->buffers[index];
    uint64_t end = (uint64_t)buffer->offset + buffer->bytes;
    if (buffer->offset % DORY_ALIGNMENT || end > plan->l2_peak_bytes || buffer->first_step > buffer->last_step ||
        buffer->first_step < 0 || buffer->last_step >= plan->step_count)
        check_fault(c, "buffer %d ('%s'): offset %u, %u bytes, steps %d to %d", index, buffer->name, buffer->offset,
                    buffer->bytes, buffer->first_step, buffer->last_step);
    for (int i = 0; i < index; i++) {
        const struct plan_buffer *other = &plan->buffers[i];
        bool together = buffer->first_step <= other->last_step && other->first_step <= buffer->last_step;
        if (together && buffer->offset < (uint64_t)other->offset + other->bytes && other->offset < end)
            check_fault(c, "buffers %d ('%s') and %d ('%s') live at the same time and overlap", i, other->name, index,
                        buffer->name);
    }
}

static void check_tensor(struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_tensor *planned = &plan->tensors[index];
    const struct tensor *tensor = &plan->network->tensors[index];
    uint64_t pixel = ((uint64_t)tensor->channels * (uint64_t)tensor->bits + 7) / 8;
    bool sound = planned->bytes == (uint64_t)tensor->height * (uint64_t)tensor->width * pixel;
    bool is_port = tensor->producer == NO_LAYER;
    for (int i = 0; i < plan->network->output_count; i++)
        is_port = is_port || plan->network->outputs[i] == index;
    sound = sound && (planned->layout == DORY_HWC || (planned->home != HOME_RAM && !is_port && tensor->bits == 8));
    if (planned->home == HOME_RAM)
        sound = sound && (uint64_t)planned->ram_offset + planned->bytes <= plan->ram_bytes && planned->ram_offset % 4 == 0;
    else
        sound = sound && planned->buffer >= 0 && planned->buffer < plan->buffer_count &&
                plan->buffers[planned->buffer].tensor == index &&
                (planned->home == HOME_RING ? !is_port : plan->buffers[planned->buffer].bytes >= planned->bytes);
    if (!sound)
        check_fault(c, "tensor '%s' has no place of its %u bytes", tensor->name, planned->bytes);
}

static void check_sizes(struct checker *c)
{
    const struct plan *plan = c->plan;
    if (plan->l1_peak_bytes > plan->l1_arena_bytes || plan->l2_peak_bytes > plan->l2_arena_bytes ||
        plan->flash_bytes > plan->target->flash_bytes || plan->ram_bytes > plan->target->ram_bytes)
        check_fault(c, "it uses more memory than there is");
    if (plan->step_count < 1 || plan->step_count > UINT16_MAX || plan->transfer_count > UINT16_MAX ||
        !plan->steps[plan->step_count - 1].run.last_of_layer ||
        plan->steps[plan->step_count - 1].layer != plan->network->layer_count - 1)
        check_fault(c, "%d steps and %d transfers do not make up the network", plan->step_count, plan->transfer_count);
}

bool plan_check(const struct plan *plan, struct diagnostics *diagnostics)
{
    struct checker checker = {plan, diagnostics, 0};
    check_sizes(&checker);
    for (int i = 0; i < plan->network->layer_count; i++)
        check_tile(&checker, i);
    for (int i = 0; checker.faults == 0 && i < plan->network->layer_count; i++) {
        check_layout(&checker, i);
        check_l1(&checker, i);
        check_blob(&checker, i);
    }
    for (int i = 0; checker.faults == 0 && i < plan->step_count; i++)
        check_step(&checker, i);
    for (int i = 0; checker.faults == 0 && i < plan->network->layer_count; i++)
        check_steps_of_layer(&checker, i);
    for (int i = 0; checker.faults == 0 && i < plan->network->layer_count; i++)
        check_early(&checker, i);
    for (int i = 0; checker.faults == 0 && i < plan->buffer_count; i++)
        check_buffer(&checker, i);
    for (int i = 0; checker.faults == 0 && i < plan->transfer_count; i++)
        check_transfer(&checker, i);
    for (int i = 0; checker.faults == 0 && i < plan->network->tensor_count; i++)
        check_tensor(&checker, i);
    if (checker.faults == 0)
        check_tiles(&checker);
    if (checker.faults == 0)
        check_memory(&checker);
    if (checker.faults > MOST_FAULTS)
        diagnose(diagnostics, SEVERITY_NOTE, NULL, NULL, "%d faults of the plan in all", checker.faults);
    return checker.faults == 0;
}
