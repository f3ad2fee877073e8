/* Constants of a form for one channel, so that it steps where a given function does. */
#ifndef DORYGEN_REQUANTISE_SOLVE_H
#define DORYGEN_REQUANTISE_SOLVE_H

#include "describe/requantise.h"

#define SPLIT_SHIFT 24 /* of the sum of both products */

/* Each writes form->channels[channel] and is true only where requantised_is. `slope` is that of the function without its
 * steps. What holds for the whole layer (shift, left_shift, rounding, clip) is set in form before. */
bool solve_product(struct requantisation *form, int channel, const struct step_function *function, long double slope);
bool solve_clamped(struct requantisation *form, int channel, const struct step_function *function, long double slope);

/* Sums below `zero` are those that rounding takes for negative. */
bool solve_split(struct requantisation *form, int channel, const struct step_function *function, long double slope,
                 int64_t zero);

/* Of a function that falls, where the layer's weights can have the other sign. */
bool solve_negated_split(struct requantisation *form, int channel, const struct step_function *function, long double slope);

/* `bias` is what makes of the accumulator a number of which the reference takes the sign, or its parity. */
bool solve_high(struct requantisation *form, int channel, const struct step_function *function, long double slope,
                int64_t bias);

/* HIGH of a channel that has two elements only: its sign. */
bool solve_step(struct requantisation *form, int channel, const struct step_function *function);

/* The same for all channels, with one multiplier, addend and shift; form has their biases. */
bool solve_shared(struct requantisation *form, const struct requantise_problem *problem);

#endif
