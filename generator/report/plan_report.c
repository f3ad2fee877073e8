#include "report/plan_report.h"

#include <inttypes.h>
#include <string.h>

#include "describe/requantise.h"
#include "plan/lives.h"
#include "plan/table_bytes.h"
#include "plan/timeline.h"
#include "report/plan_views.h"

static const char *row_format = "%-*s %-12s %-12s %-*s %-20s %6s %6s %12s %9s %7s %8s %8s %11s %6s\n";

static const char *shape_text(struct arena *arena, uint32_t height, uint32_t width, uint32_t channels)
{
    return arena_format(arena, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, height, width, channels);
}

/* What lives in L2 at most while the layer runs. */
static uint64_t live_bytes(const struct plan *plan, const struct plan_layer *layer, struct arena *arena)
{
    const uint32_t *live = buffers_live_bytes(plan->buffers, plan->buffer_count, plan->step_count, arena);
    uint32_t most = 0;
    for (int step = layer->first_step; step <= layer->last_step; step++)
        most = live[step] > most ? live[step] : most;
    return most;
}

static const char *levels_text(const struct plan *plan, int index)
{
    const struct layer *layer = &plan->network->layers[index];
    bool input = plan->tensors[layer->inputs[0]].level == IN_RAM;
    bool second = layer_has_two_inputs(layer) && plan->tensors[layer->inputs[1]].level == IN_RAM;
    bool output = plan->tensors[layer->output].level == IN_RAM;
    return (input || second) && output ? "in+out" : input || second ? "in" : output ? "out" : "-";
}

/* MAC per cycle with two digits, in integers: the same text on any machine. */
static const char *rate_text(struct arena *arena, uint64_t macs, uint64_t cycles)
{
    uint64_t hundredths = cycles ? macs * 100 / cycles : 0;
    return macs ? arena_format(arena, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100) : "-";
}

static const char *number_text(struct arena *arena, uint64_t number) { return arena_format(arena, "%" PRIu64, number); }

static const char *printable(struct arena *arena, const char *name)
{
    struct text text = {.arena = arena};
    text_add_in_comment(&text, name);
    return text.bytes ? text.bytes : "";
}

static const char *kernel_name(const struct plan *plan, int index)
{
    const char *name = plan->layers[index].kernel->name;
    if (plan->layers[index].is_added)
        return "made with the layer before";
    return strncmp(name, "dory_", 5) ? name : name + 5;
}

/* Of the columns whose texts have any length: the longest, up to what leaves a line readable. */
struct widths {
    int layer, kernel;
};

static int wider(int width, const char *text)
{
    int length = strlen(text) > 48 ? 48 : (int)strlen(text);
    return length > width ? length : width;
}

static struct widths widths_of(const struct plan *plan, struct arena *arena)
{
    struct widths widths = {20, 30};
    for (int i = 0; i < plan->network->layer_count; i++) {
        widths.layer = wider(widths.layer, printable(arena, plan->network->layers[i].name));
        widths.kernel = wider(widths.kernel, kernel_name(plan, i));
    }
    return widths;
}

static void add_layer(struct text *text, const struct plan *plan, int index, struct widths widths)
{
    struct arena *arena = text->arena;
    const struct plan_layer *layer = &plan->layers[index];
    const struct dory_layer *record = &layer->record;
    const char *tile = shape_text(arena, record->tile.rows, record->tile.columns, record->tile.channels);
    if (record->operation == DORY_CONVOLUTION && record->tile.input_channels < record->input_channels)
        tile = arena_format(arena, "%s/%d", tile, record->tile.input_channels);
    text_add(text, row_format, widths.layer, printable(arena, plan->network->layers[index].name),
             shape_text(arena, record->input_height, record->input_width, record->input_channels),
             shape_text(arena, record->output_height, record->output_width, record->output_channels), widths.kernel,
             kernel_name(plan, index), tile, number_text(arena, layer->tile_count),
             number_text(arena, (uint64_t)layer->step_count), number_text(arena, layer->macs),
             number_text(arena, layer->weights_bytes), levels_text(plan, index), number_text(arena, layer->l1_bytes),
             number_text(arena, live_bytes(plan, layer, arena)), number_text(arena, layer->predicted_cycles),
             rate_text(arena, layer->macs, layer->predicted_cycles));
}

