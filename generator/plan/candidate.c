/* What the choice for the whole network picks from: for each layer, by the levels of its tensors, the ways to run it that no
 * other one beats in cycles, L2 bytes and L3 traffic together. */
#include <stdlib.h>
#include <string.h>

#include "dory/hal.h"
#include "plan/planner.h"

#define SMALL_PART_OF_L2                                                                                                    \
    64 /* smaller windows and blocks than this part of L2 gain nothing that more overheads do not take */

/* ---- L2 bytes, step by step ---- */

/* Bytes that live at each step of a layer, and at the first of the next one, beside whole tensors. */
struct occupancy {
    const struct dory_layer *record;
    const struct cut *cut;
    bool ahead;
    int64_t *change; /* at each step, against the one before; step_count + 2 */
};

static void occupy(struct occupancy *o, uint32_t bytes, uint32_t first, uint32_t last)
{
    o->change[first] += aligned(bytes);
    o->change[last + 1] -= aligned(bytes);
}

static bool same_window(const struct dory_window *a, const struct dory_window *b)
{
    return a->first_row == b->first_row && a->rows == b->rows && a->first_channel == b->first_channel &&
           a->channels == b->channels;
}

static bool same_block(const struct dory_step *a, const struct dory_step *b) { return a->first_channel == b->first_channel; }
static bool same_input(const struct dory_step *a, const struct dory_step *b)
{
    return same_window(&a->input[0], &b->input[0]);
}
static bool same_second_input(const struct dory_step *a, const struct dory_step *b)
{
    return same_window(&a->input[1], &b->input[1]);
}

typedef bool same_content(const struct dory_step *a, const struct dory_step *b);

/* The things that a step brings from L3: what is the same as for the step before is kept. */
struct brought {
    same_content *same;
    uint64_t (*commands)(const struct dory_layer *record, const struct dory_step *step); /* to L3 */
    uint32_t (*bytes)(const struct dory_layer *record, const struct cut *cut, const struct dory_step *step);
};

static uint32_t weights_bytes(const struct dory_layer *record, const struct cut *cut, const struct dory_step *step)
{
    (void)record;
    return dory_divide_up(step->channels, 4) * cut->quad_bytes;
}
static uint32_t input_bytes(const struct dory_layer *record, const struct cut *cut, const struct dory_step *step)
{
    (void)cut;
    return operand_window_bytes(record, 0, &step->input[0]);
}
static uint32_t second_input_bytes(const struct dory_layer *record, const struct cut *cut, const struct dory_step *step)
{
    (void)cut;
    return operand_window_bytes(record, 1, &step->input[1]);
}

/* Windows of whole rows are one run, others one a pixel; every run is a command. */
static uint64_t window_commands(const struct dory_layer *record, unsigned operand, const struct dory_window *window)
{
    uint64_t pixels = (uint64_t)window->rows * operand_width(record, operand);
    return window->channels == operand_channels(record, operand) ? 1 : pixels;
}
static uint64_t weights_commands(const struct dory_layer *record, const struct dory_step *step)
{
    (void)record, (void)step;
    return 1;
}
static uint64_t input_commands(const struct dory_layer *record, const struct dory_step *step)
{
    return window_commands(record, 0, &step->input[0]);
}
static uint64_t second_input_commands(const struct dory_layer *record, const struct dory_step *step)
{
    return window_commands(record, 1, &step->input[1]);
}

static uint64_t l3_cycles_of(const struct planner *planner, uint32_t bytes, uint64_t commands)
{
    struct dory_transfer data = {.runs = 1, .run_bytes = commands == 1 ? dory_round_up(bytes, HAL_L3_ALIGNMENT) : bytes};
    return l3_cycles(planner->target, &data) + (commands - 1) * planner->target->l3_setup_cycles;
}

static const struct brought brought_weights = {same_block, weights_commands, weights_bytes};
static const struct brought brought_input = {same_input, input_commands, input_bytes};
static const struct brought brought_second_input = {same_second_input, second_input_commands, second_input_bytes};

