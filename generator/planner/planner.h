/* What the passes of the planner share. Internal: others see plan_make.h, and plan/plan.h for what comes of it.
 *
 *     resident.c   which weights are in memory before a run: a plan for each of several choices
 * The problem: struct planner, all but the decision.
 *     problem.c    memories, layers and kernels
 *     cut.c        how a layer can be cut into steps, each way with its best tile; cut_list.c: which ways
 *     candidate.c  those of them that no other one beats
 *     block.c      ... and how layers behind each other can be cut together, to take turns
 *     levels.c      ... and which ones in RAM
 * The decision: levels and layouts of tensors, choices of layers.
 * Its price: what follows from it, nothing left to decide but "as soon as possible".
 *     profile.c    what a layer needs of L2 and L3, step by step
 *     draft.c      all layers played: cycles and bytes
 *     gaps.c       ... with places
 *     schedule.c   written down: steps, buffers, transfers
 *     postpone.c   ... which take more of L2 than they have to
 *     fit.c        ... and have places
 *     place/       offsets: greedy, by a local search, by a complete one
 * The search.
 *     starts.c     first decisions
 *     moves.c      moves that gain something
 *     search.c     and moves that may lose a little
 *     model.c      the decision as a mixed integer program, which GLPK solves: a proof, a bound, and what else it finds
 *     fuse.c       which layers form blocks
 *     optimise.c   all together
 */
#ifndef DORYGEN_PLANNER_H
#define DORYGEN_PLANNER_H

#include "place/place.h"
#include "plan/lives.h"
#include "plan/operand.h"
#include "plan/timeline.h"
#include "planner/plan_make.h"
#include "tile/tile.h"

/* Operands of a layer that live in RAM. */
enum ram_operand { RAM_INPUT = 1, RAM_SECOND_INPUT = 2, RAM_OUTPUT = 4 }; /* 1 << operand */

/* A layer's times where these of its steps drain. */
struct cut_times {
    const bool *drains;
    struct tile_cost cost;
    const struct step_times *steps;
    const struct tile_cost *members; /* of a block: by layer, all its turns together */
    struct cut_times *next;          /* of the same cut */
};

/* One way to cut a layer into steps: row stripes times channel blocks. */
struct cut {
    uint32_t rows, channels; /* of a step; the last stripe and block may be smaller */
    bool channels_outer;     /* for channel blocks, for row stripes; else the other way round */
    uint8_t ram;             /* set of enum ram_operand */
    uint32_t input_rows[2];  /* at most, of a step; by input */

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

    const struct block *block; /* the layers that this cuts together; null: it is of one layer */

    struct cut_times *drained;         /* by cut_drained */
    const struct profile *profiles[2]; /* by profile_get: without and with working ahead; null: not made yet */
};

/* What a cut of several layers consists of: the first of them has it as its choice, the others have planner.within. */
struct block {
    int layers;
    struct cut *const *members; /* by layer: its own steps and tile */
    const struct block_step {
        int member, part;
    } * order;                           /* by step of the block: which one of which layer */
    const int *first_steps, *last_steps; /* by layer, of the block's */
    const uint32_t *ring_rows;           /* by layer, of its output; 0: it is no ring */
};

/* A decision about one layer. */
struct choice {
    struct cut *cut;
    bool ahead; /* windows and blocks of a step are loaded, and results stored, while the step beside it computes */
};

/* A choice, and what the choice for the whole network wants to know of it. Times are cluster cycles. */
struct candidate {
    struct choice choice;
    uint64_t cycles;                                       /* of the layer, without waits */
    uint64_t first_start_cycles;                           /* until its first step computes: then prefetches can start */
    uint64_t read_cycles, write_cycles, last_write_cycles; /* of the channel to L3; of the last step */
    uint64_t read_commands;                                /* that the reads are made of */
    uint64_t write_start_cycles; /* until its first result can go to RAM; without any, its cycles */
    uint64_t first_write_cycles; /* of the channel, for that */
    uint64_t first_input_cycles; /* of the channel, for what the first step reads of its first input from RAM */
    uint64_t input_cycles;       /* the same for all steps, and what is left to compute behind the last such read; without */
    uint64_t rest_cycles;        /* any, its cycles */
    int64_t cycles_from_reads;   /* of the layer, if the channel starts on all that it reads when the layer starts */
    int64_t lead_gain; /* at most, with L2 full: cycles that the channel gains within the layer, less the layer's cycles */
    /* L2 bytes beside whole tensors: at its first and last step, at the step where they are most, and of windows that are
     * still on their way to RAM at the next layer's first step */
    uint32_t first_bytes, last_bytes, most_bytes, carried_bytes;
    bool dominated; /* by another one */
};

