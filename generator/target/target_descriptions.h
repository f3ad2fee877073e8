/* The files of generator/target, compiled in (cmake writes target_descriptions.c). */
#ifndef DORYGEN_TARGET_DESCRIPTIONS_H
#define DORYGEN_TARGET_DESCRIPTIONS_H

struct target_description {
    const char *name, *json;
};

/* Ends with a null name. */
extern const struct target_description target_descriptions[];

#endif
