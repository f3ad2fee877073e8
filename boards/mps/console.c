/* Text and exit by semihosting, and the standard streams of picolibc. */
#include <stdio.h>
#include <string.h>

#include "board.h"

/* Operations of "Semihosting for AArch32 and AArch64". */
enum { SEMIHOSTING_OPEN = 0x01, SEMIHOSTING_WRITE = 0x05, SEMIHOSTING_EXIT_EXTENDED = 0x20 };
#define STOPPED_BY_APPLICATION 0x20026u
#define MODE_WRITE             4u /* of SEMIHOSTING_OPEN; on ":tt" it means the standard output */

#define LINE_BYTES   160
#define FAULT_STATUS 99

static char line[LINE_BYTES];
static unsigned line_bytes;

static uint32_t semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void write_all(const char *text, size_t bytes)
{
    static uint32_t handle; /* 0: not open; QEMU's handles begin at 1 */
    if (handle == 0) {
        const uint32_t arguments[] = {(uint32_t)(uintptr_t) ":tt", MODE_WRITE, 3};
        handle = semihosting(SEMIHOSTING_OPEN, arguments);
    }
    const uint32_t arguments[] = {handle, (uint32_t)(uintptr_t)text, bytes};
    semihosting(SEMIHOSTING_WRITE, arguments);
}

static int flush_stream(FILE *stream)
{
    (void)stream;
    if (line_bytes > 0)
        write_all(line, line_bytes);
    line_bytes = 0;
    return 0;
}

static int put_character(char character, FILE *stream)
{
    line[line_bytes++] = character;
    if (character == '\n' || line_bytes == LINE_BYTES)
        flush_stream(stream);
    return (unsigned char)character;
}

static FILE stream = FDEV_SETUP_STREAM(put_character, NULL, flush_stream, _FDEV_SETUP_WRITE);
FILE *const stdin = &stream; /* nothing can be read */
FILE *const stdout = &stream;
FILE *const stderr = &stream;

_Noreturn void board_stop(int status)
{
    const uint32_t arguments[] = {STOPPED_BY_APPLICATION, (uint32_t)status};
    flush_stream(stdout);
    semihosting(SEMIHOSTING_EXIT_EXTENDED, arguments);
    for (;;)
        __asm__ volatile("wfi");
}

/* What exit() of picolibc ends with. */
_Noreturn void _exit(int status);
_Noreturn void _exit(int status) { board_stop(status); }

static void write_hexadecimal(const char *label, uint32_t value)
{
    char text[9] = "";
    for (int i = 7; i >= 0; i--, value >>= 4)
        text[i] = "0123456789abcdef"[value & 15];
    write_all(label, strlen(label));
    write_all(text, 8);
}

_Noreturn void board_stop_with_fault(uint32_t fault_status, uint32_t address)
{
    flush_stream(stdout);
    write_hexadecimal("dory board: fault, status 0x", fault_status);
    write_hexadecimal(", at 0x", address);
    write_all("\n", 1);
    board_stop(FAULT_STATUS);
}
