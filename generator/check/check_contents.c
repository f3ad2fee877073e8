/* Plays the table of placed tiles byte by byte in L1: which byte of which tensor, or of which layer's weights, lies there.
 *
 * Copies move contents, a tile that is computed finds those that it needs, by the definition of its layer, and leaves those
 * of its output; its store brings them to where the step has them in L2. Copies that may happen beside something happen at
 * the worst time: loads that are begun early before the tile in front of them is computed, stores when they are awaited. */
#include <inttypes.h>

#include "check/checker.h"
#include "dory/prepared.h"
#include "dory/transposition.h"
#include "plan/operand.h"

typedef uint64_t content; /* object << 32 | byte in it; 0: nothing */

#define OBJECT_SHIFT 32

struct play {
    const struct plan *plan;
    content *l1;
    uint8_t **stored;                            /* by tensor: a byte each, whether a tile has stored it */
    const struct plan_step *step;                /* at work */
    const struct dory_prepared_tile *pending[2]; /* by output buffer: stored, and not known to be in L2 */
    const struct plan_step *pending_step[2];
    bool is_for_observer; /* what is stored */
    uint32_t chunk;       /* first input channel of the tile at work */
    const char *fault;
};

static void fail(struct play *play, const char *what) { play->fault = play->fault ? play->fault : what; }

static const struct dory_layer *record_of(const struct play *play, const struct plan_step *step)
{
    return &play->plan->layers[step->layer].record;
}

/* ---- contents ---- */

static content home_content(int home, uint64_t byte) { return ((uint64_t)home + 1) << OBJECT_SHIFT | byte; }

static int operand_tensor(const struct play *play, const struct plan_step *step, unsigned operand)
{
    return layer_operand(&play->plan->network->layers[step->layer], (int)operand);
}

static content tensor_content(const struct play *play, const struct plan_step *step, unsigned operand, uint64_t byte)
{
    const struct network *network = play->plan->network;
    int tensor = operand_tensor(play, step, operand);
    return home_content(tensor_home(network, tensor), check_home_byte(&network->tensors[tensor], byte));
}

enum own_content { WEIGHTS, TABLE, BORDER, OWN_CONTENTS };

static content own_content(const struct play *play, const struct plan_step *step, enum own_content kind, uint64_t byte)
{
    uint64_t object = (uint64_t)play->plan->network->tensor_count + (uint64_t)step->layer * OWN_CONTENTS + kind + 1;
    return object << OBJECT_SHIFT | byte;
}

static void put(struct play *play, uint64_t local, content first, uint64_t bytes)
{
    if (local + bytes > play->plan->l1_peak_bytes)
        fail(play, "leaves L1");
    for (uint64_t i = 0; !play->fault && i < bytes; i++)
        play->l1[local + i] = first + i;
}

static void expect(struct play *play, uint64_t local, content first, uint64_t bytes, const char *what)
{
    if (local + bytes > play->plan->l1_peak_bytes)
        fail(play, "leaves L1");
    for (uint64_t i = 0; !play->fault && i < bytes; i++)
        if (play->l1[local + i] != first + i)
            fail(play, what);
}

/* ---- from addresses in L2 to operands ---- */

static uint32_t home_offset(const struct play *play, int view)
{
    return play->plan->buffers[play->plan->tensors[view].buffer].offset;
}

static bool is_at(const struct play *play, const struct plan_step *step, unsigned operand, uint32_t external)
{
    const struct dory_window *window = operand_window(&step->record, operand);
    int tensor = operand_tensor(play, step, operand), home = tensor_home(play->plan->network, tensor);
    if (home != tensor)
        return external - home_offset(play, tensor) < play->plan->tensors[home].bytes;
    return external - window->offset < operand_window_bytes(record_of(play, step), operand, window);
}

/* The operand of a step in whose window an address is, or of two that are views of one tensor any; 3: in none. */
static unsigned operand_at(const struct play *play, const struct plan_step *step, uint32_t external)
{
    for (unsigned operand = 0; operand < (dory_has_second_input(record_of(play, step)) ? 2u : 1u); operand++)
        if (is_at(play, step, operand, external))
            return operand;
    return 3;
}

