#include "describe/layer_operation.h"

/* Depth-wise kernels read bytes or more; groups of one channel are the same layer, and unpack what they read. */
static enum dory_operation convolution_of(const struct network *network, const struct layer *layer)
{
    bool is_packed = network->tensors[layer->inputs[0]].bits < 8;
    return layer->groups == 1                                 ? DORY_CONVOLUTION
           : layer_is_depthwise(network, layer) && !is_packed ? DORY_DEPTHWISE
                                                              : DORY_GROUPED;
}

/* Without a default, as those below: the compiler asks for what a new kind is. */
enum dory_operation layer_operation(const struct network *network, const struct layer *layer)
{
    switch (layer->kind) {
    case LAYER_CONVOLUTION: break;
    case LAYER_MAXIMUM_POOL: return DORY_MAXIMUM_POOL;
    case LAYER_AVERAGE_POOL: return DORY_AVERAGE_POOL;
    case LAYER_ADDITION: return DORY_ADDITION;
    case LAYER_CONCATENATION: return DORY_CONCATENATION;
    case LAYER_MULTIPLICATION: return layer->factors[0] ? DORY_QUOTIENT : DORY_MULTIPLICATION;
    case LAYER_TABLE: return DORY_TABLE;
    case LAYER_COPY: return DORY_COPY;
    case LAYER_INTERPOLATION: return DORY_INTERPOLATION;
    case LAYER_SOFTMAX: return DORY_SOFTMAX;
    case LAYER_LARGEST: return DORY_LARGEST;
    case LAYER_NORM: return DORY_NORM;
    case LAYER_LSTM: return DORY_LSTM;
    case LAYER_MATRIX_PRODUCT: return DORY_MATRIX_PRODUCT;
    case LAYER_SQUARED_DIFFERENCE: return DORY_SQUARED_DIFFERENCE;
    }
    return convolution_of(network, layer);
}

struct dory_layer layer_without_constants(const struct dory_layer *record)
{
    static const char some;
    struct dory_layer without = *record;
    without.stages = NULL;
    if (record->operation != DORY_INTERPOLATION && record->constants.any)
        without.constants.any = &some;
    return without;
}

const char *layer_identifier(const struct network *network, const struct layer *layer)
{
    if (layer_reads_whole_input(network, layer))
        return "fully_connected";
    switch (layer_operation(network, layer)) {
#define IDENTIFIER(operation, identifier, words)                                                                            \
    case operation: return identifier;
        DORY_OPERATIONS(IDENTIFIER)
    }
    return "other";
}

const char *layer_words(const struct network *network, const struct layer *layer)
{
    if (layer_reads_whole_input(network, layer))
        return "fully connected";
    switch (layer_operation(network, layer)) {
#define WORDS(operation, identifier, words)                                                                                 \
    case operation: return words;
        DORY_OPERATIONS(WORDS)
    }
    return "other";
}
