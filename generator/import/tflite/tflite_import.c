#include "import/tflite/tflite_import.h"

#include <string.h>

#include "import/tflite/tflite_network.h"
#include "simplify/tidy.h"

#define MAXIMUM_LISTED  8       /* kinds of operators in a message */
#define MAXIMUM_NUMBERS 4194304 /* that constants and what follows from them have, of all tensors */

bool tflite_complain(struct tflite_importer *importer, const char *node, const char *text)
{
    diagnose(importer->diagnostics, SEVERITY_ERROR, node, NULL, "%s", text);
    return false;
}

/* Before anything else looks at inputs, such as the passes that rewrite operators. */
static bool check_inputs(struct tflite_importer *importer)
{
    bool good = true;
    for (int i = 0; i < importer->model->operator_count; i++) {
        const struct tflite_operator *operation = importer->current = &importer->model->operators[i];
        for (int k = 0; !tflite_may_leave_out(operation->code) && k < operation->input_count; k++)
            good = tflite_input(importer, k) && good;
    }
    return good;
}

/* ---- operators that are not supported: one summary, then the first of each kind ---- */

/* Float operators around the network are the application's, and what makes floats of integers, as detectors' do. */
static bool is_float(const struct tflite_model *model, const struct tflite_operator *operation)
{
    bool gives_floats = operation->output_count > 0;
    for (int i = 0; i < operation->output_count; i++)
        gives_floats = gives_floats && model->tensors[operation->outputs[i]].type == TFLITE_FLOAT32;
    if (gives_floats)
        return true;
    for (int i = 0; i < operation->input_count; i++) {
        const struct tflite_tensor *tensor =
            operation->inputs[i] == NO_TENSOR ? NULL : &model->tensors[operation->inputs[i]];
        if (tensor && !tensor->data && tensor->type == TFLITE_FLOAT32)
            return true;
    }
    return false;
}

/* Numbers that follow from shapes or other numbers, as Keras computes those of a batch that is not fixed, and PyTorch those
 * of a border. The shapes of all tensors are in the file, so that nobody has to know them. */
static bool is_of_shapes(const struct tflite_importer *importer, const struct tflite_operator *operation)
{
    const struct tflite_tensor *output = operation->output_count ? &importer->model->tensors[operation->outputs[0]] : NULL;
    if (!output || (output->type != TFLITE_INT32 && output->type != TFLITE_INT64 && output->type != TFLITE_BOOL))
        return false;
    for (int i = 0; i < operation->input_count && operation->code != TFLITE_SHAPE; i++)
        if (operation->inputs[i] != NO_TENSOR && importer->values[operation->inputs[i]].kind != VALUE_CONSTANT)
            return false;
    return true;
}

static void find_constants(struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    for (int i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].data)
            importer->values[i].kind = VALUE_CONSTANT;
    for (int i = 0; i < model->operator_count; i++)
        for (int k = 0; is_of_shapes(importer, &model->operators[i]) && k < model->operators[i].output_count; k++)
            importer->values[model->operators[i].outputs[k]].kind = VALUE_CONSTANT;
}

static bool is_unsupported(const struct tflite_importer *importer, const struct tflite_operator *operation)
{
    return !tflite_find_handler(operation->code) && !is_float(importer->model, operation) &&
           !is_of_shapes(importer, operation);
}

static bool check_operators(struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    const char *names[MAXIMUM_LISTED], *first[MAXIMUM_LISTED], *text = "";
    int counts[MAXIMUM_LISTED] = {0}, kinds = 0, all = 0;
    for (int i = 0; i < model->operator_count; i++) {
        const struct tflite_operator *operation = &model->operators[i];
        int kind = 0;
        if (!is_unsupported(importer, operation))
            continue;
        all++;
        while (kind < kinds && strcmp(names[kind], operation->name) != 0)
            kind++;
        if (kind == kinds && kinds < MAXIMUM_LISTED) {
            names[kinds] = operation->name;
            first[kinds++] = operation->output_count ? model->tensors[operation->outputs[0]].name : operation->name;
        }
        if (kind < kinds)
            counts[kind]++;
    }
    if (all == 0)
        return true;
    for (int kind = 0; kind < kinds; kind++)
        text = arena_format(importer->arena, "%s%s%d %s (first: '%.60s')", text, kind ? ", " : "", counts[kind], names[kind],
                            first[kind]);
    return tflite_complain(importer, NULL,
                           arena_format(importer->arena,
                                        "%d of %d operators are not supported: %s; 'dory ops' lists those that are", all,
                                        model->operator_count, text));
}

