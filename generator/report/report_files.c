#include "report/report_files.h"

#include <string.h>

const char *report_plan_json(const struct plan *plan, uint32_t clock_mhz, struct arena *arena)
{
    struct timeline timeline;
    struct report report = {.plan = plan, .timeline = &timeline, .clock_mhz = clock_mhz};
    timeline_make(plan, &timeline, arena);
    return report_json(&report, false, arena);
}

bool report_add_files(const struct plan *plan, const struct report_options *options, struct outputs *outputs,
                      struct arena *arena, struct diagnostics *diagnostics)
{
    struct timeline timeline;
    struct report report = {.plan = plan, .timeline = &timeline, .clock_mhz = options->clock_mhz};
    if (options->log) {
        report.measured = report_read_log(options->log, plan->network->layer_count, arena, diagnostics);
        if (!report.measured)
            return false;
    }
    timeline_make(plan, &timeline, arena);
    const char *json = report_json(&report, false, arena);
    const char *html = report_html(&report, arena);
    const char *trace = report_trace(&report, arena);
    outputs_add(outputs, "report.json", json, strlen(json));
    outputs_add(outputs, "report.html", html, strlen(html));
    outputs_add(outputs, "report_trace.json", trace, strlen(trace));
    return true;
}