/* ---- where a tile's input lies in its tensor ---- */

struct extent {
    int64_t row, column; /* the first ones, which may be in front of the image */
    uint32_t rows, columns, channel, channels;
    uint32_t needed_rows; /* of these, those that its results depend on */
};

static int64_t first_row_read(const struct dory_layer *record, uint32_t row)
{
    int64_t divisor = record->row_divisor ? record->row_divisor : 1;
    return (int64_t)row * record->stride_height / divisor - record->padding_top;
}

static struct extent transposed_extent(const struct dory_layer *record, const struct dory_tile *tile)
{
    const uint32_t starts[3] = {tile->first_row, tile->first_column, tile->first_channel};
    const uint32_t extents[3] = {tile->rows, tile->columns, tile->channels};
    unsigned row = dory_axis(record, 0), column = dory_axis(record, 1), channel = dory_axis(record, 2);
    return (struct extent){starts[row],     starts[column],   extents[row], extents[column],
                           starts[channel], extents[channel], extents[row]};
}

static struct extent first_extent(const struct play *play, const struct dory_layer *record, const struct dory_tile *tile)
{
    bool all = dory_reads_all_channels(record);
    int64_t first = first_row_read(record, tile->first_row),
            last = first_row_read(record, tile->first_row + tile->rows - 1u);
    return (struct extent){
        .row = first,
        .column =
            check_is_in_planes(record, 0) ? 0 : (int64_t)tile->first_column * record->stride_width - record->padding_left,
        .rows = tile->input_rows,
        .columns = check_is_in_planes(record, 0) ? record->input_width
                                                 : (tile->columns - 1u) * record->stride_width +
                                                       (record->kernel_width - 1u) * record->dilation_width + 1,
        .channel = all ? play->chunk : tile->first_channel,
        .channels = all ? tile->input_channels : tile->channels,
        .needed_rows = (uint32_t)(last - first) + (record->kernel_height - 1u) * record->dilation_height + 1,
    };
}

static struct extent extent_of(const struct play *play, const struct dory_layer *record, const struct dory_tile *tile,
                               unsigned operand)
{
    if (record->operation == DORY_TRANSPOSITION)
        return transposed_extent(record, tile);
    struct extent extent = first_extent(play, record, tile);
    if (operand == 0)
        return extent;
    if (record->operation == DORY_MATRIX_PRODUCT) {
        uint32_t rows = record->matrix_product.sharing_rows ? 1 : tile->rows;
        return (struct extent){dory_second_row(record, tile->first_row),
                               tile->first_channel,
                               rows,
                               tile->channels,
                               extent.channel,
                               extent.channels,
                               rows};
    }
    if (dory_repeats_channel(record, 1) || record->operation == DORY_CONCATENATION || record->operation == DORY_LSTM) {
        extent.channel = 0;
        extent.channels = dory_input_channels(record, 1);
    }
    if (operand_is_pixel(record, 1)) {
        extent.row = extent.column = 0;
        extent.rows = extent.needed_rows = extent.columns = 1;
    }
    return extent;
}

/* ---- a tile ---- */

/* Of `size` from `first` on, what lies in an image: relative to `first`, and empty where nothing does. */
static bool is_clipped(int64_t first, uint32_t size, uint32_t image, uint32_t start, uint32_t end)
{
    int64_t low = first < 0 ? -first : 0, high = image - first < size ? image - first : size;
    return high < low ? start == end : start == low && end == high;
}

/* Rows are as many as are read; where they are repeated, those of the first tile. Whoever lays a border knows where. */
static bool has_shape(const struct dory_layer *record, const struct dory_prepared_tile *tile, const struct extent *extent)
{
    const struct dory_valid *valid = &tile->valid;
    bool rows = record->row_divisor ? extent->rows >= extent->needed_rows : extent->rows == extent->needed_rows;
    bool border = is_clipped(extent->row, extent->rows, record->input_height, valid->top, valid->bottom) &&
                  is_clipped(extent->column, extent->columns, record->input_width, valid->left, valid->right);
    return rows && tile->tile.input_rows == extent->rows && tile->tile.input_columns == extent->columns &&
           (tile->border == DORY_BORDER_NONE || border);
}

