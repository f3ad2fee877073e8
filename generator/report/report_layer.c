#include "report/report_layer.h"

#include "describe/layer_operation.h"
#include "describe/requantise.h"
#include "dory/hal.h"
#include "report/report_values.h"

/* ---- time ---- */

/* When a layer has the cluster, waits for L3 before its steps included. */
struct layer_times {
    uint64_t begin_cycle, end_cycle; /* others may have their turns between them */
    uint64_t profile_cycles;         /* as a run's profile has them: of its own turns, waits included */
    uint64_t l3_wait_cycles;
};

static struct layer_times times_of(const struct report *report, int layer)
{
    const struct plan_layer *planned = &report->plan->layers[layer];
    const struct timeline_step *steps = report->timeline->steps;
    struct layer_times times = {.begin_cycle = UINT64_MAX};
    for (int i = planned->first_step; i <= planned->last_step; i++) {
        if (report->plan->steps[i].layer != layer)
            continue;
        uint64_t begin = steps[i].begin_cycle;
        times.begin_cycle = begin < times.begin_cycle ? begin : times.begin_cycle;
        times.end_cycle = steps[i].end_cycle;
        times.profile_cycles += times.end_cycle - begin;
        times.l3_wait_cycles += steps[i].start_cycle - steps[i].begin_cycle;
    }
    return times;
}

/* What most of the time goes to. */
static const char *limit_of(const struct report *report, int layer)
{
    const struct plan_layer *planned = &report->plan->layers[layer];
    struct layer_times times = times_of(report, layer);
    uint64_t half = times.profile_cycles / 2;
    if (times.l3_wait_cycles > half)
        return "l3";
    if (planned->dma_cycles > planned->kernel_cycles)
        return planned->dma_cycles > half ? "dma" : "overhead";
    return planned->kernel_cycles > half ? "compute" : "overhead";
}

/* ---- traffic ---- */

/* What its steps read. */
static uint64_t l3_read_bytes(const struct plan *plan, int layer)
{
    uint64_t bytes = 0;
    for (int i = 0; i < plan->transfer_count; i++) {
        const struct plan_transfer *transfer = &plan->transfers[i];
        bool serves = transfer->needed_step < plan->step_count && plan->steps[transfer->needed_step].layer == layer;
        if (transfer->record.kind != HAL_RAM_WRITE && serves)
            bytes += (uint64_t)transfer->record.run_bytes * transfer->record.runs;
    }
    return bytes;
}

static uint64_t l3_write_bytes(const struct plan *plan, int layer)
{
    uint64_t bytes = 0;
    for (int i = 0; i < plan->transfer_count; i++) {
        const struct plan_transfer *transfer = &plan->transfers[i];
        int tensor = transfer->buffer < 0 ? -1 : plan->buffers[transfer->buffer].tensor;
        if (transfer->record.kind == HAL_RAM_WRITE && tensor >= 0 && plan->network->tensors[tensor].producer == layer)
            bytes += (uint64_t)transfer->record.run_bytes * transfer->record.runs;
    }
    return bytes;
}

static bool step_uses(const struct plan_step *step, int buffer)
{
    return step->input_buffer[0] == buffer || step->input_buffer[1] == buffer || step->output_buffer == buffer ||
           step->weights_buffer == buffer;
}

int report_first_use(const struct plan *plan, int buffer)
{
    const struct plan_buffer *planned = &plan->buffers[buffer];
    for (int i = planned->first_step; i <= planned->last_step && i < plan->step_count; i++)
        if (step_uses(&plan->steps[i], buffer))
            return i;
    return planned->first_step;
}

/* ---- sums ---- */

static void add_layer(struct layer_totals *totals, const struct report *report, int layer)
{
    const struct plan_layer *planned = &report->plan->layers[layer];
    totals->tiles += planned->tile_count;
    totals->macs += planned->macs;
    totals->weights_bytes += planned->weights_bytes;
    totals->kernel_cycles += planned->kernel_cycles;
    totals->dma_cycles += planned->dma_cycles;
    totals->predicted_cycles += planned->predicted_cycles;
    totals->l3_read_bytes += l3_read_bytes(report->plan, layer);
    totals->l3_write_bytes += l3_write_bytes(report->plan, layer);
    totals->measured_cycles += report->measured ? report->measured[layer].cycles : 0;
}

