/* The table of placed tiles, by plain arithmetic: every tile lies in its step, every element is stored by exactly one of
 * them, and no copy leaves the step's windows, its weights or the arena of L1. */
#include <inttypes.h>

#include "check/checker.h"
#include "dory/prepared.h"
#include "plan/operand.h"

/* From the first byte to the last. */
static uint64_t extent(const struct dory_prepared_copy *copy, uint64_t run_stride, uint64_t plane_stride)
{
    return (uint64_t)(copy->planes - 1) * plane_stride + (uint64_t)(copy->runs - 1) * run_stride + copy->run_bytes;
}

static bool is_sound(const struct dory_prepared_copy *copy)
{
    bool flat = copy->planes == 1 && (copy->runs == 1 || copy->local_run_stride == copy->run_bytes);
    return copy->run_bytes > 0 && copy->runs > 0 && copy->planes > 0 && copy->is_flat == flat;
}

static bool lies_in_l1(const struct plan *plan, const struct dory_prepared_copy *copy)
{
    return dory_prepared_local(copy) >= DORY_L1_RUNTIME_BYTES &&
           dory_prepared_local(copy) + extent(copy, copy->local_run_stride, copy->local_plane_stride) <= plan->l1_peak_bytes;
}

static bool lies_in(const struct dory_prepared_copy *copy, uint64_t start, uint64_t bytes)
{
    return copy->external >= start &&
           copy->external + extent(copy, copy->external_run_stride, copy->external_plane_stride) <= start + bytes;
}

/* Or in the home of a view, whose pixels may be apart. */
static bool lies_in_window(const struct plan *plan, const struct dory_prepared_copy *copy, const struct plan_step *step,
                           unsigned operand)
{
    const struct dory_window *window = operand_window(&step->record, operand);
    int tensor = layer_operand(&plan->network->layers[step->layer], (int)operand), home = tensor_home(plan->network, tensor);
    if (home != tensor)
        return lies_in(copy, plan->buffers[plan->tensors[home].buffer].offset, plan->tensors[home].bytes);
    return lies_in(copy, window->offset, operand_window_bytes(&plan->layers[step->layer].record, operand, window));
}

/* Weights in place are those of the tile's first channel on. */
static bool has_its_weights(const struct dory_layer *record, const struct dory_step *step,
                            const struct dory_prepared_tile *tile)
{
    uint64_t blocks = (tile->tile.first_channel - step->first_channel) / dory_block_channels(record);
    uint64_t place = DORY_PREPARED_WEIGHTS + step->weights_offset + blocks * record->block_bytes;
    return !dory_is_in_place(record->l1.weights) || (!tile->load_weights && (uintptr_t)tile->tile.weights == place);
}

/* Results that are not stored, but for an observer, are none that the caller has, or that go to RAM. That nobody else reads
 * them in L2 is seen where contents are played. */
static bool stores_its_results(const struct plan *plan, const struct plan_step *step, const struct dory_prepared_tile *tile)
{
    const struct network *network = plan->network;
    int output = tensor_home(network, network->layers[step->layer].output);
    bool is_left = plan->layers[step->layer].is_left_in_l1;
    enum dory_stores stores = !tile->tile.last_chunk ? DORY_STORES_NOTHING
                              : is_left              ? DORY_STORES_FOR_OBSERVER
                                                     : DORY_STORES;
    return tile->stores == stores &&
           (!is_left || (!network_is_output(network, output) && plan->tensors[output].level == IN_L2));
}

static bool copies_are_sound(const struct plan *plan, const struct plan_step *step, const struct dory_prepared_tile *tile)
{
    const struct dory_layer *record = &plan->layers[step->layer].record;
    bool sound =
        tile->load_count <= 3 && stores_its_results(plan, step, tile) && has_its_weights(record, &step->record, tile);
    for (unsigned i = 0; sound && i < tile->load_count; i++) {
        const struct dory_prepared_copy *load = &tile->loads[i];
        bool input =
            lies_in_window(plan, load, step, 0) || (dory_has_second_input(record) && lies_in_window(plan, load, step, 1));
        bool weights = lies_in(load, step->record.weights_offset,
                               (uint64_t)dory_blocks(record, step->record.channels) * record->block_bytes);
        sound = is_sound(load) && lies_in_l1(plan, load) && (i == 0 && tile->load_weights ? weights : input);
    }
    return sound && (tile->stores == DORY_STORES_NOTHING || (is_sound(&tile->store) && lies_in_l1(plan, &tile->store) &&
                                                             lies_in_window(plan, &tile->store, step, 2)));
}

