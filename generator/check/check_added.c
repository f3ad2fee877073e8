/* Additions whose elements are made by the kernel of the layer before: for all values of both inputs the same as the
 * network's, in time, and where nothing lies that this kernel uses. */
#include "check/checker.h"
#include "network/stage.h"

static bool adds(const struct plan_layer *layer)
{
    return layer->record.operation <= DORY_DEPTHWISE && layer->record.stages;
}

/* Of a layer of one stage for all channels, and of inputs that have one or none. */
static int64_t sum_of(const struct layer *layer, const int64_t values[2])
{
    int64_t sum = 0;
    for (int i = 0; i < 2; i++)
        sum += layer->input_stages[i].count ? (int64_t)stage_apply(&layer->input_stages[i], 0, values[i]) : values[i];
    for (int i = 0; i < layer->stage_count; i++)
        sum = (int64_t)stage_apply(&layer->stages[i], 0, sum);
    return sum;
}

/* In words that wrap, shifted down. */
static int64_t line_of(const struct dory_stages *stages, int64_t own, int64_t other)
{
    int64_t product = stages->input[0].multiplier * own + stages->input[1].multiplier * other + stages->first.addend;
    int64_t value = (int32_t)(uint32_t)(uint64_t)product >> stages->first.divisor;
    return value < stages->first.minimum   ? stages->first.minimum
           : value > stages->first.maximum ? stages->first.maximum
                                           : value;
}

static bool has_one_stage(const struct layer *layer)
{
    bool one = layer->stage_count >= 1 && layer->input_stages[0].count <= 1 && layer->input_stages[1].count <= 1;
    for (int i = 0; i < layer->stage_count; i++)
        one = one && layer->stages[i].count == 1;
    return one;
}

static bool are_words(const struct dory_stages *stages)
{
    const struct dory_stage *all[] = {&stages->input[0], &stages->input[1], &stages->first};
    bool good = stages->first.divisor >= 0 && stages->first.divisor < 32;
    for (int i = 0; i < 3; i++)
        good = good && all[i]->multiplier == (int32_t)all[i]->multiplier && all[i]->addend == (int32_t)all[i]->addend;
    return good;
}

/* For all pairs of elements that the inputs may have. */
static bool is_the_sum(const struct checker *c, int index, const struct dory_stages *stages, unsigned own)
{
    const struct network *network = c->plan->network;
    const struct layer *layer = &network->layers[index];
    const struct tensor *inputs[2] = {&network->tensors[layer->inputs[0]], &network->tensors[layer->inputs[1]]};
    bool same = layer->kind == LAYER_ADDITION && has_one_stage(layer) && are_words(stages);
    int64_t values[2];
    for (values[0] = 0; same && values[0] <= UINT8_MAX; values[0]++) {
        for (values[1] = 0; same && values[1] <= UINT8_MAX; values[1]++) {
            bool occurs = true;
            for (int i = 0; i < 2; i++)
                occurs = occurs && values[i] >= inputs[i]->minimum && values[i] <= inputs[i]->maximum;
            same = !occurs || line_of(stages, values[own], values[own ^ 1]) == sum_of(layer, values);
        }
    }
    return same && !inputs[0]->is_signed && !inputs[1]->is_signed && !network->tensors[layer->output].is_signed;
}

/* Whether the kernel makes such elements. */
static bool makes(const struct plan_layer *before, const struct plan_layer *layer)
{
    struct dory_layer own = before->record;
    struct dory_stages stages;
    own.stages = NULL;
    own.rows.sum_gap = 0;
    return before->kernel->finish && before->kernel->adds &&
           before->kernel->adds(&own, &layer->record, layer->inputs_stay >> 1, &stages);
}

/* Nobody else needs the elements that are never written, and all else is there before the layer before is. */
static bool can_be_added(const struct checker *c, int index)
{
    const struct plan *plan = c->plan;
    const struct plan_layer *layer = &plan->layers[index], *before = layer - 1;
    const struct layer *addition = &plan->network->layers[index];
    bool have_tiles = index > 0 && plan->tiles && layer->tile_count == 1 && before->tile_count == 1;
    if (!have_tiles || !adds(before) || layer->block >= 0 || before->block >= 0 ||
        (layer->inputs_stay != 1 && layer->inputs_stay != 2) || !makes(before, layer))
        return false;
    const struct tensor *output = &plan->network->tensors[addition->output],
                        *other = &plan->network->tensors[addition->inputs[layer->inputs_stay == 1]];
    bool same_shape =
        output->height == other->height && output->width == other->width && output->channels == other->channels;
    return same_shape && layer->inputs_are_early && before->is_left_in_l1 &&
           before->record.rows.sum_gap == dory_output_gap(&layer->record) && dory_output_gap(&before->record) == 0;
}

void check_added(struct checker *c, int index)
{
    const struct plan_layer *layer = &c->plan->layers[index];
    bool is_last = index + 1 == c->plan->network->layer_count;
    bool has_rows = layer->record.operation <= DORY_DEPTHWISE || layer->record.operation == DORY_ADDITION;
    bool has_gap = has_rows && layer->record.rows.sum_gap != 0;
    if ((adds(layer) || has_gap) && (is_last || !layer[1].is_added))
        check_fault(c, "layer '%s': its kernel adds what no layer behind it does", checker_layer_name(c, index));
    if (!layer->is_added)
        return;
    if (!can_be_added(c, index)) {
        check_fault(c, "layer '%s': made by the kernel of a layer before that cannot", checker_layer_name(c, index));
        return;
    }
    if (!is_the_sum(c, index, layer[-1].record.stages, layer->inputs_stay >> 1))
        check_fault(c, "layer '%s': the kernel of the layer before adds something else", checker_layer_name(c, index));
    check_output_beside(c, index);
}
