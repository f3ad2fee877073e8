#include "simplify/early.h"

#include <string.h>

#include "network/channels.h"
#include "simplify/cancel.h"
#include "simplify/edit.h"
#include "simplify/part.h"

struct mover {
    struct network *network;
    struct arena *arena;
    bool computes_unread; /* all that the model computes */
};

static const struct tensor *tensor_of(const struct mover *m, int tensor) { return &m->network->tensors[tensor]; }

/* A tensor as large as another, for a part of the first one. */
static int add_part(const struct mover *m, int of, int height, int width, int channels)
{
    struct tensor part = *tensor_of(m, of);
    part.name = arena_format(m->arena, "%s, part", part.name);
    part.height = height;
    part.width = width;
    part.channels = channels;
    part.producer = NO_LAYER;
    if (channels != tensor_of(m, of)->channels)
        part.channel_scales = NULL;
    return edit_add_tensor(m->network, &part, m->arena);
}

/* ---- copies of nothing ---- */

/* What is left of a copy in front of an output, if it is nothing: the layer in front computes the output. */
static bool leave_out(const struct mover *m, int index)
{
    const struct layer *copy = &m->network->layers[index];
    int producer = tensor_of(m, copy->inputs[0])->producer;
    if (copy->kind != LAYER_COPY || copy->stage_count || producer == NO_LAYER ||
        network_count_readers(m->network, copy->inputs[0]) != 1 || !simplify_copy_is_nothing(m->network, copy))
        return false;
    m->network->layers[producer].output = copy->output;
    m->network->tensors[copy->inputs[0]].producer = NO_LAYER;
    edit_remove_layer(m->network, index);
    return true;
}

/* ---- in front of layers of single elements ---- */

/* Every element of the output comes from the one in that place of each input, in the same way for all of them. */
static bool is_by_element(const struct mover *m, const struct layer *layer)
{
    bool is = layer->kind == LAYER_TABLE || layer->kind == LAYER_ADDITION || layer->kind == LAYER_MULTIPLICATION ||
              layer->kind == LAYER_SQUARED_DIFFERENCE;
    for (int i = 0; is && i < layer_input_count(layer); i++)
        is = tensor_elements(tensor_of(m, layer->inputs[i])) == tensor_elements(tensor_of(m, layer->output)) &&
             (layer_input_count(layer) == 1 || layer->input_stages[i].count <= 1);
    for (int i = 0; i < layer->stage_count; i++)
        is = is && layer->stages[i].count <= 1;
    return is;
}

/* The copy takes the layer's inputs, and the layer comes where the copy was. */
static bool pass_elements(const struct mover *m, int index)
{
    const struct layer copy = m->network->layers[index];
    int producer = tensor_of(m, copy.inputs[0])->producer;
    if (copy.kind != LAYER_COPY || copy.stage_count || producer == NO_LAYER ||
        network_count_readers(m->network, copy.inputs[0]) != 1 ||
        2 * tensor_elements(tensor_of(m, copy.output)) > tensor_elements(tensor_of(m, copy.inputs[0])) ||
        !is_by_element(m, &m->network->layers[producer]) || simplify_copy_has_border(m->network, &copy))
        return false;
    struct layer layer = m->network->layers[producer];
    const struct tensor to = *tensor_of(m, copy.output);
    layer.output = copy.output;
    for (int i = 0; i < layer_input_count(&layer); i++) {
        struct layer part = copy;
        part.inputs[0] = layer.inputs[i];
        part.output = layer.inputs[i] = add_part(m, part.inputs[0], to.height, to.width, to.channels);
        edit_insert_layer(m->network, index++, &part, m->arena);
    }
    edit_set_layer(m->network, index, &layer);
    edit_drop_unread(m->network);
    return true;
}

/* ---- rows and columns ---- */

