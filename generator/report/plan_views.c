#include "report/plan_views.h"

#include <inttypes.h>

#include "dory/hal.h"
#include "emit/records.h"
#include "plan/lives.h"
#include "plan/timeline.h"

static void add_name(struct text *text, const char *name)
{
    text_add_in_comment(text, name ? name : "");
    text_add_string(text, "\n");
}

/* A tensor's name says little where it is a number: behind it stands the layer that makes the tensor. */
static void add_tensor_name(struct text *text, const struct plan *plan, const char *name, int tensor)
{
    int producer = plan->network->tensors[tensor].producer;
    text_add_in_comment(text, name);
    if (producer != NO_LAYER)
        text_add_string(text, ", of ");
    add_name(text, producer != NO_LAYER ? plan->network->layers[producer].name : NULL);
}

/* ---- describe ---- */

void plan_view_layers(struct text *text, const struct network *network, const struct described_layer *layers)
{
    for (int i = 0; i < network->layer_count; i++) {
        text_add(text, "layer %d ", i);
        text_add_in_comment(text, network->layers[i].name);
        text_add_string(text, " ");
        print_record(text, &record_layer, &layers[i].record, 4);
        if (layers[i].record.stages) {
            text_add_string(text, " stages ");
            print_record(text, &record_stages, layers[i].record.stages, 4);
        }
        if (layers[i].sums)
            text_add(text, " %d channels of sums, in the form that its engine prefers", layers[i].sums->channel_count);
        text_add_string(text, "\n");
    }
}

/* ---- tile ---- */

void plan_view_tiles(struct text *text, const struct plan *plan)
{
    text_add(text, "%5s %5s %7s %8s %8s %-8s %6s %9s %10s %10s %10s  %s\n", "layer", "rows", "columns", "channels",
             "in chan.", "order", "tiles", "L1 B", "cycles", "kernels", "DMA alone", "kernel; layer");
    for (int i = 0; i < plan->network->layer_count; i++) {
        const struct plan_layer *layer = &plan->layers[i];
        const struct dory_layer *record = &layer->record;
        text_add(text, "%5d %5d %7d %8d %8d %-8s %6" PRIu32 " %9" PRIu32 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "  %s; ",
                 i, record->tile.rows, record->tile.columns, record->tile.channels, record->tile.input_channels,
                 record->tile_order == DORY_SPACE_OUTER ? "space" : "channels", layer->tile_count, layer->l1_bytes,
                 layer->predicted_cycles, layer->kernel_cycles, layer->exposed_cycles, layer->kernel->name);
        add_name(text, plan->network->layers[i].name);
    }
    text_add_string(text, "\n");
    for (int i = 0; i < plan->network->layer_count; i++) {
        text_add(text, "layer %d, L1 ", i);
        print_record(text, &record_l1_map, &plan->layers[i].record.l1, 4);
        text_add_string(text, "\n");
    }
}

/* ---- decide ---- */

static void add_tensor_levels(struct text *text, const struct plan *plan)
{
    static const char *const levels[] = {[IN_L2] = "L2", [IN_RAM] = "RAM", [IN_RING] = "ring"};
    text_add(text, "%6s %9s %-6s %-6s %s\n", "tensor", "bytes", "memory", "layout", "name");
    for (int i = 0; i < plan->network->tensor_count; i++) {
        const struct plan_tensor *tensor = &plan->tensors[i];
        text_add(text, "%6d %9" PRIu32 " %-6s %-6s ", i, tensor->bytes, levels[tensor->level],
                 tensor->layout == DORY_CHW ? "CHW" : "HWC");
        add_tensor_name(text, plan, plan->network->tensors[i].name, i);
    }
}

/* The first step is as large as any. */
static void add_cuts(struct text *text, const struct plan *plan)
{
    text_add(text, "\n%5s %6s %10s %14s %10s %12s  %s\n", "layer", "steps", "rows each", "channels each", "rows", "channels",
             "name");
    for (int i = 0; i < plan->network->layer_count; i++) {
        const struct plan_layer *layer = &plan->layers[i];
        const struct dory_step *first = &plan->steps[layer->first_step].record;
        text_add(text, "%5d %6d %10d %14d %10d %12d  ", i, layer->step_count, first->rows, first->channels,
                 layer->record.output_height, layer->record.output_channels);
        add_name(text, plan->network->layers[i].name);
    }
}

