/* Operators that move elements, or take a part of them: each says so to the middle (middle/moves.h). */
#include <string.h>

#include "base/arithmetic.h"
#include "import/tflite/tflite_import.h"

/* ---- copies of a tensor's whole image ---- */

static struct middle_value image_of(struct tflite_importer *importer, int tensor)
{
    const struct tensor *from = tflite_network_tensor(importer, tensor);
    const int64_t dimensions[3] = {from->height, from->width, from->channels};
    return (struct middle_value){tensor, view_of_memory(3, dimensions)};
}

/* -1 after a report. */
static int lay(struct tflite_importer *importer, const char *name, const struct middle_value *value,
               const struct middle_move *move, int border)
{
    struct layout layout = layout_of_model(value->view.rank);
    struct middle_value laid;
    if (middle_lay(&importer->builder, name, value, move, &layout, border, &laid))
        return laid.tensor;
    tflite_fault(importer, "'%s' is too large to be copied", name);
    return -1;
}

int tflite_lay_view(struct tflite_importer *importer, const struct value *value, const struct image_shape *shape)
{
    const int64_t dimensions[3] = {shape->height, shape->width, shape->channels};
    struct middle_value from = {value->tensor, value->is_moved ? value->view : view_of_memory(3, dimensions)};
    const char *name = arena_format(importer->arena, "%s, %s", tflite_network_tensor(importer, value->tensor)->name,
                                    value->is_moved ? "transposed" : "reshaped");
    return lay(importer, name, &from, NULL, 0);
}

int tflite_lay_border(struct tflite_importer *importer, const struct value *value)
{
    const struct padding *padding = &value->padding;
    const int before[3] = {padding->top, padding->left, padding->front},
              behind[3] = {padding->bottom, padding->right, padding->back};
    struct middle_value from = image_of(importer, value->tensor);
    struct middle_move move = middle_move_none(&from.view);
    const char *name =
        arena_format(importer->arena, "%s, with a border", tflite_network_tensor(importer, from.tensor)->name);
    for (int i = 0; i < 3; i++)
        if (!middle_move_pad(&importer->builder, &move, i, BORDER_CONSTANT, before[i], behind[i])) {
            tflite_fault(importer, "'%s' has too many elements", name);
            return -1;
        }
    return lay(importer, name, &from, &move, value->padding_element);
}

int tflite_lay_spread(struct tflite_importer *importer, int input, int stride_height, int stride_width)
{
    struct middle_value from = image_of(importer, input);
    struct middle_move move = middle_move_none(&from.view);
    const char *name = arena_format(importer->arena, "%s, spread", tflite_network_tensor(importer, input)->name);
    if (!middle_move_spread(&importer->builder, &move, 0, stride_height) ||
        !middle_move_spread(&importer->builder, &move, 1, stride_width)) {
        tflite_fault(importer, "'%s' has too many elements", name);
        return -1;
    }
    return lay(importer, name, &from, &move, tflite_network_tensor(importer, input)->zero_point);
}

/* ---- of any rank ---- */

/* What lies in the model's order stays in it; what is moved stays as it lies in memory. */
static bool apply(struct tflite_importer *importer, const char *name, const struct middle_value *value,
                  const struct middle_move *move, int border, struct middle_value *result)
{
    struct layout layout = view_is_memory(&value->view) ? layout_of_model(value->view.rank) : layout_of_memory(&value->view);
    return middle_move_apply(&importer->builder, name, value, move, &layout, border, result) ||
           tflite_fault(importer, "the output of %s has more elements than the firmware can have",
                        tflite_shape_text(importer, tflite_output(importer)));
}

/* The axis as one of the dimensions, which may be counted from the end; -1 after a report. */
static int dimension_of(struct tflite_importer *importer, int64_t axis, int rank)
{
    if (axis >= -rank && axis < rank)
        return (int)(axis < 0 ? axis + rank : axis);
    tflite_fault(importer, "axis %d of %d dimensions", (int)clamp(axis, INT32_MIN, INT32_MAX), rank);
    return -1;
}

/* ---- slices ---- */

