#include "plan/operand.h"

bool operand_is_pixel(const struct dory_layer *record, unsigned operand)
{
    return operand == 1 && (record->second_repeats & DORY_REPEATS_PIXEL) != 0;
}

bool operand_has_all_channels(const struct dory_layer *record, unsigned operand)
{
    return operand != 2 && (dory_reads_all_channels(record) || dory_repeats_channel(record, operand));
}

uint32_t operand_height(const struct dory_layer *record, unsigned operand)
{
    if (operand == 1 && !operand_is_pixel(record, operand))
        return dory_second_row(record, record->input_height - 1u) + 1;
    return operand == 2 ? record->output_height : operand_is_pixel(record, operand) ? 1 : record->input_height;
}

uint32_t operand_width(const struct dory_layer *record, unsigned operand)
{
    if (operand == 1 && record->operation == DORY_MATRIX_PRODUCT)
        return record->output_channels;
    return operand == 2 ? record->output_width : operand_is_pixel(record, operand) ? 1 : record->input_width;
}

uint32_t operand_channels(const struct dory_layer *record, unsigned operand)
{
    return operand == 2 ? record->output_channels : dory_input_channels(record, operand);
}

uint32_t operand_bits(const struct dory_layer *record, unsigned operand)
{
    const uint8_t bits[] = {record->input_bits, record->second_input_bits, record->output_bits};
    return bits[operand];
}

uint32_t operand_pixel_bytes(const struct dory_layer *record, unsigned operand, uint32_t channels)
{
    return dory_element_bytes(channels, operand_bits(record, operand));
}

uint32_t operand_row_bytes(const struct dory_layer *record, unsigned operand)
{
    return operand_width(record, operand) * operand_pixel_bytes(record, operand, operand_channels(record, operand));
}

uint32_t operand_window_bytes(const struct dory_layer *record, unsigned operand, const struct dory_window *window)
{
    return window->rows * operand_width(record, operand) * operand_pixel_bytes(record, operand, window->channels);
}

const struct dory_window *operand_window(const struct dory_step *step, unsigned operand)
{
    return operand == 2 ? &step->output : &step->input[operand];
}
