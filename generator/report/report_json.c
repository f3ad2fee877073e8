/* report.json: the plan as data. docs/report.md is its description; a change here is a change there. */
#include "report/report_files.h"

#include "emit/records.h"
#include "plan/table_bytes.h"
#include "report/report_layer.h"
#include "report/report_values.h"

#define FORMAT_VERSION 1

/* ---- network and target ---- */

static json_t *indices(const int *list, int count)
{
    json_t *array = value_array();
    for (int i = 0; i < count; i++)
        append_number(array, (uint64_t)list[i]);
    return array;
}

static json_t *describe_network(const struct network *network)
{
    json_t *object = value_object();
    set_text(object, "name", text_file_name(network->name));
    set_value(object, "inputs", indices(network->inputs, network->input_count));
    set_value(object, "outputs", indices(network->outputs, network->output_count));
    return object;
}

static json_t *describe_target(const struct target *target)
{
    json_t *object = value_object();
    set_text(object, "name", target->name);
    set_number(object, "cores", target->cores);
    set_boolean(object, "counts_instructions", target->counts_instructions);
    set_number(object, "l1_bytes", target->l1_bytes);
    set_number(object, "l1_stack_bytes", target->l1_stack_bytes);
    set_number(object, "l2_bytes", target->l2_bytes);
    set_number(object, "l2_firmware_bytes", target->l2_firmware_bytes);
    set_number(object, "flash_bytes", target->flash_bytes);
    set_number(object, "ram_bytes", target->ram_bytes);
    set_number(object, "dma_read_bytes_per_1000_cycles", target->dma_read_bytes_per_1000_cycles);
    set_number(object, "dma_write_bytes_per_1000_cycles", target->dma_write_bytes_per_1000_cycles);
    set_number(object, "l3_bytes_per_1000_cycles", target->l3_bytes_per_1000_cycles);
    set_number(object, "l3_setup_cycles", target->l3_setup_cycles);
    return object;
}

/* What the options came to, whether they were given or not. */
static json_t *describe_options(const struct report *report)
{
    const struct plan *plan = report->plan;
    json_t *object = value_object();
    set_number(object, "cores", plan->cores);
    set_number(object, "l1_arena_bytes", plan->l1_arena_bytes);
    set_number(object, "l2_arena_bytes", plan->l2_arena_bytes);
    set_value(object, "clock_mhz", report->clock_mhz ? json_integer(report->clock_mhz) : json_null());
    return object;
}

static json_t *describe_memory(const struct plan *plan)
{
    json_t *object = value_object();
    set_number(object, "l1_arena_bytes", plan->l1_arena_bytes);
    set_number(object, "l1_peak_bytes", plan->l1_peak_bytes);
    set_number(object, "l2_arena_bytes", plan->l2_arena_bytes);
    set_number(object, "l2_peak_bytes", plan->l2_peak_bytes);
    set_number(object, "l2_lower_bound_bytes", plan->l2_live_bytes);
    set_number(object, "l2_gap_cycles", plan->l2_gap_cycles);
    set_number(object, "l2_table_bytes", table_bytes_of_plan(plan));
    set_number(object, "l2_firmware_bytes", plan->l2_firmware_bytes);
    set_number(object, "flash_bytes", plan->flash_bytes);
    set_number(object, "ram_bytes", plan->ram_bytes);
    set_number(object, "resident_bytes", plan->resident_bytes);
    set_boolean(object, "runs_layers", plan->runs_layers);
    set_number(object, "linked_bytes", plan->weights_are_linked ? plan->flash_bytes : 0);
    set_number(object, "flash_cycles", plan->flash_cycles);
    return object;
}

/* Null for a plan that was made without a choice. */
static json_t *describe_proof(const struct plan *plan)
{
    const struct plan_proof *proof = &plan->proof;
    if (proof->rounds == 0)
        return json_null();
    json_t *object = value_object();
    set_boolean(object, "has_bound", plan_has_bound(plan));
    set_boolean(object, "is_optimal", proof->is_optimal);
    set_number(object, "searched_cycles", proof->searched_cycles);
    set_number(object, "bound_cycles", proof->bound_cycles);
    set_number(object, "compute_cycles", proof->compute_cycles);
    set_number(object, "tail_cycles", proof->tail_cycles);
    set_number(object, "tail_bytes", proof->tail_bytes);
    set_index(object, "tail_layer", proof->tail_layer);
    set_number(object, "rounds", (uint64_t)proof->rounds);
    set_number(object, "nodes", (uint64_t)proof->nodes);
    return object;
}

