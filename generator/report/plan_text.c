#include "report/plan_text.h"

#include <inttypes.h>

#include "report/plan_report.h"
#include "report/plan_views.h"

void plan_text(struct text *text, const struct plan *plan)
{
    text_add_string(text, "Plan of ");
    text_add_in_comment(text, text_file_name(plan->network->name));
    text_add_string(text, "\n");
    plan_report(text, plan);
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
        text_add(text, "%10" PRIu32 " %9" PRIu32 " B, quads of %" PRIu32 " B: ", layer->weights_address,
                 layer->weights_bytes, layer->record.quad_bytes);
        for (uint32_t byte = 0; byte < 16 && byte < layer->weights_bytes; byte++)
            text_add(text, "%02x ", plan->flash_image[layer->weights_address + byte]);
        text_add_in_comment(text, plan->network->layers[i].name);
        text_add_string(text, "\n");
    }
}
