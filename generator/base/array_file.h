/* Files of numbers as other tools write them: .npy (NumPy's format, versions 1 to 3), .npz (several of them), and
 * raw bytes. Untrusted input. */
#ifndef DORYGEN_ARRAY_FILE_H
#define DORYGEN_ARRAY_FILE_H

#include "base/support.h"

#define ARRAY_MAXIMUM_RANK 8

enum array_type { ARRAY_SIGNED, ARRAY_UNSIGNED, ARRAY_FLOAT };

struct array_file {
    enum array_type type;
    int element_bytes; /* integers 1, 2, 4, 8; floats 4, 8; little endian */
    int rank;
    int64_t dimensions[ARRAY_MAXIMUM_RANK];
    size_t count; /* of numbers: the product of the dimensions */
    const unsigned char *data;
};

/* The whole file; null after an error was reported. */
const unsigned char *file_read(const char *path, size_t *bytes, struct arena *arena, struct diagnostics *diagnostics);

/* False after an error was reported: no .npy file, Fortran's order, a type that is no number, or too few bytes. */
bool array_file_read_npy(const char *path, struct array_file *array, struct arena *arena, struct diagnostics *diagnostics);

/* A .npy file's bytes. Null, or what is wrong with them; `array` refers to the bytes. */
const char *array_parse_npy(const unsigned char *bytes, size_t length, struct array_file *array, struct arena *arena);

/* ---- npz_file.c ---- */

struct npz_entry {
    const char *name; /* of the array */
    const unsigned char *data;
    size_t length;
};

struct npz_file {
    const char *path;
    const unsigned char *bytes;
    size_t length;
    struct npz_entry *entries;
    int count; /* at least 1 */
};

/* False after an error was reported: no such archive, or a compressed one. */
bool npz_file_read(const char *path, struct npz_file *file, struct arena *arena, struct diagnostics *diagnostics);
bool npz_file_array(const struct npz_file *file, int index, struct array_file *array, struct arena *arena,
                    struct diagnostics *diagnostics);

/* Does the path end so? `ending` with its dot. */
bool path_ends_in(const char *path, const char *ending);

int64_t array_integer(const struct array_file *array, size_t index); /* of integers */
double array_number(const struct array_file *array, size_t index);   /* of any type */

#endif
