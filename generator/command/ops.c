/* dory ops: the operators that a model may have. */
#include <stdio.h>

#include "command/commands.h"
#include "import/operators.h"

static void print_operators(void)
{
    puts("Operators of integer networks, as NEMO exports them after net.id_stage(), or Quantlab after its integerise "
         "passes.\n"
         "Opsets 7 to 21, one image at a time, fixed dimensions, 1 or 2 spatial dimensions.\n");
    for (int i = 0; i < operator_count; i++)
        printf("%-18s %s%s%s\n", operators[i].type, operators[i].becomes,
               *operators[i].becomes && *operators[i].limits ? "; " : "", operators[i].limits);
    puts("\nNot supported:\n");
    for (int i = 0; i < operator_advice_count; i++)
        printf("%-18s %s\n", operator_advices[i].type, operator_advices[i].text);
}

enum exit_status command_ops(struct invocation *invocation)
{
    (void)invocation;
    print_operators();
    return EXIT_DONE;
}
