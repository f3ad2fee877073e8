/* Truths of two tensors: comparisons, And, Or. Each operand's element becomes a byte by a table, and the truth is whether
 * the sum of both bytes and a number is above zero. Of a comparison the bytes are ranks among all numbers that either
 * operand can be, so that it is float32's own, whatever the functions in front of it are.
 */
#include <math.h>
#include <stdlib.h>

#include "import/qdq/combinations.h"
#include "middle/choices.h"

struct truth {
    uint8_t *tables[2]; /* by the operands' elements */
    int addend;
};

static struct truth truth_make(struct qdq *qdq)
{
    return (struct truth){.tables = {arena_array(qdq->arena, uint8_t, 256), arena_array(qdq->arena, uint8_t, 256)}};
}

/* ---- ranks ---- */

struct ranked {
    float number;
    int element;
    bool is_upper; /* of the operand that is asked to be the larger one */
};

/* By numbers; of equal ones the upper operand's first, which are above none of those. */
static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *first = a, *second = b;
    if (first->number != second->number)
        return first->number < second->number ? -1 : 1;
    return (int)second->is_upper - (int)first->is_upper;
}

/* Where an upper number follows lower ones the rank rises: 256 times at most, and so often only where the first number is a
 * lower one; then no upper rank is 0, and all are one less. */
static struct truth find_order(struct qdq *qdq, const float *upper, const float *lower, int upper_operand)
{
    struct truth truth = truth_make(qdq);
    struct ranked all[512];
    for (int i = 0; i < 256; i++) {
        all[2 * i] = (struct ranked){upper[i], i, true};
        all[2 * i + 1] = (struct ranked){lower[i], i, false};
    }
    qsort(all, 512, sizeof *all, compare_ranked);
    const int less = all[0].is_upper ? 0 : 1;
    bool is_behind_lower = false;
    for (int i = 0, rank = 0; i < 512; i++) {
        rank += all[i].is_upper && is_behind_lower;
        is_behind_lower = !all[i].is_upper;
        int byte = all[i].is_upper ? rank - less : 255 - rank;
        truth.tables[all[i].is_upper ? upper_operand : 1 - upper_operand][all[i].element] = (uint8_t)byte;
    }
    truth.addend = less - 255;
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
