/* Copies of all of a tensor in another order of its dimensions, or of none: the firmware sees as few dimensions as the order
 * leaves, whatever the shapes of both tensors. */
#include "describe/description.h"

#include "dory/transposition.h"

#define MAXIMUM_FACTORS 8

/* Elements of the output, as loops over the input: the innermost factor first. */
struct factor {
    int64_t size, step;
};
struct nest {
    struct factor factors[MAXIMUM_FACTORS];
    int count;
};

/* A factor of the same step as what is inside it goes on is one with it. */
static bool add_factor(struct nest *nest, struct factor factor)
{
    struct factor *inner = nest->count > 0 ? &nest->factors[nest->count - 1] : NULL;
    if (factor.size == 1)
        return true;
    if (inner && inner->step * inner->size == factor.step && inner->size * factor.size <= UINT16_MAX) {
        inner->size *= factor.size;
        return true;
    }
    if (nest->count == MAXIMUM_FACTORS)
        return false;
    nest->factors[nest->count++] = factor;
    return true;
}

/* Positions so many apart that go up by the same step. */
static int regular(const int32_t *positions, int count, int apart)
{
    int length = 1;
    while (length * apart < count &&
           positions[length * apart] - positions[(length - 1) * apart] == positions[apart] - positions[0])
        length++;
    return length;
}

/* The factors of a list: a regular run, which is repeated regularly, and so on. */
static bool add_list(struct nest *nest, const int32_t *positions, int count)
{
    int apart = 1;
    while (apart < count) {
        int length = regular(positions, count, apart);
        if (count % (apart * length) != 0 || !add_factor(nest, (struct factor){length, positions[apart] - positions[0]}))
            return false;
        apart *= length;
    }
    return true;
}

static int64_t position_in(const struct nest *list, int64_t index)
{
    int64_t position = 0;
    for (int i = 0; i < list->count; i++, index /= list->factors[i - 1].size)
        position += index % list->factors[i].size * list->factors[i].step;
    return position;
}

/* Whether the factors that were found of it say all of the list. */
static bool is_regular(const int32_t *positions, int count)
{
    struct nest list = {.count = 0};
    if (positions[0] != 0 || !add_list(&list, positions, count))
        return false;
    for (int i = 0; i < count; i++)
        if (positions[i] != position_in(&list, i))
            return false;
    return true;
}

/* The factor whose step is that; -1: none. */
static int factor_at(const struct nest *nest, int64_t step)
{
    for (int i = 0; i < nest->count; i++)
        if (nest->factors[i].step == step)
            return i;
    return -1;
}

/* Sorts the factors by the input's order, the innermost first: places[i] is the factor that the input's dimension i from the
 * inside is. False where they are not all elements of the input, each of them once. */
static bool find_places(const struct nest *nest, int64_t elements, int *places)
{
    int64_t step = 1;
    for (int i = 0; i < nest->count; i++) {
        places[i] = factor_at(nest, step);
        if (places[i] < 0)
            return false;
        step *= nest->factors[places[i]].size;
    }
    return step == elements;
}

static bool find_nest(const struct description *d, struct nest *nest)
{
    const struct layer_map *map = &d->layer->map;
    const struct tensor *y = d->output;
    return is_regular(map->channels, y->channels) && is_regular(map->columns, y->width) &&
           is_regular(map->rows, y->height) && add_list(nest, map->channels, y->channels) &&
           add_list(nest, map->columns, y->width) && add_list(nest, map->rows, y->height);
}

/* The dimension (0: rows, 1: columns, 2: channels) of a factor, counted from the innermost. Two are rows and channels, both
 * of which steps and tiles may cut. */
static int dimension_of(const struct nest *nest, int factor) { return nest->count == 2 ? 2 - 2 * factor : 2 - factor; }

static void set_dimensions(struct dory_layer *record, const struct nest *nest, const int *places)
{
    uint16_t output[3] = {1, 1, 1}, input[3] = {1, 1, 1};
    record->transposition.axes = nest->count == 3 ? 0 : 1 << 2; /* columns are columns where there is one only */
    for (int i = 0; i < nest->count; i++) {
        output[dimension_of(nest, i)] = (uint16_t)nest->factors[i].size;
        input[dimension_of(nest, i)] = (uint16_t)nest->factors[places[i]].size;
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
    struct nest nest = {.count = 0};
    int places[MAXIMUM_FACTORS];
    int64_t elements = (int64_t)d->input->height * d->input->width * d->input->channels;
    if (!find_nest(d, &nest) || nest.count > 3 || !find_places(&nest, elements, places))
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