static bool lies_in_step(const struct plan *plan, const struct plan_step *step, const struct dory_tile *tile)
{
    const struct dory_step *record = &step->record;
    return tile->first_row >= record->first_row && tile->first_row + tile->rows <= record->first_row + record->rows &&
           tile->first_channel >= record->first_channel &&
           tile->first_channel + tile->channels <= record->first_channel + record->channels &&
           tile->first_column + tile->columns <= plan->layers[step->layer].record.output_width;
}

static uint64_t copied_bytes(const struct dory_prepared_copy *copy)
{
    return (uint64_t)copy->run_bytes * copy->runs * copy->planes;
}

/* All that is stored lies together in L2; and in L1 row by row, from one to the next so many bytes. */
static bool is_one_piece(const struct dory_prepared_copy *copy, uint64_t row_bytes, uint64_t step)
{
    bool together = copy->planes == 1 && (copy->runs == 1 || copy->external_run_stride == copy->run_bytes);
    bool has_gaps = copy->run_bytes == row_bytes && copy->local_run_stride == step;
    return together && (step == row_bytes ? copy->is_flat : has_gaps);
}

/* The results of the tile before are all of an input's window, in one piece, and lie in L1 where the tile has that input,
 * between rows and columns of border. */
static bool lies_in_results(const struct dory_layer *record, const struct dory_step *step,
                            const struct dory_prepared_tile *tile, unsigned which)
{
    const struct dory_prepared_copy *store = &tile[-1].store;
    const struct dory_valid *valid = &tile->valid;
    const struct dory_window *window = &step->input[which];
    uint64_t pixel = operand_pixel_bytes(record, which, window->channels);
    uint64_t rows = valid->bottom - valid->top, columns = valid->right - valid->left, width = record->input_width;
    bool planes = record->input_layout == DORY_CHW, is_pixel = operand_is_pixel(record, which);
    bool has_pixels_of_channels = which && record->operation == DORY_MATRIX_PRODUCT;
    if (has_pixels_of_channels) {
        width = record->output_channels;
        columns = tile->tile.channels;
    }
    bool whole = !planes || rows == tile->tile.input_rows, has_gaps = !planes && !is_pixel && !has_pixels_of_channels;
    uint64_t step_columns = has_gaps && rows > 1 ? tile->tile.input_columns : columns;
    uint64_t border = planes || is_pixel || has_pixels_of_channels
                          ? 0
                          : ((uint64_t)valid->top * tile->tile.input_columns + valid->left) * pixel;
    uint64_t bytes = is_pixel ? pixel : window->rows * width * pixel;
    uintptr_t input = (uintptr_t)(which ? tile->tile.second_input : tile->tile.input);
    return (is_pixel || (whole && rows == window->rows && columns == width)) &&
           is_one_piece(store, columns * pixel, step_columns * pixel) && store->external == window->offset &&
           copied_bytes(store) == bytes && input + border == dory_prepared_local(store);
}

static bool loads_of_results(const struct dory_prepared_tile *tile)
{
    const struct dory_prepared_copy *store = &tile[-1].store;
    for (unsigned i = tile->load_weights; i < tile->load_count; i++) {
        const struct dory_prepared_copy *load = &tile->loads[i];
        uint64_t bytes = extent(load, load->external_run_stride, load->external_plane_stride);
        if (load->external < store->external + copied_bytes(store) && store->external < load->external + bytes)
            return true;
    }
    return false;
}

/* Nobody waits for the results of the tile before, its layer's only one as this is: it computes from where they are in L1,
 * and loads nothing of them. Its own have another ticket. */
static bool has_input_in_l1(const struct plan *plan, int index, const struct dory_prepared_tile *tile)
{
    const struct plan_layer *layer = &plan->layers[plan->steps[index].layer];
    const struct dory_step *step = &plan->steps[index].record;
    const struct dory_prepared_tile *before = tile - 1;
    bool alone = tile->starts_layer && tile->ends_step && step->last_of_layer;
    if (!alone || index == 0 || tile->meets != DORY_MEETS_NOBODY || !before->starts_layer ||
        before->stores == DORY_STORES_NOTHING || before->output_buffer == tile->output_buffer || loads_of_results(tile))
        return false;
    unsigned inputs = dory_has_second_input(&layer->record) ? 2 : 1;
    for (unsigned i = 0; i < inputs; i++)
        if (layer->inputs_stay == 1u << i)
            return lies_in_results(&layer->record, step, tile, i);
    return false;
}

