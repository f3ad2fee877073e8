/* The ways to cut a layer into steps, and for each the best tile. */
#include "choose/cut.h"

#include <string.h>

#include "choose/cut_memory.h"
#include "dory/hal.h"
#include "plan/operand.h"
#include "plan/timeline.h"

/* ---- windows ---- */

/* Rows that make a whole number of L3 words: stripes of a tensor in RAM start at multiples of it. */
uint32_t cut_row_granule(uint32_t row_bytes)
{
    uint32_t granule = 1;
    while (granule * row_bytes % HAL_L3_ALIGNMENT != 0)
        granule *= 2;
    return granule;
}

/* The input rows that output rows `first` and up read. Rows of nothing but border leave a window of one row that is not
 * read: there are no empty windows. */
void cut_input_rows(const struct dory_layer *record, uint32_t first, uint32_t rows, uint32_t granule,
                    struct dory_window *window)
{
    int64_t start = dory_first_input_row(record, first), end = start + dory_input_rows(record, rows);
    start = start < 0 ? 0 : start >= record->input_height ? record->input_height - 1 : start;
    end = end > record->input_height ? record->input_height : end <= start ? start + 1 : end;
    start -= start % granule;
    window->first_row = (uint16_t)start;
    window->rows = (uint16_t)(end - start);
}

/* The rows of an input for those of a step, as cut_input_rows. */
static void operand_rows(const struct dory_layer *record, unsigned operand, uint32_t first, uint32_t rows,
                         struct dory_window *window)
{
    uint32_t granule = cut_row_granule(operand_row_bytes(record, operand));
    uint32_t second = dory_second_row(record, first), second_rows = dory_second_row(record, first + rows - 1) - second + 1;
    bool shares = dory_second_row(record, record->output_height - 1u) + 1 < record->output_height;
    if (operand == 0 || !shares) {
        cut_input_rows(record, first, rows, granule, window);
        return;
    }
    window->first_row = (uint16_t)(second - second % granule);
    window->rows = (uint16_t)(second_rows + second % granule);
}

static void set_input_window(const struct dory_layer *record, const struct cut *cut, unsigned operand,
                             struct dory_step *step)
{
    struct dory_window *window = &step->input[operand];
    *window = (struct dory_window){.rows = (uint16_t)operand_height(record, operand),
                                   .channels = (uint16_t)operand_channels(record, operand)};
    if (!(cut->ram & 1u << operand))
        return;
    if (!operand_is_pixel(record, operand))
        operand_rows(record, operand, step->first_row, step->rows, window);
    if (!operand_has_all_channels(record, operand)) {
        window->first_channel = step->first_channel;
        window->channels = step->channels;
    }
}

static void set_output_window(const struct dory_layer *record, const struct cut *cut, struct dory_step *step)
{
    step->output = (struct dory_window){.rows = record->output_height, .channels = record->output_channels};
    if (cut->ram & RAM_OUTPUT)
        step->output = (struct dory_window){.first_row = step->first_row,
                                            .rows = step->rows,
                                            .first_channel = step->first_channel,
                                            .channels = step->channels};
}

struct dory_step cut_make_step(const struct dory_layer *record, const struct cut *cut, uint32_t row, uint32_t rows,
                               uint32_t channel)
{
    struct dory_step step = {
        .first_row = (uint16_t)row,
        .rows = (uint16_t)rows,
        .first_channel = (uint16_t)channel,
        .channels = (uint16_t)dory_minimum(cut->channels, record->output_channels - channel),
    };
    set_input_window(record, cut, 0, &step);
    if (dory_has_second_input(record))
        set_input_window(record, cut, 1, &step);
    set_output_window(record, cut, &step);
    /* results that go to RAM must be in L2 before the next step hands them to the queue */
    step.drain = (cut->ram & RAM_OUTPUT) != 0 || (row == 0 && channel == 0);
    return step;
}

static void make_steps(struct cut *cut)
{
    const struct dory_layer *record = &cut->of->record;
    uint32_t stripes = dory_divide_up(record->output_height, cut->rows),
             blocks = dory_divide_up(record->output_channels, cut->channels);
    cut->steps = arena_array(cut->of->problem->arena, struct dory_step, cut->step_count);
    for (uint32_t i = 0; i < cut->step_count; i++) {
        uint32_t stripe = cut->channels_outer ? i % stripes : i / blocks;
        uint32_t block = cut->channels_outer ? i / stripes : i % blocks;
        uint32_t row = stripe * cut->rows;
        cut->steps[i] =
            cut_make_step(record, cut, row, dory_minimum(cut->rows, record->output_height - row), block * cut->channels);
    }
    cut->steps[cut->step_count - 1].last_of_layer = 1;
}

