#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "run_plan.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#include "dory/dump.h"
#include "dory/run.h"
#include "emit/assemble.h"
#include "network/channels.h"
#include "plan/timeline.h"
#include "values/expected.h"

/* ---- kernels ---- */

/* Every kernel of the library is in the program and exported (CMakeLists.txt), so that a new one needs no list here. */
static dory_kernel_function *kernel_of(const char *name)
{
    dory_kernel_function *function;
    void *symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(&function, &symbol, sizeof function); /* C has no conversion from void * to a function */
    return function;
}

/* ---- one run ---- */

struct execution {
    const struct plan *plan;
    const struct run_plan_options *options;
    struct assembled assembled;
    int64_t **golden;   /* of all tensors */
    int *run_order;     /* run_order[n]: the layer that runs as the nth */
    uint8_t **gathered; /* by layer: what was seen of a tensor that is never whole */
    struct dory_buffers buffers;
    struct run_plan_result result;
    struct arena arena;
    struct diagnostics diagnostics;
};

#define FAIL(execution, ...)                                                                                                \
    do {                                                                                                                    \
        if (!(execution)->result.message[0])                                                                                \
            snprintf((execution)->result.message, sizeof(execution)->result.message, __VA_ARGS__);                          \
    } while (0)

/* ---- comparing ---- */

static int64_t element_at(const uint8_t *pixel, int channel, const struct tensor *tensor)
{
    uint64_t value = 0;
    size_t bits = (size_t)tensor->bits, bit = (size_t)channel * bits;
    for (size_t i = 0; i < (bits + 7) / 8; i++)
        value |= (uint64_t)pixel[bit / 8 + i] << (8 * i);
    value = value >> bit % 8 << (64 - bits);
    return tensor->is_signed ? (int64_t)value >> (64 - bits) : (int64_t)(value >> (64 - bits));
}

/* In HWC, whatever the plan has. */
static const uint8_t *tensor_memory(struct execution *execution, int tensor)
{
    const struct tensor *of = &execution->plan->network->tensors[tensor];
    struct place place = plan_place(execution->plan, tensor);
    if (place.in_ram)
        return hal_host_ram() + execution->buffers.ram_address + place.offset;
    const uint8_t *memory = (const uint8_t *)execution->buffers.l2 + place.offset;
    if (execution->plan->tensors[tensor].layout == DORY_HWC)
        return memory;
    uint32_t bytes = (uint32_t)expected_tensor_bytes(of);
    uint8_t *pixels = arena_allocate(&execution->arena, bytes);
    dory_read_chw(memory, (uint32_t)of->height * (uint32_t)of->width, (uint32_t)of->channels, 0, pixels, bytes);
    return pixels;
}

/* Number of values that differ; the first is told. */
static uint64_t compare(struct execution *execution, int layer, const uint8_t *memory)
{
    const struct network *network = execution->plan->network;
    int output = tensor_home(network, network->layers[layer].output);
    const struct tensor *tensor = &network->tensors[output];
    size_t pixel_bytes = expected_tensor_bytes(tensor) / ((size_t)tensor->height * (size_t)tensor->width);
    uint64_t different = 0;
    size_t first = 0;
    for (size_t i = 0; i < tensor_elements(tensor); i++) {
        size_t pixel = i / (size_t)tensor->channels, channel = i % (size_t)tensor->channels;
        if (element_at(memory + pixel * pixel_bytes, (int)channel, tensor) == execution->golden[output][i])
            continue;
        first = different++ ? first : i;
    }
    if (different) {
        size_t pixel = first / (size_t)tensor->channels, channel = first % (size_t)tensor->channels;
        FAIL(execution,
             "layer %d %s (%s, normalisation %d): at (%zu, %zu, %zu) expected %" PRId64 ", actual %" PRId64 "; %" PRIu64
             " of %zu values differ",
             layer, network->layers[layer].name, execution->plan->layers[layer].kernel->name,
             execution->plan->layers[layer].record.normalisation, pixel / (size_t)tensor->width,
             pixel % (size_t)tensor->width, channel, execution->golden[output][first],
             element_at(memory + pixel * pixel_bytes, (int)channel, tensor), different, tensor_elements(tensor));
    }
    execution->result.layers_compared++;
    execution->result.values_compared += tensor_elements(tensor);
    return different;
}

static bool is_ring(const struct execution *execution, int layer)
{
    return execution->plan->tensors[execution->plan->network->layers[layer].output].level == IN_RING;
}

/* The rows that a step has left in a ring, to where the whole tensor gathers: as the layer has them, for which a column may
 * lie as a row. */
static void gather_rows(struct execution *execution, int layer, const struct dory_step *step)
{
    int output = execution->plan->network->layers[layer].output;
    const struct tensor *tensor = &execution->plan->network->tensors[output];
    const struct dory_layer *record = &execution->plan->layers[layer].record;
    uint32_t row_bytes = (uint32_t)expected_tensor_bytes(tensor) / record->output_height;
    const uint8_t *ring = (const uint8_t *)execution->buffers.l2 + step->output.offset;
    uint32_t first = (uint32_t)(step->first_row - step->output.first_row) * row_bytes, bytes = step->rows * row_bytes;
    uint8_t *rows = execution->gathered[layer] + step->first_row * row_bytes;
    if (execution->plan->tensors[output].layout == DORY_HWC)
        memcpy(rows, ring + first, bytes);
    else
        dory_read_chw(ring, (uint32_t)step->output.rows * record->output_width, (uint32_t)tensor->channels, first, rows,
                      bytes);
}

