/* Convolutions, pools, additions, multiplications, concatenations. */
#include "describe/description.h"

#include <string.h>

#include "describe/addition_terms.h"
#include "describe/layer_operation.h"
#include "describe/requantise_scalar.h"

/* The layer that should have had a clip: pools and the like only pass on what they get. */
static const struct layer *unclipped_producer(const struct description *d)
{
    const struct layer *layer = d->layer;
    for (const struct tensor *tensor = d->input; tensor->bits == 32 && tensor->producer != NO_LAYER;
         tensor = &d->network->tensors[layer->inputs[0]])
        layer = &d->network->layers[tensor->producer];
    return layer;
}

/* The fault is not in the layer that reads them. */
static void refuse_wide_input(const struct description *d)
{
    const struct layer *producer = unclipped_producer(d);
    if (producer == d->layer)
        REFUSE(d, NULL, "convolves 32-bit elements, which the firmware cannot");
    else
        diagnose(
            d->diagnostics, SEVERITY_ERROR, producer->name, NULL,
            "its output is not clipped and so has elements of 32 bits, which '%s' behind it cannot convolve; a Clip to at "
            "most 8 bits (what a quantised activation exports) is missing behind it",
            d->layer->name);
}

void describe_convolution(const struct description *d)
{
    const struct layer *layer = d->layer;
    struct dory_layer *record = d->record;
    record->operation = layer_operation(d->network, layer);
    record->weight_bits = record->operation == DORY_DEPTHWISE ? 8 : (uint8_t)layer->weight_bits; /* of the blob */
    if (layer->groups < 1 || d->input->channels % layer->groups || d->output->channels % layer->groups)
        REFUSE(d, "group", "%d groups of %d and %d channels, which do not divide", layer->groups, d->input->channels,
               d->output->channels);
    else if (record->operation == DORY_GROUPED) {
        record->grouped.channels = (uint16_t)(d->input->channels / layer->groups);
        record->grouped.outputs = (uint16_t)(d->output->channels / layer->groups);
    }
    if (d->input->bits == 32)
        refuse_wide_input(d);
    describe_flattened(d);
    if (d->diagnostics->error_count == 0)
        describe_channel_stages(d);
    if (d->diagnostics->error_count == 0)
        describe_tables(d);
}

/* In the high half of a product, where the model's rounding is no floor in 32 bits: a mean that rounds twice, and halves
 * that go to even. */
static bool describe_high_mean(struct description *d, struct bounds sum)
{
    const struct stage *first = &d->first, *floor;
    int64_t bias;
    if (d->layer->stage_count != 1 || first->count != 1 || first->rounding == ROUND_FLOOR)
        return false;
    floor = requantise_as_floor(first, sum.minimum, sum.maximum, d->arena);
    if (floor && describe_fits_32(floor, sum))
        return false;
    if (!describe_high_stage(d, sum, &bias))
        return false;
    d->stages->input[0] = (struct dory_stage){1, bias, 1, INT32_MIN, INT32_MAX};
    return true;
}

void describe_pool(struct description *d)
{
    bool maximum = d->layer->kind == LAYER_MAXIMUM_POOL;
    struct bounds x = described_accumulator(d);
    d->record->operation = maximum ? DORY_MAXIMUM_POOL : DORY_AVERAGE_POOL;
    if (maximum)
        describe_check_maximum_pool(d);
    if (d->input->channels != d->output->channels)
        REFUSE(d, NULL, "pools %d channels into %d", d->input->channels, d->output->channels);
    if (d->diagnostics->error_count == 0)
        describe_pool_table(d);
    if (d->diagnostics->error_count == 0 && !describe_high_mean(d, x))
        describe_scalar_stages(d, x);
}

/* The stages of both inputs, and what they make of their tensors. */
static void describe_input_stages(struct description *d, struct bounds terms[2])
{
    for (int i = 0; i < 2; i++)
        describe_floor(d, &d->terms[i], described_bounds(d, i));
    for (int i = 0; i < 2; i++)
        d->stages->input[i] = describe_scalar_stage(d, &d->terms[i], described_bounds(d, i));
    for (int i = 0; i < 2 && d->diagnostics->error_count == 0; i++)
        terms[i] = described_stage_bounds(&d->stages->input[i], described_bounds(d, i));
}

