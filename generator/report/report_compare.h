/* Two plans side by side, from the report.json of each. */
#ifndef DORYGEN_REPORT_COMPARE_H
#define DORYGEN_REPORT_COMPARE_H

#include "base/outputs.h"
#include "base/text.h"

struct comparison {
    const char *first, *second; /* paths of report.json */
    uint32_t clock_mhz;         /* at which the page counts milliseconds first; 0: not chosen */
};

/* Adds comparison.html, and to `text` a few lines of sums. False after an error was reported: a file cannot be read, or is
 * no report. */
bool report_compare(const struct comparison *comparison, struct outputs *outputs, struct text *text,
                    struct diagnostics *diagnostics);

#endif
