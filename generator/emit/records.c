#include "emit/records.h"

#include "describe/layer_operation.h"
#include "dory/check.h"
#include "dory/dump.h"
#include "dory/hal.h"
#include "dory/network.h"
#include "dory/prepared.h"

static const char *const operation_names[] = {
#define NAME(operation, identifier, words) [operation] = #operation,
    DORY_OPERATIONS(NAME)};

static const char *const normalisation_names[] = {
#define NORMALISATION_NAME(normalisation, word) [normalisation] = #normalisation,
    DORY_NORMALISATIONS(NORMALISATION_NAME)};

static const char *const rounding_names[] = {
    [DORY_ROUND_FLOOR] = "DORY_ROUND_FLOOR",
    [DORY_ROUND_AWAY] = "DORY_ROUND_AWAY",
    [DORY_ROUND_EVEN] = "DORY_ROUND_EVEN",
};

static const char *const layout_names[] = {"DORY_HWC", "DORY_CHW"};

static const char *const order_names[] = {
    [DORY_CHANNELS_OUTER] = "DORY_CHANNELS_OUTER",
    [DORY_SPACE_OUTER] = "DORY_SPACE_OUTER",
};

static const char *const l3_names[] = {
    [HAL_FLASH_READ] = "HAL_FLASH_READ",
    [HAL_RAM_READ] = "HAL_RAM_READ",
    [HAL_RAM_WRITE] = "HAL_RAM_WRITE",
};

/* ---- struct dory_layer ---- */

#define LINE        .group = ""
#define ENUM(NAMES) .kind = FIELD_ENUM, .names = NAMES
#define NUMBER      .kind = FIELD_UNSIGNED
#define FLAG        .kind = FIELD_FLAG

#define STAGE(MEMBER)                                                                                                       \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_stage, MEMBER), .kind = FIELD_SIGNED                                                        \
    }
static const struct field stage_fields[] = {
    STAGE(multiplier), STAGE(addend), STAGE(divisor), STAGE(minimum), STAGE(maximum),
};
static const struct record record_stage = RECORD(struct dory_stage, stage_fields);

#define STAGE_RECORD .kind = FIELD_STRUCT, .record = &record_stage
static const struct field stages_fields[] = {
    {FIELD_ARRAY(struct dory_stages, input), STAGE_RECORD, LINE},
    {FIELD_PLACE(struct dory_stages, first), STAGE_RECORD, LINE},
    {FIELD_PLACE(struct dory_stages, second), STAGE_RECORD, LINE},
    {FIELD_PLACE(struct dory_stages, has_second), FLAG},
};
const struct record record_stages = RECORD(struct dory_stages, stages_fields);

#define MAP(MEMBER)                                                                                                         \
    {                                                                                                                       \
        FIELD_ARRAY(struct dory_l1_map, MEMBER), .kind = FIELD_OFFSET                                                       \
    }
static const struct field l1_map_fields[] = {
    MAP(input),
    MAP(second_input),
    MAP(weights),
    MAP(output),
    {FIELD_PLACE(struct dory_l1_map, accumulators), .kind = FIELD_OFFSET},
    {FIELD_PLACE(struct dory_l1_map, scratch), .kind = FIELD_OFFSET},
};
const struct record record_l1_map = RECORD(struct dory_l1_map, l1_map_fields);

#define SHAPE(MEMBER)                                                                                                       \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_tile_shape, MEMBER), NUMBER                                                                 \
    }
static const struct field tile_shape_fields[] = {SHAPE(rows), SHAPE(columns), SHAPE(channels), SHAPE(input_channels)};
static const struct record record_tile_shape = RECORD(struct dory_tile_shape, tile_shape_fields);

#define LAYER(MEMBER, ...)                                                                                                  \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_layer, MEMBER), __VA_ARGS__                                                                 \
    }

/* Which members of a union are live: those of an operation, and those of a form of requantisation. */
#define IS_LIVE(OPERATION, NAME)                                                                                            \
    static bool is_##NAME(const void *layer) { return ((const struct dory_layer *)layer)->operation == (OPERATION); }
