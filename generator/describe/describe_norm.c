/* Norms: the constants of struct norm as the words of the firmware's struct dory_norm. */
#include "describe/description.h"

#include <string.h>

#include "dory/norm.h"

#define ROOTS 256

static void write_words(const struct norm *norm, int32_t *words)
{
    const struct dory_norm head = {
        .epsilon_low = (uint32_t)norm->epsilon,
        .epsilon_high = (uint32_t)((uint64_t)norm->epsilon >> 32),
        .multiplier = (uint32_t)norm->multiplier,
        .zero_point = norm->zero_point,
        .is_centred = norm->is_centred,
        .fraction_bits = (uint32_t)norm->fraction_bits,
        .left_shift = (uint32_t)norm->left_shift,
        .shift = (uint32_t)norm->shift,
        .run = (uint32_t)norm->run,
        .count = (uint32_t)norm->count,
        .has_roots = norm->roots != NULL,
        .arithmetic = (uint32_t)norm->arithmetic,
    };
    memcpy(words, &head, sizeof head);
    for (int i = 0; i < norm->count; i++) {
        words[DORY_NORM_WORDS + 2 * (size_t)i] = norm->constants[i].factor;
        words[DORY_NORM_WORDS + 2 * (size_t)i + 1] = norm->constants[i].term;
    }
    if (norm->roots)
        memcpy(words + DORY_NORM_WORDS + 2 * (size_t)norm->count, norm->roots, ROOTS * sizeof *norm->roots);
}

/* The stage behind a norm clips, and does nothing else. */
static bool only_clips(const struct layer *layer)
{
    const struct stage *stage = &layer->stages[0];
    return layer->stage_count == 1 && stage->count == 1 && stage->rounding == ROUND_FLOOR && stage->multiplier[0] == 1 &&
           stage->addend[0] == 0 && stage->divisor == 1 && stage->has_clip;
}

void describe_norm(const struct description *d)
{
    const struct norm *norm = d->layer->norm;
    size_t count = DORY_NORM_WORDS + 2 * (size_t)norm->count + (norm->roots ? ROOTS : 0);
    d->record->operation = DORY_NORM;
    d->record->stages = NULL;
    if (!same_shape(d->input, d->output) || d->input->bits != 8 || d->input->is_signed || d->output->bits != 8 ||
        d->output->is_signed || !only_clips(d->layer)) {
        REFUSE(d, NULL, "a norm of elements that are no bytes without a sign, or into another shape");
        return;
    }
    if (norm->roots && (d->second_input->bits != 8 || d->second_input->is_signed || d->second_input->channels != 1 ||
                        d->second_input->height != d->input->height || d->second_input->width != d->input->width)) {
        REFUSE(d, NULL, "a norm whose roots are not named by a byte of each pixel");
        return;
    }
    d->record->second_repeats = norm->roots ? DORY_REPEATS_CHANNEL : 0;
    if (count > UINT16_MAX) {
        REFUSE(d, NULL, "has %d factors; supported: up to %d", norm->count, (int)(UINT16_MAX - DORY_NORM_WORDS) / 2);
        return;
    }
    int32_t *words = arena_array(d->arena, int32_t, count);
    write_words(norm, words);
    d->record->constants.norm = (const struct dory_norm *)(const void *)words;
    d->record->norm.words = (uint16_t)count;
    describe_clip(d, &d->layer->stages[0]);
}
