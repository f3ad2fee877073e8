/* Pass `plan`: everything that is decided about a network, by the passes that planner.h lists. This file checks what
 * they may rely on, calls them, and writes down the result. */
#include "plan/planner.h"

#include <inttypes.h>
#include <string.h>

#include "dory/hal.h"
#include "plan/place.h"

/* ---- what there is ---- */

static bool is_there(const char *machine, const char *option, const char *of_what, uint32_t asked, uint32_t there,
                     struct diagnostics *diagnostics)
{
    if (asked <= there)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, option,
             "%" PRIu32 " %s; %s has %" PRIu32 " (for another machine, a description of it is given as target)", asked,
             of_what, machine, there);
    return false;
}

bool plan_options_check(const struct plan_options *options, const struct target *target, struct diagnostics *diagnostics)
{
    bool good = is_there(target->name, "cores", "cores", options->cores, target->cores, diagnostics);
    good = is_there(target->name, "l1_bytes", "bytes of L1", options->l1_bytes, target->l1_bytes, diagnostics) && good;
    return is_there(target->name, "l2_bytes", "bytes of L2", options->l2_bytes, target->l2_bytes, diagnostics) && good;
}

static bool find_memory(struct planner *p)
{
    const struct target *target = p->target;
    uint32_t l1 = p->options->l1_bytes ? p->options->l1_bytes : target->l1_bytes;
    if (l1 <= target->l1_stack_bytes) {
        diagnose(p->diagnostics, SEVERITY_ERROR, NULL, "l1_bytes",
                 "stacks alone take %" PRIu32 " bytes of L1, there are %" PRIu32, target->l1_stack_bytes, l1);
        return false;
    }
    p->l1_bytes = (l1 - target->l1_stack_bytes) / DORY_ALIGNMENT * DORY_ALIGNMENT;
    p->l2_bytes = p->options->l2_bytes ? p->options->l2_bytes : target->l2_bytes - target->l2_firmware_bytes;
    p->l2_bytes = p->l2_bytes / DORY_ALIGNMENT * DORY_ALIGNMENT;
    p->cores = p->options->cores ? p->options->cores : target->cores;
    return true;
}

static bool check_tensors(const struct planner *p)
{
    bool good = true;
    for (int t = 0; t < p->network->tensor_count; t++) {
        const struct tensor *tensor = &p->network->tensors[t];
        bool sizes = tensor->height > 0 && tensor->width > 0 && tensor->channels > 0 && tensor->height <= UINT16_MAX &&
                     tensor->width <= UINT16_MAX && tensor->channels <= UINT16_MAX;
        if (sizes && tensor_elements(tensor) * (size_t)tensor->bits / 8 <= INT32_MAX / 4)
            continue;
        diagnose(p->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "tensor '%s' of %d x %d x %d elements: no such size can be planned", tensor->name, tensor->height,
                 tensor->width, tensor->channels);
        good = false;
    }
    return good;
}

static bool check_interface(const struct planner *p)
{
    const struct network *network = p->network;
    if (network->layer_count < 1 || network->input_count < 1 || network->output_count < 1) {
        diagnose(p->diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "the network has %d layers, %d inputs and %d outputs; it must have at least one of each",
                 network->layer_count, network->input_count, network->output_count);
        return false;
    }
    for (int i = 0; i < network->output_count; i++)
        if (network->tensors[network->outputs[i]].producer == NO_LAYER) {
            diagnose(p->diagnostics, SEVERITY_ERROR, NULL, NULL, "the network's output '%s' is an input of it",
                     network->tensors[network->outputs[i]].name);
            return false;
        }
    return true;
}

/* ---- kernels ---- */

static int collect_kernels(struct planned_layer *layer, const struct dory_kernel_description *const *from, int count)
{
    for (; from && *from && count < MOST_KERNELS; from++)
        if (dory_kernel_supports(*from, &layer->run))
            layer->kernels[count++] = *from;
    return count;
}

int find_kernels(const struct planner *p, struct planned_layer *layer, struct arena *arena)
{
    int count = p->target->uses_xpulpv2 ? collect_kernels(layer, dory_xpulpv2_kernels, 0) : 0;
    if (count == 0)
        count = collect_kernels(layer, dory_reference_kernels, 0);
    for (int i = 0; i < count; i++)
        layer->cycles[i] = cycle_table_make(&layer->run, layer->kernels[i], p->target, p->cores, arena);
    return count;
}

/* The stages by what they say, as each layer has its own. */
bool is_same_layer(const struct dory_layer *a, const struct dory_layer *b)
{
    struct dory_layer x = *a, y = *b;
    bool same_stages = x.stages && y.stages ? memcmp(x.stages, y.stages, sizeof *x.stages) == 0 : x.stages == y.stages;
    x.stages = y.stages = NULL;
    return same_stages && memcmp(&x, &y, sizeof x) == 0;
}

