/* A case of case.h on the cluster, with all operands in L1; no DMA runs. */
#ifndef FIRMWARE_CASE_H
#define FIRMWARE_CASE_H

#include "case.h"

/* Opens the cluster and the flash. 0, or the status that main ends with, said on standard output: 77 where the target counts
 * no cycles, 1 where it has no cluster or no flash. */
int firmware_case_open(unsigned cores);
void firmware_case_close(void);

/* Words from flash to L2. False where they could not be read; at HAL_NOT_IN_FLASH there are none. */
bool firmware_case_read(uint32_t flash_address, void *l2, uint32_t bytes);

/* Computes it by the kernel that is tested, and compares with what the portable kernel gives: that lies in flash, at the
 * address `outputs`, or is computed, too, where that is HAL_NOT_IN_FLASH. Says on standard output what differs. `cycles` are
 * those of the second of two runs, whose instructions are in the cache, from barrier to barrier; of a chunk, which adds to
 * partial sums, of its only run. The cluster is open. */
bool firmware_case_run(struct test_case *test, uint32_t outputs, uint32_t *cycles);

#endif
