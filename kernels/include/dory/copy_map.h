/* The map of DORY_COPY (union dory_constants), as a tile reads it. */
#ifndef DORY_COPY_MAP_H
#define DORY_COPY_MAP_H

#include "dory/layer.h"

/* From the tile's first row, column and channel on. */
struct dory_map_part {
    const int32_t *rows, *columns; /* null: the layer has no map */
    const int32_t *channels;       /* null: those from `channel` on, one behind the other */
    uint32_t channel;
};

static inline struct dory_map_part dory_map_part_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct dory_map_part part = {.channel = tile->first_channel};
    const int32_t *map = layer->constants.map;
    if (map) {
        part.rows = map + tile->first_row;
        part.columns = map + layer->output_height + tile->first_column;
        part.channels = map + layer->output_height + layer->output_width + tile->first_channel;
        if (layer->map_channels.follow) {
            part.channel = (uint32_t)part.channels[0];
            part.channels = 0;
        }
    }
    return part;
}

#endif
