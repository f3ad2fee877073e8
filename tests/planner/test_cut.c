/* The ways to cut a layer into steps, on random layers and for every set of operands in RAM: cut_list has the whole layer in
 * front, no cut twice and, of a small layer, all that are legal; what is legal is what L3 can move; the steps of each cut
 * compute every element once, have windows that hold what they read and write, and transfers as the HAL takes them; and what
 * cut_l2_bytes says is what the profile of such a layer needs.
 *
 *     cut [networks] */
#include <inttypes.h>

#include "dory/hal.h"
#include "expect.h"
#include "networks.h"
#include "plan/operand.h"
#include "planning.h"

#define NETWORKS      300
#define SETS_OF_RAM   8
#define SOLVED_A_LIST 8 /* cuts whose tiles are sought: that takes most of the time */

struct counts {
    int lists, cuts, solved, all_listed, exact[2], above[2];
};

struct listed {
    struct planned_layer *of;
    uint8_t ram;
    const struct dory_layer *record;
    struct cut **cuts;
    int count;
    const char *what;
};

/* ---- the list ---- */

static void expect_list(const struct listed *l)
{
    const struct dory_layer *record = l->record;
    REQUIRE(l->count > 0);
    EXPECT(l->cuts[0]->rows == record->output_height && l->cuts[0]->channels == record->output_channels,
           "%s: %ux%u comes first", l->what, l->cuts[0]->rows, l->cuts[0]->channels);
    for (int i = 0; i < l->count; i++) {
        const struct cut *cut = l->cuts[i], *before = i ? l->cuts[i - 1] : cut;
        EXPECT(cut_is_legal(record, cut->rows, cut->channels, l->ram) && cut->ram == l->ram, "%s: %ux%u is not legal",
               l->what, cut->rows, cut->channels);
        EXPECT(cut->rows < before->rows || (cut->rows == before->rows && cut->channels <= before->channels),
               "%s: %ux%u behind %ux%u, which is finer", l->what, cut->rows, cut->channels, before->rows, before->channels);
        EXPECT(cut_get(l->of, cut->rows, cut->channels, cut->channels_outer, l->ram) == cut, "%s: %ux%u is made anew",
               l->what, cut->rows, cut->channels);
        for (int j = 0; j < i; j++)
            EXPECT(l->cuts[j] != cut, "%s: %ux%u is listed twice", l->what, cut->rows, cut->channels);
    }
}

static bool is_listed(const struct listed *l, uint32_t rows, uint32_t channels, bool outer)
{
    for (int i = 0; i < l->count; i++)
        if (l->cuts[i]->rows == rows && l->cuts[i]->channels == channels && l->cuts[i]->channels_outer == outer)
            return true;
    return false;
}

/* Stripes save L2 only where operands are in RAM, and blocks only there or where weights come from the flash. */
static void expect_all_listed(const struct listed *l)
{
    uint32_t height = l->record->output_height, all = l->record->output_channels;
    bool blocks = l->ram || l->of->brings_weights;
    for (uint32_t rows = l->ram ? 1 : height; rows <= height; rows++)
        for (uint32_t block = blocks ? 4 : dory_round_up(all, 4); block < all + 4; block += 4) {
            uint32_t channels = dory_minimum(block, all);
            bool both = rows < height && channels < all;
            if (!cut_is_legal(l->record, rows, channels, l->ram))
                continue;
            EXPECT(is_listed(l, rows, channels, false), "%s: %ux%u is not listed", l->what, rows, channels);
            EXPECT(!both || is_listed(l, rows, channels, true), "%s: %ux%u, channels outside, is not listed", l->what, rows,
                   channels);
        }
}

/* ---- what is legal ---- */

/* L3 moves words: so parts of a tensor in RAM have to be some, in each pixel where they are of some of the channels, which
 * an operand is that has as many channels as the output. */
static bool are_words(const struct listed *l, unsigned operand, uint32_t rows, uint32_t channels)
{
    const struct dory_layer *record = l->record;
    uint32_t all = operand_channels(record, operand);
    bool stripes = operand == 2 && rows < record->output_height,
         blocks = channels < record->output_channels && !operand_has_all_channels(record, operand);
    if (!(l->ram & 1u << operand))
        return true;
    return (!stripes || rows * operand_row_bytes(record, operand) % HAL_L3_ALIGNMENT == 0) &&
           (!blocks || (operand_pixel_bytes(record, operand, all) % HAL_L3_ALIGNMENT == 0 &&
                        operand_pixel_bytes(record, operand, channels) % HAL_L3_ALIGNMENT == 0));
}

