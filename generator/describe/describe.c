/* Pass `describe`: the firmware's view of a layer.
 *
 * What is decided here is arithmetic: how an accumulator of a layer without weights is normalised. A cheaper form than the
 * exact one is taken only where bounds prove that it gives the same bits. The sums of a convolution can become elements in
 * several forms, of which each engine likes others: here is only said what is to come of them. */
#include "describe/description.h"

#include <string.h>

static void describe_kind(struct description *d)
{
    switch (d->layer->kind) {
    case LAYER_CONVOLUTION: describe_convolution(d); break;
    case LAYER_ADDITION: describe_addition(d); break;
    case LAYER_CONCATENATION: describe_concatenation(d); break;
    case LAYER_TABLE:
    case LAYER_SOFTMAX: describe_table(d); break;
    case LAYER_COPY: describe_copy(d); break;
    case LAYER_LARGEST: describe_largest(d); break;
    case LAYER_NORM: describe_norm(d); break;
    case LAYER_LSTM: describe_lstm(d); break;
    case LAYER_SQUARED_DIFFERENCE: describe_squared_difference(d); break;
    case LAYER_INTERPOLATION: describe_interpolation(d); break;
    case LAYER_MULTIPLICATION: describe_multiplication(d); break;
    case LAYER_MATRIX_PRODUCT: describe_matrix_product(d); break;
    case LAYER_MAXIMUM_POOL:
    case LAYER_AVERAGE_POOL: describe_pool(d); break;
    }
}

static void describe_all(struct description *d)
{
    enum layer_kind kind = d->layer->kind;
    bool says_rows = kind == LAYER_COPY || kind == LAYER_INTERPOLATION; /* by lists */
    describe_elements(d);
    describe_shape(d);
    if (!says_rows && kind != LAYER_MATRIX_PRODUCT) /* whose rows are heads */
        describe_rows_of_columns(d->record);
    describe_border(d);
    describe_check_extents(d);
    describe_kind(d);
}

/* A description that nothing is known of yet but what it is of, and room for its parts. */
static struct description begin(const struct network *network, const struct layer *layer, struct dory_layer *record,
                                struct diagnostics *diagnostics, struct arena *arena)
{
    return (struct description){
        .network = network,
        .layer = layer,
        .input = &network->tensors[layer->inputs[0]],
        .second_input = layer_has_two_inputs(layer) ? &network->tensors[layer->inputs[1]] : NULL,
        .output = &network->tensors[layer->output],
        .record = record,
        .requantisation = arena_array(arena, struct requantisation, 1),
        .sums = arena_array(arena, struct requantise_problem, 1),
        .tables = arena_array(arena, struct dory_layer, 1),
        .stages = layer->kind == LAYER_CONVOLUTION ? NULL : arena_array(arena, struct dory_stages, 1),
        .terms = {layer->input_stages[0], layer->input_stages[1]},
        .first = layer->stage_count ? layer->stages[0] : (struct stage){.count = 0, .divisor = 1},
        .arena = arena,
        .diagnostics = diagnostics,
    };
}

bool describe_layer(const struct network *network, int index, struct described_layer *described, struct arena *arena,
                    struct diagnostics *diagnostics)
{
    /* This layer's errors are counted apart, so that those of others do not stop its own checks. */
    struct diagnostics own = {.arena = arena, .file = diagnostics->file};
    struct description d = begin(network, &network->layers[index], &described->record, &own, arena);
    memset(described, 0, sizeof *described);
    described->record.stages = d.stages;
    describe_all(&d);
    for (int i = 0; i < own.count; i++)
        diagnose(diagnostics, own.list[i].severity, own.list[i].node, own.list[i].attribute, "%s", own.list[i].text);
    described->requantisation = d.requantisation->channel_count ? d.requantisation : NULL;
    described->sums = d.sums->stage ? d.sums : NULL;
    described->tables = d.tables->constants.table ? d.tables : NULL;
    return own.error_count == 0;
}