IS_LIVE(DORY_COPY, copy)
IS_LIVE(DORY_GROUPED, grouped)
IS_LIVE(DORY_TRANSPOSITION, transposition)
IS_LIVE(DORY_INTERPOLATION, interpolation)
IS_LIVE(DORY_NORM, norm)
IS_LIVE(DORY_LSTM, lstm)
IS_LIVE(DORY_MATRIX_PRODUCT, matrix_product)
IS_LIVE(DORY_SOFTMAX, softmax)

static bool is_no_product(const void *layer) { return !is_matrix_product(layer); }
static bool may_leave_gaps(const void *value)
{
    const struct dory_layer *layer = value;
    return layer->operation <= DORY_DEPTHWISE || layer->operation == DORY_ADDITION;
}

static bool has_weights(const void *layer) { return dory_has_weights(layer); }
static bool has_no_weights(const void *layer) { return !dory_has_weights(layer); }
static bool is_shared(const void *layer)
{
    return ((const struct dory_layer *)layer)->normalisation == DORY_NORMALISE_SHARED;
}
static bool is_not_shared(const void *layer) { return !is_shared(layer); }

static const struct field layer_fields[] = {
    LAYER(operation, ENUM(operation_names), LINE),
    LAYER(normalisation, ENUM(normalisation_names)),
    LAYER(shift, NUMBER),
    LAYER(tile_order, ENUM(order_names)),
    LAYER(input_bits, NUMBER, LINE),
    LAYER(second_input_bits, NUMBER),
    LAYER(output_bits, NUMBER),
    LAYER(weight_bits, NUMBER),
    LAYER(input_is_signed, FLAG),
    LAYER(second_input_is_signed, FLAG),
    LAYER(output_is_signed, FLAG),
    LAYER(input_layout, ENUM(layout_names)),
    LAYER(output_layout, ENUM(layout_names)),
    LAYER(pixel_ways, NUMBER),
    LAYER(left_shift, NUMBER),
    LAYER(rounding, ENUM(rounding_names)),
    LAYER(second_repeats, NUMBER, .is_live = has_no_weights),
    LAYER(row_divisor, NUMBER),
    LAYER(input_height, NUMBER, LINE),
    LAYER(input_width, NUMBER),
    LAYER(input_channels, NUMBER),
    LAYER(output_height, NUMBER),
    LAYER(output_width, NUMBER),
    LAYER(output_channels, NUMBER),
    LAYER(kernel_height, NUMBER, LINE),
    LAYER(kernel_width, NUMBER),
    LAYER(stride_height, NUMBER),
    LAYER(stride_width, NUMBER),
    LAYER(dilation_height, NUMBER, .is_live = is_no_product),
    LAYER(dilation_width, NUMBER, .is_live = is_no_product),
    LAYER(pixel_bytes, NUMBER, .is_live = is_matrix_product),
    LAYER(second_pixel_bytes, NUMBER, .is_live = is_matrix_product),
    LAYER(padding_top, .kind = FIELD_SIGNED),
    LAYER(padding_left, NUMBER),
    LAYER(border_value, .kind = FIELD_SIGNED),
    LAYER(tile, .kind = FIELD_STRUCT, .record = &record_tile_shape, LINE),
    LAYER(rows.output_gap, NUMBER, .is_live = may_leave_gaps),
    LAYER(rows.sum_gap, NUMBER, .is_live = may_leave_gaps),
    LAYER(grouped.channels, NUMBER, .is_live = is_grouped),
    LAYER(grouped.outputs, NUMBER, .is_live = is_grouped),
    LAYER(transposition.axes, NUMBER, .is_live = is_transposition),
    LAYER(interpolation.row_pairs, NUMBER, .is_live = is_interpolation),
    LAYER(interpolation.column_pairs, NUMBER, .is_live = is_interpolation),
    LAYER(norm.words, NUMBER, .is_live = is_norm),
    LAYER(lstm.words, NUMBER, .is_live = is_lstm),
    LAYER(lstm.units, NUMBER, .is_live = is_lstm),
    LAYER(matrix_product.sharing_rows, NUMBER, .is_live = is_matrix_product),
    LAYER(matrix_product.pixel_bytes, NUMBER, .is_live = is_matrix_product),
    LAYER(softmax.group_channels, NUMBER, .is_live = is_softmax),
    LAYER(map_channels.run, NUMBER, .is_live = is_copy),
    LAYER(block_shift, NUMBER, LINE, .is_live = has_weights),
    LAYER(block_bytes, NUMBER),
    LAYER(chunk_bytes, NUMBER),
    LAYER(divisor, .kind = FIELD_SIGNED, LINE, .is_live = is_not_shared),
    LAYER(addend, .kind = FIELD_SIGNED, .is_live = is_shared),
    LAYER(reciprocal, NUMBER, .is_live = is_not_shared),
    LAYER(multiplier, .kind = FIELD_SIGNED, .is_live = is_shared),
    LAYER(minimum, .kind = FIELD_SIGNED),
    LAYER(maximum, .kind = FIELD_SIGNED),
    LAYER(l1, .kind = FIELD_STRUCT, .record = &record_l1_map, LINE),
};
const struct record record_layer = RECORD(struct dory_layer, layer_fields);

