#include "dory/run.h"

#include <string.h>

#include "phases.h"

/* Of the flash, while the one before is looked at: less would cost more starts, more would gain nothing. */
#define FLASH_PIECE_BYTES 16384u

void dory_run_entry(void *driver)
{
    struct dory_driver *of_run = driver;
    of_run->run.network->run(of_run);
}

static bool is_aligned(const void *pointer) { return (uintptr_t)pointer % DORY_ALIGNMENT == 0; }

int dory_run_check(const struct dory_network *network, const struct dory_buffers *buffers)
{
    if (!network || !buffers || !buffers->l1 || !buffers->l2) {
        return DORY_ERROR_ARGUMENT;
    }
    if (hal_cluster_is_busy()) { /* perhaps with these very buffers */
        return DORY_ERROR_BUSY;
    }
    if (!network->weights && buffers->flash_address == HAL_NOT_IN_FLASH) { /* hal_flash_address of something else */
        return DORY_ERROR_FLASH_IMAGE;
    }
    if (!is_aligned(buffers->l1) || !is_aligned(buffers->l2)) {
        return DORY_ERROR_ALIGNMENT;
    }
    if (buffers->l1_bytes < network->l1_bytes) {
        return DORY_ERROR_L1_TOO_SMALL;
    }
    return buffers->l2_bytes < network->l2_bytes ? DORY_ERROR_L2_TOO_SMALL : DORY_OK;
}

/* FC. One transfer, waited for. */
static int copy_l3(enum hal_l3_kind kind, uint32_t address, void *memory, uint32_t bytes)
{
    struct hal_l3_copy copy = {.kind = kind, .l3_address = address, .l2 = memory, .run_bytes = bytes, .runs = 1};
    hal_l3_ticket ticket;
    int status = hal_l3_start(&copy, &ticket);
    return status ? status : hal_l3_wait(ticket);
}

/* Bytes at the start of the arena that are free before and after a run. */
static uint32_t free_bytes(const struct dory_network *network, const struct dory_buffers *buffers)
{
    return network->resident_bytes ? network->resident_offset : (uint32_t)buffers->l2_bytes;
}

/* The two may overlap. Word by word, and four words a turn, where both are aligned and going on does not overwrite what is
 * still to be read: small C libraries move bytes. */
static void move_bytes(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uintptr_t ahead = (uintptr_t)to - (uintptr_t)from; /* far, if `to` comes first */
    uint32_t moved = 0;
    if (((uintptr_t)to | (uintptr_t)from) % sizeof(uint32_t) == 0 && ahead >= bytes) {
        uint32_t *words = (uint32_t *)(void *)to;
        const uint32_t *source = (const uint32_t *)(const void *)from;
        for (; bytes - moved >= 4 * sizeof *words; moved += 4 * sizeof *words, words += 4, source += 4) {
            uint32_t a = source[0], b = source[1], c = source[2], d = source[3];
            words[0] = a, words[1] = b, words[2] = c, words[3] = d;
        }
    }
    memmove(to + moved, from + moved, bytes - moved);
}

/* Between the caller's buffer and RAM, piece by piece through what is free of the arena: so the caller's buffer may lie
 * anywhere and need not be aligned. */
static int copy_ram(const struct dory_network *network, const struct dory_buffers *buffers, enum hal_l3_kind kind,
                    const struct dory_port *port, uint8_t *memory)
{
    uint32_t piece = free_bytes(network, buffers) / HAL_L3_ALIGNMENT * HAL_L3_ALIGNMENT, bytes = port->bytes;
    for (uint32_t done = 0; done < bytes; done += piece) {
        uint32_t now = dory_minimum(piece, bytes - done);
        if (kind == HAL_RAM_WRITE) {
            move_bytes(buffers->l2, memory + done, now);
        }
        uint32_t address = buffers->ram_address + port->offset + done;
        int status = copy_l3(kind, address, buffers->l2, dory_round_up(now, HAL_L3_ALIGNMENT));
        if (status != DORY_OK) {
            return status;
        }
        if (kind == HAL_RAM_READ) {
            move_bytes(memory + done, buffers->l2, now);
        }
    }
    return DORY_OK;
}

static int bring_input(const struct dory_network *network, const struct dory_port *port, const struct dory_buffers *buffers,
                       const void *input)
{
    if (!input) {
        return DORY_OK;
    }
    if (port->in_ram) {
        uint8_t *source = (uint8_t *)(uintptr_t)input; /* only read */
        return copy_ram(network, buffers, HAL_RAM_WRITE, port, source);
    }
    uint8_t *place = (uint8_t *)buffers->l2 + port->offset;
    if (input != place) {
        move_bytes(place, input, port->bytes); /* the caller may keep it in the arena, elsewhere */
    }
    return DORY_OK;
}