struct layer_totals report_totals(const struct report *report)
{
    struct layer_totals totals = {0};
    for (int i = 0; i < report->plan->network->layer_count; i++)
        add_layer(&totals, report, i);
    return totals;
}

/* ---- shape and tile ---- */

const char *report_normalisation(const struct plan *plan, int layer)
{
    switch ((enum dory_normalisation)plan->layers[layer].record.normalisation) {
#define WORD(normalisation, word)                                                                                           \
    case normalisation: return word;
        DORY_NORMALISATIONS(WORD)
    }
    return "other";
}

static void set_pair(json_t *object, const char *key, uint64_t first, uint64_t second)
{
    json_t *array = value_array();
    append_number(array, first);
    append_number(array, second);
    set_value(object, key, array);
}

static void set_shape(json_t *object, const char *key, uint64_t height, uint64_t width, uint64_t channels)
{
    json_t *array = value_array();
    append_number(array, height);
    append_number(array, width);
    append_number(array, channels);
    set_value(object, key, array);
}

static void set_geometry(json_t *object, const struct network *network, const struct layer *layer)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]], *output = &network->tensors[layer->output];
    json_t *inputs = value_array();
    append_number(inputs, (uint64_t)layer->inputs[0]);
    if (layer_has_two_inputs(layer))
        append_number(inputs, (uint64_t)layer->inputs[1]);
    set_value(object, "inputs", inputs);
    set_number(object, "output", (uint64_t)layer->output);
    set_shape(object, "input_shape", (uint64_t)input->height, (uint64_t)input->width, (uint64_t)input->channels);
    set_shape(object, "output_shape", (uint64_t)output->height, (uint64_t)output->width, (uint64_t)output->channels);
    set_pair(object, "filter", (uint64_t)layer->kernel_height, (uint64_t)layer->kernel_width);
    set_pair(object, "stride", (uint64_t)layer->stride_height, (uint64_t)layer->stride_width);
    set_pair(object, "dilation", (uint64_t)layer->dilation_height, (uint64_t)layer->dilation_width);
    set_number(object, "groups", (uint64_t)layer->groups);
}

static void set_tile(json_t *object, const struct plan_layer *planned)
{
    json_t *tile = value_object();
    set_number(tile, "rows", planned->record.tile.rows);
    set_number(tile, "columns", planned->record.tile.columns);
    set_number(tile, "channels", planned->record.tile.channels);
    set_number(tile, "input_channels", planned->record.tile.input_channels);
    set_text(tile, "order", planned->record.tile_order == DORY_CHANNELS_OUTER ? "channels_outer" : "space_outer");
    set_value(object, "tile", tile);
    set_number(object, "tiles", planned->tile_count);
}

/* ---- L1 ---- */

static void append_operand(json_t *list, const char *operand, uint32_t offset, uint32_t bytes)
{
    if (offset == DORY_NO_BUFFER || offset == DORY_IN_PLACE || bytes == 0)
        return;
    json_t *object = value_object();
    set_text(object, "operand", operand);
    set_number(object, "offset", offset);
    set_number(object, "bytes", bytes);
    append_value(list, object);
}

/* One or two buffers. */
static void append_operands(json_t *list, const char *operand, const uint32_t offset[2], uint32_t bytes)
{
    append_operand(list, operand, offset[0], bytes);
    if (offset[1] != offset[0])
        append_operand(list, operand, offset[1], bytes);
}

static json_t *describe_l1(const struct plan *plan, const struct plan_layer *planned)
{
    const struct dory_layer *record = &planned->record;
    uint32_t scratch = dory_scratch_bytes(planned->kernel, record, &record->tile, plan->cores);
    json_t *list = value_array();
    append_operands(list, "input", record->l1.input, dory_input_tile_bytes(record, &record->tile, 0));
    if (dory_has_second_input(record))
        append_operands(list, "second_input", record->l1.second_input, dory_input_tile_bytes(record, &record->tile, 1));
    append_operands(list, "weights", record->l1.weights,
                    dory_weights_tile_bytes(planned->engine->weights, record, &record->tile));
    append_operands(list, "output", record->l1.output, dory_output_tile_bytes(record, &record->tile));
    append_operand(list, "accumulators", record->l1.accumulators, dory_accumulator_bytes(record, &record->tile));
    append_operand(list, "scratch", record->l1.scratch, scratch);
    return list;
}

