/* Random numbers, and layers made of them. */
#ifndef DORY_TEST_KERNELS_RANDOM_LAYER_H
#define DORY_TEST_KERNELS_RANDOM_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "dory/layer.h"

/* Of all numbers that follow; never 0. */
extern uint32_t random_state;

uint32_t random_word(void);
uint32_t random_up_to(uint32_t most);
uint32_t random_between(uint32_t least, uint32_t most);
bool one_in(uint32_t n);

bool has_weights(const struct dory_layer *layer);
static inline bool is_matrix_product(const struct dory_layer *layer) { return layer->operation == DORY_MATRIX_PRODUCT; }

/* A shift for factors of about 2^8 / (the largest sum), so that all of the output's range is seen. */
uint8_t usual_shift(const struct dory_layer *layer);

/* Makes up everything but sizes and layouts. `name` is that of the kernel that is to take it: few of the layers are drawn
 * that it never takes. */
void random_layer(struct dory_layer *layer, struct dory_stages *stages, const char *name);

/* The stages of an addition as networks have them; false, and nothing done, for some: any stages do for these. */
bool random_addition(struct dory_layer *layer, struct dory_stages *stages);

/* The clamped form of a division by `divisor`, as the generator makes it (see dory/layer.h). */
void divide_clamped(struct dory_layer *layer, uint32_t divisor);

/* A multiplier of which the high half is about the same for sums of the usual size, or a power of two, for there are ties;
 * of a layer whose rounding and left shift are set. And such a layer in the form DORY_NORMALISE_SHARED. */
struct random_scale {
    int32_t multiplier;
    int64_t addend;
    int32_t shift;
};
struct random_scale random_scale(const struct dory_layer *layer);
void share_scale(struct dory_layer *layer);

#endif