static void add_resident(struct text *text, const struct plan *plan)
{
    text_add(text, "Weights: %" PRIu32 " bytes stay in L2 from run to run, brought there once", plan->resident_bytes);
    if (plan->flash_cycles > plan->predicted_cycles)
        text_add(text, ": a run takes %" PRIu64 " cycles less than the %" PRIu64 " with all of them in the flash",
                 plan->flash_cycles - plan->predicted_cycles, plan->flash_cycles);
    text_add_string(text, "\n");
}

static void add_memories(struct text *text, const struct plan *plan)
{
    text_add(text, "L1: %" PRIu32 " of %" PRIu32 " bytes\n", plan->l1_peak_bytes, plan->l1_arena_bytes);
    text_add(text, "L2: %" PRIu32 " of %" PRIu32 " bytes; %" PRIu32 " live at most%s\n", plan->l2_peak_bytes,
             plan->l2_arena_bytes, plan->l2_live_bytes,
             plan->l2_peak_bytes == plan->l2_live_bytes
                 ? ", so that no placement is smaller"
                 : arena_format(text->arena, ", %" PRIu32 " are gaps, which cost at most %" PRIu64 " cycles",
                                plan->l2_peak_bytes - plan->l2_live_bytes, plan->l2_gap_cycles));
    if (plan->l2_firmware_bytes)
        text_add(text,
                 "L2 beside it: %" PRIu32 " bytes of code, %" PRIu32 " of application, %" PRIu32 " of tables, %" PRIu32
                 " free\n",
                 plan->l2_firmware_bytes - plan->l2_application_bytes, plan->l2_application_bytes, table_bytes_of_plan(plan),
                 plan->target->l2_bytes - plan->l2_firmware_bytes - table_bytes_of_plan(plan) - plan->l2_peak_bytes);
    text_add(text, "RAM: %" PRIu32 " bytes, flash: %" PRIu32 " bytes\n", plan->ram_bytes,
             plan->weights_are_linked ? 0 : plan->flash_bytes);
    if (plan->weights_are_linked)
        text_add(text, "Weights: %" PRIu32 " bytes linked into the program\n", plan->flash_bytes);
    if (plan->resident_bytes)
        add_resident(text, plan);
}

/* Hundredths of a percent, rounded up: no gap is told smaller than it is. */
static const char *gap_text(struct arena *arena, uint64_t cycles, uint64_t bound)
{
    uint64_t hundredths = bound ? ((cycles > bound ? cycles - bound : 0) * 10000 + bound - 1) / bound : 0;
    return arena_format(arena, "%" PRIu64 ".%02" PRIu64 " %%", hundredths / 100, hundredths % 100);
}

/* What the flash alone makes of the end of a network with large weights there. */
static void add_tail(struct text *text, const struct plan *plan)
{
    const struct plan_proof *proof = &plan->proof;
    if (proof->tail_bytes == 0)
        return;
    text_add(text, "flash: at least %" PRIu64 " cycles, as %" PRIu64 " bytes of weights are still to come when '",
             proof->tail_cycles, proof->tail_bytes);
    text_add_in_comment(text, plan->network->layers[proof->tail_layer].name);
    text_add(text, "' starts; computing alone: %" PRIu64 " cycles\n", proof->compute_cycles);
}

static void add_proof(struct text *text, const struct plan *plan)
{
    const struct plan_proof *proof = &plan->proof;
    if (!plan_has_bound(plan)) {
        text_add(text, "with %s, for which no bound is known\n",
                 plan->moved_without_blocks.cycles ? "blocks of layers" : "weights that several layers share");
        return;
    }
    if (proof->rounds == 0) { /* the smallest plan, made without a choice */
        text_add_string(text, "not optimised: only the smallest plan fits\n");
        return;
    }
    const char *effort = arena_format(text->arena, "runs of the solver: %d, nodes: %d", proof->rounds, proof->nodes);
    if (proof->is_optimal)
        text_add(text,
                 "proven optimal: in these layouts, of all tiles and places of tensors compared, none is faster (%s)\n",
                 effort);
    else
        text_add(text,
                 "within %s of the optimum: in these layouts, of all tiles and places of tensors compared, none takes fewer "
                 "than %" PRIu64 " cycles (%s)\n",
                 gap_text(text->arena, proof->searched_cycles, proof->bound_cycles), proof->bound_cycles, effort);
    if (proof->searched_cycles > plan->predicted_cycles)
        text_add(text, "compared with %" PRIu64 " cycles, before the first weights of layers were brought early\n",
                 proof->searched_cycles);
    add_tail(text, plan);
}

