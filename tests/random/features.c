#include "features.h"

#include <stdio.h>
#include <string.h>

/* ---- what a layer is ---- */

struct view {
    const struct network *network;
    const struct layer *layer;
    const struct dory_layer *record;
    const struct tensor *input, *output;
    const char *kernel;
};

static bool is_convolution(const struct view *v) { return v->record->operation == DORY_CONVOLUTION; }
static bool is_depthwise(const struct view *v) { return v->record->operation == DORY_DEPTHWISE; }
static bool is_grouped(const struct view *v)
{
    return v->record->operation == DORY_GROUPED && v->record->grouped.channels > 1;
}
static bool is_multiplying(const struct view *v)
{
    return v->record->operation == DORY_GROUPED && v->record->grouped.channels == 1;
}
static bool is_linear(const struct view *v) { return layer_reads_whole_input(v->network, v->layer); }
static bool is_maximum_pool(const struct view *v) { return v->record->operation == DORY_MAXIMUM_POOL; }
static bool is_average_pool(const struct view *v) { return v->record->operation == DORY_AVERAGE_POOL; }
static bool is_addition(const struct view *v) { return v->record->operation == DORY_ADDITION; }
static bool is_concatenation(const struct view *v) { return v->record->operation == DORY_CONCATENATION; }
static bool has_single_kernel(const struct view *v) { return v->record->kernel_height == 1 && v->record->kernel_width == 1; }

static bool is_global_pool(const struct view *v)
{
    return is_average_pool(v) && v->record->kernel_height == v->record->input_height &&
           v->record->kernel_width == v->record->input_width;
}

static bool is_strided_pointwise(const struct view *v)
{
    return is_convolution(v) && has_single_kernel(v) && (v->record->stride_height > 1 || v->record->stride_width > 1);
}

static bool is_copy(const struct view *v)
{
    return (is_maximum_pool(v) || is_depthwise(v)) && has_single_kernel(v) && v->record->stride_height == 1 &&
           v->record->stride_width == 1;
}

static bool has_padding(const struct view *v)
{
    return v->layer->padding_top || v->layer->padding_left || v->layer->padding_bottom || v->layer->padding_right;
}

static bool is_requantisation(const struct view *v) { return is_copy(v) && is_maximum_pool(v) && v->layer->stage_count; }
static bool is_requantisation_by_channel(const struct view *v) { return is_copy(v) && is_depthwise(v) && !has_padding(v); }
static bool is_padding(const struct view *v) { return is_copy(v) && is_depthwise(v) && has_padding(v); }

/* ---- how it is computed ---- */

static bool has_dilation(const struct view *v) { return v->record->dilation_height > 1 || v->record->dilation_width > 1; }
static bool has_unequal_strides(const struct view *v) { return v->record->stride_height != v->record->stride_width; }

static bool has_asymmetric_padding(const struct view *v)
{
    return v->layer->padding_top != v->layer->padding_bottom || v->layer->padding_left != v->layer->padding_right;
}

static bool has_even_kernel(const struct view *v)
{
    return v->record->kernel_height % 2 == 0 || v->record->kernel_width % 2 == 0;
}
static bool is_1d(const struct view *v)
{
    return v->input->height == 1 && v->input->width > 1 && v->record->kernel_width > 1;
}
static bool is_1d_pool(const struct view *v) { return is_1d(v) && (is_maximum_pool(v) || is_average_pool(v)); }
static bool is_causal(const struct view *v)
{
    return is_1d(v) && is_convolution(v) && v->layer->padding_left && !v->layer->padding_right;
}
static bool is_dilated_1d(const struct view *v) { return is_1d(v) && v->record->dilation_width > 1; }
static bool has_one_factor(const struct view *v)
{
    return v->layer->weights && v->layer->stage_count && v->layer->stages[0].count == 1 && v->output->channels > 1;
}
static bool has_second_stage(const struct view *v) { return v->record->stages && v->record->stages->has_second; }
static bool rounds_terms(const struct view *v) { return is_addition(v) && v->record->stages->input[0].divisor > 1; }
static bool scales_parts(const struct view *v) { return is_concatenation(v) && v->record->stages->input[0].divisor > 1; }
static bool normalises_none(const struct view *v)
{
    return is_convolution(v) && v->record->normalisation == DORY_NORMALISE_NONE;
}
static bool normalises_32(const struct view *v) { return v->record->normalisation == DORY_NORMALISE_32; }
static bool normalises_64(const struct view *v) { return v->record->normalisation == DORY_NORMALISE_64; }
static bool normalises_divide(const struct view *v) { return v->record->normalisation == DORY_NORMALISE_DIVIDE; }
static bool normalises_clamped(const struct view *v) { return v->record->normalisation == DORY_NORMALISE_CLAMPED; }

