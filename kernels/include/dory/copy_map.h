/* The map of DORY_COPY (union dory_constants), as a tile reads it. */
#ifndef DORY_COPY_MAP_H
#define DORY_COPY_MAP_H

#include "dory/layer.h"

/* From the tile's first row, column and channel on. */
struct dory_map_part {
    const int32_t *rows, *columns, *channels; /* null: the layer has no map, and channels follow from `channel` on */
    uint32_t run, channel;                    /* with a map so many of them do, and the map has the others */
};

static inline struct dory_map_part dory_map_part_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    struct dory_map_part part = {.channel = tile->first_channel, .run = tile->channels};
    const int32_t *map = layer->constants.map;
    if (map) {
        part.rows = map + tile->first_row;
        part.columns = map + layer->output_height + tile->first_column;
        part.channels = map + layer->output_height + layer->output_width + tile->first_channel;
        uint32_t run = layer->map_channels.run;
        run = run > tile->first_channel ? run - tile->first_channel : 0;
        part.run = dory_minimum(run, tile->channels);
        part.channel = part.run != 0 ? (uint32_t)part.channels[0] : 0;
    }
    return part;
}

#endif
