/* What layers need of L2 and of the channel to L3. */
#ifndef DORYGEN_PROFILE_H
#define DORYGEN_PROFILE_H

#include "choose/decision.h"

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
const struct profile *profile_make(const struct choice *choice, struct arena *arena);

/* The same of what is chosen, kept with the cut. */
const struct profile *profile_get(const struct choice *choice);

/* What a decision moves. */
struct plan_traffic decision_traffic(const struct decision *decision);

/* What the traffic to RAM takes, as if nothing hid it. */
uint64_t decision_ram_cycles(const struct decision *decision);

#endif
