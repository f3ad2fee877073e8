/* Where the simplex runs out of iterations, the plan is what the search had found until then, without a proof: the same one
 * on every machine, however slow. */
#include <inttypes.h>

#include "check/check.h"
#include "expect.h"
#include "networks.h"
#include "share.h"
#include "solve/plan_make.h"

#define NETWORKS 12
#define LAYERS   5

struct found {
    uint64_t cycles, bound;
    int rounds;
    bool is_optimal;
};

static struct found plan_within(const struct network *network, int simplex_iterations)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct plan plan;
    struct plan_options options = {.simplex_iterations = simplex_iterations};
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    bool found = plan_make(network, &target, &options, &plan, &arena, &diagnostics);
    EXPECT(found && plan_check(&plan, &diagnostics), "%d iterations: no sound plan", simplex_iterations);
    struct found result = {0};
    if (found)
        result = (struct found){plan.predicted_cycles, plan.proof.bound_cycles, plan.proof.rounds, plan.proof.is_optimal};
    arena_free(&arena);
    return result;
}

static void test_limit(uint64_t seed)
{
    struct arena arena = {0};
    const struct network *network = seeded_network(&arena, seed, LAYERS);
    struct found all = plan_within(network, 0), one = plan_within(network, 1), again = plan_within(network, 1);
    EXPECT(all.is_optimal && !one.is_optimal, "network %" PRIu64 ": proven %d, in one iteration %d", seed, all.is_optimal,
           one.is_optimal);
    EXPECT(one.rounds == 1, "network %" PRIu64 ": the solver ran %d times", seed, one.rounds);
    EXPECT(one.cycles >= all.cycles && one.bound <= all.cycles,
           "network %" PRIu64 ": %" PRIu64 " cycles of at least %" PRIu64 ", the best takes %" PRIu64, seed, one.cycles,
           one.bound, all.cycles);
    EXPECT(one.cycles == again.cycles && one.bound == again.bound, "network %" PRIu64 ": another plan", seed);
    arena_free(&arena);
}

int main(void)
{
    for (uint64_t seed = 0; seed < share_of(NETWORKS); seed++)
        test_limit(seed);
    return expect_result("iterations");
}
