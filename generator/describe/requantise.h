/* Requantisation on the chip: of every layer the cheapest form of the firmware (enum dory_normalisation) that gives what the
 * model's stage gives, for every accumulator that a channel can have.
 *
 * A form is taken in one of two ways. Literally: it is the stage's own formula, and no number exceeds its type. Or proven:
 * its constants are solved for, so that it steps where the stage steps, and compared with it at every step; between two
 * steps both are constant, since both are monotone. */
#ifndef DORYGEN_REQUANTISE_H
#define DORYGEN_REQUANTISE_H

#include "base/support.h"
#include "describe/step_function.h"
#include "dory/constants.h"
#include "dory/layer.h"
#include "network/network.h"

enum requantisation_verdict {
    REQUANTISED_LITERALLY,
    REQUANTISED_PROVEN,
    REQUANTISED_FAST /* not equal, on demand: `wrong_accumulators` says how far from it */
};

struct requantisation {
    enum dory_normalisation normalisation;
    enum dory_rounding rounding; /* HIGH, SHARED, SPLIT */
    int shift, left_shift;
    uint32_t reciprocal;
    int64_t divisor;
    int32_t minimum, maximum;                /* clip; CLAMPED gives nothing else anyway */
    struct dory_channel_constants *channels; /* null but for convolutions */
    int channel_count;

    enum requantisation_verdict verdict;
    int constant_channels; /* that have one value for all their accumulators; PROVEN, FAST */
    int64_t accumulators;  /* of all channels, for which it holds */
    int64_t wrong_accumulators, most_wrong;
    int64_t pairs; /* of inputs of an addition, for which all is proven; 0: it is not one, or computed as the model has it */
};

struct requantise_problem {
    const struct stage *stage;
    const struct sum_range *ranges; /* a channel: its accumulators */
    int channel_count;
    int32_t minimum, maximum; /* what an element of the output may be */
    bool allow_fast;          /* take CLAMPED, though it is wrong for some accumulators */
    bool only_high;           /* no form but HIGH */
    const bool *negatable;    /* a channel: all of its weights have a number of the other sign; null: none */
};

/* Who computes the layer: several forms may equal the stage, and this says which of them it can compute, and how fast. */
struct requantise_engine {
    const struct dory_layer *layer;                                          /* described, but for its form */
    uint64_t (*cycles)(const void *context, const struct dory_layer *layer); /* UINT64_MAX: not in that form */
    const void *context;
};

/* False where no form gives the stage, or the engine can compute none that does. `engine` null: any can be computed, and
 * none is faster than HIGH. */
bool requantise(const struct requantise_problem *problem, const struct requantise_engine *engine,
                struct requantisation *result, struct arena *arena);

/* Why there is no form for a stage, for people. */
const char *requantise_refusal(const struct stage *stage);

/* What the firmware's struct says of the form. */
void requantisation_describe(const struct requantisation *form, struct dory_layer *record);

/* The same of a layer without weights that has the form's constants in its stages: those of DORY_MATRIX_PRODUCT
 * (dory/matrix_product.h). */
void requantisation_describe_stages(const struct requantisation *form, struct dory_stages *stages);

/* What the firmware makes of an accumulator. False where a number exceeds its type on the way. */
bool requantised_value(const struct requantisation *form, int channel, int64_t accumulator, int64_t *value);

/* True where the form equals the function at all of its points and keeps to its types, so everywhere. */
bool requantised_is(const struct requantisation *form, int channel, const struct step_function *function);

/* "high, to even: proven for 64 channels (3 constant), 1234567 sums": for people. */
const char *requantisation_text(const struct requantisation *form, struct arena *arena);

#endif
