/* What the planner knows of the kernel for LSTMs. */
#include "../description.h"

static bool lstm_supports(const struct dory_layer *layer) { return layer->operation == DORY_LSTM; }

/* Of all steps, between which the cores meet. */
static uint64_t lstm_cycles(const struct dory_layer *layer, const struct dory_tile_shape *tile, unsigned cores)
{
    (void)tile; /* all of it */
    uint32_t steps = layer->output_channels / layer->lstm.units - 2u, inputs = layer->input_channels / steps;
    uint32_t fours = dory_divide_up(inputs, 4) + dory_divide_up(layer->lstm.units, 4);
    return steps * ((layer->lstm.units + cores - 1) / cores * (fours * UINT64_C(9) + 370) + 160);
}

DORY_DESCRIBE(xpulpv2_lstm, lstm_supports, NULL, lstm_cycles)
