/* Cuts of several layers behind each other, which take turns: a stripe of the first, then what the second can compute of
 * it, and so on to the last, then the next stripe of the first. Of a tensor between them L2 has a ring of rows: what one
 * turn writes, and what it has in common with what the turns behind it read (the overlap of a window). So a chain of
 * expand, depth-wise and project needs a few rows of its wide tensors, nothing is computed twice, and nothing of them goes
 * to RAM.
 *
 * A matrix product's rows are heads, of whose map of scores little is needed at a time, either: by pixels, each query is a
 * row, and needs of the first input itself and of the second all of its head. So stripes end where heads do.
 *
 * Each turn of a layer is one step, or two where its results go round the ring's end, and drains: what is in L1 belongs to
 * another layer, and its weights come to L1 anew. */
#include "choose/block.h"

#include <string.h>

#include "plan/operand.h"

struct known_block {
    int last;
    uint64_t key;
    struct cut cut;
    struct known_block *next; /* with the same first layer */
};

struct maker {
    const struct decision *decision;
    const struct problem *problem;
    int first, layers;
    bool by_pixels;
    uint32_t height; /* that stripes divide, and again behind that many rows */
    uint32_t turns;
    struct cut *const *members;
    uint32_t *ends; /* by layer and turn: rows that are computed up to then */
    uint32_t *ring_rows;
    bool *overlaps; /* by layer: what turns read of its output overlaps, so that the ring goes round; else each turn starts
                       it */
};

static uint32_t *end_at(const struct maker *m, int member, uint32_t turn)
{
    return &m->ends[(uint32_t)member * m->turns + turn];
}

static uint32_t start_at(const struct maker *m, int member, uint32_t turn)
{
    return turn ? *end_at(m, member, turn - 1) : 0;
}

/* ---- what is possible ---- */

static const struct dory_layer *record_of(const struct problem *p, int layer, bool by_pixels)
{
    return by_pixels ? &layer_by_pixels(p, layer)->record : &p->layers[layer].record;
}

/* Of a layer in the maker's block. */
static const struct dory_layer *member_record(const struct maker *m, int member)
{
    return record_of(m->problem, m->first + member, m->by_pixels);
}

/* Rows of a tensor are the rows that its reader sees: it is not flattened between them, and it has some. */
static bool keeps_rows(const struct problem *p, int writer, int reader, int tensor, bool by_pixels)
{
    const struct dory_layer *from = record_of(p, writer, by_pixels), *to = record_of(p, reader, by_pixels);
    const int *inputs = p->network->layers[reader].inputs;
    unsigned operand = inputs[0] == tensor ? 0 : 1;
    bool is_shared = inputs[1] == tensor && to->operation == DORY_MATRIX_PRODUCT && by_pixels;
    return !is_shared && !operand_is_pixel(to, operand) && from->output_height == to->input_height &&
           from->output_width == operand_width(to, operand) && from->output_channels == operand_channels(to, operand);
}

static bool is_read_within(const struct problem *p, int writer, int last, bool by_pixels)
{
    int tensor = p->network->layers[writer].output, readers = 0;
    for (int l = writer + 1; l <= last; l++)
        if (layer_reads(&p->network->layers[l], tensor)) {
            readers++;
            if (!keeps_rows(p, writer, l, tensor, by_pixels))
                return false;
        }
    return readers > 0 && p->lives[tensor].last <= last && !p->lives[tensor].is_viewed &&
           !tensor_is_port(p->network, tensor);
}

uint32_t block_height(const struct problem *p, int first, int last, bool by_pixels)
{
    for (int l = first; l <= last && by_pixels; l++)
        if (layer_by_pixels(p, l)->record.operation == DORY_MATRIX_PRODUCT)
            return layer_by_pixels(p, l)->record.matrix_product.sharing_rows;
    return record_of(p, last, by_pixels)->output_height;
}

/* Each pixel of theirs can be a row, and where rows share others, they are as many everywhere. */
static bool have_pixels(const struct problem *p, int first, int last)
{
    bool has_product = false;
    for (int l = first; l <= last; l++) {
        const struct planned_layer *layer = layer_by_pixels(p, l);
        bool is_product = layer && layer->record.operation == DORY_MATRIX_PRODUCT;
        if (!layer || (is_product && layer->record.matrix_product.sharing_rows != block_height(p, first, l, true)))
            return false;
        has_product = has_product || is_product;
    }
    return has_product || p->layers[last].record.output_height == 1;
}

