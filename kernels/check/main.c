/* The whole of a check program, but its table: see dory_check.h. */
#include "dory_check.h"

int main(void) { return dory_check_run(&dory_check) != DORY_OK; }
