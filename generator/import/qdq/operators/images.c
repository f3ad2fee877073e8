/* Images of a batch inside a network, as of a sequence or of several sources, for layers that slide a window: rows of one
 * image below those of the other. Where windows are higher than one row, the border of each lies between them, and of the
 * result's rows those of windows that see two images are left out by its view. */
#include "import/qdq/operators/handlers.h"

#include <inttypes.h>
#include <string.h>

static bool is_one_image(const struct view *view) { return view->dimensions[0] == 1 || view->rank < 3 || view->rank > 4; }

struct tensor qdq_one_image(const struct qdq *qdq, const struct qdq_value *value)
{
    const struct view *view = &value->view;
    if (is_one_image(view))
        return *qdq_tensor(qdq, value->tensor);
    return tensor_plain("", view->rank == 4 ? (int)view->dimensions[2] : 1, (int)view->dimensions[view->rank - 1],
                        (int)view->dimensions[1]);
}

enum qdq_outcome qdq_make_images(struct qdq *qdq, const struct node *node, struct qdq_value *value)
{
    enum qdq_outcome outcome = value->kind == QDQ_OUTSIDE || value->kind == QDQ_PENDING ? QDQ_FLOAT : QDQ_DONE;
    return outcome != QDQ_DONE ? outcome : is_one_image(&value->view) ? qdq_make_image(qdq, node, value) : QDQ_DONE;
}

/* So many rows from image to image that each starts at a window. */
static int64_t rows_between(const struct qdq_window *window)
{
    int64_t rows = window->before[0] + window->input[0] + window->after[0];
    return (rows + window->stride[0] - 1) / window->stride[0] * window->stride[0];
}

enum qdq_outcome qdq_stack_images(struct qdq *qdq, const struct node *node, int border, struct qdq_value *value,
                                  struct qdq_window *window, struct qdq_images *images)
{
    static const int channels_last[4] = {0, 2, 3, 1};
    const int64_t pitch = rows_between(window), count = value->view.dimensions[0];
    struct middle_value placed = qdq_placed(value), stacked;
    struct view split;
    *images = (struct qdq_images){.count = is_one_image(&value->view) ? 1 : count, .rank = value->view.rank};
    if (images->count == 1)
        return QDQ_DONE;
    images->rows = window->output[0];
    images->pitch = pitch / window->stride[0];
    const int64_t dimensions[4] = {count, value->view.dimensions[1], window->input[0], window->input[1]};
    view_reshape(&value->view, 4, dimensions, &split);
    view_permute(&split, channels_last, &placed.view);
    if (!middle_stack_images(&qdq->builder, node->name, &placed, window->before[0], pitch, border, &stacked))
        return qdq_fault(qdq, node, NULL, "of %" PRId64 " images has more rows than the firmware can have", count);
    value->tensor = stacked.tensor;
    value->view = view_of_image(qdq_tensor(qdq, value->tensor), 4);
    window->before[0] = window->after[0] = 0;
    window->input[0] = count * pitch;
    window->output[0] = (count - 1) * images->pitch + images->rows;
    return QDQ_DONE;
}

void qdq_take_images_apart(const struct qdq_images *images, struct qdq_value *result)
{
    static const int channels_second[4] = {0, 3, 1, 2};
    if (images->count == 1)
        return;
    const struct view image = result->view; /* 1, channels, rows, columns */
    const struct tensor layer = tensor_plain("", 1, (int)image.dimensions[3], (int)image.dimensions[1]);
    const struct view apart = middle_unstack_images(images->count, images->rows, images->pitch, &layer);
    const int64_t signals[3] = {images->count, image.dimensions[1], image.dimensions[3]};
    view_permute(&apart, channels_second, &result->view);
    if (images->rank == 3)
        view_reshape(&result->view, 3, signals, &result->view);
}