/* Adds what one thing takes of L2 and of the channel to L3; `reads`: cycles by the step that needs them. */
static void bring(const struct planner *planner, struct occupancy *o, const struct brought *what, uint64_t *reads,
                  struct candidate *candidate)
{
    const struct dory_step *steps = o->cut->steps;
    for (uint32_t i = 0; i < o->cut->step_count;) {
        uint32_t next = i + 1;
        while (next < o->cut->step_count && what->same(&steps[next - 1], &steps[next]))
            next++;
        uint32_t bytes = what->bytes(o->record, o->cut, &steps[i]);
        uint64_t commands = what->commands(o->record, &steps[i]);
        occupy(o, bytes, i - (i > 0 && o->ahead ? 1 : 0), next - 1);
        reads[i] += l3_cycles_of(planner, bytes, commands);
        candidate->read_commands += commands;
        i = next;
    }
}

static void count_bytes(struct candidate *candidate, const struct occupancy *o)
{
    uint32_t steps = o->cut->step_count;
    int64_t live = 0;
    for (uint32_t i = 0; i <= steps; i++) {
        live += o->change[i];
        if (i == 0)
            candidate->first_bytes = (uint32_t)live;
        if (i == steps - 1)
            candidate->last_bytes = (uint32_t)live;
        if (i == steps)
            candidate->carried_bytes = (uint32_t)live;
        else if (live > candidate->most_bytes)
            candidate->most_bytes = (uint32_t)live;
    }
}

/* ---- times ---- */

/* When a step issues its loads, at the earliest seen from the end: a step that works ahead is never queued late, so that it
 * does so as foreseen. */
static uint64_t rest_from(const struct candidate *candidate, uint32_t step)
{
    const struct cut *cut = candidate->choice.cut;
    bool foreseen = candidate->choice.ahead || step == 0;
    return cut->cost.cycles - (foreseen ? cut->times[step].fetch : cut->times[step].start);
}

/* From what is read at which step, when the layer can end if the channel starts on it when the layer does, and how far the
 * channel can get meanwhile. */
static void count_times(struct candidate *candidate, const uint64_t *reads)
{
    const struct cut *cut = candidate->choice.cut;
    int64_t before = 0;
    candidate->first_start_cycles = cut->times[0].start;
    candidate->lead_gain = -(int64_t)cut->times[0].start;
    candidate->cycles_from_reads = (int64_t)cut->cost.cycles;
    for (uint32_t i = 0; i < cut->step_count; i++) {
        int64_t rest = (int64_t)rest_from(candidate, i);
        int64_t lead = before - (i > 0 ? (int64_t)reads[i - 1] : 0) - (int64_t)cut->times[i].start;
        if (i > 0 && lead < candidate->lead_gain)
            candidate->lead_gain = lead;
        before += (int64_t)reads[i];
        if (reads[i] && before + rest > candidate->cycles_from_reads)
            candidate->cycles_from_reads = before + rest;
    }
    candidate->read_cycles = (uint64_t)before;
}

/* `reads`: of the first input alone. */
static void count_input(struct candidate *candidate, const uint64_t *reads)
{
    candidate->rest_cycles = candidate->cycles;
    candidate->first_input_cycles = reads[0];
    for (uint32_t i = 0; i < candidate->choice.cut->step_count; i++) {
        candidate->input_cycles += reads[i];
        if (reads[i])
            candidate->rest_cycles = rest_from(candidate, i);
    }
}

static void count_writes(const struct planner *planner, struct occupancy *o, struct candidate *candidate)
{
    const struct cut *cut = o->cut;
    for (uint32_t i = 0; i < cut->step_count; i++) {
        const struct dory_window *window = &cut->steps[i].output;
        uint32_t bytes = operand_window_bytes(o->record, 2, window);
        occupy(o, bytes, i, i + (o->ahead ? 1 : 0));
        candidate->last_write_cycles = l3_cycles_of(planner, bytes, window_commands(o->record, 2, window));
        candidate->write_cycles += candidate->last_write_cycles;
        if (i == 0)
            candidate->first_write_cycles = candidate->last_write_cycles;
    }
    if (cut->step_count > 1)
        candidate->write_start_cycles = cut->times[1].start;
}

