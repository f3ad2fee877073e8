/* A network after import: layers and tensors in exact integers, no trace of the file format left.
 *
 * Dimensions are height, width, channels. A one-dimensional network has height 1.
 */
#ifndef DORYGEN_NETWORK_H
#define DORYGEN_NETWORK_H

#include "network/layer.h"
#include "network/tensor.h"

#define NETWORK_MAXIMUM_OUTPUTS 1000 /* they are looked for one by one */

/* What the network keeps from one run to the next: an input and an output, by their positions in the lists of them. */
struct network_state {
    const char *name; /* of the variable in the model */
    int input, output;
    int first; /* all elements before the first run, as memory has them */
};

struct network {
    const char *name;   /* of the model's file, for messages */
    bool channels_last; /* the model's tensors are NHWC (TFLite), not NCHW (ONNX): the order of its .bin and .npy files */
    struct tensor *tensors;
    int tensor_count;
    struct layer *layers; /* in an order in which every input is computed before it is read: the file's node order */
    int layer_count;
    int *inputs; /* tensor indices */
    int input_count;
    int *outputs;
    int output_count;
    const struct network_state *states;
    int state_count;
    const struct network *whole;  /* of a network with dead channels or unread pixels removed (shrink/shrink.h): as it was
                                   * imported. Both have the same layers and tensors under the same numbers. Else null */
    struct network *imported;     /* of a network whose slices and gathers came early (simplify/tidy.h): as it was before. It
                                   * has other layers and tensors, and the same inputs and outputs. Else null */
    const struct network *copied; /* of a network with views: as it was, with copies in their places. Else null */
    bool fast_requantisation;     /* the chip may differ from the model by what describe/requantise_fast.h permits */
};

/* Tells networks apart: of layers, shapes and constants, after range_prove. Names do not count. */
uint32_t network_hash(const struct network *network);
/* An error for each tensor of more than MAXIMUM_ELEMENTS. */
void network_check_sizes(const struct network *network, struct diagnostics *diagnostics);
size_t layer_weight_count(const struct network *network, const struct layer *layer); /* of a convolution */

static inline bool network_is_output(const struct network *network, int tensor)
{
    for (int i = 0; i < network->output_count; i++)
        if (network->outputs[i] == tensor)
            return true;
    return false;
}

/* Layers that read a tensor, and one for an output of the network. */
static inline int network_count_readers(const struct network *network, int tensor)
{
    int readers = network_is_output(network, tensor);
    for (int i = 0; i < network->layer_count; i++)
        readers += layer_reads(&network->layers[i], tensor);
    return readers;
}

/* The tensor in whose memory it lies. */
static inline int tensor_home(const struct network *network, int tensor)
{
    const struct tensor_view *view = network->tensors[tensor].view;
    return view ? view->of : tensor;
}

/* Inputs and outputs of the network. */
static inline bool tensor_is_port(const struct network *network, int tensor)
{
    return network->tensors[tensor].producer == NO_LAYER || network_is_output(network, tensor);
}

static inline bool layer_is_depthwise(const struct network *network, const struct layer *layer)
{
    return layer->kind == LAYER_CONVOLUTION && layer->groups > 1 &&
           layer->groups == network->tensors[layer->inputs[0]].channels &&
           layer->groups == network->tensors[layer->output].channels;
}

/* Multiplications and additions of a convolution, also of a fully connected one, of a matrix product, and of an LSTM's
 * products; other layers have none. */
static inline uint64_t layer_macs(const struct network *network, const struct layer *layer)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]];
    if (layer->kind == LAYER_MATRIX_PRODUCT)
        return tensor_elements(&network->tensors[layer->output]) * (uint64_t)input->channels;
    if (layer->kind == LAYER_LSTM)
        return (uint64_t)layer->lstm->steps * LSTM_GATES * (uint64_t)layer->lstm->units *
               (uint64_t)(layer->lstm->inputs + layer->lstm->units);
    if (layer->kind != LAYER_CONVOLUTION)
        return 0;
    return convolution_macs(tensor_elements(&network->tensors[layer->output]), (uint64_t)(input->channels / layer->groups),
                            (uint64_t)layer->kernel_height, (uint64_t)layer->kernel_width);
}

/* A convolution whose kernel covers the whole unpadded input, as a fully connected layer does: the firmware runs it as a
 * 1x1 convolution of one pixel, whose input channels are the elements in memory order, i.e. height, width, channels.
 * That wants pixels without a rest of unused bits. Both describe.c (shape) and layout.c (order of weights) ask here. */
static inline bool layer_reads_whole_input(const struct network *network, const struct layer *layer)
{
    const struct tensor *input = &network->tensors[layer->inputs[0]];
    bool covers = layer->kernel_height == input->height && layer->kernel_width == input->width &&
                  (layer->dilation_height == 1 || layer->kernel_height == 1) &&
                  (layer->dilation_width == 1 || layer->kernel_width == 1);
    bool in_a_row = input->bits * input->channels % 8 == 0 || input->height * input->width == 1;
    return layer->kind == LAYER_CONVOLUTION && layer->groups == 1 && covers && !layer_is_padded(layer) && in_a_row &&
           tensor_elements(input) <= MAXIMUM_DIMENSION;
}

#endif
