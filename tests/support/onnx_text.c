#include <ctype.h>

#include "base/support.h"
#include "expect.h"
#include "onnx_builder.h"

enum { MOST_WORDS = 80, MOST_NUMBERS = 1000 };

static int read_list(const char *list, int64_t *numbers)
{
    int count = 0;
    for (char *end; *list && *list != ']'; list = end + (*end == ',')) {
        REQUIRE(count < MOST_WORDS);
        numbers[count++] = strtoll(list, &end, 10);
        REQUIRE(end > list);
    }
    return count;
}

/* An initialiser, input or output; behind the numbers that are given are digits or zeros. */
static void add_constant(struct onnx_builder *builder, const char *name, const char *kind, char **words, int count)
{
    static int64_t dimensions[MOST_WORDS], integers[MOST_NUMBERS];
    static float floats[MOST_NUMBERS];
    const char *bracket = strchr(kind, '[');
    int rank = bracket ? read_list(bracket + 1, dimensions) : 0;
#define IS(word) (strncmp(kind, word, strlen(word)) == 0)
    if (IS("input")) {
        onnx_add_input(builder, name, rank, dimensions);
        return;
    }
    if (IS("output")) {
        onnx_add_output(builder, name);
        return;
    }
    for (int i = 0; i < MOST_NUMBERS; i++) {
        integers[i] = i < count ? strtoll(words[i], NULL, 10) : IS("digits") ? i % 10 : 0;
        floats[i] = i < count ? strtof(words[i], NULL) : (float)integers[i];
    }
    if (IS("int64")) {
        onnx_add_int64(builder, name, rank, dimensions, integers);
        return;
    }
    Onnx__TensorProto *tensor = onnx_add_floats(builder, name, rank, dimensions, floats);
    if (IS("bfloat16"))
        tensor->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16;
    tensor->has_data_location = IS("external");
    tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
#undef IS
}

static void set_attribute(struct onnx_builder *builder, onnx_node *node, char *word)
{
    static int64_t numbers[MOST_WORDS];
    char *value = strchr(word, '=');
    *value++ = '\0';
    if (strcmp(word, "domain") == 0)
        node->domain = arena_format(onnx_builder_arena(builder), "%s", value);
    else if (strchr(value, ','))
        onnx_set_integers(builder, node, word, read_list(value, numbers), numbers);
    else if (isalpha(*value))
        onnx_set_text(builder, node, word, value);
    else if (strchr(value, '.'))
        onnx_set_float(builder, node, word, strtof(value, NULL));
    else
        onnx_set_integer(builder, node, word, strtoll(value, NULL, 10));
}

static void add_node(struct onnx_builder *builder, const char *outputs, const char *type, char **words, int count)
{
    char inputs[1000] = "";
    int first = 0;
    for (; first < count && !strchr(words[first], '='); first++)
        strcat(strcat(inputs, first ? " " : ""), words[first]);
    onnx_node *node = onnx_add_node(builder, type, inputs, outputs);
    for (int i = first; i < count; i++)
        set_attribute(builder, node, words[i]);
}

static void add_statement(struct onnx_builder *builder, char *text)
{
    char *behind = strstr(text, " = "), *words[MOST_WORDS], *state = NULL;
    int count = 0;
    REQUIRE(behind);
    *behind = '\0';
    for (char *word = strtok_r(behind + 3, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        REQUIRE(count < MOST_WORDS);
        words[count++] = word;
    }
    REQUIRE(count > 0);
    if (islower(*words[0]))
        add_constant(builder, text, words[0], words + 1, count - 1);
    else if (strcmp(words[0], "Constant") == 0 && count == 2 && !isalpha(*words[1]))
        onnx_add_constant_node(builder, text, strtod(words[1], NULL), !strchr(words[1], '.'));
    else
        add_node(builder, text, words[0], words + 1, count - 1);
}

void onnx_add_text(struct onnx_builder *builder, const char *text)
{
    struct arena arena = {0};
    char *state = NULL;
    for (char *line = strtok_r(arena_format(&arena, "%s", text), ";\n", &state); line; line = strtok_r(NULL, ";\n", &state))
        if (*(line += strspn(line, " ")))
            add_statement(builder, line);
    arena_free(&arena);
}

struct onnx_builder *onnx_builder_make_text(const char *text)
{
    struct onnx_builder *builder = onnx_builder_make(9);
    onnx_add_text(builder, text);
    return builder;
}
