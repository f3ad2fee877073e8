/* Channels of a network with dead channels removed, and those of the network that it was made of. */
#ifndef DORYGEN_CHANNELS_H
#define DORYGEN_CHANNELS_H

#include "base/support.h"
#include "network/network.h"

/* Does a copy take each channel of its output, border aside, from one channel of its input? Then map.channels says which. */
bool copy_takes_channels(const struct network *network, const struct layer *layer);

/* The number in `whole` of a tensor's channel. */
static inline int channel_in_whole(const struct tensor *tensor, int channel)
{
    return tensor->kept ? tensor->kept[channel] : channel;
}

/* The channels of tensor `index` that the network has, from all of them: values in HWC order, as `whole` has them. */
int64_t *channels_take(const struct network *network, int index, int64_t *whole, struct arena *arena);

/* Runs the golden model of `whole`, where there is one, and takes from its tensors what the network has of them. Else as
 * interpret_network. */
int64_t **channels_interpret(const struct network *network, const int64_t *const *inputs, struct arena *arena,
                             struct diagnostics *diagnostics);

#endif