/* The inputs of which each row (column) of the output needs one, or those of a window, as bits; 0: it needs all. */
static unsigned inputs_by_line(const struct mover *m, const struct layer *layer, enum pixel_axis axis)
{
    enum { FIRST = 1, BOTH = 3 };
    switch (layer->kind) {
    case LAYER_NORM: return norm_is_alike(m->network, layer) ? FIRST : 0;
    case LAYER_CONVOLUTION:
    case LAYER_MAXIMUM_POOL:
    case LAYER_AVERAGE_POOL:
    case LAYER_TABLE:
    case LAYER_SOFTMAX:
    case LAYER_LARGEST: return FIRST;
    case LAYER_MATRIX_PRODUCT: return axis == AXIS_ROW ? BOTH : FIRST;
    case LAYER_CONCATENATION: return BOTH;
    case LAYER_ADDITION:
    case LAYER_MULTIPLICATION:
    case LAYER_SQUARED_DIFFERENCE:
        return layer_second_repeats(tensor_of(m, layer->output), tensor_of(m, layer->inputs[1])).pixel ? FIRST : BOTH;
    case LAYER_COPY:
    case LAYER_INTERPOLATION:
    case LAYER_LSTM: break;
    }
    return 0;
}

static int stride_of(const struct layer *layer, enum pixel_axis axis)
{
    return axis == AXIS_ROW ? layer->stride_height : layer->stride_width;
}

static struct window_lines window_lines_of(const struct mover *m, const struct layer *layer, enum pixel_axis axis,
                                           const struct part *part)
{
    const int *lines = part_list(part, (int)axis, m->arena);
    return simplify_window_lines(layer, axis, tensor_extent(tensor_of(m, layer->inputs[0]), axis), lines[0],
                                 lines[part->counts[axis] - 1]);
}

/* The lines of input `i` that a part of the output needs. */
static const int *lines_for(const struct mover *m, const struct layer *layer, int i, enum pixel_axis axis,
                            const struct part *part, int *count)
{
    int extent = tensor_extent(tensor_of(m, layer->inputs[i]), axis), first = 0, step = 1;
    const int *lines = NULL;
    *count = extent;
    if (inputs_by_line(m, layer, axis) >> i & 1 && part->counts[axis] < part->sizes[axis]) {
        bool has_window = simplify_has_window(layer, axis);
        struct window_lines window = window_lines_of(m, layer, axis, part);
        first = has_window ? window.first : 0;
        *count = has_window ? window.end - window.first : part->counts[axis];
        lines = has_window ? NULL : part_list(part, (int)axis, m->arena);
        step = has_window ? 1 : stride_of(layer, axis);
    }
    int *list = arena_array(m->arena, int, (size_t)*count);
    for (int k = 0; k < *count; k++)
        list[k] = first + (lines ? lines[k] : k) * step;
    return list;
}

static const int32_t *positions(const struct mover *m, const int *lines, int count, int step)
{
    int32_t *list = arena_array(m->arena, int32_t, (size_t)count);
    for (int i = 0; i < count; i++)
        list[i] = lines[i] * step;
    return list;
}

/* Of input `i` what a part of the output needs. Its number; -1: all of it. */
static int take_lines(const struct mover *m, const struct layer *layer, int i, const struct part *part, struct layer *copy)
{
    const struct tensor input = *tensor_of(m, layer->inputs[i]);
    int counts[AXES];
    const int *lines[] = {lines_for(m, layer, i, AXIS_ROW, part, &counts[AXIS_ROW]),
                          lines_for(m, layer, i, AXIS_COLUMN, part, &counts[AXIS_COLUMN])};
    if (counts[AXIS_ROW] == input.height && counts[AXIS_COLUMN] == input.width)
        return -1;
    *copy = layer_plain(arena_format(m->arena, "%s, part", layer->name), LAYER_COPY, layer->inputs[i]);
    copy->map = (struct layer_map){.rows = positions(m, lines[AXIS_ROW], counts[AXIS_ROW], input.width * input.channels),
                                   .columns = positions(m, lines[AXIS_COLUMN], counts[AXIS_COLUMN], input.channels),
                                   .channels = positions_in_steps(input.channels, 0, 1, m->arena)};
    return copy->output = add_part(m, layer->inputs[i], counts[AXIS_ROW], counts[AXIS_COLUMN], input.channels);
}

