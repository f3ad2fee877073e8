#include <stdio.h>

#include "internal.h"

/* The SDK decides where printf goes: a simulator's console, a UART, the debugger. */
void hal_log(const char *text)
{
    if (text)
        printf("%s", text);
}
