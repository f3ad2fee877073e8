/* The proof about dead channels against networks that are wrong: each fault must be found. */
#include "check/check_channels.h"
#include "expect.h"
#include "networks.h"
#include "shrink/shrink.h"

#define CONSTANT 8 /* channels of the first layer, from 4 on, of 16 */

struct fixture {
    struct arena arena;
    struct diagnostics diagnostics;
    struct network *network; /* without its dead channels, to be made wrong */
};

/* Convolution, depth-wise, addition with a second branch, concatenation, convolution. */
static void make(struct fixture *f)
{
    struct network_builder builder;
    *f = (struct fixture){0};
    f->diagnostics.arena = &f->arena;
    builder_start(&builder, &f->arena, 3);
    int input = builder_input(&builder, 5, 5, 3), first[2];
    for (int i = 0; i < 2; i++) {
        first[i] = builder_convolution(&builder, input, 3, 1, 1, 16);
        struct layer *layer = &builder.network.layers[i];
        memset((int8_t *)layer->weights + 4 * 27, 0, CONSTANT * 27);
        for (int c = 4; c < 4 + CONSTANT; c++)
            ((int64_t *)layer->stages[0].addend)[c] = -layer->stages[0].divisor;
    }
    int deep = builder_depthwise(&builder, first[0], 3, 1, 1);
    int joined = builder_concatenation(&builder, builder_addition(&builder, deep, first[1]), first[1]);
    for (int i = 3; i < 5; i++) /* no sum is clipped for all inputs */
        *(int64_t *)builder.network.layers[i].stages[0].addend = 0;
    *(int64_t *)builder.network.layers[3].input_stages[0].addend = 0;
    struct network *whole = (struct network *)builder_finish(&builder, builder_convolution(&builder, joined, 1, 1, 0, 8));
    REQUIRE(range_prove(whole, NULL, &f->arena, &f->diagnostics));
    f->network = shrink_network(whole, NULL, &f->arena);
    REQUIRE(f->network != whole);
    REQUIRE(channels_check(f->network, &f->diagnostics));
}

static struct layer *layer_of(const struct fixture *f, int layer) { return &f->network->layers[layer]; }

static void other_weight(struct fixture *f) { ((int8_t *)layer_of(f, 0)->weights)[28] ^= 1; }
static void other_bias(struct fixture *f) { ((int64_t *)layer_of(f, 5)->stages[0].addend)[2]++; }
static void other_multiplier(struct fixture *f) { ((int64_t *)layer_of(f, 2)->stages[0].multiplier)[1]++; }
static void other_clip(struct fixture *f) { layer_of(f, 3)->stages[0].maximum--; }
static void other_kernel(struct fixture *f) { layer_of(f, 2)->padding_top--; }
static void other_groups(struct fixture *f) { layer_of(f, 2)->groups = 1; }
static void other_scale(struct fixture *f) { layer_of(f, 3)->input_stages[1].divisor *= 2; }

/* The first channel is no constant, and the fifth is. */
static void other_channel(struct fixture *f)
{
    int *kept = (int *)f->network->tensors[layer_of(f, 0)->output].kept;
    for (int i = 0; i < 4; i++)
        kept[i]++;
}

static void fewer_channels(struct fixture *f) { f->network->tensors[layer_of(f, 0)->output].channels -= 4; }
static void another_type(struct fixture *f) { f->network->tensors[layer_of(f, 3)->output].is_signed = true; }

/* Of the whole network, so that a channel that was left out is not one value. */
static void no_constant(struct fixture *f)
{
    ((int8_t *)f->network->whole->layers[0].weights)[5 * 27] = 100;
    ((int64_t *)f->network->whole->layers[0].stages[0].addend)[5] = 0;
}

static void other_border(struct fixture *f)
{
    f->network->whole->layers[2].padding_value = f->network->layers[2].padding_value = 3;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*spoil)(struct fixture *f);
    } faults[] = {
        {"a weight", other_weight},
        {"a bias", other_bias},
        {"a multiplier", other_multiplier},
        {"a clip", other_clip},
        {"a border's size", other_kernel},
        {"groups", other_groups},
        {"a scale", other_scale},
        {"a channel", other_channel},
        {"too few channels", fewer_channels},
        {"an element type", another_type},
        {"no constant", no_constant},
        {"a border's value", other_border},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f;
        make(&f);
        faults[i].spoil(&f);
        EXPECT(!channels_check(f.network, &f.diagnostics), "%s is not found", faults[i].name);
        EXPECT(f.diagnostics.error_count > 0, "%s is not told", faults[i].name);
        arena_free(&f.arena);
    }
    return expect_result("wrong dead channels");
}
