/* Inputs whose parts the model quantises by themselves, as an unrolled network its time steps. */
#include "import/qdq/outside.h"

#include <inttypes.h>

/* What a hostile model can multiply: elements of all inputs in parts, and of those copies that are gone through. */
#define MOST_ELEMENTS ((size_t)1 << 24)
#define MOST_PARTS    1024 /* of an input: each has three numbers in the header */

#define ONE_SCALE                                                                                                           \
    "(of onnxruntime's quantize_static: extra_options={'ForceQuantizeNoInputCheck': True}, by which slices of "             \
    "the input keep its scale)"

/* A copy of an input, or the input itself, and the quantisation that rounds it. */
struct rounded_copy {
    int tensor, number;
};

/* Of an input: its quantisations, by which of them each copy is rounded, and, once there are two, each element; -1: by none
 * so far. */
struct qdq_claim {
    int input;
    struct quantisation *list;
    int count;
    struct rounded_copy *copies;
    int copy_count;
    int *of; /* null: all have the first */
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
    arena_grow(qdq->arena, qdq->claims, qdq->claim_count);
    qdq->claims[qdq->claim_count] = (struct qdq_claim){.input = input};
    return &qdq->claims[qdq->claim_count++];
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
    arena_grow(qdq->arena, claim->list, claim->count);
    claim->list[claim->count] = *quantisation;
    return claim->count++;
}

/* True where the copy was not known to be rounded so. */
static bool add_copy(struct qdq *qdq, struct qdq_claim *claim, int tensor, int number)
{
    for (int i = 0; i < claim->copy_count; i++)
        if (claim->copies[i].tensor == tensor && claim->copies[i].number == number)
            return false;
    arena_grow(qdq->arena, claim->copies, claim->copy_count);
    claim->copies[claim->copy_count++] = (struct rounded_copy){tensor, number};
    return true;
}

static bool may_go_through(struct qdq *qdq, int tensor)
{
    size_t copies = 1;
    for (const struct layer *copy = copy_of(qdq, tensor); copy; copy = copy_of(qdq, copy->inputs[0]))
        copies++;
    const size_t elements = tensor_elements(qdq_tensor(qdq, tensor)), left = MOST_ELEMENTS - qdq->claimed_elements;
    if (elements > left / copies)
        return false;
    qdq->claimed_elements += copies * elements;
    return true;
}

static enum qdq_outcome refuse_elements(struct qdq *qdq, const struct node *node, const struct qdq_claim *claim)
{
    const struct tensor *input = qdq_tensor(qdq, claim->input);
    return qdq_fault(qdq, node, NULL,
                     "input '%s' has %zu elements, parts of which are quantised by themselves; supported: %zu elements in "
                     "all, those of such inputs and of their parts; larger inputs with one scale " ONE_SCALE,
                     input->name, tensor_elements(input), MOST_ELEMENTS);
}

static enum qdq_outcome refuse_overlap(struct qdq *qdq, const struct node *node, const struct qdq_claim *claim,
                                       const struct quantisation *first, const struct quantisation *second)
{
    return qdq_fault(qdq, node, NULL,
                     "elements of input '%s' are quantised twice: with scale %.9g and zero point %" PRId64
                     ", and here with %.9g and %" PRId64 "; supported: one quantisation an element " ONE_SCALE,
                     qdq_tensor(qdq, claim->input)->name, first->scale, first->zero_point, second->scale,
                     second->zero_point);
}

static enum qdq_outcome claim_elements(struct qdq *qdq, const struct node *node, struct qdq_claim *claim,
                                       const struct rounded_copy *copy)
{
    if (!may_go_through(qdq, copy->tensor))
        return refuse_elements(qdq, node, claim);
    const int64_t elements = (int64_t)tensor_elements(qdq_tensor(qdq, copy->tensor));
    for (int64_t i = 0; i < elements; i++) {
        const int64_t source = source_of(qdq, copy->tensor, i);
        if (source < 0)
            continue;
        if (claim->of[source] >= 0 && claim->of[source] != copy->number)
            return refuse_overlap(qdq, node, claim, &claim->list[claim->of[source]], &claim->list[copy->number]);
        claim->of[source] = copy->number;
    }
    return QDQ_DONE;
}

