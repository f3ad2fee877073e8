/* A price is what the schedule says, and no places cost less: random decisions for random networks and MobileNets, most of
 * them in too little L2 for their places. The plan's own timeline is the judge of cycles, and every pair of buffers of
 * places.
 *
 *     price [decisions] */
#include <inttypes.h>
#include <stdlib.h>

#include "expect.h"
#include "networks.h"
#include "planning.h"

#define DECISIONS 1000

static uint64_t random_state = 1;

static int random_below(int below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((uint32_t)(random_state >> 33) % (uint32_t)below);
}

struct counts {
    int decisions, fitting, in_gaps, with_loss;
};

/* Some tensors in RAM, and any cuts; false where a layer cannot run so. */
static bool decide(struct decision *d)
{
    const struct network *network = d->problem->network;
    int ram = random_below(4);
    for (int t = 0; t < network->tensor_count; t++) {
        bool is_inner = network->tensors[t].producer != NO_LAYER && t != network->outputs[0];
        decision_place(d, t, is_inner && random_below(10) < ram ? IN_RAM : IN_L2, DORY_HWC);
    }
    for (int l = 0; l < network->layer_count; l++) {
        const struct candidate *front;
        int count = candidate_front(layer_of(d, l), layer_ram(d, l), &front);
        if (count == 0)
            return false;
        d->choices[l] = front[random_below(count)].choice;
    }
    return true;
}

static uint64_t cycles_of(const struct problem *p, const struct schedule *schedule, struct arena *arena)
{
    struct timeline timeline;
    schedule_timeline(p, schedule, &timeline, arena);
    return timeline.end_cycle;
}

static void expect_apart(const struct schedule *s, const char *name)
{
    for (int i = 0; i < s->buffer_count; i++)
        for (int j = 0; j < i; j++) {
            const struct plan_buffer *a = &s->buffers[i], *b = &s->buffers[j];
            bool together = a->first_step <= b->last_step && b->first_step <= a->last_step;
            bool overlap = a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
            EXPECT(!together || !overlap, "%s: buffers %d and %d", name, i, j);
        }
}

static void test_gaps(const struct decision *d, const struct price *price, const char *name, struct counts *counts,
                      struct arena *arena)
{
    const struct gaps_variant variant = {random_below(2) != 0, PLACE_HASTILY + random_below(2)};
    uint64_t cycles = decision_price_in_gaps(d, &variant, UINT64_MAX);
    struct schedule schedule;
    bool made = schedule_make_in_gaps(d, &variant, &schedule, arena);
    EXPECT(made == (cycles != UINT64_MAX), "%s: %d, %" PRIu64, name, made, cycles);
    if (!made)
        return;
    EXPECT(cycles == schedule.cycles && cycles == cycles_of(d->problem, &schedule, arena), "%s: %" PRIu64 ", %" PRIu64, name,
           cycles, schedule.cycles);
    EXPECT(schedule.peak_bytes <= schedule.l2_bytes && schedule.live_bytes <= schedule.peak_bytes, "%s: %u", name,
           schedule.peak_bytes);
    expect_apart(&schedule, name);
    counts->in_gaps++;
    counts->with_loss += cycles > price->cycles;
}

/* Within its limit a price is exact, beyond it the limit is all that it says. */
static void test_limits(const struct decision *d, const struct price *price, const char *name)
{
    const uint64_t parts[] = {0, 500, 900, 990, 999};
    EXPECT(decision_price(d, price->cycles).cycles == price->cycles, "%s", name);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint64_t limit = price->cycles * parts[i] / 1000;
        struct price limited = decision_price(d, limit);
        EXPECT(limit < limited.cycles && limited.cycles <= price->cycles && limited.live_bytes == price->live_bytes,
               "%s: %" PRIu64 " of %" PRIu64 " cycles, limit %" PRIu64, name, limited.cycles, price->cycles, limit);
    }
}

