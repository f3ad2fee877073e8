/* What a linked program takes of L2. */
#ifndef DORYGEN_FIRMWARE_H
#define DORYGEN_FIRMWARE_H

#include "base/support.h"

/* The value of the symbol dory_l2_firmware_bytes of a program for a 32-bit little-endian machine (an ELF file), which dory's
 * linker scripts define: code, constants, data and what else lies in L2, stacks included where they do. False after an error
 * was reported. */
bool firmware_l2_bytes(const char *path, uint32_t *bytes, struct arena *arena, struct diagnostics *diagnostics);

#endif
