/* How the planner is put together, and what its passes share. Internal: others see plan_make.h, and plan/plan.h for what
 * comes of it.
 *
 *     budget.c     how much memory there is for a plan
 *     resident.c   which weights are in memory before a run: a plan for each of several choices
 *     plan.c       one plan: problem, search, schedule, plan; plan_memory.c: what plans before have found
 * The problem, what is given (problem.h): const.
 *     problem.c    memories, layers and kernels
 * What there is to choose for a layer: it depends on the layer and on nothing that is decided about others.
 *     cut.c        how it can be cut into steps, each way with its best tile; cut_list.c: which ways
 *     candidate.c  those of them that no other one beats
 *     block.c      ... and how layers behind each other can be cut together, to take turns; this asks where tensors are
 * The decision (decision.h): levels and layouts of tensors, choices of layers.
 *     decision.c   made, copied, compared
 * Its price (price.h): what follows from it, nothing left to decide but "as soon as possible".
 *     profile.c    what a layer needs of L2 and L3, step by step
 *     draft.c      all layers played: cycles and bytes
 *     gaps.c       ... with places
 * Realised (schedule.h):
 *     schedule.c   written down: steps, buffers, transfers
 *     postpone.c   ... which take more of L2 than they have to
 *     fit.c        ... and have places
 *     place/       offsets: greedy, by a local search, by a complete one
 * The search (optimiser.h), from decision to decision.
 *     levels.c     which tensors must be in RAM, or may be, and which may be in CHW
 *     starts.c     a first decision
 *     moves.c      moves that gain something
 *     search.c     and moves that may lose a little
 *     fuse.c       which layers form blocks
 *     model.c      the decision as a mixed integer program, which GLPK solves: a proof, a bound, and what else it finds
 *     optimise.c   all together
 *     least.c      the least memory that there is a decision for
 */
#ifndef DORYGEN_PLANNER_H
#define DORYGEN_PLANNER_H

#include "planner/decision.h"

/* ---- plan.c ---- */

/* What plan_make does for one choice of weights that are in memory before a run, by layer; null: none are. */
bool plan_with(const struct network *network, const struct target *target, const struct plan_options *options,
               const bool *resident, struct plan *plan, struct arena *arena, struct diagnostics *diagnostics);

/* ---- optimise.c ---- */

/* What a search has come to. */
struct outcome {
    struct decision decision;           /* the fastest for which places have been found */
    uint64_t cycles;                    /* UINT64_MAX: none */
    struct plan_traffic without_blocks; /* of the fastest that has none, where one with blocks is taken */
    struct plan_proof proof;            /* what is known of all decisions */
};

/* The best decision that is found. False where there is none. */
bool optimise(const struct problem *problem, struct outcome *outcome);

/* ---- least.c ---- */

/* Bytes of the L1 arena with which every layer has a tile, and the layer that needs them. */
uint32_t least_l1(const struct problem *problem, int *layer);

/* A decision with which the network needs the fewest bytes of L2: how many, and the layer that needs most. False where a
 * layer has no tile. */
bool least_l2(struct decision *decision, uint32_t *bytes, int *layer);

/* Reports that the network does not fit, and the least L1 and L2 with which it does. */
void least_report(const struct problem *problem, struct diagnostics *diagnostics);

#endif
