/* Layers that take turns, on random networks: the steps of a block compute every row of each of its layers once, and a ring
 * holds what its readers want. Rings are played row by row: a step finds in each place of its input's ring the row that it
 * reads there, none that came later has gone over it, and what it writes does not go round.
 *
 *     block [networks] */
#include <inttypes.h>

#include "expect.h"
#include "networks.h"
#include "planning.h"

#define NETWORKS     150
#define MAXIMUM_ROWS 4 /* of the last layer, at a turn */
#define ENOUGH_BYTES (1u << 30)
#define NO_ROW       UINT32_MAX

struct counts {
    int blocks, go_round, of_many;
};

struct played {
    const struct network *network;
    const struct cut *cut;
    uint32_t *rings[MAXIMUM_IN_BLOCK]; /* by layer: the rows that are in its places */
    uint32_t rows_done[MAXIMUM_IN_BLOCK];
    const char *what;
};

static uint32_t place_in_ring(const struct dory_window *window, uint32_t row)
{
    uint32_t behind = row - window->first_row;
    return behind < window->rows ? behind : behind - window->rows;
}

/* The member that writes a tensor; -1: none does, or the last one, which has no ring. */
static int writer_of(const struct played *p, int tensor)
{
    for (int i = 0; i < p->cut->block->layers - 1; i++)
        if (p->network->layers[p->cut->block->first + i].output == tensor)
            return i;
    return -1;
}

static void read_ring(const struct played *p, int member, const struct dory_step *step, int input)
{
    int layer = p->cut->block->first + member, writer = writer_of(p, p->network->layers[layer].inputs[input]);
    if (writer < 0)
        return;
    const struct dory_layer *record = &p->cut->block->members[member]->of->record;
    const struct dory_window *window = &step->input[input];
    int64_t row = dory_first_input_row(record, step->first_row), end = row + dory_input_rows(record, step->rows);
    EXPECT(window->rows == p->cut->block->ring_rows[writer], "%s: a ring of %u rows", p->what, window->rows);
    for (row = row < 0 ? 0 : row; row < end && row < record->input_height; row++) {
        uint32_t place = place_in_ring(window, (uint32_t)row);
        EXPECT(place < window->rows && p->rings[writer][place] == (uint32_t)row,
               "%s: layer %d reads row %d where another one is", p->what, member, (int)row);
    }
}

static void write_ring(struct played *p, int member, const struct dory_step *step)
{
    const struct dory_window *window = &step->output;
    EXPECT(step->first_row == p->rows_done[member] && step->rows > 0, "%s: layer %d goes on with row %u, not %u", p->what,
           member, step->first_row, p->rows_done[member]);
    p->rows_done[member] += step->rows;
    if (member == p->cut->block->layers - 1)
        return;
    uint32_t place = place_in_ring(window, step->first_row);
    EXPECT(window->rows == p->cut->block->ring_rows[member] && place + step->rows <= window->rows,
           "%s: layer %d writes %u rows from place %u of %u on", p->what, member, step->rows, place, window->rows);
    for (uint32_t i = 0; i < step->rows && place + i < window->rows; i++)
        p->rings[member][place + i] = step->first_row + i;
}

/* A reader that comes later in the turn wants what is there when it comes: so steps are played in their order. */
static void play(struct played *p)
{
    const struct block *block = p->cut->block;
    for (uint32_t i = 0; i < p->cut->step_count; i++) {
        int member = block->order[i].member;
        const struct dory_step *step = &p->cut->steps[i];
        bool turns = i == 0 || block->order[i - 1].member != member;
        EXPECT(!turns || step->drain, "%s: step %u starts a turn, and does not drain", p->what, i);
        for (int input = 0; input < layer_input_count(&p->network->layers[block->first + member]); input++)
            read_ring(p, member, step, input);
        write_ring(p, member, step);
    }
}

static bool goes_round(const struct cut *cut)
{
    for (uint32_t i = 0; i < cut->step_count; i++)
        if (cut->block->order[i].member < cut->block->layers - 1 &&
            place_in_ring(&cut->steps[i].output, cut->steps[i].first_row) > 0)
            return true;
    return false;
}

static void test_block(const struct decision *decision, int first, int last, uint32_t rows, const char *what,
                       struct counts *counts)
{
    const struct cut *cut = block_get(decision, first, last, (struct stripe){rows, false}, ENOUGH_BYTES);
    struct played played = {.network = decision->problem->network, .cut = cut, .what = what};
    if (!cut)
        return;
    EXPECT(cut->block->first == first && cut->block->layers == last - first + 1, "%s: %d layers", what, cut->block->layers);
    EXPECT(block_get(decision, first, last, (struct stripe){rows, false}, ENOUGH_BYTES) == cut, "%s is made anew", what);
    for (int i = 0; i < cut->block->layers; i++) {
        uint32_t places = cut->block->ring_rows[i];
        played.rings[i] = arena_array(decision->problem->arena, uint32_t, (size_t)places + 1);
        for (uint32_t place = 0; place < places; place++)
            played.rings[i][place] = NO_ROW;
    }
    play(&played);
    for (int i = 0; i < cut->block->layers; i++) {
        uint32_t height = layer_of(decision, first + i)->record.output_height;
        EXPECT(played.rows_done[i] == height, "%s: %u of %u rows of layer %d", what, played.rows_done[i], height, i);
    }
    counts->blocks++;
    counts->go_round += goes_round(cut);
    counts->of_many += cut->block->layers > 2;
}

static void test_network(uint64_t seed, const struct target *target, void *context)
{
    struct counts *counts = context;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct network *network = seeded_network(&arena, seed, 5);
    const struct plan_options options = {.l1_bytes = target->l1_stack_bytes + 6000 + (uint32_t)(seed * 977 % 6000)};
    struct problem problem = problem_for(network, target, &options, &arena);
    REQUIRE(problem_make(&problem, &arena, &diagnostics));
    const struct decision decision = decision_make(&problem, &arena);
    uint32_t rows = 1 + (uint32_t)(seed % MAXIMUM_ROWS);
    for (int first = 0; first < network->layer_count; first++)
        for (int last = first + 1; last < network->layer_count; last++)
            if (block_is_possible(&problem, first, last, false))
                test_block(&decision, first, last, rows,
                           arena_format(&arena, "seed %" PRIu64 ", layers %d to %d, %u rows", seed, first, last, rows),
                           counts);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    uint64_t networks = test_seeds(argc, argv, NETWORKS, test_network, &counts);
    printf("%d blocks, %d with a ring that goes round, %d of more than two layers\n", counts.blocks, counts.go_round,
           counts.of_many);
    EXPECT(counts.blocks * 2 > (int)networks && counts.go_round * 5 > counts.blocks && counts.of_many * 5 > counts.blocks,
           "too few");
    return expect_result("block");
}
