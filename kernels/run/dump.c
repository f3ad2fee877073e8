#include "dory/dump.h"

#include <stddef.h>

/* What passes from RAM to the log. Only one core writes at a time. */
static uint8_t piece[DORY_DUMP_LINE_BYTES] DORY_L2;

struct dumper {
    const struct dory_dump *dump;
    const struct dory_buffers *buffers; /* the caller's */
};

/* ---- lines; without printf, whose code is larger than most networks' own --------------------------------------- */

struct dump_line {
    char text[128]; /* 32 bytes are 64 digits; only a long name is cut off */
    uint32_t length;
};

#define START      "@dory "
#define END_LENGTH 8 /* " *1234\n" and the zero */

static void add_character(struct dump_line *line, char character)
{
    if (line->length < sizeof line->text - END_LENGTH) {
        line->text[line->length++] = character;
    }
}

static void add_text(struct dump_line *line, const char *text)
{
    while (*text) {
        add_character(line, *text++);
    }
}

static void add_hexadecimal(struct dump_line *line, uint32_t value, unsigned least_digits)
{
    for (unsigned digit = 8; digit-- > 0;) {
        if (digit < least_digits || value >> (4 * digit) != 0) {
            add_character(line, "0123456789abcdef"[value >> (4 * digit) & 15]);
        }
    }
}

static void add_decimal(struct dump_line *line, int32_t value)
{
    uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value, power = 1;
    if (value < 0) {
        add_character(line, '-');
    }
    while (rest / power >= 10) {
        power *= 10;
    }
    for (; power > 0; power /= 10) {
        add_character(line, (char)('0' + rest / power % 10));
    }
}

static uint32_t checksum(const char *text, uint32_t length)
{
    uint32_t sum = 0xFFFF;
    for (uint32_t i = 0; i < length; i++) {
        sum ^= (uint32_t)(uint8_t)text[i] << 8;
        for (int bit = 0; bit < 8; bit++) {
            sum = (sum << 1 ^ (sum & 0x8000 ? 0x1021u : 0u)) & 0xFFFF;
        }
    }
    return sum;
}

static void start(struct dump_line *line, const char *what)
{
    line->length = 0;
    add_text(line, START);
    add_text(line, what);
}

/* One call of hal_log a line: another core's text cannot come into it where the HAL keeps calls apart. */
static void finish(struct dump_line *line)
{
    uint32_t prefix = sizeof START - 1, sum = checksum(line->text + prefix, line->length - prefix);
    char *end = line->text + line->length;
    *end++ = ' ';
    *end++ = '*';
    for (int shift = 12; shift >= 0; shift -= 4) {
        *end++ = "0123456789abcdef"[sum >> shift & 15];
    }
    *end++ = '\n';
    *end = 0;
    hal_log(line->text);
}

/* ---- tensors --------------------------------------------------------------------------------------------------- */

static void write_piece(const char *what, unsigned number, uint32_t offset, const uint8_t *bytes, uint32_t count)
{
    struct dump_line line;
    start(&line, what);
    add_decimal(&line, (int32_t)number);
    add_character(&line, ' ');
    add_hexadecimal(&line, offset, 1);
    add_character(&line, ' ');
    for (uint32_t i = 0; i < count; i++) {
        add_hexadecimal(&line, bytes[i], 2);
    }
    finish(&line);
}

static int fetch(uint32_t ram_address, uint32_t bytes)
{
    struct hal_l3_copy copy = {.kind = HAL_RAM_READ,
                               .l3_address = ram_address,
                               .l2 = piece,
                               .run_bytes = dory_round_up(bytes, HAL_L3_ALIGNMENT),
                               .runs = 1};
    hal_l3_ticket ticket = 0;
    int status = hal_l3_start(&copy, &ticket);
    return status ? status : hal_l3_wait(ticket);
}

/* `memory` is null for a tensor in RAM. */
static int write_tensor(const char *what, unsigned number, const uint8_t *memory, uint32_t ram_address, uint32_t bytes)
{
    for (uint32_t done = 0; done < bytes; done += DORY_DUMP_LINE_BYTES) {
        uint32_t count = dory_minimum(DORY_DUMP_LINE_BYTES, bytes - done);
        int status = memory ? DORY_OK : fetch(ram_address + done, count);
        if (status != DORY_OK) {
            return status;
        }
        write_piece(what, number, done, memory ? memory + done : piece, count);
    }
    return DORY_OK;
}

static int write_input(const struct dumper *dumper, unsigned number, const void *given)
{
    const struct dory_port *port = &dumper->dump->network->inputs[number];
    const uint8_t *in_l2 = (const uint8_t *)dumper->buffers->l2 + port->offset;
    const uint8_t *memory = given ? given : port->in_ram ? NULL : in_l2;
    return write_tensor("in", number, memory, dumper->buffers->ram_address + port->offset, port->bytes);
}

