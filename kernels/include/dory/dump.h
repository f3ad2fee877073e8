/* Writes tensors of a running network to the log, for `dory diff`, which compares them with the golden model.
 *
 * `dory_add_network(NAME MODEL DUMP all)` or `dory generate --dump-tensors all` makes NAME_run do so by itself; the
 * application stays as it is. The log goes where hal_log goes. Each line carries its own place and checksum, so that
 * lines of others in between, a capture that began late or characters that were lost do no harm but to what they hit:
 *
 *     @dory run 9b1c44d0 6 digits *5f0a        hash of the model, tensors that follow, name of the network
 *     @dory in0 0 00010203 ... *77e1           input 0 from byte 0 on, as it lies in memory
 *     @dory L3 20 0a0b0c0d ... *0b42           output of the model's layer 3 from byte 0x20 on
 *     @dory end 0 *c3d9                        status of the run
 *
 * The checksum is CRC-16/CCITT (polynomial 0x1021, from 0xFFFF) of the text between "@dory " and " *". Numbers are
 * hexadecimal, but for those of inputs and layers, their count and the status.
 */
#ifndef DORY_DUMP_H
#define DORY_DUMP_H

#include <stdint.h>

#include "dory/run.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DORY_DUMP_LINE_BYTES 32 /* of a tensor, in one line */

/* Where a layer's output lies after its last step. */
struct dory_dump_layer {
    uint16_t number; /* in the model, as `dory inspect` counts */
    uint8_t in_ram;
    uint8_t is_ring; /* of its rows, which are written as they come: then it has no place of its own */
    uint32_t offset; /* in the L2 arena, or in the network's part of the RAM */
    uint32_t bytes;  /* 0: it is not written */
    uint32_t planes; /* its channels, where it lies in CHW, which is never in RAM; else 0. It is written as HWC */
};

struct dory_dump {
    const struct dory_network *network;
    const struct dory_dump_layer *layers; /* network->layer_count, in the order in which they run */
    const char *name;                     /* of the network in C */
    uint32_t model_hash;                  /* the generator's, of layers, shapes and constants */
};

/* FC. As dory_network_run_all, and writes inputs and the chosen layers to the log. An observer of the caller's is called
 * after a layer was written. */
int dory_dump_run(const struct dory_dump *dump, const struct dory_buffers *buffers, const void *const *inputs,
                  void *const *outputs);

#ifdef __cplusplus
}
#endif

#endif
