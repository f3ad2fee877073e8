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

/* A layer of unsigned bytes, with the tile's shape, of which the output has some more channels on both sides. */
struct dory_layer *plain_layer(struct test_case *test, uint8_t operation);

/* ---- case_norm.c ---- */

/* Constants of a norm that is there, `count` of them, each for `run` elements. */
void fill_norm(struct test_case *test, bool is_centred, uint32_t run, uint32_t count);
void random_norm(struct test_case *test);

/* ---- case_lstm.c ---- */

/* The layer, and a tile that is all of it. Its constants have as many words as a case's lists at most. */
void fill_lstm(struct test_case *test, uint32_t steps, uint32_t inputs, uint32_t units);
void random_lstm(struct test_case *test);

/* ---- case_format.c ---- */

/* Writes the weights of a case in a format, from what they are in quads. False where either writer refuses. */
bool test_case_write_format(const struct test_case *test, const struct dory_weights_format *format, const uint8_t *quads,
                            uint32_t quads_bytes, uint8_t *to, uint32_t bytes);

#endif
