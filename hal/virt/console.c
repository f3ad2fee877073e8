/* Text and exit by semihosting, the standard streams of picolibc, and the message of a trap. */
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* Operations of "Semihosting for AArch32 and AArch64", which RISC-V took over. */
enum { SEMIHOSTING_OPEN = 0x01, SEMIHOSTING_WRITE = 0x05, SEMIHOSTING_EXIT_EXTENDED = 0x20 };
#define STOPPED_BY_APPLICATION 0x20026u
#define MODE_WRITE             4u /* of SEMIHOSTING_OPEN; on ":tt" it means the standard output */

#define LINE_BYTES  160
#define TRAP_STATUS 99

static spinlock console;
static char line[LINE_BYTES];
static unsigned line_bytes;

/* ---- writing; with the lock of the console, but where the machine stops anyway ------------------------------- */

static void write_all(const char *text, size_t bytes)
{
    static uint32_t handle; /* 0: not open; QEMU's handles begin at 1 */
    if (handle == 0) {
        const uint32_t arguments[] = {(uint32_t)(uintptr_t) ":tt", MODE_WRITE, 3};
        handle = (uint32_t)virt_semihosting(SEMIHOSTING_OPEN, arguments);
    }
    const uint32_t arguments[] = {handle, (uint32_t)(uintptr_t)text, bytes};
    virt_semihosting(SEMIHOSTING_WRITE, arguments);
}

static void flush_line(void)
{
    if (line_bytes > 0)
        write_all(line, line_bytes);
    line_bytes = 0;
}

void hal_log(const char *text)
{
    if (!text)
        return;
    lock(&console);
    flush_line();
    write_all(text, strlen(text));
    unlock(&console);
}

/* ---- standard streams -------------------------------------------------------------------------------------- */

static int put_character(char character, FILE *stream)
{
    (void)stream;
    lock(&console);
    line[line_bytes++] = character;
    if (character == '\n' || line_bytes == LINE_BYTES)
        flush_line();
    unlock(&console);
    return (unsigned char)character;
}

static int flush_stream(FILE *stream)
{
    (void)stream;
    lock(&console);
    flush_line();
    unlock(&console);
    return 0;
}

static FILE stream = FDEV_SETUP_STREAM(put_character, NULL, flush_stream, _FDEV_SETUP_WRITE);
FILE *const stdin = &stream; /* nothing can be read */
FILE *const stdout = &stream;
FILE *const stderr = &stream;

/* ---- the end ----------------------------------------------------------------------------------------------- */

_Noreturn void virt_stop(int status)
{
    const uint32_t arguments[] = {STOPPED_BY_APPLICATION, (uint32_t)status};
    flush_line();
    virt_semihosting(SEMIHOSTING_EXIT_EXTENDED, arguments);
    for (;;)
        __asm__ volatile("wfi");
}

/* What exit() of picolibc ends with. */
_Noreturn void _exit(int status);
_Noreturn void _exit(int status) { virt_stop(status); }

/* ---- traps ------------------------------------------------------------------------------------------------- */

static const char *cause_name(uint32_t cause)
{
    static const char *const names[] = {
        "instruction address misaligned", "instruction access fault", "illegal instruction",      "breakpoint",
        "load address misaligned",        "load access fault",        "store address misaligned", "store access fault",
    };
    return cause < sizeof names / sizeof names[0] ? names[cause] : "unexpected cause";
}

static void write_text(const char *text) { write_all(text, strlen(text)); }

static void write_hexadecimal(const char *label, uint32_t value)
{
    char text[9] = "";
    for (int i = 7; i >= 0; i--, value >>= 4)
        text[i] = "0123456789abcdef"[value & 15];
    write_text(label);
    write_text(text);
}

/* Called by start.S on a stack of its own. */
_Noreturn void virt_trap(uint32_t hart, uint32_t cause, uint32_t address, uint32_t value, uint32_t stack);
_Noreturn void virt_trap(uint32_t hart, uint32_t cause, uint32_t address, uint32_t value, uint32_t stack)
{
    char number[] = {(char)('0' + hart % 10), 0};
    flush_line();
    write_text("dory hal: trap on hart ");
    write_text(number);
    write_text(": ");
    write_text(cause_name(cause));
    write_hexadecimal(", cause 0x", cause);
    write_hexadecimal(", at 0x", address);
    write_hexadecimal(", value 0x", value);
    write_hexadecimal(", sp 0x", stack);
    write_text("\n");
    virt_stacks_check();
    virt_stop(TRAP_STATUS);
}