bool block_is_possible(const struct problem *p, int first, int last, bool by_pixels)
{
    if (first >= last || (by_pixels && !have_pixels(p, first, last)))
        return false;
    for (int l = first; l < last; l++)
        if (!is_read_within(p, l, last, by_pixels))
            return false;
    return block_height(p, first, last, by_pixels) > 1;
}

/* ---- rows ---- */

/* Rows of an input that output rows before `end` read. */
static uint32_t rows_needed(const struct dory_layer *record, uint32_t end)
{
    struct dory_window window;
    if (end == 0)
        return 0;
    cut_input_rows(record, end - 1, 1, 1, &window);
    return (uint32_t)window.first_row + window.rows;
}

static uint32_t first_row_read(const struct dory_layer *record, uint32_t row)
{
    struct dory_window window;
    cut_input_rows(record, dory_minimum(row, record->output_height - 1u), 1, 1, &window);
    return window.first_row;
}

/* As many rows as the turns of its readers need; with the last of these all rows, for layers are completed in order. */
static uint32_t rows_for_readers(const struct maker *m, int member, uint32_t turn)
{
    const struct problem *p = m->problem;
    int layer = m->first + member, tensor = p->network->layers[layer].output;
    uint32_t end = start_at(m, member, turn);
    bool complete = true;
    for (int r = member + 1; r < m->layers; r++)
        if (layer_reads(&p->network->layers[m->first + r], tensor)) {
            const struct dory_layer *reader = member_record(m, r);
            uint32_t read = *end_at(m, r, turn), needed = rows_needed(reader, read);
            end = needed > end ? needed : end;
            complete = complete && read == reader->output_height;
        }
    return complete ? member_record(m, member)->output_height : end;
}

/* The rows of the last layer that a turn ends with. */
static uint32_t end_of_stripe(const struct maker *m, uint32_t turn, uint32_t rows)
{
    uint32_t stripes = dory_divide_up(m->height, rows);
    return turn / stripes * m->height + dory_minimum((turn % stripes + 1) * rows, m->height);
}

/* From the last layer to the first. */
static void find_rows(const struct maker *m, uint32_t rows)
{
    for (int i = m->layers - 1; i >= 0; i--)
        for (uint32_t turn = 0; turn < m->turns; turn++)
            *end_at(m, i, turn) = i == m->layers - 1 ? end_of_stripe(m, turn, rows) : rows_for_readers(m, i, turn);
}

/* At most at one turn: up to the last row that is written then, from the first one that is still to be read, or written. */
static uint32_t find_ring(const struct maker *m, int member)
{
    const struct problem *p = m->problem;
    uint32_t most = 1;
    int tensor = p->network->layers[m->first + member].output;
    for (uint32_t turn = 0; turn < m->turns; turn++)
        for (int r = member + 1; r < m->layers; r++) {
            if (!layer_reads(&p->network->layers[m->first + r], tensor))
                continue;
            uint32_t first = first_row_read(member_record(m, r), start_at(m, r, turn));
            uint32_t start = start_at(m, member, turn), end = *end_at(m, member, turn);
            m->overlaps[member] = m->overlaps[member] || first < start;
            first = dory_minimum(first, start);
            most = end > first && end - first > most ? end - first : most;
        }
    return dory_minimum(most, member_record(m, member)->output_height);
}

/* ---- steps ---- */

/* Of a row that a layer writes, where its ring goes round. */
static uint32_t place_in_ring(const struct maker *m, int writer, uint32_t row)
{
    return m->ring_rows[writer] ? row % m->ring_rows[writer] : 0;
}

/* Of the ring that a layer writes, at a turn of which `row` is the first one that matters. */
static void set_ring(const struct maker *m, struct dory_window *window, int writer, uint32_t turn, uint32_t row)
{
    uint32_t first = m->overlaps[writer] ? row - place_in_ring(m, writer, row) : start_at(m, writer, turn);
    window->first_row = (uint16_t)first;
    window->rows = (uint16_t)m->ring_rows[writer];
}