/* ---- totals ---- */

static json_t *describe_totals(const struct report *report)
{
    const struct plan *plan = report->plan;
    struct layer_totals totals = report_totals(report);
    json_t *object = value_object();
    set_number(object, "layers", (uint64_t)plan->network->layer_count);
    set_number(object, "steps", (uint64_t)plan->step_count);
    set_number(object, "transfers", (uint64_t)plan->transfer_count);
    set_number(object, "tiles", totals.tiles);
    set_number(object, "placed_tiles", plan->tiles ? totals.tiles : 0);
    set_number(object, "macs", totals.macs);
    set_number(object, "weights_bytes", totals.weights_bytes);
    set_number(object, "kernel_cycles", totals.kernel_cycles);
    set_number(object, "dma_cycles", totals.dma_cycles);
    set_number(object, "start_cycles", plan->start_cycles);
    set_number(object, "layer_cycles", totals.predicted_cycles);
    set_number(object, "l3_wait_cycles", report->timeline->l3_wait_cycles);
    set_number(object, "l3_busy_cycles", report->timeline->l3_busy_cycles);
    set_number(object, "l3_read_bytes", totals.l3_read_bytes);
    set_number(object, "l3_write_bytes", totals.l3_write_bytes);
    set_number(object, "l1_moved_bytes", plan->moved.l1_bytes);
    set_number(object, "flash_moved_bytes", plan->moved.flash_bytes);
    set_number(object, "ram_moved_bytes", plan->moved.ram_bytes);
    if (plan->moved_without_blocks.cycles) {
        set_number(object, "l1_moved_bytes_without_blocks", plan->moved_without_blocks.l1_bytes);
        set_number(object, "flash_moved_bytes_without_blocks", plan->moved_without_blocks.flash_bytes);
        set_number(object, "ram_moved_bytes_without_blocks", plan->moved_without_blocks.ram_bytes);
    }
    set_number(object, "timeline_cycles", report->timeline->end_cycle);
    set_number(object, "predicted_cycles", plan->predicted_cycles);
    set_ratio(object, "macs_per_cycle", totals.macs, plan->predicted_cycles);
    if (report->measured)
        set_number(object, "measured_cycles", totals.measured_cycles);
    return object;
}

/* ---- tensors and buffers ---- */

static json_t *describe_shape(int height, int width, int channels)
{
    json_t *shape = value_array();
    append_number(shape, (uint64_t)height);
    append_number(shape, (uint64_t)width);
    append_number(shape, (uint64_t)channels);
    return shape;
}

static json_t *describe_tensor(const struct plan *plan, int index)
{
    const struct tensor *tensor = &plan->network->tensors[index];
    const struct plan_tensor *planned = &plan->tensors[index];
    static const char *const levels[] = {[IN_L2] = "l2", [IN_RAM] = "ram", [IN_RING] = "ring"};
    bool in_l2 = planned->level != IN_RAM;
    json_t *object = value_object();
    set_text(object, "name", tensor->name);
    set_value(object, "shape", describe_shape(tensor->height, tensor->width, tensor->channels));
    set_number(object, "bits", (uint64_t)tensor->bits);
    set_boolean(object, "signed", tensor->is_signed);
    set_number(object, "bytes", planned->bytes);
    set_index(object, "producer", tensor->producer);
    set_text(object, "memory", levels[planned->level]);
    set_text(object, "layout", planned->layout == DORY_CHW ? "chw" : "hwc");
    set_index(object, "buffer", in_l2 ? planned->buffer : -1);
    set_number(object, "offset", in_l2 ? plan->buffers[planned->buffer].offset : planned->ram_offset);
    return object;
}

