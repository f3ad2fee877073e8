/* What tests of the planner's parts start with. */
#ifndef TESTS_PLAN_PLANNING_H
#define TESTS_PLAN_PLANNING_H

#include "choose/block.h"
#include "choose/profile.h"
#include "describe/describe.h"
#include "realise/schedule.h"
#include "search/search.h"
#include "solve/plan_make.h"
#include "solve/solve.h"

/* A layer of a network, described and in the form that the first of the target's engines prefers. An error that is reported
 * fails the test. */
struct formed_layer formed_layer_of(const struct network *network, int layer, const struct target *target,
                                    struct arena *arena);

/* A problem with all weights in flash, before problem_make. It holds on to its arguments. */
struct problem problem_for(const struct network *network, const struct target *target, const struct plan_options *options,
                           struct arena *arena);

/* True where a layer has an operand for each of this set of them in RAM. */
bool has_operands(const struct network *network, int layer, uint8_t ram);

/* Between the least L2 with which the network runs and all that it can use, by the square of seed % steps of `steps`: mostly
 * nearer to the least. 0: it does not run. */
uint32_t tight_l2_bytes(const struct network *network, const struct target *target, uint32_t l1_bytes, uint64_t seed,
                        uint32_t steps);

typedef void seed_test(uint64_t seed, const struct target *target, void *counts);

/* Calls the test for seeds from 1 on, with gap8 as the target: as many as the program's first argument says, else
 * `otherwise`. Returns how many. */
uint64_t test_seeds(int argc, char **argv, uint64_t otherwise, seed_test *test, void *counts);

#endif
