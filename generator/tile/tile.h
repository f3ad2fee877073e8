/* Tiling of one layer between L2 and L1: cost of a tile, and the best of all tiles. Internal to the planner. */
#ifndef DORYGEN_TILE_H
#define DORYGEN_TILE_H

#include "base/support.h"
#include "dory/engine.h"
#include "dory/network.h"
#include "target/target.h"

/* Operands whose L1 buffer is single although it is loaded more than once: less memory, no overlap there. */
enum single_buffer { SINGLE_INPUT = 1, SINGLE_WEIGHTS = 2, SINGLE_OUTPUT = 4 };

struct tiling {
    struct dory_tile_shape tile; /* input_channels equals channels where the layer is no convolution */
    uint8_t order;               /* enum dory_tile_order */
    uint8_t single;              /* set of enum single_buffer */
    uint8_t in_place;            /* set of enum dory_in_place */
};

struct tile_cost {
    uint64_t cycles;         /* of the whole layer: pipeline and overheads, no waits for L3 */
    uint64_t kernel_cycles;  /* of them, kernels, were there no transfers */
    uint64_t dma_cycles;     /* of transfers, were there no kernels */
    uint64_t dma_bytes;      /* that they move */
    uint64_t exposed_cycles; /* of those, what nothing is computed beside, however fast the tile loop is */
    uint32_t tile_count;
    uint32_t l1_bytes;
};

/* What one costs behind the other. */
void tile_cost_add(struct tile_cost *sum, const struct tile_cost *cost);

/* When things of a step happen, in cycles after the start of its layer, waits for L3 left out. fetch <= start <= fetch
 * of the next step. */
struct step_times {
    uint64_t fetch; /* its first loads are issued: the transfers it awaits must be complete */
    uint64_t start; /* it starts to compute: the transfers it starts are queued */
};

/* What happens to a tile, in cycles after the start of its layer, waits for L3 left out. */
struct tile_event {
    enum tile_event_kind { TILE_LOAD, TILE_KERNEL, TILE_STORE } kind;
    uint32_t tile; /* counted in the layer */
    uint32_t step; /* of the layer, that is at work: for waits */
    uint64_t start, cycles;
    struct dory_tile_shape shape; /* of TILE_KERNEL */
};

struct tile_observer {
    void (*see)(void *context, const struct tile_event *event); /* in the order of the tiles; null: nobody looks */
    void *context;
};

/* Copies beside the start of a kernel are in front of its instructions: only what takes long beside the store is worth it.
 * From a table, the first weights of the next layer come beside the last tile where they have so many bytes more than its
 * results, else beside their store. */
#define TILE_LONG_BYTES 4096u

/* What the cost of a layer's tiles depends on. */
struct tile_problem {
    const struct dory_layer *layer; /* described; tile fields are not read */
    const struct dory_weights_format *weights;
    const struct dory_kernel_description *kernel;
    const struct target *target;
    unsigned cores;
    uint32_t l1_bytes;
    const struct dory_step *steps; /* of the layer, in order: ranges, window channels and drain are read */
    uint32_t step_count;
    struct cycle_table *cycles; /* of the kernel, remembered by shape */
    struct tile_observer observer;

    /* What the search leaves out, or guesses: known when all is decided. */
    bool is_decided;
    uint32_t l3_busy_percent; /* of the layer's time, L3 moves data beside it */
    bool weights_are_early;   /* the first ones are in L1 when the layer starts, see finish.c */
    /* Bit i: input i is in L1 when the layer starts, and lies there. That the layer before is still being stored then gains
     * nothing that runs on gvsoc would show. */
    uint8_t inputs_stay;
    bool inputs_are_early;          /* all others are, too */
    bool is_left_in_l1;             /* the output: it is not stored */
    bool is_added;                  /* the kernel of the layer before makes its elements */
    bool is_last;                   /* of the network: the driver prepares no layer behind it */
    uint64_t early_cycles_of_next;  /* to bring what of the next layer is early, beside the last tile */
    const uint32_t *transfer_bytes; /* of the network's transfers from and to L3; null: none */
    uint32_t transfers_queued;      /* of them, when the layer starts: the driver queues its own beside its tiles */
};

/* Remembers what a kernel's `cycles` function returned. One table a layer and kernel. */
struct cycle_table *cycle_table_make(const struct dory_layer *layer, const struct dory_kernel_description *kernel,
                                     const struct target *target, unsigned cores, struct arena *arena);
uint64_t cycle_table_get(struct cycle_table *table, uint32_t rows, uint32_t columns, uint32_t channels,
                         uint32_t input_channels);