static json_t *describe_buffer(const struct plan *plan, int index)
{
    static const char *const kinds[] = {
        [BUFFER_TENSOR] = "tensor", [BUFFER_WINDOW] = "window", [BUFFER_WEIGHTS] = "weights", [BUFFER_RING] = "ring"};
    const struct plan_buffer *buffer = &plan->buffers[index];
    json_t *object = value_object();
    set_text(object, "kind", kinds[buffer->kind]);
    set_text(object, "name", buffer->name ? buffer->name : "");
    set_index(object, "tensor", buffer->tensor);
    set_index(object, "layer", buffer->layer);
    set_number(object, "bytes", buffer->bytes);
    set_number(object, "offset", buffer->offset);
    set_number(object, "first_step", (uint64_t)buffer->first_step);
    set_number(object, "last_step", (uint64_t)buffer->last_step);
    set_number(object, "first_use_step", (uint64_t)report_first_use(plan, index));
    return object;
}

/* ---- steps and transfers ---- */

static json_t *describe_step(const struct report *report, int index)
{
    const struct plan_step *step = &report->plan->steps[index];
    const struct timeline_step *times = &report->timeline->steps[index];
    json_t *object = value_object();
    set_number(object, "layer", (uint64_t)step->layer);
    set_members(object, &record_step, &step->record);
    set_number(object, "begin_cycle", times->begin_cycle);
    set_number(object, "start_cycle", times->start_cycle);
    set_number(object, "end_cycle", times->end_cycle);
    return object;
}

static json_t *describe_transfer(const struct report *report, int index)
{
    const struct plan_transfer *transfer = &report->plan->transfers[index];
    const struct timeline_transfer *times = &report->timeline->transfers[index];
    json_t *object = value_object();
    set_members(object, &record_transfer, &transfer->record);
    set_index(object, "buffer", transfer->buffer);
    set_number(object, "bytes", (uint64_t)transfer->record.run_bytes * transfer->record.runs);
    set_number(object, "start_step", (uint64_t)transfer->start_step);
    set_number(object, "needed_step", (uint64_t)transfer->needed_step);
    set_number(object, "queued_cycle", times->queued_cycle);
    set_number(object, "start_cycle", times->start_cycle);
    set_number(object, "end_cycle", times->end_cycle);
    return object;
}

/* ---- all of it ---- */

static json_t *describe_layers(const struct report *report)
{
    json_t *array = value_array();
    for (int i = 0; i < report->plan->network->layer_count; i++)
        append_value(array, report_describe_layer(report, i));
    return array;
}

static json_t *describe_tensors(const struct plan *plan)
{
    json_t *array = value_array();
    for (int i = 0; i < plan->network->tensor_count; i++)
        append_value(array, describe_tensor(plan, i));
    return array;
}

static json_t *describe_buffers(const struct plan *plan)
{
    json_t *array = value_array();
    for (int i = 0; i < plan->buffer_count; i++)
        append_value(array, describe_buffer(plan, i));
    return array;
}

static json_t *describe_steps(const struct report *report)
{
    json_t *array = value_array();
    for (int i = 0; i < report->plan->step_count; i++)
        append_value(array, describe_step(report, i));
    return array;
}

static json_t *describe_transfers(const struct report *report)
{
    json_t *array = value_array();
    for (int i = 0; i < report->plan->transfer_count; i++)
        append_value(array, describe_transfer(report, i));
    return array;
}

const char *report_json(const struct report *report, bool compact, struct arena *arena)
{
    json_t *root = value_object();
    set_text(root, "format", "dory-report");
    set_number(root, "version", FORMAT_VERSION);
    set_text(root, "generator", "dory " DORY_VERSION);
    set_value(root, "network", describe_network(report->plan->network));
    set_value(root, "target", describe_target(report->plan->target));
    set_value(root, "options", describe_options(report));
    set_value(root, "totals", describe_totals(report));
    set_value(root, "memory", describe_memory(report->plan));
    set_value(root, "proof", describe_proof(report->plan));
    set_value(root, "layers", describe_layers(report));
    set_value(root, "tensors", describe_tensors(report->plan));
    set_value(root, "buffers", describe_buffers(report->plan));
    set_value(root, "steps", describe_steps(report));
    set_value(root, "transfers", describe_transfers(report));
    return value_print(root, compact, arena);
}
