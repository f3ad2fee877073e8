/* Layers for random networks, one by one. */
#ifndef DORY_TEST_RANDOM_BUILDER_H
#define DORY_TEST_RANDOM_BUILDER_H

#include "random_network.h"

#define MAXIMUM_LAYERS 16
#define MAXIMUM_INPUTS 3

struct builder {
    struct random *random;
    struct arena *arena;
    struct network *network;
    bool mixed; /* elements and weights of 2 and 4 bits, too */
};

int between(struct random *random, int least, int most);

/* Small numbers more often than large ones, and now and then a multiple of 4. */
int size_between(struct random *random, int least, int most);

/* A network with no layer. */
struct builder start(struct random *random, struct arena *arena);

/* Each adds an input or a layer and gives the index of its tensor. add_same_convolution: 3x3 or 1x1, keeps the shape, for
 * residual connections. */
int add_input(struct builder *builder, int height, int width, int channels);
int add_convolution(struct builder *builder, int input, enum random_kind kind);
int add_same_convolution(struct builder *builder, int input);
int add_pool(struct builder *builder, int input, enum random_kind kind);
int add_requantisation(struct builder *builder, int input);
int add_padding(struct builder *builder, int input);
int add_concatenation(struct builder *builder, int first, int second);
int add_addition(struct builder *builder, int first, int second);

#endif
