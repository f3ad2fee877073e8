/* Plans that were made wrong on purpose, each in one way: the check pass must refuse every one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dory/hal.h"
#include "dory/prepared.h"
#include "expect.h"
#include "networks.h"
#include "plan/plan.h"

/* Changes a plan; false where this plan has nothing of the kind. `choice` picks the place. */
typedef bool corrupt(struct plan *plan, uint32_t choice);

static struct plan_step *step_of(struct plan *plan, uint32_t choice)
{
    return &plan->steps[choice % (uint32_t)plan->step_count];
}
static struct plan_layer *layer_of(struct plan *plan, uint32_t choice)
{
    return &plan->layers[choice % (uint32_t)plan->network->layer_count];
}

/* A transfer of this kind, from `choice` on; null: none. */
static struct plan_transfer *transfer_of(struct plan *plan, uint32_t choice, int kind)
{
    for (int i = 0; i < plan->transfer_count; i++) {
        struct plan_transfer *transfer = &plan->transfers[(choice + (uint32_t)i) % (uint32_t)plan->transfer_count];
        if (transfer->record.kind == kind)
            return transfer;
    }
    return NULL;
}

static struct plan_step *step_with_weights(struct plan *plan, uint32_t choice)
{
    for (int i = 0; i < plan->step_count; i++)
        if (plan->layers[step_of(plan, choice + (uint32_t)i)->layer].weights_bytes > 0)
            return step_of(plan, choice + (uint32_t)i);
    return NULL;
}

static bool output_moved(struct plan *plan, uint32_t choice)
{
    step_of(plan, choice)->record.output.offset += 8;
    return true;
}

static bool input_moved(struct plan *plan, uint32_t choice)
{
    step_of(plan, choice)->record.input[0].offset ^= 8;
    return true;
}

static bool weights_moved(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_with_weights(plan, choice);
    step->record.weights_offset += 16;
    return true;
}

static bool fewer_rows(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_of(plan, choice);
    step->record.rows--;
    return true;
}

static bool fewer_channels(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_of(plan, choice);
    step->record.channels = (uint16_t)(step->record.channels > 4 ? step->record.channels - 4 : 0);
    return true;
}

static bool rows_twice(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_of(plan, choice);
    if (step->record.first_row == 0)
        return false;
    step->record.first_row--;
    step->record.output.first_row = (uint16_t)(step->record.output.first_row ? step->record.output.first_row - 1 : 0);
    return true;
}

static bool window_misses_a_row(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_of(plan, choice);
    const struct dory_layer *record = &plan->layers[step->layer].record;
    struct dory_window *window = &step->record.input[0];
    int32_t last =
        dory_first_input_row(record, step->record.first_row) + (int32_t)dory_input_rows(record, step->record.rows) - 1;
    last = last < record->input_height ? last : record->input_height - 1;
    bool is_ring = last >= window->first_row + window->rows;
    int32_t rows = is_ring ? window->rows - 1 : last - window->first_row; /* the last row that is read is not there */
    if (rows < 1)
        return false;
    window->rows = (uint16_t)rows;
    return true;
}

/* Awaiting nothing is only wrong where something new is needed. */
static bool nothing_awaited(struct plan *plan, uint32_t choice)
{
    uint32_t index = choice % (uint32_t)plan->step_count;
    uint16_t before = index ? plan->steps[index - 1].record.transfers_awaited : 0;
    if (plan->steps[index].record.transfers_awaited == before)
        return false;
    for (; index < (uint32_t)plan->step_count; index++)
        plan->steps[index].record.transfers_awaited = before;
    return true;
}

static bool awaits_less(struct plan *plan, uint32_t choice)
{
    uint32_t index = choice % (uint32_t)plan->step_count;
    uint16_t before = index ? plan->steps[index - 1].record.transfers_awaited : 0;
    if (plan->steps[index].record.transfers_awaited == before)
        return false;
    plan->steps[index].record.transfers_awaited--;
    return true;
}