/* Calls for each run of bytes of the input's extent, in L1 and in the tensor, or outside of the image. */
typedef void visit_run(struct play *play, uint64_t local, unsigned operand, bool is_inside, uint64_t byte, uint32_t bytes);

static void visit_pixel(struct play *play, const struct extent *extent, unsigned operand, uint32_t y, uint32_t x,
                        uint64_t base, visit_run *visit)
{
    const struct dory_layer *record = record_of(play, play->step);
    int64_t row = extent->row + y, column = extent->column + x;
    uint32_t width = operand_width(record, operand), height = operand_height(record, operand);
    bool inside = row >= 0 && row < height && column >= 0 && column < width;
    if (check_is_in_planes(record, operand)) {
        for (uint32_t i = 0; i < extent->channels; i++)
            visit(play, base + ((uint64_t)i * extent->rows + y) * width + x, operand, inside,
                  inside ? ((uint64_t)(extent->channel + i) * height + (uint64_t)row) * width + (uint64_t)column : 0, 1);
        return;
    }
    uint32_t pixel = operand_pixel_bytes(record, operand, extent->channels);
    uint32_t all = operand_pixel_bytes(record, operand, operand_channels(record, operand));
    uint64_t in_tensor = inside ? ((uint64_t)row * width + (uint64_t)column) * all : 0;
    visit(play, base + ((uint64_t)y * extent->columns + x) * pixel, operand, inside,
          in_tensor + operand_pixel_bytes(record, operand, extent->channel), pixel);
}

static void visit_input(struct play *play, const struct dory_prepared_tile *tile, unsigned operand, bool all_rows,
                        visit_run *visit)
{
    struct extent extent = extent_of(play, record_of(play, play->step), &tile->tile, operand);
    uint32_t rows = all_rows ? extent.rows : extent.needed_rows;
    uint64_t base = (uintptr_t)(operand ? tile->tile.second_input : tile->tile.input);
    if (operand == 0 && !has_shape(record_of(play, play->step), tile, &extent))
        fail(play, "has another input than its output is computed from");
    for (uint32_t y = 0; !play->fault && y < rows; y++)
        for (uint32_t x = 0; !play->fault && x < extent.columns; x++)
            visit_pixel(play, &extent, operand, y, x, base, visit);
}

static void lay_border(struct play *play, uint64_t local, unsigned operand, bool is_inside, uint64_t byte, uint32_t bytes)
{
    (void)operand;
    (void)byte;
    for (uint32_t i = 0; !is_inside && i < bytes; i++)
        put(play, local + i, own_content(play, play->step, BORDER, 0), 1);
}

static void find_input(struct play *play, uint64_t local, unsigned operand, bool is_inside, uint64_t byte, uint32_t bytes)
{
    if (is_inside)
        expect(play, local, tensor_content(play, play->step, operand, byte), bytes, "does not find its input in L1");
    for (uint32_t i = 0; !is_inside && i < bytes; i++)
        expect(play, local + i, own_content(play, play->step, BORDER, 0), 1, "has no border round its input");
}

/* Bytes of the layer's weights that a tile has of each block, from `first` of it on. */
static uint32_t part_of_block(const struct play *play, const struct dory_tile *tile, uint32_t *first)
{
    const struct dory_layer *record = record_of(play, play->step);
    bool whole = tile->first_chunk && tile->last_chunk;
    *first = whole ? 0 : play->chunk / record->tile.input_channels * record->chunk_bytes;
    return whole ? record->block_bytes : tile->last_chunk ? record->block_bytes - *first : record->chunk_bytes;
}

