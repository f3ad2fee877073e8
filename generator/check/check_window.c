/* From addresses in L2 to bytes of a tensor, by the window of it that lies there. */
#include "check/checker.h"
#include "plan/operand.h"

bool check_is_in_planes(const struct dory_layer *record, unsigned operand)
{
    return (operand == 2 ? record->output_layout : operand == 0 ? record->input_layout : DORY_HWC) == DORY_CHW;
}

uint64_t check_window_byte(const struct dory_layer *record, unsigned operand, const struct dory_window *window, uint32_t at,
                           uint32_t least, uint32_t *together)
{
    uint32_t width = operand_width(record, operand), height = operand_height(record, operand);
    bool planes = check_is_in_planes(record, operand);
    uint32_t pixel = planes ? 1 : operand_pixel_bytes(record, operand, window->channels);
    uint32_t all = planes ? 1 : operand_pixel_bytes(record, operand, operand_channels(record, operand));
    uint32_t line = at / (width * pixel), in_line = at % (width * pixel);
    uint32_t row = window->first_row + line % window->rows;
    if (row < least && row + window->rows < height)
        row += window->rows;
    uint32_t plane = planes ? window->first_channel + line / window->rows : 0;
    uint32_t first = planes ? 0 : operand_pixel_bytes(record, operand, window->first_channel);
    *together = pixel == all ? width * pixel - in_line : pixel - in_line % pixel;
    return (((uint64_t)plane * height + row) * width + in_line / pixel) * all + first + in_line % pixel;
}
