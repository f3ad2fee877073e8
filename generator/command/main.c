/* `dory`: the command line. */
#include "command/commands.h"

int main(int argc, char **argv) { return commands_main(argc, argv); }
