/* The cuts of a layer that are worth a look. */
#include "choose/cut.h"

#include "plan/operand.h"

#define MAXIMUM_PARTS 40   /* sizes of parts along one dimension */
#define MAXIMUM_STEPS 2048 /* of a layer: more are all overhead */
#define FEW_PARTS     100  /* rows by blocks of channels, so that all sizes are looked at: more than the above */

/* More parts than this gain nothing where a part takes no more than such a part of L2: each is a step and a transfer, which
 * take L2, too, and the driver's time. Were it 8 KiB for every L2, so that all cuts of less memory were there in more, the
 * plans of plans.csv would take as long in the mean, six of 271 0.3 to 0.5 % longer, and one would be 0.4 % longer than with
 * less memory. */
#define ENOUGH_PARTS      24
#define SMALL_SHARE_OF_L2 8

/* Part sizes of `size` for 1, 2, 3, 4, 6, 8, 12 ... parts, in multiples of `granule`, largest first; `small` is a size of
 * little L2. */
static int part_sizes(uint32_t size, uint32_t granule, uint32_t small, uint32_t *sizes)
{
    int count = 0;
    uint32_t before = 0;
    for (uint32_t parts = 1; count < MAXIMUM_PARTS; parts = parts < 2   ? parts + 1
                                                            : parts % 3 ? parts / 2 * 3
                                                                        : parts / 3 * 4) {
        uint32_t part = parts == 1 ? size : dory_minimum(size, dory_round_up(dory_divide_up(size, parts), granule));
        if (part != before)
            sizes[count++] = part;
        before = part;
        if (part <= granule || (parts >= ENOUGH_PARTS && part <= small))
            break;
    }
    return count;
}

/* All part sizes of a layer that is small, largest first. */
static int all_sizes(uint32_t size, uint32_t granule, uint32_t *sizes)
{
    int count = 0;
    sizes[count++] = size;
    for (uint32_t part = (size - 1) / granule * granule; part > 0; part -= granule)
        sizes[count++] = part;
    return count;
}

static int add_cut(struct planned_layer *of, uint32_t rows, uint32_t channels, uint8_t ram, struct cut **list, int count)
{
    const struct dory_layer *record = &of->record;
    uint64_t stripes = dory_divide_up(record->output_height, rows),
             blocks = dory_divide_up(record->output_channels, channels);
    bool both = stripes > 1 && blocks > 1;
    if (!cut_is_legal(record, rows, channels, ram) || (both && stripes * blocks > MAXIMUM_STEPS))
        return count;
    for (int outer = 0; outer <= (both ? 1 : 0); outer++)
        if (count < MAXIMUM_CUTS)
            list[count++] = cut_get(of, rows, channels, outer != 0, ram);
    return count;
}

/* Rows of output, and channels, whose operands take little of L2. */
static uint32_t small_rows(const struct planned_layer *of)
{
    const struct dory_layer *record = &of->record;
    uint32_t input = operand_row_bytes(record, 0) * (record->row_divisor ? 1 : record->stride_height),
             output = operand_row_bytes(record, 2);
    return of->problem->l2_bytes / SMALL_SHARE_OF_L2 / (input > output ? input : output);
}

static uint32_t small_channels(const struct planned_layer *of)
{
    const struct dory_layer *record = &of->record;
    uint32_t bytes = dory_has_weights(record) ? dory_block_bytes(of->weights, record, record->input_channels) : 4;
    return of->problem->l2_bytes / SMALL_SHARE_OF_L2 / bytes * dory_block_channels(record);
}

bool layer_is_small(const struct dory_layer *record)
{
    return (uint32_t)record->output_height * dory_blocks(record, record->output_channels) <= FEW_PARTS;
}

static int make_list(struct planned_layer *of, uint8_t ram, struct cut **list)
{
    const struct dory_layer *record = &of->record;
    uint32_t rows[FEW_PARTS], channels[FEW_PARTS];
    int row_count = 1, count = 0;
    bool is_small = layer_is_small(record);
    uint32_t granule = ram & RAM_OUTPUT ? cut_row_granule(operand_row_bytes(record, 2)) : 1;
    rows[0] = record->output_height;
    if (ram)
        row_count = is_small ? all_sizes(record->output_height, granule, rows)
                             : part_sizes(record->output_height, granule, small_rows(of), rows);
    uint32_t block = dory_block_channels(record);
    int channel_count = is_small ? all_sizes(record->output_channels, block, channels)
                                 : part_sizes(record->output_channels, block, small_channels(of), channels);
    if (!ram && !of->brings_weights)
        channel_count = 1; /* nothing to gain */
    for (int i = 0; i < row_count; i++)
        for (int j = 0; j < channel_count; j++)
            count = add_cut(of, rows[i], channels[j], ram, list, count);
    return count;
}

int cut_list(struct planned_layer *of, uint8_t ram, struct cut ***list)
{
    if (!of->lists[ram]) {
        of->lists[ram] = arena_array(of->problem->arena, struct cut *, MAXIMUM_CUTS);
        of->list_counts[ram] = make_list(of, ram, of->lists[ram]);
    }
    *list = of->lists[ram];
    return of->list_counts[ram];
}