static void expect_legal(const struct listed *l)
{
    for (uint32_t rows = 1; rows <= l->record->output_height; rows++)
        for (uint32_t channels = 1; channels <= l->record->output_channels; channels++) {
            bool legal = channels % 4 == 0 || channels == l->record->output_channels;
            for (unsigned operand = 0; operand < 3; operand++)
                legal = legal && are_words(l, operand, rows, channels);
            EXPECT(cut_is_legal(l->record, rows, channels, l->ram) == legal, "%s: %ux%u is %slegal", l->what, rows, channels,
                   legal ? "" : "not ");
        }
}

/* ---- steps ---- */

static void expect_covered(const struct listed *l, const struct cut *cut)
{
    uint32_t height = l->record->output_height, all = l->record->output_channels;
    uint8_t *times = arena_array(l->of->problem->arena, uint8_t, (size_t)height * all);
    bool inside = true, once = true;
    for (uint32_t i = 0; i < cut->step_count; i++) {
        const struct dory_step *step = &cut->steps[i];
        inside = inside && step->rows > 0 && step->channels > 0 && (uint32_t)step->first_row + step->rows <= height &&
                 (uint32_t)step->first_channel + step->channels <= all && step->rows <= cut->rows &&
                 step->channels <= cut->channels;
        for (uint32_t row = step->first_row; inside && row < (uint32_t)step->first_row + step->rows; row++)
            for (uint32_t c = step->first_channel; c < (uint32_t)step->first_channel + step->channels; c++)
                times[row * all + c]++;
    }
    for (uint32_t i = 0; i < height * all; i++)
        once = once && times[i] == 1;
    EXPECT(inside && once, "%s: the %u steps of %ux%u do not compute everything once", l->what, cut->step_count, cut->rows,
           cut->channels);
}

/* With channels outside, all stripes of a block come behind each other, and its weights once; else all blocks of a stripe.
 */
static void expect_order(const struct listed *l, const struct cut *cut)
{
    for (uint32_t i = 0; i < cut->step_count; i++) {
        const struct dory_step *step = &cut->steps[i];
        bool starts = step->first_row == 0 && step->first_channel == 0;
        EXPECT(step->last_of_layer == (i + 1 == cut->step_count), "%s: step %u of %u", l->what, i, cut->step_count);
        EXPECT(step->drain == (starts || cut->ram & RAM_OUTPUT), "%s: step %u drains or not", l->what, i);
        if (i == 0)
            continue;
        bool next_channels = step->first_channel > step[-1].first_channel, next_row = step->first_row > step[-1].first_row;
        bool same_channels = step->first_channel == step[-1].first_channel, same_row = step->first_row == step[-1].first_row;
        EXPECT(cut->channels_outer ? next_channels || (same_channels && next_row) : next_row || (same_row && next_channels),
               "%s: step %u is not in order", l->what, i);
    }
}

/* ---- windows ---- */

/* The rows of an input that a step reads, of those that exist: none where all is border. */
static void rows_read(const struct dory_layer *record, const struct dory_step *step, int64_t *first, int64_t *end)
{
    *first = dory_first_input_row(record, step->first_row);
    *end = *first + dory_input_rows(record, step->rows);
    *first = *first < 0 ? 0 : *first;
    *end = *end > record->input_height ? record->input_height : *end;
}

static void expect_input_window(const struct listed *l, const struct cut *cut, const struct dory_step *step, unsigned which)
{
    const struct dory_window *window = &step->input[which];
    const struct dory_layer *record = l->record;
    int64_t first = 0, end = 1;
    uint32_t height = operand_height(record, which), channels = operand_channels(record, which),
             window_end = (uint32_t)window->first_row + window->rows;
    if (!operand_is_pixel(record, which))
        rows_read(record, step, &first, &end);
    EXPECT(window->rows > 0 && window_end <= height && (end <= first || (window->first_row <= first && end <= window_end)),
           "%s, input %u: rows %u to %u, but %d to %d are read", l->what, which, window->first_row, window_end, (int)first,
           (int)end);
    bool all = !(cut->ram & 1u << which) || operand_has_all_channels(record, which);
    EXPECT(window->first_channel == (all ? 0 : step->first_channel) && window->channels == (all ? channels : step->channels),
           "%s, input %u: %u channels from %u on", l->what, which, window->channels, window->first_channel);
    EXPECT(cut->ram & 1u << which ? window->rows <= cut->input_rows[which] : window->rows == height, "%s, input %u: %u rows",
           l->what, which, window->rows);
}