/* The layer within the block that writes an input; -1: none does. */
static int writer_within(const struct problem *p, int first, int layer, int input)
{
    int producer = p->network->tensors[p->network->layers[layer].inputs[input]].producer;
    return producer != NO_LAYER && producer >= first && producer < layer ? producer - first : -1;
}

static struct dory_step make_step(const struct maker *m, int member, uint32_t turn, uint32_t row, uint32_t rows)
{
    const struct problem *p = m->problem;
    int layer = m->first + member;
    const struct dory_layer *record = &m->members[member]->of->record;
    struct dory_step step = cut_make_step(record, m->members[member], row, rows, 0);
    for (int i = 0; i < layer_input_count(&p->network->layers[layer]); i++) {
        int writer = writer_within(p, m->first, layer, i);
        if (writer >= 0)
            set_ring(m, &step.input[i], writer, turn, first_row_read(record, row));
    }
    if (member < m->layers - 1)
        set_ring(m, &step.output, member, turn, row);
    step.drain = step.drain || row == start_at(m, member, turn);
    return step;
}

/* Rows of a turn that a step computes, from `row` on: what it writes does not go round. */
static uint32_t rows_of_step(const struct maker *m, int member, uint32_t turn, uint32_t row)
{
    uint32_t rows = *end_at(m, member, turn) - row;
    return m->overlaps[member] ? dory_minimum(rows, m->ring_rows[member] - place_in_ring(m, member, row)) : rows;
}

/* One a turn, mostly. */
static void make_steps(struct maker *m, int member)
{
    struct cut *cut = m->members[member];
    size_t most = (size_t)member_record(m, member)->output_height;
    cut->steps = arena_array(m->problem->arena, struct dory_step, most);
    for (uint32_t turn = 0; turn < m->turns; turn++)
        for (uint32_t row = start_at(m, member, turn), rows; row < *end_at(m, member, turn); row += rows) {
            rows = rows_of_step(m, member, turn, row);
            cut->steps[cut->step_count++] = make_step(m, member, turn, row, rows);
        }
    cut->steps[cut->step_count - 1].last_of_layer = 1;
}

/* ---- tiles ---- */

static bool has_same_steps(const struct cut *a, const struct cut *b)
{
    return a->ram == b->ram && a->step_count == b->step_count &&
           memcmp(a->steps, b->steps, a->step_count * sizeof *a->steps) == 0;
}

/* Blocks of the same layers with other ones have much in common. */
static bool solve(struct cut **cut)
{
    struct planned_layer *of = (*cut)->of;
    for (struct cut *other = of->members; other; other = other->next)
        if (has_same_steps(other, *cut)) {
            *cut = other;
            return other->legal;
        }
    (*cut)->next = of->members;
    of->members = *cut;
    return cut_find_tile(*cut);
}

/* ---- the block ---- */

static uint32_t count_steps(const struct maker *m)
{
    uint32_t sum = 0;
    for (int i = 0; i < m->layers; i++)
        sum += m->members[i]->step_count;
    return sum;
}

/* Turn by turn, and at each turn layer by layer. */
static void put_in_order(const struct maker *m, struct cut *cut, struct block *block)
{
    struct arena *arena = m->problem->arena;
    size_t layers = (size_t)m->layers;
    struct block_step *order = arena_array(arena, struct block_step, count_steps(m));
    int *first = arena_array(arena, int, layers), *last = arena_array(arena, int, layers);
    int *parts = arena_array(arena, int, layers);
    for (uint32_t turn = 0; turn < m->turns; turn++)
        for (int i = 0; i < m->layers; i++)
            while (parts[i] < (int)m->members[i]->step_count &&
                   m->members[i]->steps[parts[i]].first_row < *end_at(m, i, turn)) {
                last[i] = (int)cut->step_count;
                first[i] = parts[i] ? first[i] : last[i];
                order[cut->step_count++] = (struct block_step){i, parts[i]++};
            }
    block->order = order;
    block->first_steps = first;
    block->last_steps = last;
}

