#include "report/plan_text.h"

#include <inttypes.h>

#include "dory/hal.h"
#include "report/plan_report.h"

/* ---- memory ---- */

static const char *kind_word(enum plan_buffer_kind kind)
{
    static const char *const words[] = {
        [BUFFER_TENSOR] = "tensor", [BUFFER_WINDOW] = "window", [BUFFER_WEIGHTS] = "weights"};
    return words[kind];
}

static void add_memory(struct text *text, const struct plan *plan)
{
    text_add(text, "\n%10s %9s %14s  %-8s %s\n", "L2 offset", "bytes", "steps", "kind", "buffer");
    for (int i = 0; i < plan->buffer_count; i++) {
        const struct plan_buffer *buffer = &plan->buffers[i];
        text_add(text, "%10" PRIu32 " %9" PRIu32 " %14s  %-8s ", buffer->offset, buffer->bytes,
                 arena_format(text->arena, "%d-%d", buffer->first_step, buffer->last_step), kind_word(buffer->kind));
        text_add_in_comment(text, buffer->name ? buffer->name : "");
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
            text_add_in_comment(text, plan->network->tensors[i].name);
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
    text_add_in_comment(text, text_file_name(plan->network->name));
    text_add_string(text, "\n");
    plan_report(text, plan);
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
        text_add_in_comment(text, plan->network->layers[i].name);
        text_add_string(text, "\n");
    }
}