static void expect_output_window(const struct listed *l, const struct cut *cut, const struct dory_step *step)
{
    const struct dory_window *window = &step->output;
    bool in_ram = cut->ram & RAM_OUTPUT;
    EXPECT(window->first_row == (in_ram ? step->first_row : 0) &&
               window->rows == (in_ram ? step->rows : l->record->output_height) &&
               window->first_channel == (in_ram ? step->first_channel : 0) &&
               window->channels == (in_ram ? step->channels : l->record->output_channels),
           "%s: the output's window", l->what);
}

/* A window that is written must not reach into the one behind it, as transfers have whole words. */
static void expect_words(const struct listed *l, const struct dory_step *step)
{
    for (unsigned operand = 0; operand < 3; operand++) {
        const struct dory_window *window = operand_window(step, operand);
        uint32_t row_bytes = l->ram & 1u << operand ? operand_row_bytes(l->record, operand) : 0;
        uint32_t end = (uint32_t)window->first_row + window->rows;
        EXPECT(window->first_row * row_bytes % HAL_L3_ALIGNMENT == 0, "%s, operand %u: a window from row %u on", l->what,
               operand, window->first_row);
        EXPECT(operand != 2 || end == l->record->output_height || end * row_bytes % HAL_L3_ALIGNMENT == 0,
               "%s: an output's window up to row %u", l->what, end);
    }
}

static void expect_windows(const struct listed *l, const struct cut *cut)
{
    uint32_t most[2] = {0, 0};
    unsigned inputs = dory_has_second_input(l->record) ? 2 : 1;
    for (uint32_t i = 0; i < cut->step_count; i++) {
        for (unsigned which = 0; which < inputs; which++) {
            expect_input_window(l, cut, &cut->steps[i], which);
            if (cut->steps[i].input[which].rows > most[which])
                most[which] = cut->steps[i].input[which].rows;
        }
        expect_output_window(l, cut, &cut->steps[i]);
        expect_words(l, &cut->steps[i]);
    }
    for (unsigned which = 0; which < inputs; which++)
        EXPECT(!(cut->ram & 1u << which) || most[which] == cut->input_rows[which], "%s, input %u: %u rows at most, not %u",
               l->what, which, most[which], cut->input_rows[which]);
}

/* ---- what it needs of L2 and L3 ---- */

/* See struct hal_l3_copy; tensors and buffers start at multiples of DORY_ALIGNMENT. */
static void expect_possible_transfer(const struct listed *l, const struct profile_transfer *transfer)
{
    const struct dory_transfer *t = &transfer->record;
    bool strides = t->runs == 1 || (t->l3_stride % 2 == 0 && t->l2_stride % HAL_L3_ALIGNMENT == 0);
    EXPECT(t->runs > 0 && t->run_bytes > 0 && t->run_bytes % HAL_L3_ALIGNMENT == 0 && t->l2_offset % HAL_L3_ALIGNMENT == 0 &&
               t->l3_address % 2 == 0 && strides,
           "%s: a transfer of %u runs of %u bytes from %u to %u", l->what, t->runs, t->run_bytes, t->l3_address,
           t->l2_offset);
}

/* The largest buffer of each operand, and of the weights, which need not be of the same step; two of them where it is filled
 * again while the step before computes. Stripes count as such, although all of them may read the same rows. */
static uint32_t bytes_of_buffers(const struct listed *l, const struct cut *cut, const struct profile *profile, bool ahead)
{
    uint32_t most[PROFILE_OPERANDS] = {0}, sum = 0;
    int count[PROFILE_OPERANDS] = {0};
    for (int i = 0; i < profile->buffer_count; i++) {
        const struct profile_buffer *buffer = &profile->buffers[i];
        count[buffer->operand]++;
        if (buffer->bytes > most[buffer->operand])
            most[buffer->operand] = buffer->bytes;
    }
    for (int operand = 0; operand < PROFILE_OPERANDS; operand++) {
        bool stripes = operand < PROFILE_WEIGHTS && cut->rows < l->record->output_height;
        sum += most[operand] * (ahead && (count[operand] > 1 || stripes) ? 2 : 1);
    }
    return sum;
}

static void expect_bytes(const struct listed *l, struct cut *cut, bool ahead, struct counts *counts)
{
    struct arena scratch = {0};
    const struct choice choice = {cut, ahead};
    const struct profile *profile = profile_make(&choice, &scratch);
    uint32_t said = cut_l2_bytes(cut, ahead), most = 0, buffers = bytes_of_buffers(l, cut, profile, ahead);
    for (uint32_t i = 0; i < cut->step_count; i++)
        most = profile->live[i] > most ? profile->live[i] : most;
    EXPECT(said == buffers, "%s: %ux%u, %s: %u bytes are said, but buffers have %u", l->what, cut->rows, cut->channels,
           ahead ? "ahead" : "not ahead", said, buffers);
    EXPECT(most <= said, "%s: %ux%u, %s: %u bytes are said, but %u are needed", l->what, cut->rows, cut->channels,
           ahead ? "ahead" : "not ahead", said, most);
    counts->exact[ahead] += most == said;
    counts->above[ahead] += most < said;
    for (int i = 0; i < profile->read_count; i++)
        expect_possible_transfer(l, &profile->reads[i]);
    for (int i = 0; i < profile->write_count; i++)
        expect_possible_transfer(l, &profile->writes[i]);
    arena_free(&scratch);
}

