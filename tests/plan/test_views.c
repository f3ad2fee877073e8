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

enum { HEADS = 3, TOKENS = 5, DEPTH = 8, ELEMENTS = TOKENS * HEADS * DEPTH, COPIES = 3 };

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

/* The factors are views where heads may be; the last copy is of elements that follow each other. */
static void test_kinds(const struct network *network, struct arena *arena)
{
    const struct network *in_a_row = network_view(network, VIEWS_IN_A_ROW, arena),
                         *of_heads = network_view(network, VIEWS_OF_HEADS, arena);
    EXPECT_EQUAL(in_a_row->layer_count, network->layer_count - 1);
    EXPECT_EQUAL(of_heads->layer_count, network->layer_count - COPIES);
    EXPECT_THAT(network_view(of_heads, VIEWS_OF_HEADS, arena) == NULL);
    expect_same(network, in_a_row, arena);
    expect_same(network, of_heads, arena);
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

/* Each place of each view, one element off; and where the firmware looks for the factors. */
static void test_check(struct network *viewed, struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    const struct target target = host(arena);
    const struct plan_options options = {.weights = WEIGHTS_RESIDENT};
    struct plan plan = {0};
    EXPECT_THAT(plan_make(viewed, &target, &options, &plan, arena, &diagnostics) && !is_refused(&plan, arena));
    int views = 0, products = 0;
    for (int t = 0; t < viewed->tensor_count; t++) {
        const struct tensor_view *sound = viewed->tensors[t].view;
        for (int i = 0; sound && i < 3; i++) {
            struct tensor_view wrong = *sound;
            *(i == 0 ? &wrong.first : i == 1 ? &wrong.row_step : &wrong.column_step) += 1;
            bool is_one_row = i == 1 && viewed->tensors[t].height == 1;
            viewed->tensors[t].view = &wrong;
            EXPECT(is_one_row || is_refused(&plan, arena), "view of tensor %d, member %d", t, i);
        }
        viewed->tensors[t].view = sound;
        views += sound != NULL;
    }
    for (int l = 0; l < viewed->layer_count; l++)
        for (int i = 0; i < 2 && plan.layers[l].record.operation == DORY_MATRIX_PRODUCT; i++, products++) {
            uint16_t *pitch = i ? &plan.layers[l].record.second_pixel_bytes : &plan.layers[l].record.pixel_bytes;
            *pitch -= 8;
            EXPECT(is_refused(&plan, arena), "factor %d of layer %d", i, l);
            *pitch += 8;
        }
    EXPECT_EQUAL(views, COPIES);
    EXPECT_EQUAL(products, 2);
}

int main(void)
{
    struct arena arena = {0};
    const struct network *network = heads_network(&arena, HEADS, TOKENS, DEPTH);
    struct network *viewed = network_view(network, VIEWS_OF_HEADS, &arena);
    test_kinds(network, &arena);
    test_run(viewed, false, &arena);
    test_run(viewed, true, &arena);
    test_check(viewed, &arena);
    arena_free(&arena);
    return expect_result("views");
}
