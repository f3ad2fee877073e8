#include "command/option_table.h"

#include <stdlib.h>
#include <string.h>

#include "command/commands.h"

/* ---- what there is ---- */

#define PLACE(MEMBER) offsetof(struct options, MEMBER)

enum {
    ALL = 8191,
    PLANNING = COMMAND_GENERATE | COMMAND_PLAN | COMMAND_REPORT,
    LOADING = PLANNING | COMMAND_INSPECT | COMMAND_RUN | COMMAND_DIFF | COMMAND_PROBE | COMMAND_EVALUATE | COMMAND_NEW |
              COMMAND_EXPLORE | COMMAND_EXPORT,
    WRITING = COMMAND_GENERATE | COMMAND_REPORT | COMMAND_PROBE | COMMAND_RUN | COMMAND_EXPLORE
};

const struct option option_table[] = {
    {PLANNING | COMMAND_PROBE | COMMAND_COST | COMMAND_EXPLORE | COMMAND_EXPORT, "--target", "target", OPTION_TEXT,
     PLACE(target), "T",
     "host, virt, gap8, siracusa, pulp_open, cortex-m4 (m7, m33, m55) or a description FILE.json; default host"},
    {WRITING, "--output-dir", NULL, OPTION_PATH, PLACE(folder), "DIR",
     "folder of the files; made if need be; default: this one; run: none"},
    {COMMAND_GENERATE | COMMAND_PROBE | COMMAND_NEW | COMMAND_EXPORT, "--name", "name", OPTION_TEXT, PLACE(name), "N",
     "of the network in C, and of the files; default: the model file's"},
    {COMMAND_NEW, "--board", NULL, OPTION_TEXT, PLACE(board), "B",
     "ai-deck: camera, network, answer to the Crazyflie and its client's console; cortex-m4, -m7, -m33, -m55: under QEMU; "
     "default: a main.c that runs the network"},
    {LOADING, "--config", NULL, OPTION_PATH, PLACE(config), "FILE",
     "more options, in JSON; default: MODEL.json, where it has a key \"dory\"; none: no file"},
    {PLANNING | COMMAND_PROBE | COMMAND_EXPORT, "--l1-bytes", "l1_bytes", OPTION_SIZE, PLACE(l1_bytes), "SIZE",
     "of the L1 memory, stacks included"},
    {PLANNING | COMMAND_EXPORT, "--l2-bytes", "l2_bytes", OPTION_SIZE, PLACE(l2_bytes), "SIZE",
     "of the network's L2 buffer"},
    {PLANNING, "--firmware", NULL, OPTION_PATH, PLACE(firmware), "ELF",
     "program with the network's code, see dory probe: the buffer is what it leaves of L2, --l2-bytes aside"},
    {PLANNING | COMMAND_EXPLORE, "--application-bytes", "application_bytes", OPTION_SIZE, PLACE(application_bytes), "SIZE",
     "of L2, for the application's code and data, --l2-bytes aside; default 16k"},
    {PLANNING, "--application-buffers", "application_buffers", OPTION_FLAG, PLACE(application_buffers), NULL,
     "without --application-bytes: 16k, and what buffers for the network's inputs and outputs take"},
    {PLANNING, "--clocks", "clocks", OPTION_TEXT, PLACE(clocks), "FC/CL",
     "plan for these clocks of controller and cluster, in MHz: 250/175; default: equal ones"},
    {PLANNING | COMMAND_PROBE | COMMAND_EXPLORE, "--cores", "cores", OPTION_NUMBER, PLACE(cores), "n", "of the cluster"},
    {LOADING, "--exact-add", "exact_add", OPTION_FLAG, PLACE(range.exact_add), NULL,
     "16 bits for sums that can exceed 8; else saturate"},
    {LOADING, "--all-channels", "all_channels", OPTION_FLAG, PLACE(all_channels), NULL,
     "compute also what is constant, and channels and pixels that no layer reads"},
    {LOADING, "--exact-average", "exact_average", OPTION_FLAG, PLACE(load.carries_sums), NULL,
     "average pools pass on sums, which the next layer divides, as PLiNIO computes; else they round down"},
    {PLANNING | COMMAND_PROBE | COMMAND_EXPORT, "--requantisation", "requantisation", OPTION_TEXT, PLACE(requantisation),
     "R",
     "exact, or fast: a cheaper form where it is not proven equal; the plan says for how many sums it differs; default "
     "exact"},
    {PLANNING, "--weights", "weights", OPTION_TEXT, PLACE(weights), "W",
     "flash; resident: in L2 from run to run, brought once by NAME_load; auto: those with which that is faster; linked: "
     "into the program, without flash; default flash"},
    {PLANNING | COMMAND_EXPORT, "--blocks", "blocks", OPTION_TEXT, PLACE(blocks), "B",
     "auto: layers take turns, stripe by stripe, where that is faster, so that what lies between them need not go to RAM; "
     "sparing: also where it is slower and spares RAM; none: each tensor is whole once; always: for tests; default auto"},
    {PLANNING | COMMAND_EXPORT, "--more-walks", "more_walks", OPTION_NUMBER, PLACE(more_walks), "n",
     "of the search for a plan: longer, and sometimes a faster plan; default: none"},
    {PLANNING, "--tensors-in-ram", "tensors_in_ram", OPTION_FLAG, PLACE(tensors_in_ram), NULL,
     "for tests: intermediate tensors in L3 RAM where possible"},
    {LOADING, "--frontend", "frontend", OPTION_TEXT, PLACE(front_end), "F",
     "nemo, quantlab, qdq, tflite or detect; default detect"},
    {LOADING, "--input-bits", "input_bits", OPTION_DIGITS, PLACE(input_bits), "n",
     "of an element of the input: 2, 4 or 8; default 8"},
    {LOADING, "--input-signed", "input_signed", OPTION_FLAG, PLACE(load.input_is_signed), NULL,
     "the input has negative values"},
    {COMMAND_GENERATE, "--check", "check", OPTION_PATH, PLACE(check), "DIR",
     "also a check program's data, from DIR/input.txt and out_layer<n>.txt; 'golden': from dory's interpreter"},
    {COMMAND_GENERATE | COMMAND_DIFF, "--input", "input", OPTION_PATH, PLACE(input), "FILE",
     "values of the input, in HWC order; default: the log's; for the check DIR/input.txt, else from a seed"},
    {COMMAND_RUN, "--input", NULL, OPTION_PATHS, PLACE(inputs), "FILE",
     "values; needed, once for each input, in the model's order: .bin, .npy as the model has them, else text in HWC order"},
    {COMMAND_RUN, "--output", NULL, OPTION_PATHS, PLACE(outputs), "FILE",
     "for the network's first output, the next ones for the next: .bin, .npy, else text"},
    {COMMAND_EVALUATE, "--inputs", NULL, OPTION_PATH, PLACE(images), "PATH",
     "images: FILE.npy, whose first dimension counts them, or a folder of files as dory run reads them; needed"},
    {COMMAND_EVALUATE, "--labels", NULL, OPTION_PATH, PLACE(labels), "FILE",
     "the class of each image: .npy, else text with one a line; needed"},
    {COMMAND_GENERATE, "--dump-tensors", "dump_tensors", OPTION_TEXT, PLACE(dump_tensors), "L",
     "the firmware writes the outputs of layers L to its log, for dory diff: all, or numbers such as 0,4-6"},
    {COMMAND_GENERATE, "--report", "report", OPTION_FLAG, PLACE(report), NULL,
     "also report.html, report.json and report_trace.json"},
    {COMMAND_GENERATE | COMMAND_REPORT, "--log", NULL, OPTION_PATH, PLACE(log), "FILE",
     "of a run of the check program: the report shows its measured cycles"},
    {COMMAND_GENERATE | COMMAND_REPORT, "--clock-mhz", "clock_mhz", OPTION_NUMBER, PLACE(clock_mhz), "n",
     "of the cluster: the report's milliseconds are at this clock; default: that of --clocks, or 100"},
    {COMMAND_REPORT, "--compare", NULL, OPTION_PATH, PLACE(compare), "FILE",
     "comparison.html instead, of two plans: --compare FIRST/report.json SECOND/report.json"},
    {COMMAND_GENERATE | COMMAND_REPORT, "--list-outputs", NULL, OPTION_FLAG, PLACE(list_outputs), NULL,
     "print the files that would be written, and stop"},
    {COMMAND_GENERATE | COMMAND_REPORT, "--depfile", NULL, OPTION_PATH, PLACE(depfile), "FILE",
     "write the files that the result depends on, for ninja"},
    {COMMAND_EXPLORE, "--l1", NULL, OPTION_TEXT, PLACE(l1_list), "SIZES",
     "of the L1 memory: 32k,64k, or doubling, 16k:256k; default: the target's"},
    {COMMAND_EXPLORE, "--l2", NULL, OPTION_TEXT, PLACE(l2_list), "SIZES", "of the L2 memory, likewise, firmware included"},
    {COMMAND_EXPLORE, "--clocks", NULL, OPTION_TEXT, PLACE(clock_list), "PAIRS",
     "of controller and cluster, in MHz: 100/100,250/175; default: twelve pairs, where the target has measured power"},
    {COMMAND_EXPLORE, "--deadline", NULL, OPTION_TEXT, PLACE(deadline), "T", "of one run: 33ms, 500us, 0.1s"},
    {COMMAND_PLAN, "--json", NULL, OPTION_FLAG, PLACE(json), NULL, "print what report.json has, in place of the table"},
    {COMMAND_COST, "--fast", NULL, OPTION_FLAG, PLACE(fast), NULL,
     "a good tile by a closed form, not the planner's by its search: some forty times as many layers a second"},
    {PLANNING, "--dump", NULL, OPTION_TEXT, PLACE(dump), "PASS",
     "print the result of a pass: import, range, shrink, describe, plan (or of it: tile, decide, schedule, place), layout"},
    {ALL, "--quiet", NULL, OPTION_FLAG, PLACE(quiet), NULL, "errors and warnings only"},
    {ALL, "--verbose", NULL, OPTION_FLAG, PLACE(verbose), NULL, "each step, and how long it took, on standard error"},
    {ALL, "--help", NULL, OPTION_FLAG, PLACE(help), NULL, "this"},
    {0, NULL, "onnx_file", OPTION_PATH, PLACE(model), NULL, NULL},
    {0, NULL, "code reserved space", OPTION_NUMBER, PLACE(code_reserved_bytes), NULL, NULL},
    {0, NULL, "BNRelu_bits", OPTION_NUMBER, PLACE(constant_bits), NULL, NULL},
    {0, NULL, "n_inputs", OPTION_NUMBER, PLACE(input_count), NULL, NULL},
};