/* Has it elements of fewer bits than a byte, which are not copied? A pool and a copy keep what they pick from. */
static bool is_packed(const struct mover *m, int tensor)
{
    int producer = tensor_of(m, tensor)->producer;
    if (producer == NO_LAYER)
        return tensor_of(m, tensor)->bits > 0 && tensor_of(m, tensor)->bits < 8;
    const struct layer *layer = &m->network->layers[producer];
    bool picks = (layer->kind == LAYER_MAXIMUM_POOL || layer->kind == LAYER_CONCATENATION || layer->kind == LAYER_COPY) &&
                 layer->stage_count == 0;
    return layer->output_bits ? layer->output_bits < 8 : picks && is_packed(m, layer->inputs[0]);
}

/* A window goes from its first line to its last. */
static void need_between(const struct mover *m, const struct layer *layer, enum pixel_axis axis, struct part *part)
{
    const int *lines = part_list(part, (int)axis, m->arena);
    for (int i = lines[0], last = lines[part->counts[axis] - 1]; i <= last; i++)
        part_need(part, (int)axis, i);
    struct window_lines window = window_lines_of(m, layer, axis, part);
    if (window.first >= window.end || is_packed(m, layer->inputs[0]))
        part_need_all(part, (int)axis);
}

/* Does one of the readers take less than the part? It stays behind the layer. */
static bool leaves_copy(const struct mover *m, const bool *readers, const struct part *part)
{
    size_t elements =
        (size_t)part->counts[PART_ROWS] * (size_t)part->counts[PART_COLUMNS] * (size_t)part->sizes[PART_CHANNELS];
    for (int i = 0; i < m->network->layer_count; i++)
        if (readers[i] && tensor_elements(tensor_of(m, m->network->layers[i].output)) != elements)
            return true;
    return false;
}

/* Whether what a window need not compute is more than what is copied for it instead of its part, in elements as
 * early.h prices them. */
static bool pays(const struct mover *m, const struct layer *layer, const bool *readers, const struct part *part)
{
    const struct tensor *input = tensor_of(m, layer->inputs[0]), *output = tensor_of(m, layer->output);
    double left = (double)part->counts[PART_ROWS] * part->counts[PART_COLUMNS] / ((double)output->height * output->width);
    double whole = (double)tensor_elements(output),
           work = whole + (double)layer_macs(m->network, layer) / EARLY_MACS_OF_ELEMENT;
    int counts[AXES];
    for (enum pixel_axis axis = AXIS_ROW; axis < AXES; axis++)
        lines_for(m, layer, 0, axis, part, &counts[axis]);
    bool copies = counts[AXIS_ROW] < input->height || counts[AXIS_COLUMN] < input->width;
    double copied = copies ? (double)counts[AXIS_ROW] * counts[AXIS_COLUMN] * input->channels : 0;
    if (leaves_copy(m, readers, part))
        return left < 1 && (1 - left) * work > copied + (copies ? EARLY_WORK_OF_LAYER : 0);
    return left < 1 && (1 - left) * work + left * whole > copied;
}

/* The pixels of its output that copies read; false: more than half, or, of windows, more than what pays. */
static bool find_part(const struct mover *m, const struct layer *layer, const bool *readers, struct part *part)
{
    *part = part_of_nothing(tensor_of(m, layer->output), m->arena);
    for (int i = 0; i < m->network->layer_count; i++)
        if (readers[i])
            part_need_copy(part, m->network, &m->network->layers[i]);
    for (enum pixel_axis axis = AXIS_ROW; axis < AXES; axis++) {
        if (part->counts[axis] == 0)
            part_need(part, axis, 0);
        if (!inputs_by_line(m, layer, axis))
            part_need_all(part, axis);
        else if (simplify_has_window(layer, axis))
            need_between(m, layer, axis, part);
    }
    if (simplify_has_window(layer, AXIS_ROW) || simplify_has_window(layer, AXIS_COLUMN))
        return pays(m, layer, readers, part);
    return 2LL * part->counts[PART_ROWS] * part->counts[PART_COLUMNS] <=
           (long long)part->sizes[PART_ROWS] * part->sizes[PART_COLUMNS];
}

