#include "values/float_rounding.h"

#include <string.h>

#include "network/interpret.h"
#include "network/stage.h"

#define EXACT_BITS 24 /* of a float32's fraction: integers up to 2^24 are exact */

static int64_t magnitude(wide number)
{
    wide amount = number < 0 ? -number : number;
    return amount > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)amount;
}

/* How far off a sum may be that is `amount` large: half a unit of its last bit, rounded up. */
static int64_t error_of(int64_t amount) { return amount < (int64_t)1 << EXACT_BITS ? 0 : (amount >> EXACT_BITS) + 1; }

/* Of a convolution, partial sums may be larger than the sum. */
static int64_t error_of_accumulator(const struct layer *layer)
{
    int64_t least = magnitude(layer->accumulator_minimum), most = magnitude(layer->accumulator_maximum);
    return 16 * error_of(least > most ? least : most);
}

/* The stage with another addend, on one number. */
static int64_t apply_beside(const struct stage *stage, int channel, int64_t x, int64_t distance)
{
    int64_t multiplier = stage->multiplier[stage->count == 1 ? 0 : channel];
    int64_t addend = stage->addend[stage->count == 1 ? 0 : channel] + distance;
    struct stage beside = *stage;
    beside.count = 1;
    beside.multiplier = &multiplier;
    beside.addend = &addend;
    return (int64_t)stage_apply(&beside, 0, x);
}

/* Where nothing bounds the quotient, the tools write it without its fraction: towards zero. */
static bool is_cut(const struct stage *stage, int64_t exact, int64_t found)
{
    return !stage->has_clip && stage->divisor > 1 && exact < 0 && found == exact + 1;
}

static bool explains_element(const struct layer *layer, int channel, int64_t x, int64_t found,
                             struct float_rounding *rounding)
{
    static const int64_t one = 1, zero = 0;
    static const struct stage none = {.count = 1, .multiplier = &one, .addend = &zero, .divisor = 1};
    const struct stage *stage = layer->stage_count ? &layer->stages[0] : &none;
    wide product = (wide)stage->multiplier[stage->count == 1 ? 0 : channel] * x;
    int64_t sum = magnitude(product + stage->addend[stage->count == 1 ? 0 : channel]), largest = magnitude(product);
    wide scaled = (wide)error_of_accumulator(layer) * magnitude(stage->multiplier[stage->count == 1 ? 0 : channel]);
    int64_t error = error_of(largest) + error_of(sum) + magnitude(scaled);
    largest = sum > largest ? sum : largest;
    rounding->largest = largest > rounding->largest ? largest : rounding->largest;
    int64_t exact = apply_beside(stage, channel, x, 0);
    return (found >= apply_beside(stage, channel, x, -error) && found <= apply_beside(stage, channel, x, error)) ||
           is_cut(stage, exact, found);
}

/* What the layer sums up, without its stages. */
static bool accumulate(const struct network *network, int index, int64_t *const *tensors, int64_t *sums, struct arena *arena,
                       struct diagnostics *diagnostics)
{
    struct network bare = *network;
    int64_t **values = arena_array(arena, int64_t *, (size_t)network->tensor_count);
    bare.layers = arena_array(arena, struct layer, (size_t)network->layer_count);
    memcpy(bare.layers, network->layers, (size_t)network->layer_count * sizeof *bare.layers);
    memcpy(values, tensors, (size_t)network->tensor_count * sizeof *values);
    bare.layers[index].stage_count = 0;
    values[bare.layers[index].output] = sums;
    return interpret_layer(&bare, index, values, diagnostics);
}

bool float_rounding_explains(const struct network *network, int index, int64_t *const *tensors, const int64_t *found,
                             struct float_rounding *rounding, struct arena *arena, struct diagnostics *diagnostics)
{
    const struct layer *layer = &network->layers[index];
    const struct tensor *output = &network->tensors[layer->output];
    size_t count = tensor_elements(output);
    int64_t *sums = arena_array(arena, int64_t, count);
    bool is_floor = layer->stage_count == 0 || (layer->stage_count == 1 && layer->stages[0].rounding == ROUND_FLOOR);
    *rounding = (struct float_rounding){.is_explained = is_floor};
    if (is_floor && !accumulate(network, index, tensors, sums, arena, diagnostics))
        return false;
    for (size_t i = 0; i < count && rounding->is_explained; i++)
        rounding->is_explained = explains_element(layer, (int)(i % (size_t)output->channels), sums[i], found[i], rounding);
    return true;
}
