/* Any bytes as a .npy and as a .npz file: each reader says what is wrong, or gives arrays of which every number can be read.
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void read_numbers(const struct array_file *array)
{
    volatile double sum = 0;
    for (size_t i = 0; i < array->count; i++)
        sum += array_number(array, i);
}

static void read_archive(const char *path, struct arena *arena, struct diagnostics *diagnostics)
{
    struct npz_file file;
    struct array_file array;
    bool is_read = npz_file_read(path, &file, arena, diagnostics);
    if (is_read != (diagnostics->error_count == 0) || (is_read && file.count < 1))
        abort();
    for (int i = 0; is_read && i < file.count; i++)
        if (npz_file_array(&file, i, &array, arena, diagnostics))
            read_numbers(&array);
}

/* The archive's reader takes a path: that of a file in memory. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena, .file = "fuzz"};
    struct array_file array;
    char path[64];
    if (!array_parse_npy(bytes, length, &array, &arena))
        read_numbers(&array);
    int file = memfd_create("fuzz.npz", 0);
    if (file < 0 || write(file, bytes, length) != (ssize_t)length)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    read_archive(path, &arena, &diagnostics);
    close(file);
    arena_free(&arena);
    return 0;
}
