/* Steps, buffers and transfers that follow from a decision, and when each transfer starts.
 *
 * Transfers are queued first in, first out, so the only freedom is when each enters the queue. It enters as soon as the
 * bytes it fills are free, in the order in which the data are needed; with a fixed order that is optimal. Data in RAM add
 * two things: a read waits for the write of what it reads, and while such transfers are still to come, prefetches that
 * nobody needs yet only fill the time in which L3 would idle, so that they do not stand in the queue before urgent ones.
 *
 * The walk over the steps keeps a time for its decisions; timeline.c then says how long the result takes. */
#include "plan/planner.h"

#include <string.h>

#include "dory/hal.h"
#include "plan/timeline.h"

#define NO_STEP (-1)

/* A transfer to come. */
struct item {
    struct plan_transfer transfer;
    int after; /* step whose results it reads: it is queued behind their write; NO_STEP: none */
    bool is_queued;
};

struct builder {
    const struct planner *planner;
    struct schedule *schedule;
    struct arena *arena;
    const uint32_t *capacity;    /* by step */
    struct item *reads, *writes; /* in the order of need, of the steps that make them */
    int read_count, write_count, read_capacity, write_capacity;
    int buffer_capacity;
    uint32_t *live; /* bytes, by step */
    /* the walk */
    uint64_t *finish;    /* by place in the queue: predicted time at which it is done */
    uint64_t queue_free; /* time at which L3 is idle again */
    int last_ram_need;   /* last step that waits for a transfer from or to RAM */
    int first_waiting;   /* reads before it are queued */
};

/* ---- growing arrays ---- */

#define GROW(builder, array, count, capacity)                                                                               \
    do {                                                                                                                    \
        if ((count) == (capacity)) {                                                                                        \
            size_t bytes = (size_t)(count) * sizeof *(array);                                                               \
            (capacity) = (capacity) ? 2 * (capacity) : 64;                                                                  \
            void *grown = arena_allocate((builder)->arena, (size_t)(capacity) * sizeof *(array));                           \
            if (bytes)                                                                                                      \
                memcpy(grown, (array), bytes);                                                                              \
            (array) = grown;                                                                                                \
        }                                                                                                                   \
    } while (0)

static int add_buffer(struct builder *b, enum plan_buffer_kind kind, uint32_t bytes, int first, int last)
{
    struct schedule *s = b->schedule;
    GROW(b, s->buffers, s->buffer_count, b->buffer_capacity);
    s->buffers[s->buffer_count] = (struct plan_buffer){
        .kind = kind, .tensor = -1, .layer = -1, .bytes = aligned(bytes), .first_step = first, .last_step = last};
    return s->buffer_count++;
}

static struct item *add_read(struct builder *b)
{
    GROW(b, b->reads, b->read_count, b->read_capacity);
    return &b->reads[b->read_count++];
}

static struct item *add_write(struct builder *b)
{
    GROW(b, b->writes, b->write_count, b->write_capacity);
    return &b->writes[b->write_count++];
}

/* ---- transfers of a step ---- */

static bool same_window(const struct dory_window *a, const struct dory_window *b)
{
    return a->first_row == b->first_row && a->rows == b->rows && a->first_channel == b->first_channel &&
           a->channels == b->channels;
}

struct operand {
    const struct dory_layer *run;
    unsigned index; /* 0, 1: inputs, 2: output */
    uint32_t width, channels;
};

static struct operand operand_of(const struct dory_layer *run, unsigned index)
{
    return (struct operand){
        .run = run, .index = index, .width = operand_width(run, index), .channels = operand_channels(run, index)};
}

/* The copy of some rows of a window; addresses are relative to tensor and buffer. */
static struct dory_transfer copy_rows(const struct operand *operand, const struct dory_window *window, uint32_t first,
                                      uint32_t rows, enum hal_l3_kind kind)
{
    uint32_t pixel = operand_pixel_bytes(operand->run, operand->index, operand->channels);
    uint32_t part = operand_pixel_bytes(operand->run, operand->index, window->channels);
    struct dory_transfer copy = {
        .kind = (uint8_t)kind,
        .l3_address = (window->first_row + first) * operand->width * pixel +
                      operand_pixel_bytes(operand->run, operand->index, window->first_channel),
        .l2_offset = first * operand->width * part,
    };
    if (window->channels == operand->channels) {
        copy.runs = 1;
        copy.run_bytes = dory_round_up(rows * operand->width * pixel, HAL_L3_ALIGNMENT);
    } else {
        copy.runs = (uint16_t)(rows * operand->width);
        copy.run_bytes = part;
        copy.l3_stride = pixel;
        copy.l2_stride = part;
    }
    return copy;
}