bool tflite_slice(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value, part;
    (void)operation;
    if (!tflite_takes(importer, 0, &value))
        return false;
    const struct tflite_numbers *begins = tflite_numbers(importer, 1, value.view.rank),
                                *sizes = begins ? tflite_numbers(importer, 2, value.view.rank) : NULL;
    struct middle_move move = middle_move_none(&value.view);
    for (int i = 0; sizes && i < value.view.rank; i++) {
        int64_t count = sizes->list[i] == -1 ? value.view.dimensions[i] - begins->list[i] : sizes->list[i];
        if (!middle_move_slice(&importer->builder, &move, i, begins->list[i], 1, count))
            return tflite_fault(importer, "begins and sizes are none of dimension %d of %s", i,
                                view_text(&value.view, importer->arena));
    }
    return sizes && apply(importer, tflite_output(importer)->name, &value, &move, 0, &part) &&
           tflite_gives(importer, 0, &part, result);
}

/* One entry of a strided slice's lists: a part of a dimension. */
struct cut {
    int64_t first, step, count;
};

static struct cut cut_of(const struct tflite_options *options, int bit, int64_t size, int64_t begin, int64_t end,
                         int64_t step)
{
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    struct cut cut = {clamp(begin < 0 ? begin + size : begin, low, high), step, 0};
    if (options->shrink_axis_mask >> bit & 1)
        return (struct cut){begin < 0 ? begin + size : begin, 1, 1};
    end = options->is_offset ? begin + end : end;
    end = clamp(end < 0 ? end + size : end, low, high);
    if (options->begin_mask >> bit & 1)
        cut.first = step < 0 ? size - 1 : 0;
    if (options->end_mask >> bit & 1)
        end = step < 0 ? -1 : size;
    int64_t span = step > 0 ? end - cut.first : cut.first - end, stride = step > 0 ? step : -step;
    cut.count = span <= 0 ? 0 : (span + stride - 1) / stride;
    return cut;
}

/* How many of the dimensions an ellipsis stands for. */
static int ellipsis_length(const struct tflite_options *options, int entries, int rank)
{
    int named = 0;
    for (int i = 0; i < entries; i++)
        named += !(options->ellipsis_mask >> i & 1) && !(options->new_axis_mask >> i & 1);
    return named < rank ? rank - named : 0;
}

#define MAXIMUM_SLICE_ENTRIES 32 /* bits of the masks */

/* Dimensions that a strided slice makes or drops, in the numbers of its input. */
struct dimension_changes {
    int count;
    struct {
        int dimension;
        bool is_new;
    } list[MAXIMUM_SLICE_ENTRIES];
};

/* From the last one on, so that those in front keep their numbers. */
static bool change_dimensions(struct tflite_importer *importer, const struct dimension_changes *changes, struct view *view)
{
    for (int i = changes->count - 1; i >= 0; i--) {
        if (changes->list[i].is_new && view->rank == VIEW_MAXIMUM_RANK)
            return tflite_fault(importer, "more than %d dimensions", VIEW_MAXIMUM_RANK);
        *view = changes->list[i].is_new ? middle_insert(view, changes->list[i].dimension)
                                        : middle_drop(view, changes->list[i].dimension);
    }
    return true;
}

/* Entry `entry` of the lists of begins, ends and strides, which is of this dimension of the value. */
static bool cut_dimension(struct tflite_importer *importer, const struct tflite_numbers *const lists[3], int entry,
                          const struct view *view, int dimension, struct middle_move *move)
{
    const int64_t begin = lists[0]->list[entry], end = lists[1]->list[entry], stride = lists[2]->list[entry];
    if (dimension >= view->rank || stride == 0)
        return tflite_fault(importer, "begins, ends and strides do not fit %s", view_text(view, importer->arena));
    struct cut cut = cut_of(&importer->current->options, entry, view->dimensions[dimension], begin, end, stride);
    return middle_move_slice(&importer->builder, move, dimension, cut.first, cut.step, cut.count) ||
           tflite_fault(importer, "leaves nothing of dimension %d of %s", dimension, view_text(view, importer->arena));
}