/* ---- operators ---- */

static bool check_batch(struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    bool is_noted = false;
    for (int i = 0; i < model->input_count; i++) {
        const struct tflite_tensor *tensor = &model->tensors[model->inputs[i]];
        for (int k = 0; k < tensor->rank; k++) {
            if (tensor->is_unknown[k] && (k > 0 || tensor->dimensions[0] != 1))
                return tflite_complain(
                    importer, tensor->name,
                    arena_format(importer->arena,
                                 "dimension %d of the input is not fixed in the model; supported: fixed ones, and a "
                                 "batch that is not. Convert with an input of a fixed shape",
                                 k));
            if (tensor->is_unknown[k] && !is_noted)
                diagnose(importer->diagnostics, SEVERITY_NOTE, tensor->name, NULL,
                         "the batch is not fixed in the model; it is 1");
            is_noted |= tensor->is_unknown[k];
        }
    }
    return true;
}

/* An operator that reads and gives one tensor of the model's edge. */
static void enter_edge(struct tflite_importer *importer, const char *name, const int *tensor)
{
    struct tflite_operator *edge = arena_allocate(importer->arena, sizeof *edge);
    *edge = (struct tflite_operator){.name = name, .inputs = tensor, .input_count = 1, .outputs = tensor, .output_count = 1};
    importer->current = edge;
}

static void import_origins(struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    for (int i = 0; i < model->input_count; i++) {
        int index = model->inputs[i];
        const struct tflite_tensor *tensor = &model->tensors[index];
        importer->inputs[i] = -1;
        importer->values[index] = (struct value){.kind = VALUE_BEFORE, .input = i};
        if (tensor->type == TFLITE_FLOAT32)
            continue;
        enter_edge(importer, "input", &model->inputs[i]);
        importer->inputs[i] = tflite_makes(importer, -1);
        importer->values[index] = importer->inputs[i] < 0 ? (struct value){0} : tflite_value_of(importer->inputs[i]);
        if (importer->inputs[i] >= 0)
            tflite_network_tensor(importer, importer->inputs[i])->look_up = importer->look_ups[i];
    }
}

/* Gives out what a float operator behind the network reads. */
static void give_out(struct tflite_importer *importer, int tensor)
{
    struct network *network = importer->builder.network;
    if (network_is_output(network, tensor))
        return;
    if (network->tensors[tensor].producer == NO_LAYER)
        return;
    if (network->output_count == NETWORK_MAXIMUM_OUTPUTS)
        tflite_complain(importer, NULL,
                        arena_format(importer->arena, "the network has more outputs than the %d that are supported",
                                     NETWORK_MAXIMUM_OUTPUTS));
    else
        network->outputs[network->output_count++] = tensor;
}

/* An output's integers are those of the model: int8 or uint8. A tensor has one kind of them. */
static void set_output_offset(struct tflite_importer *importer, const struct tflite_tensor *of, int tensor)
{
    struct network *network = importer->builder.network;
    int offset = of->type == TFLITE_UINT8 ? 0 : -128;
    if (network_is_output(network, tensor) && network->tensors[tensor].model_offset != offset)
        tflite_complain(importer, of->name,
                        "the model's output is another one, too, once as INT8 and once as UINT8; supported: one of "
                        "them (the other has 128 more or less)");
    network->tensors[tensor].model_offset = offset;
}

/* Real numbers that stay so are those of a tensor: as the model's tensor `index` has them. Truths are bytes, 0 or 1. */
static void settle_reals(struct tflite_importer *importer, int tensor)
{
    if (importer->values[tensor].kind != VALUE_REALS)
        return;
    if (importer->model->tensors[tensor].type == TFLITE_BOOL) {
        tflite_lay_truths(importer, tensor);
        return;
    }
    const struct tflite_operator *current = importer->current;
    enter_edge(importer, current->name, &tensor);
    importer->values[tensor].kind = VALUE_TENSOR;
    int read = tflite_reads(importer, 0, NULL);
    importer->values[tensor] = (struct value){.kind = read < 0 ? VALUE_UNKNOWN : VALUE_BEHIND, .tensor = read};
    importer->current = current;
}