/* Adds the transfers of a window: one, or several where it has more runs than one transfer can. */
static void add_window_transfers(struct builder *b, const struct operand *operand, const struct dory_window *window,
                                 const struct item *template)
{
    bool whole = window->channels == operand->channels, write = template->transfer.run.kind == HAL_RAM_WRITE;
    uint32_t most = whole ? window->rows : UINT16_MAX / operand->width;
    for (uint32_t first = 0; first < window->rows; first += most) {
        struct item *item = write ? add_write(b) : add_read(b);
        *item = *template;
        item->transfer.run = copy_rows(operand, window, first, dory_minimum(most, window->rows - first),
                                       (enum hal_l3_kind) template->transfer.run.kind);
    }
}

/* The last step that writes bytes which the window reads. */
static int last_writer(const struct builder *b, int tensor, const struct operand *operand, const struct dory_window *window)
{
    const struct planner *p = b->planner;
    int producer = p->network->tensors[tensor].producer;
    if (producer == NO_LAYER)
        return NO_STEP;
    const struct dory_layer *run = &p->layers[producer].run;
    uint64_t row_bytes = operand_row_bytes(operand->run, operand->index), producer_row_bytes = operand_row_bytes(run, 2);
    uint64_t start = window->first_row * row_bytes, end = start + window->rows * row_bytes;
    int step = b->schedule->first_step[producer + 1] - 1;
    for (; step > b->schedule->first_step[producer]; step--) {
        const struct dory_step *writer = &b->schedule->steps[step].run;
        uint64_t first = writer->first_row * producer_row_bytes, last = first + writer->rows * producer_row_bytes;
        bool apart = last <= start || end <= first;
        if (!apart)
            break;
    }
    return step;
}

static int add_input_window(struct builder *b, int layer, int step, unsigned operand_index, bool reserve)
{
    const struct planner *p = b->planner;
    struct operand operand = operand_of(&p->layers[layer].run, operand_index);
    const struct dory_window *window = &b->schedule->steps[step].run.input[operand_index];
    int tensor = p->network->layers[layer].inputs[operand_index];
    int buffer = add_buffer(b, BUFFER_WINDOW, operand_window_bytes(operand.run, operand.index, window),
                            step - (reserve ? 1 : 0), step);
    b->schedule->buffers[buffer].tensor = tensor;
    struct item item = {.transfer = {.run = {.kind = HAL_RAM_READ}, .buffer = buffer, .needed_step = step},
                        .after = last_writer(b, tensor, &operand, window)};
    add_window_transfers(b, &operand, window, &item);
    return buffer;
}

static int add_output_window(struct builder *b, int layer, int step, bool ahead)
{
    const struct planner *p = b->planner;
    struct operand operand = operand_of(&p->layers[layer].run, 2);
    const struct dory_window *window = &b->schedule->steps[step].run.output;
    int last = step + (ahead ? 1 : 0);
    int buffer = add_buffer(b, BUFFER_WINDOW, operand_window_bytes(operand.run, operand.index, window), step,
                            last < b->schedule->step_count ? last : b->schedule->step_count - 1);
    b->schedule->buffers[buffer].tensor = p->network->layers[layer].output;
    struct item item = {
        .transfer = {.run = {.kind = HAL_RAM_WRITE}, .buffer = buffer, .start_step = step + 1, .needed_step = last + 1},
        .after = step};
    add_window_transfers(b, &operand, window, &item);
    return buffer;
}

static int add_weights(struct builder *b, int layer, int step, bool reserve)
{
    const struct cut *cut = b->planner->choices[layer].cut;
    const struct dory_step *run = &b->schedule->steps[step].run;
    uint32_t bytes = dory_divide_up(run->channels, 4) * cut->quad_bytes;
    int buffer = add_buffer(b, BUFFER_WEIGHTS, bytes, step - (reserve ? 1 : 0), step);
    b->schedule->buffers[buffer].layer = layer;
    *add_read(b) = (struct item){.transfer = {.run = {.kind = HAL_FLASH_READ,
                                                      .runs = 1,
                                                      .run_bytes = bytes,
                                                      .l3_address = run->first_channel / 4u * cut->quad_bytes},
                                              .buffer = buffer,
                                              .needed_step = step},
                                 .after = NO_STEP};
    return buffer;
}

/* ---- steps and buffers ---- */

