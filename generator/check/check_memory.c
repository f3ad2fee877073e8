/* Plays a plan's steps and transfers byte by byte.
 *
 * Every byte of L2 and RAM has a content: byte n of tensor t, or byte n of a layer's weights, or nothing. A step finds in
 * its windows what it needs, or the plan is wrong. What is under way is modelled by the promises of dory/network.h and
 * nothing else: a transfer may happen at any time from its start until it is awaited; the loads of a step, until the next
 * step computes; its stores, until a later step drains. */
#include "check/checker.h"

#include <stdlib.h>
#include <string.h>

#include "dory/hal.h"
#include "plan/operand.h"

typedef uint64_t content; /* object << 32 | byte in it; 0: nothing */

#define OBJECT_SHIFT 32

struct byte_state {
    content content;
    uint32_t arriving; /* transfer + 1 that writes it */
    uint32_t leaving;  /* transfer + 1 that reads it */
    uint32_t stored;   /* step + 1 that last wrote it */
    uint32_t loaded;   /* step + 1 that last read it */
};

struct memory {
    struct checker *checker;
    const struct plan *plan;
    struct byte_state *l2;
    content *ram;
    uint8_t **computed;        /* by tensor: a byte each, whether a step has computed it */
    uint32_t queued, complete; /* transfers */
    uint32_t drained;          /* stores of steps before this one are in L2 */
    int step;                  /* playing now, for messages; the number of steps: behind the last */
    bool overwrites;           /* its output may lie over its input; told once, since all rows are looked at */
};

static content tensor_content(int tensor, uint64_t byte) { return ((uint64_t)tensor + 1) << OBJECT_SHIFT | byte; }

static content weights_content(const struct memory *memory, int layer, uint64_t byte)
{
    return ((uint64_t)memory->plan->network->tensor_count + (uint64_t)layer + 1) << OBJECT_SHIFT | byte;
}

/* A byte of the owner's, but of its constants: what check_layer.c has seen. */
static content shared_content(const struct memory *memory, int layer, uint64_t byte)
{
    const struct plan_layer *planned = &memory->plan->layers[layer];
    uint32_t block = planned->record.block_bytes;
    bool is_owners = planned->shares_weights && byte % block < block - plan_constants_bytes(planned);
    return weights_content(memory, is_owners ? planned->owner : layer, byte);
}

/* ---- rectangles of a tensor ---- */

/* Rows and channels of a tensor, all columns, and the window of L2 that holds them. */
struct region {
    uint32_t first_row, rows, first_byte, bytes; /* bytes: of a pixel, by its channels */
    uint32_t width, height, pixel_bytes;         /* of the tensor */
    bool is_chw;
    const struct dory_window *window;
    uint32_t window_first_byte, window_pixel_bytes;
    int tensor; /* in whose memory it is, and where there, which is elsewhere if it is a view */
    const struct tensor *own;
    uint32_t row_pitch, pixel_pitch; /* in the window */
};

typedef void visit_run(struct memory *memory, const struct region *region, uint32_t l2, content expected, uint32_t bytes);

/* Where a row of the tensor is in the window: in a ring, as dory/network.h defines it. */
static uint32_t row_in_window(const struct region *region, uint32_t row)
{
    return (row - region->window->first_row) % region->window->rows;
}

/* Byte of the home's, or of the tensor itself in CHW, of the first pixel of a row. */
static uint64_t byte_of_plane(const struct region *region, uint32_t row, uint32_t channel)
{
    uint64_t pixel = (uint64_t)row * region->width;
    return region->own->view ? check_home_byte(region->own, pixel * region->pixel_bytes + channel)
                             : (uint64_t)channel * region->height * region->width + pixel;
}

/* Of a tensor in CHW, whose channels have a byte: one run a row of a channel. */
static void visit_planes(struct memory *memory, const struct region *region, visit_run *visit)
{
    const struct dory_window *window = region->window;
    for (uint32_t channel = region->first_byte; channel < region->first_byte + region->bytes; channel++)
        for (uint32_t row = region->first_row; row < region->first_row + region->rows; row++) {
            uint32_t l2_row = (channel - window->first_channel) * window->rows + row_in_window(region, row);
            visit(memory, region, window->offset + l2_row * region->width,
                  tensor_content(region->tensor, byte_of_plane(region, row, channel)), region->width);
        }
}

