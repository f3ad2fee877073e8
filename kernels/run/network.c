#include "dory/run.h"

#include <string.h>

#include "tile_loop.h"

/* ---- on the cluster ---- */

/* Driver. A tensor that goes to RAM leaves L2 with the transfers of the step behind it: an observer needs it now. */
static void observe(struct dory_run *run, const struct dory_step *next, unsigned layer)
{
    const struct dory_network *network = run->network;
    bool last = next == network->steps + network->step_count;
    unsigned due = last ? network->transfer_count : next->transfers_started;
    dory_start_transfers(run, due);
    dory_await_transfers(run, due);
    dory_run_fail(run, run->buffers->observe(run->buffers->user, run->buffers, layer));
}

/* Driver, after the last byte of a layer is in L2. */
static void finish_layer(struct dory_run *run, const struct dory_step *next, unsigned layer, uint32_t start_cycles)
{
    if (run->profile) {
        run->profile->cycles = hal_cycles() - start_cycles;
    }
    if (run->buffers->observe && run->status == DORY_OK) {
        observe(run, next, layer);
    }
    bool profiled = run->buffers->profile && layer + 1u < run->network->layer_count;
    run->profile = profiled ? run->buffers->profile + layer + 1 : 0;
}

static unsigned steps_of_layer(const struct dory_step *step)
{
    unsigned count = 1;
    while (!step->last_of_layer) {
        step++;
        count++;
    }
    return count;
}

static void run_on_cluster(void *argument)
{
    struct dory_run *run = argument;
    const struct dory_network *network = run->network;
    const struct dory_step *step = network->steps;
    bool driver = dory_is_driver();
    for (unsigned layer = 0; layer < network->layer_count; layer++) {
        uint32_t start_cycles = driver && run->profile ? hal_cycles() : 0;
        unsigned count = steps_of_layer(step);
        dory_run_layer(run, step, count);
        step += count;
        if (driver) {
            finish_layer(run, step, layer, start_cycles);
        }
        hal_barrier();
        if (run->status != DORY_OK) { /* all cores see the same: the driver wrote it before the barrier */
            break;
        }
    }
    if (driver) {
        dory_start_transfers(run, run->status == DORY_OK ? network->transfer_count : run->transfers_started);
        dory_await_transfers(run, run->transfers_started);
    }
}

/* ---- on the fabric controller ---- */

static bool is_aligned(const void *pointer) { return (uintptr_t)pointer % DORY_ALIGNMENT == 0; }

static int check_buffers(const struct dory_network *network, const struct dory_buffers *buffers)
{
    if (!buffers->l1 || !buffers->l2) {
        return DORY_ERROR_ARGUMENT;
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

/* Between the caller's buffer and RAM, piece by piece through the arena, which is free before and after a run: so the
 * caller's buffer may lie anywhere and need not be aligned. */
static int copy_ram(const struct dory_buffers *buffers, enum hal_l3_kind kind, uint32_t offset, uint8_t *memory,
                    uint32_t bytes)
{
    uint32_t piece = (uint32_t)buffers->l2_bytes / HAL_L3_ALIGNMENT * HAL_L3_ALIGNMENT;
    for (uint32_t done = 0; done < bytes; done += piece) {
        uint32_t now = dory_minimum(piece, bytes - done);
        if (kind == HAL_RAM_WRITE) {
            memcpy(buffers->l2, memory + done, now);
        }
        uint32_t address = buffers->ram_address + offset + done;
        int status = copy_l3(kind, address, buffers->l2, dory_round_up(now, HAL_L3_ALIGNMENT));
        if (status != DORY_OK) {
            return status;
        }
        if (kind == HAL_RAM_READ) {
            memcpy(memory + done, buffers->l2, now);
        }
    }
    return DORY_OK;
}

static int bring_input(const struct dory_port *port, const struct dory_buffers *buffers, const void *input)
{
    if (!input) {
        return DORY_OK;
    }
    if (port->in_ram) {
        uint8_t *source = (uint8_t *)(uintptr_t)input; /* only read */
        return copy_ram(buffers, HAL_RAM_WRITE, port->offset, source, port->bytes);
    }
    uint8_t *place = (uint8_t *)buffers->l2 + port->offset;
    if (input != place) {
        memmove(place, input, port->bytes); /* the caller may keep it in the arena, elsewhere */
    }
    return DORY_OK;
}

static int take_output(const struct dory_port *port, const struct dory_buffers *buffers, void *output)
{
    if (!output) {
        return DORY_OK;
    }
    if (port->in_ram) {
        return copy_ram(buffers, HAL_RAM_READ, port->offset, output, port->bytes);
    }
    const uint8_t *place = (const uint8_t *)buffers->l2 + port->offset;
    if (output != place) {
        memmove(output, place, port->bytes);
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
                status = bring_input(&network->inputs[i], buffers, inputs[i]);
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
                status = take_output(&network->outputs[i], buffers, outputs[i]);
            }
        }
    }
    return status;
}

int dory_network_run_all(const struct dory_network *network, const struct dory_buffers *buffers, const void *const *inputs,
                         void *const *outputs)
{
    if (!network || !buffers) {
        return DORY_ERROR_ARGUMENT;
    }
    int status = check_buffers(network, buffers);
    if (status == DORY_OK) {
        status = bring_inputs(network, buffers, inputs);
    }
    if (status != DORY_OK) {
        return status;
    }
    if (buffers->profile) {
        memset(buffers->profile, 0, network->layer_count * sizeof *buffers->profile);
    }
    struct dory_run run = {.network = network, .buffers = buffers, .profile = buffers->profile};
    status = hal_cluster_run(run_on_cluster, &run);
    if (status == DORY_OK) {
        status = run.status;
    }
    return status != DORY_OK ? status : take_outputs(network, buffers, outputs);
}

int dory_network_run(const struct dory_network *network, const struct dory_buffers *buffers, const void *input, void *output)
{
    bool one = network && network->input_count == 1 && network->output_count == 1;
    return one ? dory_network_run_all(network, buffers, &input, &output) : DORY_ERROR_ARGUMENT;
}

int dory_network_check_flash(const struct dory_network *network, const struct dory_buffers *buffers)
{
    if (!network || !buffers) {
        return DORY_ERROR_ARGUMENT;
    }
    int status = check_buffers(network, buffers);
    if (status == DORY_OK) {
        status = copy_l3(HAL_FLASH_READ, buffers->flash_address, buffers->l2, DORY_FLASH_HEADER_BYTES);
    }
    if (status != DORY_OK) {
        return status;
    }
    const uint32_t *header = buffers->l2;
    bool same = memcmp(header, "DORY", 4) == 0 && header[2] == network->flash_bytes && header[3] == network->flash_hash;
    return same ? DORY_OK : DORY_ERROR_FLASH_IMAGE;
}