static void add_tensor_buffers(struct builder *b)
{
    const struct network *network = b->planner->network;
    struct schedule *s = b->schedule;
    for (int t = 0; t < network->tensor_count; t++) {
        s->tensor_buffer[t] = -1;
        if (b->planner->homes[t] != HOME_L2)
            continue;
        int producer = network->tensors[t].producer;
        int first = producer == NO_LAYER ? 0 : s->first_step[producer];
        /* an observer looks at a layer's output when the next layer is about to start, even if nobody reads it */
        int last = producer == NO_LAYER ? 0 : s->first_step[producer + 1];
        for (int l = 0; l < network->layer_count; l++)
            for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
                if (network->layers[l].inputs[i] == t && s->first_step[l + 1] - 1 > last)
                    last = s->first_step[l + 1] - 1;
        for (int i = 0; i < network->output_count; i++)
            last = network->outputs[i] == t ? s->step_count - 1 : last;
        last = last < s->step_count ? last : s->step_count - 1;
        s->tensor_buffer[t] = add_buffer(b, BUFFER_TENSOR, tensor_bytes(&network->tensors[t]), first, last);
        s->buffers[s->tensor_buffer[t]].tensor = t;
    }
}

static void add_steps(struct builder *b)
{
    const struct planner *p = b->planner;
    struct schedule *s = b->schedule;
    for (int l = 0; l < p->network->layer_count; l++)
        s->step_count += (int)p->choices[l].cut->step_count;
    s->steps = arena_array(b->arena, struct plan_step, (size_t)s->step_count);
    int step = 0;
    for (int l = 0; l < p->network->layer_count; l++) {
        const struct cut *cut = p->choices[l].cut;
        s->first_step[l] = step;
        for (uint32_t i = 0; i < cut->step_count; i++, step++)
            s->steps[step] = (struct plan_step){
                .run = cut->steps[i], .layer = l, .input_buffer = {-1, -1}, .output_buffer = -1, .weights_buffer = -1};
    }
    s->first_step[p->network->layer_count] = step;
}

/* Buffers of one step: those of the step before where they hold the same, else new ones with their transfers. */
static void attach_buffers(struct builder *b, int index)
{
    const struct planner *p = b->planner;
    struct schedule *s = b->schedule;
    struct plan_step *step = &s->steps[index];
    const struct layer *layer = &p->network->layers[step->layer];
    const struct plan_step *before = index > s->first_step[step->layer] ? &s->steps[index - 1] : NULL;
    bool reserve = before && p->choices[step->layer].ahead;

    if (layer_has_weights(&p->layers[step->layer].run)) {
        bool same = before && before->run.first_channel == step->run.first_channel;
        step->weights_buffer = same ? before->weights_buffer : add_weights(b, step->layer, index, reserve);
        s->buffers[step->weights_buffer].last_step = index;
    }
    for (unsigned i = 0; i < (unsigned)layer_input_count(layer); i++) {
        int whole = s->tensor_buffer[layer->inputs[i]];
        bool same = before && same_window(&before->run.input[i], &step->run.input[i]);
        step->input_buffer[i] = whole >= 0 ? whole
                                : same     ? before->input_buffer[i]
                                           : add_input_window(b, step->layer, index, i, reserve);
        if (whole < 0)
            s->buffers[step->input_buffer[i]].last_step = index;
    }
    int whole = s->tensor_buffer[layer->output];
    step->output_buffer = whole >= 0 ? whole : add_output_window(b, step->layer, index, p->choices[step->layer].ahead);
}

/* Bytes by step. */
static uint32_t *live_of(const struct schedule *schedule, struct arena *arena)
{
    uint32_t *live = arena_array(arena, uint32_t, (size_t)schedule->step_count + 1);
    for (int i = 0; i < schedule->buffer_count; i++) {
        const struct plan_buffer *buffer = &schedule->buffers[i];
        for (int step = buffer->first_step; step <= buffer->last_step; step++)
            live[step] += buffer->bytes;
    }
    return live;
}

void schedule_count_live(struct schedule *schedule, struct arena *arena)
{
    const uint32_t *live = live_of(schedule, arena);
    schedule->live_bytes = 0;
    for (int i = 0; i < schedule->step_count; i++)
        if (live[i] > schedule->live_bytes) {
            schedule->live_bytes = live[i];
            schedule->live_step = i;
        }
}

/* ---- the walk ---- */

uint64_t l3_cycles(const struct target *target, const struct dory_transfer *transfer)
{
    return target_l3_cycles(target, transfer->runs, transfer->run_bytes);
}