static bool *readers_of(const struct mover *m, int tensor)
{
    bool *readers = arena_array(m->arena, bool, (size_t)m->network->layer_count);
    for (int i = 0; i < m->network->layer_count; i++)
        readers[i] = layer_reads(&m->network->layers[i], tensor);
    return readers;
}

/* The layer as it makes a part of its output: a window with the border that is left of it, all others line by line. */
static void fit(const struct mover *m, const struct layer *whole, const struct part *part, struct layer *layer)
{
    int before[AXES] = {whole->padding_top, whole->padding_left}, after[] = {whole->padding_bottom, whole->padding_right};
    int strides[AXES] = {whole->stride_height, whole->stride_width};
    for (enum pixel_axis axis = AXIS_ROW; axis < AXES; axis++) {
        if (part->counts[axis] == part->sizes[axis])
            continue;
        if (!simplify_has_window(whole, axis)) {
            strides[axis] = 1;
            continue;
        }
        struct window_lines window = window_lines_of(m, whole, axis, part);
        before[axis] = window.before;
        after[axis] = window.after;
    }
    layer->padding_top = before[AXIS_ROW];
    layer->padding_left = before[AXIS_COLUMN];
    layer->padding_bottom = after[AXIS_ROW];
    layer->padding_right = after[AXIS_COLUMN];
    layer->stride_height = strides[AXIS_ROW];
    layer->stride_width = strides[AXIS_COLUMN];
}

/* The layer computes the pixels that are read, from copies of the pixels that these need. */
static bool narrow(const struct mover *m, int index)
{
    struct layer layer = m->network->layers[index], copies[2];
    struct part part;
    if (!part_has_copies_only(m->network, layer.output))
        return false;
    const bool *readers = readers_of(m, layer.output);
    if (!find_part(m, &layer, readers, &part))
        return false;
    part_need_all(&part, PART_CHANNELS);
    int made = add_part(m, layer.output, part.counts[PART_ROWS], part.counts[PART_COLUMNS], part.sizes[PART_CHANNELS]);
    if (!part_redirect(m->network, layer.output, readers, &part, made, m->arena))
        return false;
    const struct layer whole = layer;
    for (int i = 0; i < layer_input_count(&layer); i++) {
        int taken = take_lines(m, &whole, i, &part, &copies[i]);
        if (taken < 0)
            continue;
        layer.inputs[i] = taken;
        edit_insert_layer(m->network, index++, &copies[i], m->arena);
    }
    fit(m, &whole, &part, &layer);
    layer.output = made;
    edit_set_layer(m->network, index, &layer);
    edit_drop_unread(m->network);
    return true;
}

/* ---- a convolution for each reader ---- */

#define WORD_CHANNELS 4 /* kernels read so many at once */

static bool is_apart(const struct part *a, const struct part *b)
{
    for (int i = 0; i < a->sizes[PART_CHANNELS]; i++)
        if (a->needed[PART_CHANNELS][i] && b->needed[PART_CHANNELS][i])
            return false;
    return a->counts[PART_CHANNELS] % WORD_CHANNELS == 0 && b->counts[PART_CHANNELS] % WORD_CHANNELS == 0;
}

