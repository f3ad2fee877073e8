/* test_messages GOLDEN: what is said of models that cannot be imported, word for word. After a change of a message:
 * test_messages --print > tests/import/messages.txt, and read the difference. */
#include "expect.h"
#include "message_cases.h"

static const struct {
    const char *name;
    void (*make)(void);
} cases[] = {
#define CASE(function) {#function, function},
    MESSAGE_CASES(CASE)};

/* ---- the comparison ---- */

/* Prints all messages. */
static void print_all(FILE *stream)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded loaded;
        begin();
        cases[i].make();
        onnx_add_output(model, "y");
        load_built(&loaded, model);
        fprintf(stream, "== %s\n", cases[i].name);
        diagnostics_print(&loaded.diagnostics, stream);
        EXPECT(!loaded.network, "%s: the model was accepted", cases[i].name);
        arena_free(&loaded.arena);
    }
}

static void compare(FILE *golden, FILE *actual)
{
    static char expected[4096], found[4096], name[4096];
    bool more_expected, more_found;
    do {
        more_expected = fgets(expected, sizeof expected, golden);
        more_found = fgets(found, sizeof found, actual);
        if (more_found && found[0] == '=')
            memcpy(name, found, sizeof name);
        if (more_expected || more_found)
            EXPECT(more_expected && more_found && !strcmp(expected, found), "in\n%sexpected: %sfound:    %s", name,
                   more_expected ? expected : "(end)\n", more_found ? found : "(end)\n");
    } while (more_expected && more_found);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (!strcmp(argv[1], "--print")) {
        print_all(stdout);
        return expect_failures != 0;
    }
    FILE *golden = fopen(argv[1], "r"), *actual = tmpfile();
    REQUIRE(golden && actual);
    print_all(actual);
    rewind(actual);
    compare(golden, actual);
    fclose(golden);
    fclose(actual);
    return expect_result("messages");
}
