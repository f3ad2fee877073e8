/* Operators of transformers of integers: softmax, norms, functions of one element, means. */
#include "import/integers/integers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Elements of a tensor whose channels are the model's last dimension: rows that a layer computes one by one. */
static enum qdq_outcome make_rows(struct qdq *qdq, const struct node *node, struct qdq_value *value)
{
    enum qdq_outcome outcome = qdq_make_elements(qdq, node, value);
    return outcome == QDQ_DONE ? qdq_make_channels(qdq, node, value, value->view.rank - 1) : outcome;
}

/* ---- softmax ---- */

struct softmax_read {
    int64_t a, b, c, log2, levels;
    int64_t group; /* elements that are added at once; 0: all */
    int64_t most;  /* what a sum of one exponential makes of it */
};

/* Of an element that is `below` the largest. */
static int64_t exponential(const struct softmax_read *s, int64_t below)
{
    int64_t z = (int8_t)(uint8_t)(below / s->log2), places = z < 0 ? 0 : z > 31 ? 31 : z;
    int64_t p = places * s->log2 - below + s->b;
    return (s->a * p * p + s->c) >> places;
}

static bool read_softmax(struct qdq *qdq, const struct node *node, struct softmax_read *s)
{
    const bool is_partial = !strcmp(node->type, "ITAPartialMax"), is_ita = is_partial || !strcmp(node->type, "ITAMax");
    *s = (struct softmax_read){.levels = 256};
    if (!qdq_read_levels(qdq, node, "n_levels", &s->levels))
        return false;
    s->most = is_partial ? s->levels / 2 - 1 : s->levels - 1;
    if (s->most < 1) {
        qdq_fault(qdq, node, "n_levels", "leaves no level but 0; supported: from 4 levels on");
        return false;
    }
    return is_partial ? qdq_read_whole(qdq, node, "group_width", 1, UINT16_MAX, &s->group)
                      : (is_ita || (qdq_read_whole(qdq, node, "coeffA", 0, 1 << 12, &s->a) &&
                                    qdq_read_whole(qdq, node, "coeffB", 0, 1 << 12, &s->b) &&
                                    qdq_read_whole(qdq, node, "coeffC", 0, 1 << 30, &s->c) &&
                                    qdq_read_whole(qdq, node, "log2", 1, 1 << 12, &s->log2)));
}

/* Of each distance from the largest element; all of a row's together are below 2^30 / levels. */
static bool lay_exponentials(struct qdq *qdq, const struct node *node, const struct softmax_read *s, int64_t channels,
                             uint32_t *exponentials)
{
    const int64_t first = s->log2 ? exponential(s, 0) : 256;
    for (int i = 0; i < 256; i++) {
        const int64_t e = s->log2 ? exponential(s, i) : 256 >> ((i + 16) >> 5);
        exponentials[i] = (uint32_t)e;
        if (e >= 0 && e <= first && first >= 1 && first * channels * s->levels < (int64_t)1 << SOFTMAX_BITS)
            continue;
        qdq_fault(qdq, node, NULL,
                  "has exponentials of up to %" PRId64 " of %" PRId64
                  " elements; supported: falling ones, whose sum is below 2^30 / n_levels",
                  e > first ? e : first, channels);
        return false;
    }
    return true;
}

/* floor(e * most / sum) of exponentials e. The layer's accumulator is floor(e * 2^30 / sum): with its unit added
 * to it the quotient of both is right as long as the sum is below 2^30 / levels. */
static struct stage softmax_stage(struct qdq *qdq, int64_t most)
{
    int64_t *numbers = arena_array(qdq->arena, int64_t, 1);
    *numbers = most;
    return (struct stage){.count = 1,
                          .rounding = ROUND_FLOOR,
                          .multiplier = numbers,
                          .addend = numbers,
                          .divisor = (int64_t)1 << SOFTMAX_BITS,
                          .has_clip = true,
                          .maximum = most};
}

enum qdq_outcome qdq_whole_softmax(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                   struct qdq_value *result)
{
    struct qdq_value input = inputs[0];
    struct softmax_read s;
    uint32_t *exponentials = arena_array(qdq->arena, uint32_t, 256);
    (void)count;
    if (!read_softmax(qdq, node, &s))
        return QDQ_FAULT;
    enum qdq_outcome outcome = make_rows(qdq, node, &input);
    if (outcome != QDQ_DONE)
        return outcome;
    const int channels = qdq_tensor(qdq, input.tensor)->channels;
    if (!lay_exponentials(qdq, node, &s, channels, exponentials))
        return QDQ_FAULT;
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_SOFTMAX, node, input.tensor, 1);
    pending->layer.exponentials = exponentials;
    pending->layer.group_channels = s.group < channels ? (int)s.group : 0;
    const struct stage stage = softmax_stage(qdq, s.most);
    qdq_give_integers(qdq, qdq_pending_append(qdq, pending, &(struct quantisation){.scale = 1}, node->name, &stage),
                      &input.view, result);
    return QDQ_DONE;
}