/* ---- one cut ---- */

/* Input rows of the stripe that needs most. */
static uint32_t most_input_rows(const struct dory_layer *record, const struct cut *cut, unsigned operand)
{
    uint32_t most = operand_is_pixel(record, operand);
    for (uint32_t first = 0; !operand_is_pixel(record, operand) && first < record->output_height; first += cut->rows) {
        struct dory_window window;
        operand_rows(record, operand, first, dory_minimum(cut->rows, record->output_height - first), &window);
        most = window.rows > most ? window.rows : most;
    }
    return most;
}

struct cut *cut_get(struct planned_layer *of, uint32_t rows, uint32_t channels, bool channels_outer, uint8_t ram)
{
    struct cut **end = &of->cuts;
    for (; *end; end = &(*end)->next)
        if ((*end)->rows == rows && (*end)->channels == channels && (*end)->channels_outer == channels_outer &&
            (*end)->ram == ram)
            return *end;
    *end = arena_allocate(of->problem->arena, sizeof **end);
    **end = (struct cut){.of = of, .rows = rows, .channels = channels, .channels_outer = channels_outer, .ram = ram};
    (*end)->step_count =
        dory_divide_up(of->record.output_height, rows) * dory_divide_up(of->record.output_channels, channels);
    for (unsigned operand = 0; operand < (dory_has_second_input(&of->record) ? 2 : 1); operand++)
        (*end)->input_rows[operand] = most_input_rows(&of->record, *end, operand);
    return *end;
}

/* Channel blocks of a tensor in RAM are runs of whole L3 words only if blocks and pixels are. */
static bool blocks_are_words(const struct dory_layer *record, unsigned operand, uint32_t channels)
{
    uint32_t all = operand_channels(record, operand);
    return operand_has_all_channels(record, operand) ||
           (operand_pixel_bytes(record, operand, all) % HAL_L3_ALIGNMENT == 0 &&
            operand_pixel_bytes(record, operand, channels) % HAL_L3_ALIGNMENT == 0);
}

bool cut_is_legal(const struct dory_layer *record, uint32_t rows, uint32_t channels, uint8_t ram)
{
    bool blocks = channels < record->output_channels, stripes = rows < record->output_height;
    if (blocks && channels % dory_block_channels(record) != 0)
        return false;
    if (stripes && (ram & RAM_OUTPUT) && rows % cut_row_granule(operand_row_bytes(record, 2)) != 0)
        return false;
    if (blocks && (ram & RAM_OUTPUT) && !blocks_are_words(record, 2, channels))
        return false;
    if (!blocks)
        return true;
    return (!(ram & RAM_INPUT) || blocks_are_words(record, 0, channels)) &&
           (!(ram & RAM_SECOND_INPUT) || blocks_are_words(record, 1, channels));
}

static struct tile_problem tile_problem_of(const struct cut *cut, int kernel)
{
    const struct planned_layer *of = cut->of;
    return (struct tile_problem){
        .layer = &of->record,
        .weights = of->weights,
        .kernel = of->kernels[kernel],
        .target = of->problem->target,
        .cores = of->problem->cores,
        .l1_bytes = of->problem->l1_bytes,
        .steps = cut->steps,
        .step_count = cut->step_count,
        .cycles = of->cycles[kernel],
    };
}

/* Another cut of the layer that differs in what lives in RAM, if its tile is the same and has been found. */
static const struct cut *solved_before(const struct cut *cut)
{
    for (const struct cut *other = cut->of->cuts; other; other = other->next)
        if (other != cut && other->solved && cut_has_same_tiles(cut, other))
            return other;
    return NULL;
}

static void copy_solution(struct cut *cut, const struct cut *from)
{
    cut->legal = from->legal;
    cut->kernel = from->kernel;
    cut->tiling = from->tiling;
    cut->cost = from->cost;
    cut->block_bytes = from->block_bytes;
    cut->times = from->times;
}

bool cut_find_tile(struct cut *cut)
{
    const struct planned_layer *of = cut->of;
    struct step_times *times = arena_array(of->problem->arena, struct step_times, cut->step_count);
    cut->solved = true;
    cut->times = times;
    for (int i = 0; of->kernels[i]; i++) {
        struct tile_problem problem = tile_problem_of(cut, i);
        struct tiling tiling;
        struct tile_cost cost;
        if (!tile_search(&problem, cut->legal ? cut->cost.cycles : UINT64_MAX, &tiling, &cost))
            continue;
        cut->legal = true;
        cut->kernel = of->kernels[i];
        cut->tiling = tiling;
        tile_simulate(&problem, &tiling, &cut->cost, times);
        cut->block_bytes = dory_block_bytes(of->weights, &of->record, tiling.tile.input_channels);
    }
    return cut->legal;
}

