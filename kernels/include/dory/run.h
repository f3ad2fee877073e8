/* Running a network: what the generated <net>_run calls. */
#ifndef DORY_RUN_H
#define DORY_RUN_H

#include <stddef.h>

#include "dory/hal.h"
#include "dory/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Measured on the target, one a layer; all in cluster cycles, zero where the target has no counter. */
struct dory_layer_profile {
    uint32_t cycles;          /* from the last byte of the layer before in L2 to its own; of several turns, all */
    uint32_t dma_wait_cycles; /* of them, all cores waiting: for L2-L1 transfers, or for who prepares them */
    uint32_t l3_wait_cycles;  /* of them, waiting for L3 */
    uint32_t tiles;
};

/* What the caller lends to a run. Memory is the caller's; nothing of it is kept after the call. */
struct dory_buffers {
    void *l1; /* aligned to DORY_ALIGNMENT */
    size_t l1_bytes;
    void *l2;
    size_t l2_bytes;
    uint32_t flash_address; /* of the network's weight image in the flash's data area, bytes */
    uint32_t ram_address;   /* of network->ram_bytes free bytes of L3 RAM */

    struct dory_layer_profile *profile; /* null, or network->layer_count entries */

    /* Null, or called by the driver (see hal_cluster_drive) when a layer is complete, all cores waiting; layers count from 0
     * in the order in which they are completed. A status other than 0 ends the run with it. */
    int (*observe)(void *user, const struct dory_buffers *buffers, unsigned layer);
    /* Null, or called likewise, in front of `observe`, when a layer's turn ends, complete or not, with the steps of the
     * turn. Of an output that is a ring of rows (dory/layer.h) their rows are there now, and are overwritten later. */
    int (*observe_turn)(void *user, const struct dory_buffers *buffers, const struct dory_step *steps, unsigned count);
    void *user;

    enum hal_progress progress; /* of a run that is started: by interrupts where the machine has them, unless HAL_BY_POLL */
};

/* FC. Brings the weights that stay in L2 (dory_add_network's WEIGHTS) to their place in the arena, once for any number of
 * runs; where none stay there it does nothing. From then on the arena from network->resident_offset up belongs to them: what
 * is written there has to be loaded again. The caller's other memory may be anything. 0 or a status. */
int dory_network_load(const struct dory_network *network, const struct dory_buffers *buffers);

/* FC. Runs a network of one input and one output once. The cluster and L3 must be open (hal_cluster_open, hal_l3_open).
 * `input` holds network->inputs[0].bytes bytes, `output` has room for network->outputs[0].bytes; a tensor is HWC. An input
 * that already lies at its place (l2 + offset) is not copied. Null: the input already lies at its place, in L2 or RAM; the
 * output stays at its place. Returns 0 or a status; DORY_ERROR_NOT_LOADED without dory_network_load where that is needed. */
int dory_network_run(const struct dory_network *network, const struct dory_buffers *buffers, const void *input,
                     void *output);

/* FC. The same for any number of inputs and outputs, in the order of the network's arrays: inputs[network->input_count],
 * outputs[network->output_count]. A null entry, or a null array, is what null is above. Buffers of the caller must not lie
 * in the L2 arena, except an input or output at its own place; and not even that where an input that is not null has its
 * place in RAM, because the arena is what it passes through. */
int dory_network_run_all(const struct dory_network *network, const struct dory_buffers *buffers, const void *const *inputs,
                         void *const *outputs);

/* ---- beside an application ---- */

/* A run beside the application: memory of the caller's, all zero before the first start, which belongs to the run until its
 * end was reported. On GAP8 the controller works in it for every tile: mark it DORY_FC, or keep it on the stack. */
#define DORY_DRIVER_BYTES 2048
struct dory_job {
    uint8_t stack[HAL_DRIVER_STACK_BYTES] __attribute__((aligned(HAL_DRIVER_STACK_ALIGNMENT)));
    uint8_t driver[DORY_DRIVER_BYTES] __attribute__((aligned(8)));
    struct dory_buffers buffers;
    void *output;
    void *const *outputs;
    int is_started; /* ever */
    int status;     /* DORY_RUNNING from the start until the end was reported */
};

/* FC. dory_network_run and dory_network_run_all in parts: these return when the run has begun. `buffers` is copied; what it
 * points to, `outputs` and the output buffers belong to the run until dory_job_poll or dory_job_wait has returned something
 * other than DORY_RUNNING. Inputs are the caller's again, unless they lie at their places in the arena. DORY_OK: the run
 * goes on. Anything else: nothing was begun, and what goes on already is not disturbed; DORY_ERROR_BUSY: that. */
int dory_network_start(struct dory_job *job, const struct dory_network *network, const struct dory_buffers *buffers,
                       const void *input, void *output);
int dory_network_start_all(struct dory_job *job, const struct dory_network *network, const struct dory_buffers *buffers,
                           const void *const *inputs, void *const *outputs);

/* FC. Goes on with a run that goes on by polls, as far as that goes without waiting. DORY_RUNNING until the run has ended;
 * from then on what dory_network_run would have returned, again and again; the first of these calls brings the outputs.
 * DORY_ERROR_ARGUMENT: the job was never started. */
int dory_job_poll(struct dory_job *job);

/* FC. Waits for the end, as in dory_network_run, and returns what dory_job_poll does then. */
int dory_job_wait(struct dory_job *job);

/* FC. Asks a run to end at the next meeting of its cores. It returns at once; the run's end is what poll and wait say. They
 * say DORY_ERROR_CANCELLED, or something else where the run came to an end before: then no transfer is under way, and
 * outputs and arena hold anything but for resident weights, which stay. Does nothing to a job that is not running. */
void dory_job_cancel(struct dory_job *job);

/* ---- flash ---- */

/* FC. Reads the whole flash image at buffers->flash_address, by way of the L2 buffer, and compares it with the network's
 * size and hash. 0 or DORY_ERROR_FLASH_IMAGE. To be called once after hal_l3_open; on GAP8 it takes 3.8 cycles a
 * byte (docs/gap8.md). */
int dory_network_check_flash(const struct dory_network *network, const struct dory_buffers *buffers);

/* FC. The same of the header alone, for an application that cannot wait at every start: it finds no image and another
 * network's, but no weight that has changed. */
int dory_network_check_flash_header(const struct dory_network *network, const struct dory_buffers *buffers);

#ifdef __cplusplus
}
#endif

#endif
