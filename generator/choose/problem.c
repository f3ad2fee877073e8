/* The planner's problem: memories, layers and their kernels, and what the passes behind may rely on. */
#include "choose/problem.h"

#include <inttypes.h>
#include <string.h>

#include "choose/cut.h"
#include "describe/layer_operation.h"
#include "dory/hal.h"
#include "place/place.h"
#include "plan/operand.h"
#include "plan/table_bytes.h"

/* ---- sizes ---- */

uint32_t tensor_bytes(const struct tensor *tensor)
{
    return (uint32_t)tensor->height * (uint32_t)tensor->width *
           dory_element_bytes((uint32_t)tensor->channels, (uint32_t)tensor->bits);
}

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

static bool find_memory(struct problem *p, struct diagnostics *diagnostics)
{
    const struct target *target = p->target;
    uint32_t l1 = p->options->l1_bytes ? p->options->l1_bytes : target->l1_bytes;
    if (l1 <= target->l1_stack_bytes) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, "l1_bytes",
                 "stacks alone take %" PRIu32 " bytes of L1, there are %" PRIu32, target->l1_stack_bytes, l1);
        return false;
    }
    p->l1_bytes = (l1 - target->l1_stack_bytes) / DORY_ALIGNMENT * DORY_ALIGNMENT;
    p->l2_bytes = p->options->l2_bytes ? p->options->l2_bytes : target->l2_bytes - target->l2_firmware_bytes;
    p->l2_bytes = p->l2_bytes / DORY_ALIGNMENT * DORY_ALIGNMENT;
    p->cores = p->options->cores ? p->options->cores : target->cores;
    return true;
}

/* Tables with at least one step a layer, and one transfer for weights. */
static void count_tables(struct problem *p)
{
    int transfers = 0;
    p->fixed_table_bytes = table_bytes_of_network(p->network);
    for (int l = 0; l < p->network->layer_count; l++) {
        p->fixed_table_bytes += table_bytes_of_layer(&p->layers[l].record);
        transfers += layer_brings_weights(p, l);
        p->fixed_table_bytes += table_bytes_of_schedule(0, layer_shares_weights(p, l)); /* which no decision changes */
    }
    p->least_table_bytes = p->fixed_table_bytes + table_bytes_of_schedule(p->network->layer_count, transfers);
    p->l2_bytes = p->l2_bytes > p->least_table_bytes ? p->l2_bytes - p->least_table_bytes : 0;
    p->l2_bytes = p->l2_bytes / DORY_ALIGNMENT * DORY_ALIGNMENT;
}

static bool check_tensors(const struct problem *p, struct diagnostics *diagnostics)
{
    bool good = true;
    for (int t = 0; t < p->network->tensor_count; t++) {
        const struct tensor *tensor = &p->network->tensors[t];
        bool sizes = tensor->height > 0 && tensor->width > 0 && tensor->channels > 0 && tensor->height <= UINT16_MAX &&
                     tensor->width <= UINT16_MAX && tensor->channels <= UINT16_MAX;
        if (sizes && tensor_elements(tensor) * (size_t)tensor->bits / 8 <= INT32_MAX / 4)
            continue;
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "tensor '%s' of %d x %d x %d elements: no such size can be planned", tensor->name, tensor->height,
                 tensor->width, tensor->channels);
        good = false;
    }
    return good;
}

static bool check_interface(const struct problem *p, struct diagnostics *diagnostics)
{
    const struct network *network = p->network;
    if (network->layer_count < 1 || network->input_count < 1 || network->output_count < 1) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "the network has %d layers, %d inputs and %d outputs; it must have at least one of each",
                 network->layer_count, network->input_count, network->output_count);
        return false;
    }
    for (int i = 0; i < network->output_count; i++)
        if (network->tensors[network->outputs[i]].producer == NO_LAYER) {
            diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "the network's output '%s' is an input of it",
                     network->tensors[network->outputs[i]].name);
            return false;
        }
    return true;
}

/* ---- kernels ---- */

static int collect_kernels(struct planned_layer *layer, const struct dory_kernel_description *const *from)
{
    int count = 0;
    for (; *from && count < MAXIMUM_KERNELS; from++)
        if (dory_kernel_supports(*from, &layer->record))
            layer->kernels[count++] = *from;
    return count;
}