/* Visits the region's bytes in runs that are contiguous in the tensor and in the window. */
static void visit_region(struct memory *memory, const struct region *region, visit_run *visit)
{
    if (region->is_chw) {
        visit_planes(memory, region, visit);
        return;
    }
    bool whole = region->bytes == region->pixel_bytes && region->bytes == region->pixel_pitch && !region->own->view;
    uint32_t run = whole ? region->bytes * region->width : region->bytes, runs = whole ? 1 : region->width;
    for (uint32_t row = region->first_row; row < region->first_row + region->rows; row++)
        for (uint32_t column = 0; column < runs; column++) {
            uint64_t pixel = (uint64_t)row * region->width + column;
            uint64_t l2 = region->window->offset + (uint64_t)row_in_window(region, row) * region->row_pitch +
                          (uint64_t)column * region->pixel_pitch + region->first_byte - region->window_first_byte;
            uint64_t byte = check_home_byte(region->own, pixel * region->pixel_bytes + region->first_byte);
            visit(memory, region, (uint32_t)l2, tensor_content(region->tensor, byte), run);
        }
}

/* True where the window holds the region. A ring may hold rows behind its end, too, in place of those in front of the
 * region: then it goes round. */
static bool is_inside(const struct memory *memory, const struct region *region, bool may_go_round)
{
    const struct dory_window *window = region->window;
    bool ring = may_go_round && memory->plan->tensors[region->tensor].level == IN_RING;
    uint32_t end = window->first_row + window->rows, region_end = region->first_row + region->rows;
    bool rows = ring ? region->first_row < end && region->rows <= window->rows : region_end <= end;
    return rows && region->first_row >= window->first_row && region->first_byte >= region->window_first_byte &&
           region->first_byte + region->bytes <= region->window_first_byte + region->window_pixel_bytes;
}

static void fault(struct memory *memory, const char *what, uint32_t l2)
{
    const struct plan *plan = memory->plan;
    bool inside = memory->step < plan->step_count;
    check_fault(memory->checker, "step %d of layer '%s': %s, at byte %u of L2", memory->step,
                inside ? plan->network->layers[plan->steps[memory->step].layer].name : "(end)", what, l2);
}

/* ---- what steps do ---- */

static void read_bytes(struct memory *memory, uint32_t l2, content expected, uint32_t bytes, const char *what)
{
    uint32_t loaded = (uint32_t)memory->step + 1, complete = memory->complete, drained = memory->drained;
    for (uint32_t i = 0; i < bytes; i++) {
        struct byte_state *byte = &memory->l2[l2 + i];
        byte->loaded = loaded;
        if (byte->content == expected + i && byte->arriving <= complete && byte->stored <= drained)
            continue;
        fault(memory,
              byte->content != expected + i ? what
              : byte->arriving > complete   ? "reads what a transfer that is not awaited brings"
                                            : "reads results whose stores were not drained",
              l2 + i);
        return;
    }
}

static void read_run(struct memory *memory, const struct region *region, uint32_t l2, content expected, uint32_t bytes)
{
    (void)region;
    read_bytes(memory, l2, expected, bytes, "its input is not in L2");
}

/* Inputs may be lost whose rows are in time in front of it: check_steps.c has seen whose buffers share bytes. */
static bool may_overwrite(const struct plan *plan, const struct plan_step *step)
{
    return check_may_extend(plan, step) || check_may_overwrite(plan, step, 0) ||
           (dory_has_second_input(&plan->layers[step->layer].record) && check_may_overwrite(plan, step, 1));
}

static void write_run(struct memory *memory, const struct region *region, uint32_t l2, content expected, uint32_t bytes)
{
    uint8_t *computed = memory->computed[region->tensor] + (uint32_t)expected;
    for (uint32_t i = 0; i < bytes; i++) {
        struct byte_state *byte = &memory->l2[l2 + i];
        const char *what = computed[i]                         ? "computes an element a second time"
                           : byte->arriving > memory->complete ? "writes where a transfer writes"
                           : byte->leaving > memory->complete  ? "overwrites what a transfer still reads"
                           : byte->loaded == (uint32_t)memory->step + 1 && !memory->overwrites ? "overwrites its own input"
                                                                                               : NULL;
        if (what) {
            fault(memory, what, l2 + i);
            return;
        }
        computed[i] = 1;
        byte->content = expected + i;
        byte->stored = (uint32_t)memory->step + 1;
    }
}

