#include "base/name_table.h"

#include <stdlib.h>
#include <string.h>

struct name_table {
    struct arena *arena;
    const char **names;
    size_t count;
};

struct name_table *name_table_make(struct arena *arena)
{
    struct name_table *table = arena_allocate(arena, sizeof *table);
    table->arena = arena;
    return table;
}

void name_table_add(struct name_table *table, const char *name)
{
    arena_grow(table->arena, table->names, table->count);
    table->names[table->count++] = name;
}

static int compare(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

int name_table_finish(struct name_table *table)
{
    size_t kept = 0;
    if (table->count)
        qsort(table->names, table->count, sizeof *table->names, compare);
    for (size_t i = 0; i < table->count; i++)
        if (kept == 0 || strcmp(table->names[kept - 1], table->names[i]) != 0)
            table->names[kept++] = table->names[i];
    table->count = kept;
    return (int)kept;
}

int name_table_find(const struct name_table *table, const char *name)
{
    const char **found = table->count ? bsearch(&name, table->names, table->count, sizeof name, compare) : NULL;
    return found ? (int)(found - table->names) : -1;
}

const char *name_table_name(const struct name_table *table, int index) { return table->names[index]; }