static int observe_turn(void *user, const struct dory_buffers *buffers, const struct dory_step *steps, unsigned count)
{
    struct execution *execution = user;
    (void)buffers;
    int layer = execution->run_order[steps->layer_number];
    for (unsigned i = 0; i < count && is_ring(execution, layer); i++)
        gather_rows(execution, layer, &steps[i]);
    return DORY_OK;
}

static int observe(void *user, const struct dory_buffers *buffers, unsigned layer)
{
    struct execution *execution = user;
    (void)buffers;
    int index = execution->run_order[layer];
    const uint8_t *memory = is_ring(execution, index)
                                ? execution->gathered[index]
                                : tensor_memory(execution, tensor_home(execution->plan->network,
                                                                       execution->plan->network->layers[index].output));
    return compare(execution, index, memory) ? DORY_ERROR_MISMATCH : DORY_OK;
}

/* ---- set-up ---- */

/* All of dory_kernels is in this program: its static data take a part of L2. */
#define STATIC_L2_BYTES DORY_DUMP_LINE_BYTES

static bool assemble(struct execution *execution)
{
    const struct plan *plan = execution->plan;
    int count = 0;
    plan_assemble(plan, &execution->assembled, &execution->arena);
    execution->assembled.network.run = plan->tiles ? dory_run_table : plan->runs_layers ? dory_run_layers : dory_run_tiles;
    execution->run_order = arena_array(&execution->arena, int, (size_t)plan->network->layer_count);
    for (int i = 0; i < plan->step_count; i++)
        if (plan->steps[i].record.last_of_layer && count < plan->network->layer_count)
            execution->run_order[count++] = plan->steps[i].layer;
    for (int i = 0; i < plan->network->layer_count; i++) {
        const struct dory_kernel_description *kernel = plan->layers[i].kernel;
        struct dory_layer *layer = &execution->assembled.layers[i];
        layer->kernel = kernel_of(kernel->name);
        if (kernel->finish)
            layer->finish = kernel_of(kernel->finish);
        if (!layer->kernel || (kernel->finish && !layer->finish))
            FAIL(execution, "no kernel '%s' in this program", kernel->name);
    }
    if (count != plan->network->layer_count)
        FAIL(execution, "%d of %d layers have a last step", count, plan->network->layer_count);
    return !execution->result.message[0];
}

static int open_machine(struct execution *execution)
{
    const struct plan *plan = execution->plan;
    const struct hal_host_options options = {.seed = execution->options->seed,
                                             .timing = execution->options->timing,
                                             .l1_bytes =
                                                 dory_round_up(execution->assembled.network.l1_bytes, DORY_ALIGNMENT),
                                             .l2_bytes = execution->assembled.network.l2_bytes + STATIC_L2_BYTES,
                                             .ram_bytes = plan->ram_bytes + 64};
    struct dory_buffers *buffers = &execution->buffers;
    int status = hal_host_configure(&options);
    hal_host_set_flash(plan->flash_image, plan->weights_are_linked ? 0 : plan->flash_bytes);
    buffers->l1_bytes = execution->assembled.network.l1_bytes;
    buffers->l2_bytes = execution->assembled.network.l2_bytes;
    buffers->ram_address = 32; /* not 0: the network is not alone in the RAM */
    if (!status)
        status = hal_memory_reserve(HAL_L1, buffers->l1_bytes, &buffers->l1);
    if (!status)
        status = hal_memory_reserve(HAL_L2, buffers->l2_bytes, &buffers->l2);
    if (!status && plan->weights_are_linked)
        status = hal_host_register_memory(HAL_L2, plan->flash_image, plan->flash_bytes);
    if (!status)
        status = hal_l3_open(NULL, NULL);
    return status ? status : hal_cluster_open(execution->options->cores);
}

/* What the network returned, in memory of the caller. */
static void compare_outputs(struct execution *execution, void *const *outputs)
{
    const struct network *network = execution->plan->network;
    for (int i = 0; i < network->output_count; i++)
        compare(execution, network->tensors[network->outputs[i]].producer, outputs[i]);
}

static int run_once(struct execution *execution, const void *const *inputs, void *const *outputs)
{
    const struct dory_network *network = &execution->assembled.network;
    if (network->input_count == 1 && network->output_count == 1)
        return dory_network_run(network, &execution->buffers, inputs[0], outputs[0]);
    return dory_network_run_all(network, &execution->buffers, inputs, outputs);
}

/* Bytes that no layer computes: what nobody saw is told. */
static void gather_nothing(struct execution *execution)
{
    const struct network *network = execution->plan->network;
    execution->gathered = arena_array(&execution->arena, uint8_t *, (size_t)network->layer_count);
    for (int i = 0; i < network->layer_count; i++) {
        size_t bytes = is_ring(execution, i) ? expected_tensor_bytes(&network->tensors[network->layers[i].output]) : 0;
        execution->gathered[i] = arena_allocate(&execution->arena, bytes);
        memset(execution->gathered[i], 0xA5, bytes);
    }
}

