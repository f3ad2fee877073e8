#include "dory/check.h"

#include <stddef.h>
#include <string.h>

#include "compare.h"
#include "line.h"
#include "times.h"

#define PIECE_BYTES 1024

/* Expected values come from flash, actual ones may come from RAM: both by way of L2, a piece at a time. */
static uint8_t expected_piece[PIECE_BYTES + HAL_L3_ALIGNMENT] DORY_L2;
static uint8_t actual_piece[PIECE_BYTES] DORY_L2;

struct checker {
    const struct dory_check *check;
    uint32_t expected_address; /* in flash, of the sample at hand */
    uint32_t sample;
    uint32_t exact, differ; /* layers */
};

/* ---- comparing ---- */

static int copy_l3(enum hal_l3_kind kind, uint32_t address, void *l2, uint32_t bytes)
{
    struct hal_l3_copy copy = {
        .kind = kind, .l3_address = address, .l2 = l2, .run_bytes = dory_round_up(bytes, HAL_L3_ALIGNMENT), .runs = 1};
    hal_l3_ticket ticket = 0;
    int status = hal_l3_start(&copy, &ticket);
    return status ? status : hal_l3_wait(ticket);
}

/* From an even address on: bytes in front of those that are wanted may come with them. */
static int fetch_expected(const struct checker *checker, uint32_t offset, uint32_t bytes, const uint8_t **expected)
{
    uint32_t address = checker->expected_address + offset, in_front = address % HAL_L3_ALIGNMENT;
    *expected = expected_piece + in_front;
    return copy_l3(HAL_FLASH_READ, address - in_front, expected_piece, in_front + bytes);
}

/* What is there of a layer's output: all of it, or some rows. */
struct view {
    const uint8_t *memory; /* null: in RAM */
    uint32_t ram_address;
    uint32_t start;       /* the byte of the tensor, counted in HWC, that lies first */
    uint32_t plane_bytes; /* of a channel, where it lies in CHW */
};

static int fetch_actual(const struct view *view, const struct dory_check_layer *layer, uint32_t first, uint32_t bytes,
                        const uint8_t **actual)
{
    *actual = actual_piece;
    if (!view->memory) {
        return copy_l3(HAL_RAM_READ, view->ram_address + first, actual_piece, bytes);
    }
    if (layer->layout == DORY_CHW) {
        dory_read_chw(view->memory, view->plane_bytes, layer->channels, first - view->start, actual_piece, bytes);
    } else {
        *actual = view->memory + (first - view->start);
    }
    return DORY_OK;
}

/* Bytes `first` to `end` - 1 of the tensor, counted in HWC. */
static int compare_bytes(const struct checker *checker, const struct dory_check_layer *layer, const struct view *view,
                         uint32_t first, uint32_t end, struct dory_comparison *comparison)
{
    const uint8_t *expected, *actual;
    for (uint32_t done = first; done < end; done += PIECE_BYTES) {
        uint32_t bytes = dory_minimum(PIECE_BYTES, end - done);
        int status = fetch_expected(checker, layer->expected_offset + done, bytes, &expected);
        if (status == DORY_OK) {
            status = fetch_actual(view, layer, done, bytes, &actual);
        }
        if (status != DORY_OK) {
            return status;
        }
        comparison_take(comparison, layer, done, expected, actual, bytes);
    }
    return DORY_OK;
}

static int compare(const struct checker *checker, const struct dory_buffers *buffers, const struct dory_check_layer *layer,
                   struct dory_comparison *comparison)
{
    const struct view view = {
        .memory = layer->in_ram ? NULL : (const uint8_t *)buffers->l2 + layer->offset,
        .ram_address = buffers->ram_address + layer->offset,
        .plane_bytes = (uint32_t)layer->height * layer->width,
    };
    return compare_bytes(checker, layer, &view, 0, comparison_bytes(layer), comparison);
}