/* From now on each element has a number of its own. */
static enum qdq_outcome tell_apart(struct qdq *qdq, const struct node *node, struct qdq_claim *claim)
{
    if (!may_go_through(qdq, claim->input))
        return refuse_elements(qdq, node, claim);
    const size_t elements = tensor_elements(qdq_tensor(qdq, claim->input));
    claim->of = arena_array(qdq->arena, int, elements);
    for (size_t i = 0; i < elements; i++)
        claim->of[i] = -1;
    enum qdq_outcome outcome = QDQ_DONE;
    for (int i = 0; i < claim->copy_count && outcome == QDQ_DONE; i++)
        outcome = claim_elements(qdq, node, claim, &claim->copies[i]);
    return outcome;
}

enum qdq_outcome qdq_claim_input(struct qdq *qdq, const struct node *node, int tensor,
                                 const struct quantisation *quantisation)
{
    struct qdq_claim *claim = claim_of(qdq, qdq_origin(qdq, tensor));
    const int number = number_of(qdq, claim, quantisation);
    if (claim->list[0].is_signed != quantisation->is_signed)
        return qdq_fault(qdq, node, NULL,
                         "quantises elements of input '%s' to %s, of which others are %s; supported: one type an input (%s)",
                         qdq_tensor(qdq, claim->input)->name, quantisation->is_signed ? "INT8" : "UINT8",
                         quantisation->is_signed ? "UINT8" : "INT8", qdq_advice(qdq, QDQ_ACTIVATIONS));
    if (!add_copy(qdq, claim, tensor, number) || claim->count == 1)
        return QDQ_DONE;
    return claim->of ? claim_elements(qdq, node, claim, &claim->copies[claim->copy_count - 1])
                     : tell_apart(qdq, node, claim);
}

/* ---- parts ---- */

/* Goes on to where the next part begins, and says by what it is rounded; -1: there is none. Elements that nothing reads
 * belong to the part in front of them. */
static int next_part(const struct qdq_claim *claim, size_t elements, int last, size_t *first)
{
    while (*first < elements && (claim->of[*first] < 0 || claim->of[*first] == last))
        ++*first;
    return *first < elements ? claim->of[*first] : -1;
}

static void refuse_parts(struct qdq *qdq, const struct tensor *tensor)
{
    diagnose(
        qdq->diagnostics, SEVERITY_ERROR, NULL, NULL,
        "input '%s' is quantised in more than %d parts, counted in memory, where elements of different scales take turns; "
        "supported: up to %d, or one scale for the input " ONE_SCALE,
        tensor->name, MOST_PARTS, MOST_PARTS);
}

static void set_parts(struct qdq *qdq, const struct qdq_claim *claim)
{
    struct tensor *tensor = qdq_tensor(qdq, claim->input);
    const size_t elements = tensor_elements(tensor);
    struct input_part *parts = NULL;
    int count = 0;
    size_t first = 0;
    for (int number = -1; (number = next_part(claim, elements, number, &first)) >= 0; count++) {
        const struct quantisation *own = &claim->list[number];
        if (count == MOST_PARTS) {
            refuse_parts(qdq, tensor);
            return;
        }
        arena_grow(qdq->arena, parts, count);
        parts[count] = (struct input_part){count ? first : 0, own->scale, (int)own->zero_point + (own->is_signed ? 128 : 0)};
    }
    tensor->parts = parts;
    tensor->part_count = count;
}

void qdq_set_parts(struct qdq *qdq)
{
    for (int i = 0; i < qdq->claim_count && !qdq->diagnostics->error_count; i++)
        if (qdq->claims[i].of)
            set_parts(qdq, &qdq->claims[i]);
}