/* Whole numbers of more than a byte are added as they are: only their sum is rounded otherwise. */
static bool is_sum_of_wide(const struct description *d)
{
    bool is_wide = d->input->bits > 8 || d->second_input->bits > 8;
    return is_wide && d->terms[0].rounding == ROUND_FLOOR && d->terms[1].rounding == ROUND_FLOOR;
}

/* Terms and sum become floors together: what a term is rounded to is no number of the firmware. */
static bool make_sum(struct description *d)
{
    bool floors = d->first.rounding == ROUND_FLOOR;
    struct requantise_sum sum = {.terms = {d->terms[0], d->terms[1]}, .sum = d->first};
    for (int i = 0; i < 2; i++) {
        struct bounds x = described_bounds(d, i);
        sum.first[i] = x.minimum;
        sum.last[i] = x.maximum;
        floors = floors && d->terms[i].rounding == ROUND_FLOOR;
    }
    if (floors || is_sum_of_wide(d))
        return true;
    if (d->layer->stage_count != 1 || !requantise_sum(&sum, d->arena))
        return false;
    memcpy(d->terms, sum.terms, sizeof d->terms);
    d->first = sum.sum;
    d->requantisation->verdict = REQUANTISED_PROVEN;
    d->requantisation->pairs = (sum.last[0] - sum.first[0] + 1) * (sum.last[1] - sum.first[1] + 1);
    return true;
}

/* Where no floors make the sum: by tables. */
static void describe_addition_terms(struct description *d)
{
    const struct tensor *tensors[] = {d->input, d->second_input, d->output};
    bool are_bytes = true;
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        are_bytes = are_bytes && tensors[i]->bits == 8 && !tensors[i]->is_signed;
    describe_clip(d, d->layer->stage_count ? &d->layer->stages[0] : NULL);
    if (!are_bytes || !addition_terms(d->layer, d->record, d->stages, d->arena)) {
        describe_refuse_stage(d, d->first.rounding == ROUND_FLOOR ? &d->terms[0] : &d->first);
        return;
    }
    d->requantisation->verdict = REQUANTISED_PROVEN;
    d->requantisation->normalisation = d->record->normalisation;
    d->requantisation->channel_count = d->output->channels;
    d->requantisation->pairs = 256 * 256;
}

/* The first input is as large as the output, and the second, too, or it is repeated: one pixel, one channel, or both. */
static bool fit_together(struct description *d)
{
    struct operand_repeat repeat = layer_second_repeats(d->input, d->second_input);
    d->record->second_repeats =
        (uint8_t)((repeat.pixel ? DORY_REPEATS_PIXEL : 0) | (repeat.channel ? DORY_REPEATS_CHANNEL : 0));
    return same_shape(d->input, d->output) && repeat.fits;
}

void describe_addition(struct description *d)
{
    struct bounds terms[2];
    d->record->operation = DORY_ADDITION;
    if (!fit_together(d))
        REFUSE(d, NULL, "adds tensors of different shapes");
    if (d->diagnostics->error_count > 0)
        return;
    if (!make_sum(d)) {
        describe_addition_terms(d);
        return;
    }
    describe_input_stages(d, terms);
    if (d->diagnostics->error_count > 0)
        return;
    struct bounds sum = {terms[0].minimum + terms[1].minimum, terms[0].maximum + terms[1].maximum};
    if (!fits_32_bits(sum.minimum) || !fits_32_bits(sum.maximum))
        REFUSE(d, NULL, "its sums can exceed 32 bits, in which the firmware accumulates");
    describe_scalar_stages(d, sum);
}

/* A number that is added to an element, and nothing else. */
static bool is_offset(const struct dory_stage *stage)
{
    return stage->multiplier == 1 && stage->divisor == 1 && stage->addend >= INT16_MIN && stage->addend <= INT16_MAX;
}

