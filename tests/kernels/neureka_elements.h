/* Of the test kernels_neureka: what cores make of the engine's sums. */
#ifndef DORY_TEST_NEUREKA_ELEMENTS_H
#define DORY_TEST_NEUREKA_ELEMENTS_H

#include <stdint.h>

/* One random case. */
void neureka_try_elements(uint32_t number);

#endif