/* The input rows that some output rows read, by the definition of a convolution. */
static void rows_read(const struct dory_layer *record, const struct dory_step *step, uint32_t *first, uint32_t *count)
{
    int64_t least = INT64_MAX, most = -1, divisor = record->row_divisor ? record->row_divisor : 1;
    for (uint32_t y = step->first_row; y < (uint32_t)step->first_row + step->rows; y++)
        for (uint32_t k = 0; k < record->kernel_height; k++) {
            int64_t row =
                (int64_t)y * record->stride_height / divisor + (int64_t)k * record->dilation_height - record->padding_top;
            if (row < 0 || row >= record->input_height)
                continue;
            least = row < least ? row : least;
            most = row > most ? row : most;
        }
    *first = most < 0 ? 0 : (uint32_t)least;
    *count = most < 0 ? 0 : (uint32_t)(most - least + 1);
}

/* Operands of a matrix product may be parts of larger pixels, behind one another in each of them. */
static void set_pitches(struct region *region, const struct dory_layer *record, unsigned operand)
{
    const uint32_t pitches[] = {record->pixel_bytes, record->second_pixel_bytes, record->matrix_product.pixel_bytes};
    bool is_part = record->operation == DORY_MATRIX_PRODUCT && pitches[operand] > region->pixel_bytes;
    region->pixel_pitch = is_part ? pitches[operand] : region->window_pixel_bytes;
    region->row_pitch = is_part ? region->pixel_bytes : region->width * region->pixel_pitch;
}

/* All channels of some rows of an operand, or those of the step. */
static struct region region_of(const struct memory *memory, const struct plan_step *step, unsigned operand, bool all)
{
    const struct dory_layer *record = &memory->plan->layers[step->layer].record;
    const struct dory_window *window = operand_window(&step->record, operand);
    uint32_t channels = operand_channels(record, operand);
    int tensor = layer_operand(&memory->plan->network->layers[step->layer], (int)operand);
    struct region region = {
        .first_byte = all ? 0 : operand_pixel_bytes(record, operand, step->record.first_channel),
        .bytes = operand_pixel_bytes(record, operand, all ? channels : step->record.channels),
        .width = operand_width(record, operand),
        .height = operand_height(record, operand),
        .is_chw = (operand == 2 ? record->output_layout : record->input_layout) == DORY_CHW,
        .pixel_bytes = operand_pixel_bytes(record, operand, channels),
        .window = window,
        .window_first_byte = operand_pixel_bytes(record, operand, window->first_channel),
        .window_pixel_bytes = operand_pixel_bytes(record, operand, window->channels),
        .tensor = tensor_home(memory->plan->network, tensor),
        .own = &memory->plan->network->tensors[tensor],
    };
    set_pitches(&region, record, operand);
    return region;
}

static void read_input(struct memory *memory, const struct plan_step *step, unsigned operand)
{
    const struct dory_layer *record = &memory->plan->layers[step->layer].record;
    struct region region = region_of(memory, step, operand, operand_has_all_channels(record, operand));
    if (operand_is_pixel(record, operand))
        region.rows = 1;
    else
        rows_read(record, &step->record, &region.first_row, &region.rows);
    if (operand == 1 && record->operation == DORY_MATRIX_PRODUCT &&
        record->matrix_product.sharing_rows) { /* of one such, as check_shape saw */
        region.first_row /= record->matrix_product.sharing_rows;
        region.rows = 1;
    }
    if (region.rows > 0 && !is_inside(memory, &region, !dory_has_second_input(record)))
        fault(memory, "its input window does not hold all rows and channels that it reads", region.window->offset);
    else
        visit_region(memory, &region, read_run);
}

static void read_weights(struct memory *memory, const struct plan_step *step)
{
    const struct plan_layer *layer = &memory->plan->layers[step->layer];
    if (layer->weights_bytes == 0)
        return;
    if (memory->plan->weights_are_linked) /* check_step has seen where */
        return;
    uint32_t bytes = dory_blocks(&layer->record, step->record.channels) * layer->record.block_bytes;
    uint64_t first = (uint64_t)dory_blocks(&layer->record, step->record.first_channel) * layer->record.block_bytes;
    uint32_t block = layer->record.block_bytes, constants = layer->shares_weights ? plan_constants_bytes(layer) : 0;
    uint32_t run = layer->shares_weights ? block - constants : bytes;
    for (uint32_t byte = 0, next; byte < bytes; byte += next) { /* weights and constants in turn */
        next = byte % block >= block - constants ? constants : run;
        read_bytes(memory, step->record.weights_offset + byte, shared_content(memory, step->layer, first + byte), next,
                   "its weights are not in L2");
    }
}

