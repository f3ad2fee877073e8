/* How a plan is made. Others see plan_make.h, and plan/plan.h for what comes of it. What is made of what, in the order of
 * the rooms:
 *
 * choose/ : what there is to choose from; nothing in it depends on what is decided about other layers.
 *     problem.c    memories, layers and kernels: what is given, const; form.c: in which form an engine likes a layer
 *     cut.c        how a layer can be cut into steps, each way with its best tile; cut_list.c: which ways
 *     profile.c    what a layer needs of L2 and L3, step by step
 *     candidate.c  the cuts that no other one beats
 *     decision.c   levels and layouts of tensors, choices of layers: made, copied, compared
 *     block.c      how layers behind each other can be cut together, to take turns; this asks where tensors are
 * price/ : what follows from a decision, nothing left to decide but "as soon as possible".
 *     draft.c      all layers played: cycles and bytes; gaps.c: with places
 * realise/ : the decision written down.
 *     schedule.c   steps, buffers, transfers; postpone.c: which take more of L2 than they have to; fit.c: and have places
 * search/ : from decision to decision.
 *     levels.c     which tensors must be in RAM, or may be, and which may be in CHW
 *     improve.c    the price of the decision at hand, and better cuts; guess.c, starts.c: a first decision
 *     moves.c      moves that gain something; search.c: and moves that may lose a little; fuse.c: which layers form blocks
 *     model.c      the decision as a mixed integer program, which GLPK solves; bounds.c: bounds that need no solver
 *     optimise.c   all together; least.c: the least memory that there is a decision for
 * solve/ : one plan, and several to compare.
 *     one_plan.c   one plan: problem, search, schedule, plan; plan_memory.c: what plans before have found
 *     resident.c   which weights are in memory before a run; budget.c: how much memory there is for a plan
 */
#ifndef DORYGEN_SOLVE_H
#define DORYGEN_SOLVE_H

#include "choose/plan_options.h"
#include "plan/plan.h"

/* ---- one_plan.c ---- */

/* What plan_make does for one choice of weights that are in memory before a run, by layer; null: none are. */
bool plan_with(const struct network *network, const struct target *target, const struct plan_options *options,
               const bool *resident, struct plan *plan, struct arena *arena, struct diagnostics *diagnostics);

#endif