/* One scale for the layer in the high half of a product, which the chip's own kernel takes. */
static bool describe_high_product(struct description *d, struct bounds product)
{
    return is_offset(&d->stages->input[0]) && is_offset(&d->stages->input[1]) && describe_high_stage(d, product, NULL);
}

/* The same with a scale for each channel. */
static bool describe_channel_product(struct description *d, struct bounds product)
{
    size_t channels = (size_t)d->output->channels;
    struct sum_range *ranges = arena_array(d->arena, struct sum_range, channels);
    int32_t *scales = arena_array(d->arena, int32_t, 4 * channels);
    struct requantisation form = {0};
    if (d->layer->stage_count != 1 || d->first.count == 1)
        return false;
    describe_clip(d, &d->first);
    for (size_t i = 0; i < channels; i++)
        ranges[i] = (struct sum_range){product.minimum, product.maximum};
    struct requantise_problem problem = {&d->first,          ranges,           (int)channels, d->record->minimum,
                                         d->record->maximum, .only_high = true};
    if (!requantise(&problem, NULL, &form, d->arena))
        return false;
    for (size_t i = 0; i < channels; i++) {
        const struct dory_channel_constants *c = &form.channels[i];
        const int64_t numbers[] = {c->high.bias, c->high.multiplier, c->high.addend, c->high.shift};
        for (size_t k = 0; k < 4; k++)
            scales[4 * i + k] = (int32_t)numbers[k];
    }
    *d->requantisation = form;
    requantisation_describe(&form, d->record);
    d->record->normalisation = DORY_NORMALISE_CHANNELS;
    d->requantisation->normalisation = DORY_NORMALISE_CHANNELS;
    d->requantisation->channels = NULL;
    d->record->constants.scales = scales;
    return true;
}

/* By tables of both inputs' factors. */
static void describe_quotient(struct description *d)
{
    const struct tensor *tensors[] = {d->input, d->second_input, d->output};
    int32_t *terms = arena_array(d->arena, int32_t, 512);
    d->record->operation = DORY_QUOTIENT;
    bool fits = fit_together(d);
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        fits = fits && tensors[i]->bits == 8 && !tensors[i]->is_signed;
    if (!fits)
        REFUSE(d, NULL, "divides tensors of different shapes, or of elements that are no bytes");
    for (int i = 0; i < 2; i++)
        memcpy(terms + (ptrdiff_t)256 * i, d->layer->factors[i], 256 * sizeof *terms);
    d->record->constants.terms = terms;
    if (d->diagnostics->error_count == 0)
        describe_scalar_stages(d, described_accumulator(d));
}

void describe_multiplication(struct description *d)
{
    if (d->layer->factors[0]) {
        describe_quotient(d);
        return;
    }
    struct bounds factors[2];
    struct bounds product = described_accumulator(d);
    d->record->operation = DORY_MULTIPLICATION;
    if (!fit_together(d))
        REFUSE(d, NULL, "multiplies tensors of different shapes");
    if (d->diagnostics->error_count == 0)
        describe_input_stages(d, factors);
    if (d->diagnostics->error_count == 0 && !describe_high_product(d, product) && !describe_channel_product(d, product))
        describe_scalar_stages(d, product);
}

/* In the forms that a convolution's channel has. False where none equals the model's. */
static bool describe_as_channel(struct description *d, struct bounds sum)
{
    struct sum_range *range = arena_array(d->arena, struct sum_range, 1);
    struct requantisation form = {0};
    if (d->layer->stage_count != 1 || d->first.count != 1)
        return false;
    describe_clip(d, &d->layer->stages[0]);
    *range = (struct sum_range){sum.minimum, sum.maximum};
    struct requantise_problem problem = {.stage = &d->layer->stages[0],
                                         .ranges = range,
                                         .channel_count = 1,
                                         .minimum = d->record->minimum,
                                         .maximum = d->record->maximum};
    if (!requantise(&problem, NULL, &form, d->arena))
        return false;
    *d->sums = problem;
    d->record->weight_bits = 8; /* of the second factor, where a kernel takes it for weights */
    return true;
}

