#include "check/checker.h"

#include <stdarg.h>

void check_fault(struct checker *checker, const char *format, ...)
{
    char text[400];
    va_list arguments;
    if (++checker->faults > CHECK_MAXIMUM_FAULTS)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    diagnose(checker->diagnostics, SEVERITY_ERROR, NULL, NULL, "a fault of dory, please report it: the plan is wrong: %s",
             text);
}

const char *checker_layer_name(const struct checker *c, int layer) { return c->plan->network->layers[layer].name; }
