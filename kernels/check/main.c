/* The whole of a check program, but its table: see dory/check.h. */
#include "dory/check.h"

int main(void) { return dory_check_run(&dory_check) != DORY_OK; }
