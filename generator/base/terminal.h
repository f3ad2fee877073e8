/* What a person at a terminal sees and a log does not: colours, and a line that tells how far a long step is. */
#ifndef DORYGEN_TERMINAL_H
#define DORYGEN_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum colour { COLOUR_NONE, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW };

/* The sequence that switches to a colour, COLOUR_NONE back from it. Empty where `stream` is no terminal, where the
 * environment has NO_COLOR (https://no-color.org), and on a terminal that is `dumb`. */
const char *terminal_colour(FILE *stream, enum colour colour);

/* QUIET: no notes and no progress; errors and warnings are always written. VERBOSE: every step, with its time. */
enum verbosity { VERBOSITY_QUIET, VERBOSITY_NORMAL, VERBOSITY_VERBOSE };

void terminal_set_verbosity(enum verbosity verbosity);
bool terminal_is_quiet(void);

double terminal_seconds(void); /* since some time; only differences count */

/* A step begins: "planning". It ends with the next one, or with a null pointer. On a terminal, a step that takes its time
 * shows up in a line on standard error that is wiped at its end. */
void progress_step(const char *name);

/* `done` of `all` parts of the step are through. May be called often; costs little. */
void progress_part(int done, int all);

#endif
