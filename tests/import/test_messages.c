/* test_messages FILE: what is said of models that cannot be imported, word for word. Each case of the file has its name, its
 * graph in words (onnx_builder.h), from an input x of shape 1x4x6x6 to an output y, and the messages. After a change of one:
 * test_messages FILE --print > NEW, move NEW to FILE, and read the difference. */
#include "expect.h"
#include "loaded.h"

/* Of the case that ends here, its messages. */
static void refuse(struct onnx_builder *model, const char *name, FILE *to)
{
    struct loaded loaded;
    onnx_add_output(model, "y");
    load_built(&loaded, model);
    diagnostics_print(&loaded.diagnostics, to);
    EXPECT(!loaded.network, "%s: the model was accepted", name);
    arena_free(&loaded.arena);
}

/* The file as it would be with the messages of today. */
static void write_anew(FILE *golden, FILE *to)
{
    static char line[4096], name[4096];
    struct onnx_builder *model = NULL;
    while (fgets(line, sizeof line, golden)) {
        if (strncmp(line, "test.onnx:", 10) == 0)
            continue;
        if (line[0] == '=') {
            if (model)
                refuse(model, name, to);
            memcpy(name, line, sizeof name);
            model = onnx_builder_make(9);
            onnx_add_input(model, "x", 4, SHAPE(1, 4, 6, 6));
        } else {
            onnx_add_text(model, line);
        }
        fputs(line, to);
    }
    REQUIRE(model);
    refuse(model, name, to);
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
    REQUIRE(argc > 1);
    FILE *golden = fopen(argv[1], "r"), *actual = argc > 2 ? stdout : tmpfile();
    REQUIRE(golden && actual);
    write_anew(golden, actual);
    if (argc > 2)
        return expect_failures != 0;
    rewind(golden);
    rewind(actual);
    compare(golden, actual);
    fclose(golden);
    fclose(actual);
    return expect_result("messages");
}
