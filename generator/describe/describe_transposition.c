/* Copies of all of a tensor in another order of its dimensions, or of none: the firmware sees as few dimensions as the order
 * leaves, whatever the shapes of both tensors. */
#include "describe/description.h"

#include "base/nest.h"
#include "dory/transposition.h"

/* The dimension (0: rows, 1: columns, 2: channels) of a loop, counted from the innermost. Two are rows and channels, both
 * of which steps and tiles may cut. */
static int dimension_of(const struct nest *nest, int loop) { return nest->count == 2 ? 2 - 2 * loop : 2 - loop; }

static void set_dimensions(struct dory_layer *record, const struct nest *nest, const int *places)
{
    uint16_t output[3] = {1, 1, 1}, input[3] = {1, 1, 1};
    record->transposition.axes = nest->count == 3 ? 0 : 1 << 2; /* columns are columns where there is one only */
    for (int i = 0; i < nest->count; i++) {
        output[dimension_of(nest, i)] = (uint16_t)nest->loops[i].size;
        input[dimension_of(nest, i)] = (uint16_t)nest->loops[places[i]].size;
        record->transposition.axes |= (uint8_t)(dimension_of(nest, places[i]) << 2 * dimension_of(nest, i));
    }
    record->output_height = output[0], record->output_width = output[1], record->output_channels = output[2];
    record->input_height = input[0], record->input_width = input[1], record->input_channels = input[2];
}

/* Output rows are input rows, or read all of these. */
static void set_window(struct dory_layer *record)
{
    bool keeps_rows = dory_axis(record, 0) == 0, keeps_columns = dory_axis(record, 1) == 1;
    record->kernel_height = keeps_rows ? 1 : record->input_height;
    record->kernel_width = keeps_columns ? 1 : record->input_width;
    record->stride_height = keeps_rows;
    record->stride_width = keeps_columns;
    record->padding_top = 0;
    record->padding_left = 0;
    record->dilation_height = record->dilation_width = 1;
}

/* All elements as they are: in the shape of the tensor whose pixels are smaller, of which tiles have all channels. */
static void set_identity(const struct description *d)
{
    struct dory_layer *record = d->record;
    if (record->output_channels < record->input_channels) {
        record->input_height = record->output_height, record->input_width = record->output_width;
        record->input_channels = record->output_channels;
    } else {
        record->output_height = record->input_height, record->output_width = record->input_width;
        record->output_channels = record->input_channels;
    }
    record->kernel_height = record->kernel_width = record->dilation_height = record->dilation_width = 1;
    record->stride_height = record->stride_width = 1;
    record->padding_top = 0;
    record->padding_left = 0;
}

bool describe_transposition(const struct description *d)
{
    struct nest nest;
    int places[NEST_MAXIMUM_LOOPS];
    const struct layer_map *map = &d->layer->map;
    const int32_t *const lists[] = {map->rows, map->columns, map->channels};
    const int counts[] = {d->output->height, d->output->width, d->output->channels};
    if (!nest_of_lists(&nest, lists, counts, 3) || nest.count > NEST_PLAIN_LOOPS ||
        !nest_places(&nest, tensor_elements(d->input), places))
        return false;
    if (nest.count <= 1) {
        set_identity(d);
        return true;
    }
    d->record->operation = DORY_TRANSPOSITION;
    set_dimensions(d->record, &nest, places);
    set_window(d->record);
    return true;
}
