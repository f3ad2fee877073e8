/* Stages of additions that kernels have ways of their own for. */
#include "random_layer.h"

/* An addition whose inputs are requantised each. */
static void random_shifts(struct dory_layer *layer, struct dory_stages *stages)
{
    static const struct dory_stage none = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    layer->normalisation = DORY_NORMALISE_NONE;
    layer->input_is_signed = layer->second_input_is_signed = 0;
    layer->stages = stages;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t shift = random_between(10, 20);
        stages->input[i] = none;
        stages->input[i].multiplier = (int64_t)random_up_to(1u << shift);
        stages->input[i].divisor = 1 << shift;
        stages->input[i].addend = one_in(4) ? 0 : 1 << (shift - 1);
        if (one_in(2)) {
            stages->input[i].minimum = 0;
            stages->input[i].maximum = one_in(4) ? 127 : 255;
        }
    }
    stages->first = none;
    stages->has_second = 0;
    layer->maximum = (1 << layer->output_bits) - 1;
    layer->minimum = one_in(4) ? (int32_t)random_up_to((uint32_t)layer->maximum) : 0;
}

/* One plane for both inputs in about 31 bits, as what is proven equal to two roundings has it: terms whose sum fits, though
 * their magnitudes do not. */
static void random_plane(struct dory_layer *layer, struct dory_stages *stages)
{
    static const struct dory_stage none = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    layer->normalisation = DORY_NORMALISE_32;
    layer->input_is_signed = layer->second_input_is_signed = 0;
    layer->stages = stages;
    stages->input[0] = stages->input[1] = stages->first = none;
    stages->input[0].multiplier = (int64_t)random_between(1, 1 << 22);
    stages->input[1].multiplier = (int64_t)random_between(1, 1 << 23);
    stages->input[0].addend = -(int64_t)random_between(1 << 30, INT32_MAX);
    if (one_in(4)) {
        stages->input[1].multiplier = -stages->input[1].multiplier;
        stages->input[0].addend = (int64_t)random_up_to(1 << 30);
    }
    stages->first.divisor = 1 << random_between(16, 23);
    stages->has_second = 0;
    layer->output_is_signed = 0;
    layer->minimum = (int32_t)random_up_to(100);
    layer->maximum = layer->output_bits == 16 ? 65535 : 255;
}

/* Small multipliers, which are all that an addition of NEMO's has; some a bit larger, or with an addend. */
static void random_small_factors(struct dory_layer *layer, struct dory_stages *stages)
{
    random_plane(layer, stages);
    for (unsigned i = 0; i < 2; i++) {
        stages->input[i].multiplier = (int64_t)random_up_to(one_in(2) ? 128 : 280);
        stages->input[i].addend = one_in(8) ? (int64_t)random_up_to(1000) : 0;
    }
    stages->first.divisor = (int64_t)1 << random_up_to(one_in(4) ? 31 : 8);
    layer->minimum = one_in(4) ? layer->minimum : 0;
    layer->maximum = one_in(4) ? layer->maximum - (int32_t)random_up_to(100) : layer->maximum;
}

/* A sum that is scaled, and an activation behind it that scales once more: a residual block of NEMO's. */
static void random_second_stage(struct dory_layer *layer, struct dory_stages *stages)
{
    static const struct dory_stage none = {.multiplier = 1, .divisor = 1, .minimum = INT32_MIN, .maximum = INT32_MAX};
    layer->normalisation = DORY_NORMALISE_32;
    layer->input_is_signed = layer->second_input_is_signed = layer->output_is_signed = 0;
    layer->stages = stages;
    stages->input[0] = stages->input[1] = stages->first = stages->second = none;
    for (unsigned i = 0; i < 2; i++) {
        stages->input[i].multiplier = (int64_t)random_between(0, 1 << 10) - (one_in(4) ? 1 << 10 : 0);
        stages->input[i].addend = (int64_t)random_up_to(1 << 12) - (1 << 11);
    }
    stages->first.divisor = 1 << random_between(1, 12);
    stages->second.multiplier = (int64_t)random_between(1, 1 << 8);
    stages->second.addend = one_in(2) ? 0 : (int64_t)random_up_to(1 << 10);
    stages->second.divisor = 1 << random_between(1, 12);
    stages->has_second = 1;
    layer->maximum = (1 << layer->output_bits) - 1;
    layer->minimum = one_in(4) ? (int32_t)random_up_to((uint32_t)layer->maximum) : 0;
    stages->second.minimum = layer->minimum;
    stages->second.maximum = layer->maximum;
}

bool random_addition(struct dory_layer *layer, struct dory_stages *stages)
{
    if (one_in(4)) {
        random_shifts(layer, stages);
    } else if (one_in(4)) {
        (one_in(2) ? random_plane : random_small_factors)(layer, stages);
    } else if (one_in(4)) {
        random_second_stage(layer, stages);
    } else {
        return false;
    }
    return true;
}