static bool lay_channels(const struct mover *m, const struct layer *layer, const bool *readers, struct part *part,
                         struct layer *made)
{
    const int *channels = part_list(part, PART_CHANNELS, m->arena);
    *made = simplify_some_channels(m->network, layer, channels, part->counts[PART_CHANNELS], m->arena);
    part_need_all(part, PART_ROWS);
    part_need_all(part, PART_COLUMNS);
    made->output =
        add_part(m, layer->output, part->sizes[PART_ROWS], part->sizes[PART_COLUMNS], part->counts[PART_CHANNELS]);
    return part_redirect(m->network, layer->output, readers, part, made->output, m->arena);
}

/* Whether a copy has channels that follow each other, of all pixels, in the order that they have: of a convolution that
 * computes no others it is a view. */
static bool is_slice(const struct mover *m, const struct layer *copy, const struct part *part)
{
    const struct tensor *from = tensor_of(m, copy->inputs[0]), *to = tensor_of(m, copy->output);
    int64_t count = part->counts[PART_CHANNELS], i = 0;
    int32_t first = copy->map.rows[0] + copy->map.columns[0] + copy->map.channels[0];
    if (simplify_copy_has_border(m->network, copy) ||
        (int64_t)tensor_elements(to) != (int64_t)from->height * from->width * count)
        return false;
    for (int row = 0; row < to->height; row++)
        for (int column = 0; column < to->width; column++)
            for (int channel = 0; channel < to->channels; channel++, i++)
                if (copy->map.rows[row] + copy->map.columns[column] + copy->map.channels[channel] !=
                    first + i / count * from->channels + i % count)
                    return false;
    return true;
}

/* The channels of one reader in a convolution of their own: one that reads few pixels, or whose copy a convolution of one
 * tap, which reads its input again for it, saves. */
static bool split_reader(const struct mover *m, int index, int reader)
{
    const struct layer layer = m->network->layers[index];
    bool *others = readers_of(m, layer.output), *own = arena_array(m->arena, bool, (size_t)m->network->layer_count);
    struct part part, rest;
    struct layer made[2];
    others[reader] = false;
    own[reader] = true;
    bool is_small = find_part(m, &layer, own, &part), others_are_small = find_part(m, &layer, others, &rest);
    bool leaves_out = is_small && !others_are_small && !m->computes_unread;
    bool saves_copy =
        layer.kernel_height == 1 && layer.kernel_width == 1 && !is_small && is_slice(m, &m->network->layers[reader], &part);
    if ((!saves_copy && !leaves_out) || !is_apart(&part, &rest))
        return false;
    const struct layer *before = arena_copy(m->arena, m->network->layers, m->network->layer_count);
    if (!lay_channels(m, &layer, own, &part, &made[0]) || !lay_channels(m, &layer, others, &rest, &made[1])) {
        memcpy(m->network->layers, before, (size_t)m->network->layer_count * sizeof *before);
        return false;
    }
    edit_set_layer(m->network, index, &made[0]);
    edit_insert_layer(m->network, index + 1, &made[1], m->arena);
    return true;
}

static bool split(const struct mover *m, int index)
{
    const struct layer *layer = &m->network->layers[index];
    if (layer->kind != LAYER_CONVOLUTION || layer->groups != 1 || !part_has_copies_only(m->network, layer->output) ||
        network_count_readers(m->network, layer->output) < 2)
        return false;
    for (int i = index + 1; i < m->network->layer_count; i++)
        if (m->network->layers[i].inputs[0] == layer->output && split_reader(m, index, i))
            return true;
    return false;
}

/* ---- all of it ---- */

static bool move_one(const struct mover *m)
{
    for (int i = m->network->layer_count - 1; i >= 0; i--)
        if ((!m->computes_unread && (leave_out(m, i) || pass_elements(m, i) || narrow(m, i))) || split(m, i))
            return true;
    return false;
}

/* Each move leaves fewer elements to compute, or fewer copies: there is an end. */
bool simplify_take_early(struct network *network, bool computes_unread, struct arena *arena)
{
    struct mover m = {network, arena, computes_unread};
    bool moves = false;
    while (move_one(&m)) {
        moves = true;
        simplify_join_copies_between(network, arena);
    }
    return moves;
}
