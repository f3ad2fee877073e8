/* Files appear whole or not at all, and keep their time stamps where nothing changed. Usage: test_outputs EMPTY_FOLDER */
#define _GNU_SOURCE /* utimensat */
#include "base/outputs.h"
#include "expect.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static struct arena arena;

static int commit(const char *folder, const char *name_a, const char *text_a, const char *name_b, const char *text_b)
{
    struct diagnostics diagnostics = {.arena = &arena};
    struct outputs outputs = {0};
    outputs_add(&outputs, name_a, text_a, strlen(text_a));
    outputs_add(&outputs, name_b, text_b, strlen(text_b));
    bool done = outputs_commit(&outputs, folder, &arena, &diagnostics);
    EXPECT(done == (diagnostics.error_count == 0), "result and diagnostics disagree");
    return done;
}

static const char *content(const char *folder, const char *name)
{
    char *text = arena_allocate(&arena, 100);
    FILE *file = fopen(arena_format(&arena, "%s/%s", folder, name), "rb");
    if (!file)
        return "(none)";
    size_t got = fread(text, 1, 99, file);
    text[got] = 0;
    fclose(file);
    return text;
}

static int files_in(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

static const struct timespec long_ago = {.tv_sec = 1000000000};

static void make_old(const char *folder, const char *name)
{
    const struct timespec times[2] = {long_ago, long_ago};
    utimensat(AT_FDCWD, arena_format(&arena, "%s/%s", folder, name), times, 0);
}

static bool is_old(const char *folder, const char *name)
{
    struct stat status;
    return stat(arena_format(&arena, "%s/%s", folder, name), &status) == 0 && status.st_mtim.tv_sec == long_ago.tv_sec;
}

static void test_only_if_changed(const char *folder)
{
    EXPECT(commit(folder, "a", "one", "b", "two"), "cannot write to %s", folder);
    make_old(folder, "a");
    make_old(folder, "b");
    EXPECT(commit(folder, "a", "one", "b", "TWO"), "cannot write again");
    EXPECT(is_old(folder, "a") && !is_old(folder, "b"), "the changed file alone must be new");
    EXPECT(!strcmp(content(folder, "b"), "TWO"), "b is '%s'", content(folder, "b"));
    EXPECT(commit(folder, "a", "on", "b", "TWO!"), "cannot write other lengths");
    EXPECT(!strcmp(content(folder, "a"), "on") && !strcmp(content(folder, "b"), "TWO!"), "shorter and longer content");
    EXPECT(files_in(folder) == 2, "temporaries are left over");
}

static void test_failure_leaves_files(const char *folder)
{
    commit(folder, "a", "old", "b", "old");
    EXPECT(!commit(folder, "a", "new", "b/below", "new"), "wrote into a folder that is a file");
    EXPECT(!strcmp(content(folder, "a"), "old"), "a failed run changed a file");
    EXPECT(files_in(folder) == 2, "temporaries are left over");
}

static void test_bad_folders(const char *folder)
{
    const char *in_a_file = arena_format(&arena, "%s/a/below", folder);
    EXPECT(!commit(in_a_file, "a", "", "b", ""), "made a folder inside of a file");
    EXPECT(!commit("/proc/nonsense", "a", "", "b", ""), "made a folder in /proc");
    const char *deep = arena_format(&arena, "%s/deep/er", folder);
    EXPECT(commit(deep, "a", "", "b", "x") && !strcmp(content(deep, "b"), "x"), "could not make folders");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    test_only_if_changed(argv[1]);
    test_failure_leaves_files(argv[1]);
    test_bad_folders(argv[1]);
    arena_free(&arena);
    return expect_result("test_outputs");
}