/* Of copies between L2 and L1, long runs, in bytes per 1000 cycles. */
struct tile_rates {
    uint32_t read, write;
};
struct tile_rates tile_rates_of(const struct tile_problem *problem);

/* ---- tile_border.c ---- */

/* Fewer buffers may take less time than fit: a border stays where it was laid, once in each buffer. */
bool tile_border_may_prefer_single(const struct tile_problem *problem);

/* ---- tile_l1.c ---- */

/* L1 bytes of an operand's buffers. */
struct l1_sizes {
    uint32_t input, second_input, weights, output; /* of one buffer */
    uint32_t accumulators, scratch;
    bool two_inputs, two_weights, two_outputs; /* are loaded (stored) more than once in the layer */
};
struct l1_sizes tile_l1_sizes(const struct tile_problem *problem, const struct tiling *tiling);
uint32_t tile_l1_sum(const struct l1_sizes *sizes, uint8_t single);

/* A part of tile_simulate's cycles that no buffers hide: the first tile's loads. */
uint64_t tile_first_load_cycles(const struct tile_problem *problem, const struct tiling *tiling);

/* In place of a DMA controller: a kernel waits for all of a copy beside it. */
bool tile_cores_copy(const struct tile_problem *problem);

/* Of a kernel, what it waits for L1 because of so many cycles of copies, which are no more than a quarter of its own. */
uint64_t tile_contention_cycles(const struct tile_problem *problem, uint64_t copies);

/* Of the first tile's loads, what the weights take, with the latency of a copy. */
uint64_t tile_first_weights_cycles(const struct tile_problem *problem, const struct tiling *tiling);

/* And those of its first tile's inputs, but for inputs that stay. */
uint64_t tile_input_cycles(const struct tile_problem *problem, const struct tiling *tiling);

/* L1 bytes of a tiling, the arena's map in `map` where it is not null. */
uint32_t tile_l1_bytes(const struct tile_problem *problem, const struct tiling *tiling, struct dory_l1_map *map);

/* Plays the software pipeline of kernels/run/driver.c tile by tile. `times` may be null, else one a step. */
void tile_simulate(const struct tile_problem *problem, const struct tiling *tiling, struct tile_cost *cost,
                   struct step_times *times);

/* The same without times; gives up, and returns false, as soon as it is certain that `limit` cycles are exceeded.
 * `kernel_cycles` is a lower bound of those of all tiles, `tiles` their number. */
bool tile_simulate_below(const struct tile_problem *problem, const struct tiling *tiling, uint64_t limit,
                         uint64_t kernel_cycles, uint64_t tiles, struct tile_cost *cost);

/* ---- tile_in_place.c ---- */

/* The operands that may be in place: the target and the kernel allow it, and L2 has all of an input, or of the output, whose
 * tiles then are pieces of it. */
uint8_t tile_in_place(const struct tile_problem *problem);

/* Of a layer whose windows these steps have: inputs and output that lie in L2 as a whole. A set of enum dory_in_place. */
uint8_t tile_whole_operands(const struct dory_layer *layer, const struct dory_step *steps, uint32_t step_count);

/* The smallest tile with these operands in place. Tiles in CHW, and of tensors in place, are as wide as the tensor. */
struct dory_tile_shape tile_least_shape(const struct tile_problem *problem, uint8_t in_place);

/* ---- tile_search.c ---- */

/* The least L1 bytes of any legal tiling. */
uint32_t tile_least_l1_bytes(const struct tile_problem *problem);

/* Legal: rows and columns as you like (but in CHW all columns); channels a multiple of dory_block_channels() or all of a
 * step; for kernels that can tile them, input channels all, or for each number of chunks the least multiple of 4 that needs
 * no more; single buffers only where double ones do not fit.
 *
 * The legal tiling with the fewest predicted cycles, among equals the one with the least L1. Exact: every legal tiling is
 * either simulated or proven to be worse. False where none fits that takes fewer than `limit` cycles (UINT64_MAX: any). */
bool tile_search(const struct tile_problem *problem, uint64_t limit, struct tiling *best, struct tile_cost *cost);

/* A good tiling in far less time: of fewer tilings the fastest by a closed form. */
bool tile_estimate(const struct tile_problem *problem, struct tiling *best, struct tile_cost *cost);

/* Sets the tile, the blob sizes and the L1 map of a described layer. Returns the L1 bytes. */
uint32_t tile_apply(const struct tile_problem *problem, const struct tiling *tiling, struct dory_layer *record);

#endif
