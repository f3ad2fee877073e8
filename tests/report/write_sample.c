/* Writes the reports of a sample plan into a folder: for the test in a browser, and for a look at the page.
 * Usage: write_sample FOLDER LAYERS NAME [LOG] */
#include <stdlib.h>

#include "report/report_files.h"
#include "sample_plan.h"

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena, .file = "sample.onnx"};
    struct outputs outputs = {0};
    struct plan *plan = sample_plan(atoi(argv[2]), argv[3], &arena);
    struct timeline timeline;
    timeline_make(plan, &timeline, &arena);
    sample_proof(plan, timeline.end_cycle);
    struct report_options options = {.log = argc > 4 ? argv[4] : NULL};
    bool done = report_add_files(plan, &options, &outputs, &arena, &diagnostics) &&
                outputs_commit(&outputs, argv[1], &arena, &diagnostics);
    diagnostics_print(&diagnostics, stderr);
    arena_free(&arena);
    return !done;
}
