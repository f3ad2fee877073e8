/* The machine that code is generated for: numbers only, read from a JSON file (generator/target/NAME.json, compiled
 * into the generator; a user may give a file of his own). */
#ifndef DORYGEN_TARGET_H
#define DORYGEN_TARGET_H

#include "base/support.h"
#include "dory/engine.h"

#define TARGET_MAXIMUM_L1_BYTES 0x100000u
#define TARGET_MAXIMUM_L2_BYTES 0x1000000u
#define TARGET_MAXIMUM_ENGINES  4

/* Power that somebody measured: the whole chip at work, controller and cluster at one clock. */
struct power_point {
    uint32_t mhz, millivolts, microwatts;
    const char *source;
};

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
    uint32_t weight_memory_bytes; /* linked weights lie there, and take nothing of L2, which is as far; 0: there is none */
    uint32_t constants_in_flash;  /* 1: code, tables and linked weights are read where they lie, in flash, and take no L2 */
    uint32_t weights_in_place, activations_in_place; /* 1: cores read weights and tables (read inputs and write outputs) as
                                                      * fast in flash or L2 as in L1, and need no copy there */
    const struct dory_engine *engines[TARGET_MAXIMUM_ENGINES + 1]; /* null-terminated; a layer goes to the first that has
                                                                    * kernels for it */

    /* costs, cluster cycles */
    uint32_t counts_instructions; /* 1: what is called cycles here is a core's instructions, from which no time follows */
    uint32_t dma_setup_cycles;    /* to issue one command */
    uint32_t dma_latency_cycles;  /* of one transfer */
    uint32_t dma_read_bytes_per_1000_cycles;  /* long runs, L2 to L1 */
    uint32_t dma_write_bytes_per_1000_cycles; /* long runs, L1 to L2 */
    uint32_t dma_run_overhead_cycles;         /* per run of a 2-D transfer, beyond its bytes */
    uint32_t dma_contention_cycles;           /* of a kernel, for 1000 cycles of transfers beside it; 1000: cores copy */
    uint32_t l3_bytes_per_1000_cycles;
    uint32_t l3_setup_cycles;        /* of one transfer */
    uint32_t tile_overhead_cycles;   /* of the cores, between two tiles */
    uint32_t tile_driver_cycles;     /* of the driver, to place a tile, whose copies a core starts */
    uint32_t step_driver_cycles;     /* the same, besides, for the first tile of a step, within a layer */
    uint32_t turn_driver_cycles;     /* the same, besides, for the first tile of a layer, which it copies from L2 */
    uint32_t transfer_driver_cycles; /* the same, besides, to queue a transfer from or to L3 */
    uint32_t layer_overhead_cycles;
    uint32_t border_cycles, border_run_cycles; /* of a tile round whose input the cores lay a border: of it, and of each run
                                                * that a core fills, beside the bytes */
    uint32_t run_overhead_cycles;              /* of the controller, from the call to the first layer */

    /* A network of at most so many tiles, 0: none, may have a table of them, which the generator made. The cores take them
     * from it by themselves: the driver takes no time, and these cycles replace those above. */
    uint32_t table_most_tiles;
    bool has_table; /* that is so: of a copy by target_with_table */
    uint32_t table_tile_overhead_cycles, table_layer_overhead_cycles, table_run_overhead_cycles, table_dma_contention_cycles;
    uint32_t table_transfer_cycles;

    uint32_t kernel_speed_percent[TARGET_KERNELS]; /* of what the kernels' own closed forms say; 0 is 100, too */

    /* clocks: of the cluster, and of the controller, which drives it and has L2, flash and RAM */
    uint32_t least_mhz, controller_most_mhz, cluster_most_mhz;
    uint32_t controller_mhz, cluster_mhz; /* that the costs above are for, see target_set_clocks; 0: equal ones */
    const struct target *at_equal_clocks; /* null: the costs are for them */
    /* What the controller's memory takes; of the costs above, those of drivers and L3 are the controller's. */
    uint32_t port_bytes_per_1000_cycles; /* of L2, to the cluster: whatever the DMA has moved sooner, what comes behind it
                                          * waits for that; 0: no such bound */
    uint32_t port_l3_percent;            /* of these, what L3 takes while it moves data */
    struct power_point low, high;        /* source null: not known */
    uint32_t controller_power_percent;   /* of the power at equal clocks, by assumption */
};

/* Sets the costs, which are for equal clocks, to what they are at these; where these differ, at_equal_clocks is in the arena
 * of the diagnostics. False after an error was reported: no such clocks. */
bool target_set_clocks(struct target *target, uint32_t controller_mhz, uint32_t cluster_mhz,
                       struct diagnostics *diagnostics);

/* The same machine where a network has a table of its tiles. */
struct target *target_with_table(const struct target *target, struct arena *arena);

/* An estimate of the power at work at these clocks; 0: the description has no power for them. Between the two measured
 * points it is a power law of the clock through both; below the lower one, whose voltage stays, it falls with the clock; and
 * of clocks that differ the faster one sets the voltage, for which each domain's part falls with its own clock. All that is
 * assumption. */
double target_power_milliwatts(const struct target *target, uint32_t controller_mhz, uint32_t cluster_mhz);

/* "250/175": controller, cluster, in MHz. False: it is something else. */
bool target_read_clocks(const char *text, uint32_t *controller_mhz, uint32_t *cluster_mhz);

/* What a kernel takes for a layer on this machine, where its closed form says `cycles`. */
uint64_t target_kernel_cycles(const struct target *target, const struct dory_layer *layer, uint64_t cycles);

/* Of one transfer from or to L3. */
uint64_t target_l3_cycles(const struct target *target, uint32_t runs, uint32_t run_bytes);

/* `name_or_path`: one of generator/target, or a path that ends in .json. False after an error was reported. */
bool target_load(struct target *target, const char *name_or_path, struct arena *arena, struct diagnostics *diagnostics);

#endif
