/* What the search picks from. */
#ifndef DORYGEN_CANDIDATE_H
#define DORYGEN_CANDIDATE_H

#include "planner/cut.h"

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