/* Everything is queued in front of the first step: then most buffers are not free. */
static bool all_started_at_once(struct plan *plan, uint32_t choice)
{
    (void)choice;
    if (plan->steps[0].record.transfers_started == plan->transfer_count)
        return false;
    for (int i = 0; i < plan->step_count; i++)
        plan->steps[i].record.transfers_started = (uint16_t)plan->transfer_count;
    for (int i = 0; i < plan->transfer_count; i++)
        plan->transfers[i].start_step = 0;
    return true;
}

static bool first_step_does_not_drain(struct plan *plan, uint32_t choice)
{
    plan->steps[layer_of(plan, choice)->first_step].record.drain = 0;
    return true;
}

/* A step hands results to RAM that may not have arrived. */
static bool results_not_drained(struct plan *plan, uint32_t choice)
{
    for (int i = 0; i < plan->transfer_count; i++) {
        struct plan_transfer *write = transfer_of(plan, choice + (uint32_t)i, HAL_RAM_WRITE);
        if (!write || write->start_step >= plan->step_count)
            continue;
        struct dory_step *step = &plan->steps[write->start_step].record;
        if (step->drain && plan->steps[write->start_step].layer == plan->steps[write->start_step - 1].layer) {
            step->drain = 0;
            return true;
        }
    }
    return false;
}

static bool layer_ends_early(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = layer_of(plan, choice);
    if (layer->step_count < 2)
        return false;
    plan->steps[layer->first_step].record.last_of_layer = 1;
    return true;
}

static bool layer_does_not_end(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = layer_of(plan, choice);
    plan->steps[layer->last_step].record.last_of_layer = 0;
    return true;
}

static bool steps_swapped(struct plan *plan, uint32_t choice)
{
    uint32_t index = choice % (uint32_t)(plan->step_count - 1);
    struct plan_step step = plan->steps[index];
    if (abs(step.layer - plan->steps[index + 1].layer) > 1)
        return false; /* turns of layers in a block that have nothing to do with each other */
    plan->steps[index] = plan->steps[index + 1];
    plan->steps[index + 1] = step;
    return true;
}

