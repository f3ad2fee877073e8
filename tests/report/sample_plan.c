#include "sample_plan.h"

#include "dory/hal.h"
#include "plan/timeline.h"

static const struct target target = {
    .name = "gap8",
    .cores = 8,
    .l1_bytes = 65536,
    .l1_stack_bytes = 8192,
    .l2_bytes = 524288,
    .l2_firmware_bytes = 98304,
    .flash_bytes = 1 << 26,
    .ram_bytes = 1 << 23,
    .dma_read_bytes_per_1000_cycles = 8000,
    .dma_write_bytes_per_1000_cycles = 7700,
    .l3_bytes_per_1000_cycles = 990,
    .l3_setup_cycles = 100,
};

static uint32_t scratch_bytes(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    return layer->operation == DORY_CONVOLUTION ? dory_round_up(tile->input_channels, 4) * 2 * cores : 0;
}

/* A core computes rows. */
static uint64_t cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width *
                    (layer->operation == DORY_CONVOLUTION ? tile->input_channels : 1);
    return (uint64_t)dory_divide_up(tile->rows, cores) * tile->columns * tile->channels * taps / 2 + 100;
}

static const struct dory_kernel_description kernel = {
    .name = "dory_sample_kernel", .scratch_bytes = scratch_bytes, .cycles = cycles};

struct maker {
    struct plan *plan;
    struct network *network;
    struct arena *arena;
    const char *name;
};

static bool is_depthwise(int layer) { return layer % 2 == 1; }

/* ---- the network ---- */

static void make_tensor(struct maker *maker, int index)
{
    int halvings = (index + 3) / 5, side = 64 >> (halvings < 5 ? halvings : 5),
        channels = 16 << (halvings < 4 ? halvings : 4);
    struct tensor *tensor = &maker->network->tensors[index];
    *tensor = (struct tensor){.name = index ? arena_format(maker->arena, "%s %d output", maker->name, index - 1) : "image",
                              .height = side,
                              .width = side,
                              .channels = index ? channels : 4,
                              .bits = 8,
                              .maximum = 255,
                              .producer = index - 1};
}

static void make_layer(struct maker *maker, int index)
{
    const struct tensor *input = &maker->network->tensors[index], *output = input + 1;
    int filter = is_depthwise(index) || index == 0 ? 3 : 1, stride = input->height / output->height;
    struct layer *layer = &maker->network->layers[index];
    *layer = layer_plain(arena_format(maker->arena, "%s %d", maker->name, index), LAYER_CONVOLUTION, index);
    layer->output = index + 1;
    layer->kernel_height = layer->kernel_width = filter;
    layer->stride_height = layer->stride_width = stride;
    layer->padding_top = layer->padding_left = layer->padding_bottom = layer->padding_right = filter / 2;
    layer->groups = is_depthwise(index) ? input->channels : 1;
}

static void make_network(struct maker *maker, int layer_count)
{
    static int inputs[1] = {0};
    struct network *network = arena_allocate(maker->arena, sizeof *network);
    int *outputs = arena_array(maker->arena, int, 1);
    outputs[0] = layer_count;
    *network = (struct network){
        .name = "/some/where/sample.onnx",
        .tensors = arena_array(maker->arena, struct tensor, (size_t)layer_count + 1),
        .tensor_count = layer_count + 1,
        .layers = arena_array(maker->arena, struct layer, (size_t)layer_count),
        .layer_count = layer_count,
        .inputs = inputs,
        .input_count = 1,
        .outputs = outputs,
        .output_count = 1,
    };
    maker->network = network;
    for (int i = 0; i <= layer_count; i++)
        make_tensor(maker, i);
    for (int i = 0; i < layer_count; i++)
        make_layer(maker, i);
}

/* ---- layers ---- */

static uint32_t take(uint32_t *used, uint32_t bytes)
{
    uint32_t offset = *used;
    *used += dory_round_up(bytes, 8);
    return bytes ? offset : DORY_NO_BUFFER;
}

static void lay_out_l1(struct plan_layer *planned, const struct dory_tile_shape *tile)
{
    struct dory_layer *record = &planned->record;
    uint32_t used = 0, input = dory_input_tile_bytes(record, tile, 0), output = dory_output_tile_bytes(record, tile);
    record->l1 = (struct dory_l1_map){
        .input = {take(&used, input), take(&used, input)},
        .second_input = {DORY_NO_BUFFER, DORY_NO_BUFFER},
        .accumulators = DORY_NO_BUFFER,
    };
    record->l1.weights[0] = record->l1.weights[1] = take(&used, dory_weights_tile_bytes(&dory_quads, record, tile));
    record->l1.output[0] = take(&used, output);
    record->l1.output[1] = take(&used, output);
    record->l1.scratch = take(&used, scratch_bytes(record, tile, 8));
    planned->l1_bytes = used;
}