static int take_output(const struct dory_network *network, const struct dory_port *port, const struct dory_buffers *buffers,
                       void *output)
{
    if (!output) {
        return DORY_OK;
    }
    if (port->in_ram) {
        return copy_ram(network, buffers, HAL_RAM_READ, port, output);
    }
    const uint8_t *place = (const uint8_t *)buffers->l2 + port->offset;
    if (output != place) {
        move_bytes(output, place, port->bytes);
    }
    return DORY_OK;
}

/* Those in RAM pass through the arena: before inputs in L2 are there, after outputs in L2 are gone. */
static int bring_inputs(const struct dory_network *network, const struct dory_buffers *buffers, const void *const *inputs)
{
    int status = DORY_OK;
    for (unsigned in_ram = 2; inputs && in_ram-- > 0;) {
        for (unsigned i = 0; i < network->input_count && status == DORY_OK; i++) {
            if (network->inputs[i].in_ram == in_ram) {
                status = bring_input(network, &network->inputs[i], buffers, inputs[i]);
            }
        }
    }
    return status;
}

static int take_outputs(const struct dory_network *network, const struct dory_buffers *buffers, void *const *outputs)
{
    int status = DORY_OK;
    for (unsigned in_ram = 0; outputs && in_ram < 2; in_ram++) {
        for (unsigned i = 0; i < network->output_count && status == DORY_OK; i++) {
            if (network->outputs[i].in_ram == in_ram) {
                status = take_output(network, &network->outputs[i], buffers, outputs[i]);
            }
        }
    }
    return status;
}

/* What dory_network_load writes behind resident weights, where they end on a multiple of 8 bytes. */
static uint32_t *loaded_mark(const struct dory_network *network, const struct dory_buffers *buffers)
{
    return (uint32_t *)(void *)((uint8_t *)buffers->l2 + network->resident_offset + network->resident_bytes);
}

/* That the weights which stay in L2 have been brought there. */
static int check_loaded(const struct dory_network *network, const struct dory_buffers *buffers)
{
    if (network->resident_bytes == 0) {
        return DORY_OK;
    }
    const uint32_t *mark = loaded_mark(network, buffers);
    return mark[0] == network->flash_hash && mark[1] == 0 ? DORY_OK : DORY_ERROR_NOT_LOADED;
}

int dory_network_load(const struct dory_network *network, const struct dory_buffers *buffers)
{
    int status = dory_run_check(network, buffers);
    if (status != DORY_OK || network->resident_bytes == 0) {
        return status;
    }
    uint8_t *place = (uint8_t *)buffers->l2 + network->resident_offset;
    uint32_t *mark = loaded_mark(network, buffers);
    mark[0] =
        ~network->flash_hash; /* of an earlier load, which may be one of this network: if this one fails, none counts */
    status = copy_l3(HAL_FLASH_READ, buffers->flash_address + DORY_FLASH_HEADER_BYTES, place, network->resident_bytes);
    if (status == DORY_OK) {
        mark[0] = network->flash_hash;
        mark[1] = 0;
    }
    return status;
}

/* Word by word: small C libraries clear bytes. */
static void clear_profile(const struct dory_network *network, const struct dory_buffers *buffers)
{
    for (unsigned layer = 0; buffers->profile && layer < network->layer_count; layer++) {
        buffers->profile[layer] = (struct dory_layer_profile){0};
    }
}

int dory_run_begin(struct dory_driver *driver, const struct dory_network *network, const struct dory_buffers *buffers,
                   const void *const *inputs)
{
    int status = check_loaded(network, buffers);
    if (status == DORY_OK) {
        status = bring_inputs(network, buffers, inputs);
    }
    if (status != DORY_OK) {
        return status;
    }
    clear_profile(network, buffers);
    driver->run = (struct dory_run){.network = network, .buffers = buffers};
    return DORY_OK;
}

int dory_run_end(const struct dory_driver *driver, int status, void *const *outputs)
{
    if (status == DORY_OK) {
        status = driver->run.status;
    }
    return status != DORY_OK ? status : take_outputs(driver->run.network, driver->run.buffers, outputs);
}

int dory_network_run_all(const struct dory_network *network, const struct dory_buffers *buffers, const void *const *inputs,
                         void *const *outputs)
{
    struct dory_driver driver;
    int status = dory_run_check(network, buffers);
    if (status == DORY_OK) {
        status = dory_run_begin(&driver, network, buffers, inputs);
    }
    if (status != DORY_OK) {
        return status;
    }
    status = hal_cluster_drive(dory_run_entry, &driver);
    return dory_run_end(&driver, status, outputs);
}