/* The rows that a step has left in a ring: as the firmware's layer has them, for which a column may lie as a row. */
static int compare_rows(const struct checker *checker, const struct dory_buffers *buffers,
                        const struct dory_check_layer *layer, const struct dory_step *step)
{
    uint32_t row_bytes = comparison_bytes(layer) / step->layer->output_height;
    const struct view view = {
        .memory = (const uint8_t *)buffers->l2 + step->output.offset,
        .start = step->output.first_row * row_bytes,
        .plane_bytes = (uint32_t)step->output.rows * step->layer->output_width,
    };
    return compare_bytes(checker, layer, &view, step->first_row * row_bytes,
                         (uint32_t)(step->first_row + step->rows) * row_bytes, &checker->check->rings[layer->ring - 1]);
}

/* Where a value is in the firmware's layer, for which a column may lie as a row. */
struct place {
    uint32_t row, column;
};

static struct place place_in(const struct dory_layer *layer, const struct dory_check_layer *of,
                             const struct dory_comparison *at)
{
    uint32_t pixel = at->row * of->width + at->column;
    return (struct place){pixel / layer->output_width, pixel % layer->output_width};
}

/* The step, by its place in the network's table, that computed a value of the layer that runs as the nth. */
static unsigned step_of(const struct dory_check *check, unsigned layer, const struct dory_comparison *at)
{
    for (unsigned index = 0;; index++) {
        const struct dory_step *step = &check->network->steps[index];
        uint32_t row = place_in(step->layer, &check->layers[layer], at).row;
        bool in_rows = row - step->first_row < step->rows; /* unsigned */
        bool in_channels = at->channel - step->first_channel < step->channels;
        if (step->layer_number == layer && ((in_rows && in_channels) || step->last_of_layer)) {
            return index;
        }
    }
}

static void add_triple(struct line *line, uint32_t row, uint32_t column, uint32_t channel)
{
    line_add(line, "(");
    line_add_unsigned(line, row);
    line_add(line, ", ");
    line_add_unsigned(line, column);
    line_add(line, ", ");
    line_add_unsigned(line, channel);
    line_add(line, ")");
}

/* Where the first difference is, and in which tile of which step it was computed. */
static void add_place(struct line *line, const struct dory_check *check, unsigned layer, const struct dory_comparison *at)
{
    unsigned index = step_of(check, layer, at);
    const struct dory_step *step = &check->network->steps[index];
    const struct dory_layer *shape = step->layer;
    struct place place = place_in(shape, &check->layers[layer], at);
    add_triple(line, at->row, at->column, at->channel);
    line_add(line, ", tile ");
    add_triple(line, (place.row - step->first_row) / shape->tile.rows, place.column / shape->tile.columns,
               (at->channel - step->first_channel) / shape->tile.channels);
    line_add(line, " of step ");
    line_add_unsigned(line, index);
}

static uint32_t values_of(const struct dory_check_layer *layer)
{
    return (uint32_t)layer->height * layer->width * layer->channels;
}

static bool is_exact(const struct dory_check_layer *layer, const struct dory_comparison *comparison)
{
    return comparison->differing == 0 && comparison->bytes == comparison_bytes(layer);
}

static void add_result(struct line *line, const struct dory_check *check, unsigned layer,
                       const struct dory_comparison *comparison)
{
    if (comparison->differing == 0) {
        line_add(line, is_exact(&check->layers[layer], comparison) ? ": exact (" : ": not all compared (");
        line_add_unsigned(line, values_of(&check->layers[layer]));
        line_add(line, " values)");
        return;
    }
    line_add(line, ": differs at ");
    add_place(line, check, layer, comparison);
    line_add(line, ": expected ");
    line_add_signed(line, comparison->expected);
    line_add(line, ", actual ");
    line_add_signed(line, comparison->actual);
    line_add(line, "; ");
    line_add_unsigned(line, comparison->differing);
    line_add(line, " of ");
    line_add_unsigned(line, values_of(&check->layers[layer]));
    line_add(line, " values differ");
}

static int observe_turn(void *user, const struct dory_buffers *buffers, const struct dory_step *steps, unsigned count)
{
    const struct checker *checker = user;
    const struct dory_check_layer *layer = &checker->check->layers[steps->layer_number];
    int status = DORY_OK;
    for (unsigned i = 0; i < count && layer->ring && status == DORY_OK; i++) {
        status = compare_rows(checker, buffers, layer, &steps[i]);
    }
    return status;
}