static struct candidate make_candidate(const struct planner *planner, int layer, struct choice choice)
{
    const struct dory_layer *record = &layer_of(planner, layer)->record;
    const struct cut *cut = choice.cut;
    struct arena scratch = {0};
    struct candidate candidate = {.choice = choice};
    struct occupancy o = {record, cut, choice.ahead, arena_array(&scratch, int64_t, (size_t)cut->step_count + 2)};
    uint64_t *reads = arena_array(&scratch, uint64_t, cut->step_count);
    candidate.cycles = candidate.write_start_cycles = cut->cost.cycles;
    if (cut->ram & RAM_INPUT)
        bring(planner, &o, &brought_input, reads, &candidate);
    count_input(&candidate, reads);
    if (cut->ram & RAM_SECOND_INPUT)
        bring(planner, &o, &brought_second_input, reads, &candidate);
    if (layer_brings_weights(planner, layer))
        bring(planner, &o, &brought_weights, reads, &candidate);
    if (cut->ram & RAM_OUTPUT)
        count_writes(planner, &o, &candidate);
    count_bytes(&candidate, &o);
    count_times(&candidate, reads);
    arena_free(&scratch);
    return candidate;
}

/* ---- the front ---- */

static bool dominates(const struct candidate *a, const struct candidate *b)
{
    return a->cycles <= b->cycles && a->most_bytes <= b->most_bytes &&
           a->read_cycles + a->write_cycles <= b->read_cycles + b->write_cycles;
}

/* Of the candidates from `first` on those that no other one beats; all before stay. */
static int keep_front(struct candidate *candidates, int first, int count)
{
    int kept = first;
    for (int i = first; i < count; i++) {
        bool dominated = false;
        for (int j = 0; j < count && !dominated; j++) /* of equal ones the first */
            dominated =
                j != i && dominates(&candidates[j], &candidates[i]) && (j < i || !dominates(&candidates[i], &candidates[j]));
        candidates[i].dominated = dominated;
    }
    for (int i = first; i < count; i++)
        if (!candidates[i].dominated)
            candidates[kept++] = candidates[i];
    return kept;
}

static uint32_t least_bytes(const struct candidate *candidates, int count)
{
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < count; i++)
        least = dory_minimum(least, candidates[i].most_bytes);
    return least;
}

/* Of those that need next to nothing of L2, the fastest and the smallest are enough. */
static int drop_tiny(struct candidate *candidates, int count, uint32_t small_bytes)
{
    uint32_t least = least_bytes(candidates, count);
    uint64_t fastest = UINT64_MAX;
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (candidates[i].most_bytes <= small_bytes && candidates[i].cycles < fastest)
            fastest = candidates[i].cycles;
    for (int i = 0; i < count; i++)
        if (candidates[i].most_bytes > small_bytes || candidates[i].cycles == fastest || candidates[i].most_bytes == least)
            candidates[kept++] = candidates[i];
    return kept;
}

/* A cut before it is solved: to find its tile takes time, what it needs of L2 and L3 does not. */
struct sketch {
    struct cut *cut;
    uint32_t bytes;
    uint64_t l3_cycles;
};

