/* From a model's file to a network: reader and import in one call. What every command and test starts with. */
#ifndef DORYGEN_LOAD_H
#define DORYGEN_LOAD_H

#include "base/support.h"
#include "network/network.h"

enum front_end { FRONT_END_DETECT, FRONT_END_NEMO, FRONT_END_QUANTLAB, FRONT_END_QDQ, FRONT_END_TFLITE };

struct load_options {
    enum front_end front_end;
    int input_bits; /* 0: 8 */
    bool input_is_signed;
    bool computes_unread; /* slices and gathers stay where the model has them */
    bool carries_sums;    /* what is divided and not rounded, as by an average pool, is divided by the layer that reads it */
};

/* Null after errors were reported; all faults of the model in one call. `options` may be null. Diagnostics must have an
 * arena; its file is set to `path` if it is null. What is proven about values comes later (range_prove in network/range.h).
 */
struct network *network_load(const char *path, const struct load_options *options, struct arena *arena,
                             struct diagnostics *diagnostics);
struct network *network_load_memory(const void *bytes, size_t length, const char *name, const struct load_options *options,
                                    struct arena *arena, struct diagnostics *diagnostics);

/* Sets an option of the command line, "frontend" (nemo, quantlab, qdq, tflite, detect) or "input-bits" (2, 4, 8). Null, or
 * what is wrong.
 */
const char *load_option_parse(struct load_options *options, const char *name, const char *text);

#endif
