/* What a misspelt name may have been. */
#ifndef DORYGEN_NEAREST_H
#define DORYGEN_NEAREST_H

#include <stddef.h>

/* Collects the nearest of the names that it is given. Start with `wanted` alone; `length` letters of it count. */
struct nearest {
    const char *wanted;
    size_t length;
    const char *best; /* null: none of them is near */
    size_t distance;  /* of it */
};

/* A name that begins with what is wanted is nearer than any other; otherwise the fewest letters to insert, delete or change
 * count, and where more than a third of them would have to, names are not near. Of equally near names the first stays.
 * `name` may be null, which is near to nothing. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
