/* What firmware_kernels runs, and write_kernel_outputs has prepared for it on the build machine, for gvsoc takes two minutes
 * to simulate that: a file in flash, of
 *
 *     the starts of the random layers
 *     what the portable kernels give for the layers of the table, one behind the other, each from a word on
 */
#ifndef DORY_TEST_KERNELS_FIRMWARE_CASES_H
#define DORY_TEST_KERNELS_FIRMWARE_CASES_H

#include "case.h"

#define RANDOM_CASES 300
#define RANDOM_MACS  20000
#define LOCAL_BYTES  48000 /* of L1, for all operands */
#define OUTPUT_BYTES 20000 /* of it, at most: L2 has the code of all kernels */

/* Of test_case_again. */
struct random_start {
    uint32_t seed, start;
};

/* A random layer that fits; `index` from 0. */
void find_random_case(struct test_case *test, uint32_t index);

/* The layers of usual networks whose cycles are measured. */
extern const struct test_shape test_shapes[];
extern const size_t test_shape_count;

#endif