static void test_decision(struct decision *d, const char *name, struct counts *counts)
{
    struct arena arena = {0};
    struct schedule schedule;
    if (decide(d)) {
        struct price price = decision_price(d, UINT64_MAX);
        bool fits = price.live_bytes <= price.l2_bytes;
        schedule_make(d, &schedule, &arena);
        EXPECT(schedule.cycles == cycles_of(d->problem, &schedule, &arena), "%s", name);
        EXPECT(price.l2_bytes == schedule.l2_bytes, "%s: %u", name, price.l2_bytes);
        EXPECT(price.parts == schedule.step_count + schedule.transfer_count, "%s: %d", name, price.parts);
        counts->decisions++;
        if (fits) {
            counts->fitting++;
            EXPECT(price.cycles == schedule.cycles && price.live_bytes <= schedule.live_bytes &&
                       schedule.live_bytes <= schedule.l2_bytes,
                   "%s: a price of %" PRIu64 ", %" PRIu64 " cycles", name, price.cycles, schedule.cycles);
            test_limits(d, &price, name);
            test_gaps(d, &price, name, counts, &arena);
        } else {
            EXPECT(price.cycles <= schedule.cycles && price.live_bytes == schedule.live_bytes, "%s: %u", name,
                   price.live_bytes);
        }
    }
    arena_free(&arena);
}

static void test_network(const char *name, const struct network *network, const struct target *target, int decisions,
                         struct counts *counts)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct plan_options options = {.l1_bytes = 20000 + 1000 * (uint32_t)random_below(30),
                                         .l2_bytes = 60000 + 1000 * (uint32_t)random_below(300)};
    struct problem problem = problem_for(network, target, &options, &arena);
    REQUIRE(problem_make(&problem, &arena, &diagnostics));
    struct decision decision = decision_make(&problem, &arena);
    for (int i = 0; i < decisions; i++)
        test_decision(&decision, name, counts);
    arena_free(&arena);
}

/* A first layer that is cut waits for a part of its weights; the next part comes while that is computed, and is awaited
 * behind it. */
static void test_first_weights(const struct target *target)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct network_builder b;
    builder_start(&b, &arena, 1);
    const struct network *network = builder_finish(&b, builder_convolution(&b, builder_input(&b, 1, 31, 64), 1, 1, 0, 256));
    const struct plan_options options = {.l1_bytes = 60000, .l2_bytes = 300000};
    struct problem problem = problem_for(network, target, &options, &arena);
    REQUIRE(problem_make(&problem, &arena, &diagnostics));
    struct decision d = decision_make(&problem, &arena);
    struct planned_layer *layer = layer_of(&d, 0);
    struct schedule whole, halves;
    const uint32_t channels[] = {256, 128};
    for (int i = 0; i < 2; i++) {
        d.choices[0] = (struct choice){cut_get(layer, layer->record.output_height, channels[i], false, 0), true};
        REQUIRE(cut_solve(d.choices[0].cut));
        schedule_make(&d, i ? &halves : &whole, &arena);
    }
    uint64_t weights = (uint64_t)64 * 256 * 1000 / target->l3_bytes_per_1000_cycles;
    EXPECT(halves.step_count == 2 && halves.steps[1].record.drain, "the second step awaits its weights");
    EXPECT(halves.cycles + weights / 4 < whole.cycles, "%" PRIu64 ", in halves %" PRIu64, whole.cycles, halves.cycles);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    int decisions = argc > 1 ? atoi(argv[1]) : DECISIONS;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    struct counts counts = {0};
    EXPECT(target_load(&target, "gap8", &arena, &diagnostics), "gap8 is built in");
    test_first_weights(&target);
    test_network("MobileNetV1-0.5-64", mobilenet_v1(&arena, 64, 50), &target, decisions / 4, &counts);
    for (int i = 0; counts.decisions < decisions && i < decisions; i++)
        test_network(arena_format(&arena, "network %d", i), seeded_network(&arena, (uint64_t)i + 1, 8), &target, 20,
                     &counts);
    printf("%d decisions, %d fit, %d with places, which cost %d of them cycles\n", counts.decisions, counts.fitting,
           counts.in_gaps, counts.with_loss);
    EXPECT(counts.decisions >= decisions && counts.in_gaps > decisions / 10 && counts.with_loss > 0, "too few");
    arena_free(&arena);
    return expect_result("price");
}