/* ---- struct dory_step ---- */

#define WINDOW(MEMBER)                                                                                                      \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_window, MEMBER), NUMBER                                                                     \
    }
static const struct field window_fields[] = {
    WINDOW(offset), WINDOW(first_row), WINDOW(rows), WINDOW(first_channel), WINDOW(channels),
};
static const struct record record_window = RECORD(struct dory_window, window_fields);

#define STEP(MEMBER, ...)                                                                                                   \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_step, MEMBER), __VA_ARGS__                                                                  \
    }
static const struct field step_fields[] = {
    STEP(first_row, NUMBER),
    STEP(rows, NUMBER),
    STEP(first_channel, NUMBER),
    STEP(channels, NUMBER),
    {FIELD_ARRAY(struct dory_step, input), .kind = FIELD_STRUCT, .record = &record_window, LINE},
    STEP(output, .kind = FIELD_STRUCT, .record = &record_window, LINE),
    STEP(weights_offset, NUMBER, LINE),
    STEP(transfers_awaited, NUMBER),
    STEP(transfers_started, NUMBER),
    STEP(drain, FLAG),
    STEP(last_of_layer, FLAG),
    STEP(layer_number, NUMBER),
    STEP(weights_are_early, FLAG),
};
const struct record record_step = RECORD(struct dory_step, step_fields);

/* ---- the others ---- */

#define TRANSFER(MEMBER, ...)                                                                                               \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_transfer, MEMBER), __VA_ARGS__                                                              \
    }
static const struct field transfer_fields[] = {
    TRANSFER(kind, ENUM(l3_names)), TRANSFER(runs, NUMBER),      TRANSFER(l3_address, NUMBER), TRANSFER(l2_offset, NUMBER),
    TRANSFER(run_bytes, NUMBER),    TRANSFER(l3_stride, NUMBER), TRANSFER(l2_stride, NUMBER),
};
const struct record record_transfer = RECORD(struct dory_transfer, transfer_fields);

#define NETWORK(MEMBER, ...)                                                                                                \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_network, MEMBER), __VA_ARGS__                                                               \
    }
static const struct field network_fields[] = {
    NETWORK(input_count, NUMBER, LINE), NETWORK(output_count, NUMBER), NETWORK(step_count, NUMBER, LINE),
    NETWORK(transfer_count, NUMBER),    NETWORK(layer_count, NUMBER),  NETWORK(cores, NUMBER),
    NETWORK(l1_bytes, NUMBER, LINE),    NETWORK(l2_bytes, NUMBER),     NETWORK(ram_bytes, NUMBER),
    NETWORK(flash_bytes, NUMBER),       NETWORK(flash_hash, NUMBER),   NETWORK(resident_offset, NUMBER, LINE),
    NETWORK(resident_bytes, NUMBER),
};
const struct record record_network = RECORD(struct dory_network, network_fields);

#define TILE(MEMBER)                                                                                                        \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_tile, MEMBER), NUMBER                                                                       \
    }
static const struct field tile_fields[] = {
    TILE(rows),          TILE(columns),   TILE(channels),     TILE(input_rows),  TILE(input_columns), TILE(input_channels),
    TILE(first_channel), TILE(first_row), TILE(first_column), TILE(first_chunk), TILE(last_chunk),
};
const struct record record_tile = RECORD(struct dory_tile, tile_fields);

#define VALID(MEMBER)                                                                                                       \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_valid, MEMBER), NUMBER                                                                      \
    }
static const struct field valid_fields[] = {VALID(top), VALID(bottom), VALID(left), VALID(right)};
static const struct record record_valid = RECORD(struct dory_valid, valid_fields);

