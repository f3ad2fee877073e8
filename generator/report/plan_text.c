#include "report/plan_text.h"

#include <inttypes.h>

#include "report/plan_report.h"
#include "report/plan_views.h"

/* "0-3, 7, 9-11" */
static void add_ranges(struct text *text, const int *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        int first = numbers[i];
        while (i + 1 < count && numbers[i + 1] == numbers[i] + 1)
            i++;
        text_add(text, "%s%d", first == numbers[0] ? "" : ", ", first);
        if (numbers[i] > first)
            text_add(text, "-%d", numbers[i]);
    }
}

static void add_kept(struct text *text, int layer, const int *kept, int count, int all, const char *what)
{
    if (!kept)
        return;
    text_add(text, "%7d  %d of %d %s: ", layer, count, all, what);
    add_ranges(text, kept, count);
    text_add_string(text, "\n");
}

/* Where a channel, a row or a column of the firmware stands in the model. */
static void add_channels(struct text *text, const struct network *network)
{
    if (!network->whole)
        return;
    text_add_string(text, "Without dead channels, which are constant or which no layer reads, and unread pixels. These are "
                          "computed:\n");
    for (int i = 0; i < network->layer_count; i++) {
        const struct tensor *tensor = &network->tensors[network->layers[i].output];
        const struct tensor *all = &network->whole->tensors[network->layers[i].output];
        add_kept(text, i, tensor->kept, tensor->channels, all->channels, "channels");
        add_kept(text, i, tensor->kept_rows, tensor->height, all->height, "rows");
        add_kept(text, i, tensor->kept_columns, tensor->width, all->width, "columns");
    }
    text_add_string(text, "\n");
}

/* What is where another tensor is, and no layer's any more. */
static void add_views(struct text *text, const struct network *network)
{
    if (!network->copied)
        return;
    text_add_string(text, "Without copies that only rearrange. What lies in another tensor:\n");
    for (int i = 0; i < network->tensor_count; i++) {
        const struct tensor *tensor = &network->tensors[i];
        if (!tensor->view)
            continue;
        text_add(text, "         %dx%dx%d, ", tensor->height, tensor->width, tensor->channels);
        text_add_in_comment(text, tensor->name);
        text_add(text, ": from element %d of ", tensor->view->first);
        text_add_in_comment(text, network->tensors[tensor->view->of].name);
        text_add(text, ", rows %d apart, columns %d", tensor->view->row_step, tensor->view->column_step);
        if (tensor->view->channel_step != 1)
            text_add(text, ", channels %d", tensor->view->channel_step);
        text_add_string(text, "\n");
    }
    text_add_string(text, "\n");
}

void plan_text(struct text *text, const struct plan *plan)
{
    text_add_string(text, "Plan of ");
    text_add_in_comment(text, text_file_name(plan->network->name));
    text_add_string(text, "\n");
    plan_report(text, plan);
    add_channels(text, plan->network);
    add_views(text, plan->network);
    plan_view_places(text, plan);
    plan_view_transfers(text, plan);
}

void plan_text_layout(struct text *text, const struct plan *plan)
{
    text_add(text, "flash image: %" PRIu32 " B, header %d B\n", plan->flash_bytes, FLASH_HEADER_BYTES);
    for (int i = 0; i < plan->network->layer_count; i++) {
        const struct plan_layer *layer = &plan->layers[i];
        if (!layer->weights_bytes)
            continue;
        text_add(text, "%10" PRIu32 " %9" PRIu32 " B, blocks of %" PRIu32 " B: ", layer->weights_address,
                 layer->weights_bytes, layer->record.block_bytes);
        for (uint32_t byte = 0; byte < 16 && byte < layer->weights_bytes; byte++)
            text_add(text, "%02x ", plan->flash_image[layer->weights_address + byte]);
        text_add_in_comment(text, plan->network->layers[i].name);
        text_add_string(text, "\n");
    }
}
