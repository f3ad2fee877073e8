#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- colours ---- */

static bool is_screen(FILE *stream)
{
    const char *kind = getenv("TERM");
    return isatty(fileno(stream)) && kind && strcmp(kind, "dumb") != 0;
}

const char *terminal_colour(FILE *stream, enum colour colour)
{
    static const char *const sequences[] = {
        [COLOUR_NONE] = "\033[0m",
        [COLOUR_RED] = "\033[1;31m",
        [COLOUR_GREEN] = "\033[32m",
        [COLOUR_YELLOW] = "\033[33m",
    };
    const char *refused = getenv("NO_COLOR");
    return is_screen(stream) && !(refused && *refused) ? sequences[colour] : "";
}

/* ---- progress ---- */

#define PATIENCE_SECONDS 0.3 /* before a step shows up */
#define INTERVAL_SECONDS 0.1 /* between two changes of the line */

static enum verbosity chosen = VERBOSITY_NORMAL;
static const char *step;           /* null: none */
static double started, last_shown; /* seconds; 0: nothing is shown */

double terminal_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void terminal_set_verbosity(enum verbosity verbosity) { chosen = verbosity; }
bool terminal_is_quiet(void) { return chosen == VERBOSITY_QUIET; }

static void end_step(void)
{
    if (last_shown > 0)
        fputs("\r\033[K", stderr);
    last_shown = 0;
    if (chosen == VERBOSITY_VERBOSE)
        fprintf(stderr, "dory: %s: %.2f s\n", step, terminal_seconds() - started);
}

void progress_step(const char *name)
{
    if (step)
        end_step();
    step = name;
    started = terminal_seconds();
}

void progress_part(int done, int all)
{
    if (!step || chosen == VERBOSITY_QUIET || !is_screen(stderr))
        return;
    double time = terminal_seconds();
    if (time - started < PATIENCE_SECONDS || time - last_shown < INTERVAL_SECONDS)
        return;
    fprintf(stderr, "\r\033[Kdory: %s %d/%d", step, done, all);
    fflush(stderr);
    last_shown = time;
}
