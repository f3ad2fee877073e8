/* The table of options, and how one is set; for options.c and configuration.c. */
#ifndef DORYGEN_OPTION_TABLE_H
#define DORYGEN_OPTION_TABLE_H

#include "command/options.h"

enum option_kind {
    OPTION_TEXT,
    OPTION_PATH,   /* in a configuration file: relative to its folder */
    OPTION_PATHS,  /* one each time that the option is given; on the command line only */
    OPTION_NUMBER, /* from 1 on */
    OPTION_SIZE,   /* in bytes; 64k and 1M, too */
    OPTION_DIGITS, /* a number that another module reads; a text on the command line */
    OPTION_FLAG
};

struct option {
    unsigned commands; /* that it has an effect on; 0: in a configuration file only */
    const char *flag;  /* on the command line; null: in a configuration file only */
    const char *key;   /* in a configuration file; null: on the command line only */
    enum option_kind kind;
    size_t offset; /* in struct options */
    const char *argument, *help;
};

extern const struct option option_table[];
extern const int option_count;

/* The member that an option sets; which one of them it is, its kind says. */
const char **option_text(struct options *options, const struct option *option);
struct option_list *option_list(struct options *options, const struct option *option);
uint32_t *option_number(struct options *options, const struct option *option);
bool *option_flag(struct options *options, const struct option *option);

/* Of kind OPTION_NUMBER or OPTION_SIZE. False: it is none, or none of 32 bits. */
bool option_read_number(const struct option *option, const char *text, uint32_t *number);

/* What a value of a kind is, for messages: "a number from 1 to 4294967295". */
const char *option_expected(enum option_kind kind);

void option_list_add(struct option_list *list, const char *item, struct arena *arena);

#endif