/* Puts a transfer at the queue's end, at `time` in step `step`. */
static void queue(struct builder *b, struct item *item, int step, uint64_t time)
{
    struct schedule *s = b->schedule;
    b->queue_free = (b->queue_free > time ? b->queue_free : time) + l3_cycles(b->planner->target, &item->transfer.run);
    b->finish[s->transfer_count] = b->queue_free;
    item->is_queued = true;
    item->transfer.start_step = step;
    s->transfers[s->transfer_count++] = item->transfer;
}

/* True where the buffer's bytes are free from `step` on; it is then taken from there. */
static bool take_bytes(struct builder *b, int buffer_index, int step)
{
    struct plan_buffer *buffer = &b->schedule->buffers[buffer_index];
    for (int i = step; i < buffer->first_step; i++)
        if (b->live[i] > b->capacity[i] || buffer->bytes > b->capacity[i] - b->live[i])
            return false;
    for (int i = step; i < buffer->first_step; i++)
        b->live[i] += buffer->bytes;
    buffer->first_step = step < buffer->first_step ? step : buffer->first_step;
    return true;
}

/* Queues what the step needs and is not under way: at the last moment, with nothing to hide behind. True if any. */
static bool queue_late(struct builder *b, int step, uint64_t time, bool behind_writes)
{
    bool any = false;
    for (int i = b->first_waiting; i < b->read_count && b->reads[i].transfer.needed_step <= step; i++) {
        struct item *read = &b->reads[i];
        if (read->is_queued || (read->after == step - 1 && read->after != NO_STEP) != behind_writes)
            continue;
        queue(b, read, step, time);
        any = true;
    }
    return any;
}

static bool has_late(const struct builder *b, int step)
{
    for (int i = b->first_waiting; i < b->read_count && b->reads[i].transfer.needed_step <= step; i++)
        if (!b->reads[i].is_queued)
            return true;
    return false;
}

static void queue_writes(struct builder *b, int *next_write, int step, uint64_t time)
{
    while (*next_write < b->write_count && b->writes[*next_write].transfer.start_step == step)
        queue(b, &b->writes[(*next_write)++], step, time);
}

/* Queues reads for later steps in the order of need, as long as there is room. */
static void prefetch(struct builder *b, int step, uint64_t now, uint64_t end)
{
    while (b->first_waiting < b->read_count && b->reads[b->first_waiting].is_queued)
        b->first_waiting++;
    for (int i = b->first_waiting; i < b->read_count; i++) {
        struct item *read = &b->reads[i];
        if (read->is_queued || (read->after != NO_STEP && read->after >= step))
            continue; /* what it reads is not there: others may pass */
        bool urgent = read->transfer.needed_step <= step + 1, ram_follows = b->last_ram_need > step;
        if (!urgent && ram_follows && b->queue_free >= end)
            return;
        if (!take_bytes(b, read->transfer.buffer, step))
            return;
        queue(b, read, step, now);
    }
}

static int awaited(const struct builder *b, int step, int before)
{
    int count = before;
    for (int i = before; i < b->schedule->transfer_count; i++)
        if (b->schedule->transfers[i].needed_step <= step)
            count = i + 1;
    return count;
}

static void walk(struct builder *b)
{
    const struct planner *p = b->planner;
    struct schedule *s = b->schedule;
    uint64_t time = 0; /* at which the layer starts, then what waits have added to it */
    int next_write = 0, waited = 0;
    for (int index = 0; index < s->step_count; index++) {
        struct plan_step *step = &s->steps[index];
        const struct cut *cut = p->choices[step->layer].cut;
        uint32_t part = (uint32_t)(index - s->first_step[step->layer]);
        bool last = part + 1 == cut->step_count;
        /* a step that waits for a late transfer drains: it has no loads under way while the step before computes */
        bool is_late = has_late(b, index) && !step->run.drain;
        uint64_t fetch = time + (is_late ? cut->times[part].start : cut->times[part].fetch);
        /* a result whose buffer ends with the step before goes first: reads for this step may fill the same bytes */
        bool writes = next_write < b->write_count && b->writes[next_write].transfer.start_step == index;
        if (writes && b->writes[next_write].transfer.needed_step <= index)
            queue_writes(b, &next_write, index, fetch);
        bool late = queue_late(b, index, fetch, false);
        queue_writes(b, &next_write, index, fetch);
        late = queue_late(b, index, fetch, true) || late;
        step->run.drain = step->run.drain || late || part == 0;
        waited = awaited(b, index, waited);
        if (waited > 0 && b->finish[waited - 1] > fetch)
            time += b->finish[waited - 1] - fetch;
        step->run.transfers_awaited = (uint16_t)waited;
        uint64_t end = time + (last ? cut->cost.cycles : cut->times[part + 1].start);
        prefetch(b, index, time + cut->times[part].start, end);
        step->run.transfers_started = (uint16_t)s->transfer_count;
        if (last)
            time += cut->cost.cycles;
    }
    queue_writes(b, &next_write, s->step_count, time);
}

