/* One random case: a network, planned into little memory, executed, compared. */
#ifndef DORY_TEST_RANDOM_CASE_H
#define DORY_TEST_RANDOM_CASE_H

#include "dory/engine.h"
#include "features.h"
#include "random_network.h"

enum random_outcome { CASE_EXACT, CASE_REFUSED, CASE_WRONG, CASE_PASSED_OVER };

struct random_totals {
    bool verbose;                        /* print the plan of a case that fails */
    bool dead;                           /* networks have dead channels, which mostly are left out */
    bool has_views;                      /* networks have copies that can be views */
    const struct dory_engine *engine;    /* that is asked first, before the portable one; null: one of the product's */
    int layers_of_engine;                /* that it computes */
    int wide_channels, channels_of_sums; /* of N-EUREKA's weights, where a layer may have both */
    int gaps, left;                      /* layers that leave gaps for the border of the next, or their output in L1 alone */
    int early_inputs;                    /* layers whose inputs come beside the layer before */
    int added, refused_additions; /* that the kernel of the layer before makes; of such plans made wrong, refused ones */
    bool leaves_in_place;         /* the target has kernels take operands where they lie */
    int inputs_in_place, weights_in_place, outputs_in_place; /* layers */
    int run_layers, overlap; /* networks of which nothing is copied; of which an output lies where an input does */
    int tables_in_place;     /* with a table of tiles whose weights are in place */
    bool only_blocks;        /* layers take turns wherever they can; networks where none do are passed over */
    int passed_over;
    int exact, refused, wrong;
    int tiled_rows, tiled_columns, tiled_channels, tiled_input_channels; /* layers */
    int stepped_rows, stepped_channels;                                  /* layers with several steps */
    int xpulpv2;                                                         /* layers that have such a kernel */
    int in_ram;                                                          /* networks with a tensor in RAM */
    int in_chw;                                                          /* networks with a tensor in CHW */
    int sharing;                                                         /* networks with layers that share their weights */
    int blocks, queries;  /* networks with layers that take turns, and of them those with products of a head's queries */
    int resident, linked; /* networks with weights that stay in L2, or are linked */
    int loads;            /* networks with transfers behind the first step */
    int shrunk, dead_channels; /* networks without their dead channels, and how many these were */
    int unread_pixels;         /* how many pixels they lack, too */
    int moved;                 /* networks whose slices came early */
    int viewed, views;         /* networks with views instead of copies, and how many these were */
    uint64_t values;
    struct features features; /* of exact cases */
};

/* Plans and runs the network; `seed` is told where it fails. A network that a pass refuses is no failure of the run. */
enum random_outcome random_case(struct network *network, struct random *random, const char *reproduction,
                                struct arena *arena, struct random_totals *totals);

/* random_totals.c */

struct plan;
/* Of a case that ran: its plan, its network, and how many values were compared. */
void random_totals_add(struct random_totals *totals, const struct plan *plan, const struct network *network,
                       uint64_t values);
void random_totals_print(const struct random_totals *totals);
bool random_has_block(const struct plan *plan);

/* wide_channels.c */
void count_wide_channels(const struct plan *plan, struct random_totals *totals);

/* added.c: and makes such plans wrong, for the check to refuse. */
void count_added(const struct plan *plan, struct random_totals *totals);

#endif
