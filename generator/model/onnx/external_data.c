#include "model/onnx/external_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *entry(const Onnx__TensorProto *source, const char *key)
{
    for (size_t i = 0; i < source->n_external_data; i++)
        if (source->external_data[i]->key && source->external_data[i]->value && !strcmp(source->external_data[i]->key, key))
            return source->external_data[i]->value;
    return NULL;
}

/* False where there is text that is no number. */
static bool number(const Onnx__TensorProto *source, const char *key, size_t otherwise, size_t *result)
{
    const char *text = entry(source, key);
    char *end = NULL;
    *result = otherwise;
    if (!text)
        return true;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *result = (size_t)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && value < (unsigned long long)1 << 48;
}

/* A relative path without a step upwards. */
static bool stays_inside(const char *path)
{
    if (!*path || *path == '/')
        return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

static const unsigned char *read_part(FILE *file, size_t offset, size_t wanted, struct arena *arena)
{
    unsigned char *bytes = arena_allocate(arena, wanted + 1);
    bool is_read = fseek(file, (long)offset, SEEK_SET) == 0 && fread(bytes, 1, wanted, file) == wanted;
    return is_read ? bytes : NULL;
}

static bool check_location(const struct external_files *files, const char *location, const char *name,
                           struct diagnostics *diagnostics)
{
    if (files->folder && location && stays_inside(location))
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "constant '%s' is kept in a file of its own (external data)%s; save the model as one file", name,
             !files->folder ? ""
             : !location    ? " that is not named"
                            : ", which must lie beside the model");
    return false;
}

const unsigned char *external_data_read(struct external_files *files, const Onnx__TensorProto *source, const char *name,
                                        size_t wanted, struct arena *arena, struct diagnostics *diagnostics)
{
    const char *location = entry(source, "location");
    size_t offset, length;
    if (!check_location(files, location, name, diagnostics))
        return NULL;
    if (!number(source, "offset", 0, &offset) || !number(source, "length", wanted, &length) || length != wanted) {
        diagnose(
            diagnostics, SEVERITY_ERROR, NULL, NULL,
            "constant '%s': its part of file '%.200s' has no valid offset, or not the %zu bytes that its dimensions say",
            name, location, wanted);
        return NULL;
    }
    const char *path = arena_format(arena, "%s/%s", files->folder, location);
    FILE *file = wanted <= files->left ? fopen(path, "rb") : NULL;
    const unsigned char *bytes = file ? read_part(file, offset, wanted, arena) : NULL;
    if (file)
        fclose(file);
    files->left -= bytes ? wanted : 0;
    if (!bytes)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "constant '%s': cannot read %zu bytes at %zu of file '%.200s'%s",
                 name, wanted, offset, path,
                 wanted > files->left ? ": the model's constants are larger than dory reads"
                 : file               ? ": it is shorter"
                                      : ", which lies beside the model: is it there?");
    return bytes;
}
