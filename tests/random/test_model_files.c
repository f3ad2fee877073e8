/* Models of a folder, each planned into little memory, executed and compared with the golden interpreter.
 *
 * Usage: test_model_files FOLDER [blocks | attention | verbose]. With blocks layers take turns wherever they can; with
 * attention queries of a head must have done so. A model that a pass refuses is no failure; that all are refused is one.
 * Exit status 77: there is no model in the folder. */
#include <dirent.h>

#include "expect.h"
#include "import/load.h"
#include "random_case.h"

static bool is_model(const char *name)
{
    const char *ending = strrchr(name, '.');
    return ending && (!strcmp(ending, ".onnx") || !strcmp(ending, ".tflite"));
}

static void check(const char *path, uint64_t seed, struct random_totals *totals)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct random random = {seed};
    struct network *network = network_load(path, NULL, &arena, &diagnostics);
    if (network)
        random_case(network, &random, path, &arena, totals);
    else {
        diagnostics_print(&diagnostics, stdout);
        totals->wrong++;
    }
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    bool attention = argc > 2 && !strcmp(argv[2], "attention"),
         blocks = attention || (argc > 2 && !strcmp(argv[2], "blocks"));
    struct random_totals totals = {.verbose = argc > 2 && !blocks, .only_blocks = blocks};
    struct arena arena = {0};
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    uint64_t seed = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_model(entry->d_name))
            check(arena_format(&arena, "%s/%s", argv[1], entry->d_name), ++seed, &totals);
    if (folder)
        closedir(folder);
    random_totals_print(&totals);
    arena_free(&arena);
    if (seed == 0)
        return 77;
    EXPECT_EQUAL(totals.wrong, 0);
    EXPECT_THAT(totals.exact > 0);
    EXPECT_THAT(!attention || totals.queries > 0);
    return expect_result("models of a folder");
}