/* What is there of a tensor in L2: rows, or all of it. */
struct view {
    const uint8_t *memory;
    uint32_t start;               /* the byte of the tensor, counted in HWC, that lies first */
    uint32_t planes, plane_bytes; /* where it lies in CHW; else 0 */
};

static void write_view(unsigned number, const struct view *view, uint32_t first, uint32_t end)
{
    for (uint32_t done = first; done < end; done += DORY_DUMP_LINE_BYTES) {
        uint32_t count = dory_minimum(DORY_DUMP_LINE_BYTES, end - done);
        if (view->planes) {
            dory_read_chw(view->memory, view->plane_bytes, view->planes, done - view->start, piece, count);
        }
        write_piece("L", number, done, view->planes ? piece : view->memory + (done - view->start), count);
    }
}

static int write_whole(const struct dory_dump_layer *place, const struct dory_buffers *buffers)
{
    const struct view view = {.memory = (const uint8_t *)buffers->l2 + place->offset,
                              .planes = place->planes,
                              .plane_bytes = place->planes ? place->bytes / place->planes : 0};
    if (place->in_ram) {
        return write_tensor("L", place->number, NULL, buffers->ram_address + place->offset, place->bytes);
    }
    write_view(place->number, &view, 0, place->bytes);
    return DORY_OK;
}

/* On the driver's side, all cores waiting; so is the next one. */
static int write_layer(void *user, const struct dory_buffers *buffers, unsigned layer)
{
    const struct dumper *dumper = user;
    const struct dory_dump_layer *place = &dumper->dump->layers[layer];
    int status = place->is_ring ? DORY_OK : write_whole(place, buffers);
    if (status == DORY_OK && dumper->buffers->observe) {
        status = dumper->buffers->observe(dumper->buffers->user, buffers, layer);
    }
    return status;
}

/* The rows that a step has left in a ring. */
static void write_rows(const struct dory_dump_layer *place, const struct dory_buffers *buffers, const struct dory_step *step)
{
    uint32_t row_bytes = place->bytes / step->layer->output_height;
    const struct view view = {.memory = (const uint8_t *)buffers->l2 + step->output.offset,
                              .start = step->output.first_row * row_bytes,
                              .planes = place->planes,
                              .plane_bytes = (uint32_t)step->output.rows * step->layer->output_width};
    write_view(place->number, &view, step->first_row * row_bytes, (uint32_t)(step->first_row + step->rows) * row_bytes);
}

static int write_turn(void *user, const struct dory_buffers *buffers, const struct dory_step *steps, unsigned count)
{
    const struct dumper *dumper = user;
    const struct dory_dump_layer *place = &dumper->dump->layers[steps->layer_number];
    for (unsigned i = 0; i < count && place->is_ring; i++) {
        write_rows(place, buffers, &steps[i]);
    }
    if (!dumper->buffers->observe_turn) {
        return DORY_OK;
    }
    return dumper->buffers->observe_turn(dumper->buffers->user, buffers, steps, count);
}

/* ---- a run ----------------------------------------------------------------------------------------------------- */

static void write_start(const struct dory_dump *dump)
{
    struct dump_line line;
    int32_t tensors = dump->network->input_count;
    for (unsigned layer = 0; layer < dump->network->layer_count; layer++) {
        tensors += dump->layers[layer].bytes != 0;
    }
    start(&line, "run ");
    add_hexadecimal(&line, dump->model_hash, 8);
    add_character(&line, ' ');
    add_decimal(&line, tensors);
    add_character(&line, ' ');
    add_text(&line, dump->name);
    finish(&line);
}

static void write_end(int status)
{
    struct dump_line line;
    start(&line, "end ");
    add_decimal(&line, status);
    finish(&line);
}

static int write_inputs(const struct dumper *dumper, const void *const *inputs)
{
    int status = DORY_OK;
    for (unsigned i = 0; i < dumper->dump->network->input_count && status == DORY_OK; i++) {
        status = write_input(dumper, i, inputs ? inputs[i] : NULL);
    }
    return status;
}

int dory_dump_run(const struct dory_dump *dump, const struct dory_buffers *buffers, const void *const *inputs,
                  void *const *outputs)
{
    struct dumper dumper = {.dump = dump, .buffers = buffers};
    if (!dump || !buffers || !buffers->l2) {
        return DORY_ERROR_ARGUMENT;
    }
    struct dory_buffers observed = *buffers;
    observed.observe = write_layer;
    observed.observe_turn = write_turn;
    observed.user = &dumper;
    write_start(dump);
    int status = write_inputs(&dumper, inputs);
    if (status == DORY_OK) {
        status = dory_network_run_all(dump->network, &observed, inputs, outputs);
    }
    write_end(status);
    return status;
}
