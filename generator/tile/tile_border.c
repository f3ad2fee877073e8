/* What the cores take to lay the border round a tile's input, as tile_loop.c does it. */
#include <string.h>

#include "tile/tile.h"

#define BYTES_A_CYCLE 2 /* of a core that fills */

/* Runs of border, and their bytes. */
struct filled {
    uint64_t runs, bytes;
};

/* What lies left and right of rows; whole rows of border are shared out by bytes. */
static struct filled of_slowest_core(const struct dory_layer *layer, const struct tile_border *border, unsigned cores)
{
    uint64_t outer_rows = border->rows - border->inner_rows, inner_rows = dory_divide_up(border->inner_rows, cores);
    if (layer->input_layout == DORY_CHW) {
        uint64_t planes = dory_divide_up(border->channels, cores);
        return (struct filled){planes, planes * outer_rows * border->columns};
    }
    uint64_t row = (uint64_t)border->columns * dory_element_bytes(border->channels, layer->input_bits);
    uint64_t inner = (uint64_t)border->inner_columns * dory_element_bytes(border->channels, layer->input_bits);
    return (struct filled){2 + 2 * inner_rows, inner_rows * (row - inner) + outer_rows * row / cores};
}

uint64_t tile_border_cycles(const struct tile_problem *problem, const struct tile_border *border)
{
    const struct target *target = problem->target;
    bool is_whole = border->rows == border->inner_rows && border->columns == border->inner_columns;
    if (is_whole || border->inner_rows == 0 || border->inner_columns == 0)
        return 0;
    struct filled filled = of_slowest_core(problem->layer, border, problem->cores);
    return target->border_cycles + filled.runs * target->border_run_cycles + filled.bytes / BYTES_A_CYCLE;
}

bool tile_border_take(struct tile_border laid[2], bool two_buffers, const struct dory_layer *layer,
                      const struct tile_border *border)
{
    bool same = layer->input_layout == DORY_HWC && memcmp(border, &laid[0], sizeof *border) == 0;
    laid[0] = two_buffers ? laid[1] : *border;
    laid[1] = *border;
    return !same;
}
