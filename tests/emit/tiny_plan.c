#include "tiny_plan.h"

#include "describe/requantise.h"
#include "dory/hal.h"

static struct tensor tensors[2] = {
    {.name = "image", .height = 4, .width = 4, .channels = 1, .bits = 8, .maximum = 255, .producer = NO_LAYER},
    {.name = "features", .height = 4, .width = 4, .channels = 2, .bits = 8, .maximum = 255, .producer = 0},
};

static const int8_t weights[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7, -8, -9};
static const int64_t multipliers[2] = {3, -5}, addends[2] = {100, -7};

static struct layer layers[1] = {{
    .name = "Conv_0 */ \"with a nasty name\"",
    .kind = LAYER_CONVOLUTION,
    .inputs = {0, -1},
    .output = 1,
    .kernel_height = 3,
    .kernel_width = 3,
    .stride_height = 1,
    .stride_width = 1,
    .dilation_height = 1,
    .dilation_width = 1,
    .padding_top = 1,
    .padding_left = 1,
    .padding_bottom = 1,
    .padding_right = 1,
    .groups = 1,
    .weight_bits = 8,
    .weights = weights,
    .stages = {{.count = 2, .multiplier = multipliers, .addend = addends, .divisor = 256, .has_clip = true, .maximum = 255}},
    .stage_count = 1,
}};

static int inputs[1] = {0}, outputs[1] = {1};
static struct network network = {
    .name = "/somewhere/else/tiny.onnx",
    .tensors = tensors,
    .tensor_count = 2,
    .layers = layers,
    .layer_count = 1,
    .inputs = inputs,
    .input_count = 1,
    .outputs = outputs,
    .output_count = 1,
};

static const struct target target = {.name = "host", .cores = 8};
static const struct dory_kernel_description kernel = {.name = "dory_reference_convolution"};

static struct dory_channel_constants constants[2] = {{.product = {3, 100}}, {.product = {-5, -7}}};
static const struct requantisation requantisation = {
    .normalisation = DORY_NORMALISE_32, .shift = 8, .maximum = 255, .channels = constants, .channel_count = 2};

static const struct plan_layer planned_layer = {
    .record = {.operation = DORY_CONVOLUTION,
               .normalisation = DORY_NORMALISE_32,
               .shift = 8,
               .tile_order = DORY_SPACE_OUTER,
               .input_bits = 8,
               .output_bits = 8,
               .weight_bits = 8,
               .input_height = 4,
               .input_width = 4,
               .input_channels = 1,
               .output_height = 4,
               .output_width = 4,
               .output_channels = 2,
               .kernel_height = 3,
               .kernel_width = 3,
               .stride_height = 1,
               .stride_width = 1,
               .dilation_height = 1,
               .dilation_width = 1,
               .padding_top = 1,
               .padding_left = 1,
               .tile = {.rows = 2, .columns = 4, .channels = 2, .input_channels = 1},
               .block_shift = 2,
               .block_bytes = 80,
               .chunk_bytes = 48,
               .maximum = 255,
               .l1 = {.input = {1024, 1048},
                      .second_input = {DORY_NO_BUFFER, DORY_NO_BUFFER},
                      .weights = {1072, 1072},
                      .output = {1152, 1168},
                      .accumulators = DORY_NO_BUFFER,
                      .scratch = DORY_NO_BUFFER}},
    .kernel = &kernel,
    .engine = &dory_portable_engine,
    .requantisation = &requantisation,
    .step_count = 1,
    .macs = 288,
    .predicted_cycles = 1234,
    .tile_count = 2,
    .weights_bytes = 80,
    .weights_address = 32,
    .l1_bytes = 1184,
};

static const struct plan_step planned_step = {
    .record = {.rows = 4,
               .channels = 2,
               .input = {{.offset = 0, .rows = 4, .channels = 1}},
               .output = {.offset = 16, .rows = 4, .channels = 2},
               .weights_offset = 48,
               .transfers_awaited = 1,
               .transfers_started = 1,
               .drain = 1,
               .last_of_layer = 1},
};

static const struct plan_transfer planned_transfer = {
    .record = {.kind = HAL_FLASH_READ, .runs = 1, .l3_address = 32, .l2_offset = 48, .run_bytes = 80},
    .buffer = 2,
};

static const struct plan_buffer planned_buffers[3] = {
    {.kind = BUFFER_TENSOR, .name = "image", .tensor = 0, .layer = -1, .bytes = 16},
    {.kind = BUFFER_TENSOR, .name = "features", .tensor = 1, .layer = -1, .bytes = 32, .offset = 16},
    {.kind = BUFFER_WEIGHTS, .name = "weights of Conv_0", .tensor = -1, .bytes = 80, .offset = 48},
};

struct plan *tiny_plan(void)
{
    static struct plan plan;
    static struct plan_tensor planned_tensors[2];
    static struct plan_layer one_layer[1];
    static struct plan_step one_step[1];
    static struct plan_transfer one_transfer[1];
    static struct plan_buffer buffers[3];
    planned_tensors[0] = (struct plan_tensor){.level = IN_L2, .buffer = 0, .bytes = 16};
    planned_tensors[1] = (struct plan_tensor){.level = IN_L2, .buffer = 1, .bytes = 32};
    one_layer[0] = planned_layer;
    one_step[0] = planned_step;
    one_transfer[0] = planned_transfer;
    for (int i = 0; i < 3; i++)
        buffers[i] = planned_buffers[i];
    plan = (struct plan){
        .network = &network,
        .target = &target,
        .cores = 8,
        .l1_arena_bytes = 1024,
        .l2_arena_bytes = 4096,
        .l1_peak_bytes = 1184,
        .l2_peak_bytes = 128,
        .l2_live_bytes = 128,
        .tensors = planned_tensors,
        .layers = one_layer,
        .steps = one_step,
        .step_count = 1,
        .transfers = one_transfer,
        .transfer_count = 1,
        .buffers = buffers,
        .buffer_count = 3,
        .flash_bytes = 112,
        .predicted_cycles = 1300,
    };
    return &plan;
}
