/* Two reports side by side: sums and differences, a page without HTML of a name's making, and no report that is damaged is
 * taken for one. Usage: test_compare FOLDER, which gets comparison.html for a browser */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "report/report_compare.h"
#include "report/report_files.h"
#include "sample_plan.h"

#define NASTY_NAME "<script>alert(1)</script>"

static char *json_of(int layers, const char *name, struct arena *arena)
{
    struct plan *plan = sample_plan(layers, name, arena);
    struct timeline timeline;
    timeline_make(plan, &timeline, arena);
    sample_proof(plan, timeline.end_cycle);
    struct report report = {.plan = plan, .timeline = &timeline};
    return arena_format(arena, "%s", report_json(&report, false, arena));
}

static const char *write_file(struct arena *arena, const char *folder, const char *name, const char *text)
{
    struct diagnostics diagnostics = {.arena = arena};
    const char *path = arena_format(arena, "%s/%s", folder, name);
    struct outputs outputs = {0};
    outputs_add(&outputs, name, text, strlen(text));
    EXPECT(outputs_commit(&outputs, folder, arena, &diagnostics), "cannot write %s", path);
    return path;
}

/* ---- what is right ---- */

static void test_page(const char *folder)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct outputs outputs = {0};
    struct text text = {.arena = &arena};
    const char *first = write_file(&arena, folder, "first.json", json_of(29, NASTY_NAME, &arena));
    const char *second = write_file(&arena, folder, "second.json", json_of(32, NASTY_NAME, &arena));
    bool done = report_compare(&(struct comparison){first, second, 0}, &outputs, &text, &diagnostics);
    EXPECT(done && outputs.count == 1 && !strcmp(outputs.list[0].name, "comparison.html"), "%d files", outputs.count);
    if (done) {
        EXPECT(!strstr(outputs.list[0].bytes, NASTY_NAME), "a name is taken for HTML");
        EXPECT(outputs_commit(&outputs, folder, &arena, &diagnostics), "cannot write the page");
    }
    arena_free(&arena);
}

/* The difference of two numbers that the text shows is theirs. */
static void test_sums(const char *folder)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct outputs outputs = {0};
    struct text text = {.arena = &arena};
    const char *first = write_file(&arena, folder, "a.json", json_of(3, "conv", &arena));
    const char *second = write_file(&arena, folder, "b.json", json_of(29, "conv", &arena));
    EXPECT(report_compare(&(struct comparison){first, second, 0}, &outputs, &text, &diagnostics), "not compared");
    long long a = 0, b = 0;
    char change[32] = "";
    const char *line = text.bytes ? strstr(text.bytes, "\ncycles ") : NULL;
    EXPECT(line && sscanf(line, " cycles %lld %lld %31s", &a, &b, change) == 3 && a > 0 && b > a, "%s", text.bytes);
    double percent = 100.0 * (double)(b - a) / (double)(a ? a : 1);
    EXPECT(strtod(change, NULL) > percent - 0.006 && strtod(change, NULL) < percent + 0.006, "%s instead of %f", change,
           percent);
    struct text same = {.arena = &arena};
    EXPECT(report_compare(&(struct comparison){first, first, 0}, &outputs, &same, &diagnostics) &&
               strstr(same.bytes, " =\n"),
           "%s", same.bytes);
    arena_free(&arena);
}

/* ---- what is wrong ---- */

/* The report with the first occurrence of `from` replaced. */
static const char *replaced(struct arena *arena, const char *json, const char *from, const char *to)
{
    const char *found = strstr(json, from);
    EXPECT(found != NULL, "no %s in the report", from);
    return found ? arena_format(arena, "%.*s%s%s", (int)(found - json), json, to, found + strlen(from)) : json;
}

static void expect_refused(struct arena *arena, const char *folder, const char *text, const char *message)
{
    struct diagnostics diagnostics = {.arena = arena};
    struct outputs outputs = {0};
    struct text sums = {.arena = arena};
    const char *good = arena_format(arena, "%s/a.json", folder);
    const char *bad = text ? write_file(arena, folder, "bad.json", text) : arena_format(arena, "%s/none.json", folder);
    bool done = report_compare(&(struct comparison){good, bad, 0}, &outputs, &sums, &diagnostics);
    EXPECT(!done && outputs.count == 0 && diagnostics.error_count == 1, "%s: taken for a report", message);
    EXPECT(done || strstr(diagnostics.list[0].text, message), "'%s' instead of '%s'", diagnostics.list[0].text, message);
}

static void test_refused(const char *folder)
{
    static const struct {
        const char *from, *to, *message;
    } faults[] = {
        {"\"dory-report\"", "\"other\"", "is no report"},
        {"\"version\": 1", "\"version\": 2", "another version"},
        {"\"predicted_cycles\"", "\"cycles\"", "'totals' has no 'predicted_cycles'"},
        {"\"kernel\": \"", "\"kernel\": 5, \"k\": \"", "'layers[0]' has no 'kernel'"},
        {"\"first_step\": 0", "\"first_step\": 3", "'layers[0]' has no 'first_step'"},
        {"\"steps\": 1", "\"steps\": 4", "'layers[0]' has no 'steps'"},
        {"\"order\": \"", "\"order\": null, \"o\": \"", "'layers.tile[0]' has no 'order'"},
        {"\"buffers\": [", "\"buffers\": 7, \"b\": [", "'buffers' has no 'kind'"},
        {"\"l1_peak_bytes\": ", "\"l1_peak_bytes\": -", "'memory' has no 'l1_peak_bytes'"},
        {"\"macs\": ", "\"macs\": 99999999999", "'totals' has no 'macs'"},
    };
    struct arena arena = {0};
    const char *json = json_of(3, "conv", &arena);
    write_file(&arena, folder, "a.json", json);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        expect_refused(&arena, folder, replaced(&arena, json, faults[i].from, faults[i].to), faults[i].message);
    expect_refused(&arena, folder, arena_format(&arena, "%.*s", 2000, json), "cannot read the report");
    expect_refused(&arena, folder, "[1, 2]", "is no report");
    expect_refused(&arena, folder, NULL, "cannot read the report");
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    test_page(argv[1]);
    test_sums(argv[1]);
    test_refused(argv[1]);
    return expect_result("test_compare");
}
