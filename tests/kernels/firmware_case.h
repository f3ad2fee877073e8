/* A case of case.h on the cluster, with all operands in L1; no DMA runs. */
#ifndef FIRMWARE_CASE_H
#define FIRMWARE_CASE_H

#include "case.h"

/* Opens the cluster; hal_cluster_close closes it. 0, or the status that main ends with, said on standard output: 77 where
 * the target counts no cycles, 1 where it has no cluster. */
int firmware_case_open(unsigned cores);

/* Whether its operands fit what there is of L1. */
bool firmware_case_fits(const struct test_case *test);

/* Computes it by the portable kernel and by the one that is tested, and compares; says on standard output what differs.
 * `cycles` are those of the second of two runs, whose instructions are in the cache, from barrier to barrier; of a chunk,
 * which adds to partial sums, of its only run. The cluster is open. */
bool firmware_case_run(struct test_case *test, uint32_t *cycles);

#endif
