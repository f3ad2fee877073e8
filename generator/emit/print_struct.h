/* Prints a struct of C as a designated initialiser, driven by a table of its members. */
#ifndef DORYGEN_PRINT_STRUCT_H
#define DORYGEN_PRINT_STRUCT_H

#include "base/text.h"

enum field_kind {
    FIELD_UNSIGNED,
    FIELD_FLAG, /* 0 or 1 */
    FIELD_SIGNED,
    FIELD_ENUM,   /* an unsigned value that `names` names */
    FIELD_OFFSET, /* an L1 offset, where DORY_NO_BUFFER and DORY_IN_PLACE are values of their own */
    FIELD_STRUCT
};

struct field {
    const char *name;
    size_t offset, bytes; /* of one element */
    size_t count;         /* of elements: 1, or more for an array */
    enum field_kind kind;
    const char *const *names;
    const struct record *record;        /* FIELD_STRUCT */
    bool (*is_live)(const void *value); /* of a member of a union: whether the struct at `value` has it. Null: it has */
    const char *group;                  /* not null: starts a line of its own, after this comment unless it is empty */
};

struct record {
    const struct field *fields;
    size_t field_count, bytes;
};

/* Entries of a table. TYPE is the struct, MEMBER its member; a further designator may follow: .group = "". */
#define FIELD_PLACE(TYPE, MEMBER)                                                                                           \
    .name = #MEMBER, .offset = offsetof(TYPE, MEMBER), .bytes = sizeof(((TYPE *)0)->MEMBER), .count = 1
#define FIELD_ARRAY(TYPE, MEMBER)                                                                                           \
    .name = #MEMBER, .offset = offsetof(TYPE, MEMBER), .bytes = sizeof(((TYPE *)0)->MEMBER[0]),                             \
    .count = sizeof(((TYPE *)0)->MEMBER) / sizeof(((TYPE *)0)->MEMBER[0])
#define RECORD(TYPE, FIELDS)                                                                                                \
    {                                                                                                                       \
        .fields = FIELDS, .field_count = sizeof FIELDS / sizeof *FIELDS, .bytes = sizeof(TYPE)                              \
    }

/* The value of an element of a member, of a struct at `value`. */
uint64_t field_unsigned(const struct field *field, const void *value, size_t element);
int64_t field_signed(const struct field *field, const void *value, size_t element);

/* Members that are not live are left out, as are those that are zero, as C sets them to zero. The braces are the caller's,
 * so that he can add members: every member printed ends in a comma. Lines are broken before column 120 and indented by
 * `indent` blanks. */
void print_members(struct text *text, const struct record *record, const void *value, size_t indent);

/* With braces, on the current line. */
void print_record(struct text *text, const struct record *record, const void *value, size_t indent);

#endif