static void write_output(struct memory *memory, const struct plan_step *step)
{
    struct region region = region_of(memory, step, 2, false);
    region.first_row = step->record.first_row;
    region.rows = step->record.rows;
    if (!is_inside(memory, &region, false))
        fault(memory, "its output window does not hold what it computes", region.window->offset);
    else
        visit_region(memory, &region, write_run);
}

/* ---- what transfers do ---- */

/* The layer whose weights have this byte of the flash; -1: none. */
static int weights_at(const struct memory *memory, uint32_t address)
{
    for (int i = 0; i < memory->plan->network->layer_count; i++) {
        const struct plan_layer *layer = &memory->plan->layers[i];
        if (address >= layer->weights_address && address - layer->weights_address < layer->weights_bytes)
            return i;
    }
    return -1;
}

/* A byte of the constants that come to an owner's blob; 0: it is none. */
static content constants_content(const struct memory *memory, uint32_t address)
{
    for (int i = 0; i < memory->plan->network->layer_count; i++) {
        const struct plan_layer *layer = &memory->plan->layers[i];
        uint32_t bytes = plan_all_constants_bytes(layer), at = address - layer->constants_address;
        if (bytes == 0 || plan_has_own_blob(memory->plan, i) || at >= bytes)
            continue;
        uint32_t of_block = plan_constants_bytes(layer), block = layer->record.block_bytes;
        return weights_content(memory, i, (uint64_t)(at / of_block + 1) * block - of_block + at % of_block);
    }
    return 0;
}

/* The content of a byte of the flash, 0 between the weights of two layers; `from`: of the one in front of it, which is
 * mostly in the same blob. */
static content flash_content(const struct memory *memory, uint32_t address, content from)
{
    int tensors = memory->plan->network->tensor_count, layer = from ? (int)(from >> OBJECT_SHIFT) - tensors - 1 : -1;
    const struct plan_layer *blob = layer < 0 ? NULL : &memory->plan->layers[layer];
    if (!blob || address < blob->weights_address || address - blob->weights_address >= blob->weights_bytes)
        layer = weights_at(memory, address);
    return layer < 0 ? constants_content(memory, address)
                     : weights_content(memory, layer, address - memory->plan->layers[layer].weights_address);
}

static void arrive(struct memory *memory, const struct dory_transfer *transfer, uint32_t index, uint32_t run,
                   bool step_computes)
{
    uint32_t l2 = transfer->l2_offset + run * transfer->l2_stride, l3 = transfer->l3_address + run * transfer->l3_stride;
    uint32_t drained = memory->drained, computing = step_computes ? (uint32_t)memory->step + 1 : 0;
    const content *from_ram = transfer->kind == HAL_RAM_READ ? memory->ram + l3 : NULL;
    content flash = 0;
    for (uint32_t i = 0; i < transfer->run_bytes; i++) {
        struct byte_state *byte = &memory->l2[l2 + i];
        bool is_read = computing && byte->loaded == computing;
        if (is_read || byte->stored > drained) {
            fault(memory,
                  is_read ? "a transfer overwrites what the step reads"
                          : "a transfer overwrites results that are not drained",
                  l2 + i);
            return;
        }
        if (!from_ram)
            flash = flash_content(memory, l3 + i, flash);
        byte->content = from_ram ? from_ram[i] : flash;
        byte->arriving = index + 1;
    }
}

static void leave(struct memory *memory, const struct dory_transfer *transfer, uint32_t index, uint32_t run)
{
    uint32_t l2 = transfer->l2_offset + run * transfer->l2_stride, l3 = transfer->l3_address + run * transfer->l3_stride;
    for (uint32_t i = 0; i < transfer->run_bytes; i++) {
        struct byte_state *byte = &memory->l2[l2 + i];
        if (byte->stored > memory->drained) {
            fault(memory, "a transfer saves results that are not drained", l2 + i);
            return;
        }
        memory->ram[l3 + i] = byte->content;
        byte->leaving = index + 1;
    }
}

static void start_transfers(struct memory *memory, uint32_t end, bool step_computes)
{
    for (; memory->queued < end; memory->queued++) {
        const struct dory_transfer *transfer = &memory->plan->transfers[memory->queued].record;
        for (uint32_t run = 0; run < transfer->runs; run++) {
            if (transfer->kind == HAL_RAM_WRITE)
                leave(memory, transfer, memory->queued, run);
            else
                arrive(memory, transfer, memory->queued, run, step_computes);
        }
    }
}

/* ---- the play ---- */