/* The first of so many layers of a planner that equals one; null: none does. */
static const struct planned_layer *find_same(const struct planner *of, int count, const struct dory_layer *run)
{
    for (int l = 0; l < count; l++)
        if (is_same_layer(&of->layers[l].run, run))
            return &of->layers[l];
    return NULL;
}

/* What is known of an equal layer, of this planner or of those before it; 0: nothing. */
static int copy_kernels(const struct planner *p, int index)
{
    struct planned_layer *layer = &p->layers[index];
    const struct planned_layer *same = find_same(p, index, &layer->run);
    for (const struct planner *from = p->before; from && !same; from = from->before)
        same = find_same(from, p->network->layer_count, &layer->run);
    if (same) {
        memcpy(layer->kernels, same->kernels, sizeof layer->kernels);
        memcpy(layer->cycles, same->cycles, sizeof layer->cycles);
    }
    return same && same->kernels[0];
}

static bool has_kernels(struct planner *p, int index)
{
    struct planned_layer *layer = &p->layers[index];
    int count = copy_kernels(p, index);
    if (count == 0)
        count = find_kernels(p, layer, p->arena);
    if (count == 0)
        diagnose(p->diagnostics, SEVERITY_ERROR, p->network->layers[index].name, NULL,
                 "no kernel for it: %d-bit elements, %d-bit weights", layer->run.input_bits, layer->run.weight_bits);
    return count > 0;
}

/* ---- L1 ---- */

/* The whole layer as one step tells what the smallest tile needs: single buffers do not depend on how steps cut it. */
static uint32_t least_l1_bytes(const struct planner *p, int index)
{
    const struct planned_layer *layer = &p->layers[index];
    struct dory_step step = {.rows = layer->run.output_height, .channels = layer->run.output_channels};
    uint32_t least = UINT32_MAX;
    for (int i = 0; layer->kernels[i]; i++) {
        struct tile_problem problem = {
            .layer = &layer->run, .kernel = layer->kernels[i], .cores = p->cores, .steps = &step, .step_count = 1};
        least = dory_minimum(least, tile_least_l1_bytes(&problem));
    }
    return least;
}

static void set_layouts(struct planner *p, int index)
{
    const struct layer *layer = &p->network->layers[index];
    if (p->layouts) {
        p->layers[index].run.input_layout = p->layouts[layer->inputs[0]];
        p->layers[index].run.output_layout = p->layouts[layer->output];
    }
}

/* As an earlier attempt at the network has it: there is a proof in it, which takes its time. False: there was none. */
static bool copy_description(const struct planner *p, int index)
{
    if (!p->before)
        return false;
    p->layers[index].run = p->before->layers[index].run;
    p->layers[index].requantisation = p->before->layers[index].requantisation;
    p->layers[index].run.input_layout = p->layers[index].run.output_layout = DORY_HWC;
    return true;
}

static bool describe_layers(struct planner *p)
{
    bool good = true;
    p->layers = arena_array(p->arena, struct planned_layer, (size_t)p->network->layer_count);
    p->choices = arena_array(p->arena, struct choice, (size_t)p->network->layer_count);
    p->homes = arena_array(p->arena, enum plan_home, (size_t)p->network->tensor_count);
    for (int i = 0; i < p->network->layer_count; i++) {
        bool described = copy_description(p, i) || describe_layer(p->network, i, &p->layers[i].run,
                                                                  &p->layers[i].requantisation, p->arena, p->diagnostics);
        set_layouts(p, i);
        good = described && has_kernels(p, i) && good;
        p->layers[i].least_l1_bytes = good ? least_l1_bytes(p, i) : 0;
    }
    return good;
}

bool planner_start(struct planner *planner)
{
    return find_memory(planner) && check_interface(planner) && check_tensors(planner) && describe_layers(planner);
}

/* ---- offsets ---- */

uint32_t schedule_place(struct schedule *schedule, uint32_t enough, enum place_care care)
{
    struct arena scratch = {0};
    struct place_item *items = arena_array(&scratch, struct place_item, (size_t)schedule->buffer_count);
    for (int i = 0; i < schedule->buffer_count; i++) {
        const struct plan_buffer *buffer = &schedule->buffers[i];
        items[i] = (struct place_item){.bytes = buffer->bytes, .first = buffer->first_step, .last = buffer->last_step};
    }
    uint32_t peak = place(items, schedule->buffer_count, DORY_ALIGNMENT, enough, care, &scratch);
    for (int i = 0; i < schedule->buffer_count; i++)
        schedule->buffers[i].offset = items[i].offset;
    arena_free(&scratch);
    return peak;
}