static void find_kernels(const struct problem *p, struct planned_layer *layer)
{
    int count = collect_kernels(layer, p->layers[layer->layer].engine->kernels);
    for (int i = 0; i < count; i++)
        layer->cycles[i] = cycle_table_make(&layer->record, layer->kernels[i], p->target, p->cores, p->arena);
}

/* ---- L1 ---- */

/* The whole layer as one step. Without windows where tensors may be in RAM: then none of them is in place. */
static struct dory_step whole_step(const struct problem *p, const struct dory_layer *record)
{
    struct dory_step step = {.rows = record->output_height, .channels = record->output_channels};
    if (p->target->ram_bytes > 0)
        return step;
    for (unsigned i = 0; i < 2; i++)
        step.input[i] = (struct dory_window){.rows = (uint16_t)operand_height(record, i),
                                             .channels = (uint16_t)operand_channels(record, i)};
    step.output = (struct dory_window){.rows = record->output_height, .channels = record->output_channels};
    return step;
}

/* A whole step tells what the smallest tile needs: single buffers do not depend on how steps cut it. */
static uint32_t least_l1_bytes(const struct problem *p, const struct planned_layer *layer)
{
    struct dory_step step = whole_step(p, &layer->record);
    uint32_t least = UINT32_MAX;
    for (int i = 0; layer->kernels[i]; i++) {
        struct tile_problem problem = {.layer = &layer->record,
                                       .weights = layer->weights,
                                       .kernel = layer->kernels[i],
                                       .target = p->target,
                                       .cores = p->cores,
                                       .steps = &step,
                                       .step_count = 1};
        least = dory_minimum(least, tile_least_l1_bytes(&problem));
    }
    return least;
}

/* ---- layers ---- */

/* Equal in all that is to be planned. */
static bool is_same_layer(const struct dory_layer *a, const struct dory_layer *b)
{
    struct dory_layer x = layer_without_constants(a), y = layer_without_constants(b);
    bool same_stages = !a->stages == !b->stages && (!a->stages || !memcmp(a->stages, b->stages, sizeof *a->stages));
    return same_stages && memcmp(&x, &y, sizeof x) == 0;
}

static struct planned_layer *find_same(const struct problem *p, const struct dory_layer *record, int layer)
{
    bool brings_weights = layer_brings_weights(p, layer);
    for (int i = 0; i < LAYER_VARIANTS * p->network->layer_count; i++)
        if (p->variants[i] && p->variants[i]->brings_weights == brings_weights &&
            p->layers[p->variants[i]->layer].engine == p->layers[layer].engine &&
            is_same_layer(&p->variants[i]->record, record))
            return p->variants[i];
    return NULL;
}

static struct planned_layer *make_layer(const struct problem *p, int index, const struct dory_layer *record)
{
    struct planned_layer *layer = arena_allocate(p->arena, sizeof *layer);
    *layer = (struct planned_layer){.problem = p,
                                    .layer = index,
                                    .record = *record,
                                    .weights = p->layers[index].engine->weights,
                                    .brings_weights = layer_brings_weights(p, index)};
    find_kernels(p, layer);
    layer->least_l1_bytes = least_l1_bytes(p, layer);
    return layer;
}

struct planned_layer *layer_variant(const struct problem *p, int index, enum dory_layout input, enum dory_layout output)
{
    struct planned_layer **variant =
        &p->variants[LAYER_VARIANTS * index + (input == DORY_CHW ? 1 : 0) + (output == DORY_CHW ? 2 : 0)];
    if (!*variant) {
        struct dory_layer record = p->layers[index].record;
        record.input_layout = (uint8_t)input;
        record.output_layout = (uint8_t)output;
        *variant = find_same(p, &record, index);
        *variant = *variant ? *variant : make_layer(p, index, &record);
    }
    return *variant;
}

/* The sizes say whether a copy may be meant that has no map. */
static bool is_by_pixel(const struct dory_layer *record)
{
    const uint32_t others =
        1u << DORY_COPY | 1u << DORY_TRANSPOSITION | 1u << DORY_LSTM | 1u << DORY_INTERPOLATION | 1u << DORY_CONSTANT;
    uint32_t pixels = (uint32_t)record->input_height * record->input_width;
    return !(others >> record->operation & 1) && record->kernel_height == 1 && record->kernel_width == 1 &&
           record->stride_height == 1 && record->stride_width == 1 && record->padding_top == 0 &&
           record->padding_left == 0 && record->row_divisor <= 1 && pixels <= UINT16_MAX &&
           pixels == (uint32_t)record->output_height * record->output_width;
}

