/* Exact halves, and what depends on them. A row of pairs is averaged; a second layer reads the averages. */
#include "expect.h"
#include "network/interpret.h"
#include "values/ties.h"

#define AVERAGES 3

static const int64_t one = 1, zero;
static const int64_t pairs[2 * AVERAGES] = {1, 2, 2, 2, 7, 4}; /* 1.5, 2, 5.5 */
static const int8_t weights[] = {-1, 1};

struct two_layers {
    struct arena arena;
    struct diagnostics diagnostics;
    struct tensor tensors[3];
    struct layer layers[2];
    struct network network;
};

static void make(struct two_layers *two, enum layer_kind second, int kernel)
{
    *two = (struct two_layers){.tensors = {tensor_plain("x", 1, 2 * AVERAGES, 1), tensor_plain("y", 1, AVERAGES, 1),
                                           tensor_plain("z", 1, AVERAGES + 1 - kernel, 1)},
                               .layers = {layer_plain("average", LAYER_AVERAGE_POOL, 0), layer_plain("next", second, 1)}};
    two->diagnostics.arena = &two->arena;
    two->layers[0].output = 1;
    two->layers[0].kernel_width = two->layers[0].stride_width = 2;
    two->layers[0].stages[0] = (struct stage){.count = 1,
                                              .rounding = ROUND_HALF_EVEN,
                                              .multiplier = &one,
                                              .addend = &zero,
                                              .divisor = 2,
                                              .has_clip = true,
                                              .maximum = 5};
    two->layers[0].stage_count = 1;
    two->layers[1].output = 2;
    two->layers[1].kernel_width = kernel;
    two->layers[1].weights = weights;
    two->network = (struct network){.tensors = two->tensors, .tensor_count = 3, .layers = two->layers, .layer_count = 2};
}

/* The marks of the last tensor, which has `count` elements. */
static void expect_marks(struct two_layers *two, const int64_t *averages, const int64_t *next, size_t count)
{
    int64_t **values = interpret_allocate(&two->network, &two->arena);
    memcpy(values[0], pairs, sizeof pairs);
    for (int i = 0; i < 2; i++)
        REQUIRE(interpret_layer(&two->network, i, values, &two->diagnostics));
    int64_t **marks = ties_find(&two->network, values, &two->arena, &two->diagnostics);
    REQUIRE(marks != NULL);
    EXPECT_BYTES(marks[1], averages, AVERAGES * sizeof *averages);
    EXPECT_BYTES(marks[2], next, count * sizeof *next);
    arena_free(&two->arena);
}

/* Both sides of 5.5 are clipped to 5. */
static void a_half_that_the_clip_hides_is_no_tie(void)
{
    struct two_layers two;
    make(&two, LAYER_MAXIMUM_POOL, 1);
    expect_marks(&two, (const int64_t[]){1, 0, 0}, (const int64_t[]){1, 0, 0}, 3);
}

static void windows_depend_on_what_they_read(void)
{
    struct two_layers two;
    make(&two, LAYER_CONVOLUTION, 2);
    expect_marks(&two, (const int64_t[]){1, 0, 0}, (const int64_t[]){1, 0}, 2);
}

static void other_roundings_have_no_ties(void)
{
    struct two_layers two;
    make(&two, LAYER_CONVOLUTION, 2);
    two.layers[0].stages[0].rounding = ROUND_HALF_AWAY;
    expect_marks(&two, (const int64_t[]){0, 0, 0}, (const int64_t[]){0, 0}, 2);
}

int main(void)
{
    static const struct test tests[] = {TEST(a_half_that_the_clip_hides_is_no_tie), TEST(windows_depend_on_what_they_read),
                                        TEST(other_roundings_have_no_ties)};
    return RUN_TESTS("ties", tests, NULL);
}
