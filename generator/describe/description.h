/* What the parts of the pass `describe` share: the layer at work. Internal to the room.
 *
 * Every function reads the layer and sets fields of the firmware's struct (d->record); what cannot be is reported (REFUSE).
 */
#ifndef DORYGEN_DESCRIPTION_H
#define DORYGEN_DESCRIPTION_H

#include <inttypes.h>

#include "describe/describe.h"
#include "describe/requantise.h"
#include "network/stage.h"

struct bounds {
    int64_t minimum, maximum;
};

struct description {
    const struct network *network;
    const struct layer *layer;
    const struct tensor *input, *second_input, *output; /* second_input: null but for additions and concatenations */
    struct dory_layer *record;
    struct dory_stages *stages;            /* of it, where it has any */
    struct requantisation *requantisation; /* of layers without weights */
    struct requantise_problem *sums;       /* of a convolution */
    struct dory_layer *tables;             /* the same as tables of bytes; without a table where it is none */
    struct stage terms[2], first;          /* of layers without weights: the model's, as floors */
    struct arena *arena;
    struct diagnostics *diagnostics;
};

#define REFUSE(description, attribute, ...)                                                                                 \
    diagnose((description)->diagnostics, SEVERITY_ERROR, (description)->layer->name, attribute, __VA_ARGS__)

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline bool fits_32_bits(wide value) { return value >= INT32_MIN && value <= INT32_MAX; }
static inline bool fits_64_bits(wide value) { return value >= INT64_MIN && value <= INT64_MAX; }

static inline wide wide_minimum(wide a, wide b) { return a < b ? a : b; }
static inline wide wide_maximum(wide a, wide b) { return a > b ? a : b; }

static inline bool same_shape(const struct tensor *a, const struct tensor *b)
{
    return a->height == b->height && a->width == b->width && a->channels == b->channels;
}

/* ---- describe_stages.c: how sums become elements ---- */

/* The values that the elements of an input can have. */
struct bounds described_bounds(const struct description *d, int input);

/* The clip of the output: the stage's (null: none), within what its elements hold. */
void describe_clip(const struct description *d, const struct stage *last);

/* A stage as the firmware's scalar one, for values within x; and what comes out of one. */
struct dory_stage describe_scalar_stage(const struct description *d, const struct stage *stage, struct bounds x);
struct bounds described_stage_bounds(const struct dory_stage *stage, struct bounds x);

/* Whether 32 bits hold what a stage of one channel computes of values within x. */
bool describe_fits_32(const struct stage *stage, struct bounds x);

/* A stage for which no form was found. */
void describe_refuse_stage(const struct description *d, const struct stage *stage);

/* What the sums of each channel of a convolution become. The constants of a whole layer, for sums within the bounds: as a
 * floor, or as thresholds. */
void describe_channel_stages(const struct description *d);
void describe_scalar_stages(struct description *d, struct bounds accumulator);
void describe_floor(struct description *d, struct stage *stage, struct bounds x);
void describe_thresholds(struct description *d, struct bounds accumulator, int32_t *thresholds);
struct bounds described_accumulator(const struct description *d);

/* One scale for the whole layer in the high half of a product (DORY_NORMALISE_HIGH), in d->stages->first. *bias is to be
 * added to every accumulator; where that is null, there is none. False where no such form is proven equal. */
bool describe_high_stage(struct description *d, struct bounds accumulator, int64_t *bias);

/* ---- describe_shape.c ---- */

struct dimension {
    const char *name;
    int64_t value;
    uint16_t *place;
};

/* Copies dimensions that the firmware holds in 16 bits. */
void describe_dimensions(const struct description *d, const struct dimension *dimensions, size_t count);

/* Negative: windows begin so many rows below the first one. */
void describe_padding_top(const struct description *d, int64_t rows);

/* Shapes, windows, borders, elements; and whether windows and tensors go together. */
void describe_shape(const struct description *d);
void describe_border(const struct description *d);
void describe_flattened(const struct description *d);
void describe_elements(const struct description *d);
void describe_check_extents(const struct description *d);
void describe_check_maximum_pool(const struct description *d);

/* ---- describe_sums.c, describe_copy.c, describe_elements.c: kinds of layers ---- */

void describe_convolution(const struct description *d);
void describe_tables(const struct description *d);
void describe_pool_table(const struct description *d);
void describe_pool(struct description *d);
void describe_addition(struct description *d);
void describe_multiplication(struct description *d);
void describe_matrix_product(struct description *d);
void describe_concatenation(struct description *d);
void describe_copy(const struct description *d);
bool describe_transposition(const struct description *d); /* false where it is none */
void describe_interpolation(struct description *d);
void describe_table(struct description *d);
void describe_largest(struct description *d);
void describe_squared_difference(struct description *d);
void describe_norm(const struct description *d); /* describe_norm.c */
void describe_lstm(const struct description *d); /* describe_lstm.c */

#endif