const int option_count = sizeof option_table / sizeof *option_table;

/* ---- setting one ---- */

const char **option_text(struct options *options, const struct option *option)
{
    return (const char **)(void *)((char *)options + option->offset);
}

struct option_list *option_list(struct options *options, const struct option *option)
{
    return (struct option_list *)(void *)((char *)options + option->offset);
}

uint32_t *option_number(struct options *options, const struct option *option)
{
    return (uint32_t *)(void *)((char *)options + option->offset);
}

bool *option_flag(struct options *options, const struct option *option)
{
    return (bool *)(void *)((char *)options + option->offset);
}

/* Bytes in one of what a size is counted in: nothing behind the number, k or M, large or small. 0: something else. */
static uint64_t unit_bytes(const char *suffix)
{
    static const char letters[] = "kKmM";
    const char *letter = strchr(letters, *suffix);
    if (!*suffix)
        return 1;
    return suffix[1] || !letter ? 0 : letter - letters < 2 ? 1024 : 1024 * 1024;
}

bool option_read_number(const struct option *option, const char *text, uint32_t *number)
{
    char *end;
    unsigned long long count = strtoull(text, &end, 10);
    uint64_t unit = option->kind == OPTION_SIZE ? unit_bytes(end) : *end ? 0 : 1;
    if (*text < '0' || *text > '9' || unit == 0 || count == 0 || count > UINT32_MAX / unit)
        return false;
    *number = (uint32_t)(count * unit);
    return true;
}

const char *option_expected(enum option_kind kind)
{
    static const char *const expected[] = {
        [OPTION_TEXT] = "a text",
        [OPTION_PATH] = "a path",
        [OPTION_PATHS] = "a path",
        [OPTION_NUMBER] = "a whole number from 1 to 4294967295",
        [OPTION_SIZE] = "a number of bytes below 4096M, such as 65536, 64k or 1M,",
        [OPTION_DIGITS] = "a whole number",
        [OPTION_FLAG] = "true or false",
    };
    return expected[kind];
}

void option_list_add(struct option_list *list, const char *item, struct arena *arena)
{
    arena_grow(arena, list->items, list->count);
    list->items[list->count++] = item;
}
