/* The table of engines: a further one is its folder in kernels/, and a line here. */
#include "target/engines.h"

#include <stddef.h>
#include <string.h>

static const struct dory_engine *const engines[] = {&dory_xpulpv2_engine, &dory_armv7em_engine,  &dory_mve_engine,
                                                    &dory_neureka_engine, &dory_portable_engine, NULL};

const struct dory_engine *engine_find(const char *name)
{
    for (const struct dory_engine *const *engine = engines; *engine; engine++)
        if (strcmp((*engine)->name, name) == 0)
            return *engine;
    return NULL;
}

const char *engine_names(struct arena *arena)
{
    const char *names = engines[0]->name;
    for (int i = 1; engines[i]; i++)
        names = arena_format(arena, "%s, %s", names, engines[i]->name);
    return names;
}