static const char *const meets_names[] = {
    [DORY_MEETS_NOBODY] = "DORY_MEETS_NOBODY", [DORY_MEETS] = "DORY_MEETS", [DORY_MEETS_TWICE] = "DORY_MEETS_TWICE"};

static const char *const border_names[] = {[DORY_BORDER_NONE] = "DORY_BORDER_NONE",
                                           [DORY_BORDER_BESIDE] = "DORY_BORDER_BESIDE",
                                           [DORY_BORDER_BEHIND] = "DORY_BORDER_BEHIND"};

static const char *const overlaps_names[] = {[DORY_OVERLAPS_STORE] = "DORY_OVERLAPS_STORE",
                                             [DORY_OVERLAPS] = "DORY_OVERLAPS",
                                             [DORY_OVERLAPS_WEIGHTS] = "DORY_OVERLAPS_WEIGHTS",
                                             [DORY_OVERLAPS_ADDED] = "DORY_OVERLAPS_ADDED"};

static const char *const stores_names[] = {[DORY_STORES_NOTHING] = "DORY_STORES_NOTHING",
                                           [DORY_STORES_FOR_OBSERVER] = "DORY_STORES_FOR_OBSERVER",
                                           [DORY_STORES] = "DORY_STORES"};

#define PREPARED(MEMBER, ...)                                                                                               \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_prepared_tile, MEMBER), __VA_ARGS__                                                         \
    }
static const struct field prepared_tile_fields[] = {
    PREPARED(valid, .kind = FIELD_STRUCT, .record = &record_valid, LINE),
    PREPARED(starts_layer, FLAG, LINE),
    PREPARED(meets, ENUM(meets_names)),
    PREPARED(ends_step, FLAG),
    PREPARED(awaits_stores, FLAG),
    PREPARED(overlaps, ENUM(overlaps_names)),
    PREPARED(loads_beside, NUMBER),
    PREPARED(load_weights, FLAG),
    PREPARED(border, ENUM(border_names)),
    PREPARED(has_table, FLAG),
    PREPARED(output_buffer, NUMBER),
    PREPARED(stores, ENUM(stores_names)),
    PREPARED(load_count, NUMBER),
};
const struct record record_prepared_tile = RECORD(struct dory_prepared_tile, prepared_tile_fields);

#define COPY(MEMBER)                                                                                                        \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_prepared_copy, MEMBER), NUMBER                                                              \
    }
static const struct field copy_fields[] = {
    COPY(external),
    COPY(external_plane_stride),
    COPY(local),
    COPY(run_bytes),
    COPY(runs),
    COPY(planes),
    COPY(external_run_stride),
    COPY(local_run_stride),
    COPY(local_plane_stride),
    COPY(is_flat),
    COPY(local_above),
};
const struct record record_copy = RECORD(struct dory_prepared_copy, copy_fields);

#define PORT(MEMBER)                                                                                                        \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_port, MEMBER), NUMBER                                                                       \
    }
static const struct field port_fields[] = {PORT(bytes), PORT(offset), PORT(in_ram)};
const struct record record_port = RECORD(struct dory_port, port_fields);

#define CHECK(MEMBER, ...)                                                                                                  \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_check_layer, MEMBER), __VA_ARGS__                                                           \
    }
static const struct field check_layer_fields[] = {
    CHECK(offset, NUMBER, LINE), CHECK(expected_offset, NUMBER),
    CHECK(height, NUMBER),       CHECK(width, NUMBER),
    CHECK(channels, NUMBER),     CHECK(bits, NUMBER),
    CHECK(is_signed, FLAG),      CHECK(in_ram, FLAG),
    CHECK(ring, NUMBER),         CHECK(layout, ENUM(layout_names)),
    CHECK(macs, NUMBER),
};
const struct record record_check_layer = RECORD(struct dory_check_layer, check_layer_fields);

#define DUMP(MEMBER)                                                                                                        \
    {                                                                                                                       \
        FIELD_PLACE(struct dory_dump_layer, MEMBER), NUMBER                                                                 \
    }
static const struct field dump_layer_fields[] = {DUMP(number), DUMP(in_ram), DUMP(is_ring),
                                                 DUMP(offset), DUMP(bytes),  DUMP(planes)};
const struct record record_dump_layer = RECORD(struct dory_dump_layer, dump_layer_fields);
