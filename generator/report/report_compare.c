#include "report/report_compare.h"

#include <inttypes.h>
#include <string.h>

#include "report/report_page.h"
#include "report/report_read.h"
#include "report/report_values.h"

static const struct {
    const char *name, *place, *key;
} sums[] = {
    {"cycles", "totals", "predicted_cycles"},          {"of them waiting for L3", "totals", "l3_wait_cycles"},
    {"kernels alone", "totals", "kernel_cycles"},      {"tiles", "totals", "tiles"},
    {"bytes read from L3", "totals", "l3_read_bytes"}, {"bytes written to L3", "totals", "l3_write_bytes"},
    {"bytes of L2", "memory", "l2_peak_bytes"},        {"bytes of L1", "memory", "l1_peak_bytes"},
    {"bytes of flash", "memory", "flash_bytes"},
};

static json_int_t number(const json_t *root, const char *place, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(root, place), key));
}

/* Hundredths of a percent, in integers: the same text on any machine. Numbers are below 2^53. */
static const char *change_text(struct arena *arena, json_int_t first, json_int_t second)
{
    json_int_t change = second > first ? second - first : first - second;
    if (change == 0 || first == 0 || change > INT64_MAX / 10000)
        return change == 0 ? "=" : "";
    json_int_t hundredths = (change * 10000 + first / 2) / first;
    return arena_format(arena, "%s%" PRId64 ".%02" PRId64 " %%", second > first ? "+" : "-", (int64_t)(hundredths / 100),
                        (int64_t)(hundredths % 100));
}

static void add_sums(struct text *text, const json_t *first, const json_t *second)
{
    text_add(text, "%-24s %14s %14s %10s\n", "", "first", "second", "difference");
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        json_int_t a = number(first, sums[i].place, sums[i].key), b = number(second, sums[i].place, sums[i].key);
        text_add(text, "%-24s %14" PRId64 " %14" PRId64 " %10s\n", sums[i].name, (int64_t)a, (int64_t)b,
                 change_text(text->arena, a, b));
    }
}

/* Takes the report over. */
static json_t *described(const char *path, json_t *report)
{
    json_t *object = value_object();
    set_text(object, "path", path);
    set_value(object, "report", report);
    return object;
}

static void add_page(const struct comparison *comparison, json_t *a, json_t *b, struct outputs *outputs, struct arena *arena)
{
    json_t *root = value_object();
    set_value(root, "first", described(comparison->first, a));
    set_value(root, "second", described(comparison->second, b));
    if (comparison->clock_mhz)
        set_number(root, "clock_mhz", comparison->clock_mhz);
    const char *page = report_page_make(report_page_compare_js, value_print(root, true, arena), arena);
    outputs_add(outputs, "comparison.html", page, strlen(page));
}

bool report_compare(const struct comparison *comparison, struct outputs *outputs, struct text *text,
                    struct diagnostics *diagnostics)
{
    json_t *a = report_read(comparison->first, diagnostics), *b = report_read(comparison->second, diagnostics);
    if (!a || !b) {
        json_decref(a);
        json_decref(b);
        return false;
    }
    add_sums(text, a, b);
    add_page(comparison, a, b, outputs, text->arena);
    return true;
}