/* Of a layer's only tile, what is not loaded is in L1. */
static bool has_all_inputs(const struct plan *plan, const struct plan_step *step, const struct dory_prepared_tile *tile,
                           bool stays)
{
    const struct plan_layer *layer = &plan->layers[step->layer];
    unsigned inputs = dory_has_second_input(&layer->record) ? 2 : 1;
    bool is_only_one = tile->starts_layer && tile->ends_step && step->record.last_of_layer;
    bool is_all_border = tile->valid.top == tile->valid.bottom || tile->valid.left == tile->valid.right;
    return stays == (tile->starts_layer && layer->inputs_stay != 0) &&
           (!is_only_one || is_all_border || (unsigned)tile->load_count + stays >= tile->load_weights + inputs);
}

/* What a tile says of meetings with the driver, and of what may be loaded before. */
static bool is_in_turn(const struct plan *plan, int index, const struct dory_prepared_tile *tile, bool first)
{
    const struct plan_step *step = &plan->steps[index], *before = index > 0 ? step - 1 : NULL;
    bool starts_layer = first && (!before || before->layer != step->layer);
    unsigned meets = first ? dory_step_meets(&step->record, before ? &before->record : NULL) : DORY_MEETS_NOBODY;
    bool alone = meets != DORY_MEETS_NOBODY || starts_layer || (first && step->record.drain);
    bool awaits = first && dory_step_awaits(&step->record, before ? &before->record : NULL);
    bool early = !awaits && starts_layer && step->record.weights_are_early && tile->load_weights;
    bool inputs_are_early = starts_layer && meets == DORY_MEETS_NOBODY && plan->layers[step->layer].inputs_are_early;
    bool is_added = starts_layer && plan->layers[step->layer].is_added;
    bool all = tile->overlaps == (is_added ? DORY_OVERLAPS_ADDED : DORY_OVERLAPS),
         stored = starts_layer || tile->overlaps == DORY_OVERLAPS_STORE;
    bool stays = tile->awaits_stores != stored && has_input_in_l1(plan, index, tile);
    return (tile->awaits_stores == stored || stays) && has_all_inputs(plan, step, tile, stays) &&
           tile->starts_layer == starts_layer && tile->meets == meets && !(alone && all && !inputs_are_early) &&
           (tile->overlaps != DORY_OVERLAPS_WEIGHTS || early) && (tile->overlaps != DORY_OVERLAPS_ADDED || is_added) &&
           tile->loads_beside == (all ? tile->load_count : early);
}

/* Loads of planes fill the place of their border, too. */
static bool lays_border_in_time(const struct dory_layer *layer, const struct dory_prepared_tile *tile)
{
    return tile->border == DORY_BORDER_NONE || (tile->border == DORY_BORDER_BEHIND) == (layer->input_layout == DORY_CHW);
}

void check_tiles(struct checker *checker)
{
    const struct plan *plan = checker->plan;
    const struct dory_prepared_tile *tile = plan->tiles, *end = plan->tiles ? tile + plan_tile_count(plan) : tile;
    for (int i = 0; tile && i < plan->step_count; i++) {
        const struct plan_step *step = &plan->steps[i];
        uint64_t outputs =
            (uint64_t)step->record.rows * plan->layers[step->layer].record.output_width * step->record.channels;
        uint64_t stored = 0;
        bool sound = true, ended = false;
        for (bool first = true; sound && !ended && tile < end; first = false, tile++) {
            sound = is_in_turn(plan, i, tile, first) && lies_in_step(plan, step, &tile->tile) &&
                    lays_border_in_time(&plan->layers[step->layer].record, tile) && copies_are_sound(plan, step, tile);
            stored += tile->stores != DORY_STORES_NOTHING
                          ? (uint64_t)tile->tile.rows * tile->tile.columns * tile->tile.channels
                          : 0;
            ended = tile->ends_step;
        }
        if (!sound || !ended || stored != outputs) {
            check_fault(checker,
                        "step %d of layer '%s': its placed tiles store %" PRIu64 " of %" PRIu64
                        " elements, or leave the step, its windows or L1",
                        i, plan->network->layers[step->layer].name, stored, outputs);
            return;
        }
    }
    if (tile != end)
        check_fault(checker, "there are more placed tiles than steps have");
}
