/* hal_log and the C library's standard output. gvsoc prints what is written to its stdout registers. The chip has no
 * such block: an application for a board defines pulp_log_character itself, to feed a UART (uDMA channel 4) for example. */
#include <stdio.h>

#include "dory/pulp_log.h"
#include "internal.h"

__attribute__((weak)) void pulp_log_character(char character)
{
    uint32_t hart = pulp_hart();
    uint32_t address = CHIP_STDOUT_ADDRESS + (hart >> 5 << 7) + ((hart & 31) << 3);
    *(volatile uint32_t *)(uintptr_t)address = (uint8_t)character;
}

void hal_log(const char *text)
{
    while (*text)
        pulp_log_character(*text++);
}

/* Standard output of the C library, so that printf works in an application; the linker drops it where nothing prints. It
 * stands in this file, which every program needs, because the C library comes behind this one on the linker's command line.
 */
#if __has_include(<picolibc.h>)

static int put(char character, FILE *file)
{
    (void)file;
    pulp_log_character(character);
    return (unsigned char)character;
}

static FILE standard_output = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);

FILE *const stdout = &standard_output;
FILE *const stderr = &standard_output;

#endif