/* ---- times ---- */

/* Times of a layer's steps as they will run: a step may have to drain that its cut did not foresee. */
static void time_layer(struct builder *b, int layer)
{
    struct schedule *s = b->schedule;
    const struct cut *cut = b->planner->choices[layer].cut;
    struct plan_step *first = &s->steps[s->first_step[layer]];
    const struct step_times *times = cut->times;
    bool as_foreseen = true;
    s->costs[layer] = cut->cost;
    for (uint32_t i = 0; i < cut->step_count; i++)
        as_foreseen = as_foreseen && first[i].run.drain == cut->steps[i].drain;
    if (!as_foreseen) {
        struct dory_step *steps = arena_array(b->arena, struct dory_step, cut->step_count);
        struct step_times *own = arena_array(b->arena, struct step_times, cut->step_count);
        for (uint32_t i = 0; i < cut->step_count; i++)
            steps[i] = first[i].run;
        cut_simulate(b->planner, layer, cut, steps, &s->costs[layer], own);
        times = own;
    }
    for (uint32_t i = 0; i < cut->step_count; i++) {
        first[i].fetch_cycles = times[i].fetch;
        first[i].start_cycles = times[i].start;
    }
}

void schedule_timeline(const struct planner *planner, const struct schedule *schedule, struct timeline *timeline,
                       struct arena *arena)
{
    size_t layers = (size_t)planner->network->layer_count;
    struct plan plan = {.target = planner->target,
                        .layers = arena_array(arena, struct plan_layer, layers),
                        .steps = schedule->steps,
                        .step_count = schedule->step_count,
                        .transfers = schedule->transfers,
                        .transfer_count = schedule->transfer_count};
    for (size_t i = 0; i < layers; i++)
        plan.layers[i].predicted_cycles = schedule->costs[i].cycles;
    timeline_make(&plan, timeline, arena);
}

/* The time of the whole, by the final steps and transfers: what the plan will report. */
static void predict(struct builder *b)
{
    struct schedule *s = b->schedule;
    struct timeline timeline;
    s->costs = arena_array(b->arena, struct tile_cost, (size_t)b->planner->network->layer_count);
    for (int i = 0; i < b->planner->network->layer_count; i++)
        time_layer(b, i);
    schedule_timeline(b->planner, s, &timeline, b->arena);
    s->cycles = timeline.end_cycle;
}

static const uint32_t *same_capacity(struct builder *b, uint32_t bytes)
{
    uint32_t *capacity = arena_array(b->arena, uint32_t, (size_t)b->schedule->step_count);
    for (int i = 0; i < b->schedule->step_count; i++)
        capacity[i] = bytes;
    return capacity;
}

/* The last steps at which a read or write of RAM is needed: until then other transfers stand behind. */
static int find_last_ram_need(const struct builder *b)
{
    int last = b->write_count ? b->writes[b->write_count - 1].transfer.needed_step : NO_STEP;
    for (int i = 0; i < b->read_count; i++)
        if (b->reads[i].transfer.run.kind == HAL_RAM_READ && b->reads[i].transfer.needed_step > last)
            last = b->reads[i].transfer.needed_step;
    return last;
}

void schedule_make(const struct planner *planner, const uint32_t *capacity, struct schedule *schedule, struct arena *arena)
{
    const struct network *network = planner->network;
    struct builder b = {.planner = planner, .schedule = schedule, .arena = arena};
    *schedule = (struct schedule){0};
    schedule->tensor_buffer = arena_array(arena, int, (size_t)network->tensor_count);
    schedule->first_step = arena_array(arena, int, (size_t)network->layer_count + 1);
    add_steps(&b);
    b.capacity = capacity ? capacity : same_capacity(&b, planner->l2_bytes);
    add_tensor_buffers(&b);
    for (int i = 0; i < schedule->step_count; i++)
        attach_buffers(&b, i);
    b.live = live_of(schedule, arena);
    b.last_ram_need = find_last_ram_need(&b);
    schedule->transfers = arena_array(arena, struct plan_transfer, (size_t)(b.read_count + b.write_count));
    b.finish = arena_array(arena, uint64_t, (size_t)(b.read_count + b.write_count));
    walk(&b);
    predict(&b);
    schedule_count_live(schedule, arena);
}
