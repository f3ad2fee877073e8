/* What a layer needs of L2 and of the channel to L3, step by step, as one choice has it: its windows and blocks of weights,
 * and the transfers for them. Nothing in it depends on other layers, so it is made once, and a schedule is put together
 * from the profiles of its layers. */
#include "choose/profile.h"

#include <string.h>

#include "choose/block.h"
#include "dory/hal.h"
#include "plan/operand.h"
#include "plan/timeline.h"

struct maker {
    int member;                      /* at work, in its block */
    const struct dory_layer *record; /* of the layer at work, as are these */
    const struct cut *cut;
    bool ahead;
    struct profile *profile;
    struct arena scratch; /* for lists of unknown length */
};

static bool same_window(const struct dory_window *a, const struct dory_window *b)
{
    return a->first_row == b->first_row && a->rows == b->rows && a->first_channel == b->first_channel &&
           a->channels == b->channels;
}

/* ---- lists ---- */

static int add_buffer(struct maker *m, uint8_t operand, uint32_t bytes, int first, int last)
{
    struct profile *profile = m->profile;
    arena_grow(&m->scratch, profile->buffers, profile->buffer_count);
    profile->buffers[profile->buffer_count] = (struct profile_buffer){
        .operand = operand, .member = m->member, .bytes = aligned(bytes), .first_step = first, .last_step = last};
    return profile->buffer_count++;
}

static struct profile_transfer *add_transfer(struct maker *m, bool is_write)
{
    struct profile_transfer **list = is_write ? &m->profile->writes : &m->profile->reads;
    int *count = is_write ? &m->profile->write_count : &m->profile->read_count;
    arena_grow(&m->scratch, *list, *count);
    return &(*list)[(*count)++];
}

/* ---- windows ---- */

/* The copy of some rows of a window of operand `index`; addresses are relative to tensor and buffer. */
static struct dory_transfer copy_rows(const struct dory_layer *record, unsigned index, const struct dory_window *window,
                                      uint32_t first, uint32_t rows)
{
    uint32_t width = operand_width(record, index), channels = operand_channels(record, index);
    uint32_t pixel = operand_pixel_bytes(record, index, channels);
    uint32_t part = operand_pixel_bytes(record, index, window->channels);
    struct dory_transfer copy = {
        .kind = index == 2 ? HAL_RAM_WRITE : HAL_RAM_READ,
        .l3_address =
            (window->first_row + first) * width * pixel + operand_pixel_bytes(record, index, window->first_channel),
        .l2_offset = first * width * part,
    };
    if (window->channels == channels) {
        copy.runs = 1;
        copy.run_bytes = dory_round_up(rows * width * pixel, HAL_L3_ALIGNMENT);
    } else {
        copy.runs = (uint16_t)(rows * width);
        copy.run_bytes = part;
        copy.l3_stride = pixel;
        copy.l2_stride = part;
    }
    return copy;
}

/* Adds the transfers of a window: one, or several where it has more runs than one transfer can. */
static void add_window_transfers(struct maker *m, unsigned index, const struct dory_window *window, int buffer, int step)
{
    bool whole = window->channels == operand_channels(m->record, index);
    uint32_t most = whole ? window->rows : UINT16_MAX / operand_width(m->record, index);
    uint32_t row_bytes = operand_row_bytes(m->record, index);
    for (uint32_t first = 0; first < window->rows; first += most) {
        struct profile_transfer *transfer = add_transfer(m, index == 2);
        *transfer = (struct profile_transfer){
            .record = copy_rows(m->record, index, window, first, dory_minimum(most, window->rows - first)),
            .start_byte = window->first_row * row_bytes,
            .end_byte = (window->first_row + window->rows) * row_bytes,
            .buffer = buffer,
            .step = step,
        };
        transfer->cycles = l3_cycles(m->cut->of->problem->target, &transfer->record);
    }
}

static int add_window(struct maker *m, unsigned index, const struct dory_window *window, int step, int first, int last)
{
    int buffer = add_buffer(m, (uint8_t)index, operand_window_bytes(m->record, index, window), first, last);
    add_window_transfers(m, index, window, buffer, step);
    return buffer;
}

static int add_weights(struct maker *m, const struct dory_step *record, int step, int first)
{
    uint32_t bytes = dory_blocks(m->record, record->channels) * m->cut->block_bytes;
    int buffer = add_buffer(m, PROFILE_WEIGHTS, bytes, first, step);
    struct profile_transfer *read = add_transfer(m, false);
    *read = (struct profile_transfer){
        .record = {.kind = HAL_FLASH_READ,
                   .runs = 1,
                   .run_bytes = bytes,
                   .l3_address = dory_blocks(m->record, record->first_channel) * m->cut->block_bytes},
        .buffer = buffer,
        .step = step};
    read->cycles = l3_cycles(m->cut->of->problem->target, &read->record);
    return buffer;
}

/* ---- steps ---- */

/* Buffers of one step: those of the layer's step before, which is `before`, where they hold the same, else new ones with
 * their transfers. `part`: which one of the layer. */
