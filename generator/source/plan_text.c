#include "plan_text.h"

#include <inttypes.h>

#include "dory/hal.h"

static void add_name(struct text *text, const char *name, int columns)
{
    size_t start = text->length;
    text_add_in_comment(text, name); /* one line, printable */
    while (text->length < start + (size_t)columns)
        text_add_string(text, " ");
}

/* ---- layers ---- */

static void add_layer(struct text *text, const struct plan *plan, int index)
{
    const struct plan_layer *layer = &plan->layers[index];
    const struct dory_layer *run = &layer->run;
    struct arena *arena = text->arena;
    text_add(text, "%5d  ", index);
    add_name(text, plan->network->layers[index].name, 24);
    text_add(text, "  %-14s %-14s",
             arena_format(arena, "%ux%ux%u", run->input_height, run->input_width, run->input_channels),
             arena_format(arena, "%ux%ux%u", run->output_height, run->output_width, run->output_channels));
    text_add(
        text, "  %-16s %5" PRIu32 " %5d",
        arena_format(arena, "%ux%ux%u/%u", run->tile_rows, run->tile_columns, run->tile_channels, run->tile_input_channels),
        layer->tile_count, layer->step_count);
    text_add(text, " %9" PRIu32 " %9" PRIu32 " %12" PRIu64 " %11" PRIu64, layer->l1_bytes, layer->weights_bytes, layer->macs,
             layer->predicted_cycles);
    text_add(text, " %11" PRIu64 " %11" PRIu64 "  %s\n", layer->kernel_cycles, layer->dma_cycles, layer->kernel->name);
}

static void add_layers(struct text *text, const struct plan *plan)
{
    text_add(text, "%5s  %-24s  %-14s %-14s  %-16s %5s %5s %9s %9s %12s %11s %11s %11s  %s\n", "layer", "name", "input",
             "output", "tile HxWxC/Cin", "tiles", "steps", "L1 bytes", "weights", "MAC", "cycles", "kernel", "DMA",
             "kernel");
    for (int i = 0; i < plan->network->layer_count; i++)
        add_layer(text, plan, i);
    text_add_string(text, "\n");
}

/* ---- memory ---- */

static const char *kind_word(enum plan_buffer_kind kind)
{
    static const char *const words[] = {
        [BUFFER_TENSOR] = "tensor", [BUFFER_WINDOW] = "window", [BUFFER_WEIGHTS] = "weights"};
    return words[kind];
}

static void add_memory(struct text *text, const struct plan *plan)
{
    text_add(text, "L1: %" PRIu32 " B used of %" PRIu32 " B\n", plan->l1_peak_bytes, plan->l1_arena_bytes);
    text_add(text, "L2: %" PRIu32 " B used of %" PRIu32 " B; lower bound %" PRIu32 " B\n", plan->l2_peak_bytes,
             plan->l2_arena_bytes, plan->l2_live_bytes);
    text_add(text, "RAM: %" PRIu32 " B; flash: %" PRIu32 " B\n\n", plan->ram_bytes, plan->flash_bytes);
    text_add(text, "%10s %9s %14s  %-8s %s\n", "L2 offset", "bytes", "steps", "kind", "buffer");
    for (int i = 0; i < plan->buffer_count; i++) {
        const struct plan_buffer *buffer = &plan->buffers[i];
        text_add(text, "%10" PRIu32 " %9" PRIu32 " %14s  %-8s ", buffer->offset, buffer->bytes,
                 arena_format(text->arena, "%d-%d", buffer->first_step, buffer->last_step), kind_word(buffer->kind));
        add_name(text, buffer->name ? buffer->name : "", 0);
        text_add_string(text, "\n");
    }
    text_add_string(text, "\n");
}

static void add_tensors_in_ram(struct text *text, const struct plan *plan)
{
    for (int i = 0; i < plan->network->tensor_count; i++)
        if (plan->tensors[i].home == HOME_RAM) {
            text_add(text, "RAM offset %10" PRIu32 ", %9" PRIu32 " B: ", plan->tensors[i].ram_offset,
                     plan->tensors[i].bytes);
            add_name(text, plan->network->tensors[i].name, 0);
            text_add_string(text, "\n");
        }
}

static void add_transfers(struct text *text, const struct plan *plan)
{
    static const char *const words[] = {[HAL_FLASH_READ] = "flash", [HAL_RAM_READ] = "from RAM", [HAL_RAM_WRITE] = "to RAM"};
    text_add(text, "\n%8s  %-8s %10s %10s %6s %9s %6s %6s\n", "transfer", "kind", "L3 address", "L2 offset", "runs",
             "run bytes", "start", "needed");
    for (int i = 0; i < plan->transfer_count; i++) {
        const struct plan_transfer *transfer = &plan->transfers[i];
        text_add(text, "%8d  %-8s %10" PRIu32 " %10" PRIu32 " %6u %9" PRIu32 " %6d %6d\n", i, words[transfer->run.kind],
                 transfer->run.l3_address, transfer->run.l2_offset, transfer->run.runs, transfer->run.run_bytes,
                 transfer->start_step, transfer->needed_step);
    }
}

void plan_text(struct text *text, const struct plan *plan)
{
    text_add_string(text, "Plan of ");
    add_name(text, text_file_name(plan->network->name), 0);
    text_add(text, " on %s with %u cores: %d layers, %d steps, %" PRIu64 " cycles predicted\n\n", plan->target->name,
             plan->cores, plan->network->layer_count, plan->step_count, plan->predicted_cycles);
    add_layers(text, plan);
    add_memory(text, plan);
    add_tensors_in_ram(text, plan);
    if (plan->transfer_count)
        add_transfers(text, plan);
}

void plan_text_layout(struct text *text, const struct plan *plan)
{
    text_add(text, "flash image: %" PRIu32 " B, header %d B\n", plan->flash_bytes, FLASH_HEADER_BYTES);
    for (int i = 0; i < plan->network->layer_count; i++) {
        const struct plan_layer *layer = &plan->layers[i];
        if (!layer->weights_bytes)
            continue;
        text_add(text, "%10" PRIu32 " %9" PRIu32 " B, quads of %" PRIu32 " B: ", layer->weights_address,
                 layer->weights_bytes, layer->run.quad_bytes);
        for (uint32_t byte = 0; byte < 16 && byte < layer->weights_bytes; byte++)
            text_add(text, "%02x ", plan->flash_image[layer->weights_address + byte]);
        add_name(text, plan->network->layers[i].name, 0);
        text_add_string(text, "\n");
    }
}
