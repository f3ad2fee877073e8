/* explore.json, and the page that draws it. */
#include <math.h>
#include <string.h>

#include "explore/explore.h"
#include "report/report_page.h"
#include "report/report_values.h"

/* To a millionth: the same text wherever the last bits of a logarithm differ. Null where it is not known. */
static void set_real(json_t *object, const char *key, double number)
{
    set_value(object, key, number > 0 ? json_real(round(number * 1e6) / 1e6) : json_null());
}

static json_t *describe_point(const struct explored *point)
{
    json_t *object = value_object();
    set_number(object, "l1_bytes", point->l1_bytes);
    set_number(object, "l2_bytes", point->l2_bytes);
    set_number(object, "controller_mhz", point->clocks.controller_mhz);
    set_number(object, "cluster_mhz", point->clocks.cluster_mhz);
    set_value(object, "cycles", point->cycles ? json_integer((json_int_t)point->cycles) : json_null());
    set_real(object, "milliseconds", point->milliseconds);
    set_real(object, "milliwatts_estimate", point->milliwatts);
    set_real(object, "millijoules_estimate", point->millijoules);
    set_boolean(object, "on_front", point->is_on_front);
    return object;
}

static json_t *describe_source(const struct power_point *point)
{
    json_t *object = value_object();
    set_number(object, "mhz", point->mhz);
    set_number(object, "millivolts", point->millivolts);
    set_number(object, "microwatts", point->microwatts);
    set_text(object, "source", point->source);
    return object;
}

static json_t *describe_power(const struct target *target)
{
    if (!target->low.source)
        return json_null();
    json_t *object = value_object(), *measured = value_array();
    append_value(measured, describe_source(&target->low));
    append_value(measured, describe_source(&target->high));
    set_value(object, "measured", measured);
    set_text(object, "assumed",
             "a power law of the clock between the measured points, proportional below; the faster clock sets the voltage; "
             "idling, "
             "flash and sizes of memories do not count");
    set_number(object, "assumed_controller_percent", target->controller_power_percent);
    return object;
}

static json_t *describe(const struct exploration *exploration)
{
    const struct explore_question *question = exploration->question;
    json_t *root = value_object(), *points = value_array();
    set_number(root, "format", 1);
    set_text(root, "generator", "dory " DORY_VERSION);
    set_text(root, "network", text_file_name(question->network->name));
    set_text(root, "target", question->target->name);
    set_number(root, "target_l1_bytes", question->target->l1_bytes);
    set_number(root, "target_l2_bytes", question->target->l2_bytes);
    set_real(root, "deadline_milliseconds", question->deadline_milliseconds);
    set_value(root, "power", describe_power(question->target));
    set_index(root, "cheapest", exploration->cheapest);
    set_index(root, "fastest", exploration->fastest);
    for (int i = 0; i < exploration->count; i++)
        append_value(points, describe_point(&exploration->points[i]));
    set_value(root, "points", points);
    return root;
}

void explore_add_files(const struct exploration *exploration, struct outputs *outputs, struct arena *arena)
{
    const char *json = value_print(describe(exploration), false, arena);
    const char *page = report_page_make(report_page_explore_js, json, arena);
    outputs_add(outputs, "explore.json", json, strlen(json));
    outputs_add(outputs, "explore.html", page, strlen(page));
}
