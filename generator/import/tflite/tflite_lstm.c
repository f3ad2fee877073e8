/* UNIDIRECTIONAL_SEQUENCE_LSTM of INT8, with cells of INT16, as TensorFlow Lite Micro computes it: one layer. What it keeps
 * from run to run is a state, an input and an output of the network. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/tflite/tflite_import.h"
#include "network/fixed_point.h"

#define GATE_BITS   12 /* behind the point of what gates are functions of */
#define RESULT_BITS 15 /* and of what they give */

struct recurrence {
    struct lstm lstm;
    struct middle_value x, hidden, cells; /* the inputs */
    struct quantisation from, to, read;   /* of x, of the hidden elements, and as readers of the output take these */
    double cell_scale;
};

static const struct tflite_tensor *optional_input(const struct tflite_importer *importer, int index)
{
    const struct tflite_operator *operation = importer->current;
    bool is_there = index < operation->input_count && operation->inputs[index] != NO_TENSOR;
    return is_there ? &importer->model->tensors[operation->inputs[index]] : NULL;
}

/* ---- what there is no layer for ---- */

static bool check_variant(struct tflite_importer *importer, const struct tflite_operator *operation)
{
    static const struct {
        int first, count;
        const char *what;
    } absent[] = {{TFLITE_LSTM_PEEPHOLE, 3, "peepholes: weights of cells"},
                  {TFLITE_LSTM_PROJECTION, 2, "a projection"},
                  {TFLITE_LSTM_NORMS, 4, "a layer normalisation inside"}};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        for (int k = 0; k < absent[i].count; k++)
            if (optional_input(importer, absent[i].first + k))
                return tflite_fault(importer, "has %s; supported: none, as LSTM layers of Keras have none", absent[i].what);
    if (!optional_input(importer, TFLITE_LSTM_WEIGHTS))
        return tflite_fault(importer, "has no input gate (CIFG); supported: all four gates");
    if (operation->options.activation != TFLITE_FUSED_TANH)
        return tflite_fault(importer, "has the activation %d; supported: %d (TANH)", operation->options.activation,
                            TFLITE_FUSED_TANH);
    if (operation->options.projection_clip != 0)
        return tflite_fault(importer, "clips a projection that it has not");
    return operation->input_count <= TFLITE_LSTM_INPUTS ||
           tflite_fault(importer, "has %d inputs; supported: up to %d", operation->input_count, TFLITE_LSTM_INPUTS);
}

/* ---- shapes ---- */

static bool has_shape(const struct tflite_tensor *tensor, int rank, const int *dimensions)
{
    bool fits = tensor->rank == rank;
    for (int i = 0; fits && i < rank; i++)
        fits = tensor->dimensions[i] == dimensions[i];
    return fits;
}

/* [1, steps, inputs], or with is_time_major [steps, 1, inputs]; and outputs alike, for each unit. */
static bool set_shape(struct tflite_importer *importer, struct recurrence *r)
{
    const struct tflite_tensor *x = tflite_input(importer, 0), *y = tflite_output(importer);
    const struct tflite_tensor *hidden = tflite_input(importer, TFLITE_LSTM_STATES);
    if (!x || !hidden || x->rank != 3 || hidden->rank != 2 || x->dimensions[2] < 1)
        return tflite_fault(importer, "reads no sequence, or keeps no rows; supported: sequences of a batch of 1");
    int time = importer->current->options.is_time_major ? 0 : 1;
    r->lstm.steps = x->dimensions[time];
    r->lstm.inputs = x->dimensions[2];
    r->lstm.units = hidden->dimensions[1];
    if (x->dimensions[1 - time] != 1 || hidden->dimensions[0] != 1)
        return tflite_fault(importer, "has a batch of %d; supported: 1", x->dimensions[1 - time]);
    const int given[] = {x->dimensions[0], x->dimensions[1], r->lstm.units}, cells[] = {1, 2 * r->lstm.units};
    const struct tflite_tensor *state = tflite_input(importer, TFLITE_LSTM_STATES + 1);
    if (!state || r->lstm.units < 1 || r->lstm.steps < 1 || !has_shape(y, 3, given) || !has_shape(state, 2, cells))
        return tflite_fault(importer, "has shapes that do not go together: %s gives %s", tflite_shape_text(importer, x),
                            tflite_shape_text(importer, y));
    int64_t units = r->lstm.units, steps = r->lstm.steps;
    return (steps <= MAXIMUM_DIMENSION && units <= MAXIMUM_DIMENSION && steps * r->lstm.inputs <= MAXIMUM_DIMENSION &&
            (steps + 2) * units <= MAXIMUM_DIMENSION) ||
           tflite_fault(importer, "has %d steps of %d elements for %d units; supported: up to %d elements in all",
                        r->lstm.steps, r->lstm.inputs, r->lstm.units, MAXIMUM_DIMENSION);
}

