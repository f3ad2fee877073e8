/* Norms in real numbers, as models have them, as layers of whole numbers. */
#ifndef DORYGEN_NORMS_H
#define DORYGEN_NORMS_H

#include "middle/quantised.h"

/* Which numbers a norm divides by: all of them behind a square root, epsilon inside. */
enum norm_kind {
    NORM_OF_DEVIATION, /* x less the mean, by the standard deviation: LayerNormalization */
    NORM_OF_MEAN,      /* x, by the mean of the squares: RMSNorm */
    NORM_OF_SUM        /* x, by the sum of the squares: the L2 norm */
};

/* y = normalised x * factor + term, between minimum and maximum. Real numbers, `count` of each: see struct norm. */
struct real_norm {
    enum norm_kind kind;
    double epsilon;
    int run, count;
    const double *factors, *terms;
    double minimum, maximum; /* infinite: none */

    /* What x less its mean, or x, is multiplied with in place of the root, by the element of `roots_of`, a tensor of one
     * channel; null: the root is the norm's own. */
    const double *roots;
    int roots_of;
};

/* The norm of the channels of `input` as elements of `output`; both tensors exist, of one shape. False where numbers have no
 * such form: they are no numbers, or too large beside the output's scale. */
bool middle_norm(struct quantised_builder *builder, const char *name, int input, int output, const struct real_norm *real);

#endif
