/* Which layer a dump is of. Files are numbered by the tool that wrote them: PLiNIO and QuantLib number the modules that they
 * look at, so that numbers shift behind a pool or a sum that they do not. */
#ifndef DORYGEN_DUMP_MATCH_H
#define DORYGEN_DUMP_MATCH_H

#include "network/network.h"
#include "values/text_tensor.h"

struct dump {
    const char *path;
    int number; /* of the file's name */
    struct text_tensor file;
    int layer; /* whose output it has; NO_LAYER: of none, and there are fewer layers than its number says */
};

/* Sets the layers of all dumps, which are in the order of their numbers: by the module that the header names, where a layer
 * is called so; else by the number, shifted as the dumps before; else the next one with so many values. No two of a layer.
 */
void dump_match(const struct network *network, struct dump *dumps, int count, struct arena *arena);

#endif