static bool has_negative_multiplier(const struct view *v)
{
    for (int i = 0; v->layer->stage_count && i < v->layer->stages[0].count; i++)
        if (v->layer->stages[0].multiplier[i] < 0)
            return true;
    return false;
}

static bool has_odd_clip(const struct view *v)
{
    return v->record->maximum != INT32_MAX && v->record->maximum != 255 && v->record->maximum != 127 && v->output->bits == 8;
}

/* ---- elements ---- */

static bool has_2_bit_weights(const struct view *v) { return v->layer->weight_bits == 2 && v->layer->weights; }
static bool has_4_bit_weights(const struct view *v) { return v->layer->weight_bits == 4 && v->layer->weights; }
static bool has_packed_weights(const struct view *v) { return v->layer->weight_bits < 8 && v->layer->weights; }
static bool packs_depthwise(const struct view *v) { return is_depthwise(v) && has_packed_weights(v); }
static bool packs_groups(const struct view *v) { return is_grouped(v) && has_packed_weights(v); }
static bool packs_linear(const struct view *v) { return is_linear(v) && has_packed_weights(v); }

static bool packs_all(const struct view *v) { return has_packed_weights(v) && v->input->bits < 8 && v->output->bits < 8; }

static bool packs_weights_only(const struct view *v)
{
    return has_packed_weights(v) && v->input->bits == 8 && v->output->bits == 8;
}

static bool packs_activations_only(const struct view *v)
{
    return v->layer->weights && v->layer->weight_bits == 8 && v->input->bits < 8 && v->output->bits < 8;
}

static bool runs_packed(const struct view *v) { return strncmp(v->kernel, "dory_xpulpv2_packed_", 20) == 0; }
static bool makes_uint2(const struct view *v) { return v->output->bits == 2 && !v->output->is_signed; }
static bool makes_int2(const struct view *v) { return v->output->bits == 2 && v->output->is_signed; }
static bool makes_uint4(const struct view *v) { return v->output->bits == 4 && !v->output->is_signed; }
static bool makes_int4(const struct view *v) { return v->output->bits == 4 && v->output->is_signed; }
static bool makes_int8(const struct view *v) { return v->output->bits == 8 && v->output->is_signed; }
static bool makes_16_bits(const struct view *v) { return v->output->bits == 16; }
static bool makes_32_bits(const struct view *v) { return v->output->bits == 32; }
static bool widens(const struct view *v) { return v->input->bits < v->output->bits && v->output->bits <= 8; }
static bool reads_int8(const struct view *v) { return v->input->bits == 8 && v->input->is_signed; }
static bool reads_signed_bits(const struct view *v) { return v->input->bits < 8 && v->input->is_signed; }
static bool leaves_bits(const struct view *v) { return v->output->bits * v->output->channels % 8 != 0; }

/* ---- the graph ---- */

/* A sum with something computed several layers before. */
static bool has_long_residual(const struct view *v)
{
    int first = v->layer->inputs[0] < v->layer->inputs[1] ? v->layer->inputs[0] : v->layer->inputs[1];
    return is_addition(v) && v->layer->output - first > 3;
}

static bool has_several_readers(const struct view *v)
{
    int readers = 0;
    for (int i = 0; i < v->network->layer_count; i++)
        readers +=
            v->network->layers[i].inputs[0] == v->layer->output || v->network->layers[i].inputs[1] == v->layer->output;
    return readers > 1;
}

static bool reads_second_input(const struct view *v) { return v->layer->inputs[0] == v->network->inputs[1]; }
static bool has_several_inputs(const struct view *v) { return v->network->input_count > 1 && reads_second_input(v); }
static bool has_several_outputs(const struct view *v) { return v->network->output_count > 1; }

