/* What the reports say of one layer. */
#ifndef DORYGEN_REPORT_LAYER_H
#define DORYGEN_REPORT_LAYER_H

#include <jansson.h>

#include "report/report_files.h"

struct layer_totals {
    uint64_t tiles, macs, weights_bytes, kernel_cycles, dma_cycles, predicted_cycles;
    uint64_t l3_read_bytes, l3_write_bytes, measured_cycles;
};

/* Sums over all layers. */
struct layer_totals report_totals(const struct report *report);

/* The first step that works on a buffer; before it, the buffer is being filled. Its first_step where none does. */
int report_first_use(const struct plan *plan, int buffer);

/* How an accumulator becomes an output element: a word of DORY_NORMALISATIONS (describe/layer_operation.h). */
const char *report_normalisation(const struct plan *plan, int layer);

json_t *report_describe_layer(const struct report *report, int layer);

#endif
