/* What there is to choose for a layer: the ways to cut it into steps, each with the best tile, and those of them that are
 * candidates. Nothing in it depends on what is decided about other layers. */
#ifndef DORYGEN_CUT_H
#define DORYGEN_CUT_H

#include "choose/problem.h"

#define MAXIMUM_CUTS 256 /* of a layer, for one set of operands in RAM */

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
    struct planned_layer *of;
    uint32_t rows, channels; /* of a step; the last stripe and block may be smaller */
    bool channels_outer;     /* for channel blocks, for row stripes; else the other way round */
    uint8_t ram;             /* set of enum ram_operand */
    uint32_t step_count;
    uint32_t input_rows[2]; /* at most, of a step; by input */

    /* filled by cut_solve */
    bool solved, legal; /* legal: some tile of it fits L1 */
    const struct dory_kernel_description *kernel;
    struct tiling tiling;
    struct tile_cost cost;
    struct dory_step *steps; /* without offsets and transfers */
    const struct step_times *times;
    uint32_t block_bytes; /* of weights */
    struct cut *next;     /* of the same layer */

    const struct block *block; /* the layers that this cuts together, of which `of` is the first; null: it is of one layer */

    struct cut_times *drained;         /* by cut_drained */
    const struct profile *profiles[2]; /* by profile_get: without and with working ahead; null: not made yet */
};

/* A decision about one layer. */
struct choice {
    struct cut *cut;
    bool ahead; /* windows and blocks of a step are loaded, and results stored, while the step beside it computes */
};

/* The memorised cut with these parameters. */
struct cut *cut_get(struct planned_layer *of, uint32_t rows, uint32_t channels, bool channels_outer, uint8_t ram);

/* True where a layer may be cut so: alignment of L3 transfers, multiples of 4 channels. */
bool cut_is_legal(const struct dory_layer *record, uint32_t rows, uint32_t channels, uint8_t ram);

/* Finds kernel, tile and times, once. False where no tile fits L1. */
bool cut_solve(struct cut *cut);

/* The times of a solved cut of which these steps drain, played anew where it foresaw others. */
const struct cut_times *cut_drained(struct cut *cut, const bool *drains);

/* L2 bytes beside whole tensors that a step of the cut needs: windows and weights, `ahead` with those of the next step. */
uint32_t cut_l2_bytes(const struct cut *cut, bool ahead);

/* Cycles for which the cut's transfers occupy the channel to L3, roughly: at most. */
uint64_t cut_l3_cycles(const struct cut *cut);

/* For block.c: one step of a cut, its windows those of operands in RAM and of whole tensors; the input rows that it reads,
 * of which the first is at a multiple of `granule`; the best tile for a cut whose steps are there; the times of some of its
 * steps, with all cycles from the first load on. */
struct dory_step cut_make_step(const struct dory_layer *record, const struct cut *cut, uint32_t row, uint32_t rows,
                               uint32_t channel);
void cut_input_rows(const struct dory_layer *record, uint32_t first, uint32_t rows, uint32_t granule,
                    struct dory_window *window);
bool cut_find_tile(struct cut *cut);
void cut_play(const struct cut *cut, const struct dory_step *steps, uint32_t count, struct tile_cost *cost,
              struct step_times *times);
uint32_t cut_row_granule(uint32_t row_bytes); /* rows that make a whole number of L3 words */

/* ---- cut_list.c ---- */

/* True where cut_list has all cuts there are. */
bool layer_is_small(const struct dory_layer *record);

/* The cuts worth a look for these operands in RAM, coarse ones first. */
int cut_list(struct planned_layer *of, uint8_t ram, struct cut ***list);

/* ---- candidate.c ---- */

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

/* The candidates of a layer for these operands in RAM: the front of cycles, L2 bytes and L3 traffic. 0: it cannot run so. */
int candidate_front(struct planned_layer *of, uint8_t ram, const struct candidate **front);

/* The first of them, which work ahead, but for the smallest ones: good guesses. */
int candidate_first(struct planned_layer *of, uint8_t ram, const struct candidate **front);

#endif
