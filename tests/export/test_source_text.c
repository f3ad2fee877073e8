/* What the exporter reads in a source, and how it writes it: the cases on which a reader that is no compiler could err. */
#include "expect.h"
#include "export/source_text.h"

static const char text[] = "/* dory_comment(1) { */\n"
                           "#include \"dory/hal.h\"\n"
                           "#include <string.h>\n"
                           "#define DORY_TWICE(x) (dory_macro(x) + /* dory_in_macro */ \\\n"
                           "                       dory_second_line(x))\n"
                           "#ifdef __cplusplus\n"
                           "extern \"C\" {\n"
                           "#endif\n"
                           "int dory_prototype(struct dory_type *argument);\n"
                           "extern const int dory_elsewhere[];\n"
                           "static const int dory_static[] = {dory_element};\n"
                           "_Static_assert(sizeof(struct dory_type) > 0, \"dory_assertion {\");\n"
                           "struct dory_type { int dory_member; };\n"
                           "const struct dory_type dory_object = {.dory_member = dory_value};\n"
                           "static int dory_helper(void) { return dory_called(); }\n"
                           "static __attribute__((noinline)) int dory_hidden(void)\n"
                           "{\n"
                           "    return '\"' + '{' + sizeof \"}\\\"{\";\n"
                           "}\n"
                           "__attribute__((weak)) struct dory_type *dory_function(int (*hal_argument)(int hal_number))\n"
                           "{\n"
                           "    if (hal_call(\"hal_quoted\")) { return my_dory_name; }\n"
                           "    return 0; // hal_remark()\n"
                           "}\n"
                           "int other(void) { return 0; }\n"
                           "#ifdef __cplusplus\n"
                           "}\n"
                           "#endif\n"
                           "void dory_last(void) {}\n";

static void expect_names(const struct names *names, const char *expected, struct arena *arena)
{
    struct text list = {.arena = arena};
    text_add_string(&list, "");
    for (int i = 0; i < names->count; i++)
        text_add(&list, "%s%s", i ? " " : "", names->list[i]);
    EXPECT_TEXT(list.bytes, expected);
}

static void test_names(struct arena *arena)
{
    struct source source = {.path = "kernels/run/x.c", .text = text};
    source_read(&source, arena);
    expect_names(&source.includes, "dory/hal.h", arena);
    expect_names(&source.defines, "dory_object dory_function dory_last", arena);
    expect_names(&source.uses, "dory_macro dory_second_line dory_element dory_member dory_value dory_called hal_call",
                 arena);
}

static void test_unfinished(struct arena *arena)
{
    static const char *const texts[] = {"",  "/* dory_x",           "\"dory_x", "'", "#include \"dory",
                                        "#", "void dory_x(void) {", "}}",       "\\"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct source source = {.path = "x.c", .text = texts[i]};
        source_read(&source, arena);
        EXPECT_EQUAL(source.includes.count, 0);
    }
}

static const char *place(const void *context, const struct source *source, const char *include)
{
    EXPECT_TEXT(source->path, "x.c");
    return strcmp(include, "dory/hal.h") ? "elsewhere.h" : context;
}

static void test_rename(struct arena *arena)
{
    struct text renamed = {.arena = arena};
    const struct source source = {.path = "x.c",
                                  .text =
                                      "#include \"dory/hal.h\" /* dory_a */\n#  include \"other.h\"\n#include <dory/hal.h>\n"
                                      "HAL_B(dory_c, my_dory, dory, DORY_D, 0xdory_, xhal_e)"};
    source_rename(&renamed, &source, "Net1", place, "hal.h");
    EXPECT_TEXT(renamed.bytes, "#include \"hal.h\" /* Net1_dory_a */\n#include \"elsewhere.h\"\n#include <dory/hal.h>\n"
                               "NET1_HAL_B(Net1_dory_c, my_dory, dory, NET1_DORY_D, 0xdory_, xhal_e)");
}

int main(void)
{
    struct arena arena = {0};
    test_names(&arena);
    test_unfinished(&arena);
    test_rename(&arena);
    arena_free(&arena);
    return expect_result("source text");
}