static void find_weights(struct play *play, const struct dory_tile *tile)
{
    const struct dory_layer *record = record_of(play, play->step);
    uint32_t first, local = (uint32_t)(uintptr_t)tile->weights;
    if (record->block_bytes == 0 && dory_table_bytes(record) > 0)
        expect(play, local, own_content(play, play->step, TABLE, 0), dory_table_bytes(record), "does not find its table");
    if (record->block_bytes == 0 || dory_is_in_place(record->l1.weights))
        return;
    uint32_t bytes = part_of_block(play, tile, &first), block = dory_blocks(record, tile->first_channel);
    for (uint32_t i = 0; i < dory_blocks(record, tile->channels); i++)
        expect(play, local + i * bytes,
               own_content(play, play->step, WEIGHTS, (uint64_t)(block + i) * record->block_bytes + first), bytes,
               "does not find its weights in L1");
}

/* The first byte of a row of the output in CHW. */
static content plane_content(const struct play *play, uint64_t row, uint64_t channel)
{
    const struct dory_layer *record = record_of(play, play->step);
    uint64_t pixel = row * record->output_width, plane = (uint64_t)record->output_height * record->output_width;
    int tensor = operand_tensor(play, play->step, 2);
    bool is_view = play->plan->network->tensors[tensor].view != NULL;
    return tensor_content(play, play->step, 2,
                          is_view ? pixel * record->output_channels + channel : channel * plane + pixel);
}

/* Its output, by pixels, or by planes' rows. */
static void leave_output(struct play *play, const struct dory_tile *tile)
{
    const struct dory_layer *record = record_of(play, play->step);
    bool planes = check_is_in_planes(record, 2);
    uint32_t width = record->output_width;
    uint32_t pixel = operand_pixel_bytes(record, 2, tile->channels),
             all = operand_pixel_bytes(record, 2, record->output_channels);
    for (uint32_t i = 0; planes && i < (uint32_t)tile->channels * tile->rows; i++) {
        uint64_t channel = tile->first_channel + i / tile->rows, row = tile->first_row + i % tile->rows;
        put(play, (uintptr_t)tile->output + i * width, plane_content(play, row, channel), width);
    }
    for (uint32_t i = 0; !planes && i < (uint32_t)tile->rows * tile->columns; i++) {
        uint32_t row = i / tile->columns, column = i % tile->columns;
        uint64_t place = ((uint64_t)tile->first_row + row) * width + tile->first_column + column;
        uint64_t byte = place * all + operand_pixel_bytes(record, 2, tile->first_channel);
        uint64_t in_tile =
            dory_joins_rows(record) ? (uint64_t)column * tile->rows + row : i + (uint64_t)row * dory_output_gap(record);
        uint64_t local = (uintptr_t)tile->output + in_tile * pixel;
        put(play, local, tensor_content(play, play->step, 2, byte), pixel);
    }
}

static bool has_its_scratch(const struct dory_layer *record, const struct dory_tile *tile)
{
    uint32_t accumulators = record->l1.accumulators == DORY_NO_BUFFER ? 0 : record->l1.accumulators;
    return (uintptr_t)tile->scratch == record->l1.scratch && (uintptr_t)tile->accumulators == accumulators;
}

/* Chunks follow one another, from the first to the last input channel; of other layers there are none. */
static bool is_in_order(const struct play *play, const struct dory_prepared_tile *tile)
{
    const struct dory_layer *record = record_of(play, play->step);
    const struct dory_tile *at = &tile->tile;
    uint32_t end = play->chunk + at->input_channels;
    bool chunks = !dory_reads_all_channels(record) || record->operation == DORY_TRANSPOSITION
                      ? at->first_chunk && at->last_chunk
                      : at->input_channels > 0 && end <= record->input_channels &&
                            at->last_chunk == (end == record->input_channels) && at->first_chunk == (play->chunk == 0);
    return chunks && at->rows > 0 && at->columns > 0 && at->channels > 0 && tile->output_buffer < 2;
}

static void compute(struct play *play, const struct dory_prepared_tile *tile)
{
    const struct dory_layer *record = record_of(play, play->step);
    visit_input(play, tile, 0, false, find_input);
    if (dory_has_second_input(record))
        visit_input(play, tile, 1, false, find_input);
    find_weights(play, &tile->tile);
    if (!has_its_scratch(record, &tile->tile))
        fail(play, "has another scratch memory than its layer");
    if (tile->tile.last_chunk)
        leave_output(play, &tile->tile);
}

