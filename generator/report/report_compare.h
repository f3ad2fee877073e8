/* Two plans side by side, from the report.json of each. */
#ifndef DORYGEN_REPORT_COMPARE_H
#define DORYGEN_REPORT_COMPARE_H

#include "base/outputs.h"
#include "base/text.h"

/* Adds comparison.html, and to `text` a few lines of sums. False after an error was reported: a file cannot be read, or is
 * no report. */
bool report_compare(const char *first, const char *second, struct outputs *outputs, struct text *text,
                    struct diagnostics *diagnostics);

#endif