static void add_requantisations(struct text *text, const struct plan *plan)
{
    text_add_string(text, "\nRequantisation\n");
    for (int i = 0; i < plan->network->layer_count; i++) {
        if (!plan->layers[i].requantisation)
            continue;
        text_add_string(text, "  ");
        text_add_in_comment(text, plan->network->layers[i].name);
        text_add(text, ": %s\n", requantisation_text(plan->layers[i].requantisation, text->arena));
    }
}

static void add_traffic(struct text *text, const char *which, const struct plan_traffic *moved)
{
    text_add(text, "%s: %" PRIu64 " bytes from the flash, %" PRIu64 " from and to RAM, %" PRIu64 " between L2 and L1", which,
             moved->flash_bytes, moved->ram_bytes, moved->l1_bytes);
}

/* Layers that take turns, and what is moved, with them and without. */
static void add_blocks(struct text *text, const struct plan *plan)
{
    for (int i = 0; i < plan->network->layer_count; i++) {
        int end = i;
        while (end < plan->network->layer_count && plan->layers[i].block == i && plan->layers[end].block == i)
            end++;
        if (end > i)
            text_add(text, "block: layers %d to %d take turns, %d steps: what lies between them is never whole\n", i,
                     end - 1, plan->layers[end - 1].last_step - plan->layers[i].first_step + 1);
    }
    add_traffic(text, "moved", &plan->moved);
    text_add_string(text, "\n");
    if (plan->moved_without_blocks.cycles == 0)
        return;
    add_traffic(text, "without blocks", &plan->moved_without_blocks);
    text_add(text, ", in %" PRIu64 " cycles\n", plan->moved_without_blocks.cycles + plan->start_cycles);
}

static void add_total(struct text *text, const struct plan *plan, uint64_t macs)
{
    struct timeline timeline;
    timeline_make(plan, &timeline, text->arena);
    text_add(text, "\n%" PRIu64 " cycles in all, %" PRIu64 " of them waiting for L3, ", plan->predicted_cycles,
             timeline.l3_wait_cycles);
    text_add(text, "%" PRIu64 " before the first layer: %s MAC/cycle\n", plan->start_cycles,
             rate_text(text->arena, macs, plan->predicted_cycles));
}

void plan_report(struct text *text, const struct plan *plan)
{
    struct arena *arena = text->arena;
    uint64_t macs = 0, cycles = 0, weights = 0, tiles = 0;
    text_add(text, "Target %s, %u cores%s\n\n", plan->target->name, plan->cores,
             plan->target->counts_instructions ? "; cycles stand for instructions, of a board's cycles nothing is said"
                                               : "");
    struct widths widths = widths_of(plan, arena);
    text_add(text, row_format, widths.layer, "layer", "input", "output", widths.kernel, "kernel", "tile", "tiles", "steps",
             "MAC", "weights B", "in RAM", "L1 B", "L2 B", "cycles", "MAC/c");
    for (int i = 0; i < plan->network->layer_count; i++) {
        add_layer(text, plan, i, widths);
        macs += plan->layers[i].macs;
        cycles += plan->layers[i].predicted_cycles;
        weights += plan->layers[i].weights_bytes;
        tiles += plan->layers[i].tile_count;
    }
    text_add(text, row_format, widths.layer, "all layers", "", "", widths.kernel, "", "", number_text(arena, tiles),
             number_text(arena, (uint64_t)plan->step_count), number_text(arena, macs), number_text(arena, weights), "", "",
             "", number_text(arena, cycles), rate_text(arena, macs, cycles));
    add_total(text, plan, macs);
    add_proof(text, plan);
    add_blocks(text, plan);
    add_memories(text, plan);
    add_requantisations(text, plan);
}

/* ---- what is wrong with it ---- */

/* The engine that a target turns to where all others have no kernel. */
static const struct dory_engine *last_resort(const struct target *target)
{
    const struct dory_engine *const *engine = target->engines;
    while (engine[1])
        engine++;
    return engine == target->engines ? NULL : *engine;
}

void plan_warn(const struct plan *plan, struct diagnostics *diagnostics)
{
    const struct dory_engine *slow = last_resort(plan->target);
    for (int i = 0; i < plan->network->layer_count; i++)
        if (slow && plan->layers[i].engine == slow)
            diagnose(diagnostics, SEVERITY_WARNING, plan->network->layers[i].name, NULL,
                     "layer %d: no kernel for %s computes it, but the %s %s: about %" PRIu64 " of the network's %" PRIu64
                     " cycles",
                     i, plan->target->name, slow->name, plan->layers[i].kernel->name, plan->layers[i].predicted_cycles,
                     plan->predicted_cycles);
}
