/* dory ops: the operators that a model may have. */
#include <stdio.h>
#include <string.h>

#include "command/commands.h"
#include "import/operators.h"

static void print_operators(void)
{
    puts("Operators of integer networks, as NEMO exports them after net.id_stage(), or Quantlab after its integerise "
         "passes.\n"
         "Opsets 7 to 17, one image at a time, fixed dimensions, 1 or 2 spatial dimensions.\n");
    for (int i = 0; i < operator_count; i++)
        printf("%-18s %s%s%s\n", operators[i].type, operators[i].becomes,
               *operators[i].becomes && *operators[i].limits ? "; " : "", operators[i].limits);
    puts("\nNot supported:\n");
    for (int i = 0; i < operator_advice_count; i++)
        printf("%-18s %s\n", operator_advices[i].type, operator_advices[i].text);
}

int command_ops(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        puts("Usage: dory ops\nPrints the operators that a model may have, and what to do about some that it may not.");
        return EXIT_DONE;
    }
    if (argc > 1) {
        fprintf(stderr, "dory ops: error: it takes no '%s'\n", argv[1]);
        return EXIT_USAGE;
    }
    print_operators();
    return EXIT_DONE;
}