static void add_step(struct maker *m, int index, int part, const int *before)
{
    struct profile *profile = m->profile;
    const struct dory_step *step = &m->cut->steps[part];
    int *own = profile->step_buffers[index], first = index - (before && m->ahead ? 1 : 0);
    memset(own, -1, sizeof profile->step_buffers[index]);
    if (m->cut->of->brings_weights) {
        bool same = before && step[-1].first_channel == step->first_channel;
        own[PROFILE_WEIGHTS] = same ? before[PROFILE_WEIGHTS] : add_weights(m, step, index, first);
        profile->buffers[own[PROFILE_WEIGHTS]].last_step = index;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (!(m->cut->ram & 1u << i))
            continue;
        bool same = before && same_window(&step[-1].input[i], &step->input[i]);
        own[i] = same ? before[i] : add_window(m, i, &step->input[i], index, first, index);
        profile->buffers[own[i]].last_step = index;
    }
    if (m->cut->ram & RAM_OUTPUT)
        own[2] = add_window(m, 2, &step->output, index, index, index + (m->ahead ? 1 : 0));
}

/* ---- blocks ---- */

static void set_layer(struct maker *m, int member, const struct cut *cut)
{
    m->member = member;
    m->record = &cut->of->record;
    m->cut = cut;
}

/* The last step that reads what a layer of the block writes. */
static int last_reader(const struct maker *m, const struct block *block, int member)
{
    const struct layer *layers = &m->cut->of->problem->network->layers[block->first];
    int tensor = layers[member].output, last = 0;
    for (int i = member + 1; i < block->layers; i++)
        last = layer_reads(&layers[i], tensor) ? block->last_steps[i] : last;
    return last;
}

static void use_ring(struct maker *m, const struct block *block, int writer, int ring, int steps)
{
    const struct layer *layers = &m->cut->of->problem->network->layers[block->first];
    int tensor = layers[writer].output;
    for (int i = 0; i < steps; i++) {
        int member = block->order[i].member;
        const struct layer *of = &layers[member];
        for (int operand = 0; operand < layer_input_count(of) && member > writer; operand++)
            if (of->inputs[operand] == tensor)
                m->profile->step_buffers[i][operand] = ring;
        if (member == writer)
            m->profile->step_buffers[i][2] = ring;
    }
}

static void add_rings(struct maker *m, const struct block *block, int steps)
{
    for (int i = 0; i < block->layers - 1; i++) {
        set_layer(m, i, block->members[i]);
        uint32_t bytes = block->ring_rows[i] * operand_row_bytes(m->record, 2);
        int ring = add_buffer(m, 2, bytes, block->first_steps[i], last_reader(m, block, i));
        use_ring(m, block, i, ring, steps);
    }
}

static void add_steps(struct maker *m, const struct cut *cut)
{
    int last[MAXIMUM_IN_BLOCK] = {0};
    for (int i = 0; i < (int)cut->step_count; i++) {
        const struct block_step at = cut->block ? cut->block->order[i] : (struct block_step){0, i};
        set_layer(m, at.member, cut->block ? cut->block->members[at.member] : cut);
        add_step(m, i, at.part, at.part ? m->profile->step_buffers[last[at.member]] : NULL);
        last[at.member] = i;
    }
    if (cut->block)
        add_rings(m, cut->block, (int)cut->step_count);
}

static void count_live(struct profile *profile, int steps)
{
    for (int i = 0; i < profile->buffer_count; i++)
        for (int step = profile->buffers[i].first_step; step <= profile->buffers[i].last_step && step <= steps; step++)
            profile->live[step] += profile->buffers[i].bytes;
}

static void count_traffic(struct profile *profile, const struct profile_transfer *transfers, int count)
{
    for (int i = 0; i < count; i++) {
        bool is_flash = transfers[i].record.kind == HAL_FLASH_READ;
        *(is_flash ? &profile->flash_bytes : &profile->ram_bytes) +=
            (uint64_t)transfers[i].record.runs * transfers[i].record.run_bytes;
        profile->channel_cycles += transfers[i].cycles;
        profile->ram_cycles += is_flash ? 0 : transfers[i].cycles;
    }
}

const struct profile *profile_make(const struct choice *choice, struct arena *arena)
{
    struct profile *profile = arena_allocate(arena, sizeof *profile);
    struct maker m = {.ahead = choice->ahead, .profile = profile};
    size_t steps = choice->cut->step_count;
    profile->step_buffers = arena_allocate_array(arena, steps, sizeof *profile->step_buffers);
    profile->live = arena_array(arena, uint32_t, steps + 1);
    add_steps(&m, choice->cut);
    count_live(profile, (int)steps);
    profile->buffers = arena_copy(arena, profile->buffers, profile->buffer_count);
    count_traffic(profile, profile->reads, profile->read_count);
    profile->read_bytes = profile->flash_bytes + profile->ram_bytes;
    count_traffic(profile, profile->writes, profile->write_count);
    profile->reads = arena_copy(arena, profile->reads, profile->read_count);
    profile->writes = arena_copy(arena, profile->writes, profile->write_count);
    arena_free(&m.scratch);
    return profile;
}

const struct profile *profile_get(const struct choice *choice)
{
    const struct profile **known = &choice->cut->profiles[choice->ahead];
    if (!*known)
        *known = profile_make(choice, choice->cut->of->problem->arena);
    return *known;
}

struct plan_traffic decision_traffic(const struct decision *decision)
{
    struct plan_traffic sum = {0};
    for (int l = 0; l < decision->problem->network->layer_count; l++) {
        const struct profile *profile = profile_get(&decision->choices[l]);
        sum.flash_bytes += profile->flash_bytes;
        sum.ram_bytes += profile->ram_bytes;
        sum.l1_bytes += decision->choices[l].cut->cost.dma_bytes;
    }
    return sum;
}

uint64_t decision_ram_cycles(const struct decision *d)
{
    uint64_t cycles = 0;
    for (int l = 0; l < d->problem->network->layer_count; l++)
        cycles += profile_get(&d->choices[l])->ram_cycles;
    return cycles;
}