bool cut_solve(struct cut *cut)
{
    struct cut_memory *memory = cut->of->problem->cuts;
    if (cut->solved)
        return cut->legal;
    make_steps(cut);
    const struct cut *same = solved_before(cut);
    if (!same && memory)
        same = cut_memory_find(memory, cut);
    if (same) {
        copy_solution(cut, same);
        cut->solved = true;
        return cut->legal;
    }
    cut_find_tile(cut);
    if (memory)
        cut_memory_keep(memory, cut);
    return cut->legal;
}

void cut_play(const struct cut *cut, const struct dory_step *steps, uint32_t count, struct tile_cost *cost,
              struct step_times *times)
{
    int kernel = 0;
    while (cut->of->kernels[kernel] != cut->kernel)
        kernel++;
    struct tile_problem problem = tile_problem_of(cut, kernel);
    problem.steps = steps;
    problem.step_count = count;
    tile_simulate(&problem, &cut->tiling, cost, times);
}

/* ---- what a cut needs of L2 and L3 ---- */

/* Before a cut is solved its blocks of weights are counted as if input channels were not tiled; for 8-bit weights that is
 * exact. */
static uint32_t step_weights_bytes(const struct cut *cut)
{
    const struct dory_layer *record = &cut->of->record;
    if (!cut->of->brings_weights)
        return 0;
    return dory_blocks(record, cut->channels) *
           (cut->legal ? cut->block_bytes : dory_block_bytes(cut->of->weights, record, record->input_channels));
}

/* The largest window of an operand. */
static uint32_t window_bytes(const struct cut *cut, unsigned operand)
{
    const struct dory_layer *record = &cut->of->record;
    bool part = !operand_has_all_channels(record, operand);
    uint32_t all = operand_channels(record, operand);
    uint32_t pixel = operand_pixel_bytes(record, operand, part ? cut->channels : all), rows = cut->rows;
    if (operand != 2)
        rows = cut->input_rows[operand];
    return rows * operand_width(record, operand) * pixel;
}

uint32_t cut_l2_bytes(const struct cut *cut, bool ahead)
{
    const struct dory_layer *record = &cut->of->record;
    bool blocks = cut->channels < record->output_channels, stripes = cut->rows < record->output_height;
    uint32_t sum = aligned(step_weights_bytes(cut)) * (blocks && ahead ? 2 : 1);
    for (unsigned operand = 0; operand < 3; operand++) {
        bool reloaded = stripes || (blocks && !operand_has_all_channels(record, operand));
        if (cut->ram & 1u << operand)
            sum += aligned(window_bytes(cut, operand)) * (reloaded && ahead ? 2 : 1);
    }
    return sum;
}

/* Cycles of L3 for `times` windows of an operand; parts of a pixel are runs of their own. */
static uint64_t window_cycles(const struct cut *cut, unsigned operand, uint64_t times)
{
    const struct dory_layer *record = &cut->of->record;
    bool part = !operand_has_all_channels(record, operand) && cut->channels < record->output_channels;
    uint32_t all = operand_channels(record, operand);
    uint32_t bytes = window_bytes(cut, operand), pixel = operand_pixel_bytes(record, operand, part ? cut->channels : all);
    struct dory_transfer window = {.runs = 1, .run_bytes = bytes};
    uint64_t pixels = part ? bytes / pixel : 1;
    window.run_bytes = (uint32_t)(bytes / pixels);
    return times * pixels * l3_cycles(cut->of->problem->target, &window);
}

uint64_t cut_l3_cycles(const struct cut *cut)
{
    const struct dory_layer *record = &cut->of->record;
    uint64_t stripes = dory_divide_up(record->output_height, cut->rows),
             blocks = dory_divide_up(record->output_channels, cut->channels);
    bool weights_again = !cut->channels_outer && blocks > 1, input_again = cut->channels_outer && stripes > 1;
    struct dory_transfer weights = {.runs = 1, .run_bytes = step_weights_bytes(cut)};
    uint64_t sum =
        weights.run_bytes ? blocks * (weights_again ? stripes : 1) * l3_cycles(cut->of->problem->target, &weights) : 0;
    uint64_t windows = stripes * (dory_reads_all_channels(record) && !input_again ? 1 : blocks);
    for (unsigned operand = 0; operand < 3; operand++)
        if (cut->ram & 1u << operand)
            sum += window_cycles(cut, operand, operand == 2 ? stripes * blocks : windows);
    return sum;
}
