/* Plans that were made wrong on purpose, each in one way: the check pass must refuse every one. */
#include <string.h>

#include "check/check.h"
#include "corruptions.h"
#include "dory/prepared.h"
#include "expect.h"
#include "networks.h"
#include "plan/plan.h"
#include "share.h"
#include "solve/plan_make.h"

#define MAXIMUM_KINDS 100
#define PLACES        share_of(12) /* at which each kind is tried in each plan */
#define PLANS         13           /* 10 and 11 with all operands in place; the last of attention */

struct kind {
    const struct corruption *corruption;
    int applied, refused;
};

static size_t list_kinds(struct kind *kinds)
{
    const struct corruption *const lists[] = {corruptions_of_steps, corruptions_of_layers, corruptions_of_blocks};
    size_t count = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct corruption *corruption = lists[i]; corruption->name && count < MAXIMUM_KINDS; corruption++)
            kinds[count++].corruption = corruption;
    return count;
}

/* Arrays that corruptions change are copied, so that the sound plan stays. */
static struct plan copy_plan(const struct plan *plan, struct arena *arena)
{
    struct plan copy = *plan;
#define COPY(member, count)                                                                                                 \
    (copy.member = arena_allocate(arena, (size_t)(count) * sizeof *copy.member),                                            \
     memcpy(copy.member, plan->member, (size_t)(count) * sizeof *copy.member))
    COPY(steps, plan->step_count);
    COPY(layers, plan->network->layer_count);
    COPY(tensors, plan->network->tensor_count);
    COPY(transfers, plan->transfer_count);
    COPY(buffers, plan->buffer_count);
    if (plan->tiles) {
        size_t bytes = plan_tile_count(plan) * sizeof *plan->tiles;
        copy.tiles = memcpy(arena_allocate(arena, bytes), plan->tiles, bytes);
    }
#undef COPY
    return copy;
}

static void test_kind(const struct plan *plan, struct kind *kind, size_t number)
{
    struct arena arena = {0};
    for (uint32_t place = 0; place < PLACES; place++) {
        struct plan copy = copy_plan(plan, &arena);
        struct diagnostics diagnostics = {.arena = &arena};
        if (!kind->corruption->apply(&copy, place * 7 + (uint32_t)number))
            continue;
        bool good = plan_check(&copy, &diagnostics);
        kind->applied++;
        kind->refused += !good;
        EXPECT(good || strstr(diagnostics.list[0].text, "a fault of dory"), "%s: %s", kind->corruption->name,
               diagnostics.list[0].text);
    }
    arena_free(&arena);
}

/* What is tried: several sizes of L2, weights that stay, layers that take turns, both layouts, and operands in place. */
static bool leaves_in_place(int i) { return i == 10 || i == 11; }

static struct plan_options options_of(int i)
{
    static const uint32_t l2_bytes[] = {300000, 60000, 24000};
    static const enum plan_weights weights[PLANS] = {
        [6] = WEIGHTS_RESIDENT, [7] = WEIGHTS_LINKED, [10] = WEIGHTS_LINKED, [11] = WEIGHTS_LINKED};
    bool in_place = leaves_in_place(i);
    return (struct plan_options){.weights = weights[i],
                                 .cores = in_place ? 1 : 0,
                                 .l1_bytes = 16000,
                                 .l2_bytes = l2_bytes[i % 3 * (i < 6)],
                                 .blocks = i < 8 || in_place ? BLOCKS_NONE : BLOCKS_ALWAYS,
                                 .layouts = i % 2 && !in_place ? LAYOUTS_CHW : LAYOUTS_HWC};
}

/* What emit does of a plan before it is checked, of every other one. */
static void finish_plan(struct plan *plan, int i, struct arena *arena)
{
    if (leaves_in_place(i)) {
        plan_bring_early(plan, false, arena);
        plan_run_layers(plan);
        plan_overlap(plan, arena);
    } else if (i % 2) {
        struct plan joined = *plan;
        if (plan_merge_transfers(&joined, arena))
            *plan = joined;
        plan_join_tiles(plan, arena);
        plan_await_together(plan, arena);
        plan_await_early(plan, arena);
        plan_bring_early(plan, true, arena);
        plan->tiles = plan_place_tiles(plan, arena);
    }
}

static void test_plan(const struct network *network, int i, struct kind *kinds, size_t kind_count)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct plan plan;
    struct plan_options options = options_of(i);
    EXPECT(target_load(&target, "host", &arena, &diagnostics), "host is built in");
    target.activations_in_place = leaves_in_place(i);
    target.weights_in_place = leaves_in_place(i) || i == 7; /* which has a table of tiles */
    bool sound = plan_make(network, &target, &options, &plan, &arena, &diagnostics);
    if (sound)
        finish_plan(&plan, i, &arena);
    sound = sound && plan_check(&plan, &diagnostics);
    EXPECT(sound, "%s", diagnostics.count ? diagnostics.list[0].text : "");
    for (size_t k = 0; sound && k < kind_count; k++)
        test_kind(&plan, &kinds[k], k);
    arena_free(&arena);
}

int main(void)
{
    struct arena arena = {0};
    struct kind kinds[MAXIMUM_KINDS] = {{0}};
    size_t kind_count = list_kinds(kinds);
    const struct network *const networks[] = {mobilenet_v1(&arena, share_is_all() ? 64 : 32, 50),
                                              share_is_all() ? residual_network(&arena, 32, 24)
                                                             : residual_network(&arena, 17, 13)},
                                *attention = attention_network(&arena, 3, 13, 10);
    for (int i = 0; i < PLANS; i++)
        test_plan(i == 12 ? attention : networks[i / 3 > 0 && i != 8], i, kinds, kind_count);
    EXPECT(kind_count < MAXIMUM_KINDS, "not all kinds are looked at");
    for (size_t k = 0; k < kind_count; k++) {
        int applied = kinds[k].applied, least = kinds[k].corruption->may_do_no_harm ? applied * 9 / 10 : applied;
        EXPECT(applied > 0 && kinds[k].refused >= least, "%s: refused %d of %d", kinds[k].corruption->name, kinds[k].refused,
               applied);
    }
    arena_free(&arena);
    return expect_result("check");
}
