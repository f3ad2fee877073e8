/* GATHER of batches, and GATHER_ND: by rows of indices. */
#include "import/tflite/tflite_import.h"

/* ---- batches ---- */

/* The index of each row, whose dimensions are those of the value in front of the axis, which begin with the batches, and
 * what indices have behind their batches; null: they do not go together, or are too many. */
static const int64_t *spread_indices(struct tflite_importer *importer, const struct tflite_tensor *indices, int batches,
                                     const struct tflite_numbers *numbers, const struct middle_rows *rows)
{
    int64_t count = 1, each = 1, repeats = 1;
    for (int i = 0; i < rows->rank && count <= MAXIMUM_DIMENSION; i++)
        count *= rows->dimensions[i];
    for (int i = 0; i < batches; i++)
        if (indices->dimensions[i] != rows->dimensions[i])
            return NULL;
    for (int i = batches; i < indices->rank; i++)
        each *= indices->dimensions[i];
    for (int i = batches; i < rows->rank + batches - indices->rank; i++)
        repeats *= rows->dimensions[i];
    if (count < 1 || count > MAXIMUM_DIMENSION || count / repeats != numbers->count)
        return NULL;
    int64_t *list = arena_array(importer->arena, int64_t, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        list[i] = numbers->list[i / each / repeats * each + i % each];
    return list;
}

bool tflite_gather_batches(struct tflite_importer *importer, const struct middle_value *value, int axis, int batches,
                           const struct tflite_numbers *numbers, struct middle_value *part)
{
    const struct tflite_tensor *indices = tflite_input(importer, 1);
    struct middle_rows rows = {.rank = axis + indices->rank - batches, .columns = 1};
    int sources[VIEW_MAXIMUM_RANK + 1];
    const bool fits = batches > 0 && batches <= axis && batches <= indices->rank &&
                      rows.rank + value->view.rank - axis - 1 <= VIEW_MAXIMUM_RANK;
    for (int i = 0; fits && i < rows.rank; i++)
        rows.dimensions[i] = i < axis ? value->view.dimensions[i] : indices->dimensions[i - axis + batches];
    for (int i = 0; fits && i <= axis; i++)
        sources[i] = i < axis ? i : -1;
    rows.indices = fits ? spread_indices(importer, indices, batches, numbers, &rows) : NULL;
    if (rows.indices)
        middle_rows_place(&rows, sources, axis + 1, importer->arena);
    return (rows.indices && middle_gather_rows(&importer->builder, tflite_output(importer)->name, value, &rows, part)) ||
           tflite_fault(importer, "its indices are none of axis %d of %s with batch_dims %d, or too many", axis,
                        view_text(&value->view, importer->arena), batches);
}

/* ---- rows ---- */

/* Rows of indices as the file has them; false after a report. */
static bool find_rows(struct tflite_importer *importer, const struct view *view, struct middle_rows *rows)
{
    const struct tflite_tensor *indices = tflite_input(importer, 1);
    const struct tflite_numbers *numbers = indices ? tflite_numbers(importer, 1, -1) : NULL;
    if (!numbers)
        return false;
    rows->rank = indices->rank - 1;
    rows->columns = rows->rank < 0 || numbers->count == 0 ? 0 : indices->dimensions[rows->rank];
    if (rows->columns < 1 || rows->columns > view->rank || rows->rank + view->rank - rows->columns > VIEW_MAXIMUM_RANK)
        return tflite_fault(importer, "%s as indices of %s; supported: a row for each result, of up to %d dimensions in all",
                            tflite_shape_text(importer, indices), view_text(view, importer->arena), VIEW_MAXIMUM_RANK);
    for (int i = 0; i < rows->rank; i++)
        rows->dimensions[i] = indices->dimensions[i];
    rows->indices = numbers->list;
    for (int i = 0; i < numbers->count; i++)
        if (numbers->list[i] < 0)
            return tflite_fault(importer, "index %d is %d; supported: at least 0", i, (int)numbers->list[i]);
    return true;
}

bool tflite_gather_nd(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    struct middle_value value, part;
    struct middle_rows rows;
    (void)operation;
    if (!tflite_takes(importer, 0, &value) || !find_rows(importer, &value.view, &rows))
        return false;
    if (!middle_gather_rows(&importer->builder, tflite_output(importer)->name, &value, &rows, &part))
        return tflite_fault(importer, "its indices are none of %s, or too many", view_text(&value.view, importer->arena));
    return tflite_gives(importer, 0, &part, result);
}