#define MAXIMUM_KERNELS 8
#define MAXIMUM_CUTS    256 /* of a layer, for one set of operands in RAM */

/* A layer with its tensors in some layouts. Equal ones share it: networks repeat themselves. */
struct planned_layer {
    struct dory_layer record;                                           /* described */
    bool brings_weights;                                                /* from the flash, in a run */
    const struct dory_kernel_description *kernels[MAXIMUM_KERNELS + 1]; /* those that support it, null-terminated */
    struct cycle_table *cycles[MAXIMUM_KERNELS];
    struct cut *cuts;
    struct cut *members;   /* of blocks, as one layer's cut */
    struct cut **lists[8]; /* of cut_list, by set of operands in RAM; null: not made yet */
    int list_counts[8];
    struct candidate *fronts[8]; /* of candidate_front, likewise */
    int front_counts[8], first_counts[8];
    uint32_t least_l1_bytes;    /* of its smallest tile */
    uint32_t least_l2_bytes[8]; /* of its smallest cut, plus 1; likewise. 0: not known yet */
};

#define LAYER_VARIANTS 4 /* input and output, each in HWC or CHW */

struct planner {
    const struct network *network;
    const struct target *target;
    const struct plan_options *options;
    struct arena *arena; /* of the search: freed when the plan is made */
    struct arena *kept;  /* of the plan */
    struct diagnostics *diagnostics;
    struct cut_memory *memory; /* null: none */
    unsigned cores;
    uint32_t l1_bytes, l2_bytes; /* of the arenas, the latter at most: with the least tables */
    uint32_t least_table_bytes;  /* 0: tables are not in L2 */
    uint32_t fixed_table_bytes;  /* of them, what neither steps nor transfers take */
    struct tensor_life *lives;   /* by tensor */
    struct dory_layer *records;  /* by layer: described, in HWC */
    uint32_t *tensor_bytes;      /* by tensor, aligned */
    const struct requantisation **requantisations;
    struct planned_layer **variants;    /* by layer and layouts of its tensors; null: nobody has asked for it yet */
    const bool *resident;               /* by layer: its weights are in memory before a run starts; null: none are */
    uint32_t resident_bytes;            /* of L2, for them: not in l2_bytes */
    struct cut *within;                 /* of a layer in a block that another one starts: no steps of its own */
    struct plan_traffic without_blocks; /* of the fastest decision that has none, where one with blocks is taken */
    struct known_block *blocks;         /* that have been made, or have been found not to be possible */
    struct place_memory *placements;
    /* the decision */
    enum dory_layout *layouts; /* by tensor; those in CHW stay in L2 */
    enum memory_level *levels; /* by tensor */
    struct choice *choices;    /* by layer */
};

/* problem.c: from network, target, options, arenas and diagnostics to everything before the decision. */
bool planner_start(struct planner *planner);

/* problem.c: the layer with its tensors in the layouts that are decided; without kernels where it cannot have them so. */
struct planned_layer *layer_of(const struct planner *planner, int layer);

/* resident.c: takes off l2_bytes what the planner's resident weights need there, with the mark behind them. False after an
 * error was reported: there is not so much. */
bool resident_reserve(struct planner *planner);

/* plan.c: what plan_make does for one choice of weights that are in memory before a run, by layer; null: none are. */
bool plan_with(const struct network *network, const struct target *target, const struct plan_options *options,
               const bool *resident, struct plan *plan, struct arena *arena, struct diagnostics *diagnostics);

/* plan.c: of the planner's decision as a plan that is finished, so far as one can be that joins no transfers. UINT64_MAX: it
 * has no places. */
uint64_t plan_finished_cycles(const struct planner *planner);