/* An operator outside of the network: in front of its quantised inputs, or behind its outputs. */
static bool is_outside(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    bool is_last = !tflite_find_handler(operation->code) && is_float(importer->model, operation);
    for (int i = 0; i < operation->input_count; i++) {
        const struct value *value = operation->inputs[i] == NO_TENSOR ? NULL : &importer->values[operation->inputs[i]];
        if (value && (value->kind == VALUE_BEFORE || value->kind == VALUE_BEHIND))
            *result = *value;
        else if (value && is_last && value->kind == VALUE_TENSOR && result->kind == VALUE_UNKNOWN)
            *result = (struct value){.kind = VALUE_BEHIND, .tensor = value->tensor};
    }
    return result->kind != VALUE_UNKNOWN && operation->code != TFLITE_QUANTIZE;
}

/* Input `i` of an operator outside: the network's own tensors are its outputs, in the shape and type that it reads. */
static void give_input_out(struct tflite_importer *importer, const struct tflite_operator *operation, int i)
{
    const struct value *value = operation->inputs[i] == NO_TENSOR ? NULL : &importer->values[operation->inputs[i]];
    if (value && value->kind == VALUE_BEHIND)
        give_out(importer, value->tensor);
    int tensor = value && value->kind == VALUE_TENSOR ? tflite_reads(importer, i, NULL) : -1;
    if (tensor < 0)
        return;
    set_output_offset(importer, &importer->model->tensors[operation->inputs[i]], tensor);
    give_out(importer, tensor);
}

static void leave_outside(struct tflite_importer *importer, const struct tflite_operator *operation, bool *is_noted)
{
    for (int i = 0; i < operation->input_count; i++)
        give_input_out(importer, operation, i);
    if (!*is_noted)
        diagnose(importer->diagnostics, SEVERITY_NOTE, importer->model->tensors[operation->outputs[0]].name, NULL,
                 "%s works on float outside of the quantised network: it and what belongs to it is left to the application",
                 operation->name);
    *is_noted = true;
}

/* What an operator with a fault, which was reported, should have given. */
static bool reads_unknown(const struct tflite_importer *importer, const struct tflite_operator *operation)
{
    bool reads = false;
    for (int i = 0; i < operation->input_count && importer->diagnostics->error_count > 0; i++)
        reads |= operation->inputs[i] != NO_TENSOR && importer->values[operation->inputs[i]].kind == VALUE_UNKNOWN;
    return reads;
}

static void import_operator(struct tflite_importer *importer, const struct tflite_operator *operation, bool *is_noted)
{
    struct value result = {0};
    tflite_handler *handler = tflite_find_handler(operation->code);
    importer->current = operation;
    if (operation->output_count < 1) {
        tflite_complain(importer, operation->name, "the operator has no output");
        return;
    }
    if (is_of_shapes(importer, operation) || importer->model->tensors[operation->outputs[0]].data)
        return;
    if (reads_unknown(importer, operation))
        return;
    bool is_real = tflite_keeps_reals(importer, &result);
    for (int i = 0; !is_real && operation->code != TFLITE_QUANTIZE && i < operation->input_count; i++)
        if (operation->inputs[i] != NO_TENSOR)
            settle_reals(importer, operation->inputs[i]);
    if (!is_real && is_outside(importer, operation, &result))
        leave_outside(importer, operation, is_noted);
    else if (!is_real && (!handler || !(tflite_has_images(importer) ? tflite_over_images(importer, handler, &result)
                                                                    : handler(importer, operation, &result))))
        result = (struct value){0};
    importer->values[operation->outputs[0]] = result;
    for (int i = 1; i < operation->output_count; i++)
        if (result.kind == VALUE_BEHIND || result.kind == VALUE_UNKNOWN)
            importer->values[operation->outputs[i]] = result;
}

/* ---- outputs ---- */

/* An output that the model gives twice has two places. */
static int lay_again(struct tflite_importer *importer, int tensor)
{
    struct tensor from = *tflite_network_tensor(importer, tensor);
    const char *name = arena_format(importer->arena, "%s, again", from.name);
    int copy = quantised_tensor(&importer->builder, name, from.height, from.width, from.channels, &(struct quantisation){0});
    from.log_softmax = NULL;
    *tflite_network_tensor(importer, copy) = from;
    tflite_network_tensor(importer, copy)->name = name;
    quantised_layer(&importer->builder, LAYER_MAXIMUM_POOL, name, tensor, copy);
    return copy;
}

