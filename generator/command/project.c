/* What `dory new` and `dory export` have in common. */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "command/project_template.h"

const char *project_find_share(const char *command, struct arena *arena, struct diagnostics *diagnostics)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    for (int parts = 0; parts < 2 && strrchr(program, '/'); parts++)
        *strrchr(program, '/') = 0;
    const char *share = arena_format(arena, "%s/share/dory", program);
    if (access(arena_format(arena, "%s/cmake/doryConfig.cmake", share), R_OK) == 0 && !strpbrk(share, "\"\\$"))
        return share;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
             "dory %s wants an installed dory, and %s has no cmake/doryConfig.cmake: cmake --install BUILD --prefix "
             "PREFIX, then PREFIX/bin/dory %s",
             command, share, command);
    return NULL;
}

const char *project_fill(const char *template, const struct replacement *replacements, struct arena *arena)
{
    struct text text = {.arena = arena};
    while (*template) {
        const struct replacement *found = NULL;
        for (const struct replacement *r = replacements; *template == '@' && r->word && !found; r++)
            found = !strncmp(template, r->word, strlen(r->word)) ? r : NULL;
        if (found)
            text_add_string(&text, found->text);
        else
            text_add(&text, "%c", *template);
        template += found ? strlen(found->word) : 1;
    }
    return text.bytes;
}