/* ---- levels.c: layouts ---- */

/* Which tensors can be in CHW, and may by the options. */
void layouts_find(struct planner *planner, bool *may_be_chw);

/* ---- sizes ---- */

uint32_t tensor_bytes(const struct tensor *tensor);
bool layer_brings_weights(const struct planner *planner, int layer); /* from the flash, in a run */
uint64_t layer_weights_bytes(const struct dory_layer *record);       /* for 8-bit weights; of fewer bits, at least */
uint8_t layer_ram(const struct planner *planner, int layer);         /* set of enum ram_operand, by the levels decided */

/* ---- cut.c ---- */

/* The memorised cut with these parameters. */
struct cut *cut_get(struct planner *planner, int layer, uint32_t rows, uint32_t channels, bool channels_outer, uint8_t ram);

/* True where a layer may be cut so: alignment of L3 transfers, multiples of 4 channels. */
bool cut_is_legal(const struct dory_layer *record, uint32_t rows, uint32_t channels, uint8_t ram);

/* Finds kernel, tile and times, once. False where no tile fits L1. */
bool cut_solve(struct planner *planner, int layer, struct cut *cut);

/* True where both are tiled alike, whatever of them lies in RAM. */
bool cut_has_same_tiles(const struct planned_layer *of, const struct cut *a, const struct cut *b);

/* ---- plan_memory.c ---- */

/* What is known of cuts on such a target. */
struct cut_memory *plan_memory_cuts(struct plan_memory *memory, const struct target *target);

/* A solution of a plan before, or null. */
const struct cut *cut_memory_find(struct cut_memory *memory, const struct planned_layer *of, int layer,
                                  const struct cut *cut);
void cut_memory_keep(struct cut_memory *memory, const struct planned_layer *of, int layer, const struct cut *cut);

/* The plan before at equal clocks, all weights in flash, if it was for this target and this size of L2; else false. Plans
 * that are kept are made in the memory's arena. */
bool plan_memory_find(const struct plan_memory *memory, const struct target *target, uint32_t l2_bytes, struct plan *plan);
void plan_memory_keep(struct plan_memory *memory, const struct target *target, uint32_t l2_bytes, const struct plan *plan);
struct arena *plan_memory_arena(struct plan_memory *memory);

/* ---- cut.c ---- */

/* The times of a solved cut of which these steps drain, played anew where it foresaw others. */
const struct cut_times *cut_drained(const struct planner *planner, int layer, struct cut *cut, const bool *drains);

/* L2 bytes beside whole tensors that a step of the cut needs: windows and weights, `ahead` with those of the next step. */
uint32_t cut_l2_bytes(const struct planner *planner, int layer, const struct cut *cut, bool ahead);

/* Cycles for which the cut's transfers occupy the channel to L3, roughly: at most. */
uint64_t cut_l3_cycles(const struct planner *planner, int layer, const struct cut *cut);

/* ---- cut_list.c ---- */

/* True where cut_list has all cuts there are. */
bool layer_is_small(const struct planner *planner, int layer);

/* The cuts worth a look for these operands in RAM, coarse ones first. */
int cut_list(struct planner *planner, int layer, uint8_t ram, struct cut ***list);

/* ---- cut.c ---- */

/* For block.c: one step of a cut, its windows those of operands in RAM and of whole tensors; the input rows that it reads,
 * of which the first is at a multiple of `granule`; the best tile for a cut whose steps are there; the times of some of its
 * steps, with all cycles from the first load on. */
struct dory_step cut_make_step(const struct dory_layer *record, const struct cut *cut, uint32_t row, uint32_t rows,
                               uint32_t channel);
void cut_input_rows(const struct dory_layer *record, uint32_t first, uint32_t rows, uint32_t granule,
                    struct dory_window *window);
bool cut_find_tile(const struct planner *planner, int layer, struct cut *cut);
void cut_play(const struct planner *planner, int layer, const struct cut *cut, const struct dory_step *steps, uint32_t count,
              struct tile_cost *cost, struct step_times *times);
uint32_t cut_row_granule(uint32_t row_bytes); /* rows that make a whole number of L3 words */

/* ---- block.c ---- */

#define MAXIMUM_IN_BLOCK 12 /* layers */