static int observe(void *user, const struct dory_buffers *buffers, unsigned layer)
{
    struct checker *checker = user;
    const struct dory_check_layer *of = &checker->check->layers[layer];
    struct dory_comparison whole = {0}, *comparison = of->ring ? &checker->check->rings[of->ring - 1] : &whole;
    struct line line = {.length = 0};
    int status = of->ring ? DORY_OK : compare(checker, buffers, of, comparison);
    if (status != DORY_OK) {
        return status;
    }
    *(is_exact(of, comparison) ? &checker->exact : &checker->differ) += 1;
    line_add_layer(&line, layer, checker->check->layers[layer].name);
    add_result(&line, checker->check, layer, comparison);
    line_log(&line);
    *comparison = (struct dory_comparison){0}; /* for the next sample */
    return DORY_OK;
}

/* ---- input ---- */

static int load_input(const struct checker *checker, const struct dory_buffers *buffers, unsigned input)
{
    const struct dory_port *port = &checker->check->network->inputs[input];
    uint32_t address = checker->expected_address + checker->check->input_offsets[input];
    for (uint32_t done = 0; done < port->bytes; done += PIECE_BYTES) {
        uint32_t bytes = dory_minimum(PIECE_BYTES, port->bytes - done);
        int status = copy_l3(HAL_FLASH_READ, address + done, expected_piece, bytes);
        if (status == DORY_OK && port->in_ram) {
            status = copy_l3(HAL_RAM_WRITE, buffers->ram_address + port->offset + done, expected_piece, bytes);
        } else if (status == DORY_OK) {
            memcpy((uint8_t *)buffers->l2 + port->offset + done, expected_piece, bytes);
        }
        if (status != DORY_OK) {
            return status;
        }
    }
    return DORY_OK;
}

static int load_inputs(const struct checker *checker, const struct dory_buffers *buffers)
{
    int status = DORY_OK;
    for (unsigned input = 0; input < checker->check->network->input_count && status == DORY_OK; input++) {
        status = load_input(checker, buffers, input);
    }
    return status;
}

/* ---- runs ---- */

static int run_observed(struct checker *checker, struct dory_buffers buffers)
{
    buffers.observe = observe;
    buffers.observe_turn = observe_turn;
    buffers.user = checker;
    int status = load_inputs(checker, &buffers);
    return status ? status : dory_network_run_all(checker->check->network, &buffers, NULL, NULL);
}

static int compare_output(const struct checker *checker, const struct dory_buffers *buffers, unsigned output)
{
    const struct dory_check *check = checker->check;
    struct dory_comparison comparison = {0};
    struct line line = {.length = 0};
    unsigned layer = check->output_layers[output];
    int status = compare(checker, buffers, &check->layers[layer], &comparison);
    if (status != DORY_OK) {
        return status;
    }
    line_add(&line, "output ");
    if (check->network->output_count > 1) {
        line_add_unsigned(&line, output);
        line_add(&line, " ");
    }
    line_add(&line, "without observer");
    add_result(&line, check, layer, &comparison);
    line_log(&line);
    return is_exact(&check->layers[layer], &comparison) ? DORY_OK : DORY_ERROR_MISMATCH;
}

/* As an application runs it: nobody looks at its layers. */
static int run_alone(struct checker *checker, struct dory_buffers *buffers, uint32_t *cycles)
{
    int status = load_inputs(checker, buffers);
    uint32_t start = hal_cycles();
    if (status == DORY_OK) {
        status = dory_network_run_all(checker->check->network, buffers, NULL, NULL);
    }
    *cycles = hal_cycles() - start;
    return status;
}

/* The profile is of a run of its own, for to keep it takes time, which is no part of the run's. A check without one has
 * none. It follows a run like it, as the timed one does: the caches have then what they have in an application that runs a
 * network again and again. Behind the observed run, a network's first layers took 200 cycles more. */
