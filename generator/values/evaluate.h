/* Accuracy of a network on a data set, by the golden model. */
#ifndef DORYGEN_EVALUATE_H
#define DORYGEN_EVALUATE_H

#include "base/support.h"
#include "values/data_set.h"

struct evaluation {
    size_t images, right; /* right: the label is the place of the first output's largest element, the first of equals */
    double seconds;       /* by the clock on the wall */
};

/* Runs every image on `threads` threads (0: as many as the PC has cores). False after an error was reported. What comes out
 * does not depend on the number of threads, but for the seconds. */
bool evaluate(const struct data_set *set, unsigned threads, struct evaluation *evaluation, struct diagnostics *diagnostics);

#endif