static bool flash_address_wrong(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = transfer_of(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.l3_address ^= 16;
    return transfer != NULL;
}

static bool transfer_too_short(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = transfer_of(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.run_bytes -= 16;
    return transfer != NULL;
}

static bool transfer_too_long(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = transfer_of(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.run_bytes += 1 << 20;
    return transfer != NULL;
}

static bool transfer_unaligned(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = transfer_of(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.run_bytes -= 2;
    return transfer != NULL;
}

static bool transfer_elsewhere(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = transfer_of(plan, choice, HAL_FLASH_READ);
    if (transfer)
        transfer->record.l2_offset = plan->l2_peak_bytes;
    return transfer != NULL;
}

static bool ram_address_wrong(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = transfer_of(plan, choice, HAL_RAM_READ);
    if (!transfer)
        return false;
    transfer->record.l3_address ^= 4;
    return true;
}

static bool ram_write_lost(struct plan *plan, uint32_t choice)
{
    struct plan_transfer *transfer = transfer_of(plan, choice, HAL_RAM_WRITE);
    if (!transfer)
        return false;
    transfer->record.kind = HAL_RAM_READ;
    return true;
}

/* An address wrong by a whole buffer: everything that refers to it follows, only the neighbours do not. */
static void move_buffer(struct plan *plan, int index, uint32_t offset)
{
    uint32_t by = offset - plan->buffers[index].offset;
    plan->buffers[index].offset = offset;
    for (int i = 0; i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];
        step->record.output.offset += step->output_buffer == index ? by : 0;
        step->record.input[0].offset += step->input_buffer[0] == index ? by : 0;
        step->record.input[1].offset += step->input_buffer[1] == index ? by : 0;
        step->record.weights_offset += step->weights_buffer == index ? by : 0;
    }
    for (int i = 0; i < plan->transfer_count; i++)
        plan->transfers[i].record.l2_offset += plan->transfers[i].buffer == index ? by : 0;
}

static bool buffers_overlap(struct plan *plan, uint32_t choice)
{
    for (int i = 0; i < plan->buffer_count; i++)
        for (int j = 0; j < plan->buffer_count; j++) {
            const struct plan_buffer *a = &plan->buffers[((uint32_t)i + choice) % (uint32_t)plan->buffer_count],
                                     *b = &plan->buffers[j];
            bool together = a->first_step <= b->last_step && b->first_step <= a->last_step;
            if (a == b || !together || b->offset + a->bytes > plan->l2_peak_bytes)
                continue;
            move_buffer(plan, (int)(a - plan->buffers), b->offset);
            return true;
        }
    return false;
}

/* The same, and the lives are told such that the list of buffers looks sound: only the play can find it. */
static bool buffers_overlap_secretly(struct plan *plan, uint32_t choice)
{
    if (!buffers_overlap(plan, choice))
        return false;
    for (int i = 0; i < plan->buffer_count; i++)
        plan->buffers[i].bytes = 0;
    return true;
}

static bool buffer_outside(struct plan *plan, uint32_t choice)
{
    move_buffer(plan, (int)(choice % (uint32_t)plan->buffer_count), plan->l2_arena_bytes);
    return true;
}

static bool l1_buffers_overlap(struct plan *plan, uint32_t choice)
{
    struct dory_layer *record = &layer_of(plan, choice)->record;
    record->l1.output[0] = record->l1.output[1] = record->l1.input[0];
    return true;
}

/* On a buffer of the layer before, which may be computing then. */
static bool weights_too_early(struct plan *plan, uint32_t choice)
{
    for (int i = 0; i + 1 < plan->network->layer_count; i++) {
        int before = (int)((choice + (uint32_t)i) % (uint32_t)(plan->network->layer_count - 1));
        const struct dory_layer *record = &plan->layers[before + 1].record;
        struct dory_step *first = &plan->steps[plan->layers[before + 1].first_step].record;
        uint32_t output = plan->layers[before].record.l1.output[0], weights = record->l1.weights[0];
        if (record->quad_bytes == 0 || first->weights_are_early || output < weights ||
            output >= weights + record->quad_bytes)
            continue;
        first->weights_are_early = 1;
        return true;
    }
    return false;
}

/* A tile that the generator has placed. */
static struct dory_prepared_tile *tile_of(struct plan *plan, uint32_t choice)
{
    return plan->tiles ? (struct dory_prepared_tile *)(uintptr_t)&plan->tiles[choice % plan_tile_count(plan)] : NULL;
}

static bool tile_stores_elsewhere(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    if (!tile || tile->store_count == 0)
        return false;
    tile->store.external = (void *)((uintptr_t)tile->store.external + 1);
    tile->tile.rows++;
    return true;
}

static bool tile_is_lost(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    if (!tile || tile->store_count == 0)
        return false;
    tile->store_count = 0;
    return true;
}

static bool tile_loads_behind_l1(struct plan *plan, uint32_t choice)
{
    struct dory_prepared_tile *tile = tile_of(plan, choice);
    if (!tile || tile->load_count == 0)
        return false;
    tile->loads[0].local = (void *)((uintptr_t)tile->loads[0].local + plan->l1_peak_bytes);
    return true;
}

static bool l1_too_large(struct plan *plan, uint32_t choice)
{
    struct dory_layer *record = &layer_of(plan, choice)->record;
    record->l1.output[0] = plan->l1_arena_bytes - 4;
    return true;
}

static bool l1_runtime_taken(struct plan *plan, uint32_t choice)
{
    layer_of(plan, choice)->record.l1.input[0] = 0;
    return true;
}

static bool tile_of_odd_channels(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = layer_of(plan, choice);
    if (layer->record.output_channels < 6)
        return false;
    layer->record.tile_channels = 5;
    return true;
}

static bool tile_larger(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = layer_of(plan, choice);
    if (layer->record.output_height < 2)
        return false;
    layer->record.tile_rows = (uint16_t)(layer->record.tile_rows + 200);
    return true;
}

static bool quads_miscounted(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = layer_of(plan, choice);
    if (!layer->weights_bytes)
        return false;
    layer->record.quad_bytes -= 16;
    return true;
}

static bool blobs_overlap(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = layer_of(plan, choice);
    if (!layer->weights_bytes)
        return false;
    layer->weights_address -= layer->weights_address >= 48 ? 8 : 0;
    layer->weights_address -= layer->weights_address == 32 ? 32 : 0;
    return true;
}

static bool other_kernel(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = layer_of(plan, choice);
    for (int i = 0; dory_reference_kernels[i]; i++)
        if (!dory_reference_kernels[i]->supports(&layer->record)) {
            layer->kernel = dory_reference_kernels[i];
            return true;
        }
    return false;
}

static bool writes_another_layout(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = layer_of(plan, choice);
    layer->record.output_layout = layer->record.output_layout == DORY_HWC ? DORY_CHW : DORY_HWC;
    return true;
}

static bool reads_another_layout(struct plan *plan, uint32_t choice)
{
    struct plan_layer *layer = layer_of(plan, choice);
    layer->record.input_layout = layer->record.input_layout == DORY_HWC ? DORY_CHW : DORY_HWC;
    return true;
}

static bool tensor_of_another_layout(struct plan *plan, uint32_t choice)
{
    struct plan_tensor *tensor = &plan->tensors[choice % (uint32_t)plan->network->tensor_count];
    tensor->layout = tensor->layout == DORY_HWC ? DORY_CHW : DORY_HWC;
    return true;
}

static bool memory_exceeded(struct plan *plan, uint32_t choice)
{
    (void)choice;
    plan->l2_peak_bytes = plan->l2_arena_bytes + 8;
    return true;
}

static bool step_missing(struct plan *plan, uint32_t choice)
{
    uint32_t index = choice % (uint32_t)plan->step_count;
    memmove(plan->steps + index, plan->steps + index + 1, (size_t)(plan->step_count - 1 - (int)index) * sizeof *plan->steps);
    plan->step_count--;
    return true;
}

static bool output_lost(struct plan *plan, uint32_t choice)
{
    (void)choice;
    struct plan_tensor *output = &plan->tensors[plan->network->outputs[0]];
    output->buffer = plan->tensors[plan->network->inputs[0]].buffer;
    return output->level == IN_L2 && plan->tensors[plan->network->inputs[0]].level == IN_L2;
}

/* All weights that stay, and the steps that read them, in the last bytes of the activations. */
static bool resident_lower(struct plan *plan, uint32_t choice)
{
    uint32_t lower = 64 + choice % 8 * 8;
    if (plan->resident_bytes == 0)
        return false;
    plan->resident_offset -= lower;
    for (int i = 0; i < plan->step_count; i++)
        if (plan->layers[plan->steps[i].layer].resident)
            plan->steps[i].record.weights_offset -= lower;
    return true;
}

static bool resident_not_loaded(struct plan *plan, uint32_t choice)
{
    plan->resident_bytes -= plan->resident_bytes ? 8 + choice % 8 * 8 : 0;
    return plan->resident_bytes > 0;
}

/* ---- of blocks ---- */

/* A tensor of which there is a ring that is less than all of it, from `choice` on; -1: there is none. */
static int ring_of(const struct plan *plan, uint32_t choice)
{
    for (int i = 0; i < plan->network->tensor_count; i++) {
        int tensor = (int)((choice + (uint32_t)i) % (uint32_t)plan->network->tensor_count);
        const struct plan_tensor *planned = &plan->tensors[tensor];
        if (planned->level == IN_RING && plan->buffers[planned->buffer].bytes < planned->bytes)
            return tensor;
    }
    return -1;
}

/* All steps agree on a ring with a row less. */
static bool ring_too_small(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    for (int i = 0; tensor >= 0 && i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];
        struct dory_window *windows[] = {&step->record.input[0], &step->record.input[1], &step->record.output};
        int buffers[] = {step->input_buffer[0], step->input_buffer[1], step->output_buffer};
        for (int j = 0; j < 3; j++)
            windows[j]->rows = (uint16_t)(windows[j]->rows - (buffers[j] == plan->tensors[tensor].buffer));
    }
    return tensor >= 0;
}

/* The step that writes a ring, or the first one that reads it, from `choice` on. */
static struct plan_step *step_at_ring(struct plan *plan, uint32_t choice, bool writes)
{
    int tensor = ring_of(plan, choice), buffer = tensor < 0 ? -2 : plan->tensors[tensor].buffer;
    for (int i = 0; i < plan->step_count; i++) {
        struct plan_step *step = step_of(plan, choice + (uint32_t)i);
        if ((writes ? step->output_buffer : step->input_buffer[0]) == buffer)
            return step;
    }
    return NULL;
}

static bool ring_turned_for_writer(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_at_ring(plan, choice, true);
    if (!step || step->record.output.rows < 2)
        return false;
    step->record.output.first_row = (uint16_t)(step->record.output.first_row ? step->record.output.first_row - 1 : 1);
    return true;
}

static bool ring_turned_for_reader(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_at_ring(plan, choice, false);
    if (!step || step->record.input[0].rows < 2)
        return false;
    step->record.input[0].first_row = (uint16_t)(step->record.input[0].first_row ? step->record.input[0].first_row - 1 : 1);
    return true;
}

static bool ring_dies_early(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    if (tensor >= 0)
        plan->buffers[plan->tensors[tensor].buffer].last_step--;
    return tensor >= 0;
}

static bool ring_comes_late(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    if (tensor >= 0)
        plan->buffers[plan->tensors[tensor].buffer].first_step++;
    return tensor >= 0;
}

static bool ring_taken_for_a_tensor(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    if (tensor >= 0)
        plan->tensors[tensor].level = IN_L2;
    return tensor >= 0;
}

static bool turn_does_not_drain(struct plan *plan, uint32_t choice)
{
    struct plan_step *step = step_at_ring(plan, choice, false);
    if (!step || step == plan->steps || step[-1].layer == step->layer)
        return false;
    step->record.drain = 0;
    return true;
}

static bool layers_in_no_block(struct plan *plan, uint32_t choice)
{
    int tensor = ring_of(plan, choice);
    if (tensor >= 0)
        plan->layers[plan->network->tensors[tensor].producer].block = -1;
    return tensor >= 0;
}

static bool another_layers_number(struct plan *plan, uint32_t choice)
{
    step_of(plan, choice)->record.layer_number++;
    return true;
}

#define KIND(name)                                                                                                          \
    {                                                                                                                       \
#name, name                                                                                                         \
    }
static const struct {
    const char *name;
    corrupt *apply;
} kinds[] = {
    KIND(output_moved),
    KIND(input_moved),
    KIND(weights_moved),
    KIND(fewer_rows),
    KIND(fewer_channels),
    KIND(rows_twice),
    KIND(window_misses_a_row),
    KIND(nothing_awaited),
    KIND(awaits_less),
    KIND(all_started_at_once),
    KIND(first_step_does_not_drain),
    KIND(results_not_drained),
    KIND(layer_ends_early),
    KIND(layer_does_not_end),
    KIND(steps_swapped),
    KIND(flash_address_wrong),
    KIND(transfer_too_short),
    KIND(transfer_too_long),
    KIND(transfer_unaligned),
    KIND(transfer_elsewhere),
    KIND(ram_address_wrong),
    KIND(ram_write_lost),
    KIND(buffers_overlap),
    KIND(buffers_overlap_secretly),
    KIND(buffer_outside),
    KIND(l1_buffers_overlap),
    KIND(weights_too_early),
    KIND(tile_stores_elsewhere),
    KIND(tile_is_lost),
    KIND(tile_loads_behind_l1),
    KIND(l1_too_large),
    KIND(l1_runtime_taken),
    KIND(tile_of_odd_channels),
    KIND(tile_larger),
    KIND(quads_miscounted),
    KIND(blobs_overlap),
    KIND(other_kernel),
    KIND(writes_another_layout),
    KIND(reads_another_layout),
    KIND(tensor_of_another_layout),
    KIND(memory_exceeded),
    KIND(step_missing),
    KIND(output_lost),
    KIND(resident_lower),
    KIND(resident_not_loaded),
    KIND(ring_too_small),
    KIND(ring_turned_for_writer),
    KIND(ring_turned_for_reader),
    KIND(ring_dies_early),
    KIND(ring_comes_late),
    KIND(ring_taken_for_a_tensor),
    KIND(turn_does_not_drain),
    KIND(layers_in_no_block),
    KIND(another_layers_number),
};
#define KINDS  (sizeof kinds / sizeof *kinds)
#define PLACES 12 /* at which each kind is tried in each plan */

/* Arrays that corruptions change are copied, so that the sound plan stays. */
static struct plan copy_plan(const struct plan *plan, struct arena *arena)
{
    struct plan copy = *plan;
#define COPY(member, count)                                                                                                 \
    (copy.member = arena_allocate(arena, (size_t)(count) * sizeof *copy.member),                                            \
     memcpy(copy.member, plan->member, (size_t)(count) * sizeof *copy.member))
    COPY(steps, plan->step_count);
    COPY(layers, plan->network->layer_count);
    COPY(tensors, plan->network->tensor_count);
    COPY(transfers, plan->transfer_count);
    COPY(buffers, plan->buffer_count);
    if (plan->tiles) {
        size_t bytes = plan_tile_count(plan) * sizeof *plan->tiles;
        copy.tiles = memcpy(arena_allocate(arena, bytes), plan->tiles, bytes);
    }
#undef COPY
    return copy;
}

static void test_plan(const struct plan *plan, int applied[KINDS], int refused[KINDS])
{
    struct arena arena = {0};
    for (size_t kind = 0; kind < KINDS; kind++)
        for (uint32_t place = 0; place < PLACES; place++) {
            struct plan copy = copy_plan(plan, &arena);
            struct diagnostics diagnostics = {.arena = &arena};
            if (!kinds[kind].apply(&copy, place * 7 + (uint32_t)kind))
                continue;
            bool good = plan_check(&copy, &diagnostics);
            applied[kind]++;
            refused[kind] += !good;
            EXPECT(good || strstr(diagnostics.list[0].text, "a fault of dory"), "%s: %s", kinds[kind].name,
                   diagnostics.list[0].text);
        }
    arena_free(&arena);
}

int main(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    int applied[KINDS] = {0}, refused[KINDS] = {0};
    const struct network *networks[] = {mobilenet_v1(&arena, 64, 50), residual_network(&arena, 32, 24)};
    EXPECT(target_load(&target, "host", &arena, &diagnostics), "host is built in");
    for (int i = 0; i < 10; i++) {
        static const uint32_t l2_bytes[] = {300000, 60000, 24000};
        static const enum plan_weights weights[10] = {[6] = WEIGHTS_RESIDENT, [7] = WEIGHTS_LINKED};
        struct plan plan;
        struct plan_options options = {.weights = weights[i],
                                       .l1_bytes = 16000,
                                       .l2_bytes = l2_bytes[i % 3 * (i < 6)],
                                       .blocks = i < 8 ? BLOCKS_NONE : BLOCKS_ALWAYS,
                                       .layouts = i % 2 ? LAYOUTS_CHW : LAYOUTS_HWC};
        bool sound = plan_make(networks[i / 3 > 0 && i != 8], &target, &options, &plan, &arena, &diagnostics);
        if (sound && i % 2) {
            plan_bring_early(&plan, &arena);
            plan.tiles = plan_place_tiles(&plan, &arena);
        }
        sound = sound && plan_check(&plan, &diagnostics);
        EXPECT(sound, "%s", diagnostics.count ? diagnostics.list[0].text : "");
        if (sound)
            test_plan(&plan, applied, refused);
    }
    for (size_t kind = 0; kind < KINDS; kind++) {
        bool may_do_no_harm = kinds[kind].apply == transfer_too_short; /* weights read a second time are there already */
        int least = may_do_no_harm ? applied[kind] * 9 / 10 : applied[kind];
        EXPECT(applied[kind] > 0 && refused[kind] >= least, "%s: refused %d of %d", kinds[kind].name, refused[kind],
               applied[kind]);
    }
    arena_free(&arena);
    return expect_result("check");
}
