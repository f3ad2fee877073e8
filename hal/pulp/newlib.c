/* What newlib, the C library of the PULP compilers, asks of a system. There are no files but the log, and there is no heap.
 * Some builds of newlib want names with an underscore. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dory/pulp_log.h"

int close(int file)
{
    (void)file;
    errno = EBADF;
    return -1;
}

int fstat(int file, struct stat *state)
{
    (void)file;
    state->st_mode = S_IFCHR; /* what a terminal is */
    return 0;
}

int isatty(int file)
{
    (void)file;
    return 1;
}

off_t lseek(int file, off_t offset, int from)
{
    (void)file, (void)offset, (void)from;
    errno = ESPIPE;
    return -1;
}

ssize_t read(int file, void *bytes, size_t count)
{
    (void)file, (void)bytes, (void)count;
    return 0; /* the end */
}

ssize_t write(int file, const void *bytes, size_t count)
{
    const char *text = bytes;
    (void)file;
    for (size_t i = 0; i < count; i++) {
        pulp_log_character(text[i]);
    }
    return (ssize_t)count;
}

void *sbrk(ptrdiff_t increment)
{
    (void)increment;
    errno = ENOMEM;
    return (void *)-1;
}

int _close(int file) __attribute__((alias("close")));
int _fstat(int file, struct stat *state) __attribute__((alias("fstat")));
int _isatty(int file) __attribute__((alias("isatty")));
off_t _lseek(int file, off_t offset, int from) __attribute__((alias("lseek")));
ssize_t _read(int file, void *bytes, size_t count) __attribute__((alias("read")));
ssize_t _write(int file, const void *bytes, size_t count) __attribute__((alias("write")));
void *_sbrk(ptrdiff_t increment) __attribute__((alias("sbrk")));
