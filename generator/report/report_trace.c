/* report_trace.json: the timeline in Chrome's trace format, for about:tracing and ui.perfetto.dev. The format counts in
 * microseconds; one of them is one predicted cycle here. */
#include "report/report_files.h"

#include "describe/layer_operation.h"
#include "dory/hal.h"
#include "plan/lives.h"
#include "report/plan_views.h"
#include "report/report_layer.h"
#include "report/report_values.h"

enum track { TRACK_STEPS = 1, TRACK_L3, TRACK_LOADS, TRACK_STORES, TRACK_CORE = 10 }; /* and one more for each core */

struct trace {
    const struct report *report;
    struct arena *arena;
    json_t *events;
};

/* ---- events ---- */

static json_t *add_event(struct trace *trace, const char *phase, const char *name, unsigned track, uint64_t cycle)
{
    json_t *event = value_object();
    set_text(event, "ph", phase);
    set_text(event, "name", name);
    set_number(event, "pid", 1);
    set_number(event, "tid", track);
    set_number(event, "ts", cycle);
    append_value(trace->events, event);
    return event;
}

/* Its arguments, to be filled. */
static json_t *add_slice(struct trace *trace, const char *name, const char *category, unsigned track, uint64_t start,
                         uint64_t end)
{
    json_t *event = add_event(trace, "X", name, track, start), *arguments = value_object();
    set_text(event, "cat", category);
    set_number(event, "dur", end - start);
    set_value(event, "args", arguments);
    return arguments;
}

/* "process_name", "thread_name" and the like. */
static void add_name(struct trace *trace, const char *what, unsigned track, const char *name)
{
    json_t *arguments = value_object();
    set_text(arguments, "name", name);
    set_value(add_event(trace, "M", what, track, 0), "args", arguments);
}

static void add_track(struct trace *trace, unsigned track, const char *name)
{
    json_t *arguments = value_object();
    add_name(trace, "thread_name", track, name);
    set_number(arguments, "sort_index", track);
    set_value(add_event(trace, "M", "thread_sort_index", track, 0), "args", arguments);
}

/* An arrow from a transfer to the step that needs it. */
static void add_arrow(struct trace *trace, int transfer, uint64_t from, uint64_t to)
{
    json_t *start = add_event(trace, "s", "needed", TRACK_L3, from);
    json_t *finish = add_event(trace, "f", "needed", TRACK_STEPS, to);
    set_text(start, "cat", "l3");
    set_text(finish, "cat", "l3");
    set_text(finish, "bp", "e");
    set_number(start, "id", (uint64_t)transfer);
    set_number(finish, "id", (uint64_t)transfer);
}

/* ---- steps ---- */

static void add_step(struct trace *trace, int index)
{
    const struct plan *plan = trace->report->plan;
    const struct plan_step *step = &plan->steps[index];
    const struct timeline_step *times = &trace->report->timeline->steps[index];
    const char *layer = plan->network->layers[step->layer].name;
    if (times->start_cycle > times->begin_cycle)
        add_slice(trace, "wait for L3", "wait", TRACK_STEPS, times->begin_cycle, times->start_cycle);
    json_t *arguments = add_slice(trace, arena_format(trace->arena, "%d %s", step->layer, layer),
                                  layer_identifier(plan->network, &plan->network->layers[step->layer]), TRACK_STEPS,
                                  times->start_cycle, times->end_cycle);
    set_number(arguments, "step", (uint64_t)index);
    set_number(arguments, "first_row", step->record.first_row);
    set_number(arguments, "rows", step->record.rows);
    set_number(arguments, "first_channel", step->record.first_channel);
    set_number(arguments, "channels", step->record.channels);
}

/* ---- tiles ---- */

struct tiles {
    struct trace *trace;
    int layer;
    const char *name;
};

/* So many as make the tile as fast as all of them do: the others have nothing to do that is not hidden behind these. */
static unsigned busy_cores(const struct plan *plan, const struct plan_layer *layer, const struct tile_event *tile)
{
    unsigned cores = 1;
    while (cores < plan->cores && layer->kernel->cycles(&layer->record, &tile->shape, cores) > tile->cycles)
        cores++;
    return cores;
}

static void add_kernel(const struct tiles *tiles, const struct tile_event *tile)
{
    const struct plan *plan = tiles->trace->report->plan;
    const struct plan_layer *layer = &plan->layers[tiles->layer];
    unsigned cores = busy_cores(plan, layer, tile);
    for (unsigned core = 0; core < cores; core++) {
        json_t *arguments =
            add_slice(tiles->trace, tiles->name, "kernel", TRACK_CORE + core, tile->start, tile->start + tile->cycles);
        set_number(arguments, "tile", tile->tile);
        if (core > 0)
            continue;
        set_text(arguments, "kernel", layer->kernel->name);
        set_number(arguments, "rows", tile->shape.rows);
        set_number(arguments, "columns", tile->shape.columns);
        set_number(arguments, "channels", tile->shape.channels);
        set_number(arguments, "input_channels", tile->shape.input_channels);
    }
}