static void write_steps(const struct maker *m, struct cut *cut)
{
    cut->steps = arena_array(m->problem->arena, struct dory_step, cut->step_count);
    for (uint32_t i = 0; i < cut->step_count; i++)
        cut->steps[i] = m->members[cut->block->order[i].member]->steps[cut->block->order[i].part];
}

/* ---- times ---- */

/* The steps of a turn of one layer: those behind each other. */
static uint32_t turn_steps(const struct cut *cut, uint32_t first)
{
    const struct block_step *order = cut->block->order;
    uint32_t end = first + 1;
    while (end < cut->step_count && order[end].member == order[first].member)
        end++;
    return end - first;
}

/* Turns, one behind the other. */
void block_play(const struct cut *cut, const struct dory_step *steps, struct cut_times *times)
{
    struct arena *arena = cut->of->problem->arena;
    struct tile_cost *members = arena_array(arena, struct tile_cost, (size_t)cut->block->layers);
    struct step_times *own = arena_array(arena, struct step_times, cut->step_count);
    times->cost = (struct tile_cost){0};
    for (uint32_t i = 0, count; i < cut->step_count; i += count) {
        int member = cut->block->order[i].member;
        struct tile_cost cost;
        count = turn_steps(cut, i);
        cut_play(cut->block->members[member], &steps[i], count, &cost, &own[i]);
        for (uint32_t j = i; j < i + count; j++) {
            own[j].fetch += times->cost.cycles;
            own[j].start += times->cost.cycles;
        }
        tile_cost_add(&members[member], &cost);
        tile_cost_add(&times->cost, &cost);
    }
    times->steps = own;
    times->members = members;
}

/* As foreseen. */
static void play(struct cut *cut)
{
    struct cut_times times;
    block_play(cut, cut->steps, &times);
    cut->cost = times.cost;
    cut->times = times.steps;
}

/* ---- the block ---- */

/* What goes round takes two copies, for which there is room where there is no second input. */
static bool goes_round_a_pair(const struct maker *m)
{
    const struct problem *p = m->problem;
    for (int i = 0; i < m->layers; i++)
        for (int input = 0; input < 2 && dory_has_second_input(&p->layers[m->first + i].record); input++) {
            int writer = writer_within(p, m->first, m->first + i, input);
            if (writer >= 0 && m->overlaps[writer])
                return true;
        }
    return false;
}

/* A layer that reads no other one of the block may be complete before those in front of it: a constant, which a copy takes
 * whole at the first turn. */
static bool completes_in_order(const struct maker *m)
{
    for (int i = 1; i < m->layers; i++)
        for (uint32_t turn = 0; turn < m->turns; turn++)
            if (*end_at(m, i, turn) == member_record(m, i)->output_height &&
                *end_at(m, i - 1, turn) < member_record(m, i - 1)->output_height)
                return false;
    return true;
}

static bool make_members(struct maker *m, uint32_t rows)
{
    const struct problem *p = m->problem;
    struct cut **members = arena_array(p->arena, struct cut *, (size_t)m->layers);
    m->members = members;
    for (int i = 0; i < m->layers; i++) {
        int layer = m->first + i;
        members[i] = arena_allocate(p->arena, sizeof **members);
        *members[i] = (struct cut){.of = m->by_pixels ? layer_by_pixels(p, layer) : layer_of(m->decision, layer),
                                   .rows = rows,
                                   .channels = p->layers[layer].record.output_channels,
                                   .ram = layer_ram(m->decision, layer)};
        make_steps(m, i);
    }
    for (int i = 0; i < m->layers; i++)
        if (!solve(&members[i]))
            return false;
    return true;
}

static void make_block(struct maker *m, uint32_t rows, struct cut *cut)
{
    cut->solved = true;
    if (goes_round_a_pair(m) || !completes_in_order(m) || !make_members(m, rows))
        return;
    struct block *block = arena_allocate(m->problem->arena, sizeof *block);
    *block = (struct block){
        .first = m->first, .layers = m->layers, .by_pixels = m->by_pixels, .members = m->members, .ring_rows = m->ring_rows};
    put_in_order(m, cut, block);
    cut->legal = true;
    cut->block = block;
    write_steps(m, cut);
    play(cut);
}

