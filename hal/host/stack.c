/* Stacks of the host HAL's cores. */
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"
#include "stack.h"

/* A PC's frames are larger than a chip's, and ThreadSanitizer keeps its own data there, too. Below the guard there is no
 * memory at all. */
#ifdef THREAD_SANITIZER
#define STACK_BYTES (2048 * 1024)
#else
#define STACK_BYTES (256 * 1024)
#endif
#define STACK_GUARD_BYTES (16 * 1024)

static struct pattern paint = {.word = STACK_PAINT};
static uint8_t *stacks[HAL_HOST_MAXIMUM_CORES];

int stack_make(unsigned core)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *all = mmap(NULL, page + STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stacks[core] = all == MAP_FAILED ? NULL : pattern_map(&paint, all + page, STACK_BYTES);
    return stacks[core] ? DORY_OK : DORY_ERROR_CLUSTER;
}

void stack_drop(unsigned core)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(stacks[core] - page, page + STACK_BYTES);
}

bool stack_use(unsigned core, pthread_attr_t *attributes)
{
    return pthread_attr_setstack(attributes, stacks[core], STACK_BYTES) == 0;
}

int stacks_check(unsigned cores)
{
    int status = DORY_OK;
    for (unsigned core = 0; core < cores; core++)
        if (!stack_is_sound(stacks[core], STACK_GUARD_BYTES))
            status = host_violation(DORY_ERROR_STACK, "the stack of core %u has grown beyond its end", core);
    return status;
}

int hal_stack_peak(unsigned core, struct hal_stack *stack)
{
    if (core == HAL_FABRIC_CONTROLLER)
        return DORY_ERROR_UNSUPPORTED; /* it is the operating system's */
    if (!stack || core >= hal_core_count())
        return DORY_ERROR_ARGUMENT;
    int status = start_check_idle("hal_stack_peak");
    if (status != DORY_OK)
        return status;
    *stack = stack_measure(stacks[core], stacks[core] + STACK_BYTES, STACK_GUARD_BYTES);
    return DORY_OK;
}
