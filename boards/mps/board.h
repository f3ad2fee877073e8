/* What the files of boards/mps share. */
#ifndef DORY_BOARD_MPS_H
#define DORY_BOARD_MPS_H

#include <stdint.h>

/* Ends QEMU with this exit status. */
_Noreturn void board_stop(int status);

/* The same, after a message: CFSR and the address of the instruction. */
_Noreturn void board_stop_with_fault(uint32_t fault_status, uint32_t address);

#endif
