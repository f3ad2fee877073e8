/* Einsum of two factors: a product of matrices, between views of the factors and of the result. */
#include "import/qdq/operators/handlers.h"

#include <ctype.h>
#include <string.h>

/* A letter is of both factors and the result (a batch), of one of them and the result (rows, columns), or of both factors
 * alone (terms, whose products are added). */
enum role { BATCH, ROW, COLUMN, TERM, ROLES };

/* "bhid,bhjd->bhij", without blanks; the dimensions of an ellipsis are digits, the last one 7. */
struct equation {
    char factors[2][GRAPH_MAXIMUM_RANK + 1], result[GRAPH_MAXIMUM_RANK + 1];
    int64_t sizes[128];
};

static bool add_letter(char letter, char *letters)
{
    size_t count = strlen(letters);
    if (count == GRAPH_MAXIMUM_RANK || strchr(letters, letter))
        return false;
    letters[count] = letter;
    letters[count + 1] = '\0';
    return true;
}

/* Letters up to `end`, none of them twice, and those of an ellipsis of so many dimensions; null where there is anything
 * else. */
static const char *read_letters(const char *text, char end, int dots, char *letters)
{
    *letters = '\0';
    for (; *text != end; text++) {
        if (*text == ' ')
            continue;
        if (!strncmp(text, "...", 3)) {
            for (int i = dots; i > 0; i--)
                if (!add_letter((char)('8' - i), letters))
                    return NULL;
            text += 2;
        } else if (!isalpha((unsigned char)*text) || !add_letter(*text, letters))
            return NULL;
    }
    return text;
}

static bool read_equation(const char *text, const int dots[2], struct equation *equation)
{
    const char *comma = read_letters(text, ',', dots[0], equation->factors[0]);
    const char *arrow = comma ? read_letters(comma + 1, '-', dots[1], equation->factors[1]) : NULL;
    return arrow && arrow[1] == '>' &&
           read_letters(arrow + 2, '\0', dots[0] > dots[1] ? dots[0] : dots[1], equation->result);
}

/* An ellipsis stands for as many dimensions as the letters leave. */
static bool read_equation_of(const char *text, const int *ranks, struct equation *equation)
{
    int dots[2] = {0, 0};
    if (!read_equation(text, dots, equation))
        return false;
    for (int i = 0; i < 2; i++)
        dots[i] = ranks[i] - (int)strlen(equation->factors[i]);
    return dots[0] >= 0 && dots[1] >= 0 && (!strstr(text, "...") || read_equation(text, dots, equation));
}

static enum role role_of(const struct equation *equation, char letter)
{
    bool is_first = strchr(equation->factors[0], letter), is_second = strchr(equation->factors[1], letter);
    bool is_result = strchr(equation->result, letter);
    return !is_first && !is_second ? ROLES
           : is_first && is_second ? (is_result ? BATCH : TERM)
           : !is_result            ? ROLES
           : is_first              ? ROW
                                   : COLUMN;
}

/* Every letter has a role, and one size; the shapes have as many dimensions as there are letters. */
static bool check_letters(struct equation *equation, const int *ranks, const int64_t *const *dimensions)
{
    for (int factor = 0; factor < 2; factor++) {
        const char *letters = equation->factors[factor];
        if ((int)strlen(letters) != ranks[factor])
            return false;
        for (int i = 0; i < ranks[factor]; i++) {
            int64_t *size = &equation->sizes[(int)letters[i]];
            if (role_of(equation, letters[i]) == ROLES || (*size && *size != dimensions[factor][i]))
                return false;
            *size = dimensions[factor][i];
        }
    }
    for (const char *letter = equation->result; *letter; letter++)
        if (role_of(equation, *letter) == ROLES)
            return false;
    return true;
}

/* The letters of a factor or of the result as batches, then two groups of others; and the sizes that these have as a matrix
 * behind its batches. The letters of batches, rows and columns come as they do in the result. */
struct matrix_order {
    char letters[GRAPH_MAXIMUM_RANK + 1];
    int rank; /* of the matrix with its batches */
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
};

static bool order_letters(const struct equation *equation, const enum role roles[3], struct matrix_order *order)
{
    int count = 0;
    *order = (struct matrix_order){.rank = 0};
    for (int group = 0; group < 3; group++) {
        int64_t size = 1;
        for (const char *letter = roles[group] == TERM ? equation->factors[0] : equation->result; *letter; letter++) {
            if (role_of(equation, *letter) != roles[group])
                continue;
            order->letters[count++] = *letter;
            size *= equation->sizes[(int)*letter];
            if (group == 0 && order->rank == GRAPH_MAXIMUM_RANK - 2)
                return false;
            if (group == 0)
                order->dimensions[order->rank++] = equation->sizes[(int)*letter];
        }
        if (group > 0)
            order->dimensions[order->rank++] = size;
    }
    return true;
}

/* From the order of `from` to that of `to`. */
static void find_places(const char *from, const char *to, int *places)
{
    for (int i = 0; to[i]; i++)
        places[i] = (int)(strchr(from, to[i]) - from);
}

