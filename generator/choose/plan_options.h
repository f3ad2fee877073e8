/* What is asked of a plan. */
#ifndef DORYGEN_PLAN_OPTIONS_H
#define DORYGEN_PLAN_OPTIONS_H

#include "target/target.h"

struct plan_options {
    uint32_t l1_bytes;          /* 0: the target's, less its stacks. Of the memory level: stacks are taken off this too */
    uint32_t l2_bytes;          /* 0: the target's, less what its firmware takes. Else the arena's size, nothing taken off */
    bool tables_in_l2;          /* l2_bytes are for the arena and the network's tables, which depend on the plan */
    uint32_t l2_firmware_bytes; /* of L2, for all but arena and tables: budget.h, not plan_make */
    uint32_t l2_application_bytes; /* of these, the application's share */
    unsigned cores;                /* 0: the target's */
    bool tensors_in_ram;           /* for tests: level every intermediate tensor in L3 RAM where possible */
    /* By cycles; the others are for tests: CHW nowhere, or wherever it is possible. */
    enum plan_layouts { LAYOUTS_BY_CYCLES, LAYOUTS_HWC, LAYOUTS_CHW } layouts;
    /* Where weights are before a run: all in the flash; all in L2, beside the activations; in L2 those with which the
     * network is fastest; all linked into the program, which is in L2, too. */
    enum plan_weights { WEIGHTS_FLASH, WEIGHTS_RESIDENT, WEIGHTS_AUTO, WEIGHTS_LINKED } weights;
    /* Layers that take turns, stripe by stripe, so that the tensors between them are never whole: where that is faster;
     * nowhere; where it spares RAM, faster or not; for tests: wherever it is possible. */
    enum plan_blocks { BLOCKS_AUTO, BLOCKS_NONE, BLOCKS_SPARING, BLOCKS_ALWAYS } blocks;
    bool shares_weights;    /* of plan_make alone: layers with equal weights bring them from the flash once */
    uint32_t more_walks;    /* of the search: some tenths of a second each, and sometimes a faster plan */
    int simplex_iterations; /* for tests: the most in a branch of the model's tree; 0: as many as it may need */
    /* Null: none. Of plans before, which were for the same network, options and target, but for clocks and the size of L2:
     * the same plan in less time. It lives longer than the plan. */
    struct plan_memory *memory;
};

/* Does the target have the cores and bytes that the options ask for? A plan for more is one for another machine. */
bool plan_options_check(const struct plan_options *options, const struct target *target, struct diagnostics *diagnostics);

#endif
