/* Text goes where the firmware's C library sends it. A file of its own: a firmware without a log has no streams in it. */
#include <stdio.h>

#include "internal.h"

__attribute__((weak)) void hal_log(const char *text)
{
    if (text)
        fputs(text, stdout);
}
