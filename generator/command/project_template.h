/* The files of a project as `dory new` and `dory export` write them, with words between @ to be replaced; from the folder
 * template. */
#ifndef DORYGEN_PROJECT_TEMPLATE_H
#define DORYGEN_PROJECT_TEMPLATE_H

#include "base/support.h"

struct project_template {
    const char
        *board; /* "": of every firmware; "plain": of those for no board with files of its own; "export": of packages */
    const char *name; /* of the file, which may have a folder and words */
    const char *text;
};

extern const struct project_template project_templates[];
extern const int project_template_count;

/* A word of the templates, and what stands in its place. */
struct replacement {
    const char *word, *text;
};

/* The template's text with other texts for its words; the list ends with a null word. */
const char *project_fill(const char *template, const struct replacement *replacements, struct arena *arena);

/* The folder share/dory of the dory that runs, where its sources and CMake files are. Null after an error was reported: it
 * is not installed. `command` is what the user called. */
const char *project_find_share(const char *command, struct arena *arena, struct diagnostics *diagnostics);

#endif
