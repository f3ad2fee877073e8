/* Channels, rows and columns of a network with dead channels and unread pixels removed, and those of the network that it was
 * made of. */
#ifndef DORYGEN_CHANNELS_H
#define DORYGEN_CHANNELS_H

#include "base/support.h"
#include "network/network.h"

/* Are some positions of a dimension of a copy's map border? */
bool copy_has_border(const int32_t *positions, int count);

/* Does a copy take each channel of its output, border aside, from one channel of its input? Then map.channels says which. */
bool copy_takes_channels(const struct network *network, const struct layer *layer);

/* Does it take each row and column of its output, border aside, from one row or column of its input? copy_source_line says
 * which, negative: from the border. */
bool copy_takes_lines(const struct network *network, const struct layer *layer);
int copy_source_line(const struct network *network, const struct layer *layer, enum pixel_axis axis, int line);

/* Has a LAYER_NORM the same constants for all pixels? */
static inline bool norm_is_alike(const struct network *network, const struct layer *layer)
{
    return layer->norm->count * layer->norm->run == network->tensors[layer->output].channels;
}

/* The number in `whole` of a tensor's row or column. */
static inline int line_in_whole(const struct tensor *tensor, enum pixel_axis axis, int line)
{
    const int *kept = axis == AXIS_ROW ? tensor->kept_rows : tensor->kept_columns;
    return kept ? kept[line] : line;
}

/* The number in `whole` of a tensor's channel. */
static inline int channel_in_whole(const struct tensor *tensor, int channel)
{
    return tensor->kept ? tensor->kept[channel] : channel;
}

/* The elements of tensor `index` that the network has, from all of them: values in HWC order, as `whole` has them. */
int64_t *channels_take(const struct network *network, int index, int64_t *whole, struct arena *arena);

/* Runs the golden model of `whole`, where there is one, and takes from its tensors what the network has of them. Else as
 * interpret_network. */
int64_t **channels_interpret(const struct network *network, const int64_t *const *inputs, struct arena *arena,
                             struct diagnostics *diagnostics);

#endif
