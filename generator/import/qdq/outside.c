/* Arithmetic of the model in front of its first QuantizeLinear. */
#include "import/qdq/qdq.h"

#include <math.h>

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
    diagnose(qdq->diagnostics, SEVERITY_NOTE, node->name, NULL,
             "what the model computes between input '%s' and this node is no exact scale and zero point, and left to the "
             "application: the firmware's input is the quantised tensor, scale %.9g, zero point %d",
             input->name, input->scale, input->zero_point + input->model_offset);
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