static void see_tile(void *context, const struct tile_event *tile)
{
    const struct tiles *tiles = context;
    if (tile->kind == TILE_KERNEL) {
        add_kernel(tiles, tile);
        return;
    }
    bool loads = tile->kind == TILE_LOAD;
    json_t *arguments = add_slice(tiles->trace, tiles->name, loads ? "load" : "store", loads ? TRACK_LOADS : TRACK_STORES,
                                  tile->start, tile->start + tile->cycles);
    set_number(arguments, "tile", tile->tile);
}

static void add_tiles(struct trace *trace, int layer)
{
    const struct report *report = trace->report;
    struct tiles tiles = {.trace = trace, .layer = layer};
    tiles.name = arena_format(trace->arena, "%d %s", layer, report->plan->network->layers[layer].name);
    struct tile_observer observer = {see_tile, &tiles};
    timeline_watch_tiles(report->plan, report->timeline, layer, &observer, trace->arena);
}

/* ---- L2 ---- */

static void add_live_bytes(struct trace *trace, const uint32_t *live, int step)
{
    json_t *arguments = value_object();
    set_number(arguments, "bytes", live[step]);
    set_value(add_event(trace, "C", "L2 in use", TRACK_STEPS, trace->report->timeline->steps[step].begin_cycle), "args",
              arguments);
}

/* ---- transfers ---- */

/* What is moved: "0 conv1 -> 87" of a tensor, "3 conv4 weights". */
static const char *transfer_name(const struct trace *trace, const struct plan_transfer *transfer)
{
    const struct plan *plan = trace->report->plan;
    const struct plan_buffer *buffer = transfer->buffer < 0 ? NULL : &plan->buffers[transfer->buffer];
    if (!buffer || !buffer->name)
        return "transfer";
    int producer = buffer->tensor < 0 ? NO_LAYER : plan->network->tensors[buffer->tensor].producer;
    if (producer != NO_LAYER)
        return arena_format(trace->arena, "%d %s -> %s", producer, plan->network->layers[producer].name, buffer->name);
    return buffer->layer < 0 ? buffer->name : arena_format(trace->arena, "%d %s", buffer->layer, buffer->name);
}

static void add_transfer(struct trace *trace, int index)
{
    static const char *const kinds[] = {
        [HAL_FLASH_READ] = "flash read", [HAL_RAM_READ] = "RAM read", [HAL_RAM_WRITE] = "RAM write"};
    const struct plan *plan = trace->report->plan;
    const struct plan_transfer *transfer = &plan->transfers[index];
    const struct timeline_transfer *times = &trace->report->timeline->transfers[index];
    json_t *arguments = add_slice(trace, transfer_name(trace, transfer), kinds[transfer->record.kind], TRACK_L3,
                                  times->start_cycle, times->end_cycle);
    set_number(arguments, "bytes", (uint64_t)transfer->record.run_bytes * transfer->record.runs);
    set_number(arguments, "queued_cycle", times->queued_cycle);
    set_number(arguments, "start_step", (uint64_t)transfer->start_step);
    set_number(arguments, "needed_step", (uint64_t)transfer->needed_step);
    if (transfer->needed_step < plan->step_count)
        add_arrow(trace, index, times->start_cycle, trace->report->timeline->steps[transfer->needed_step].start_cycle);
}

/* ---- all of it ---- */

static void add_tracks(struct trace *trace)
{
    const char *target = trace->report->plan->target->name;
    add_name(trace, "process_name", TRACK_STEPS, arena_format(trace->arena, "%s, predicted cycles as microseconds", target));
    add_track(trace, TRACK_STEPS, "steps");
    add_track(trace, TRACK_L3, "L3 transfers");
    add_track(trace, TRACK_LOADS, "tiles, L2 to L1");
    add_track(trace, TRACK_STORES, "tiles, L1 to L2");
    for (unsigned core = 0; core < trace->report->plan->cores; core++)
        add_track(trace, TRACK_CORE + core, arena_format(trace->arena, "core %u", core));
}

const char *report_trace(const struct report *report, struct arena *arena)
{
    struct trace trace = {.report = report, .arena = arena, .events = value_array()};
    const struct plan *plan = report->plan;
    const uint32_t *live = buffers_live_bytes(plan->buffers, plan->buffer_count, plan->step_count, arena);
    add_tracks(&trace);
    for (int i = 0; i < report->plan->step_count; i++) {
        add_step(&trace, i);
        add_live_bytes(&trace, live, i);
    }
    for (int i = 0; i < report->plan->network->layer_count; i++)
        add_tiles(&trace, i);
    for (int i = 0; i < report->plan->transfer_count; i++)
        add_transfer(&trace, i);
    json_t *root = value_object();
    set_text(root, "displayTimeUnit", "ns");
    set_value(root, "traceEvents", trace.events);
    return value_print(root, true, arena);
}
