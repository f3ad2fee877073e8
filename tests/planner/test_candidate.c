/* The candidates of a layer, on random layers and for every set of operands in RAM: each is one of the layer's cuts, with
 * the figures of its profile; none beats another of its part of the front, which has those that work ahead, and smaller
 * ones, in front; and no cut that is not among them beats them, but for what needs next to nothing of L2 anyway.
 *
 *     candidate [networks] */
#include <inttypes.h>

#include "expect.h"
#include "networks.h"
#include "planning.h"

#define NETWORKS         120
#define SETS_OF_RAM      8
#define SMALL_PART_OF_L2 64 /* less gains nothing that more overheads do not take, see candidate.c */

struct counts {
    int fronts, candidates, firsts, cuts, tiny, slow;
};

struct front {
    struct planned_layer *of;
    uint8_t ram;
    const struct candidate *candidates;
    int count, first_count;
    const char *what;
};

/* What candidates are compared by. */
struct figures {
    uint64_t cycles, traffic;
    uint32_t bytes;
};

static struct figures figures_of(const struct candidate *candidate)
{
    return (struct figures){candidate->cycles, candidate->read_cycles + candidate->write_cycles, candidate->most_bytes};
}

static bool beats(const struct figures *a, const struct figures *b)
{
    return a->cycles <= b->cycles && a->traffic <= b->traffic && a->bytes <= b->bytes;
}

/* Of any choice, from its profile and not by way of candidate.c. */
static struct figures figures_by_profile(const struct choice *choice)
{
    struct arena scratch = {0};
    const struct profile *profile = profile_make(choice, &scratch);
    struct figures figures = {.cycles = choice->cut->cost.cycles, .traffic = profile->channel_cycles};
    for (uint32_t i = 0; i < choice->cut->step_count; i++)
        figures.bytes = profile->live[i] > figures.bytes ? profile->live[i] : figures.bytes;
    arena_free(&scratch);
    return figures;
}

/* ---- each of them ---- */

static bool is_one_of_the_cuts(const struct front *f, const struct cut *cut)
{
    struct cut **list;
    int count = cut_list(f->of, f->ram, &list);
    for (int i = 0; i < count; i++)
        if (list[i] == cut)
            return true;
    return false;
}

static void expect_bytes_of_steps(const struct front *f, const struct candidate *c)
{
    struct arena scratch = {0};
    const struct profile *profile = profile_make(&c->choice, &scratch);
    uint32_t steps = c->choice.cut->step_count, last_write = 0;
    uint64_t first_write_cycles = 0, last_write_cycles = 0;
    EXPECT(c->first_bytes == profile->live[0] && c->last_bytes == profile->live[steps - 1] &&
               c->carried_bytes == profile->live[steps],
           "%s: bytes of the first step, the last one and behind it", f->what);
    for (int i = 0; i < profile->write_count; i++) {
        last_write = (uint32_t)profile->writes[i].step;
        first_write_cycles += last_write == 0 ? profile->writes[i].cycles : 0;
        last_write_cycles += last_write + 1 == steps ? profile->writes[i].cycles : 0;
    }
    EXPECT(c->first_write_cycles == first_write_cycles && c->last_write_cycles == last_write_cycles,
           "%s: cycles of writes at the first step and the last one", f->what);
    EXPECT(c->first_start_cycles == c->choice.cut->times[0].start && c->write_start_cycles <= c->cycles &&
               c->rest_cycles <= c->cycles && c->cycles_from_reads >= (int64_t)c->cycles,
           "%s: times", f->what);
    arena_free(&scratch);
}

static void expect_candidate(const struct front *f, const struct candidate *c)
{
    const struct cut *cut = c->choice.cut;
    struct figures said = figures_of(c), found = figures_by_profile(&c->choice);
    EXPECT(is_one_of_the_cuts(f, cut) && cut->legal, "%s: %ux%u is none of the layer's cuts, or has no tile", f->what,
           cut->rows, cut->channels);
    EXPECT(said.cycles == found.cycles && said.traffic == found.traffic && said.bytes == found.bytes,
           "%s: %ux%u takes %" PRIu64 " cycles and %u bytes, not %" PRIu64 " and %u", f->what, cut->rows, cut->channels,
           found.cycles, found.bytes, said.cycles, said.bytes);
    EXPECT(cut_l2_bytes(cut, false) <= f->of->problem->l2_bytes, "%s: more than L2 has", f->what);
    EXPECT(!c->dominated, "%s: %ux%u is marked as beaten", f->what, cut->rows, cut->channels);
    expect_bytes_of_steps(f, c);
}

/* ---- all together ---- */

/* In each part of the front: those that work ahead with smaller ones, and the others that do not. */
static void expect_no_one_beaten(const struct front *f, int from, int to)
{
    for (int i = from; i < to; i++)
        for (int j = from; j < to; j++) {
            struct figures a = figures_of(&f->candidates[i]), b = figures_of(&f->candidates[j]);
            EXPECT(i == j || !beats(&a, &b), "%s: candidate %d beats %d", f->what, i, j);
        }
}

/* Of cuts that have been looked at, what the smallest one needs that works ahead. Before others are solved. */
static uint32_t least_bytes_ahead(const struct front *f)
{
    struct cut **list;
    int count = cut_list(f->of, f->ram, &list);
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < count; i++) {
        const struct choice choice = {list[i], true};
        if (list[i]->legal && figures_by_profile(&choice).bytes < least)
            least = figures_by_profile(&choice).bytes;
    }
    return least;
}

