/* What the parts of case.c share. */
#ifndef CASE_PARTS_H
#define CASE_PARTS_H

#include "case.h"

/* The tile's extents and products, of a layer and a shape that are set. */
void shape_tile(struct test_case *test);

/* ---- case_moves.c ---- */

/* Makes another layer of the case, where the kernel is one that moves elements, or one of those of whole pixels. */
void random_moves(struct test_case *test);

/* The lists and stages of such a layer of test_case_of, and of a pool by thresholds; nothing of others. */
void usual_moves(struct test_case *test);

/* ---- case_lstm.c ---- */

/* The layer, and a tile that is all of it. Its constants have as many words as a case's lists at most. */
void fill_lstm(struct test_case *test, uint32_t steps, uint32_t inputs, uint32_t units);
void random_lstm(struct test_case *test);

#endif
