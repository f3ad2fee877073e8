/* Inputs whose parts the model quantises by themselves, as an unrolled network its time steps. */
#include "import/qdq/outside.h"

#include <string.h>

#define MOST_CLAIMED ((size_t)1 << 24) /* elements of an input that are gone through: what a hostile model can multiply */

/* Of an input: by which of the quantisations each element is rounded; -1: by none so far. */
struct qdq_claim {
    int input;
    int *of;
    struct quantisation *list;
    int count;
    size_t claimed; /* elements so far, with those that are claimed again */
    bool is_whole;  /* too many to tell them apart: all have one quantisation */
};

/* ---- where elements come from ---- */

static const struct layer *copy_of(const struct qdq *qdq, int tensor)
{
    const int producer = qdq_tensor(qdq, tensor)->producer;
    const struct layer *layer = producer == NO_LAYER ? NULL : &qdq->builder.network->layers[producer];
    return layer && layer->kind == LAYER_COPY ? layer : NULL;
}

int qdq_origin(const struct qdq *qdq, int tensor)
{
    for (const struct layer *copy = copy_of(qdq, tensor); copy; copy = copy_of(qdq, tensor))
        tensor = copy->inputs[0];
    return tensor;
}

/* The element of the origin that this one of the tensor is; -1: it is a border's. */
static int64_t source_of(const struct qdq *qdq, int tensor, int64_t element)
{
    for (const struct layer *copy = copy_of(qdq, tensor); copy && element >= 0; copy = copy_of(qdq, tensor)) {
        const struct tensor *output = qdq_tensor(qdq, tensor);
        const int64_t pixel = element / output->channels;
        const int32_t row = copy->map.rows[pixel / output->width], column = copy->map.columns[pixel % output->width],
                      channel = copy->map.channels[element % output->channels];
        element = row < 0 || column < 0 || channel < 0 ? -1 : (int64_t)row + column + channel;
        tensor = copy->inputs[0];
    }
    return element;
}

/* ---- which quantisation each has ---- */

static struct qdq_claim *claim_of(struct qdq *qdq, int input)
{
    for (int i = 0; i < qdq->claim_count; i++)
        if (qdq->claims[i].input == input)
            return &qdq->claims[i];
    struct qdq_claim *claims = arena_array(qdq->arena, struct qdq_claim, (size_t)qdq->claim_count + 1);
    const size_t elements = tensor_elements(qdq_tensor(qdq, input));
    const bool is_whole = elements > MOST_CLAIMED;
    if (qdq->claim_count)
        memcpy(claims, qdq->claims, (size_t)qdq->claim_count * sizeof *claims);
    claims[qdq->claim_count] = (struct qdq_claim){
        .input = input, .is_whole = is_whole, .of = arena_array(qdq->arena, int, is_whole ? 0 : elements)};
    for (size_t i = 0; i < elements && !is_whole; i++)
        claims[qdq->claim_count].of[i] = -1;
    qdq->claims = claims;
    return &claims[qdq->claim_count++];
}

static bool is_same(const struct quantisation *a, const struct quantisation *b)
{
    return a->scale == b->scale && a->zero_point == b->zero_point && a->is_signed == b->is_signed;
}

static int number_of(struct qdq *qdq, struct qdq_claim *claim, const struct quantisation *quantisation)
{
    for (int i = 0; i < claim->count; i++)
        if (is_same(&claim->list[i], quantisation))
            return i;
    if ((claim->count & (claim->count - 1)) == 0) { /* room for twice as many */
        struct quantisation *list = arena_array(qdq->arena, struct quantisation, 2 * (size_t)claim->count + 1);
        if (claim->count)
            memcpy(list, claim->list, (size_t)claim->count * sizeof *list);
        claim->list = list;
    }
    claim->list[claim->count] = *quantisation;
    return claim->count++;
}

bool qdq_claim_input(struct qdq *qdq, int tensor, const struct quantisation *quantisation)
{
    struct qdq_claim *claim = claim_of(qdq, qdq_origin(qdq, tensor));
    const int number = number_of(qdq, claim, quantisation);
    const int64_t elements = (int64_t)tensor_elements(qdq_tensor(qdq, tensor));
    claim->claimed += (size_t)elements;
    claim->is_whole |= claim->claimed > MOST_CLAIMED;
    if (claim->is_whole)
        return claim->count == 1;
    bool is_free = claim->list[0].is_signed == quantisation->is_signed;
    for (int64_t i = 0; i < elements && is_free; i++) {
        const int64_t source = source_of(qdq, tensor, i);
        if (source < 0)
            continue;
        is_free = claim->of[source] < 0 || claim->of[source] == number;
        claim->of[source] = number;
    }
    return is_free;
}

/* ---- parts ---- */

/* Elements that nothing reads belong to the part in front of them. */
static void set_parts(struct qdq *qdq, const struct qdq_claim *claim)
{
    struct tensor *tensor = qdq_tensor(qdq, claim->input);
    const size_t elements = tensor_elements(tensor);
    int count = 0, last = -1;
    for (size_t i = 0; i < elements; i++)
        if (claim->of[i] >= 0 && claim->of[i] != last) {
            count++;
            last = claim->of[i];
        }
    struct input_part *parts = arena_array(qdq->arena, struct input_part, (size_t)count);
    count = 0;
    last = -1;
    for (size_t i = 0; i < elements; i++) {
        if (claim->of[i] < 0 || claim->of[i] == last)
            continue;
        last = claim->of[i];
        const struct quantisation *own = &claim->list[last];
        parts[count] = (struct input_part){count ? i : 0, own->scale, (int)own->zero_point + (own->is_signed ? 128 : 0)};
        count++;
    }
    tensor->parts = parts;
    tensor->part_count = count;
}

void qdq_set_parts(struct qdq *qdq)
{
    for (int i = 0; i < qdq->claim_count; i++)
        if (qdq->claims[i].count > 1 && !qdq->claims[i].is_whole)
            set_parts(qdq, &qdq->claims[i]);
}
