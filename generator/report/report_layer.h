/* What the reports say of one layer. */
#ifndef DORYGEN_REPORT_LAYER_H
#define DORYGEN_REPORT_LAYER_H

#include <jansson.h>

#include "report/report_files.h"

/* When a layer has the cluster, waits for L3 before its steps included. */
struct layer_times {
    uint64_t begin_cycle, end_cycle; /* others may have their turns between them */
    uint64_t profile_cycles;         /* as a run's profile has them: of its own turns, waits included */
    uint64_t l3_wait_cycles;
};

struct layer_totals {
    uint64_t tiles, macs, weights_bytes, kernel_cycles, dma_cycles, predicted_cycles;
    uint64_t l3_read_bytes, l3_write_bytes, measured_cycles;
};

struct layer_times report_layer_times(const struct report *report, int layer);

/* Moved between L3 and L2 for a layer: what its steps read, and what it writes. */
uint64_t report_l3_read_bytes(const struct plan *plan, int layer);
uint64_t report_l3_write_bytes(const struct plan *plan, int layer);

/* Sums over all layers. */
struct layer_totals report_totals(const struct report *report);

/* The first step that works on a buffer; before it, the buffer is being filled. Its first_step where none does. */
int report_first_use(const struct plan *plan, int buffer);

/* How an accumulator becomes an output element: a word of DORY_NORMALISATIONS (describe/layer_operation.h). */
const char *report_normalisation(const struct plan *plan, int layer);

/* What most of the time goes to: "compute", "dma", "l3" or "overhead". */
const char *report_limit(const struct report *report, int layer);

json_t *report_describe_layer(const struct report *report, int layer);

#endif