/* The first ones work ahead, or need less of L2 than all that do. */
static void expect_parts(const struct front *f)
{
    uint32_t least_ahead = least_bytes_ahead(f);
    for (int i = 0; i < f->count; i++) {
        const struct candidate *c = &f->candidates[i];
        bool is_first = c->choice.ahead || c->most_bytes < least_ahead;
        EXPECT(is_first == (i < f->first_count), "%s: candidate %d, of %u bytes, is in the wrong part", f->what, i,
               c->most_bytes);
        EXPECT(c->choice.ahead || c->choice.cut->step_count > 1, "%s: nothing is ahead of one step", f->what);
    }
}

/* ---- all others ---- */

/* With next to nothing of L2, to be as fast, or smaller, is enough, whatever the traffic. */
static bool is_as_good_for_little(const struct front *f, const struct figures *c, const struct figures *other,
                                  uint32_t seems)
{
    uint32_t small = f->of->problem->l2_bytes / SMALL_PART_OF_L2;
    bool as_fast = c->cycles <= other->cycles && (other->bytes <= small || c->bytes <= other->bytes);
    return c->bytes <= small && (as_fast || seems <= c->bytes);
}

/* Why a choice that is not among the candidates need not be: one of them beats it; or is as good, with next to nothing of
 * L2; or takes less time for everything than its transfers alone, in no more bytes. */
static bool is_covered(const struct front *f, const struct choice *choice, struct counts *counts)
{
    struct figures figures = figures_by_profile(choice);
    uint32_t seems = cut_l2_bytes(choice->cut, true);
    uint64_t l3_cycles = cut_l3_cycles(choice->cut);
    bool beaten = false, tiny = false, slow = false;
    for (int i = 0; i < f->count; i++) {
        struct figures c = figures_of(&f->candidates[i]);
        beaten = beaten || beats(&c, &figures);
        tiny = tiny || is_as_good_for_little(f, &c, &figures, seems);
        slow = slow || (choice->ahead && c.bytes <= seems && c.cycles <= l3_cycles && c.traffic <= l3_cycles);
    }
    counts->tiny += !beaten && tiny;
    counts->slow += !beaten && !tiny && slow;
    return beaten || tiny || slow;
}

static void expect_covered(const struct front *f, struct choice choice, struct counts *counts)
{
    counts->cuts++;
    EXPECT(is_covered(f, &choice, counts), "%s: %ux%u%s is no candidate, but none beats it", f->what, choice.cut->rows,
           choice.cut->channels, choice.ahead ? ", ahead," : "");
}

/* Without working ahead, such cuts are looked at as were looked at ahead; ahead, all. */
static void expect_all_covered(const struct front *f, struct counts *counts)
{
    struct cut **list;
    int count = cut_list(f->of, f->ram, &list);
    for (int i = 0; i < count; i++)
        if (list[i]->legal && list[i]->step_count > 1)
            expect_covered(f, (struct choice){list[i], false}, counts);
    for (int i = 0; i < count; i++)
        if (cut_l2_bytes(list[i], false) <= f->of->problem->l2_bytes && cut_solve(list[i]))
            expect_covered(f, (struct choice){list[i], true}, counts);
}

/* ---- layers ---- */

static void test_front(struct planned_layer *of, uint8_t ram, uint64_t seed, struct counts *counts)
{
    struct front f = {.of = of, .ram = ram};
    const struct candidate *first;
    if (of->fronts[ram])
        return; /* of an equal layer before */
    f.what = arena_format(of->problem->arena, "seed %" PRIu64 ", layer %d, RAM %u", seed, of->layer, ram);
    f.count = candidate_front(of, ram, &f.candidates);
    f.first_count = candidate_first(of, ram, &first);
    EXPECT(first == f.candidates && f.first_count <= f.count && (f.first_count > 0 || f.count == 0), "%s: %d of %d", f.what,
           f.first_count, f.count);
    for (int i = 0; i < f.count; i++)
        expect_candidate(&f, &f.candidates[i]);
    expect_no_one_beaten(&f, 0, f.first_count);
    expect_no_one_beaten(&f, f.first_count, f.count);
    expect_parts(&f);
    counts->fronts += f.count > 0;
    counts->candidates += f.count;
    counts->firsts += f.first_count;
    expect_all_covered(&f, counts);
}

static void test_network(uint64_t seed, const struct target *target, void *context)
{
    struct counts *counts = context;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct network *network = seeded_network(&arena, seed, 3);
    const struct plan_options options = {.l1_bytes = target->l1_stack_bytes + 6000 + (uint32_t)(seed * 977 % 6000),
                                         .l2_bytes = 2000 + (uint32_t)(seed * 7919 % 30000)};
    struct problem problem = problem_for(network, target, &options, &arena);
    bool started = problem_make(&problem, &arena, &diagnostics);
    EXPECT(started, "seed %" PRIu64, seed);
    for (int l = 0; started && l < network->layer_count; l++)
        for (uint8_t ram = 0; ram < SETS_OF_RAM; ram++)
            if (has_operands(network, l, ram))
                test_front(layer_variant(&problem, l, DORY_HWC, DORY_HWC), ram, seed, counts);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    test_seeds(argc, argv, NETWORKS, test_network, &counts);
    printf("%d fronts of %d candidates, %d of them in front; %d cuts, %d of them next to nothing, %d slow\n", counts.fronts,
           counts.candidates, counts.firsts, counts.cuts, counts.tiny, counts.slow);
    EXPECT(counts.candidates > 3 * counts.fronts && counts.firsts < counts.candidates && counts.cuts > counts.candidates,
           "fronts are too small");
    return expect_result("candidate");
}