static int record(struct execution *execution, const void *const *inputs)
{
    const struct network *network = execution->plan->network;
    struct dory_buffers *buffers = &execution->buffers;
    void **outputs = arena_array(&execution->arena, void *, (size_t)network->output_count);
    for (int i = 0; i < network->output_count; i++)
        outputs[i] = arena_allocate(&execution->arena, expected_tensor_bytes(&network->tensors[network->outputs[i]]));
    int status = dory_network_check_flash(&execution->assembled.network, buffers);
    if (!status)
        status = dory_network_load(&execution->assembled.network, buffers);
    if (!execution->options->unobserved) {
        gather_nothing(execution);
        buffers->observe = observe;
        buffers->observe_turn = observe_turn;
        buffers->user = execution;
    }
    int runs = execution->plan->resident_bytes ? 2 : 1; /* what stays is there for the second one, too */
    for (int i = 0; i < runs && !status; i++) {
        status = run_once(execution, inputs, outputs);
        if (!status)
            compare_outputs(execution, outputs);
    }
    return status;
}

/* ---- what the plan has priced ---- */

static void see_nothing(void *context, const struct tile_event *event)
{
    (void)context;
    (void)event;
}

/* Of a layer whose output is left in L1, for an observer alone. */
static uint64_t observed_bytes(const struct execution *execution, int layer)
{
    const struct plan *plan = execution->plan;
    bool is_stored = plan->layers[layer].is_left_in_l1 && !execution->options->unobserved;
    return is_stored ? plan->tensors[plan->network->layers[layer].output].bytes : 0;
}

/* Of a run, between L2 and L1. */
static uint64_t priced_bytes(struct execution *execution)
{
    const struct tile_observer observer = {.see = see_nothing};
    struct timeline timeline;
    uint64_t bytes = 0;
    timeline_make(execution->plan, &timeline, &execution->arena);
    for (int i = 0; i < execution->plan->network->layer_count; i++)
        bytes += timeline_watch_tiles(execution->plan, &timeline, i, &observer, &execution->arena).dma_bytes +
                 observed_bytes(execution, i);
    return bytes;
}

static void compare_counters(struct execution *execution)
{
    struct hal_host_counters counters;
    hal_host_get_counters(&counters);
    if (counters.violations)
        FAIL(execution, "%" PRIu64 " violations of the HAL's contract", counters.violations);
    uint64_t moved = counters.dma_bytes_to_local + counters.dma_bytes_from_local,
             priced = priced_bytes(execution) * (execution->plan->resident_bytes ? 2 : 1);
    if (moved != priced)
        FAIL(execution, "the DMA has moved %" PRIu64 " bytes, but the plan has priced %" PRIu64, moved, priced);
}

static void run_opened(struct execution *execution, const void *const *inputs)
{
    int status = open_machine(execution);
    if (!status)
        status = record(execution, inputs);
    if (execution->plan->weights_are_linked)
        hal_host_unregister_memory(execution->plan->flash_image);
    int closed = hal_cluster_close();
    int l3_closed = hal_l3_close();
    status = status ? status : closed ? closed : l3_closed;
    if (status)
        FAIL(execution, "%s", dory_strerror(status));
    compare_counters(execution);
}

/* ---- all of it ---- */

static void note_diagnostics(struct execution *execution)
{
    for (int i = 0; i < execution->diagnostics.count; i++)
        if (execution->diagnostics.list[i].severity == SEVERITY_ERROR)
            FAIL(execution, "%s", execution->diagnostics.list[i].text);
}

static const void *const *pack_inputs(struct execution *execution, const int64_t *const *inputs)
{
    const struct network *network = execution->plan->network;
    const void **packed = arena_array(&execution->arena, const void *, (size_t)network->input_count);
    for (int i = 0; i < network->input_count; i++) {
        const struct tensor *tensor = &network->tensors[network->inputs[i]];
        uint8_t *bytes = arena_allocate(&execution->arena, expected_tensor_bytes(tensor));
        if (!expected_pack(tensor, inputs[i], bytes))
            FAIL(execution, "input %d has values that its elements cannot hold", i);
        packed[i] = bytes;
    }
    return packed;
}

struct run_plan_result run_plan(const struct plan *plan, const int64_t *const *inputs,
                                const struct run_plan_options *options)
{
    struct execution execution = {.plan = plan, .options = options};
    execution.diagnostics.arena = &execution.arena;
    const void *const *packed = pack_inputs(&execution, inputs);
    execution.golden = channels_interpret(plan->network, inputs, &execution.arena, &execution.diagnostics);
    if (execution.golden && assemble(&execution) && !execution.result.message[0])
        run_opened(&execution, packed);
    note_diagnostics(&execution);
    execution.result.exact = !execution.result.message[0] && execution.result.layers_compared > 0;
    arena_free(&execution.arena);
    return execution.result;
}