static int run_freely(struct checker *checker, struct dory_buffers buffers)
{
    const struct dory_check *check = checker->check;
    bool is_timed = checker->sample == 0 && hal_cycles_available(); /* the same for every sample */
    uint32_t cycles = 0;
    int status = DORY_OK;
    if (is_timed && check->profile) {
        status = run_alone(checker, &buffers, &cycles);
        buffers.profile = check->profile;
        status = status ? status : run_alone(checker, &buffers, &cycles);
        buffers.profile = NULL;
    }
    if (status == DORY_OK) {
        status = run_alone(checker, &buffers, &cycles);
    }
    for (unsigned output = 0; output < check->network->output_count && status == DORY_OK; output++) {
        status = compare_output(checker, &buffers, output);
    }
    if (is_timed && (status == DORY_OK || status == DORY_ERROR_MISMATCH)) {
        check_log_times(check, cycles);
    }
    return status;
}

static int run_sample(struct checker *checker, const struct dory_buffers *buffers)
{
    if (checker->check->samples > 1) {
        struct line line = {.length = 0};
        line_add(&line, "sample ");
        line_add_unsigned(&line, checker->sample);
        line_add(&line, ":");
        line_log(&line);
    }
    int status = run_observed(checker, *buffers);
    return status ? status : run_freely(checker, *buffers);
}

static int run_samples(struct checker *checker, const struct dory_buffers *buffers)
{
    struct line line = {.length = 0};
    int status = dory_network_check_flash(checker->check->network, buffers);
    for (; checker->sample < checker->check->samples && status == DORY_OK; checker->sample++) {
        status = run_sample(checker, buffers);
        checker->expected_address += checker->check->sample_bytes;
    }
    check_log_stacks();
    line_add_unsigned(&line, checker->exact);
    line_add(&line, " exact, ");
    line_add_unsigned(&line, checker->differ);
    line_add(&line, " differ");
    line_log(&line);
    if (status != DORY_OK) {
        return status;
    }
    uint32_t layers = checker->check->samples * checker->check->network->layer_count; /* all were observed, and exact */
    return checker->exact > 0 && checker->exact == layers ? DORY_OK : DORY_ERROR_MISMATCH;
}

/* ---- set-up ---- */

static int reserve(const struct dory_network *network, struct dory_buffers *buffers)
{
    buffers->l1_bytes = network->l1_bytes;
    buffers->l2_bytes = network->l2_bytes;
    int status = hal_memory_reserve(HAL_L1, network->l1_bytes, &buffers->l1);
    return status ? status : hal_memory_reserve(HAL_L2, network->l2_bytes, &buffers->l2);
}

static int open_l3(const struct dory_network *network)
{
    uint32_t ram_bytes = 0;
    int status = hal_l3_open(NULL, &ram_bytes);
    if (status == DORY_OK && ram_bytes < network->ram_bytes) {
        hal_l3_close();
        status = DORY_ERROR_MEMORY;
    }
    return status;
}

static int run_opened(struct checker *checker, struct dory_buffers *buffers)
{
    const struct dory_check *check = checker->check;
    int status = hal_cluster_open(dory_minimum(check->network->cores, hal_cluster_maximum_cores()));
    if (status != DORY_OK) {
        return status;
    }
    buffers->flash_address = hal_flash_address(check->weights);
    checker->expected_address = hal_flash_address(check->expected);
    status = reserve(check->network, buffers);
    if (status == DORY_OK) {
        status = dory_network_load(check->network, buffers);
    }
    if (status == DORY_OK) {
        status = run_samples(checker, buffers);
    }
    int closed = hal_cluster_close();
    return status ? status : closed;
}

int dory_check_run(const struct dory_check *check)
{
    struct checker checker = {.check = check};
    struct dory_buffers buffers = {.l1 = NULL};
    int status = open_l3(check->network);
    if (status == DORY_OK) {
        status = run_opened(&checker, &buffers);
        int closed = hal_l3_close();
        status = status ? status : closed;
    }
    if (status != DORY_OK) {
        struct line line = {.length = 0};
        line_add(&line, "dory: ");
        line_add(&line, dory_strerror(status));
        line_log(&line);
    }
    return status;
}