/* ---- copies ---- */

/* Of one run: pieces that lie together in the tensor, or in its home. */
typedef void visit_piece(struct play *play, int tensor, uint32_t local, uint64_t byte, uint32_t bytes);

static void visit_copied(struct play *play, const struct plan_step *step, unsigned operand, uint32_t least,
                         uint32_t external, uint32_t local, uint32_t bytes, visit_piece *visit)
{
    const struct dory_layer *record = record_of(play, step);
    const struct dory_window *window = operand_window(&step->record, operand);
    int tensor = operand_tensor(play, step, operand), home = tensor_home(play->plan->network, tensor);
    if (home != tensor) {
        visit(play, home, local, external - home_offset(play, tensor), bytes);
        return;
    }
    for (uint32_t done = 0, together; !play->fault && done < bytes; done += together) {
        uint64_t byte = check_window_byte(record, operand, window, external + done - window->offset, least, &together);
        together = together < bytes - done ? together : bytes - done;
        visit(play, tensor, local + done, byte, together);
    }
}

static void load_piece(struct play *play, int tensor, uint32_t local, uint64_t byte, uint32_t bytes)
{
    uint64_t all = play->plan->tensors[tensor].bytes;
    for (uint32_t i = 0; play->stored[tensor] && i < bytes && byte + i < all; i++)
        if (!play->stored[tensor][byte + i]) { /* nor need it be, behind the rows that somebody reads */
            put(play, local + i, 0, 1);
            put(play, local, home_content(tensor, byte), i);
            return;
        }
    put(play, local, home_content(tensor, byte), bytes);
}

static void load_weights(struct play *play, const struct plan_step *step, uint32_t external, uint32_t local, uint32_t bytes)
{
    const struct dory_layer *record = record_of(play, step);
    uint64_t first = (uint64_t)dory_blocks(record, step->record.first_channel) * record->block_bytes;
    put(play, local, own_content(play, step, WEIGHTS, first + external - step->record.weights_offset), bytes);
}

/* Calls for each run of a copy. */
static void load(struct play *play, const struct plan_step *step, const struct dory_prepared_tile *tile, unsigned index)
{
    const struct dory_prepared_copy *copy = &tile->loads[index];
    const struct dory_layer *record = record_of(play, step);
    unsigned operand = operand_at(play, step, copy->external);
    int64_t first = operand == 1 ? 0 : first_row_read(record, tile->tile.first_row);
    for (uint32_t i = 0; !play->fault && i < (uint32_t)copy->runs * copy->planes; i++) {
        uint32_t plane = i / copy->runs, run = i % copy->runs;
        uint32_t external = copy->external + plane * copy->external_plane_stride + run * copy->external_run_stride;
        uint32_t local = dory_prepared_local(copy) + plane * copy->local_plane_stride +
                         run * (copy->is_flat ? copy->run_bytes : copy->local_run_stride);
        if (index < tile->load_weights)
            load_weights(play, step, external, local, copy->run_bytes);
        else
            visit_copied(play, step, operand, first < 0 ? 0 : (uint32_t)first, external, local, copy->run_bytes, load_piece);
    }
}

static void load_some(struct play *play, const struct plan_step *step, const struct dory_prepared_tile *tile, unsigned first,
                      unsigned end)
{
    for (unsigned i = first; i < end; i++)
        load(play, step, tile, i);
}

static void store_piece(struct play *play, int tensor, uint32_t local, uint64_t byte, uint32_t bytes)
{
    uint8_t *stored = play->stored[tensor];
    if (byte + bytes > play->plan->tensors[tensor].bytes)
        fail(play, "stores behind its tensor");
    expect(play, local, home_content(tensor, byte), bytes, "stores other bytes than its results");
    for (uint32_t i = 0; !play->fault && !play->is_for_observer && i < bytes; i++) {
        if (stored[byte + i])
            fail(play, "stores an element a second time");
        stored[byte + i] = 1;
    }
}