static void play_step(struct memory *memory, int index)
{
    const struct plan_step *step = &memory->plan->steps[index];
    memory->step = index;
    memory->overwrites = may_overwrite(memory->plan, &memory->plan->steps[index]);
    if (step->record.drain)
        memory->drained = (uint32_t)index;
    if (step->record.transfers_awaited > memory->queued) {
        if (!step->record.drain)
            fault(memory, "awaits a transfer that no step before has started, and does not drain", 0);
        start_transfers(memory, step->record.transfers_awaited, false);
    }
    if (step->record.transfers_awaited > memory->complete)
        memory->complete = step->record.transfers_awaited;
    read_input(memory, step, 0);
    if (dory_has_second_input(&memory->plan->layers[step->layer].record))
        read_input(memory, step, 1);
    read_weights(memory, step);
    start_transfers(memory, step->record.transfers_started, true);
    write_output(memory, step);
}

static void check_computed(struct memory *memory)
{
    const struct network *network = memory->plan->network;
    for (int i = 0; i < network->layer_count; i++) {
        int tensor = tensor_home(network, network->layers[i].output);
        const void *hole = memchr(memory->computed[tensor], 0, memory->plan->tensors[tensor].bytes);
        if (hole)
            check_fault(memory->checker, "layer '%s': byte %td of its output is never computed", network->layers[i].name,
                        (const uint8_t *)hole - memory->computed[tensor]);
    }
}

/* Of a whole tensor, where the plan says that it is. */
static content *byte_of(struct memory *memory, const struct plan_tensor *tensor, uint32_t index)
{
    return tensor->level == IN_RAM ? &memory->ram[tensor->ram_offset + index]
                                   : &memory->l2[memory->plan->buffers[tensor->buffer].offset + index].content;
}

/* The caller finds an output of the network where the plan says. */
static void check_output(struct memory *memory, int tensor)
{
    const struct plan *plan = memory->plan;
    const struct plan_tensor *planned = &plan->tensors[tensor];
    for (uint32_t i = 0; i < planned->bytes; i++) {
        if (*byte_of(memory, planned, i) != tensor_content(tensor, i)) {
            check_fault(memory->checker, "byte %u of the network's output '%s' is not there at the end", i,
                        plan->network->tensors[tensor].name);
            return;
        }
    }
}

static void bring_input(struct memory *memory, int tensor)
{
    const struct plan_tensor *planned = &memory->plan->tensors[tensor];
    for (uint32_t i = 0; i < planned->bytes; i++)
        *byte_of(memory, planned, i) = tensor_content(tensor, i);
}

/* What dory_network_load brings, once for all runs: the start of the image. */
static void load_resident(struct memory *memory)
{
    for (uint32_t i = 0; i < memory->plan->resident_bytes; i++)
        memory->l2[memory->plan->resident_offset + i].content = flash_content(memory, FLASH_HEADER_BYTES + i, 0);
}

/* They are still there at the end, for the next run. */
static void check_resident(struct memory *memory)
{
    const struct plan *plan = memory->plan;
    for (uint32_t i = 0; i < plan->resident_bytes; i++) {
        content expected = flash_content(memory, FLASH_HEADER_BYTES + i, 0);
        if (expected && memory->l2[plan->resident_offset + i].content != expected) {
            fault(memory, "the run overwrites weights that are to stay", plan->resident_offset + i);
            return;
        }
    }
}

void check_memory(struct checker *checker)
{
    const struct plan *plan = checker->plan;
    struct arena arena = {0};
    struct memory memory = {.checker = checker, .plan = plan};
    memory.l2 = arena_array(&arena, struct byte_state, (size_t)plan->l2_peak_bytes + 1);
    memory.ram = arena_array(&arena, content, (size_t)plan->ram_bytes + 1);
    memory.computed = arena_array(&arena, uint8_t *, (size_t)plan->network->tensor_count);
    for (int i = 0; i < plan->network->tensor_count; i++)
        memory.computed[i] = arena_array(&arena, uint8_t, plan->tensors[i].bytes);
    for (int i = 0; i < plan->network->input_count; i++)
        bring_input(&memory, plan->network->inputs[i]);
    load_resident(&memory);
    for (int i = 0; i < plan->step_count; i++)
        play_step(&memory, i);
    memory.step = plan->step_count;
    memory.drained = (uint32_t)plan->step_count;
    start_transfers(&memory, (uint32_t)plan->transfer_count, false);
    check_computed(&memory);
    check_resident(&memory);
    for (int i = 0; i < plan->network->output_count; i++)
        check_output(&memory, plan->network->outputs[i]);
    arena_free(&arena);
}
