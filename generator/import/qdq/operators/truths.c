/* Truths of two tensors: comparisons, And, Or; and Where, which selects by one. Each operand's element becomes a byte by a
 * table, and the truth is whether the sum of both bytes and a number is above zero. Of a comparison the bytes are ranks
 * among all numbers that either operand can be, so that it is float32's own, whatever the functions in front of it are.
 */
#include <math.h>

#include "import/qdq/combinations.h"
#include "import/qdq/islands.h"
#include "middle/functions.h"
#include "middle/sums.h"

struct truth {
    uint8_t *tables[2]; /* by the operands' elements */
    int addend;
};

static struct truth truth_make(struct qdq *qdq)
{
    return (struct truth){.tables = {arena_array(qdq->arena, uint8_t, 256), arena_array(qdq->arena, uint8_t, 256)}};
}

static struct truth find_order(struct qdq *qdq, const float *upper, const float *lower, int upper_operand)
{
    struct truth truth = truth_make(qdq);
    truth.addend = function_order(upper, lower, truth.tables[upper_operand], truth.tables[1 - upper_operand]);
    return truth;
}

/* ---- layers ---- */

static enum qdq_outcome lay_truth(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                  const struct truth *truth, bool is_negated, struct qdq_value *result)
{
    struct qdq_value parts[2] = {inputs[0], inputs[1]};
    int lead, bytes[2];
    enum qdq_outcome outcome = qdq_align_parts(qdq, node, parts, 2, &lead);
    if (outcome != QDQ_DONE)
        return outcome;
    for (int i = 0; i < 2; i++) {
        int operand = i == 0 ? lead : 1 - lead;
        const struct tensor from = *qdq_tensor(qdq, parts[i].tensor);
        bytes[i] = quantised_tensor(&qdq->builder, arena_format(qdq->arena, "%s, operand %d", node->name, operand),
                                    from.height, from.width, from.channels, &(struct quantisation){1, 0, false});
        quantised_table(&qdq->builder, qdq_tensor(qdq, bytes[i])->name, parts[i].tensor, bytes[i], truth->tables[operand]);
    }
    const struct tensor like = *qdq_tensor(qdq, bytes[0]);
    int output = quantised_tensor(&qdq->builder, node->name, like.height, like.width, like.channels,
                                  &(struct quantisation){1, 0, false});
    middle_sum_bytes(&qdq->builder, bytes[0], 1, bytes[1], truth->addend, output);
    float *reals = arena_array(qdq->arena, float, 256);
    for (int i = 0; i < 256; i++)
        reals[i] = (i != 0) != is_negated;
    *result = (struct qdq_value){.kind = QDQ_REALS, .view = parts[0].view, .tensor = output, .reals = reals};
    return QDQ_DONE;
}

/* Whether the operand of this index is above the other. */
static enum qdq_outcome lay_order(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int upper,
                                  bool is_negated, struct qdq_value *result)
{
    const struct truth truth = find_order(qdq, inputs[upper].reals, inputs[1 - upper].reals, upper);
    return lay_truth(qdq, node, inputs, &truth, is_negated, result);
}

static enum qdq_outcome lay_logic(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, bool is_and,
                                  bool is_negated, struct qdq_value *result)
{
    struct truth truth = truth_make(qdq);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 256; k++)
            truth.tables[i][k] = inputs[i].reals[k] != 0;
    truth.addend = is_and ? -1 : 0;
    return lay_truth(qdq, node, inputs, &truth, is_negated, result);
}

/* Neither is above the other. */
static enum qdq_outcome lay_equality(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs,
                                     struct qdq_value *result)
{
    struct qdq_value orders[2];
    enum qdq_outcome outcome = QDQ_DONE;
    for (int i = 0; i < 2 && outcome == QDQ_DONE; i++)
        outcome = lay_order(qdq, node, inputs, i, false, &orders[i]);
    return outcome == QDQ_DONE ? lay_logic(qdq, node, orders, false, true, result) : outcome;
}

enum qdq_outcome qdq_compare(struct qdq *qdq, const struct node *node, enum qdq_operation operation,
                             const struct qdq_value *inputs, struct qdq_value *result)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 256; k++)
            if (inputs[i].kind != QDQ_REALS || isnan(inputs[i].reals[k]))
                return QDQ_FLOAT;
    switch (operation) {
    case QDQ_IS_ABOVE: return lay_order(qdq, node, inputs, 0, false, result);
    case QDQ_IS_AT_LEAST: return lay_order(qdq, node, inputs, 1, true, result);
    case QDQ_IS_BELOW: return lay_order(qdq, node, inputs, 1, false, result);
    case QDQ_IS_AT_MOST: return lay_order(qdq, node, inputs, 0, true, result);
    case QDQ_IS_EQUAL: return lay_equality(qdq, node, inputs, result);
    case QDQ_AND: return lay_logic(qdq, node, inputs, true, false, result);
    case QDQ_OR: return lay_logic(qdq, node, inputs, false, false, result);
    default: return QDQ_FLOAT;
    }
}

bool qdq_are_truths(const struct qdq_value *value)
{
    bool are = value->kind == QDQ_REALS;
    for (int i = 0; are && i < 256; i++)
        are = value->reals[i] == 0 || value->reals[i] == 1;
    return are;
}

void qdq_lay_truths(struct qdq *qdq, struct qdq_value *value)
{
    uint8_t *table = arena_array(qdq->arena, uint8_t, 256);
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)value->reals[i];
    const struct tensor from = *qdq_tensor(qdq, value->tensor);
    const char *name = arena_format(qdq->arena, "%s, truth", from.name);
    const int output =
        quantised_tensor(&qdq->builder, name, from.height, from.width, from.channels, &(struct quantisation){1, 0, false});
    quantised_table(&qdq->builder, name, value->tensor, output, table);
    value->tensor = output;
    value->reals = qdq_plain_reals(qdq, output);
}

/* ---- what a truth, which is 0 or 1, selects of two operands ---- */

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
    qdq_set_view(result, view);
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
        return qdq_fault(qdq, node, NULL, QDQ_OF_OUTSIDE_TRUTH);
    if (condition.kind == QDQ_CONSTANT)
        outcome = qdq_make_numbers(qdq, node, &condition);
    if (outcome != QDQ_DONE || condition.kind != QDQ_REALS || !read_choice(&inputs[1], &condition, &choices[0]) ||
        !read_choice(&inputs[2], &condition, &choices[1]))
        return outcome == QDQ_DONE ? QDQ_FLOAT : outcome;
    return select_by_table(qdq, &condition, choices, result) ? QDQ_DONE
                                                             : select_parts(qdq, node, &condition, choices, result);
}
