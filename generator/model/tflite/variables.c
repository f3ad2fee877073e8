#include "model/tflite/variables.h"

#include <string.h>

#define MAXIMUM_VARIABLES 1000

struct variable {
    const char *name;
    int before; /* the tensor that holds what it was before the run; NO_TENSOR: nobody has read that */
    int now;    /* the tensor that holds what it is */
    bool is_assigned;
};

struct resolver {
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct tflite_model *model;
    const struct tflite_model *first;
    int first_count;
    struct variable *variables;
    int variable_count;
    int *variable_of; /* of the model's tensors: the variable that it is a handle of, or -1 */
    int *same_as;     /* of the model's tensors: the one that has its elements, itself or another */
};

static bool fail(const struct resolver *resolver, const char *name, const char *text)
{
    diagnose(resolver->diagnostics, SEVERITY_ERROR, name, NULL, "%s", text);
    return false;
}

/* ---- reading and assigning ---- */

static bool name_handle(struct resolver *resolver, const struct tflite_operator *operation)
{
    int index = 0;
    while (index < resolver->variable_count && strcmp(resolver->variables[index].name, operation->variable) != 0)
        index++;
    if (index == MAXIMUM_VARIABLES)
        return fail(resolver, operation->variable, "the model has more variables than the 1000 that are supported");
    if (index == resolver->variable_count)
        resolver->variables[resolver->variable_count++] =
            (struct variable){.name = operation->variable, .before = NO_TENSOR, .now = NO_TENSOR};
    for (int i = 0; i < operation->output_count; i++)
        resolver->variable_of[operation->outputs[i]] = index;
    return true;
}

/* Null after a report. */
static struct variable *find_variable(const struct resolver *resolver, const struct tflite_operator *operation)
{
    bool is_read = operation->code == TFLITE_READ_VARIABLE;
    bool is_whole = operation->input_count == (is_read ? 1 : 2) && operation->output_count == (is_read ? 1 : 0);
    int handle = is_whole ? operation->inputs[0] : NO_TENSOR;
    if (handle == NO_TENSOR || resolver->variable_of[handle] < 0 || (!is_read && operation->inputs[1] == NO_TENSOR)) {
        fail(resolver, operation->name, "it has no handle that VAR_HANDLE gives, or not one tensor");
        return NULL;
    }
    return &resolver->variables[resolver->variable_of[handle]];
}

/* Of the same elements, which stand for the same numbers. */
static bool are_alike(const struct tflite_tensor *a, const struct tflite_tensor *b)
{
    bool alike = a->type == b->type && a->rank == b->rank && a->scale_count == b->scale_count && a->scale_count <= 1;
    for (int i = 0; alike && i < a->rank; i++)
        alike = a->dimensions[i] == b->dimensions[i];
    return alike && (a->scale_count == 0 || (a->scales[0] == b->scales[0] && a->zero_points[0] == b->zero_points[0]));
}

static bool check_alike(const struct resolver *resolver, const struct variable *variable, int a, int b)
{
    const struct tflite_tensor *tensors = resolver->model->tensors;
    return a == NO_TENSOR || are_alike(&tensors[a], &tensors[b]) ||
           fail(
               resolver, variable->name,
               "the variable is read and assigned with different shapes, types, scales or zero points; supported: the same");
}

static bool read_variable(struct resolver *resolver, const struct tflite_operator *operation)
{
    struct variable *variable = find_variable(resolver, operation);
    if (!variable)
        return false;
    int tensor = operation->outputs[0];
    if (variable->now == NO_TENSOR)
        variable->before = variable->now = tensor;
    resolver->same_as[tensor] = variable->now;
    return check_alike(resolver, variable, variable->now, tensor);
}

static bool assign_variable(struct resolver *resolver, const struct tflite_operator *operation)
{
    struct variable *variable = find_variable(resolver, operation);
    if (!variable)
        return false;
    int tensor = resolver->same_as[operation->inputs[1]];
    bool good = check_alike(resolver, variable, variable->before, tensor);
    variable->now = tensor;
    variable->is_assigned = true;
    return good;
}

/* ---- operators ---- */

static const int *resolve(const struct resolver *resolver, const int *tensors, int count)
{
    int *resolved = arena_array(resolver->arena, int, (size_t)count + 1);
    for (int i = 0; i < count; i++)
        resolved[i] = tensors[i] == NO_TENSOR ? NO_TENSOR : resolver->same_as[tensors[i]];
    return resolved;
}