static int by_l3_cycles(const void *a, const void *b)
{
    const struct sketch *x = a, *y = b;
    if (x->l3_cycles != y->l3_cycles)
        return x->l3_cycles < y->l3_cycles ? -1 : 1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static int sketch_cuts(struct planner *planner, int layer, uint8_t ram, struct sketch *sketches)
{
    struct cut **list;
    int count = cut_list(planner, layer, ram, &list), fitting = 0;
    for (int i = 0; i < count; i++) {
        struct sketch sketch = {list[i], cut_l2_bytes(planner, layer, list[i], true),
                                cut_l3_cycles(planner, layer, list[i])};
        if (cut_l2_bytes(planner, layer, list[i], false) <= planner->l2_bytes)
            sketches[fitting++] = sketch;
    }
    qsort(sketches, (size_t)fitting, sizeof *sketches, by_l3_cycles);
    return fitting;
}

/* True where the transfers alone take longer than another candidate does, in no fewer bytes; or where another one needs next
 * to nothing of L2 already. */
static bool is_hopeless(const struct planner *planner, const struct sketch *sketch, const struct candidate *candidates,
                        int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t traffic = candidates[i].read_cycles + candidates[i].write_cycles;
        uint64_t cycles = candidates[i].cycles > traffic ? candidates[i].cycles : traffic;
        if (candidates[i].most_bytes <= sketch->bytes && cycles <= sketch->l3_cycles)
            return true;
        if (candidates[i].most_bytes <= planner->l2_bytes / SMALL_PART_OF_L2 && sketch->bytes <= candidates[i].most_bytes)
            return true;
    }
    return false;
}

/* What is collected of a layer's candidates. */
struct collection {
    struct sketch sketches[MAXIMUM_CUTS];
    int cuts;
    struct candidate candidates[2 * MAXIMUM_CUTS];
    int count;
};

/* The cuts that have a tile, working ahead. The smallest cut is always among them. */
static void collect_ahead(struct planner *planner, int layer, uint8_t ram, struct collection *c)
{
    int smallest = 0;
    c->cuts = sketch_cuts(planner, layer, ram, c->sketches);
    for (int i = 1; i < c->cuts; i++)
        smallest = c->sketches[i].bytes < c->sketches[smallest].bytes ? i : smallest;
    for (int i = 0; i < c->cuts; i++)
        if ((i == smallest || !is_hopeless(planner, &c->sketches[i], c->candidates, c->count)) &&
            cut_solve(planner, layer, c->sketches[i].cut))
            c->candidates[c->count++] = make_candidate(planner, layer, (struct choice){c->sketches[i].cut, true});
}

/* The same ones without working ahead, which saves nothing but L2: those smaller than `least`, or all others. */
static void collect_behind(struct planner *planner, int layer, struct collection *c, uint32_t least, bool smaller)
{
    for (int i = 0; i < c->cuts; i++) {
        if (!c->sketches[i].cut->legal || c->sketches[i].cut->step_count == 1)
            continue;
        c->candidates[c->count] = make_candidate(planner, layer, (struct choice){c->sketches[i].cut, false});
        c->count += (c->candidates[c->count].most_bytes < least) == smaller;
    }
}

/* Those that work ahead, and without that the ones that are smaller than all of these: their front comes first. */
static void make_front(struct planner *planner, int layer, uint8_t ram, struct planned_layer *of)
{
    struct arena scratch = {0};
    struct collection *c = arena_array(&scratch, struct collection, 1);
    uint32_t small = planner->l2_bytes / SMALL_PART_OF_L2;
    collect_ahead(planner, layer, ram, c);
    uint32_t least = least_bytes(c->candidates, c->count);
    collect_behind(planner, layer, c, least, true);
    c->count = drop_tiny(c->candidates, keep_front(c->candidates, 0, c->count), small);
    int first = c->count;
    collect_behind(planner, layer, c, least, false);
    c->count = keep_front(c->candidates, first, c->count);
    of->fronts[ram] = arena_array(planner->arena, struct candidate, (size_t)c->count + 1);
    memcpy(of->fronts[ram], c->candidates, (size_t)c->count * sizeof *c->candidates);
    of->front_counts[ram] = c->count;
    of->first_counts[ram] = first;
    arena_free(&scratch);
}

int candidate_front(struct planner *planner, int layer, uint8_t ram, const struct candidate **front)
{
    struct planned_layer *of = layer_of(planner, layer);
    if (!of->fronts[ram])
        make_front(planner, layer, ram, of);
    *front = of->fronts[ram];
    return of->front_counts[ram];
}

int candidate_first(struct planner *planner, int layer, uint8_t ram, const struct candidate **front)
{
    candidate_front(planner, layer, ram, front);
    return layer_of(planner, layer)->first_counts[ram];
}