static void expect_cut(const struct listed *l, struct cut *cut, struct counts *counts)
{
    counts->cuts++;
    if (!cut_solve(cut))
        return;
    counts->solved++;
    EXPECT(cut->cost.l1_bytes <= l->of->problem->l1_bytes, "%s: %u bytes of L1", l->what, cut->cost.l1_bytes);
    expect_covered(l, cut);
    expect_order(l, cut);
    expect_windows(l, cut);
    for (int ahead = 0; ahead < 2; ahead++)
        expect_bytes(l, cut, ahead != 0, counts);
}

/* ---- layers ---- */

static void test_list(struct planned_layer *of, int layer, uint8_t ram, uint64_t seed, struct counts *counts)
{
    struct listed l = {.of = of, .ram = ram, .record = &of->record};
    l.what = arena_format(of->problem->arena, "seed %" PRIu64 ", layer %d, RAM %u", seed, layer, ram);
    l.count = cut_list(of, ram, &l.cuts);
    counts->lists++;
    expect_list(&l);
    expect_legal(&l);
    if (layer_is_small(&of->record)) {
        expect_all_listed(&l);
        counts->all_listed++;
    }
    int apart = l.count / SOLVED_A_LIST + 1;
    for (int i = (int)(seed % (uint64_t)apart); i < l.count; i += apart)
        expect_cut(&l, l.cuts[i], counts);
}

static void test_network(uint64_t seed, const struct target *target, void *context)
{
    struct counts *counts = context;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    const struct network *network = seeded_network(&arena, seed, 3);
    const struct plan_options options = {.l1_bytes = target->l1_stack_bytes + 6000 + (uint32_t)(seed * 977 % 6000)};
    struct problem problem = problem_for(network, target, &options, &arena);
    for (int l = 0; l < network->layer_count && seed % 3 == 0; l++)
        network->layers[l].weight_bits = 4; /* blocks of which are larger where their input channels are in slices */
    bool started = problem_make(&problem, &arena, &diagnostics);
    EXPECT(started, "seed %" PRIu64, seed);
    for (int l = 0; started && l < network->layer_count; l++)
        for (uint8_t ram = 0; ram < SETS_OF_RAM; ram++)
            if (has_operands(network, l, ram))
                test_list(layer_variant(&problem, l, DORY_HWC, DORY_HWC), l, ram, seed, counts);
    arena_free(&arena);
}

/* Of few channels, but with more rows than a list has room for: the smallest cut is one row all the same. */
static void test_tall(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct network_builder builder;
    builder_start(&builder, &arena, 1);
    int input = builder_input(&builder, 90, 8, 8);
    const struct network *network = builder_finish(&builder, builder_convolution(&builder, input, 1, 1, 0, 4));
    const struct plan_options options = {0};
    struct target target;
    struct cut **list;
    uint32_t least = UINT32_MAX;
    REQUIRE(target_load(&target, "gap8", &arena, &diagnostics));
    struct problem problem = problem_for(network, &target, &options, &arena);
    REQUIRE(problem_make(&problem, &arena, &diagnostics));
    for (int i = cut_list(layer_variant(&problem, 0, DORY_HWC, DORY_HWC), RAM_INPUT | RAM_OUTPUT, &list); i-- > 0;)
        least = list[i]->rows < least ? list[i]->rows : least;
    EXPECT(least == 1, "the smallest cut of a tall layer has %" PRIu32 " rows", least);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    test_tall();
    test_seeds(argc, argv, NETWORKS, test_network, &counts);
    printf(
        "%d lists, %d of them of all cuts; of %d cuts %d have a tile; bytes exact for %d, above for %d; ahead %d and %d\n",
        counts.lists, counts.all_listed, counts.cuts, counts.solved, counts.exact[0], counts.above[0], counts.exact[1],
        counts.above[1]);
    EXPECT(counts.all_listed * 10 > counts.lists && counts.all_listed < counts.lists && counts.solved * 2 > counts.cuts &&
               counts.exact[0] > 10 * counts.above[0],
           "too few");
    return expect_result("cut");
}