static bool take_operators(struct resolver *resolver)
{
    struct tflite_model *model = resolver->model;
    int kept = 0;
    bool good = true;
    for (int i = 0; i < model->operator_count && good; i++) {
        struct tflite_operator *operation = &model->operators[i];
        switch (operation->code) {
        case TFLITE_CALL_ONCE: break;
        case TFLITE_VAR_HANDLE: good = name_handle(resolver, operation); break;
        case TFLITE_READ_VARIABLE: good = read_variable(resolver, operation); break;
        case TFLITE_ASSIGN_VARIABLE: good = assign_variable(resolver, operation); break;
        default:
            operation->inputs = resolve(resolver, operation->inputs, operation->input_count);
            model->operators[kept++] = *operation;
        }
    }
    model->operator_count = kept;
    return good;
}

/* ---- first values ---- */

/* What the subgraph assigns to the variable; null where it does not. */
static const struct tflite_tensor *assigned_to(const struct tflite_model *subgraph, const char *name)
{
    const struct tflite_tensor *value = NULL;
    int handle = NO_TENSOR;
    for (int i = 0; i < subgraph->operator_count; i++) {
        const struct tflite_operator *operation = &subgraph->operators[i];
        if (operation->code == TFLITE_VAR_HANDLE && operation->output_count && !strcmp(operation->variable, name))
            handle = operation->outputs[0];
        if (operation->code == TFLITE_ASSIGN_VARIABLE && operation->input_count == 2 && operation->inputs[0] == handle &&
            operation->inputs[1] != NO_TENSOR)
            value = &subgraph->tensors[operation->inputs[1]];
    }
    return value;
}

static bool find_first(const struct resolver *resolver, const struct variable *variable, int *first)
{
    const struct tflite_tensor *state = &resolver->model->tensors[variable->before], *value = NULL;
    for (int i = 0; i < resolver->first_count && !value; i++)
        value = assigned_to(&resolver->first[i], variable->name);
    *first = 0;
    if (state->type != TFLITE_INT8) /* what is not quantised, import refuses as a whole */
        return true;
    if (!value || !value->data || !are_alike(state, value))
        return fail(resolver, variable->name,
                    "the variable has no first value of its shape and type, or one that is no constant; supported: a "
                    "constant that a subgraph assigns to it, which CALL_ONCE names");
    for (size_t i = 1; i < value->data_bytes; i++)
        if (value->data[i] != value->data[0])
            return fail(resolver, variable->name,
                        "the variable's first value has different elements; supported: all the same, as zeros are. "
                        "Convert with variables that begin with zeros");
    *first = value->data_bytes ? (int8_t)value->data[0] : 0;
    return true;
}

/* ---- states ---- */

static int *longer(struct resolver *resolver, const int *list, int count)
{
    int *copy = arena_array(resolver->arena, int, (size_t)(count + resolver->variable_count) + 1);
    for (int i = 0; i < count; i++)
        copy[i] = resolver->same_as[list[i]];
    return copy;
}

static bool take_states(struct resolver *resolver)
{
    struct tflite_model *model = resolver->model;
    model->inputs = longer(resolver, model->inputs, model->input_count);
    model->outputs = longer(resolver, model->outputs, model->output_count);
    model->states = arena_array(resolver->arena, struct tflite_state, (size_t)resolver->variable_count + 1);
    for (int i = 0; i < resolver->variable_count; i++) {
        const struct variable *variable = &resolver->variables[i];
        struct tflite_state state = {.name = variable->name, .input = model->input_count, .output = model->output_count};
        if (variable->before == NO_TENSOR)
            continue;
        if (!variable->is_assigned)
            return fail(resolver, variable->name, "the variable is read, but never assigned; supported: a constant instead");
        if (!find_first(resolver, variable, &state.first))
            return false;
        model->tensors[variable->before].name = variable->name;
        model->inputs[model->input_count++] = variable->before;
        model->outputs[model->output_count++] = variable->now;
        model->states[model->state_count++] = state;
    }
    return true;
}

/* ---- states inside of operators ---- */