struct known_block {
    int first, last;
    uint32_t rows;
    uint64_t key;
    struct cut cut;
    struct known_block *next;
};

/* True where layers `first` to `last` can take turns: what lies between them is read by none but them. */
bool block_is_possible(const struct planner *planner, int first, int last);

/* The memorised cut of these layers, the last of which computes so many rows at a turn, with tensors where the planner's
 * levels say, all inner ones being rings; null: there is none, for no tile fits, or rings and weights take more than so
 * many bytes. */
struct cut *block_get(struct planner *planner, int first, int last, uint32_t rows, uint32_t bytes);

/* The block's times with these steps, which differ from its own in those that drain. */
void block_play(const struct planner *planner, int first, const struct cut *cut, const struct dory_step *steps,
                struct cut_times *times);

/* The layer whose choice cuts this one, and its own cut. */
int block_start(const struct planner *planner, int layer);
struct cut *cut_of(const struct planner *planner, int layer);
bool is_in_block(const struct planner *planner, int layer);

/* ---- fuse.c ---- */

struct optimiser;

/* What the decision at hand moves. */
struct plan_traffic traffic_of(const struct planner *planner);

/* Forms blocks as long as that makes the decision at hand faster, or where it is to spare RAM, spares that for little time;
 * around the first tensors first, or around the last. */
void fuse(struct optimiser *optimiser, bool spares_ram, bool last_first);

/* ---- candidate.c ---- */

/* The candidates of a layer for these operands in RAM: the front of cycles, L2 bytes and L3 traffic. 0: it cannot run so. */
int candidate_front(struct planner *planner, int layer, uint8_t ram, const struct candidate **front);

/* The first of them, which work ahead, but for the smallest ones: good guesses. */
int candidate_first(struct planner *planner, int layer, uint8_t ram, const struct candidate **front);

/* ---- profile.c ---- */

enum { PROFILE_WEIGHTS = 3, PROFILE_OPERANDS }; /* 0 and 1 are inputs, 2 is the output */

struct profile_buffer {
    uint32_t bytes;
    int first_step, last_step; /* of the layer; the last may be the first one of the next layer */
    uint8_t operand;
    int member; /* of a block: the layer's place in it */
};

struct profile_transfer {
    struct dory_transfer record;   /* addresses are relative to tensor or blob, and to the buffer */
    uint64_t cycles;               /* of the channel */
    uint32_t start_byte, end_byte; /* of the tensor, that a window spans */
    int buffer, step;
};

struct profile {
    struct profile_buffer *buffers;
    struct profile_transfer *reads, *writes; /* in the order of the steps that need and make them */
    int buffer_count, read_count, write_count;
    uint64_t channel_cycles, ram_cycles;         /* of all of them; of those from and to RAM */
    uint64_t flash_bytes, ram_bytes, read_bytes; /* that they move */
    int (*step_buffers)[PROFILE_OPERANDS];       /* by step and operand; -1: a whole tensor, or there is none */
    uint32_t *live;                              /* bytes by step, and at the first one of the next layer */
};

/* What a layer needs beside whole tensors in L2, cut so: made anew, as few candidates are ever chosen, and they are many. */
const struct profile *profile_make(const struct planner *planner, int layer, const struct choice *choice,
                                   struct arena *arena);

/* The same of what is chosen, kept with the cut. */
const struct profile *profile_get(const struct planner *planner, int layer, const struct choice *choice);

/* ---- schedule.c ---- */

struct schedule {
    struct plan_step *steps;
    int step_count;
    struct plan_buffer *buffers;
    int buffer_count;
    struct plan_transfer *transfers;
    int transfer_count;
    int *tensor_buffer;      /* by tensor: index, or -1 */
    int *first_step;         /* by layer; [layer_count]: step_count */
    uint32_t l2_bytes;       /* of the arena, beside the tables */
    uint32_t live_bytes;     /* the most that live at one step */
    struct tile_cost *costs; /* by layer, with all drains */
    uint64_t cycles;         /* predicted, with waits for L3: what the plan will report */
    uint64_t gap_cycles;     /* of schedule_fit: of them at most, what free bytes that are not in one piece cost */
};

