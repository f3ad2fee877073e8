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

/* What is selected of one operand, and zeros: a function of the condition, or a product. */
static enum qdq_outcome select_one(struct qdq *qdq, const struct node *node, const struct qdq_value *condition,
                                   const struct choice *choice, bool is_else, struct qdq_value *result)
{
    float *reals = arena_array(qdq->arena, float, 256);
    struct qdq_value truth = *condition, value = choice->value;
    for (int i = 0; i < 256; i++)
        reals[i] = (condition->reals[i] != 0) != is_else ? (choice->is_number ? (float)choice->number : 1) : 0;
    truth.reals = reals;
    *result = truth;
    if (choice->is_number)
        return QDQ_DONE;
    return qdq_multiply_by_function(qdq, node, &value, &truth, false, result);
}

/* Condition and tensors in one order in memory. */
static enum qdq_outcome align(struct qdq *qdq, const struct node *node, struct qdq_value *condition,
                              struct choice choices[2])
{
    struct qdq_value *values[3] = {condition}, parts[3];
    int count = 1, lead;
    for (int i = 0; i < 2; i++) {
        struct qdq_value *value = &choices[i].value;
        if (choices[i].is_number)
            continue;
        enum qdq_outcome outcome =
            value->kind == QDQ_CONSTANT ? qdq_make_tensor(qdq, node, value) : qdq_make_elements(qdq, node, value);
        if (outcome != QDQ_DONE)
            return outcome;
        values[count++] = value;
    }
    for (int i = 0; i < count; i++)
        parts[i] = *values[i];
    enum qdq_outcome outcome = qdq_align_parts(qdq, node, parts, count, &lead);
    for (int i = 0; i < count && outcome == QDQ_DONE; i++)
        *values[i] = parts[i == 0 ? lead : i == lead ? 0 : i];
    return outcome;
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
    struct qdq_value condition = inputs[0], terms[2];
    struct choice choices[2];
    enum qdq_outcome outcome = QDQ_DONE;
    if (count != 3)
        return qdq_fault(qdq, node, NULL, "Where of %d inputs; supported: 3", count);
    if (condition.kind == QDQ_CONSTANT)
        outcome = qdq_make_numbers(qdq, node, &condition);
    if (outcome != QDQ_DONE || condition.kind != QDQ_REALS || !read_choice(&inputs[1], &condition, &choices[0]) ||
        !read_choice(&inputs[2], &condition, &choices[1]))
        return outcome == QDQ_DONE ? QDQ_FLOAT : outcome;
    if (select_by_table(qdq, &condition, choices, result))
        return QDQ_DONE;
    outcome = align(qdq, node, &condition, choices);
    for (int i = 0; i < 2 && outcome == QDQ_DONE; i++)
        outcome = select_one(qdq, node, &condition, &choices[i], i == 1, &terms[i]);
    return outcome == QDQ_DONE ? qdq_sum(qdq, node, terms, 2, &(struct qdq_sum){NULL, 1}, result) : outcome;
}