/* ---- the plan's parts ---- */

static void write_layer(const struct planner *p, struct plan *plan, int index, const struct schedule *schedule)
{
    const struct cut *cut = p->choices[index].cut;
    struct plan_layer *layer = &plan->layers[index];
    struct tile_problem problem = {.layer = &p->layers[index].run,
                                   .kernel = cut->kernel,
                                   .cores = p->cores,
                                   .steps = cut->steps,
                                   .step_count = cut->step_count};
    const struct tile_cost *cost = &schedule->costs[index];
    tile_apply(&problem, &cut->tiling, &layer->run);
    layer->kernel = cut->kernel;
    layer->requantisation = p->layers[index].requantisation;
    layer->first_step = schedule->first_step[index];
    layer->step_count = schedule->first_step[index + 1] - layer->first_step;
    layer->macs = layer_macs(p->network, &p->network->layers[index]);
    layer->predicted_cycles = cost->cycles;
    layer->kernel_cycles = cost->kernel_cycles;
    layer->dma_cycles = cost->dma_cycles;
    layer->exposed_cycles = cost->exposed_cycles;
    layer->tile_count = cost->tile_count;
    layer->l1_bytes = cost->l1_bytes;
    layer->weights_bytes = dory_divide_up(layer->run.output_channels, 4) * layer->run.quad_bytes;
    plan->l1_peak_bytes = cost->l1_bytes > plan->l1_peak_bytes ? cost->l1_bytes : plan->l1_peak_bytes;
}

static bool place_weights(const struct planner *p, struct plan *plan)
{
    uint64_t end = FLASH_HEADER_BYTES;
    for (int i = 0; i < p->network->layer_count; i++) {
        if (plan->layers[i].weights_bytes == 0)
            continue;
        plan->layers[i].weights_address = (uint32_t)end;
        end += aligned(plan->layers[i].weights_bytes);
    }
    plan->flash_bytes = (uint32_t)end;
    if (end <= p->target->flash_bytes)
        return true;
    diagnose(p->diagnostics, SEVERITY_ERROR, NULL, NULL,
             "does not fit the flash: all weights together need %" PRIu64 " bytes, there are %" PRIu32, end,
             p->target->flash_bytes);
    return false;
}

/* RAM from layer to layer, like L2 from step to step; one layer more, for those who look at a tensor when it is done. */
static bool place_ram(const struct planner *p, struct plan *plan)
{
    const struct network *network = p->network;
    struct place_item *items = arena_array(p->arena, struct place_item, (size_t)network->tensor_count);
    int *tensors = arena_array(p->arena, int, (size_t)network->tensor_count), count = 0;
    for (int t = 0; t < network->tensor_count; t++) {
        if (p->homes[t] != HOME_RAM)
            continue;
        int producer = network->tensors[t].producer;
        struct place_item item = {tensor_bytes(&network->tensors[t]), producer == NO_LAYER ? 0 : producer, producer + 1, 0};
        for (int l = 0; l < network->layer_count; l++)
            for (int i = 0; i < layer_input_count(&network->layers[l]); i++)
                item.last = network->layers[l].inputs[i] == t && l > item.last ? l : item.last;
        for (int i = 0; i < network->output_count; i++)
            item.last = network->outputs[i] == t ? network->layer_count : item.last;
        tensors[count] = t;
        items[count++] = item;
    }
    plan->ram_bytes = place(items, count, DORY_ALIGNMENT, p->target->ram_bytes, PLACE_QUICKLY, p->arena);
    for (int i = 0; i < count; i++)
        plan->tensors[tensors[i]].ram_offset = items[i].offset;
    if (plan->ram_bytes <= p->target->ram_bytes)
        return true;
    diagnose(p->diagnostics, SEVERITY_ERROR, NULL, NULL,
             "does not fit the RAM: tensors that L2 has no room for need %" PRIu32 " bytes, there are %" PRIu32,
             plan->ram_bytes, p->target->ram_bytes);
    return false;
}

static const char *buffer_name(const struct planner *p, const struct schedule *schedule, const struct plan_buffer *buffer,
                               int index)
{
    const struct network *network = p->network;
    if (buffer->kind == BUFFER_TENSOR)
        return network->tensors[buffer->tensor].name;
    for (int i = buffer->first_step; i <= buffer->last_step; i++) {
        const struct plan_step *step = &schedule->steps[i];
        const struct dory_window *window = step->output_buffer == index     ? &step->run.output
                                           : step->input_buffer[0] == index ? &step->run.input[0]
                                                                            : &step->run.input[1];
        if (step->weights_buffer == index)
            return arena_format(p->arena, "%s weights, channels %d-%d", network->layers[step->layer].name,
                                step->run.first_channel, step->run.first_channel + step->run.channels - 1);
        if (step->output_buffer == index || step->input_buffer[0] == index || step->input_buffer[1] == index)
            return arena_format(p->arena, "%s, rows %d-%d, channels %d-%d", network->tensors[buffer->tensor].name,
                                window->first_row, window->first_row + window->rows - 1, window->first_channel,
                                window->first_channel + window->channels - 1);
    }
    return "";
}

