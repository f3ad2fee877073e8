/* Arithmetic of the model in front of its first QuantizeLinear. */
#include "import/qdq/outside.h"

#include <math.h>
#include <string.h>

/* ---- steps ---- */

/* (x - shift) * numerator / denominator is followed as long as it is exact. */
static void follow(struct qdq_outside *outside, enum real_operation operation, double number)
{
    double *product = operation == REAL_MULTIPLY ? &outside->numerator : &outside->denominator;
    if (operation == REAL_MULTIPLY || operation == REAL_DIVIDE) {
        outside->is_exact &= number > 0 && isfinite(number) && fma(*product, number, -(*product * number)) == 0;
        *product *= number;
    } else if (operation == REAL_ADD || operation == REAL_SUBTRACT) {
        double shift = number * outside->denominator / outside->numerator;
        outside->is_exact &= isfinite(number) && fma(shift, outside->numerator, -(number * outside->denominator)) == 0;
        outside->shift += operation == REAL_ADD ? -shift : shift;
    } else
        outside->is_exact = false;
}

void qdq_outside_step(struct qdq *qdq, struct qdq_value *value, enum real_operation operation, const float *numbers,
                      int count)
{
    struct qdq_outside *outside = &value->outside;
    struct real_step *steps = arena_array(qdq->arena, struct real_step, (size_t)outside->step_count + 1);
    float *own = arena_array(qdq->arena, float, (size_t)count);
    if (outside->step_count)
        memcpy(steps, outside->steps, (size_t)outside->step_count * sizeof *steps);
    memcpy(own, numbers, (size_t)count * sizeof *own);
    steps[outside->step_count++] = (struct real_step){operation, own, count};
    outside->steps = steps;
    outside->is_touched = true;
    if (count == 1)
        follow(outside, operation, (double)*numbers);
    else
        outside->is_exact = false;
}

void qdq_outside_constant(struct qdq *qdq, struct qdq_value *value, enum real_operation operation,
                          const struct qdq_array *array)
{
    const struct tensor *tensor = qdq_tensor(qdq, value->tensor);
    int dimension = qdq_constant_dimension(&value->view, array);
    double number = 0;
    bool is_scalar = qdq_array_scalar(array, &number) && array->rank <= value->view.rank;
    bool is_known = is_scalar || (dimension >= 0 && view_is_channels(&value->view, dimension, tensor));
    size_t count = is_known && !is_scalar ? array->count : 1;
    float *numbers = arena_array(qdq->arena, float, count);
    for (size_t i = 0; i < count && is_known; i++)
        numbers[i] = (float)qdq_array_real(array, i);
    qdq_outside_step(qdq, value, operation, numbers, (int)count);
    value->outside.is_exact &= is_scalar;
    value->outside.is_unknown |= !is_known || tensor->producer != NO_LAYER;
}

/* ---- one input, quantised several times ---- */

static bool is_same_step(const struct real_step *a, const struct real_step *b)
{
    return a->operation == b->operation && a->count == b->count &&
           memcmp(a->numbers, b->numbers, (size_t)a->count * sizeof *a->numbers) == 0;
}

static bool is_same(const struct qdq_outside *a, const struct qdq_outside *b)
{
    bool same = a->is_touched == b->is_touched && !a->is_unknown && !b->is_unknown && a->step_count == b->step_count;
    for (int i = 0; same && i < a->step_count; i++)
        same = is_same_step(&a->steps[i], &b->steps[i]);
    return same;
}

bool qdq_outside_agrees(struct qdq *qdq, const struct qdq_outside *outside, int tensor)
{
    for (int i = 0; i < qdq->front_count; i++)
        if (qdq->fronts[i].tensor == tensor)
            return is_same(&qdq->fronts[i].outside, outside);
    struct qdq_front *fronts = arena_array(qdq->arena, struct qdq_front, (size_t)qdq->front_count + 1);
    if (qdq->front_count)
        memcpy(fronts, qdq->fronts, (size_t)qdq->front_count * sizeof *fronts);
    fronts[qdq->front_count++] = (struct qdq_front){tensor, *outside};
    qdq->fronts = fronts;
    return true;
}

/* ---- folded, or left to the application ---- */

/* The model quantises (x - shift) * numerator / denominator: x is scale * (element - zero_point) with these two. */
static bool fold(const struct qdq_outside *outside, const struct tensor *tensor, double *scale, double *zero_point)
{
    double product = tensor->scale * outside->denominator;
    *scale = product / outside->numerator;
    double steps = outside->shift / *scale;
    *zero_point = tensor->zero_point - steps;
    return outside->is_exact && fma(tensor->scale, outside->denominator, -product) == 0 &&
           fma(*scale, outside->numerator, -product) == 0 && steps == rint(steps) &&
           fma(steps, *scale, -outside->shift) == 0 && fabs(*zero_point) < 1e6;
}

enum qdq_outcome qdq_fold_outside(struct qdq *qdq, const struct node *node, const struct qdq_outside *outside, int tensor)
{
    const struct tensor *input = qdq_tensor(qdq, tensor);
    double scale, zero_point;
    if (fold(outside, input, &scale, &zero_point)) {
        struct qdq_fold *folds = arena_array(qdq->arena, struct qdq_fold, (size_t)qdq->fold_count + 1);
        for (int i = 0; i < qdq->fold_count; i++)
            folds[i] = qdq->folds[i];
        folds[qdq->fold_count++] = (struct qdq_fold){tensor, scale, (int)zero_point};
        qdq->folds = folds;
        return QDQ_DONE;
    }
    bool is_known = !outside->is_unknown;
    if (is_known) {
        qdq_tensor(qdq, tensor)->steps = outside->steps;
        qdq_tensor(qdq, tensor)->step_count = outside->step_count;
    }
    diagnose(qdq->diagnostics, SEVERITY_NOTE, node->name, NULL,
             "what the model computes between input '%s' and this node is no exact scale and zero point, and left to the "
             "application: the firmware's input is the quantised tensor, scale %.9g, zero point %d%s",
             input->name, input->scale, input->zero_point + input->model_offset,
             is_known ? ". `dory run` and `evaluate` compute it of files with real numbers" : "");
    return QDQ_DONE;
}

void qdq_apply_folds(struct qdq *qdq)
{
    for (int i = 0; i < qdq->fold_count; i++) {
        struct tensor *tensor = qdq_tensor(qdq, qdq->folds[i].tensor);
        tensor->scale = qdq->folds[i].scale;
        tensor->zero_point = qdq->folds[i].zero_point;
    }
}