/* The second factor has a pixel for each channel of the output. */
/* Bytes from pixel to pixel, of a view its home's. */
static int64_t pitch_of(const struct tensor *tensor)
{
    return tensor->view ? (int64_t)tensor->view->column_step * tensor->bits / 8
                        : ((int64_t)tensor->channels * tensor->bits + 7) / 8;
}

static void describe_pitches(struct description *d)
{
    const struct dimension pitches[] = {
        {"first factor's number of bytes from pixel to pixel", pitch_of(d->input), &d->record->pixel_bytes},
        {"second factor's number of bytes from pixel to pixel", pitch_of(d->second_input), &d->record->second_pixel_bytes},
        {"product's number of bytes from pixel to pixel", pitch_of(d->output), &d->record->matrix_product.pixel_bytes},
    };
    describe_dimensions(d, pitches, COUNT_OF(pitches));
}

void describe_matrix_product(struct description *d)
{
    const struct tensor *a = d->input, *b = d->second_input, *y = d->output;
    struct bounds factors[2], sum = described_accumulator(d);
    d->record->operation = DORY_MATRIX_PRODUCT;
    describe_pitches(d);
    if (a->height != y->height || a->width != y->width || b->height != y->height || b->width != y->channels ||
        b->channels != a->channels)
        REFUSE(d, NULL, "multiplies matrices whose dimensions do not go together");
    if (a->bits > 8 || b->bits > 8)
        REFUSE(d, NULL, "multiplies matrices of %d and %d bits; supported: up to 8", a->bits, b->bits);
    if (d->diagnostics->error_count == 0)
        describe_input_stages(d, factors);
    if (d->diagnostics->error_count == 0 && !(is_offset(&d->stages->input[0]) && is_offset(&d->stages->input[1])))
        REFUSE(d, NULL, "scales its factors; supported are zero points");
    if (d->diagnostics->error_count == 0 && !describe_as_channel(d, sum))
        describe_scalar_stages(d, sum);
}

/* By tables of both inputs' terms, which are exact, and one scale in the high half of a product. */
void describe_squared_difference(struct description *d)
{
    const struct tensor *tensors[] = {d->input, d->second_input, d->output};
    int32_t *terms = arena_array(d->arena, int32_t, 512);
    d->record->operation = DORY_SQUARED_DIFFERENCE;
    bool fits = fit_together(d);
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        fits = fits && tensors[i]->bits == 8 && !tensors[i]->is_signed;
    if (!fits)
        REFUSE(d, NULL, "squares differences of tensors of different shapes, or of elements that are no bytes");
    for (int i = 0; i < 512 && fits; i++) {
        const struct stage *stage = &d->layer->input_stages[i / 256];
        wide term = stage->count ? stage_apply(stage, 0, i % 256) : i % 256;
        fits = term >= -INT16_MAX && term <= INT16_MAX;
        terms[i] = fits ? (int32_t)term : 0;
    }
    d->record->constants.terms = terms;
    if (d->diagnostics->error_count == 0 && (!fits || !describe_high_stage(d, described_accumulator(d), NULL)))
        describe_refuse_stage(d, &d->first);
}

void describe_concatenation(struct description *d)
{
    const struct tensor *a = d->input, *b = d->second_input, *y = d->output;
    struct bounds terms[2];
    d->record->operation = DORY_CONCATENATION;
    if (a->height != b->height || a->width != b->width || a->height != y->height || a->width != y->width ||
        a->channels + b->channels != y->channels)
        REFUSE(d, NULL, "joins tensors of different height or width");
    describe_input_stages(d, terms);
    if (d->diagnostics->error_count > 0)
        return;
    struct bounds either = {terms[0].minimum < terms[1].minimum ? terms[0].minimum : terms[1].minimum,
                            terms[0].maximum > terms[1].maximum ? terms[0].maximum : terms[1].maximum};
    describe_scalar_stages(d, either);
}
