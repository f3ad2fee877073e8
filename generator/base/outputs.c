#include "base/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void outputs_add(struct outputs *outputs, const char *name, const void *bytes, size_t count)
{
    if (outputs->count == MAXIMUM_OUTPUTS)
        abort(); /* a fault of the caller, who knows how many files there are */
    outputs->list[outputs->count++] = (struct output){.name = name, .bytes = bytes, .count = count};
}

/* ---- one file ---- */

struct pending {
    const char *path;
    const char *temporary; /* null: the file has this content already */
};

static bool has_content(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const char *expected = bytes;
    char buffer[16384];
    size_t done = 0, got;
    bool same = true;
    while (same && (got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        same = got <= count - done && !memcmp(buffer, expected + done, got);
        done += got;
    }
    same = same && done == count && !ferror(file);
    fclose(file);
    return same;
}

static bool write_whole(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = count == 0 || fwrite(bytes, 1, count, file) == count;
    int error = errno;
    bool closed = fclose(file) == 0;
    if (!written)
        errno = error;
    return written && closed;
}

static bool prepare(struct pending *pending, const struct output *output, struct arena *arena,
                    struct diagnostics *diagnostics)
{
    struct stat status;
    if (stat(pending->path, &status) == 0 && !S_ISREG(status.st_mode)) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot replace '%s': it is no file", pending->path);
        return false;
    }
    if (has_content(pending->path, output->bytes, output->count))
        return true;
    pending->temporary = arena_format(arena, "%s.%ld.new", pending->path, (long)getpid());
    if (write_whole(pending->temporary, output->bytes, output->count))
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot write '%s': %s", pending->path, strerror(errno));
    return false;
}

static bool put_in_place(struct pending *pending, struct diagnostics *diagnostics)
{
    if (pending->temporary && rename(pending->temporary, pending->path) != 0) {
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot replace '%s': %s", pending->path, strerror(errno));
        return false;
    }
    pending->temporary = NULL;
    return true;
}

/* ---- all files ---- */

static bool commit(const struct outputs *outputs, struct pending *pending, struct arena *arena,
                   struct diagnostics *diagnostics)
{
    bool whole = true;
    for (int i = 0; i < outputs->count && whole; i++)
        whole = prepare(&pending[i], &outputs->list[i], arena, diagnostics);
    for (int i = 0; i < outputs->count && whole; i++)
        whole = put_in_place(&pending[i], diagnostics);
    for (int i = 0; i < outputs->count; i++)
        if (pending[i].temporary)
            remove(pending[i].temporary);
    return whole;
}

static bool make_folder(const char *folder, struct arena *arena, struct diagnostics *diagnostics)
{
    char *path = arena_format(arena, "%s", folder);
    for (char *end = path + 1;; end++) {
        char kept = *end;
        if (kept != '/' && kept != 0)
            continue;
        *end = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST && access(path, F_OK) != 0) {
            diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot make folder '%s': %s", path, strerror(errno));
            return false;
        }
        if (kept == 0)
            return true;
        *end = kept;
    }
}

/* Of a file in a folder of its own. */
static bool make_folder_of(const char *path, struct arena *arena, struct diagnostics *diagnostics)
{
    return make_folder(arena_format(arena, "%.*s", (int)(strrchr(path, '/') - path), path), arena, diagnostics);
}

bool outputs_commit(const struct outputs *outputs, const char *folder, struct arena *arena, struct diagnostics *diagnostics)
{
    struct pending pending[MAXIMUM_OUTPUTS] = {0};
    if (!*folder)
        folder = ".";
    if (!make_folder(folder, arena, diagnostics))
        return false;
    for (int i = 0; i < outputs->count; i++) {
        pending[i].path = arena_format(arena, "%s/%s", folder, outputs->list[i].name);
        if (strchr(outputs->list[i].name, '/') && !make_folder_of(pending[i].path, arena, diagnostics))
            return false;
    }
    return commit(outputs, pending, arena, diagnostics);
}

bool output_write_file(const char *path, const void *bytes, size_t count, struct arena *arena,
                       struct diagnostics *diagnostics)
{
    struct outputs outputs = {0};
    struct pending pending[1] = {{.path = path}};
    outputs_add(&outputs, path, bytes, count);
    return commit(&outputs, pending, arena, diagnostics);
}