void plan_view_decision(struct text *text, const struct plan *plan)
{
    add_tensor_levels(text, plan);
    add_cuts(text, plan);
}

/* ---- schedule ---- */

static void add_steps(struct text *text, const struct plan *plan)
{
    struct timeline timeline;
    const uint32_t *live = buffers_live_bytes(plan->buffers, plan->buffer_count, plan->step_count, text->arena);
    timeline_make(plan, &timeline, text->arena);
    text_add(text, "%5s %5s %11s %11s %5s %7s %7s %10s %10s %10s %9s  %s\n", "step", "layer", "rows", "channels", "drain",
             "awaited", "started", "begin", "start", "end", "L2 live B", "name");
    for (int i = 0; i < plan->step_count; i++) {
        const struct dory_step *record = &plan->steps[i].record;
        const struct timeline_step *times = &timeline.steps[i];
        text_add(text, "%5d %5d %5d-%5d %5d-%5d %5s %7d %7d %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %9" PRIu32 "  ", i,
                 plan->steps[i].layer, record->first_row, record->first_row + record->rows - 1, record->first_channel,
                 record->first_channel + record->channels - 1, record->drain ? "yes" : "-", record->transfers_awaited,
                 record->transfers_started, times->begin_cycle, times->start_cycle, times->end_cycle, live[i]);
        add_name(text, plan->network->layers[plan->steps[i].layer].name);
    }
}

void plan_view_transfers(struct text *text, const struct plan *plan)
{
    static const char *const words[] = {[HAL_FLASH_READ] = "flash", [HAL_RAM_READ] = "from RAM", [HAL_RAM_WRITE] = "to RAM"};
    if (!plan->transfer_count)
        return;
    text_add(text, "\n%8s  %-8s %10s %10s %6s %9s %6s %6s\n", "transfer", "kind", "L3 address", "L2 offset", "runs",
             "run bytes", "start", "needed");
    for (int i = 0; i < plan->transfer_count; i++) {
        const struct plan_transfer *transfer = &plan->transfers[i];
        text_add(text, "%8d  %-8s %10" PRIu32 " %10" PRIu32 " %6u %9" PRIu32 " %6d %6d\n", i, words[transfer->record.kind],
                 transfer->record.l3_address, transfer->record.l2_offset, transfer->record.runs, transfer->record.run_bytes,
                 transfer->start_step, transfer->needed_step);
    }
}

void plan_view_schedule(struct text *text, const struct plan *plan)
{
    add_steps(text, plan);
    plan_view_transfers(text, plan);
}

/* ---- place ---- */

void plan_view_places(struct text *text, const struct plan *plan)
{
    static const char *const words[] = {
        [BUFFER_TENSOR] = "tensor", [BUFFER_WINDOW] = "window", [BUFFER_WEIGHTS] = "weights", [BUFFER_RING] = "ring"};
    text_add(text, "\n%10s %9s %14s  %-8s %s\n", "L2 offset", "bytes", "steps", "kind", "buffer");
    for (int i = 0; i < plan->buffer_count; i++) {
        const struct plan_buffer *buffer = &plan->buffers[i];
        text_add(text, "%10" PRIu32 " %9" PRIu32 " %14s  %-8s ", buffer->offset, buffer->bytes,
                 arena_format(text->arena, "%d-%d", buffer->first_step, buffer->last_step), words[buffer->kind]);
        if (buffer->name && buffer->tensor >= 0)
            add_tensor_name(text, plan, buffer->name, buffer->tensor);
        else
            add_name(text, buffer->name);
    }
    text_add_string(text, "\n");
    for (int i = 0; i < plan->network->tensor_count; i++)
        if (plan->tensors[i].level == IN_RAM) {
            text_add(text, "RAM offset %10" PRIu32 ", %9" PRIu32 " B: ", plan->tensors[i].ram_offset,
                     plan->tensors[i].bytes);
            add_tensor_name(text, plan, plan->network->tensors[i].name, i);
        }
}
