/* Copies as views: which of them become one, that the network computes the same, with kernels too, and that the check
 * refuses a view or a pitch that is wrong. */
#include "check/check.h"
#include "emit/assemble.h"
#include "expect.h"
#include "network/interpret.h"
#include "networks.h"
#include "plan/views.h"
#include "run_plan.h"
#include "solve/plan_make.h"

enum { HEADS = 3, TOKENS = 5, DEPTH = 8, ELEMENTS = TOKENS * HEADS * DEPTH, COPIES = 5 };

static const int64_t *input_values(struct arena *arena)
{
    int64_t *values = arena_array(arena, int64_t, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++)
        values[i] = i * 37 % 256;
    return values;
}

static void expect_same(const struct network *network, const struct network *viewed, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    const int64_t *inputs[] = {input_values(arena)};
    int64_t **copied = interpret_network(network, inputs, arena, &diagnostics),
            **seen = interpret_network(viewed, inputs, arena, &diagnostics);
    for (int i = 0; i < viewed->layer_count; i++) {
        int output = viewed->layers[i].output;
        for (size_t k = 0; k < tensor_elements(&viewed->tensors[output]); k++)
            EXPECT(copied[output][k] == seen[output][k], "layer %d, element %zu", i, k);
    }
}

/* The last copy is of elements that follow each other; the factors of the scores are views where heads may be; then the
 * product of values is one of what the copy behind it makes, and the values of what they are turned to. */
static void test_kinds(const struct network *network, struct arena *arena)
{
    static const int copies[VIEW_KINDS] = {1, 3, 4, COPIES};
    for (enum view_kinds kinds = VIEWS_IN_A_ROW; kinds < VIEW_KINDS; kinds++) {
        const struct network *viewed = network_view(network, kinds, arena);
        EXPECT_EQUAL(viewed->layer_count, network->layer_count - copies[kinds]);
        EXPECT_THAT(network_view(viewed, kinds, arena) == NULL);
        expect_same(network, viewed, arena);
    }
}

static struct target host(struct arena *arena)
{
    struct target target;
    struct diagnostics diagnostics = {.arena = arena};
    EXPECT(target_load(&target, "host", arena, &diagnostics), "host is built in");
    target.weights_in_place = target.activations_in_place = 0;
    return target;
}

/* By the driver, and from a table. */
static void test_run(const struct network *viewed, bool has_table, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    const struct target target = host(arena);
    const struct plan_options options = {.l1_bytes = 4000, .weights = WEIGHTS_RESIDENT};
    const int64_t *inputs[] = {input_values(arena)};
    struct plan plan = {0};
    EXPECT_THAT(plan_make(viewed, &target, &options, &plan, arena, &diagnostics));
    plan_bring_early(&plan, has_table, arena);
    plan.tiles = has_table ? plan_place_tiles(&plan, arena) : NULL;
    EXPECT_THAT(layout_weights(&plan, arena, &diagnostics));
    EXPECT(plan_check(&plan, &diagnostics), "%s", diagnostics.list[0].text);
    struct run_plan_result result = run_plan(&plan, inputs, &(struct run_plan_options){.cores = 1, .seed = 1});
    EXPECT(result.exact, "%s", result.message);
}

static bool is_refused(const struct plan *plan, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    return !plan_check(plan, &diagnostics);
}

/* One element off, in each member that counts. */
static void test_view(struct network *viewed, const struct plan *plan, int tensor, struct arena *arena)
{
    const struct tensor *of = &viewed->tensors[tensor];
    const struct tensor_view *sound = of->view;
    const bool counts[] = {true, of->height > 1, of->width > 1, of->channels > 1};
    for (int i = 0; i < 4; i++) {
        struct tensor_view wrong = *sound;
        int32_t *const members[] = {&wrong.first, &wrong.row_step, &wrong.column_step, &wrong.channel_step};
        *members[i] += 1;
        viewed->tensors[tensor].view = &wrong;
        EXPECT(!counts[i] || is_refused(plan, arena), "view of tensor %d, member %d", tensor, i);
    }
    viewed->tensors[tensor].view = sound;
}

/* Where the firmware looks for the factors, and for the place of the product; of those that are parts of larger pixels. */
static int test_pitches(struct plan *plan, struct dory_layer *record, struct arena *arena)
{
    uint16_t *const pitches[] = {&record->pixel_bytes, &record->second_pixel_bytes, &record->matrix_product.pixel_bytes};
    const uint32_t own[] = {record->input_channels, record->input_channels, record->output_channels};
    int parts = 0;
    for (int i = 0; i < 3 && record->operation == DORY_MATRIX_PRODUCT; i++) {
        if (*pitches[i] <= own[i])
            continue;
        *pitches[i] -= 8;
        EXPECT(is_refused(plan, arena), "operand %d", i);
        *pitches[i] += 8;
        parts++;
    }
    return parts;
}

static void test_check(struct network *viewed, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    const struct target target = host(arena);
    const struct plan_options options = {.weights = WEIGHTS_RESIDENT};
    struct plan plan = {0};
    EXPECT_THAT(plan_make(viewed, &target, &options, &plan, arena, &diagnostics) && !is_refused(&plan, arena));
    int views = 0, parts = 0;
    for (int t = 0; t < viewed->tensor_count; t++) {
        if (!viewed->tensors[t].view)
            continue;
        test_view(viewed, &plan, t, arena);
        views++;
    }
    for (int l = 0; l < viewed->layer_count; l++)
        parts += test_pitches(&plan, &plan.layers[l].record, arena);
    EXPECT_EQUAL(views, COPIES);
    EXPECT_EQUAL(parts, 3);
}

int main(void)
{
    struct arena arena = {0};
    const struct network *network = heads_network(&arena, HEADS, TOKENS, DEPTH);
    struct network *viewed = network_view(network, VIEWS_OF_PLANES, &arena);
    test_kinds(network, &arena);
    test_run(viewed, false, &arena);
    test_run(viewed, true, &arena);
    test_check(viewed, &arena);
    arena_free(&arena);
    return expect_result("views");
}
