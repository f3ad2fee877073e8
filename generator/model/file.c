#include "model/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM_FILE_BYTES ((size_t)256 << 20) /* 64 Mi weights as floats: four times what GAP8's flash holds */

static unsigned char *read_whole(FILE *file, size_t *length, struct diagnostics *diagnostics)
{
    size_t capacity = (size_t)1 << 20;
    unsigned char *bytes = malloc(capacity);
    *length = 0;
    while (bytes) {
        *length += fread(bytes + *length, 1, capacity - *length, file);
        if (*length < capacity)
            break;
        unsigned char *larger = capacity < MAXIMUM_FILE_BYTES ? realloc(bytes, capacity * 2) : NULL;
        if (!larger)
            free(bytes);
        bytes = larger;
        capacity *= 2;
    }
    if (!bytes)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "the file is larger than %zu MiB or than memory",
                 MAXIMUM_FILE_BYTES >> 20);
    else if (ferror(file)) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot read the file: %s", strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

void *model_file_read(const char *path, size_t *length, struct diagnostics *diagnostics)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot open the file: %s", strerror(errno));
        return NULL;
    }
    unsigned char *bytes = read_whole(file, length, diagnostics);
    fclose(file);
    return bytes;
}
