/* Text files of tensors, in the forms that are found in the wild. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "values/text_tensor.h"

static struct arena arena;
static struct diagnostics diagnostics = {.arena = &arena};

static void start_anew(void)
{
    arena_free(&arena);
    diagnostics = (struct diagnostics){.arena = &arena};
}

static bool read_text(const char *text, struct text_tensor *tensor)
{
    char path[] = "text_tensor_XXXXXX";
    int descriptor = mkstemp(path);
    EXPECT_THAT(descriptor >= 0);
    EXPECT_EQUAL(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    bool is_good = text_tensor_read(path, tensor, &arena, &diagnostics);
    remove(path);
    return is_good;
}

static void reads_all_known_forms(void)
{
    static const char *const forms[] = {
        "# input (shape [3, 1]),\n7,\n-12,\n255,\n",
        "# input (shape [3, 1]),\\\n7.000,\\\n-12.000,\\\n255.000,\\\n\n",
        "# # input (shape [3, 1]),\n7.000000,\n-12.000000,\n255.000000,",
        "conv1 (shape [64, 25, 5]),\n7,\n-12,\n255",
        "7\n-12\n255\n",
        "# input\r\n7,\r\n-12,\r\n255,\r\n",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct text_tensor tensor;
        EXPECT_THAT(read_text(forms[i], &tensor));
        EXPECT_EQUAL(tensor.count, 3);
        EXPECT_EQUAL(tensor.values[0], 7);
        EXPECT_EQUAL(tensor.values[1], -12);
        EXPECT_EQUAL(tensor.values[2], 255);
    }
}

static void refuses_what_is_no_number(void)
{
    struct text_tensor tensor;
    EXPECT_THAT(!(read_text("# x\n1,\nmany,\n", &tensor)));
    REQUIRE(strstr(diagnostics.list[0].text, "line 3: 'many,' is not a whole number"));
    EXPECT_THAT(!(read_text("# x\n1,\n0.5,\n", &tensor)));
    EXPECT_THAT(!(read_text("# x\n1,\nnan,\n", &tensor)));
    EXPECT_THAT(!(text_tensor_read("/nonexistent/file", &tensor, &arena, &diagnostics)));
}

static void writes_what_it_reads(void)
{
    const struct tensor shape = {.height = 1, .width = 2, .channels = 2};
    const int64_t values[] = {1, -2, 3, 2147483647};
    struct text_tensor tensor;
    EXPECT_THAT(text_tensor_write("written.txt", "layer", &shape, values, &diagnostics));
    EXPECT_THAT(text_tensor_read("written.txt", &tensor, &arena, &diagnostics));
    remove("written.txt");
    EXPECT_EQUAL(tensor.count, 4);
    EXPECT_BYTES(tensor.values, values, sizeof values);
    EXPECT_THAT(!(text_tensor_write("/nonexistent/file", "layer", &shape, values, &diagnostics)));
}

static struct text_comparison compare(const int64_t *expected, size_t count, const struct tensor *shape,
                                      const int64_t *actual)
{
    int64_t copy[16];
    memcpy(copy, expected, count * sizeof *copy);
    return text_tensor_compare(&(struct text_tensor){.values = copy, .count = count}, shape, actual);
}

static void compares_in_either_order(void)
{
    const struct tensor shape = {.height = 1, .width = 2, .channels = 2};
    const int64_t actual[] = {1, 2, 3, 4};
    struct text_comparison result = compare((const int64_t[]){1, 2, 3, 4}, 4, &shape, actual);
    EXPECT_THAT(result.same_count && !result.different && !result.channels_first);
    result = compare((const int64_t[]){1, 3, 2, 4}, 4, &shape, actual);
    EXPECT_THAT(!result.different && result.channels_first);
    result = compare((const int64_t[]){1, 2, 3, 5}, 4, &shape, actual);
    EXPECT_EQUAL(result.different, 1);
    EXPECT_EQUAL(result.column, 1);
    EXPECT_EQUAL(result.channel, 1);
    EXPECT_EQUAL(result.expected, 5);
    EXPECT_EQUAL(result.actual, 4);
    result = compare((const int64_t[]){1, 2, 3}, 3, &shape, actual);
    EXPECT_THAT(!result.same_count);
}

static void joins_bytes(void)
{
    const struct tensor shape = {.height = 1, .width = 1, .channels = 2};
    const int64_t actual[] = {-2, 258};
    struct text_comparison result = compare((const int64_t[]){254, 255, 255, 255, 2, 1, 0, 0}, 8, &shape, actual);
    EXPECT_THAT(result.same_count && result.joined_bytes && !result.different);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(reads_all_known_forms), TEST(refuses_what_is_no_number),
        TEST(writes_what_it_reads),  TEST(compares_in_either_order),
        TEST(joins_bytes),
    };
    return RUN_TESTS("text_tensor", tests, start_anew);
}
