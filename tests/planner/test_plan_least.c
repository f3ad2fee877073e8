/* What the message of a network that does not fit says would do, does; and one granule less does not. */
#include <inttypes.h>
#include <string.h>

#include "check/check.h"
#include "dory/hal.h"
#include "expect.h"
#include "networks.h"
#include "planning.h"
#include "share.h"
#include "solve/plan_make.h"

struct need {
    uint32_t l1_bytes, l2_bytes;
    char l1_layer[64], l2_layer[64];
};

static bool plans(const struct network *network, const struct target *target, uint32_t l1, uint32_t l2, struct need *need)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct plan_options options = {.l1_bytes = l1, .l2_bytes = l2};
    struct plan plan;
    bool planned = plan_make(network, target, &options, &plan, &arena, &diagnostics);
    if (planned)
        EXPECT(plan_check(&plan, &diagnostics) && plan.l2_peak_bytes <= l2, "L1 %u, L2 %u: a plan that is wrong", l1, l2);
    else if (need) {
        const char *text = diagnostics.list[diagnostics.count - 1].text, *number = strpbrk(text, "0123456789");
        const char *second = strstr(text, "and ");
        EXPECT(number && second && sscanf(number, "%" SCNu32, &need->l1_bytes) == 1 &&
                   sscanf(strstr(text, "for layer"), "for layer '%63[^']'", need->l1_layer) == 1 &&
                   sscanf(second, "and %" SCNu32 " bytes of L2, for layer '%63[^']'", &need->l2_bytes, need->l2_layer) == 2,
               "no sizes in: %s", text);
    }
    arena_free(&arena);
    return planned;
}

static bool has_layer(const struct network *network, const char *name)
{
    for (int i = 0; i < network->layer_count; i++)
        if (!strcmp(network->layers[i].name, name))
            return true;
    return false;
}

#define PLENTY (1u << 20)

static void expect_least(const char *name, const struct network *network, const struct target *target, uint32_t given_l1)
{
    struct need by_l2 = {0}, by_l1 = {0}, by_both = {0};
    EXPECT(!plans(network, target, given_l1, 8, &by_l2), "%s fits 8 bytes of L2", name);
    EXPECT(!plans(network, target, target->l1_stack_bytes + 8, PLENTY, &by_l1), "%s fits 8 bytes of L1", name);
    EXPECT(!plans(network, target, target->l1_stack_bytes + 8, 8, &by_both), "%s fits nothing", name);
    EXPECT(plans(network, target, given_l1, by_l2.l2_bytes, NULL), "%s: %u bytes of L2 do not do", name, by_l2.l2_bytes);
    EXPECT(!plans(network, target, given_l1, by_l2.l2_bytes - DORY_ALIGNMENT, NULL), "%s: less than %u bytes of L2 do", name,
           by_l2.l2_bytes);
    EXPECT(plans(network, target, by_l1.l1_bytes, PLENTY, NULL), "%s: %u bytes of L1 do not do", name, by_l1.l1_bytes);
    EXPECT(!plans(network, target, by_l1.l1_bytes - DORY_ALIGNMENT, PLENTY, NULL), "%s: less than %u bytes of L1 do", name,
           by_l1.l1_bytes);
    EXPECT(plans(network, target, by_both.l1_bytes, by_both.l2_bytes, NULL), "%s: %u bytes of L1 and %u of L2 do not do",
           name, by_both.l1_bytes, by_both.l2_bytes);
    EXPECT(has_layer(network, by_l2.l2_layer) && has_layer(network, by_l1.l1_layer), "%s: layers '%s', '%s'", name,
           by_l2.l2_layer, by_l1.l1_layer);
    printf("%-22s L1 %6" PRIu32 " (%s), L2 %6" PRIu32 " (%s)\n", name, by_l1.l1_bytes, by_l1.l1_layer, by_l2.l2_bytes,
           by_l2.l2_layer);
}

/* ---- against all levels of all tensors ---- */

static uint32_t smallest_cut(const struct decision *decision, int layer)
{
    struct cut **list;
    int count = cut_list(layer_of(decision, layer), layer_ram(decision, layer), &list);
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < count; i++)
        if (cut_solve(list[i]))
            least = dory_minimum(least, cut_l2_bytes(list[i], false));
    return least;
}

static bool lives(const struct network *network, int tensor, int layer)
{
    int first = network->tensors[tensor].producer < 0 ? 0 : network->tensors[tensor].producer;
    bool is_read = false;
    for (int l = layer; l < network->layer_count; l++)
        for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
            is_read = is_read || network->layers[l].inputs[i] == tensor;
    for (int i = 0; i < network->output_count; i++)
        is_read = is_read || network->outputs[i] == tensor;
    return first <= layer && (is_read || layer == first);
}

static uint32_t need_with_levels(const struct decision *decision)
{
    const struct network *network = decision->problem->network;
    uint32_t most = 0;
    for (int l = 0; l < network->layer_count; l++) {
        uint32_t need = smallest_cut(decision, l);
        for (int t = 0; t < network->tensor_count; t++)
            if (decision->levels[t] == IN_L2 && lives(network, t, l))
                need += aligned(tensor_bytes(&network->tensors[t]));
        most = need > most ? need : most;
    }
    return most;
}

static void expect_least_of_all_levels(const struct network *network, const struct target *target, uint64_t seed)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct plan_options options = {0};
    struct problem problem = problem_for(network, target, &options, &arena);
    uint32_t found = 0, best = UINT32_MAX;
    int layer;
    REQUIRE(problem_make(&problem, &arena, &diagnostics));
    struct decision decision = decision_make(&problem, &arena);
    EXPECT(least_l2(&decision, &found, &layer), "seed %" PRIu64, seed);
    for (uint32_t levels = 0; levels < 1u << network->tensor_count; levels++) {
        for (int t = 0; t < network->tensor_count; t++)
            decision_place(&decision, t, levels >> t & 1 ? IN_RAM : IN_L2, DORY_HWC);
        best = dory_minimum(best, need_with_levels(&decision));
    }
    EXPECT(found <= best, "seed %" PRIu64 ": %u bytes of L2, but %u would do", seed, found, best);
    arena_free(&arena);
}

int main(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target host, gap8;
    EXPECT(target_load(&host, "host", &arena, &diagnostics) && target_load(&gap8, "gap8", &arena, &diagnostics), "built in");
    if (share_is_all()) {
        expect_least("MobileNetV1-0.25-32", mobilenet_v1(&arena, 32, 25), &gap8, 64000);
        expect_least("MobileNetV1-0.5-96", mobilenet_v1(&arena, 96, 50), &gap8, 32000);
        expect_least("residual 32x32x24", residual_network(&arena, 32, 24), &host, 20000);
    }
    expect_least("residual 17x17x13", residual_network(&arena, 17, 13), &gap8, 20000);
    for (uint64_t seed = 1; seed <= share_of(20); seed++)
        expect_least(arena_format(&arena, "random %" PRIu64, seed), seeded_network(&arena, seed, 6), &host, 30000);
    for (uint64_t seed = 100; seed < 100 + share_of(100); seed++)
        expect_least_of_all_levels(seeded_network(&arena, seed, 6), &gap8, seed);
    arena_free(&arena);
    return expect_result("least");
}
