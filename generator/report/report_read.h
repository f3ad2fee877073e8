/* Reading a report.json again. It may come from anywhere: nothing is taken for granted of it. */
#ifndef DORYGEN_REPORT_READ_H
#define DORYGEN_REPORT_READ_H

#include <jansson.h>

#include "base/support.h"

/* The report, with everything in it that a comparison uses: all of the right type, and indices inside their lists. The
 * caller releases it (json_decref). Null after an error was reported. */
json_t *report_read(const char *path, struct diagnostics *diagnostics);

#endif
