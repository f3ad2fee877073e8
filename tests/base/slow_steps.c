/* A program of two steps, of which one takes its time. Usage: slow_steps [quiet|verbose] */
#include <string.h>
#include <time.h>

#include "base/terminal.h"

int main(int argc, char **argv)
{
    if (argc == 2)
        terminal_set_verbosity(!strcmp(argv[1], "quiet") ? VERBOSITY_QUIET : VERBOSITY_VERBOSE);
    progress_step("quick");
    progress_part(1, 2);
    progress_step("slow");
    for (int part = 0; part < 10; part++) {
        progress_part(part, 10);
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
    }
    progress_step(NULL);
    puts("result");
    return 0;
}