/* Rows of all turns; returns the bytes of L2 that rings and weights take. */
static uint64_t sketch(struct maker *m, uint32_t rows, struct arena *arena)
{
    const struct problem *p = m->problem;
    uint64_t bytes = 0;
    m->ends = arena_array(arena, uint32_t, (size_t)m->layers * m->turns);
    m->ring_rows = arena_array(p->arena, uint32_t, (size_t)m->layers);
    m->overlaps = arena_array(arena, bool, (size_t)m->layers);
    find_rows(m, rows);
    for (int i = 0; i < m->layers; i++) {
        m->ring_rows[i] = i < m->layers - 1 ? find_ring(m, i) : 0;
        bytes += (uint64_t)m->ring_rows[i] * operand_row_bytes(member_record(m, i), 2);
        bytes += layer_brought_bytes(p, m->first + i);
    }
    return bytes;
}

/* ---- those that are known ---- */

/* What a block depends on beside its layers and rows: where the tensors at its layers are, and how they lie. */
static uint64_t surroundings(const struct decision *d, int first, int last)
{
    uint64_t key = 0;
    for (int l = first; l <= last; l++) {
        uint64_t layouts = (uint64_t)(layer_of(d, l)->record.input_layout | layer_of(d, l)->record.output_layout << 1);
        key = key * 32 + (layer_ram(d, l) | layouts << 3);
    }
    return key;
}

static struct known_block *find_known(const struct problem *p, int first, int last, uint32_t rows, uint64_t key)
{
    struct known_block *known = p->blocks[first];
    while (known && (known->last != last || known->cut.rows != rows || known->key != key))
        known = known->next;
    return known;
}

static struct known_block *make_known(struct maker *m, uint32_t rows, uint64_t key)
{
    const struct problem *p = m->problem;
    struct known_block *known = arena_allocate(p->arena, sizeof *known);
    *known = (struct known_block){.last = m->first + m->layers - 1, .key = key, .next = p->blocks[m->first]};
    known->cut = (struct cut){
        .of = layer_of(m->decision, m->first), .rows = rows, .channels = p->layers[known->last].record.output_channels};
    make_block(m, rows, &known->cut);
    return p->blocks[m->first] = known;
}

/* True where tensors lie and are cut as the stripe asks for: heights of stripes in RAM are whole words of it. */
static bool is_cut_legal(const struct decision *d, int first, int last, struct stripe stripe)
{
    const struct problem *p = d->problem;
    const struct dory_layer *record = record_of(p, last, stripe.by_pixels);
    uint32_t height = block_height(p, first, last, stripe.by_pixels);
    bool good = stripe.rows > 0 && stripe.rows < height && last - first < MAXIMUM_IN_BLOCK &&
                cut_is_legal(record, stripe.rows, record->output_channels, layer_ram(d, last)) &&
                cut_is_legal(record, height, record->output_channels, layer_ram(d, last));
    for (int l = first; l <= last && stripe.by_pixels; l++)
        good = good && layer_of(d, l)->record.input_layout == DORY_HWC && layer_of(d, l)->record.output_layout == DORY_HWC;
    return good;
}

struct cut *block_get(const struct decision *d, int first, int last, struct stripe stripe, uint32_t bytes)
{
    const struct problem *p = d->problem;
    if (!is_cut_legal(d, first, last, stripe))
        return NULL;
    struct arena scratch = {0};
    struct maker m = {.decision = d,
                      .problem = p,
                      .first = first,
                      .layers = last - first + 1,
                      .by_pixels = stripe.by_pixels,
                      .height = block_height(p, first, last, stripe.by_pixels)};
    uint32_t heights = record_of(p, last, stripe.by_pixels)->output_height / m.height;
    m.turns = heights * dory_divide_up(m.height, stripe.rows);
    uint64_t key = surroundings(d, first, last) << 1 | stripe.by_pixels;
    struct known_block *known = find_known(p, first, last, stripe.rows, key);
    bool fits = sketch(&m, stripe.rows, &scratch) <= bytes;
    if (!known && fits)
        known = make_known(&m, stripe.rows, key);
    arena_free(&scratch);
    return fits && known->cut.legal ? &known->cut : NULL;
}