/* What a decision costs, offsets aside. */
struct price {
    uint64_t cycles;
    uint32_t live_bytes, l2_bytes; /* of what is not prefetched; it does not fit where the first are more */
    int live_layer;                /* at which most live */
    int parts;                     /* steps and transfers */
};

/* Of the planner's decision, with so many bytes of L2 for arena and tables beyond the least. Where it fits and takes more
 * cycles than the limit, or where it does not fit, it takes at least as many as the price says. */
struct price schedule_price(const struct planner *planner, uint32_t l2_bytes, uint64_t limit);

/* The price's parts, in far less time. */
int schedule_parts(const struct planner *planner);

/* How places are found while a decision is played: for what must live, with so much care, and for prefetches in the lowest
 * or highest gap. */
struct gaps_variant {
    bool from_above;
    enum place_care care;
};

/* Cycles with places found so, at least where that is above the limit; UINT64_MAX: there are none. */
uint64_t schedule_price_in_gaps(const struct planner *planner, const struct gaps_variant *variant, uint64_t limit);

/* Builds what follows from the planner's decision. Prefetches start as early as bytes of L2 are free, whatever the places,
 * but leave so many free themselves. What cannot be avoided may exceed L2: compare live_bytes. */
void schedule_make(const struct planner *planner, uint32_t left_bytes, struct schedule *schedule, struct arena *arena);

/* The same with places; false where there are none. */
bool schedule_make_in_gaps(const struct planner *planner, const struct gaps_variant *variant, struct schedule *schedule,
                           uint32_t *peak, struct arena *arena);

/* Bytes of L2 with which the decision has places, were nothing prefetched. */
uint32_t schedule_least_bytes(const struct planner *planner);

/* When everything in a schedule happens. */
void schedule_timeline(const struct planner *planner, const struct schedule *schedule, struct timeline *timeline,
                       struct arena *arena);

/* Counts live_bytes anew. */
void schedule_count_live(struct schedule *schedule, struct arena *arena);

/* Offsets for the schedule's buffers, by `place`: the bytes they take. */
uint32_t schedule_place(const struct planner *planner, struct schedule *schedule, uint32_t enough, enum place_care care);

/* ---- postpone.c ---- */

/* Starts each prefetch as late as it may, so that no step waits longer than it does: the order of the transfers and
 * `cycles` stay, buffers live for less time. `margin`: cycles by which it is queued earlier than it has to, where it was. */
void schedule_postpone(const struct planner *planner, uint64_t margin, struct schedule *schedule, struct arena *arena);

/* Starts each prefetch as early as its buffer's place is free, but not before the step `earliest` (by transfer). Buffers
 * have offsets, and keep them. */
void schedule_advance(struct schedule *schedule, const int *earliest, struct arena *arena);

/* ---- fit.c ---- */

struct fit_limits {
    uint64_t cycles; /* the schedule must take less */
    enum place_care care;
};

/* Makes the fastest schedule that finds places. gap_cycles says what these cost. False where there is none below the limit.
 */
bool schedule_fit(const struct planner *planner, const struct fit_limits *limits, struct schedule *schedule, uint32_t *peak,
                  struct arena *arena);

/* Of a decision whose places cost nothing, with prefetches queued as early as places are found for on the bound,
 * live_bytes: the later they are, the less may take longer than predicted. False where not even the latest starts have such
 * places. */
bool schedule_fit_early(const struct planner *planner, struct schedule *schedule, uint32_t *peak, struct arena *arena);

/* ---- optimise.c ---- */

/* Decides levels, layouts and choices. False where it finds nothing. `proof`: what is known of all decisions. */
bool optimise(struct planner *planner, struct plan_proof *proof);

/* ---- least.c ---- */

/* Bytes of the L1 arena with which every layer has a tile, and the layer that needs them. */
uint32_t least_l1(const struct planner *planner, int *layer);

/* Decides levels and choices so that the network needs the fewest bytes of L2: how many, and the layer that needs most.
 * False where a layer has no tile. */
bool least_l2(struct planner *planner, uint32_t *bytes, int *layer);

/* Reports that the network does not fit, and the least L1 and L2 with which it does. */
void least_report(const struct planner *planner);

#endif
