/* Outputs that lie where an input does: row by row, from the definition of a convolution. */
#include "check/checker.h"
#include "plan/operand.h"

/* Of the input rows that an output row reads, the first one that exists; all rows where there is none. */
static uint32_t first_row_needed(const struct dory_layer *record, uint32_t row)
{
    int64_t divisor = record->row_divisor ? record->row_divisor : 1;
    for (uint32_t k = 0; k < record->kernel_height; k++) {
        int64_t needed =
            (int64_t)row * record->stride_height / divisor + (int64_t)k * record->dilation_height - record->padding_top;
        if (needed >= 0)
            return (uint32_t)(needed < record->input_height ? needed : record->input_height);
    }
    return 0;
}

/* While a row is written, none of what this row and those behind it read lies there. */
static bool rows_are_apart(const struct dory_layer *record, const struct dory_window *input,
                           const struct dory_window *output, unsigned operand)
{
    uint32_t least = record->input_height;
    for (uint32_t row = record->output_height; row-- > 0;) {
        uint32_t needed = first_row_needed(record, row);
        least = needed < least ? needed : least;
        uint64_t end = output->offset + ((uint64_t)row + 1) * operand_row_bytes(record, 2);
        if (least < record->input_height && end > input->offset + (uint64_t)least * operand_row_bytes(record, operand))
            return false;
    }
    return true;
}

bool check_may_overwrite(const struct plan *plan, const struct plan_step *step, unsigned operand)
{
    const struct plan_layer *layer = &plan->layers[step->layer];
    const struct dory_layer *record = &layer->record;
    bool in_order = plan->runs_layers && plan->cores == 1 && layer->kernel->in_row_order && layer->step_count == 1;
    bool rows = record->input_layout == DORY_HWC && record->output_layout == DORY_HWC && record->output_height > 0 &&
                !operand_is_pixel(record, operand) && operand_height(record, operand) == record->input_height;
    bool pixels = operand == 0 || record->operation != DORY_MATRIX_PRODUCT;
    return in_order && rows && pixels && rows_are_apart(record, &step->record.input[operand], &step->record.output, operand);
}

bool check_may_extend(const struct plan *plan, const struct plan_step *step)
{
    const struct dory_layer *record = &plan->layers[step->layer].record;
    const struct layer *layer = &plan->network->layers[step->layer];
    bool is_row = record->input_height == 1 && record->input_width == 1 && record->output_height == 1 &&
                  record->output_width == 1 && record->input_bits == 8 && record->output_bits == 8;
    bool is_whole = record->tile.channels == record->output_channels && step->record.channels == record->output_channels;
    bool is_same = layer->stage_count == 0 && layer->input_stages[0].count == 0;
    return record->operation == DORY_CONCATENATION && is_row && is_whole && is_same &&
           step->record.input[0].offset == step->record.output.offset;
}
