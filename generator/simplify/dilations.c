/* Grouped and depth-wise convolutions whose taps lie apart. Kernels want taps side by side: so a copy puts those columns, or
 * rows, side by side that a window reads, phase behind phase, and another one takes the results back to where they belong.
 * With a dilation of 2, of columns 0 1 2 3 4 5, the layer reads 0 2 4 and 1 3 5. Windows that reach from one phase into the
 * next have results that nobody reads. */
#include "simplify/edit.h"
#include "simplify/tidy.h"

/* One axis of the layer. `size` is of the input, its border left out; a phase has so many elements. */
struct axis {
    int size, outputs, kernel, dilation, before, phase;
};

static struct axis axis_of(int size, int outputs, int kernel, int dilation, int before)
{
    int read = outputs + (kernel - 1) * dilation;
    return (struct axis){size, outputs, kernel, dilation, before, (read + dilation - 1) / dilation};
}

static bool is_apart(const struct axis *axis) { return axis->dilation > 1; }

static int laid_inputs(const struct axis *axis) { return is_apart(axis) ? axis->dilation * axis->phase : axis->size; }

static int laid_outputs(const struct axis *axis)
{
    return is_apart(axis) ? axis->dilation * axis->phase - axis->kernel + 1 : axis->outputs;
}

/* Where in the input an element of the phases comes from; -1: its border. */
static int32_t *places_of_inputs(const struct axis *axis, int32_t unit, struct arena *arena)
{
    int count = laid_inputs(axis);
    int32_t *places = positions_in_steps(count, 0, unit, arena);
    for (int i = 0; is_apart(axis) && i < count; i++) {
        int place = i / axis->phase + i % axis->phase * axis->dilation - axis->before;
        places[i] = place < 0 || place >= axis->size ? -1 : place * unit;
    }
    return places;
}

static int32_t *places_of_outputs(const struct axis *axis, int32_t unit, struct arena *arena)
{
    int32_t *places = positions_in_steps(axis->outputs, 0, unit, arena);
    for (int i = 0; is_apart(axis) && i < axis->outputs; i++)
        places[i] = (i % axis->dilation * axis->phase + i / axis->dilation) * unit;
    return places;
}

/* Depth-wise kernels want both axes so, those of groups only columns. */
static bool is_apart_layer(const struct network *network, const struct layer *layer)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]], *output = &network->tensors[layer->output];
    bool is_depthwise = layer->groups == input->channels;
    return layer->kind == LAYER_CONVOLUTION && layer->groups > 1 && layer->stage_count > 0 &&
           (layer->dilation_width > 1 || (is_depthwise && layer->dilation_height > 1)) && layer->stride_height == 1 &&
           layer->stride_width == 1 && input->bits == 8 && output->bits == 8 && input->scale > 0 && output->scale > 0;
}

#define MOST_LAID 3 /* times as many elements as the layer has: what the fast kernels gain is worth no more of them */

/* A dilation near the size of the image leaves phases that are nearly all border. */
static bool is_worth(const struct network *network, const struct layer *layer, const struct axis *rows,
                     const struct axis *columns)
{
    size_t laid =
        (size_t)laid_inputs(rows) * (size_t)laid_inputs(columns) * (size_t)network->tensors[layer->inputs[0]].channels;
    return laid <= MOST_LAID * tensor_elements(&network->tensors[layer->inputs[0]]) && laid <= MAXIMUM_ELEMENTS;
}

static int add_copy(struct network *network, int at, const char *what, const struct tensor *tensor,
                    const struct layer_map *map, struct arena *arena)
{
    const struct layer *layer = &network->layers[at];
    struct layer copy = layer_plain(arena_format(arena, "%s, %s", layer->name, what), LAYER_COPY, layer->inputs[0]);
    copy.padding_value = layer->padding_value;
    copy.map = *map;
    copy.output = edit_add_tensor(network, tensor, arena);
    network->tensors[copy.output].name = copy.name;
    edit_insert_layer(network, at, &copy, arena);
    return copy.output;
}

/* The layer at `at` reads phases; its window is set to what is left of it. */
static void lay_input(struct network *network, int at, const struct axis *rows, const struct axis *columns,
                      struct arena *arena)
{
    struct tensor laid = network->tensors[network->layers[at].inputs[0]];
    struct layer_map map = {.rows = places_of_inputs(rows, laid.width * laid.channels, arena),
                            .columns = places_of_inputs(columns, laid.channels, arena),
                            .channels = positions_in_steps(laid.channels, 0, 1, arena)};
    laid.height = laid_inputs(rows);
    laid.width = laid_inputs(columns);
    int input = add_copy(network, at, "columns apart", &laid, &map, arena);
    struct layer *layer = &network->layers[at + 1];
    layer->inputs[0] = input;
    layer->dilation_height = layer->dilation_width = 1;
    if (is_apart(rows))
        layer->padding_top = layer->padding_bottom = 0;
    if (is_apart(columns))
        layer->padding_left = layer->padding_right = 0;
}

/* What it computes goes to where its output was. */
static void lay_output(struct network *network, int at, const struct axis *rows, const struct axis *columns,
                       struct arena *arena)
{
    struct layer *layer = &network->layers[at];
    int output = layer->output;
    struct tensor laid = network->tensors[output];
    laid.name = arena_format(arena, "%s, columns apart", laid.name);
    laid.height = laid_outputs(rows);
    laid.width = laid_outputs(columns);
    layer->output = edit_add_tensor(network, &laid, arena);
    layer = &network->layers[at];
    struct layer back = layer_plain(layer->name, LAYER_COPY, layer->output);
    back.map = (struct layer_map){.rows = places_of_outputs(rows, laid.width * laid.channels, arena),
                                  .columns = places_of_outputs(columns, laid.channels, arena),
                                  .channels = positions_in_steps(laid.channels, 0, 1, arena)};
    back.output = output;
    layer->name = laid.name;
    edit_insert_layer(network, at + 1, &back, arena);
}

bool network_join_taps(struct network *network, struct arena *arena)
{
    bool joins = false;
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        const struct tensor *input = &network->tensors[layer->inputs[0]], *output = &network->tensors[layer->output];
        if (!is_apart_layer(network, layer))
            continue;
        struct axis rows =
            axis_of(input->height, output->height, layer->kernel_height, layer->dilation_height, layer->padding_top);
        struct axis columns =
            axis_of(input->width, output->width, layer->kernel_width, layer->dilation_width, layer->padding_left);
        if (laid_inputs(&rows) > MAXIMUM_DIMENSION || laid_inputs(&columns) > MAXIMUM_DIMENSION ||
            !is_worth(network, layer, &rows, &columns))
            continue;
        lay_input(network, i, &rows, &columns, arena);
        lay_output(network, i + 1, &rows, &columns, arena);
        joins = true;
        i += 2;
    }
    return joins;
}
