/* Where: what a truth, which is 0 or 1, selects of two operands. */
#include "import/qdq/combinations.h"

/* An operand: a number, or real numbers of a tensor. */
struct choice {
    bool is_number;
    double number;
    struct qdq_value value;
};

static bool is_same_element(const struct qdq_value *a, const struct qdq_value *b)
{
    return a->kind == QDQ_REALS && a->tensor == b->tensor && view_equal(&a->view, &b->view);
}

/* All of them functions of the condition's element, or numbers. */
static bool select_by_table(struct qdq *qdq, const struct qdq_value *condition, const struct choice choices[2],
                            struct qdq_value *result)
{
    for (int i = 0; i < 2; i++)
        if (!choices[i].is_number && !is_same_element(&choices[i].value, condition))
            return false;
    float *reals = arena_array(qdq->arena, float, 256);
    for (int i = 0; i < 256; i++) {
        const struct choice *chosen = &choices[condition->reals[i] != 0 ? 0 : 1];
        reals[i] = chosen->is_number ? (float)chosen->number : chosen->value.reals[i];
    }
    *result = *condition;
    result->reals = reals;
    return true;
}

/* What is selected of one operand: a number is a function of the condition. Of the other elements it does not matter. */
static enum qdq_outcome make_part(struct qdq *qdq, const struct node *node, const struct qdq_value *condition,
                                  const struct choice *choice, struct qdq_value *part)
{
    *part = choice->is_number ? *condition : choice->value;
    if (!choice->is_number)
        return part->kind == QDQ_CONSTANT ? qdq_make_numbers(qdq, node, part) : QDQ_DONE;
    float *reals = arena_array(qdq->arena, float, 256);
    for (int i = 0; i < 256; i++)
        reals[i] = (float)choice->number;
    part->reals = reals;
    return QDQ_DONE;
}

/* An addition repeats the smaller one of two tensors. */
static bool can_repeat(const struct qdq *qdq, const struct qdq_value *part, const struct qdq_value *condition, size_t whole)
{
    const struct tensor *a = qdq_tensor(qdq, part->tensor), *b = qdq_tensor(qdq, condition->tensor);
    return tensor_elements(a) == whole || tensor_elements(b) == whole ||
           (a->height == b->height && a->width == b->width && a->channels == b->channels);
}

/* Operands that take on the quantisation behind, each on its own, before one of them is selected; and the condition. */
static enum qdq_outcome select_parts(struct qdq *qdq, const struct node *node, const struct qdq_value *condition,
                                     const struct choice choices[2], struct qdq_value *result)
{
    struct qdq_value all[3] = {*condition}, *parts = arena_array(qdq->arena, struct qdq_value, 3);
    enum qdq_outcome outcome = QDQ_DONE;
    int lead;
    for (int i = 0; i < 2 && outcome == QDQ_DONE; i++)
        outcome = make_part(qdq, node, condition, &choices[i], &all[i + 1]);
    if (outcome != QDQ_DONE || (outcome = qdq_align_parts(qdq, node, all, 3, &lead)) != QDQ_DONE)
        return outcome;
    const size_t whole = tensor_elements(qdq_tensor(qdq, all[0].tensor));
    const struct view view = all[0].view;
    for (int i = 0; i < 3; i++) /* the operands in front of the condition */
        parts[i == 0 ? 2 : i - 1] = all[i == 0 ? lead : i == lead ? 0 : i];
    if (!can_repeat(qdq, &parts[0], &parts[2], whole) || !can_repeat(qdq, &parts[1], &parts[2], whole))
        return QDQ_FLOAT;
    qdq_pending_parts(qdq, node, QDQ_SELECTED, parts, 3, 0, result);
    result->view = view;
    return QDQ_DONE;
}

static bool read_choice(const struct qdq_value *input, const struct qdq_value *condition, struct choice *choice)
{
    *choice = (struct choice){.value = *input};
    choice->is_number = input->kind == QDQ_CONSTANT && input->array->rank <= condition->view.rank &&
                        input->array->count == 1 && qdq_array_scalar(input->array, &choice->number);
    return choice->is_number || input->kind == QDQ_REALS || input->kind == QDQ_CONSTANT;
}

enum qdq_outcome qdq_where(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                           struct qdq_value *result)
{
    struct qdq_value condition = inputs[0];
    struct choice choices[2];
    enum qdq_outcome outcome = QDQ_DONE;
    if (count != 3)
        return qdq_fault(qdq, node, NULL, "Where of %d inputs; supported: 3", count);
    if (condition.kind == QDQ_OUTSIDE)
        return qdq_fault(
            qdq, node, NULL,
            "selects by an input that is not quantised; supported: a quantised mask that is added, as -20 * (1 - mask) "
            "to the scores of attention");
    if (condition.kind == QDQ_CONSTANT)
        outcome = qdq_make_numbers(qdq, node, &condition);
    if (outcome != QDQ_DONE || condition.kind != QDQ_REALS || !read_choice(&inputs[1], &condition, &choices[0]) ||
        !read_choice(&inputs[2], &condition, &choices[1]))
        return outcome == QDQ_DONE ? QDQ_FLOAT : outcome;
    return select_by_table(qdq, &condition, choices, result) ? QDQ_DONE
                                                             : select_parts(qdq, node, &condition, choices, result);
}