static void look_away(void *context, const struct tile_event *event)
{
    (void)context;
    (void)event;
}

/* When its tiles and steps are known. */
static void set_costs(struct maker *maker, int index)
{
    const struct timeline start = {.steps = arena_array(maker->arena, struct timeline_step, (size_t)index + 1)};
    const struct tile_observer observer = {.see = look_away};
    struct plan_layer *planned = &maker->plan->layers[index];
    struct tile_cost cost = timeline_watch_tiles(maker->plan, &start, index, &observer, maker->arena);
    planned->kernel_cycles = cost.kernel_cycles;
    planned->dma_cycles = cost.dma_cycles;
    planned->exposed_cycles = cost.exposed_cycles;
    planned->predicted_cycles = cost.cycles;
    planned->tile_count = cost.tile_count;
}

static uint64_t macs_of(const struct layer *layer, const struct tensor *input, const struct tensor *output)
{
    return tensor_elements(output) * (uint64_t)layer->kernel_height * (uint64_t)layer->kernel_width *
           (uint64_t)(input->channels / layer->groups);
}

static void plan_layer(struct maker *maker, int index)
{
    const struct layer *layer = &maker->network->layers[index];
    const struct tensor *input = &maker->network->tensors[index], *output = input + 1;
    struct plan_layer *planned = &maker->plan->layers[index];
    struct dory_tile_shape tile = {.rows = output->height > 8 ? 4 : (uint16_t)output->height,
                                   .columns = (uint16_t)output->width,
                                   .channels = output->channels < 64 ? (uint16_t)output->channels : 64,
                                   .input_channels = (uint16_t)input->channels};
    *planned = (struct plan_layer){
        .record = {.operation = is_depthwise(index) ? DORY_DEPTHWISE : DORY_CONVOLUTION,
                   .normalisation = DORY_NORMALISE_32,
                   .input_bits = 8,
                   .output_bits = 8,
                   .weight_bits = 8,
                   .input_height = (uint16_t)input->height,
                   .input_width = (uint16_t)input->width,
                   .input_channels = (uint16_t)input->channels,
                   .output_height = (uint16_t)output->height,
                   .output_width = (uint16_t)output->width,
                   .output_channels = (uint16_t)output->channels,
                   .kernel_height = (uint16_t)layer->kernel_height,
                   .kernel_width = (uint16_t)layer->kernel_width,
                   .stride_height = (uint16_t)layer->stride_height,
                   .stride_width = (uint16_t)layer->stride_width,
                   .dilation_height = 1,
                   .dilation_width = 1,
                   .block_shift = 2,
                   .tile = tile},
        .engine = &dory_portable_engine,
        .kernel = &kernel,
        .first_step = index,
        .last_step = index,
        .step_count = 1,
        .block = -1,
        .macs = macs_of(layer, input, output),
        .weights_bytes = (uint32_t)(output->channels *
                                    (layer->kernel_height * layer->kernel_width * input->channels / layer->groups + 8)),
    };
    lay_out_l1(planned, &tile);
}

/* ---- steps, buffers, transfers ---- */

static bool overlaps(const struct plan_buffer *a, const struct plan_buffer *b, uint32_t offset)
{
    bool in_time = a->first_step <= b->last_step && b->first_step <= a->last_step;
    return in_time && offset < b->offset + b->bytes && b->offset < offset + a->bytes;
}

/* The lowest free place. */
static void place_buffer(struct plan *plan, int index)
{
    struct plan_buffer *buffer = &plan->buffers[index];
    for (int i = 0; i < index; i++)
        if (overlaps(buffer, &plan->buffers[i], buffer->offset)) {
            buffer->offset = dory_round_up(plan->buffers[i].offset + plan->buffers[i].bytes, 8);
            i = -1;
        }
    if (buffer->offset + buffer->bytes > plan->l2_peak_bytes)
        plan->l2_peak_bytes = buffer->offset + buffer->bytes;
}

static int earlier(int step) { return step > 0 ? step - 1 : 0; }

static void plan_tensor(struct maker *maker, int index)
{
    uint32_t bytes = (uint32_t)tensor_elements(&maker->network->tensors[index]);
    int last = maker->plan->step_count - 1;
    maker->plan->tensors[index] = (struct plan_tensor){.level = IN_L2, .buffer = index, .bytes = bytes};
    maker->plan->buffers[index] = (struct plan_buffer){.kind = BUFFER_TENSOR,
                                                       .name = maker->network->tensors[index].name,
                                                       .tensor = index,
                                                       .layer = -1,
                                                       .bytes = bytes,
                                                       .first_step = earlier(index),
                                                       .last_step = index < last ? index : last};
    place_buffer(maker->plan, index);
}

