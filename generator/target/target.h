/* The machine that code is generated for: numbers only, read from a JSON file (generator/target/NAME.json, compiled
 * into the generator; a user may give a file of his own). */
#ifndef DORYGEN_TARGET_H
#define DORYGEN_TARGET_H

#include "base/support.h"
#include "dory/contract.h"

/* Layers whose kernels share a speed. */
enum target_kernels {
    KERNELS_OF_CONVOLUTIONS, /* fully connected layers, too */
    KERNELS_OF_DEPTHWISE,    /* and convolutions in groups */
    KERNELS_OF_POOLS,
    KERNELS_OF_OTHERS,
    TARGET_KERNELS
};

struct target {
    const char *name;
    unsigned cores;
    uint32_t l1_bytes;       /* of the memory */
    uint32_t l1_stack_bytes; /* of it, taken by the cores' stacks and the HAL: the arena gets the rest */
    uint32_t l2_bytes;
    uint32_t l2_firmware_bytes; /* of it, code, constants and stacks of kernels and HAL, where no firmware is measured */
    uint32_t flash_bytes, ram_bytes;
    bool uses_xpulpv2; /* kernels: dory_xpulpv2_kernels before dory_reference_kernels */

    /* costs, cluster cycles */
    uint32_t dma_setup_cycles;                /* to issue one command */
    uint32_t dma_latency_cycles;              /* of one transfer */
    uint32_t dma_read_bytes_per_1000_cycles;  /* long runs, L2 to L1 */
    uint32_t dma_write_bytes_per_1000_cycles; /* long runs, L1 to L2 */
    uint32_t dma_run_overhead_cycles;         /* per run of a 2-D transfer, beyond its bytes */
    uint32_t l3_bytes_per_1000_cycles;
    uint32_t l3_setup_cycles;      /* of one transfer */
    uint32_t tile_overhead_cycles; /* of the cores, between two tiles */
    uint32_t tile_driver_cycles;   /* of the driver, to place a tile and start its copies */
    uint32_t step_driver_cycles;   /* the same, besides, for the first tile of a step and for its transfers from L3 */
    uint32_t layer_overhead_cycles;

    uint32_t kernel_speed_percent[TARGET_KERNELS]; /* of what the kernels' own closed forms say; 0 is 100, too */
};

/* What a kernel takes for a layer on this machine, where its closed form says `cycles`. */
uint64_t target_kernel_cycles(const struct target *target, const struct dory_layer *layer, uint64_t cycles);

/* Of one transfer from or to L3. */
uint64_t target_l3_cycles(const struct target *target, uint32_t runs, uint32_t run_bytes);

/* `name_or_path`: host, virt, gap8, or a path that ends in .json. False after an error was reported. */
bool target_load(struct target *target, const char *name_or_path, struct arena *arena, struct diagnostics *diagnostics);

#endif
