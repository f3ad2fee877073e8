/* The files that explain a plan to people and to other programs: report.json, report.html and report_trace.json.
 * They print what is in the plan and its timeline; docs/report.md describes them. */
#ifndef DORYGEN_REPORT_FILES_H
#define DORYGEN_REPORT_FILES_H

#include "base/outputs.h"
#include "plan/plan.h"
#include "plan/timeline.h"

/* Of a run of the generated network, from its log. */
struct measured_layer {
    bool is_known;
    uint64_t cycles, dma_wait_cycles, l3_wait_cycles;
};

/* What the user wants to see; all zero: nothing special. */
struct report_options {
    const char *log;    /* file whose measurements stand beside the predictions */
    uint32_t clock_mhz; /* of the cluster, at which the page counts milliseconds first; 0: the page's own */
};

struct report {
    const struct plan *plan;
    const struct timeline *timeline;
    const struct measured_layer *measured; /* one a layer; null: there is no log */
    uint32_t clock_mhz;                    /* 0: not chosen */
};

/* Adds the three files. False after an error was reported. */
bool report_add_files(const struct plan *plan, const struct report_options *options, struct outputs *outputs,
                      struct arena *arena, struct diagnostics *diagnostics);

/* What report.json of a plan has, without a run's figures. */
const char *report_plan_json(const struct plan *plan, uint32_t clock_mhz, struct arena *arena);

/* report_log.c: the lines "perf layer ..." of a log, as dory/check.h describes them; all else in it is
 * passed over. Of several lines of a layer the last one counts. Null after an error was reported. */
const struct measured_layer *report_read_log(const char *path, int layer_count, struct arena *arena,
                                             struct diagnostics *diagnostics);

/* report_json.c, report_html.c, report_trace.c: one file each, zero-terminated, in the arena. */
const char *report_json(const struct report *report, bool compact, struct arena *arena);
const char *report_html(const struct report *report, struct arena *arena);
const char *report_trace(const struct report *report, struct arena *arena);

#endif
