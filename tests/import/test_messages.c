/* test_messages GOLDEN: what is said of models that cannot be imported, word for word. After a change of a message:
 * test_messages --print > tests/import/messages.txt, and read the difference. */
#include <stdio.h>

#include "message_cases.h"

static const struct {
    const char *name;
    void (*make)(void);
} cases[] = {
#define CASE(function) {#function, function},
    MESSAGE_CASES(CASE)};

/* ---- the comparison ---- */

/* Prints all messages; false if a broken model was accepted. */
static bool print_all(FILE *stream)
{
    bool all_refused = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded loaded;
        begin();
        cases[i].make();
        onnx_add_output(model, "y");
        load_built(&loaded, model);
        fprintf(stream, "== %s\n", cases[i].name);
        diagnostics_print(&loaded.diagnostics, stream);
        if (loaded.network)
            fprintf(stderr, "%s: the model was accepted\n", cases[i].name);
        all_refused &= loaded.network == NULL;
        arena_free(&loaded.arena);
    }
    return all_refused;
}

static bool compare(FILE *golden, FILE *actual)
{
    static char expected[4096], found[4096], name[4096];
    bool is_equal = true;
    for (;;) {
        bool more_expected = fgets(expected, sizeof expected, golden), more_found = fgets(found, sizeof found, actual);
        if (!more_expected && !more_found)
            return is_equal;
        if (found[0] == '=')
            memcpy(name, found, sizeof name);
        if (more_expected != more_found || strcmp(expected, found) != 0) {
            fprintf(stderr, "%sexpected: %sfound:    %s", name, more_expected ? expected : "(end)\n",
                    more_found ? found : "(end)\n");
            is_equal = false;
        }
        if (more_expected != more_found)
            return false;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (!strcmp(argv[1], "--print"))
        return print_all(stdout) ? 0 : 1;
    FILE *golden = fopen(argv[1], "r"), *actual = tmpfile();
    if (!golden || !actual) {
        fprintf(stderr, "cannot open %s\n", argv[1]);
        return 1;
    }
    bool is_good = print_all(actual);
    rewind(actual);
    is_good &= compare(golden, actual);
    fclose(golden);
    fclose(actual);
    return is_good ? 0 : 1;
}