static void plan_step(struct maker *maker, int index)
{
    struct plan *plan = maker->plan;
    int count = plan->step_count, weights = count + 1 + index;
    const struct tensor *input = &maker->network->tensors[index], *output = input + 1;
    plan->buffers[weights] = (struct plan_buffer){.kind = BUFFER_WEIGHTS,
                                                  .name = arena_format(maker->arena, "%s %d weights", maker->name, index),
                                                  .tensor = -1,
                                                  .layer = index,
                                                  .bytes = plan->layers[index].weights_bytes,
                                                  .first_step = earlier(index),
                                                  .last_step = index};
    place_buffer(plan, weights);
    plan->transfers[index] =
        (struct plan_transfer){.record = {.kind = HAL_FLASH_READ, .runs = 1, .run_bytes = plan->layers[index].weights_bytes},
                               .buffer = weights,
                               .start_step = earlier(index),
                               .needed_step = index};
    plan->steps[index] =
        (struct plan_step){.record = {.rows = (uint16_t)output->height,
                                      .channels = (uint16_t)output->channels,
                                      .input = {{.rows = (uint16_t)input->height, .channels = (uint16_t)input->channels}},
                                      .output = {.rows = (uint16_t)output->height, .channels = (uint16_t)output->channels},
                                      .last_of_layer = 1,
                                      .layer_number = (uint16_t)index,
                                      .transfers_awaited = (uint16_t)(index + 1),
                                      .transfers_started = (uint16_t)(index + 2 < count ? index + 2 : count)},
                           .layer = index,
                           .input_buffer = {index, -1},
                           .output_buffer = index + 1,
                           .weights_buffer = weights};
}

/* The most that lives at one step. */
static uint32_t live_bytes(const struct plan *plan)
{
    uint32_t most = 0;
    for (int step = 0; step < plan->step_count; step++) {
        uint32_t bytes = 0;
        for (int i = 0; i < plan->buffer_count; i++)
            if (plan->buffers[i].first_step <= step && step <= plan->buffers[i].last_step)
                bytes += plan->buffers[i].bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

struct plan *sample_plan(int layer_count, const char *name, struct arena *arena)
{
    struct plan *plan = arena_allocate(arena, sizeof *plan);
    struct maker maker = {.plan = plan, .arena = arena, .name = name};
    size_t count = (size_t)layer_count;
    make_network(&maker, layer_count);
    *plan = (struct plan){.network = maker.network,
                          .target = &target,
                          .cores = 8,
                          .l1_arena_bytes = 55256,
                          .l2_arena_bytes = 425984,
                          .tensors = arena_array(arena, struct plan_tensor, count + 1),
                          .layers = arena_array(arena, struct plan_layer, count),
                          .steps = arena_array(arena, struct plan_step, count),
                          .step_count = layer_count,
                          .transfers = arena_array(arena, struct plan_transfer, count),
                          .transfer_count = layer_count,
                          .buffers = arena_array(arena, struct plan_buffer, 2 * count + 1),
                          .buffer_count = 2 * layer_count + 1};
    for (int i = 0; i <= layer_count; i++)
        plan_tensor(&maker, i);
    for (int i = 0; i < layer_count; i++) {
        plan_layer(&maker, i);
        plan_step(&maker, i);
        set_costs(&maker, i);
        plan->flash_bytes += plan->layers[i].weights_bytes;
        if (plan->layers[i].l1_bytes > plan->l1_peak_bytes)
            plan->l1_peak_bytes = plan->layers[i].l1_bytes;
    }
    plan->l2_live_bytes = live_bytes(plan);
    return plan;
}

void sample_proof(struct plan *plan, uint64_t cycles)
{
    bool optimal = plan->network->layer_count < 10;
    plan->predicted_cycles = cycles;
    plan->proof = (struct plan_proof){.is_optimal = optimal,
                                      .searched_cycles = cycles,
                                      .bound_cycles = optimal ? cycles : cycles - 20,
                                      .compute_cycles = cycles / 2,
                                      .tail_cycles = cycles * 3 / 4,
                                      .tail_bytes = optimal ? 0 : 77000, /* nothing to say of it */
                                      .tail_layer = plan->network->layer_count - 1,
                                      .nodes = 10,
                                      .rounds = 2};
}