/* ---- norms ---- */

static bool is_one_each(const struct qdq_value *value, int64_t length)
{
    return value->kind == QDQ_CONSTANT && value->array->scale_count &&
           (value->array->count == 1 || (int64_t)value->array->count == length);
}

static struct norm *make_norm(struct qdq *qdq, const struct qdq_value *inputs, bool is_centred, int64_t places, int length)
{
    const struct qdq_array *factors = inputs[1].array, *terms = is_centred ? inputs[2].array : NULL;
    struct norm *norm = arena_allocate(qdq->arena, sizeof *norm);
    struct norm_constants *constants = arena_array(qdq->arena, struct norm_constants, (size_t)length);
    for (int i = 0; i < length; i++) {
        constants[i].factor = (int32_t)factors->numbers[factors->count == 1 ? 0 : i];
        constants[i].term = terms ? (int32_t)terms->numbers[terms->count == 1 ? 0 : i] : 0;
    }
    *norm = (struct norm){.is_centred = is_centred,
                          .arithmetic = NORM_DIVIDED,
                          .shift = (int)places,
                          .run = 1,
                          .count = length,
                          .constants = constants};
    return norm;
}

/* A factor times 255 is of 32 bits, and so is a quotient and its term. */
static bool are_small(const struct norm *norm)
{
    for (int i = 0; i < norm->count; i++)
        if (norm->constants[i].factor > INT32_MAX / 256 || norm->constants[i].factor < -(INT32_MAX / 256) ||
            norm->constants[i].term >= 1 << 30 || norm->constants[i].term <= -(1 << 30))
            return false;
    return true;
}

/* Weights, and of a centred norm biases. */
static bool check_norm_constants(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                 bool is_centred, int length)
{
    for (int i = 1; i < (is_centred ? 3 : 2); i++)
        if (count <= i || !is_one_each(&inputs[i], length)) {
            qdq_fault(qdq, node, i == 1 ? "weight" : "bias",
                      "is no constant of one whole number for each of %d elements; supported: that", length);
            return false;
        }
    return true;
}

/* Clips to so many levels around 0, as bytes. */
static struct stage norm_stage(struct qdq *qdq, int64_t levels)
{
    int64_t *numbers = arena_array(qdq->arena, int64_t, 2);
    numbers[0] = 1;
    return (struct stage){.count = 1,
                          .multiplier = &numbers[0],
                          .addend = &numbers[1],
                          .divisor = 1,
                          .has_clip = true,
                          .minimum = 128 - levels / 2,
                          .maximum = 127 + levels / 2};
}

enum qdq_outcome qdq_whole_norm(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                struct qdq_value *result)
{
    const bool is_centred = !strcmp(node->type, "iLayerNorm");
    struct qdq_value input = inputs[0];
    int64_t divisor, levels;
    if (!qdq_read_whole(qdq, node, "D", 1, 1 << 30, &divisor) || !qdq_read_levels(qdq, node, "n_levels", &levels))
        return QDQ_FAULT;
    enum qdq_outcome outcome = make_rows(qdq, node, &input);
    if (outcome != QDQ_DONE)
        return outcome;
    const struct tensor from = *qdq_tensor(qdq, input.tensor);
    const int places = 31 - __builtin_clz((uint32_t)divisor);
    if (!check_norm_constants(qdq, node, inputs, count, is_centred, from.channels))
        return QDQ_FAULT;
    struct norm *norm = make_norm(qdq, inputs, is_centred, places, from.channels);
    norm->zero_point = from.zero_point;
    if (divisor != (int64_t)1 << places || levels % 2 || (is_centred && levels != 256) || !are_small(norm))
        return qdq_fault(qdq, node, NULL,
                         "has D %" PRId64 ", %" PRId64
                         " levels, or weights above 2^23; supported: a power of two, 256 levels",
                         divisor, levels);
    struct qdq_pending *pending = qdq_pending_make(qdq, LAYER_NORM, node, input.tensor, 1);
    pending->layer.norm = norm;
    const struct stage stage = norm_stage(qdq, levels);
    const struct quantisation quantisation = qdq_integer_bytes(true);
    qdq_give_integers(qdq, qdq_pending_append(qdq, pending, &quantisation, node->name, &stage), &input.view, result);
    return QDQ_DONE;
}

/* ---- functions of one element ---- */

struct function_read {
    int64_t numbers[3];
};

typedef int64_t whole_function(const struct function_read *f, int64_t x);

/* b, one */
static int64_t gelu(const struct function_read *f, int64_t x)
{
    const int64_t b = f->numbers[0], one = f->numbers[1], size = x < 0 ? -x : x, q = (size < -b ? size : -b) + b;
    const int64_t error = one - q * q;
    return x * ((one + (x < 0 ? -error : x > 0 ? error : 0)) >> 1);
}

