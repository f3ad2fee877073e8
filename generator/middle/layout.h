/* Where a tensor of the model, of any rank, lies in one of the network's, which has rows, columns and channels: each of
 * the model's dimensions belongs to one of these three, and several of them stand there side by side. What cannot be a view
 * is one copy, whatever the rank (LAYER_COPY adds three positions).
 */
#ifndef DORYGEN_LAYOUT_H
#define DORYGEN_LAYOUT_H

#include "middle/quantised.h"
#include "middle/view.h"

/* A tensor of the model: elements of one of the network's, in the places that the view says. */
struct middle_value {
    int tensor;
    struct view view;
};

/* The dimensions in memory's order, the outermost first: the first ones are rows, then columns, the rest channels. */
struct layout {
    int rank;
    int order[VIEW_MAXIMUM_RANK];
    int rows, columns; /* so many dimensions */
};

/* Dimensions as the view's elements come in memory: the innermost one is channels, that in front of it columns. */
struct layout layout_of_memory(const struct view *view);
/* As they come in the model: the last one is channels. */
struct layout layout_of_model(int rank);
/* ONNX's images: channels (and batch), height, width; a rank of 3 has no height, of 2 neither. Files of it in the order of
 * channels, height, width are then in that of the model's own tensor. */
struct layout layout_of_image(int rank);
/* One dimension is the channels, the others as they come in memory. */
struct layout layout_with_channels(const struct view *view, int dimension);
/* The reduced dimensions are rows, the others columns and channels. */
struct layout layout_with_rows(const struct view *view, const bool *is_row);

/* Dimensions as they come in memory, split as the tensor is; false where its rows, columns and channels are no whole
 * dimensions of the view, or where the view is not all of it in order. */
bool layout_of_tensor(const struct view *view, const struct tensor *tensor, struct layout *layout);

/* Rows, columns and channels of a tensor of these dimensions; where its elements are. */
void layout_sizes(const struct layout *layout, const int64_t *dimensions, int64_t sizes[3]);
struct view layout_view(const struct layout *layout, const int64_t *dimensions);

/* Which index of the value each index of a dimension of the result takes; negative: none, but the border's element. A null
 * list: all, as they are. */
struct middle_move {
    int rank;
    int64_t counts[VIEW_MAXIMUM_RANK];
    const int32_t *from[VIEW_MAXIMUM_RANK];
};

/* A copy of the value in this layout; false where rows, columns or channels would be more than the firmware can have.
 * `move` may be null. `border` is an element. */
bool middle_lay(struct quantised_builder *builder, const char *name, const struct middle_value *value,
                const struct middle_move *move, const struct layout *layout, int border, struct middle_value *result);

/* The value itself where it lies in this layout, else a copy that does; false as above. */
bool middle_lay_out(struct quantised_builder *builder, const char *name, const struct layout *layout,
                    struct middle_value *value);

/* All elements of the view's tensor, each of them once, in whatever order. */
bool middle_is_whole(const struct quantised_builder *builder, const struct middle_value *value);

#endif