/* Offsets inside buffers become offsets in the arena; those inside blobs and tensors, addresses. */
static void write_offsets(const struct planner *p, struct plan *plan)
{
    (void)p;
    for (int i = 0; i < plan->step_count; i++) {
        struct plan_step *step = &plan->steps[i];
        step->run.output.offset = plan->buffers[step->output_buffer].offset;
        for (int j = 0; j < 2; j++)
            if (step->input_buffer[j] >= 0)
                step->run.input[j].offset = plan->buffers[step->input_buffer[j]].offset;
        if (step->weights_buffer >= 0)
            step->run.weights_offset = plan->buffers[step->weights_buffer].offset;
    }
    for (int i = 0; i < plan->transfer_count; i++) {
        struct plan_transfer *transfer = &plan->transfers[i];
        const struct plan_buffer *buffer = &plan->buffers[transfer->buffer];
        transfer->run.l2_offset += buffer->offset;
        transfer->run.l3_address += buffer->kind == BUFFER_WEIGHTS ? plan->layers[buffer->layer].weights_address
                                                                   : plan->tensors[buffer->tensor].ram_offset;
    }
}

static bool write_plan(struct planner *p, struct plan *plan, const struct schedule *schedule)
{
    const struct network *network = p->network;
    plan->steps = schedule->steps;
    plan->step_count = schedule->step_count;
    plan->transfers = schedule->transfers;
    plan->transfer_count = schedule->transfer_count;
    plan->buffers = schedule->buffers;
    plan->buffer_count = schedule->buffer_count;
    plan->l2_live_bytes = schedule->live_bytes;
    plan->l2_gap_cycles = schedule->gap_cycles;
    plan->layers = arena_array(p->arena, struct plan_layer, (size_t)network->layer_count);
    plan->tensors = arena_array(p->arena, struct plan_tensor, (size_t)network->tensor_count);
    for (int i = 0; i < network->layer_count; i++)
        write_layer(p, plan, i, schedule);
    for (int i = 0; i < network->tensor_count; i++)
        plan->tensors[i] = (struct plan_tensor){.home = p->homes[i],
                                                .buffer = schedule->tensor_buffer[i],
                                                .bytes = tensor_bytes(&network->tensors[i]),
                                                .layout = p->layouts ? p->layouts[i] : DORY_HWC};
    for (int i = 0; i < plan->buffer_count; i++)
        plan->buffers[i].name = buffer_name(p, schedule, &plan->buffers[i], i);
    bool good = place_weights(p, plan);
    good = place_ram(p, plan) && good;
    write_offsets(p, plan);
    plan->predicted_cycles = schedule->cycles;
    return good;
}

static bool is_portable(const struct dory_kernel_description *kernel)
{
    for (const struct dory_kernel_description *const *from = dory_reference_kernels; *from; from++)
        if (*from == kernel)
            return true;
    return false;
}

void plan_warn(const struct plan *plan, struct diagnostics *diagnostics)
{
    for (int i = 0; plan->target->uses_xpulpv2 && i < plan->network->layer_count; i++)
        if (is_portable(plan->layers[i].kernel))
            diagnose(diagnostics, SEVERITY_WARNING, plan->network->layers[i].name, NULL,
                     "layer %d: no kernel for %s computes it, but the portable %s: about %" PRIu64
                     " of the network's %" PRIu64 " cycles",
                     i, plan->target->name, plan->layers[i].kernel->name, plan->layers[i].predicted_cycles,
                     plan->predicted_cycles);
}

bool plan_make(const struct network *network, const struct target *target, const struct plan_options *options,
               struct plan *plan, struct arena *arena, struct diagnostics *diagnostics)
{
    struct planner planner = {
        .network = network, .target = target, .options = options, .arena = arena, .diagnostics = diagnostics};
    memset(plan, 0, sizeof *plan);
    if (!planner_start(&planner))
        return false;
    struct attempt attempt = attempt_best(&planner);
    if (!attempt.found)
        return false;
    attempt.planner.diagnostics = diagnostics;
    plan->network = network;
    plan->target = target;
    plan->cores = planner.cores;
    plan->l1_arena_bytes = planner.l1_bytes;
    plan->l2_arena_bytes = planner.l2_bytes;
    plan->l2_peak_bytes = attempt.peak;
    plan->proof = attempt.proof;
    return write_plan(&attempt.planner, plan, &attempt.schedule);
}