/* ---- numbers ---- */

static struct lstm_scale scale_of(double factor)
{
    struct lstm_scale scale;
    fixed_quantise_multiplier(factor, &scale.multiplier, &scale.exponent);
    return scale;
}

static bool set_cells(struct tflite_importer *importer, struct recurrence *r)
{
    const double unit = ldexp(1, -RESULT_BITS);
    const double clip = (double)importer->current->options.cell_clip;
    int exponent;
    r->cell_scale = (double)tflite_input(importer, TFLITE_LSTM_STATES + 1)->scales[0];
    if (!(r->cell_scale > 0) || frexp(r->cell_scale, &exponent) != 0.5 || exponent > 1 || exponent < -14)
        return tflite_fault(importer, "has cells of scale %g; supported: powers of two from 2^-15 to 1", r->cell_scale);
    if (!(clip >= 0))
        return tflite_fault(importer, "clips cells at %g; supported: 0, which is no clip, and more", clip);
    r->lstm.cell_bits = 1 - exponent;
    r->lstm.cell_maximum = clip > 0 ? (int)fmin(clip / r->cell_scale, INT16_MAX) : INT16_MAX;
    r->lstm.cell_minimum = clip > 0 ? -r->lstm.cell_maximum : INT16_MIN;
    r->lstm.forget = scale_of(unit);
    r->lstm.input = scale_of(unit * unit / r->cell_scale);
    r->lstm.output = scale_of(unit * unit / r->to.scale);
    r->lstm.zero_point = (int)r->to.zero_point + (r->to.is_signed ? 128 : 0);
    return r->lstm.output.exponent <= 0 ||
           tflite_fault(importer, "has a state of scale %g, which is too small", r->to.scale);
}

/* What 30 bits hold of |x| shifted left as the scale says. */
static int64_t most_of(const struct lstm_scale *scale)
{
    return INT32_MAX >> (scale->exponent > 0 ? scale->exponent : 0) >> 2;
}

/* Sums of any elements are proven to have 30 bits, on their way, and shifted: two less than a product's high half has. */
static bool set_addends(struct tflite_importer *importer, struct lstm_product *product, int units, int count, int zero_point,
                        const struct tflite_tensor *biases)
{
    int32_t *addends = arena_array(importer->arena, int32_t, (size_t)units);
    for (int unit = 0; unit < units; unit++) {
        int64_t bias = biases ? tflite_integer(biases, (size_t)unit) : 0, sum = 0, most = 0;
        for (int i = 0; i < count; i++) {
            int weight = product->weights[(size_t)unit * (size_t)count + (size_t)i];
            sum += weight;
            most += 255 * abs(weight);
        }
        most += llabs(bias) + llabs(sum * zero_point);
        if (most > most_of(&product->scale))
            return tflite_fault(importer, "has biases or scales with which sums exceed 30 bits");
        addends[unit] = (int32_t)(bias - sum * zero_point);
    }
    product->addends = addends;
    return true;
}

/* Weights [units][count], of one scale. Its product with the input's is exact, as in TensorFlow Lite Micro since autumn
 * 2026; before, it was rounded to float32, which rarely moves a sum by one. */