/* The lists' entries, each a dimension of the input, a new one, or an ellipsis. */
static bool cut_all(struct tflite_importer *importer, const struct tflite_numbers *const lists[3],
                    const struct middle_value *value, struct middle_value *result)
{
    const struct tflite_options *options = &importer->current->options;
    const int entries = lists[0]->count;
    struct middle_move move = middle_move_none(&value->view);
    struct dimension_changes changes = {0};
    if (entries > MAXIMUM_SLICE_ENTRIES)
        return tflite_fault(importer, "%d entries of its lists; supported: %d", entries, MAXIMUM_SLICE_ENTRIES);
    for (int i = 0, dimension = 0; i < entries; i++) {
        const bool is_new = options->new_axis_mask >> i & 1, is_dropped = options->shrink_axis_mask >> i & 1;
        if (options->ellipsis_mask >> i & 1) {
            dimension += ellipsis_length(options, entries, value->view.rank);
            continue;
        }
        if (is_new || is_dropped) {
            changes.list[changes.count].dimension = dimension;
            changes.list[changes.count++].is_new = is_new;
        }
        if (!is_new && !cut_dimension(importer, lists, i, &value->view, dimension++, &move))
            return false;
    }
    return apply(importer, tflite_output(importer)->name, value, &move, 0, result) &&
           change_dimensions(importer, &changes, &result->view);
}

bool tflite_strided_slice(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value, part;
    const struct tflite_numbers *lists[3];
    (void)operation;
    if (!tflite_takes(importer, 0, &value))
        return false;
    for (int i = 0; i < 3; i++)
        if (!(lists[i] = tflite_numbers(importer, 1 + i, i ? lists[0]->count : -1)))
            return false;
    return cut_all(importer, lists, &value, &part) && tflite_gives(importer, 0, &part, result);
}

/* ---- split and unpack: slices along one axis ---- */

/* As large as the outputs' shapes say. The other outputs' values are set here. */
static bool lay_parts(struct tflite_importer *importer, const struct middle_value *value, int dimension, bool drops,
                      struct value *result)
{
    const struct tflite_operator *operation = importer->current;
    int64_t first = 0;
    for (int i = 0; i < operation->output_count; i++) {
        const struct tflite_tensor *output = &importer->model->tensors[operation->outputs[i]];
        struct middle_move move = middle_move_none(&value->view);
        struct middle_value part;
        int64_t count = drops || dimension >= output->rank ? 1 : output->dimensions[dimension];
        if (!middle_move_slice(&importer->builder, &move, dimension, first, 1, count))
            return tflite_fault(importer, "output %d does not fit %s", i, view_text(&value->view, importer->arena));
        first += count;
        if (!apply(importer, output->name, value, &move, 0, &part))
            return false;
        if (drops)
            part.view = middle_drop(&part.view, dimension);
        if (!tflite_gives(importer, i, &part, &importer->values[operation->outputs[i]]))
            return false;
    }
    *result = importer->values[operation->outputs[0]];
    return first == value->view.dimensions[dimension] || tflite_fault(importer, "its outputs do not add up to axis %d of %s",
                                                                      dimension, view_text(&value->view, importer->arena));
}

bool tflite_split(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    bool has_sizes = operation->code == TFLITE_SPLIT_V;
    struct middle_value value;
    const struct tflite_numbers *axis = tflite_numbers(importer, has_sizes ? 2 : 0, 1);
    if (!axis || !tflite_takes(importer, has_sizes ? 0 : 1, &value))
        return false;
    int dimension = dimension_of(importer, axis->list[0], value.view.rank);
    return dimension >= 0 && lay_parts(importer, &value, dimension, false, result);
}

bool tflite_unpack(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value;
    if (!tflite_takes(importer, 0, &value))
        return false;
    int dimension = dimension_of(importer, operation->options.axis, value.view.rank);
    return dimension >= 0 && lay_parts(importer, &value, dimension, true, result);
}

/* ---- gather and reverse ---- */