/* A matrix product whose operands are parts of larger pixels. */
static bool has_pitch(const struct dory_layer *record)
{
    return record->operation == DORY_MATRIX_PRODUCT &&
           (record->pixel_bytes != dory_element_bytes(record->input_channels, record->input_bits) ||
            record->second_pixel_bytes != dory_element_bytes(record->input_channels, record->second_input_bits) ||
            record->matrix_product.pixel_bytes != dory_element_bytes(record->output_channels, record->output_bits));
}

struct planned_layer *layer_by_pixels(const struct problem *p, int index)
{
    struct planned_layer **variant = &p->variants[LAYER_VARIANTS * index + LAYER_VARIANTS - 1];
    struct dory_layer record = p->layers[index].record;
    if (*variant || !is_by_pixel(&record) || has_pitch(&record))
        return *variant;
    if (record.operation == DORY_MATRIX_PRODUCT)
        record.matrix_product.sharing_rows = record.output_width;
    record.input_height = record.output_height = (uint16_t)(record.output_height * record.output_width);
    record.input_width = record.output_width = 1;
    *variant = find_same(p, &record, index);
    *variant = *variant ? *variant : make_layer(p, index, &record);
    *variant = (*variant)->kernels[0] ? *variant : NULL;
    return *variant;
}

static bool make_formed_layer(struct problem *p, int index, const struct target *target, struct arena *kept,
                              struct diagnostics *diagnostics)
{
    struct described_layer described;
    return describe_layer(p->network, index, &described, kept, diagnostics) &&
           form_layer(&described, target, p->cores, p->network->layers[index].name, &p->layers[index], kept, diagnostics);
}

/* Gives what an accelerator has no room for in L1 to the cores, whose tiles may be smaller. */
static bool give_to_cores(struct problem *p, struct arena *kept, struct diagnostics *diagnostics)
{
    struct target cores = *p->target;
    bool good = true;
    int count = 0;
    for (const struct dory_engine *const *engine = p->target->engines; *engine; engine++)
        if (!(*engine)->is_accelerator)
            cores.engines[count++] = *engine;
    cores.engines[count] = NULL;
    for (int i = 0; i < p->network->layer_count && good; i++)
        if (count > 0 && p->layers[i].engine->is_accelerator &&
            layer_variant(p, i, DORY_HWC, DORY_HWC)->least_l1_bytes > p->l1_bytes) {
            p->variants[LAYER_VARIANTS * i] = NULL;
            good = make_formed_layer(p, i, &cores, kept, diagnostics);
        }
    return good;
}

static bool make_layers(struct problem *p, struct arena *kept, struct diagnostics *diagnostics)
{
    bool good = true;
    size_t layers = (size_t)p->network->layer_count, tensors = (size_t)p->network->tensor_count;
    p->layers = arena_array(p->arena, struct formed_layer, layers);
    p->variants = arena_array(p->arena, struct planned_layer *, LAYER_VARIANTS * layers);
    p->lives = arena_array(p->arena, struct tensor_life, tensors);
    p->tensor_bytes = arena_array(p->arena, uint32_t, tensors);
    tensor_lives(p->network, p->lives);
    for (int t = 0; t < p->network->tensor_count; t++)
        p->tensor_bytes[t] = p->network->tensors[t].view ? 0 : aligned(tensor_bytes(&p->network->tensors[t]));
    for (int i = 0; i < p->network->layer_count; i++)
        good = make_formed_layer(p, i, p->target, kept, diagnostics) && good;
    if (good)
        find_owners(p);
    return good && give_to_cores(p, kept, diagnostics);
}

/* For what will be found out. */
static void make_room(struct problem *p)
{
    p->blocks = arena_array(p->arena, struct known_block *, (size_t)p->network->layer_count);
    p->placements = place_memory_make(p->arena);
    p->within = arena_allocate(p->arena, sizeof *p->within);
    *p->within = (struct cut){.of = layer_variant(p, 0, DORY_HWC, DORY_HWC), .solved = true, .legal = true};
}

bool problem_make(struct problem *p, struct arena *kept, struct diagnostics *diagnostics)
{
    bool good = find_memory(p, diagnostics) && check_interface(p, diagnostics) && check_tensors(p, diagnostics) &&
                make_layers(p, kept, diagnostics);
    if (!good)
        return false;
    make_room(p);
    if (p->options->tables_in_l2)
        count_tables(p);
    return resident_reserve(p, diagnostics);
}