static void set_shape(struct tensor *output, const struct tflite_tensor *tensor)
{
    if (tflite_elements(tensor) != tensor_elements(output))
        return;
    output->model_rank = tensor->rank;
    for (int i = 0; i < tensor->rank; i++)
        output->model_dimensions[i] = tensor->dimensions[i];
}

/* The output as it lies in the model; of more dimensions than an image has, it is one only by its elements' order. */
static bool read_output(struct tflite_importer *importer, const struct tflite_tensor *tensor, struct value *value)
{
    struct middle_value placed;
    if (tensor->rank <= 4 || tensor->dimensions[0] != 1)
        return tflite_reads(importer, 0, NULL) >= 0;
    struct layout layout = layout_of_model(tensor->rank);
    if (!tflite_takes(importer, 0, &placed))
        return false;
    if (!view_is_memory(&placed.view) &&
        !middle_lay(&importer->builder, arena_format(importer->arena, "%s, in order", tensor->name), &placed, NULL, &layout,
                    0, &placed))
        return tflite_fault(importer, "'%s' is too large to be copied", tensor->name);
    *value = tflite_value_of(placed.tensor);
    return true;
}

static void import_output(struct tflite_importer *importer, const int *output)
{
    int index = *output;
    struct network *network = importer->builder.network;
    const struct tflite_tensor *tensor = &importer->model->tensors[index];
    struct value *value = &importer->values[index];
    settle_reals(importer, index);
    enter_edge(importer, "output", output);
    bool is_index = tensor->type == TFLITE_INT32 || tensor->type == TFLITE_INT64; /* of ARG_MAX */
    if (value->kind == VALUE_UNKNOWN || (value->kind == VALUE_TENSOR && !is_index && !read_output(importer, tensor, value)))
        return;
    bool is_tensor = value->kind == VALUE_TENSOR || value->kind == VALUE_BEHIND;
    if (!is_tensor || network->tensors[value->tensor].producer == NO_LAYER) {
        tflite_complain(
            importer, tensor->name,
            "the model's output is not the output of a layer, but a constant or an input; supported: what layers compute");
        return;
    }
    if (value->kind == VALUE_TENSOR && !is_index)
        set_output_offset(importer, tensor, value->tensor);
    bool is_again = false;
    for (const int *earlier = importer->model->outputs; earlier < output; earlier++)
        is_again |= *earlier == index;
    is_again |= value->kind == VALUE_TENSOR && network->tensors[value->tensor].log_softmax;
    set_shape(tflite_network_tensor(importer, value->tensor), tensor);
    give_out(importer, is_again ? lay_again(importer, value->tensor) : value->tensor);
}

/* What the model reads of a variable and what it assigns to it are the network's, which the application carries over. */
static void import_states(struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    struct network *network = importer->builder.network;
    struct network_state *states = arena_array(importer->arena, struct network_state, (size_t)model->state_count + 1);
    for (int i = 0; i < model->state_count; i++) {
        const struct tflite_state *state = &model->states[i];
        int input = importer->inputs[state->input], output = importer->values[model->outputs[state->output]].tensor;
        int offset = model->tensors[model->inputs[state->input]].type == TFLITE_UINT8 ? 0 : 128;
        states[i] = (struct network_state){.name = state->name, .first = state->first + offset};
        while (network->inputs[states[i].input] != input)
            states[i].input++;
        while (network->outputs[states[i].output] != output)
            states[i].output++;
    }
    network->states = states;
    network->state_count = model->state_count;
    if (model->state_count)
        diagnose(importer->diagnostics, SEVERITY_NOTE, states[0].name, NULL,
                 "%s: the application carries %s from output %d of each run to input %d of the next; all elements are %d "
                 "before the first%s",
                 model->state_count > 1
                     ? arena_format(importer->arena, "this variable and %d others are a state", model->state_count - 1)
                     : "this variable is a state",
                 model->state_count > 1 ? "them, this one" : "it", states[0].output, states[0].input, states[0].first - 128,
                 model->state_count > 1 ? ". The generated header has all of them" : "");
}

