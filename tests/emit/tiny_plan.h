/* A plan made by hand: one 3x3 convolution of a 4x4 picture to two channels, its weights fetched from flash. */
#ifndef DORY_TEST_TINY_PLAN_H
#define DORY_TEST_TINY_PLAN_H

#include "plan/plan.h"

/* Everything it points to is static, and set up anew by each call. */
struct plan *tiny_plan(void);

#endif