static bool set_product(struct tflite_importer *importer, struct recurrence *r, int gate, int which)
{
    struct lstm_product *product = &r->lstm.products[gate][which];
    const struct quantisation *read = which ? &r->to : &r->from;
    const int count = which ? r->lstm.units : r->lstm.inputs, shape[] = {r->lstm.units, count};
    const struct tflite_tensor *biases = NULL,
                               *weights =
                                   tflite_constant(importer, (which ? TFLITE_LSTM_RECURRENT : TFLITE_LSTM_WEIGHTS) + gate,
                                                   TFLITE_INT8, (size_t)r->lstm.units * (size_t)count);
    if (!weights)
        return false;
    if (weights->scale_count != 1 || weights->zero_points[0] != 0 || !(weights->scales[0] > 0) ||
        !has_shape(weights, 2, shape))
        return tflite_fault(importer,
                            "'%s' has no one scale, a zero point, or another shape; supported: %d x %d, of one scale",
                            weights->name, shape[0], shape[1]);
    if (!which && optional_input(importer, TFLITE_LSTM_BIASES + gate)) {
        biases = tflite_constant(importer, TFLITE_LSTM_BIASES + gate, TFLITE_INT32, (size_t)r->lstm.units);
        if (!biases)
            return false;
    }
    int8_t *own = arena_array(importer->arena, int8_t, weights->data_bytes); /* the file's bytes go */
    memcpy(own, weights->data, weights->data_bytes);
    product->weights = own;
    product->scale = scale_of(read->scale * (double)weights->scales[0] * ldexp(1, GATE_BITS));
    if (product->scale.exponent > 30)
        return tflite_fault(importer, "'%s' has the scale %g, which is too large", weights->name,
                            (double)weights->scales[0]);
    return set_addends(importer, product, r->lstm.units, count, (int)read->zero_point + (read->is_signed ? 128 : 0), biases);
}

static bool set_lstm(struct tflite_importer *importer, struct recurrence *r)
{
    if (!tflite_quantisation(importer, tflite_input(importer, 0), &r->from) ||
        !tflite_quantisation(importer, tflite_output(importer), &r->read) ||
        !tflite_quantisation(importer, tflite_input(importer, TFLITE_LSTM_STATES), &r->to) || !set_cells(importer, r))
        return false;
    if (!r->to.is_signed || !r->from.is_signed || !r->read.is_signed)
        return tflite_fault(importer, "has an input or output that is not INT8");
    if (r->to.scale != r->read.scale || r->to.zero_point != r->read.zero_point)
        tflite_warning(importer,
                       "its output has the scale %.9g and zero point %" PRId64 ", its state %.9g and %" PRId64
                       ": TensorFlow Lite Micro, and so this, gives the state's bytes as they are",
                       r->read.scale, r->read.zero_point, r->to.scale, r->to.zero_point);
    for (int i = 0; i < 2 * LSTM_GATES; i++)
        if (!set_product(importer, r, i / 2, i % 2))
            return false;
    return true;
}

/* ---- layers ---- */

/* All elements in their order. */
static bool take_all(struct tflite_importer *importer, int index, struct middle_value *value)
{
    const struct layout layout = layout_of_model(tflite_input(importer, index)->rank);
    const char *name = arena_format(importer->arena, "%s, input %d", tflite_output(importer)->name, index);
    return tflite_takes(importer, index, value) &&
           (middle_lay_out(&importer->builder, name, &layout, value) ||
            tflite_fault(importer, "'%s' has more elements than the firmware can have",
                         tflite_input(importer, index)->name));
}

/* Hidden elements and cells in one tensor. */
static int join_state(struct tflite_importer *importer, const struct recurrence *r)
{
    const char *name = arena_format(importer->arena, "%s, state", tflite_output(importer)->name);
    int state = quantised_tensor(&importer->builder, name, 1, 1, 3 * r->lstm.units, &r->to);
    quantised_layer(&importer->builder, LAYER_CONCATENATION, name, r->hidden.tensor, state)->inputs[1] = r->cells.tensor;
    return state;
}

