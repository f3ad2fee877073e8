/* What the passes of the planner share. Internal: others see plan.h.
 *
 *     cut.c       how a layer can be cut into steps, each way with its best tile       candidates of a layer
 *     optimise.c  which tensors live in RAM, and one candidate a layer                 the decision (to become a MILP)
 *     schedule.c  steps, buffers, transfers and their times that follow from it        no decisions left but "as soon as
 * possible" place.c     offsets
 */
#ifndef DORYGEN_PLANNER_H
#define DORYGEN_PLANNER_H

#include "plan.h"
#include "tile.h"

/* Operands of a layer that live in RAM. */
enum ram_operand { RAM_INPUT = 1, RAM_SECOND_INPUT = 2, RAM_OUTPUT = 4 };

/* One way to cut a layer into steps: row stripes times channel blocks. */
struct cut {
    uint32_t rows, channels; /* of a step; the last stripe and block may be smaller */
    bool channels_outer;     /* for channel blocks, for row stripes; else the other way round */
    uint8_t ram;             /* set of enum ram_operand */

    /* filled by cut_solve */
    bool solved, legal; /* legal: some tile of it fits L1 */
    const struct dory_kernel_description *kernel;
    struct tiling tiling;
    struct tile_cost cost;
    struct dory_step *steps; /* without offsets and transfers */
    struct step_times *times;
    uint32_t step_count;
    uint32_t quad_bytes;
    struct cut *next; /* of the same layer */
};

/* A decision about one layer. */
struct choice {
    struct cut *cut;
    bool ahead; /* windows and blocks of a step are loaded, and results stored, while the step beside it computes */
};

#define MOST_KERNELS 8

struct planned_layer {
    struct dory_layer run;                                           /* described */
    const struct dory_kernel_description *kernels[MOST_KERNELS + 1]; /* those that support it, null-terminated */
    struct cycle_table *cycles[MOST_KERNELS];
    struct cut *cuts;
    struct cut **lists[8]; /* of cut_list, by set of operands in RAM; null: not made yet */
    int list_counts[8];
    uint32_t least_l1_bytes; /* of its smallest tile */
};

struct planner {
    const struct network *network;
    const struct target *target;
    const struct plan_options *options;
    struct arena *arena;
    struct diagnostics *diagnostics;
    unsigned cores;
    uint32_t l1_bytes, l2_bytes; /* of the arenas */
    struct planned_layer *layers;
    /* the decision */
    enum plan_home *homes;  /* by tensor */
    struct choice *choices; /* by layer */
};

/* plan.c: from network, target, options, arena and diagnostics to everything before the decision. */
bool planner_start(struct planner *planner);

/* ---- sizes ---- */

/* Bytes of one row of an operand as the firmware sees it: 0 and 1: inputs, 2: output. */
uint32_t operand_row_bytes(const struct dory_layer *run, unsigned operand);
uint32_t operand_channels(const struct dory_layer *run, unsigned operand);
uint32_t operand_pixel_bytes(const struct dory_layer *run, unsigned operand, uint32_t channels);
uint32_t tensor_bytes(const struct tensor *tensor);
uint32_t aligned(uint32_t bytes); /* to DORY_ALIGNMENT */
bool layer_has_weights(const struct dory_layer *run);
int layer_input_count(const struct layer *layer);
uint8_t layer_ram(const struct planner *planner, int layer); /* set of enum ram_operand, by the homes decided */

/* ---- cut.c ---- */

/* The memorised cut with these parameters. */
struct cut *cut_get(struct planner *planner, int layer, uint32_t rows, uint32_t channels, bool channels_outer, uint8_t ram);

/* True where a layer may be cut so: alignment of L3 transfers, multiples of 4 channels. */
bool cut_is_legal(const struct dory_layer *run, uint32_t rows, uint32_t channels, uint8_t ram);

/* Finds kernel, tile and times, once. False where no tile fits L1. */
bool cut_solve(struct planner *planner, int layer, struct cut *cut);

/* L2 bytes beside whole tensors that a step of the cut needs: windows and weights, `ahead` with those of the next step. */
uint32_t cut_l2_bytes(const struct planner *planner, int layer, const struct cut *cut, bool ahead);

/* Cycles for which the cut's transfers occupy the channel to L3, roughly: at most. */
uint64_t cut_l3_cycles(const struct planner *planner, int layer, const struct cut *cut);

/* The cuts worth a look for these operands in RAM, coarse ones first. */
int cut_list(struct planner *planner, int layer, uint8_t ram, struct cut ***list);

/* ---- schedule.c ---- */

struct schedule {
    struct plan_step *steps;
    int step_count;
    struct plan_buffer *buffers;
    int buffer_count;
    struct plan_transfer *transfers;
    int transfer_count;
    int *tensor_buffer;  /* by tensor: index, or -1 */
    int *first_step;     /* by layer; [layer_count]: step_count */
    uint32_t live_bytes; /* the most that live at one step */
    int live_step;       /* the first such step */
    uint64_t cycles;     /* predicted, with waits for L3 */
};

/* Builds what follows from the planner's decision. Prefetches use L2 up to `capacity` bytes, by step; null: all of it. What
 * cannot be avoided may exceed it: compare live_bytes. */
void schedule_make(const struct planner *planner, const uint32_t *capacity, struct schedule *schedule, struct arena *arena);

/* Offsets for the schedule's buffers: the bytes they take. As good as the fewest are `enough`; 0: nothing
 * but the fewest. */
uint32_t schedule_place(struct schedule *schedule, uint32_t enough);

/* Cycles for which one transfer occupies the channel to L3. */
uint64_t l3_cycles(const struct target *target, const struct dory_transfer *transfer);

/* ---- optimise.c ---- */

/* Decides homes and choices, by a search from one of several start points. False where it finds nothing. */
#define OPTIMISE_STARTS 2
bool optimise(struct planner *planner, int start);

/* ---- least.c ---- */

/* Bytes of the L1 arena with which every layer has a tile, and the layer that needs them. */
uint32_t least_l1(const struct planner *planner, int *layer);

/* Decides homes and choices so that the network needs the fewest bytes of L2, and makes and places the schedule. False where
 * a layer has no tile. */
bool least_l2(struct planner *planner, struct schedule *schedule, uint32_t *bytes, int *layer);

/* Reports that the network does not fit, and the least L1 and L2 with which it does. */
void least_report(const struct planner *planner);

#endif
