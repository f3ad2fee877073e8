/* .npz: a ZIP archive of .npy files. Only archives that are not compressed, as numpy.savez writes them. */
#include <string.h>

#include "base/array_file.h"

#define END_BYTES      22    /* of the record at the end, without its comment */
#define ENTRY_BYTES    46    /* of an entry of the directory, without names */
#define LOCAL_BYTES    30    /* of the header in front of a file's data, likewise */
#define LONGEST_ENDING 65557 /* the record at the end and its comment */

static uint32_t number_at(const unsigned char *bytes, int count)
{
    uint32_t number = 0;
    for (int i = 0; i < count; i++)
        number |= (uint32_t)bytes[i] << (8 * i);
    return number;
}

static bool has_mark(const struct npz_file *file, size_t at, size_t bytes, const char *mark)
{
    return at <= file->length && bytes <= file->length - at && memcmp(file->bytes + at, mark, 4) == 0;
}

/* Null where there is none: no ZIP archive. */
static const unsigned char *find_end(const struct npz_file *file)
{
    size_t least = file->length > LONGEST_ENDING ? file->length - LONGEST_ENDING : 0;
    for (size_t at = file->length; at-- > least;)
        if (has_mark(file, at, END_BYTES, "PK\005\006"))
            return file->bytes + at;
    return NULL;
}

/* Null, or what is wrong with the file that the entry of the directory is about. */
static const char *read_entry(const struct npz_file *file, const unsigned char *entry, struct npz_entry *result)
{
    size_t local = number_at(entry + 42, 4);
    result->length = number_at(entry + 24, 4);
    if (number_at(entry + 10, 2) != 0)
        return "is compressed; write it with numpy.savez in place of savez_compressed";
    if (!has_mark(file, local, LOCAL_BYTES, "PK\003\004"))
        return "has a directory that does not fit its files";
    size_t start = local + LOCAL_BYTES + number_at(file->bytes + local + 26, 2) + number_at(file->bytes + local + 28, 2);
    if (start > file->length || result->length > file->length - start)
        return "ends within one of its files";
    result->data = file->bytes + start;
    return NULL;
}

/* The names in the archive are those of the arrays, with .npy behind them. */
static const char *name_of(const unsigned char *name, size_t length, struct arena *arena)
{
    size_t shown = length > 4 && !memcmp(name + length - 4, ".npy", 4) ? length - 4 : length;
    return arena_format(arena, "%.*s", (int)shown, (const char *)name);
}

static const char *read_directory(struct npz_file *file, struct arena *arena)
{
    const unsigned char *end = find_end(file);
    if (!end)
        return "is no .npz file";
    size_t at = number_at(end + 16, 4), count = number_at(end + 10, 2);
    file->entries = arena_array(arena, struct npz_entry, count);
    for (size_t i = 0; i < count; i++) {
        struct npz_entry *entry = &file->entries[file->count];
        if (!has_mark(file, at, ENTRY_BYTES, "PK\001\002"))
            return "has a directory that cannot be read";
        const unsigned char *record = file->bytes + at;
        size_t name = number_at(record + 28, 2), more = number_at(record + 30, 2) + number_at(record + 32, 2);
        if (name > file->length - at - ENTRY_BYTES)
            return "ends within its directory";
        const char *fault = read_entry(file, record, entry);
        if (fault)
            return fault;
        entry->name = name_of(record + ENTRY_BYTES, name, arena);
        at += ENTRY_BYTES + name + more;
        file->count++;
    }
    return file->count ? NULL : "holds no array";
}

bool npz_file_read(const char *path, struct npz_file *file, struct arena *arena, struct diagnostics *diagnostics)
{
    *file = (struct npz_file){.path = path};
    file->bytes = file_read(path, &file->length, arena, diagnostics);
    const char *fault = file->bytes ? read_directory(file, arena) : NULL;
    if (fault)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s %s", path, fault);
    return file->bytes && !fault;
}

bool npz_file_array(const struct npz_file *file, int index, struct array_file *array, struct arena *arena,
                    struct diagnostics *diagnostics)
{
    const struct npz_entry *entry = &file->entries[index];
    const char *fault = array_parse_npy(entry->data, entry->length, array, arena);
    if (fault)
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s, array '%s' %s", file->path, entry->name, fault);
    return !fault;
}