int dory_network_run(const struct dory_network *network, const struct dory_buffers *buffers, const void *input, void *output)
{
    bool one = network && network->input_count == 1 && network->output_count == 1;
    return one ? dory_network_run_all(network, buffers, &input, &output) : DORY_ERROR_ARGUMENT;
}

static int check_header(const struct dory_network *network, const uint32_t *header)
{
    bool same = memcmp(header, "DORY", 4) == 0 && header[1] == DORY_FLASH_VERSION && header[2] == network->flash_bytes &&
                header[3] == network->flash_hash;
    return same ? DORY_OK : DORY_ERROR_FLASH_IMAGE;
}

int dory_network_check_flash_header(const struct dory_network *network, const struct dory_buffers *buffers)
{
    int status = dory_run_check(network, buffers);
    if (status != DORY_OK || network->weights) {
        return status; /* with linked weights there is no image */
    }
    status = copy_l3(HAL_FLASH_READ, buffers->flash_address, buffers->l2, DORY_FLASH_HEADER_BYTES);
    return status != DORY_OK ? status : check_header(network, buffers->l2);
}

/* A reader of the image behind its header, piece by piece into the two halves of the arena, by turns. */
struct flash_reader {
    uint8_t *half[2];
    uint32_t piece_bytes;
    uint32_t address, end; /* in the flash, of what is still to be read */
    hal_l3_ticket ticket[2];
    uint32_t bytes[2]; /* under way or there */
};

static int start_piece(struct flash_reader *reader, unsigned turn)
{
    uint32_t bytes = dory_minimum(reader->piece_bytes, reader->end - reader->address);
    struct hal_l3_copy copy = {
        .kind = HAL_FLASH_READ, .l3_address = reader->address, .l2 = reader->half[turn], .run_bytes = bytes, .runs = 1};
    reader->bytes[turn] = bytes;
    reader->address += bytes;
    reader->ticket[turn] = 0;
    return bytes ? hal_l3_start(&copy, &reader->ticket[turn]) : DORY_OK;
}

/* Four words a turn: the loads come first, and none waits for the multiplication before it. */
static uint32_t hash_words(uint32_t hash, const uint32_t *words, uint32_t count)
{
    const uint32_t *end = words + count;
    for (; end - words >= 4; words += 4) {
        uint32_t a = words[0], b = words[1], c = words[2], d = words[3];
        hash = dory_flash_hash_step(hash, a);
        hash = dory_flash_hash_step(hash, b);
        hash = dory_flash_hash_step(hash, c);
        hash = dory_flash_hash_step(hash, d);
    }
    for (; words < end; words++) {
        hash = dory_flash_hash_step(hash, *words);
    }
    return hash;
}

static int hash_flash(struct flash_reader *reader, uint32_t *hash)
{
    int status = start_piece(reader, 0);
    for (unsigned turn = 0; status == DORY_OK && reader->bytes[turn] > 0; turn ^= 1) {
        status = start_piece(reader, turn ^ 1); /* comes while this one is looked at */
        int arrival = hal_l3_wait(reader->ticket[turn]);
        if (status != DORY_OK || arrival != DORY_OK) {
            int other = hal_l3_wait(reader->ticket[turn ^ 1]); /* nothing may be under way in the arena any more */
            return status != DORY_OK ? status : arrival != DORY_OK ? arrival : other;
        }
        *hash = hash_words(*hash, (const uint32_t *)(const void *)reader->half[turn], reader->bytes[turn] / 4);
    }
    return status;
}

int dory_network_check_flash(const struct dory_network *network, const struct dory_buffers *buffers)
{
    int status = dory_network_check_flash_header(network, buffers);
    if (status != DORY_OK || network->weights) {
        return status;
    }
    uint32_t half = free_bytes(network, buffers) / 2 / DORY_ALIGNMENT * DORY_ALIGNMENT;
    uint32_t hash = DORY_FLASH_HASH_START;
    struct flash_reader reader = {.half = {buffers->l2, (uint8_t *)buffers->l2 + half},
                                  .piece_bytes = dory_minimum(half, FLASH_PIECE_BYTES),
                                  .address = buffers->flash_address + DORY_FLASH_HEADER_BYTES,
                                  .end = buffers->flash_address + network->flash_bytes};
    status = hash_flash(&reader, &hash);
    if (status != DORY_OK) {
        return status;
    }
    return hash == network->flash_hash ? DORY_OK : DORY_ERROR_FLASH_IMAGE;
}