/* What no tile copies. */
static void set_in_place(json_t *object, const struct dory_l1_map *map)
{
    unsigned in_place = dory_operands_in_place(map);
    json_t *list = value_array();
    if (in_place & DORY_INPUTS_IN_PLACE)
        append_value(list, json_string("inputs"));
    if (in_place & DORY_WEIGHTS_IN_PLACE)
        append_value(list, json_string("weights"));
    if (in_place & DORY_OUTPUT_IN_PLACE)
        append_value(list, json_string("output"));
    set_value(object, "in_place", list);
}

/* ---- a layer ---- */

static void set_times(json_t *object, const struct report *report, int layer)
{
    const struct plan_layer *planned = &report->plan->layers[layer];
    struct layer_times times = times_of(report, layer);
    set_number(object, "predicted_cycles", planned->predicted_cycles);
    set_number(object, "kernel_cycles", planned->kernel_cycles);
    set_number(object, "dma_cycles", planned->dma_cycles);
    set_number(object, "exposed_dma_cycles", planned->exposed_cycles);
    set_number(object, "l3_wait_cycles", times.l3_wait_cycles);
    set_number(object, "profile_cycles", times.profile_cycles);
    set_number(object, "begin_cycle", times.begin_cycle);
    set_number(object, "end_cycle", times.end_cycle);
    set_ratio(object, "macs_per_cycle", planned->macs, planned->predicted_cycles);
    set_ratio(object, "compute_share", planned->kernel_cycles, times.profile_cycles);
    set_text(object, "limited_by", limit_of(report, layer));
}

static void set_measured(json_t *object, const struct report *report, int layer)
{
    if (!report->measured || !report->measured[layer].is_known)
        return;
    const struct measured_layer *measured = &report->measured[layer];
    json_t *values = value_object();
    set_number(values, "cycles", measured->cycles);
    set_number(values, "dma_wait_cycles", measured->dma_wait_cycles);
    set_number(values, "l3_wait_cycles", measured->l3_wait_cycles);
    set_value(object, "measured", values);
}

json_t *report_describe_layer(const struct report *report, int layer)
{
    const struct plan *plan = report->plan;
    const struct plan_layer *planned = &plan->layers[layer];
    json_t *object = value_object();
    set_text(object, "name", plan->network->layers[layer].name);
    set_text(object, "kind", layer_identifier(plan->network, &plan->network->layers[layer]));
    set_text(object, "kind_words", layer_words(plan->network, &plan->network->layers[layer]));
    set_geometry(object, plan->network, &plan->network->layers[layer]);
    set_text(object, "kernel", planned->kernel->name);
    set_boolean(object, "made_with_layer_before", planned->is_added);
    set_text(object, "normalisation", report_normalisation(plan, layer));
    if (planned->requantisation) {
        struct arena arena = {0};
        set_text(object, "requantisation", requantisation_text(planned->requantisation, &arena));
        arena_free(&arena);
    }
    set_tile(object, planned);
    set_number(object, "first_step", (uint64_t)planned->first_step);
    set_number(object, "steps", (uint64_t)planned->step_count);
    set_index(object, "block", planned->block);
    set_number(object, "macs", planned->macs);
    set_number(object, "weights_bytes", planned->weights_bytes);
    set_number(object, "weights_address", planned->weights_address);
    set_number(object, "l3_read_bytes", l3_read_bytes(plan, layer));
    set_number(object, "l3_write_bytes", l3_write_bytes(plan, layer));
    set_number(object, "l1_bytes", planned->l1_bytes);
    set_value(object, "l1", describe_l1(plan, planned));
    set_in_place(object, &planned->record.l1);
    set_times(object, report, layer);
    set_measured(object, report, layer);
    return object;
}
