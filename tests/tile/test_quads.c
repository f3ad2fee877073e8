/* Bytes of weights in quads, by arithmetic of its own: those of the format are what plan and check both ask for, so that a
 * mistake in them would be in both. Random layers of random networks, with the input channels in slices. */
#include <inttypes.h>

#include "../random/random_network.h"
#include "expect.h"
#include "network/range.h"
#include "planning.h"
#include "quads.h"

/* Most groups that the channels of a quad belong to, counted. */
static uint64_t groups_of_a_quad(const struct dory_layer *layer)
{
    uint64_t most = 0;
    for (uint32_t first = 0; first < 4u * layer->grouped.outputs; first += 4) { /* behind it they lie as at the start */
        uint64_t groups = (first + 3) / layer->grouped.outputs - first / layer->grouped.outputs + 1;
        most = groups > most ? groups : most;
    }
    return most;
}

/* Channels of a quad, which is filled up but where a fully connected layer of bytes has fewer outputs. */
static uint64_t lanes_of(const struct dory_layer *layer)
{
    bool bytes = layer->input_bits == 8 && layer->weight_bits == 8 && (layer->output_bits == 8 || layer->output_bits == 32);
    bool alone = layer->operation == DORY_CONVOLUTION && layer->kernel_height * layer->kernel_width == 1 &&
                 layer->output_height * layer->output_width == 1;
    return bytes && alone && layer->output_channels < 4 ? layer->output_channels : 4;
}

/* In groups, of a row of taps: each is filled up, or all of them where they are bytes of one or two channels. */
static uint64_t words_of_row(const struct dory_layer *layer)
{
    uint64_t channels = groups_of_a_quad(layer) * layer->grouped.channels;
    bool together = channels < 3 && layer->dilation_width == 1 && layer->input_bits == 8 && layer->output_bits != 16;
    return together ? (channels * layer->kernel_width + 3) / 4 : (channels + 3) / 4 * layer->kernel_width;
}

/* Of some input channels: words of 4 bytes for the channels of a quad, of all taps together or of each. */
static uint64_t chunk_bytes(const struct dory_layer *layer, uint32_t channels)
{
    uint64_t taps = (uint64_t)layer->kernel_height * layer->kernel_width;
    if (layer->operation == DORY_DEPTHWISE)
        return 4ull * layer->kernel_height * ((layer->kernel_width + 3u) / 4 * 4);
    if (layer->operation == DORY_GROUPED)
        return 2ull * layer->weight_bits * layer->kernel_height * words_of_row(layer);
    uint64_t words = dory_fills_taps(layer) ? taps * ((channels + 3) / 4) : (taps * channels + 3) / 4;
    return words * lanes_of(layer) * layer->weight_bits / 2;
}

/* Numbers of a channel, of 4 bytes each, by enum dory_normalisation. */
static uint64_t constants_bytes(const struct dory_layer *layer)
{
    static const uint8_t words[] = {
        [DORY_NORMALISE_NONE] = 1,    [DORY_NORMALISE_32] = 2,    [DORY_NORMALISE_64] = 4,   [DORY_NORMALISE_DIVIDE] = 4,
        [DORY_NORMALISE_CLAMPED] = 4, [DORY_NORMALISE_SPLIT] = 5, [DORY_NORMALISE_HIGH] = 4, [DORY_NORMALISE_SHARED] = 1};
    bool is_away = layer->normalisation == DORY_NORMALISE_SPLIT && layer->rounding == DORY_ROUND_AWAY;
    return 4 * lanes_of(layer) * (words[layer->normalisation] + (is_away ? 2u : 0));
}

struct counts {
    int convolutions, depthwise, grouped, slices;
};

static void test_layer(const struct dory_layer *layer, uint64_t seed, struct counts *counts)
{
    uint32_t all = layer->input_channels, slice = layer->operation == DORY_CONVOLUTION ? 4 * (1 + (uint32_t)seed % 8) : all;
    uint64_t sum = 0;
    for (uint32_t first = 0; first < all; first += slice) {
        uint32_t channels = dory_minimum(slice, all - first);
        EXPECT(dory_quads.chunk_bytes(layer, channels) == chunk_bytes(layer, channels),
               "seed %" PRIu64 ": %u bytes of %u channels", seed, dory_quads.chunk_bytes(layer, channels), channels);
        sum += chunk_bytes(layer, channels);
        counts->slices += channels < all;
    }
    EXPECT_EQUAL(dory_quads.constants_bytes(layer), constants_bytes(layer));
    EXPECT_EQUAL(dory_block_bytes(&dory_quads, layer, slice), sum + constants_bytes(layer));
    counts->convolutions += layer->operation == DORY_CONVOLUTION;
    counts->depthwise += layer->operation == DORY_DEPTHWISE;
    counts->grouped += layer->operation == DORY_GROUPED;
}

int main(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct counts counts = {0};
    REQUIRE(target_load(&target, "gap8", &arena, &diagnostics));
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct arena own = {0};
        struct diagnostics found = {.arena = &own};
        struct random random = {seed};
        struct network *network = random_graph(&random, &own);
        bool proven = range_prove(network, NULL, &own, &found);
        for (int i = 0; proven && i < network->layer_count; i++) {
            struct dory_layer layer = formed_layer_of(network, i, &target, &own).record;
            if (dory_has_weights(&layer))
                test_layer(&layer, seed, &counts);
        }
        arena_free(&own);
    }
    printf("%d convolutions, %d depth-wise, %d in groups, %d slices\n", counts.convolutions, counts.depthwise,
           counts.grouped, counts.slices);
    EXPECT(counts.convolutions > 50 && counts.depthwise > 20 && counts.grouped > 20 && counts.slices > 20, "too few");
    arena_free(&arena);
    return expect_result("quads");
}
