/* Operands that stay where they lie, and what that asks of tiles: a kernel finds a tile's rows in a tensor only where they
 * are one piece of it. */
#include "tile/tile.h"

#include "dory/transposition.h"

/* ---- what lies in L2 as a whole ---- */

static bool is_whole(const struct dory_window *window, uint32_t rows, uint32_t channels)
{
    return window->first_row == 0 && window->rows == rows && window->first_channel == 0 && window->channels == channels;
}

static bool has_whole_inputs(const struct dory_layer *layer, const struct dory_step *step)
{
    bool is_pixel = dory_has_second_input(layer) && (layer->second_repeats & DORY_REPEATS_PIXEL) != 0;
    uint32_t second_rows = is_pixel ? 1 : dory_second_row(layer, layer->input_height - 1u) + 1;
    return is_whole(&step->input[0], layer->input_height, dory_input_channels(layer, 0)) &&
           (!dory_has_second_input(layer) || is_whole(&step->input[1], second_rows, dory_input_channels(layer, 1)));
}

uint8_t tile_whole_operands(const struct dory_layer *layer, const struct dory_step *steps, uint32_t step_count)
{
    uint8_t whole = DORY_INPUTS_IN_PLACE | DORY_OUTPUT_IN_PLACE;
    for (uint32_t i = 0; i < step_count; i++) {
        whole &= has_whole_inputs(layer, &steps[i]) ? whole : DORY_OUTPUT_IN_PLACE;
        whole &= is_whole(&steps[i].output, layer->output_height, layer->output_channels) ? whole : DORY_INPUTS_IN_PLACE;
    }
    return whole;
}

/* ---- what may be in place ---- */

static bool has_border(const struct dory_layer *layer)
{
    int32_t above = dory_first_input_row(layer, 0), rows = (int32_t)dory_input_rows(layer, layer->output_height);
    uint32_t columns =
        dory_input_extent(layer->output_width, layer->kernel_width, layer->stride_width, layer->dilation_width);
    return above < 0 || above + rows > layer->input_height || layer->padding_left > 0 || columns > layer->input_width;
}

/* Its tiles are the whole output: what else lies apart in the input, or in planes. */
static bool needs_all_rows(const struct dory_layer *layer, uint8_t in_place)
{
    return ((in_place & DORY_INPUTS_IN_PLACE) &&
            (layer->input_layout == DORY_CHW || layer->operation == DORY_TRANSPOSITION)) ||
           ((in_place & DORY_OUTPUT_IN_PLACE) && layer->output_layout == DORY_CHW);
}

/* The channels of a pixel lie side by side, and a tile's have to do so. */
static bool needs_all_channels(const struct dory_layer *layer, uint8_t in_place)
{
    bool by_channels = dory_loads_by_channels(layer) || layer->operation == DORY_TRANSPOSITION;
    return ((in_place & DORY_INPUTS_IN_PLACE) && by_channels && layer->input_layout == DORY_HWC) ||
           ((in_place & DORY_OUTPUT_IN_PLACE) && layer->output_layout == DORY_HWC);
}

static bool steps_have_all(const struct tile_problem *problem, uint8_t in_place)
{
    const struct dory_layer *layer = problem->layer;
    bool rows = needs_all_rows(layer, in_place), channels = needs_all_channels(layer, in_place);
    for (uint32_t i = 0; i < problem->step_count; i++)
        if ((rows && problem->steps[i].rows < layer->output_height) ||
            (channels && problem->steps[i].channels < layer->output_channels))
            return false;
    return true;
}

static uint8_t allowed_by_target(const struct target *target)
{
    return (uint8_t)((target->weights_in_place ? DORY_WEIGHTS_IN_PLACE : 0) |
                     (target->activations_in_place ? DORY_INPUTS_IN_PLACE | DORY_OUTPUT_IN_PLACE : 0));
}

uint8_t tile_in_place(const struct tile_problem *problem)
{
    const struct dory_layer *layer = problem->layer;
    uint8_t allowed = problem->kernel->in_place & allowed_by_target(problem->target), in_place = 0;
    uint8_t whole = allowed ? tile_whole_operands(layer, problem->steps, problem->step_count) : 0;
    if ((allowed & DORY_WEIGHTS_IN_PLACE) && (dory_has_weights(layer) || dory_table_bytes(layer) > 0))
        in_place |= DORY_WEIGHTS_IN_PLACE;
    if ((allowed & whole & DORY_INPUTS_IN_PLACE) && (problem->kernel->knows_border || !has_border(layer)) &&
        steps_have_all(problem, DORY_INPUTS_IN_PLACE))
        in_place |= DORY_INPUTS_IN_PLACE;
    if ((allowed & whole & DORY_OUTPUT_IN_PLACE) && steps_have_all(problem, DORY_OUTPUT_IN_PLACE))
        in_place |= DORY_OUTPUT_IN_PLACE;
    return in_place;
}

/* ---- tiles ---- */

struct dory_tile_shape tile_least_shape(const struct tile_problem *problem, uint8_t in_place)
{
    const struct dory_layer *layer = problem->layer;
    bool is_wide = (in_place & (DORY_INPUTS_IN_PLACE | DORY_OUTPUT_IN_PLACE)) || layer->input_layout == DORY_CHW ||
                   layer->output_layout == DORY_CHW;
    return (struct dory_tile_shape){
        .rows = needs_all_rows(layer, in_place) ? layer->output_height : 1,
        .columns = is_wide ? layer->output_width : 1,
        .channels = needs_all_channels(layer, in_place) ? layer->output_channels : 1,
    };
}