/* three, six, one_over_six */
static int64_t hard_swish(const struct function_read *f, int64_t x)
{
    int64_t gate = x + f->numbers[0];
    gate = gate < 0 ? 0 : gate > f->numbers[1] ? f->numbers[1] : gate;
    return x * gate * f->numbers[2];
}

static int64_t times(const struct function_read *f, int64_t x) { return x * f->numbers[0]; }

/* floor(Delta * eta / (y * eta + eps)) is what each element is multiplied with. */
static bool read_division(struct qdq *qdq, const struct node *node, int64_t *factor)
{
    int64_t delta, eta, eps, y;
    if (!qdq_read_whole(qdq, node, "Delta", 0, INT32_MAX, &delta) || !qdq_read_whole(qdq, node, "eta", 0, INT32_MAX, &eta) ||
        !qdq_read_whole(qdq, node, "eps", 0, INT32_MAX, &eps) || !qdq_read_whole(qdq, node, "y", 0, 1 << 30, &y))
        return false;
    if (y * eta + eps == 0) {
        qdq_fault(qdq, node, NULL, "divides by zero");
        return false;
    }
    *factor = delta * eta / (y * eta + eps);
    if (*factor <= INT32_MAX)
        return true;
    qdq_fault(qdq, node, NULL, "multiplies with %" PRId64 "; supported: up to 2^31 - 1", *factor);
    return false;
}

static whole_function *read_function(struct qdq *qdq, const struct node *node, struct function_read *f)
{
    if (!strcmp(node->type, "iGELU"))
        return qdq_read_whole(qdq, node, "b", -(1 << 15), 0, &f->numbers[0]) &&
                       qdq_read_whole(qdq, node, "one", -(1 << 30), 1 << 30, &f->numbers[1])
                   ? gelu
                   : NULL;
    if (!strcmp(node->type, "iHardswish"))
        return qdq_read_whole(qdq, node, "three", -(1 << 16), 1 << 16, &f->numbers[0]) &&
                       qdq_read_whole(qdq, node, "six", 0, 1 << 16, &f->numbers[1]) &&
                       qdq_read_whole(qdq, node, "one_over_six", 0, 1 << 16, &f->numbers[2])
                   ? hard_swish
                   : NULL;
    return read_division(qdq, node, &f->numbers[0]) ? times : NULL;
}

enum qdq_outcome qdq_whole_function(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                    struct qdq_value *result)
{
    int64_t numbers[256];
    struct function_read f = {{0}};
    float *reals = arena_array(qdq->arena, float, 256);
    whole_function *compute = read_function(qdq, node, &f);
    (void)count;
    enum qdq_outcome outcome = compute ? qdq_whole_numbers(qdq, node, &inputs[0], numbers) : QDQ_FAULT;
    for (int i = 0; outcome == QDQ_DONE && i < 256; i++) {
        const int64_t y = compute(&f, numbers[i]);
        reals[i] = (float)y;
        if (y >= 1 << 24 || y <= -(1 << 24))
            return qdq_fault(qdq, node, NULL, "gives numbers of more than 24 bits; supported: up to that");
    }
    *result = inputs[0];
    result->reals = reals;
    return outcome;
}

/* ---- means: halves away from zero; of 2^k elements up ---- */

enum qdq_outcome qdq_whole_mean(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                                struct qdq_value *result)
{
    struct node mean = *node;
    struct qdq_value sums;
    mean.type = "ReduceMean";
    if (inputs[0].kind != QDQ_REALS)
        return qdq_fault(qdq, node, NULL, "reads what no RequantShift has rounded; supported: bytes");
    enum qdq_outcome outcome = qdq_reduce(qdq, &mean, inputs, count, &sums);
    if (outcome != QDQ_DONE)
        return outcome;
    struct qdq_pending pending = *sums.pending;
    const struct quantisation quantisation = qdq_integer_bytes(qdq_tensor(qdq, pending.layer.inputs[0])->model_offset != 0);
    const int64_t length = pending.divisor, offset = quantisation.is_signed ? 128 : 0;
    int64_t *numbers = arena_array(qdq->arena, int64_t, 2);
    const bool is_power = (length & (length - 1)) == 0;
    numbers[0] = 1;
    numbers[1] = pending.addends[0] + (is_power ? length / 2 + offset * length : 0);
    struct stage stage = {.count = 1,
                          .rounding = is_power ? ROUND_FLOOR : ROUND_HALF_AWAY,
                          .multiplier = &numbers[0],
                          .addend = &numbers[1],
                          .divisor = length,
                          .zero_point = is_power ? 0 : offset,
                          .has_clip = true,
                          .maximum = UINT8_MAX};
    qdq_give_integers(qdq, qdq_pending_append(qdq, &pending, &quantisation, node->name, &stage), &sums.view, result);
    return QDQ_DONE;
}
