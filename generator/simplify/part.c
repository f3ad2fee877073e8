#include "simplify/part.h"

#include <string.h>

#include "simplify/cancel.h"
#include "simplify/edit.h"

struct part part_of_nothing(const struct tensor *tensor, struct arena *arena)
{
    struct part part = {.sizes = {tensor->height, tensor->width, tensor->channels}};
    for (int i = 0; i < PART_DIMENSIONS; i++)
        part.needed[i] = arena_array(arena, bool, (size_t)part.sizes[i]);
    return part;
}

void part_need(struct part *part, int dimension, int index)
{
    part->counts[dimension] += !part->needed[dimension][index];
    part->needed[dimension][index] = true;
}

void part_need_all(struct part *part, int dimension)
{
    for (int i = 0; i < part->sizes[dimension]; i++)
        part_need(part, dimension, i);
}

void part_need_copy(struct part *part, const struct network *network, const struct layer *copy)
{
    const struct tensor *output = &network->tensors[copy->output];
    const struct layer_map *map = &copy->map;
    for (int y = 0; y < output->height; y++)
        for (int x = 0; map->rows[y] >= 0 && x < output->width; x++)
            for (int c = 0; map->columns[x] >= 0 && c < output->channels; c++) {
                int at = map->rows[y] + map->columns[x] + map->channels[c];
                if (map->channels[c] < 0)
                    continue;
                part_need(part, PART_CHANNELS, at % part->sizes[PART_CHANNELS]);
                part_need(part, PART_COLUMNS, at / part->sizes[PART_CHANNELS] % part->sizes[PART_COLUMNS]);
                part_need(part, PART_ROWS, at / part->sizes[PART_CHANNELS] / part->sizes[PART_COLUMNS]);
            }
}

const int *part_list(const struct part *part, int dimension, struct arena *arena)
{
    int *list = arena_array(arena, int, (size_t)part->counts[dimension]), count = 0;
    for (int i = 0; i < part->sizes[dimension]; i++)
        if (part->needed[dimension][i])
            list[count++] = i;
    return list;
}

bool part_has_copies_only(const struct network *network, int tensor)
{
    int copies = 0;
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        copies += layer->inputs[0] == tensor && layer->kind == LAYER_COPY && layer->stage_count == 0;
    }
    return copies > 0 && copies == network_count_readers(network, tensor);
}

/* Where each row, column or channel lies in the part; negative: nowhere. */
static const int32_t *places(const struct part *part, int dimension, int step, struct arena *arena)
{
    int32_t *list = arena_array(arena, int32_t, (size_t)part->sizes[dimension]), next = 0;
    for (int i = 0; i < part->sizes[dimension]; i++)
        list[i] = part->needed[dimension][i] ? next++ * step : -1;
    return list;
}

/* The whole tensor from its part: what is not in that is a border, which no reader reads. */
static struct layer whole_from(const struct part *part, int made, int tensor, struct arena *arena)
{
    struct layer layer = layer_plain("", LAYER_COPY, made);
    layer.output = tensor;
    layer.map = (struct layer_map){
        .rows = places(part, PART_ROWS, part->counts[PART_COLUMNS] * part->counts[PART_CHANNELS], arena),
        .columns = places(part, PART_COLUMNS, part->counts[PART_CHANNELS], arena),
        .channels = places(part, PART_CHANNELS, 1, arena),
    };
    return layer;
}

bool part_redirect(struct network *network, int tensor, const bool *readers, const struct part *part, int made,
                   struct arena *arena)
{
    struct layer whole = whole_from(part, made, tensor, arena);
    struct layer *joined = arena_copy(arena, network->layers, network->layer_count);
    for (int i = 0; i < network->layer_count; i++) {
        if (!readers[i])
            continue;
        whole.padding_value = joined[i].padding_value;
        if (!simplify_join_copies(network, &whole, &network->layers[i], &joined[i], arena))
            return false;
    }
    memcpy(network->layers, joined, (size_t)network->layer_count * sizeof *joined);
    return true;
}