static enum qdq_outcome take_factor(struct qdq *qdq, const struct node *node, const char *letters,
                                    const struct matrix_order *order, struct qdq_value *factor)
{
    int places[GRAPH_MAXIMUM_RANK];
    find_places(letters, order->letters, places);
    if (factor->kind == QDQ_CONSTANT) {
        struct qdq_array *array = arena_allocate(qdq->arena, sizeof *array);
        *array = *qdq_array_permute(qdq, factor->array, places);
        array->rank = order->rank;
        memcpy(array->dimensions, order->dimensions, sizeof array->dimensions);
        factor->array = array;
        return QDQ_DONE;
    }
    struct view view = factor->view;
    view_permute(&view, places, &factor->view);
    return qdq_take_shape(qdq, node, order->rank, order->dimensions, factor);
}

/* The product's dimensions, split into letters and set in the order of the result. */
static enum qdq_outcome give_result(struct qdq *qdq, const struct node *node, const struct equation *equation,
                                    const struct matrix_order *order, struct qdq_value *result)
{
    int64_t dimensions[GRAPH_MAXIMUM_RANK];
    int places[GRAPH_MAXIMUM_RANK], rank = (int)strlen(order->letters);
    for (int i = 0; i < rank; i++)
        dimensions[i] = equation->sizes[(int)order->letters[i]];
    enum qdq_outcome outcome = qdq_take_shape(qdq, node, rank, dimensions, result);
    if (outcome != QDQ_DONE)
        return outcome;
    struct view view = result->view;
    find_places(order->letters, equation->result, places);
    view_permute(&view, places, &result->view);
    return QDQ_DONE;
}

/* Each factor with the dimensions of the result, 1 where it has not the letter. */
static enum qdq_outcome spread_factor(struct qdq *qdq, const struct node *node, const struct equation *equation,
                                      const char *letters, struct qdq_value *factor)
{
    struct matrix_order order = {.rank = 0};
    int count = 0;
    for (const char *letter = equation->result; *letter; letter++) {
        bool has_letter = strchr(letters, *letter) != NULL;
        order.dimensions[order.rank++] = has_letter ? equation->sizes[(int)*letter] : 1;
        if (has_letter)
            order.letters[count++] = *letter;
    }
    return take_factor(qdq, node, letters, &order, factor);
}

/* By a constant, without letters to add over: a multiplication of tensors that broadcast. */
static enum qdq_outcome multiply_elements(struct qdq *qdq, const struct node *node, const struct equation *equation,
                                          struct qdq_value factors[2], struct qdq_value *result)
{
    struct node multiplication = *node;
    multiplication.type = "Mul";
    for (int i = 0; i < 2; i++) {
        enum qdq_outcome outcome = spread_factor(qdq, node, equation, equation->factors[i], &factors[i]);
        if (outcome != QDQ_DONE)
            return outcome;
    }
    return qdq_binary(qdq, &multiplication, factors, 2, result);
}

static bool has_terms(const struct equation *equation)
{
    for (const char *letter = equation->factors[0]; *letter; letter++)
        if (role_of(equation, *letter) == TERM)
            return true;
    return false;
}

static enum qdq_outcome refuse(struct qdq *qdq, const struct node *node, const char *equation)
{
    return qdq_fault(
        qdq, node, "equation",
        "is '%s'; supported: two factors, as in bhid,bhjd->bhij, whose letters are in the result or in both; write "
        "more factors as one einsum behind the other",
        equation);
}

enum qdq_outcome qdq_einsum(struct qdq *qdq, const struct node *node, const struct qdq_value *inputs, int count,
                            struct qdq_value *result)
{
    static const enum role roles[3][3] = {{BATCH, ROW, TERM}, {BATCH, TERM, COLUMN}, {BATCH, ROW, COLUMN}};
    const struct attribute *text = node_attribute(node, "equation");
    struct equation equation = {.sizes = {0}};
    struct matrix_order orders[3];
    struct qdq_value factors[2];
    int ranks[2];
    const int64_t *dimensions[2];
    if (!text || text->kind != ATTRIBUTE_TEXT || count != 2)
        return refuse(qdq, node, text && text->kind == ATTRIBUTE_TEXT ? text->text : "");
    for (int i = 0; i < 2; i++) {
        factors[i] = inputs[i];
        if (inputs[i].kind != QDQ_REALS && (inputs[i].kind != QDQ_CONSTANT || inputs[i].array->scale_count > 1))
            return QDQ_FLOAT;
        ranks[i] = inputs[i].kind == QDQ_CONSTANT ? inputs[i].array->rank : inputs[i].view.rank;
        dimensions[i] = inputs[i].kind == QDQ_CONSTANT ? inputs[i].array->dimensions : inputs[i].view.dimensions;
    }
    if (!read_equation_of(text->text, ranks, &equation) || !check_letters(&equation, ranks, dimensions))
        return refuse(qdq, node, text->text);
    if (!has_terms(&equation) && (inputs[0].kind == QDQ_CONSTANT || inputs[1].kind == QDQ_CONSTANT))
        return multiply_elements(qdq, node, &equation, factors, result);
    for (int i = 0; i < 3; i++)
        if (!order_letters(&equation, roles[i], &orders[i]))
            return refuse(qdq, node, text->text);
    for (int i = 0; i < 2; i++) {
        enum qdq_outcome outcome = take_factor(qdq, node, equation.factors[i], &orders[i], &factors[i]);
        if (outcome != QDQ_DONE)
            return outcome;
    }
    enum qdq_outcome outcome = qdq_matrix_product(qdq, node, factors, 2, result);
    return outcome == QDQ_DONE ? give_result(qdq, node, &equation, &orders[2], result) : outcome;
}