static bool take_shape(struct tflite_importer *importer, struct middle_value *value, int rank, const int64_t *dimensions)
{
    return view_reshape(&value->view, rank, dimensions, &value->view) ||
           tflite_fault(importer, "the elements of %s have no fixed steps in its shape",
                        tflite_shape_text(importer, tflite_output(importer)));
}

bool tflite_gather(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value, part;
    const struct tflite_tensor *indices = tflite_input(importer, 1);
    const bool is_known =
        indices && (indices->data || tflite_known_numbers(importer, (int)(indices - importer->model->tensors)));
    int64_t dimensions[2 * VIEW_MAXIMUM_RANK];
    if (indices && !is_known)
        return tflite_fault(importer,
                            "its indices '%s' are the network's own; supported: constants. Leave the look-up of an "
                            "embedding to the application: convert the model behind it",
                            indices->name);
    const struct tflite_numbers *numbers = indices ? tflite_numbers(importer, 1, -1) : NULL;
    if (!numbers || !tflite_takes(importer, 0, &value))
        return false;
    int dimension = dimension_of(importer, operation->options.axis, value.view.rank), rank = 0;
    if (dimension < 0)
        return false;
    const int batches = operation->options.batch_dimensions;
    if (batches == 0 && value.view.rank - 1 + indices->rank > VIEW_MAXIMUM_RANK)
        return tflite_fault(importer, "%d dimensions of indices; supported: up to %d in all", indices->rank,
                            VIEW_MAXIMUM_RANK);
    for (int i = 0; i < numbers->count; i++)
        if (numbers->list[i] < 0)
            return tflite_fault(importer, "index %d is %d; supported: at least 0", i, (int)numbers->list[i]);
    if (batches != 0)
        return tflite_gather_batches(importer, &value, dimension, batches < 0 ? batches + indices->rank : batches, numbers,
                                     &part) &&
               tflite_gives(importer, 0, &part, result);
    struct middle_move move = middle_move_none(&value.view);
    if (!middle_move_gather(&importer->builder, &move, dimension, numbers->list, numbers->count))
        return tflite_fault(importer, "its indices are none of axis %d of %s", dimension,
                            view_text(&value.view, importer->arena));
    for (int i = 0; i < value.view.rank; i++)
        for (int k = 0; k < (i == dimension ? indices->rank : 1); k++)
            dimensions[rank++] = i == dimension ? indices->dimensions[k] : value.view.dimensions[i];
    return apply(importer, tflite_output(importer)->name, &value, &move, 0, &part) &&
           take_shape(importer, &part, rank, dimensions) && tflite_gives(importer, 0, &part, result);
}

bool tflite_reverse(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value, reversed;
    const struct tflite_numbers *axes = tflite_numbers(importer, 1, -1);
    (void)operation;
    if (!axes || !tflite_takes(importer, 0, &value))
        return false;
    struct middle_move move = middle_move_none(&value.view);
    for (int i = 0; i < axes->count; i++) {
        int dimension = dimension_of(importer, axes->list[i], value.view.rank);
        int64_t size = dimension < 0 ? 0 : value.view.dimensions[dimension];
        if (dimension < 0 || !middle_move_slice(&importer->builder, &move, dimension, size - 1, -1, size))
            return false;
    }
    return apply(importer, tflite_output(importer)->name, &value, &move, 0, &reversed) &&
           tflite_gives(importer, 0, &reversed, result);
}

/* ---- borders ---- */

bool tflite_mirror_pad(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value, padded;
    if (!tflite_takes(importer, 0, &value))
        return false;
    const struct tflite_numbers *borders = tflite_numbers(importer, 1, 2 * value.view.rank);
    struct middle_move move = middle_move_none(&value.view);
    for (int i = 0; borders && i < value.view.rank; i++) {
        int64_t before = borders->list[2 * i], behind = borders->list[2 * i + 1],
                most = value.view.dimensions[i] - (operation->options.border_mode == 0);
        if (before < 0 || behind < 0 || before > most || behind > most ||
            !middle_move_pad(&importer->builder, &move, i,
                             operation->options.border_mode == 0 ? BORDER_REFLECT : BORDER_SYMMETRIC, before, behind))
            return tflite_fault(importer, "borders of dimension %d of %s that are longer than what is reflected", i,
                                view_text(&value.view, importer->arena));
    }
    return borders && apply(importer, tflite_output(importer)->name, &value, &move, 0, &padded) &&
           tflite_gives(importer, 0, &padded, result);
}