/* The store in a buffer is over: what is there now may have left. */
static void await_store(struct play *play, unsigned buffer)
{
    const struct dory_prepared_tile *tile = play->pending[buffer];
    const struct dory_prepared_copy *copy = tile ? &tile->store : NULL;
    play->pending[buffer] = NULL;
    play->is_for_observer = tile && tile->stores == DORY_STORES_FOR_OBSERVER; /* else it does not happen */
    for (uint32_t i = 0; copy && !play->fault && i < (uint32_t)copy->runs * copy->planes; i++) {
        uint32_t plane = i / copy->runs, run = i % copy->runs;
        visit_copied(play, play->pending_step[buffer], 2, 0,
                     copy->external + plane * copy->external_plane_stride + run * copy->external_run_stride,
                     dory_prepared_local(copy) + plane * copy->local_plane_stride +
                         run * (copy->is_flat ? copy->run_bytes : copy->local_run_stride),
                     copy->run_bytes, store_piece);
    }
}

/* ---- the play ---- */

/* As the cores do: what comes before a tile is computed, and what is begun beside it, of the one behind. */
static void play_tile(struct play *play, const struct dory_prepared_tile *tile, bool more)
{
    const struct plan_step *step = play->step;
    bool is_late = tile->overlaps == DORY_OVERLAPS_STORE;
    play->chunk = tile->tile.first_chunk || tile == play->plan->tiles ? 0 : play->chunk + tile[-1].tile.input_channels;
    if (!is_in_order(play, tile)) {
        fail(play, "has no elements, or other input channels than those behind the tile before");
        return;
    }
    if (is_late)
        load_some(play, step, tile, 0, tile->loads_beside);
    await_store(play, tile->output_buffer);
    if (tile->awaits_stores)
        await_store(play, tile->output_buffer ^ 1);
    load_some(play, step, tile, tile->loads_beside, tile->load_count);
    /* A border also goes round rows of which only the next tile computes: it finds the border there. */
    if (tile->border != DORY_BORDER_NONE)
        visit_input(play, tile, 0, true, lay_border);
    if (tile->has_table)
        put(play, (uintptr_t)tile->tile.weights, own_content(play, step, TABLE, 0), dory_table_bytes(record_of(play, step)));
    if (more && tile[1].overlaps != DORY_OVERLAPS_STORE)
        load_some(play, step + tile->ends_step, tile + 1, 0, tile[1].loads_beside);
    compute(play, tile);
    if (tile->stores != DORY_STORES_NOTHING) {
        play->pending[tile->output_buffer] = tile;
        play->pending_step[tile->output_buffer] = step;
    }
}

static void begin(struct play *play, struct arena *arena)
{
    const struct network *network = play->plan->network;
    play->l1 = arena_array(arena, content, (size_t)play->plan->l1_peak_bytes + 1);
    play->stored = arena_array(arena, uint8_t *, (size_t)network->tensor_count);
    for (int i = 0; i < network->layer_count; i++) {
        int result = tensor_home(network, network->layers[i].output);
        play->stored[result] = arena_array(arena, uint8_t, (size_t)play->plan->tensors[result].bytes + 1);
    }
}

void check_contents(struct checker *checker)
{
    const struct plan *plan = checker->plan;
    struct arena arena = {0};
    struct play play = {.plan = plan, .step = plan->steps};
    uint32_t count = plan->tiles ? plan_tile_count(plan) : 0;
    begin(&play, &arena);
    for (uint32_t i = 0; !play.fault && i < count; i++) {
        play_tile(&play, &plan->tiles[i], i + 1 < count);
        if (play.fault)
            check_fault(checker, "placed tile %" PRIu32 ", of layer '%s': it %s", i,
                        checker_layer_name(checker, play.step->layer), play.fault);
        play.step += plan->tiles[i].ends_step;
    }
    for (unsigned buffer = 0; buffer < 2; buffer++)
        await_store(&play, buffer);
    if (count > 0 && play.fault && checker->faults == 0)
        check_fault(checker, "the last placed tile %s", play.fault);
    arena_free(&arena);
}