/* Bytes as they are. */
static struct stage whole_bytes(struct quantised_builder *builder, const struct tensor *output)
{
    struct stage stage = quantised_stage(builder, 1, output);
    int64_t *multiplier = arena_array(builder->arena, int64_t, 1);
    *multiplier = 1;
    stage.multiplier = multiplier;
    stage.rounding = ROUND_FLOOR;
    stage.exponent = NULL;
    stage.zero_point = 0;
    return stage;
}

static int lay_lstm(struct tflite_importer *importer, const struct recurrence *r, int state)
{
    struct lstm *lstm = arena_allocate(importer->arena, sizeof *lstm);
    const char *name = arena_format(importer->arena, "%s, with its cells", tflite_output(importer)->name);
    int output = quantised_tensor(&importer->builder, name, 1, r->lstm.steps + 2, r->lstm.units, &r->to);
    struct layer *layer =
        quantised_layer(&importer->builder, LAYER_LSTM, tflite_output(importer)->name, r->x.tensor, output);
    *lstm = r->lstm;
    layer->lstm = lstm;
    layer->inputs[1] = state;
    layer->stages[0] = whole_bytes(&importer->builder, &importer->builder.network->tensors[output]);
    layer->stage_count = 1;
    return output;
}

/* Rows first .. first + count - 1 of the output, as the operator's output `index`, whose tensor is returned; -1 after a
 * report. */
static int give_rows(struct tflite_importer *importer, const struct middle_value *rows, int index, int first, int count,
                     struct value *result)
{
    const struct tflite_tensor *to = &importer->model->tensors[importer->current->outputs[index]];
    struct middle_move move = middle_move_none(&rows->view);
    struct layout layout = layout_of_model(rows->view.rank);
    struct middle_value part;
    int64_t dimensions[TFLITE_MAXIMUM_RANK];
    for (int i = 0; i < to->rank; i++)
        dimensions[i] = to->dimensions[i];
    if (!middle_move_slice(&importer->builder, &move, 1, first, 1, count) ||
        !middle_lay(&importer->builder, to->name, rows, &move, &layout, 0, &part) ||
        !view_reshape(&part.view, to->rank, dimensions, &part.view)) {
        tflite_fault(importer, "'%s' has more elements than the firmware can have", to->name);
        return -1;
    }
    *result = tflite_value_of(part.tensor);
    result->is_moved = !view_is_memory(&part.view);
    result->view = part.view;
    return part.tensor;
}

static bool give_all(struct tflite_importer *importer, const struct recurrence *r, int output, struct value *result)
{
    const int64_t dimensions[3] = {1, r->lstm.steps + 2, r->lstm.units};
    const struct middle_value rows = {output, view_of_memory(3, dimensions)};
    struct value *values = importer->values;
    const int *outputs = importer->current->outputs;
    int all = give_rows(importer, &rows, 0, 0, r->lstm.steps, result), cells = -1;
    if (all < 0 || give_rows(importer, &rows, 1, r->lstm.steps - 1, 1, &values[outputs[1]]) < 0 ||
        (cells = give_rows(importer, &rows, 2, r->lstm.steps, 2, &values[outputs[2]])) < 0)
        return false;
    struct tensor *tensor = tflite_network_tensor(importer, cells), *read = tflite_network_tensor(importer, all);
    tensor->scale = r->cell_scale;
    tensor->zero_point = tensor->model_offset = 0;
    read->scale = r->read.scale;
    read->zero_point = (int)r->read.zero_point + 128;
    return true;
}

bool tflite_lstm(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct recurrence r = {.lstm = {.steps = 0}};
    if (!check_variant(importer, operation) || !set_shape(importer, &r) || !set_lstm(importer, &r) ||
        !take_all(importer, 0, &r.x) || !take_all(importer, TFLITE_LSTM_STATES, &r.hidden) ||
        !take_all(importer, TFLITE_LSTM_STATES + 1, &r.cells))
        return false;
    int state = join_state(importer, &r);
    return give_all(importer, &r, lay_lstm(importer, &r, state), result);
}
