/* Networks built in memory, without a model's file: shapes as wanted, seeded weights, normalisations that are proven to
 * fit 32 bits. For tests of the planner. */
#ifndef TESTS_PLAN_NETWORKS_H
#define TESTS_PLAN_NETWORKS_H

#include "base/support.h"
#include "network/network.h"

struct network_builder {
    struct arena *arena;
    struct network network;
    uint64_t random;
};

void builder_start(struct network_builder *builder, struct arena *arena, uint64_t seed);
uint32_t builder_random(struct network_builder *builder, uint32_t below);

/* Each returns the tensor that it adds. Elements are unsigned 8-bit. */
int builder_input(struct network_builder *builder, int height, int width, int channels);
int builder_convolution(struct network_builder *builder, int input, int kernel, int stride, int padding, int channels);
int builder_depthwise(struct network_builder *builder, int input, int kernel, int stride, int padding);
int builder_pool(struct network_builder *builder, int input, enum layer_kind kind, int kernel, int stride, int padding);
int builder_addition(struct network_builder *builder, int first, int second);
int builder_product(struct network_builder *builder, int first, int second); /* the second may be one pixel */
int builder_concatenation(struct network_builder *builder, int first, int second);
int builder_fully_connected(struct network_builder *builder, int input, int channels); /* int32 logits */

/* The sums of convolutions, and nothing else: tensors stay as they are. Part of builder_finish. */
void builder_prove(struct network_builder *builder);
const struct network *builder_finish(struct network_builder *builder, int output);

/* MobileNetV1 for square images, width in percent. */
const struct network *mobilenet_v1(struct arena *arena, int size, int width_percent);

/* MobileNetV2 for square images, width in percent. */
const struct network *mobilenet_v2(struct arena *arena, int size, int width_percent);

/* Inverted residuals as found by a search, kernels from 3x3 to 7x7: shaped as MCUNet's for ImageNet in 320 kB (size 176) and
 * as MCUNetV2's for visual wake words (size 80). */
const struct network *mcunet_imagenet(struct arena *arena, int size);
const struct network *mcunet_wake_words(struct arena *arena, int size);

/* So many convolutions, 3x3 and 1x1 with depth-wise ones between them, with residual connections, and a classifier. */
const struct network *deep_network(struct arena *arena, int layers);

/* A few inverted residual blocks and a classifier. */
const struct network *residual_network(struct arena *arena, int size, int channels);
/* Scores of tokens by tokens in each head, a convolution of them, and their product with values. */
const struct network *attention_network(struct arena *arena, int heads, int tokens, int channels);

/* Queries and keys of one convolution, copied to heads, and their product; that of it and of values, which a copy turns; a
 * copy that puts its heads side by side, and of a convolution of that the last token. */
const struct network *heads_network(struct arena *arena, int heads, int tokens, int depth);

/* 1 to `layers` layers of any kind, random shapes, with residual connections. */
const struct network *seeded_network(struct arena *arena, uint64_t seed, int layers);

#endif