/* ---- the same elements again ---- */

bool tflite_tile(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value;
    (void)operation;
    if (!tflite_takes(importer, 0, &value))
        return false;
    const struct tflite_numbers *times = tflite_numbers(importer, 1, value.view.rank);
    for (int i = 0; times && i < value.view.rank; i++)
        if (!middle_repeat(&value.view, i, times->list[i], &value.view))
            return tflite_fault(importer, "makes too much of %s", view_text(&value.view, importer->arena));
    return times && tflite_gives(importer, 0, &value, result);
}

bool tflite_broadcast(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value;
    (void)operation;
    const struct tflite_numbers *shape = tflite_numbers(importer, 1, -1);
    if (!shape || !tflite_takes(importer, 0, &value))
        return false;
    int64_t all = 1;
    bool fits = shape->count <= VIEW_MAXIMUM_RANK;
    for (int i = 0; fits && i < shape->count; i++)
        fits = shape->list[i] >= 1 && shape->list[i] <= MAXIMUM_DIMENSION && (all *= shape->list[i]) <= MAXIMUM_ELEMENTS;
    if (!fits || !view_broadcast(&value.view, shape->count, shape->list, &value.view))
        return tflite_fault(importer, "%s cannot become %s", view_text(&value.view, importer->arena),
                            tflite_shape_text(importer, tflite_output(importer)));
    return tflite_gives(importer, 0, &value, result);
}

/* One element for all places: a copy that takes none of the network's input, but the border's. */
bool tflite_fill(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    const struct tflite_tensor *number = tflite_constant(importer, 1, TFLITE_INT8, 1);
    int output = number ? tflite_makes(importer, -1) : -1, source = output < 0 ? -1 : tflite_first_input(importer);
    (void)operation;
    if (source < 0)
        return false;
    const struct tensor to = *tflite_network_tensor(importer, output);
    struct layer *layer = quantised_layer(&importer->builder, LAYER_COPY, to.name, source, output);
    int32_t *none[3];
    const int sizes[3] = {to.height, to.width, to.channels};
    for (int i = 0; i < 3; i++) {
        none[i] = arena_array(importer->arena, int32_t, (size_t)sizes[i]);
        memset(none[i], -1, (size_t)sizes[i] * sizeof **none);
    }
    layer->map = (struct layer_map){none[0], none[1], none[2]};
    layer->padding_value = (int8_t)number->data[0] + 128;
    *result = tflite_value_of(output);
    return true;
}

/* ---- blocks ---- */

static bool view_blocks(const struct view *view, int64_t block, bool to_depth, struct view *result)
{
    const struct middle_image image = {1, 2, 3};
    return view->rank == 4 && (to_depth ? middle_space_to_depth(view, image, block, result)
                                        : middle_depth_to_space(view, image, block, false, result));
}

/* Where blocks are no whole pieces of what lies in memory, a copy has them. */
static bool change_blocks(struct tflite_importer *importer, bool to_depth, struct value *result)
{
    struct middle_value value;
    int64_t block = importer->current->options.block_size;
    if (!tflite_takes(importer, 0, &value))
        return false;
    if (!view_blocks(&value.view, block, to_depth, &value.view)) {
        const struct layout layout = layout_of_model(value.view.rank);
        if (!middle_lay_out(&importer->builder, tflite_input(importer, 0)->name, &layout, &value) ||
            !view_blocks(&value.view, block, to_depth, &value.view))
            return tflite_fault(importer, "blocks of %d of %s", (int)block, view_text(&value.view, importer->arena));
    }
    return tflite_gives(importer, 0, &value, result);
}

bool tflite_depth_to_space(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    return change_blocks(importer, false, result);
}

bool tflite_space_to_depth(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    (void)operation;
    return change_blocks(importer, true, result);
}