static void import_edges(struct tflite_importer *importer)
{
    const struct tflite_model *model = importer->model;
    struct network *network = importer->builder.network;
    network->inputs = arena_array(importer->arena, int, (size_t)model->input_count + 1);
    for (int i = 0; i < model->input_count; i++) {
        if (importer->inputs[i] < 0)
            continue;
        if (model->tensors[model->inputs[i]].type == TFLITE_UINT8)
            network->tensors[importer->inputs[i]].model_offset = 0;
        network->inputs[network->input_count++] = importer->inputs[i];
    }
    for (int i = 0; i < model->output_count && importer->diagnostics->error_count == 0; i++)
        import_output(importer, &model->outputs[i]);
    if (importer->diagnostics->error_count == 0 && (network->output_count == 0 || network->input_count == 0))
        tflite_complain(importer, NULL, "the network has no quantised input or output");
    if (importer->diagnostics->error_count == 0)
        import_states(importer);
}

/* An input that the model turns before all else is the application's to give as the firmware wants it: as images are. */
static void note_turned_inputs(struct tflite_importer *importer)
{
    const struct network *network = importer->builder.network;
    for (int i = 0; i < network->input_count; i++) {
        const struct tensor *tensor = &network->tensors[network->inputs[i]];
        if (tensor->is_turned)
            diagnose(importer->diagnostics, SEVERITY_NOTE, tensor->name, NULL,
                     "the firmware takes this input as height x width x channels, as images are; the model turns it from "
                     "channels x height x width, and files have it so");
    }
}

/* A copy of the model, in which dimensions and operators may change; the tensors' lists of the importer. */
static struct tflite_model own_model(struct tflite_importer *importer, const struct tflite_model *model)
{
    struct tflite_model own = *model;
    size_t tensors = (size_t)model->tensor_count + (size_t)model->operator_count + 1;
    own.tensors = arena_array(importer->arena, struct tflite_tensor, tensors);
    own.operators = arena_array(importer->arena, struct tflite_operator, (size_t)model->operator_count + 1);
    for (int i = 0; i < model->tensor_count; i++)
        own.tensors[i] = model->tensors[i];
    for (int i = 0; i < model->operator_count; i++)
        own.operators[i] = model->operators[i];
    importer->model = &own;
    importer->tensors = own.tensors;
    importer->numbers = arena_array(importer->arena, const struct tflite_numbers *, tensors);
    importer->number_room = MAXIMUM_NUMBERS;
    importer->values = arena_array(importer->arena, struct value, tensors);
    tflite_follow_dimensions(importer);
    tflite_fold_dilations(importer, &own);
    tflite_take_words(importer, &own);
    return own;
}

struct network *tflite_import(const struct tflite_model *model, const char *name, const struct load_options *options,
                              struct arena *arena, struct diagnostics *diagnostics)
{
    struct tflite_importer importer = {.arena = arena, .diagnostics = diagnostics, .model = model};
    int errors_before = diagnostics->error_count;
    bool is_noted = false;
    if (options->input_bits || options->input_is_signed) {
        tflite_complain(&importer, NULL,
                        "--input-bits and --input-signed are for integer ONNX; a TFLite model says itself what its "
                        "inputs are: leave them out");
        return NULL;
    }
    if (!check_inputs(&importer))
        return NULL;
    struct tflite_model own = own_model(&importer, model);
    importer.model = model = &own;
    importer.inputs = arena_array(arena, int, (size_t)model->input_count + 1);
    quantised_begin(&importer.builder, name, ROUND_TWICE, arena);
    importer.builder.network->channels_last = true;
    importer.builder.network->outputs = arena_array(arena, int, NETWORK_MAXIMUM_OUTPUTS);
    find_constants(&importer);
    if (!tflite_check_types(&importer) || !check_operators(&importer) || !check_batch(&importer))
        return NULL;
    import_origins(&importer);
    for (int i = 0; i < model->operator_count; i++)
        import_operator(&importer, &model->operators[i], &is_noted);
    import_edges(&importer);
    if (diagnostics->error_count > errors_before)
        return NULL;
    network_tidy(importer.builder.network, arena);
    note_turned_inputs(&importer);
    return importer.builder.network;
}
