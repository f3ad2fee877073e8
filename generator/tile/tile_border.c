/* What the cores take to lay the border round a tile's input, as kernels/run/input.c does it. */
#include "tile/tile_mover.h"

#define BYTES_A_CYCLE 2 /* of a core that fills words; half as many where they lie at odd addresses */
#define BYTE_CYCLES   5 /* of a run shorter than a word */

/* In CHW, of a plane: what lies below it and above the next is one run. A pair of words takes 7 cycles, 10 where they lie at
 * odd addresses. */
#define PLANE_CYCLES 10

static uint64_t plane_cycles(uint64_t bytes, bool is_words) { return PLANE_CYCLES + bytes * (is_words ? 7 : 10) / 8; }

/* Runs of border, and the cycles of their bytes. */
struct filled {
    uint64_t runs, cycles;
};

static uint64_t fill_cycles(uint64_t bytes, bool is_words)
{
    return bytes < 4 ? bytes * BYTE_CYCLES : is_words ? bytes / BYTES_A_CYCLE : bytes;
}

/* What lies left and right of rows; whole rows of border are shared out by bytes, and so is what lies beside a single row.
 */
static struct filled of_slowest_core(const struct dory_layer *layer, const struct dory_placed_tile *placed, unsigned cores)
{
    const struct dory_tile *tile = &placed->tile;
    const struct dory_valid *valid = &placed->valid;
    uint32_t rows_inside = (uint32_t)valid->bottom - valid->top, columns = tile->input_columns;
    uint64_t outer_rows = tile->input_rows - rows_inside, inner_rows = dory_divide_up(rows_inside, cores);
    if (layer->input_layout == DORY_CHW) {
        uint64_t planes = dory_divide_up(tile->input_channels, cores);
        return (struct filled){0, planes * plane_cycles(outer_rows * columns, columns % 4 == 0)};
    }
    uint64_t pixel = dory_element_bytes(tile->input_channels, layer->input_bits), row = columns * pixel;
    uint64_t left = valid->left * pixel, right = row - valid->right * pixel, outer = outer_rows * row;
    bool is_words = pixel % 4 == 0;
    if (rows_inside == 1) {
        return (struct filled){4, fill_cycles((outer + left + right) / cores, is_words)};
    }
    uint64_t beside = fill_cycles(left, is_words) + fill_cycles(right, is_words);
    return (struct filled){2 + 2 * inner_rows, inner_rows * beside + fill_cycles(outer / cores, is_words)};
}

bool tile_border_may_prefer_single(const struct tile_problem *problem)
{
    const struct dory_layer *layer = problem->layer;
    return layer->input_layout == DORY_HWC && (layer->kernel_height > 1 || layer->kernel_width > 1);
}

uint64_t tile_border_cycles(const struct tile_problem *problem, const struct dory_placed_tile *placed)
{
    const struct target *target = problem->target;
    const struct dory_valid *valid = &placed->valid;
    if (valid->top == valid->bottom || valid->left == valid->right)
        return 0;
    struct filled filled = of_slowest_core(problem->layer, placed, problem->cores);
    return target->border_cycles + filled.runs * target->border_run_cycles + filled.cycles;
}
