/* The files of generator/report/page, compiled in (generator/report/page/embed.cmake writes report_page.c). */
#ifndef DORYGEN_REPORT_PAGE_H
#define DORYGEN_REPORT_PAGE_H

#include "base/support.h"

extern const char report_page_html[], report_page_css[];
extern const char report_page_js[];         /* of the report of one plan */
extern const char report_page_compare_js[]; /* of two plans side by side */
extern const char report_page_explore_js[]; /* of one network over clocks and memories */

/* report_html.c: the page with a script and the data that it draws; in the arena. */
const char *report_page_make(const char *script, const char *json, struct arena *arena);

#endif
