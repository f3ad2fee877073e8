/* What a source of the firmware says, as text: the names that it defines for other files, those that it uses, what it
 * includes. No compiler is asked: names of the firmware begin with dory_ or hal_, and its sources keep to one style. */
#ifndef DORYGEN_SOURCE_TEXT_H
#define DORYGEN_SOURCE_TEXT_H

#include "base/support.h"
#include "base/text.h"

struct names {
    const char **list;
    int count;
};

struct source {
    const char *path; /* below dory's own folder: kernels/run/driver.c */
    const char *text;
    struct names defines;  /* functions and objects that are not static */
    struct names uses;     /* in functions, initialisers and macros; prototypes use nothing */
    struct names includes; /* between quotes */
};

/* Fills in the names of a source whose text is set. */
void source_read(struct source *source, struct arena *arena);

/* The source's text where all names of dory and its HAL, in either case, have `name` and _ in front, and where `place` says
 * what stands between the quotes of an include. So several networks can be in one program, whatever else that has. */
void source_rename(struct text *text, const struct source *source, const char *name,
                   const char *(*place)(const void *context, const struct source *source, const char *include),
                   const void *context);

#endif
