/* Files of a check's folder, by name and by run. */
#include <unistd.h>

#include "values/expected_source.h"

void expected_note_file(const struct source *source, const char *path)
{
    source->expected->files[source->expected->file_count++] = path;
}

const char *expected_find_file(const struct source *source, const char *name)
{
    if (!source->options->folder)
        return NULL;
    const char *path = arena_format(source->arena, "%s/%s", source->options->folder, name);
    return access(path, F_OK) == 0 ? path : NULL;
}

static const char *run_file(const struct source *source, const char *role, unsigned sample, int index, int count)
{
    const char *number =
        count > 1 ? arena_format(source->arena, "%u_%d", sample, index) : arena_format(source->arena, "%u", sample);
    return expected_find_file(source, arena_format(source->arena, "%s_%s.bin", role, number));
}

const char *expected_run_file(const struct source *source, const char *role, unsigned sample, int index, int count)
{
    int others = count - source->network->state_count;
    const char *path = run_file(source, role, sample, index, count);
    return path || index >= others ? path : run_file(source, role, sample, index, others);
}