static const struct {
    const char *name;
    bool (*occurs)(const struct view *view);
    bool is_never_imported; /* the importer makes layers of their own of it */
} table[] = {
    {"convolution", is_convolution, false},
    {"pointwise with stride", is_strided_pointwise, false},
    {"depth-wise", is_depthwise, false},
    {"depth-wise with several outputs a channel", is_multiplying, false},
    {"groups", is_grouped, false},
    {"fully connected", is_linear, false},
    {"maximum pool", is_maximum_pool, false},
    {"average pool", is_average_pool, false},
    {"global average pool", is_global_pool, false},
    {"addition", is_addition, false},
    {"residual of more than three layers", has_long_residual, false},
    {"tensor with several readers", has_several_readers, false},
    {"concatenation", is_concatenation, false},
    {"concatenation of scaled parts", scales_parts, true},
    {"requantisation alone", is_requantisation, false},
    {"requantisation by channel", is_requantisation_by_channel, false},
    {"padding alone", is_padding, false},
    {"1-D", is_1d, false},
    {"1-D pool", is_1d_pool, false},
    {"1-D, causal", is_causal, false},
    {"1-D, dilated", is_dilated_1d, false},
    {"dilation", has_dilation, false},
    {"strides that differ", has_unequal_strides, false},
    {"asymmetric padding", has_asymmetric_padding, false},
    {"even kernel", has_even_kernel, false},
    {"two stages, as of a ReLU behind an addition", has_second_stage, false},
    {"one multiplier for all channels", has_one_factor, false},
    {"sum of rounded terms", rounds_terms, true},
    {"no normalisation", normalises_none, false},
    {"normalisation in 32 bits", normalises_32, false},
    {"normalisation in 64 bits", normalises_64, false},
    {"normalisation by division", normalises_divide, false},
    {"normalisation, clamped", normalises_clamped, false},
    {"negative multiplier", has_negative_multiplier, false},
    {"clip inside the element's range", has_odd_clip, false},
    {"2-bit weights", has_2_bit_weights, false},
    {"4-bit weights", has_4_bit_weights, false},
    {"weights below 8 bits, depth-wise", packs_depthwise, false},
    {"weights below 8 bits, groups", packs_groups, false},
    {"weights below 8 bits, fully connected", packs_linear, false},
    {"weights, input and output below 8 bits", packs_all, false},
    {"weights below 8 bits, input and output of 8", packs_weights_only, false},
    {"8-bit weights, input and output below 8 bits", packs_activations_only, false},
    {"XpulpV2 kernel for packed elements", runs_packed, false},
    {"uint2 tensor", makes_uint2, false},
    {"int2 tensor", makes_int2, false},
    {"uint4 tensor", makes_uint4, false},
    {"int4 tensor", makes_int4, false},
    {"int8 tensor", makes_int8, false},
    {"16-bit tensor", makes_16_bits, false},
    {"32-bit tensor", makes_32_bits, false},
    {"elements wider than the input's", widens, false},
    {"int8 input", reads_int8, false},
    {"signed input below 8 bits", reads_signed_bits, false},
    {"pixels with unused bits", leaves_bits, false},
    {"several inputs", has_several_inputs, false},
    {"several outputs", has_several_outputs, false},
};
#define FEATURES (sizeof table / sizeof *table)
_Static_assert(FEATURES <= MAXIMUM_FEATURES, "each feature has a count");

void features_count(struct features *features, const struct plan *plan)
{
    const struct network *network = plan->network;
    for (size_t f = 0; f < FEATURES; f++) {
        bool occurs = false;
        for (int i = 0; i < network->layer_count && !occurs; i++) {
            const struct layer *layer = &network->layers[i];
            struct view view = {network,
                                layer,
                                &plan->layers[i].record,
                                &network->tensors[layer->inputs[0]],
                                &network->tensors[layer->output],
                                plan->layers[i].kernel->name};
            occurs = table[f].occurs(&view);
        }
        features->networks[f] += occurs;
    }
}

/* What a model has of nodes that a network shows no trace of, or not this one. */
static const char *const node_types[] = {"Identity", "Dropout", "Reshape", "Transpose", "Squeeze", "Unsqueeze",
                                         "Pad",      "Concat",  "Clip",    "Add",       "MaxPool", "AveragePool"};
#define NODE_TYPES (sizeof node_types / sizeof *node_types)
_Static_assert(NODE_TYPES <= MAXIMUM_NODE_TYPES, "each type of nodes has a count");

void features_count_nodes(struct features *features, const Onnx__ModelProto *model)
{
    for (size_t t = 0; t < NODE_TYPES; t++) {
        bool occurs = false;
        for (size_t i = 0; i < model->graph->n_node && !occurs; i++)
            occurs = strcmp(model->graph->node[i]->op_type, node_types[t]) == 0;
        features->models[t] += occurs;
    }
}

static bool print_nodes(const struct features *features)
{
    bool all = true;
    for (size_t t = 0; t < NODE_TYPES; t++) {
        printf("%6d models with: %s%s\n", features->models[t], node_types[t], features->models[t] ? "" : " (MISSING)");
        all = all && features->models[t];
    }
    return all;
}

bool features_print(const struct features *features, bool imported)
{
    bool all = true;
    for (size_t f = 0; f < FEATURES; f++) {
        bool is_missing = features->networks[f] == 0 && !(imported && table[f].is_never_imported);
        printf("%6d networks with: %s%s\n", features->networks[f], table[f].name, is_missing ? " (MISSING)" : "");
        all = all && !is_missing;
    }
    return (!imported || print_nodes(features)) && all;
}
