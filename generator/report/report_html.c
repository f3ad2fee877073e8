/* report.html: the page of generator/report/page with styles, script and data in it, so that it works from a disk, a mail or
 * a build server, and asks no network for anything. */
#include "report/report_files.h"

#include <string.h>

#include "base/text.h"
#include "report/report_page.h"

/* JSON inside a script element. Names come from a model of unknown origin, and the element ends where its text says
 * so: characters that mean something to HTML are escaped, which JSON allows in strings, and elsewhere it has none. */
static void add_json(struct text *text, const char *json)
{
    while (*json) {
        size_t plain = strcspn(json, "<>&");
        text_add(text, "%.*s", (int)plain, json);
        json += plain;
        if (*json)
            text_add(text, "\\u%04x", (unsigned)*json++);
    }
}

struct parts {
    const char *script, *json;
};

static void add_part(struct text *text, const char *name, size_t length, const struct parts *parts)
{
    if (!strncmp(name, "css", length))
        text_add_string(text, report_page_css);
    else if (!strncmp(name, "js", length))
        text_add_string(text, parts->script);
    else
        add_json(text, parts->json);
}

/* The page's places for its parts look like {{css}}, {{js}} and {{data}}. */
const char *report_page_make(const char *script, const char *json, struct arena *arena)
{
    const struct parts parts = {script, json};
    struct text text = {.arena = arena};
    const char *rest = report_page_html;
    for (const char *place; (place = strstr(rest, "{{"));) {
        const char *name = place + 2, *end = strstr(name, "}}");
        text_add(&text, "%.*s", (int)(place - rest), rest);
        add_part(&text, name, (size_t)(end - name), &parts);
        rest = end + 2;
    }
    text_add_string(&text, rest);
    return text.bytes;
}

const char *report_html(const struct report *report, struct arena *arena)
{
    return report_page_make(report_page_js, report_json(report, true, arena), arena);
}