/* An LSTM's hidden elements or cells as a tensor of bytes, which the model gives and takes; false after a report. */
static bool take_inner_state(struct resolver *resolver, struct tflite_operator *operation, int which)
{
    struct tflite_model *model = resolver->model;
    int index =
        operation->input_count > TFLITE_LSTM_STATES + which ? operation->inputs[TFLITE_LSTM_STATES + which] : NO_TENSOR;
    struct tflite_tensor *tensor = index == NO_TENSOR ? NULL : &model->tensors[index];
    if (!tensor || !tensor->is_variable || tensor->data || tensor->type != (which ? TFLITE_INT16 : TFLITE_INT8) ||
        tensor->rank < 1 || tensor->dimensions[tensor->rank - 1] > INT32_MAX / 2 || tensor->scale_count != 1)
        return fail(resolver, operation->name,
                    "its state is none of INT8, with cells of INT16, that is its own; supported: that, as full integer "
                    "quantisation makes it (a representative dataset, inputs and outputs of INT8)");
    tensor->is_variable = false; /* and nobody else's */
    if (which) {
        tensor->type = TFLITE_UINT8;
        tensor->dimensions[tensor->rank - 1] *= 2;
    }
    int behind = model->tensor_count++;
    model->tensors[behind] = *tensor;
    model->tensors[behind].name = arena_format(resolver->arena, "%s, behind the run", tensor->name);
    int first = which                                                                    ? 0
                : tensor->zero_points[0] < INT8_MIN || tensor->zero_points[0] > INT8_MAX ? 0
                                                                                         : (int)tensor->zero_points[0];
    model->states[model->state_count++] = (struct tflite_state){
        .name = tensor->name, .input = model->input_count, .output = model->output_count, .first = first};
    model->inputs[model->input_count++] = index;
    model->outputs[model->output_count++] = behind;
    return true;
}

static bool take_lstm(struct resolver *resolver, struct tflite_operator *operation)
{
    int *outputs = arena_array(resolver->arena, int, 3);
    if (operation->output_count != 1)
        return fail(resolver, operation->name, "it has not one output");
    outputs[0] = operation->outputs[0];
    for (int i = 0; i < 2; i++) {
        outputs[i + 1] = resolver->model->tensor_count;
        if (!take_inner_state(resolver, operation, i))
            return false;
    }
    operation->outputs = outputs;
    operation->output_count = 3;
    return true;
}

/* A list with room for so many more. */
static void *extended(struct arena *arena, const void *list, size_t bytes, int count, int more)
{
    void *copy = arena_allocate(arena, bytes * ((size_t)count + (size_t)more));
    if (count)
        memcpy(copy, list, bytes * (size_t)count);
    return copy;
}

static bool take_inner_states(struct resolver *resolver)
{
    struct tflite_model *model = resolver->model;
    struct arena *arena = resolver->arena;
    int more = 0;
    for (int i = 0; i < model->operator_count; i++)
        more += model->operators[i].code == TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM ? 2 : 0;
    if (more == 0)
        return true;
    model->tensors = extended(arena, model->tensors, sizeof *model->tensors, model->tensor_count, more);
    model->inputs = extended(arena, model->inputs, sizeof *model->inputs, model->input_count, more);
    model->outputs = extended(arena, model->outputs, sizeof *model->outputs, model->output_count, more);
    model->states = extended(arena, model->states, sizeof *model->states, model->state_count, more);
    for (int i = 0; i < model->operator_count; i++)
        if (model->operators[i].code == TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM && !take_lstm(resolver, &model->operators[i]))
            return false;
    return true;
}

bool tflite_resolve_variables(struct tflite_model *model, const struct tflite_model *first, int first_count,
                              struct arena *arena, struct diagnostics *diagnostics)
{
    struct resolver resolver = {
        .arena = arena, .diagnostics = diagnostics, .model = model, .first = first, .first_count = first_count};
    resolver.variables = arena_array(arena, struct variable, MAXIMUM_VARIABLES);
    resolver.variable_of = arena_array(arena, int, (size_t)model->tensor_count + 1);
    resolver.same_as = arena_array(arena, int, (size_t)model->tensor_count + 1);
    for (int i = 0; i < model->tensor_count; i++) {
        resolver.variable_of[i] = -1;
        resolver.same_as[i] = i;
    }
    return take_operators(&resolver) && take_states(&resolver) && take_inner_states(&resolver);
}
