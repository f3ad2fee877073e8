/* The files of generator/report/page, compiled in (generator/report/page/embed.cmake writes report_page.c). */
#ifndef DORYGEN_REPORT_PAGE_H
#define DORYGEN_REPORT_PAGE_H

extern const char report_page_html[], report_page_css[], report_page_js[];

#endif
