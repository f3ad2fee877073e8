/* Options, lock, faults, counters, messages of the host HAL. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "internal.h"

#ifdef THREAD_SANITIZER
/* ThreadSanitizer's dynamic annotations; its library has them, no header declares them. */
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

void AnnotateHappensBefore(const char *file, int line, void *address);
void AnnotateHappensAfter(const char *file, int line, void *address);

void host_order_before(void *event) { AnnotateHappensBefore(__FILE__, __LINE__, event); }
void host_order_after(void *event) { AnnotateHappensAfter(__FILE__, __LINE__, event); }
static void ignore_synchronisation(bool begin)
{
    (begin ? AnnotateIgnoreSyncBegin : AnnotateIgnoreSyncEnd)(__FILE__, __LINE__);
}
static void ignore_accesses(bool begin)
{
    (begin ? AnnotateIgnoreReadsBegin : AnnotateIgnoreReadsEnd)(__FILE__, __LINE__);
    (begin ? AnnotateIgnoreWritesBegin : AnnotateIgnoreWritesEnd)(__FILE__, __LINE__);
}
#else
void host_order_before(void *event) { (void)event; }
void host_order_after(void *event) { (void)event; }
static void ignore_synchronisation(bool begin) { (void)begin; }
static void ignore_accesses(bool begin) { (void)begin; }
#endif

#ifndef DORY_HOST_L1_BYTES /* of a target description, see CMakeLists.txt */
#define DORY_HOST_L1_BYTES (64 * 1024)
#endif
#ifndef DORY_HOST_L2_BYTES
#define DORY_HOST_L2_BYTES (512 * 1024)
#endif
#ifndef DORY_HOST_RAM_BYTES
#define DORY_HOST_RAM_BYTES (8 * 1024 * 1024)
#endif

struct hal_host_counters host_counters;
struct hal_host_options host_options;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_set_up;
static uint64_t faults[HAL_HOST_CALLS]; /* number of the call that fails; 0: none */

static void set_up(const struct hal_host_options *options)
{
    host_options = options ? *options : (struct hal_host_options){0};
    if (!options) {
        const char *seed = getenv("DORY_HAL_SEED");
        host_options.seed = seed ? strtoull(seed, NULL, 0) : 1;
    }
    if (host_options.l1_bytes == 0)
        host_options.l1_bytes = DORY_HOST_L1_BYTES;
    if (host_options.l2_bytes == 0)
        host_options.l2_bytes = DORY_HOST_L2_BYTES;
    if (host_options.ram_bytes == 0)
        host_options.ram_bytes = DORY_HOST_RAM_BYTES;
    if (host_options.barrier_timeout_milliseconds == 0)
        host_options.barrier_timeout_milliseconds = 60 * 1000;
    if (host_options.patience_milliseconds == 0)
        host_options.patience_milliseconds = 1000;
    host_counters = (struct hal_host_counters){0};
    for (int call = 0; call < HAL_HOST_CALLS; call++)
        faults[call] = 0;
    memory_setup();
    dma_setup();
    l3_setup();
    is_set_up = true;
}

void host_unordered_begin(void)
{
    ignore_synchronisation(true);
    ignore_accesses(true);
}

void host_unordered_end(void)
{
    ignore_accesses(false);
    ignore_synchronisation(false);
}

void host_enter(void)
{
    host_unordered_begin();
    pthread_mutex_lock(&lock);
    if (!is_set_up)
        set_up(NULL);
}

void host_leave(void)
{
    pthread_mutex_unlock(&lock);
    host_unordered_end();
}

void host_firmware_access_begin(void) { ignore_accesses(false); }
void host_firmware_access_end(void) { ignore_accesses(true); }

int hal_host_configure(const struct hal_host_options *options)
{
    int status = DORY_OK;
    host_enter();
    if (cluster_is_open())
        status = host_violation(DORY_ERROR_CLUSTER, "hal_host_configure while the cluster is open");
    else if (l3_is_open())
        status = host_violation(DORY_ERROR_L3, "hal_host_configure while L3 is open");
    else
        set_up(options);
    host_leave();
    return status;
}

bool host_fault(enum hal_host_call call)
{
    if (++host_counters.calls[call] != faults[call])
        return false;
    host_counters.faults++;
    return true;
}

void host_sleep(unsigned milliseconds)
{
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000}, NULL);
}

void hal_host_fail(enum hal_host_call call, uint64_t nth)
{
    host_enter();
    faults[call] = nth ? host_counters.calls[call] + nth : 0;
    host_leave();
}

const char *hal_host_call_name(enum hal_host_call call)
{
    static const char *const names[HAL_HOST_CALLS] = {
        [HAL_HOST_MEMORY_RESERVE] = "hal_memory_reserve",
        [HAL_HOST_CLUSTER_OPEN] = "hal_cluster_open",
        [HAL_HOST_CLUSTER_RUN] = "hal_cluster_run",
        [HAL_HOST_CLUSTER_CLOSE] = "hal_cluster_close",
        [HAL_HOST_DMA_OPEN] = "hal_dma_open",
        [HAL_HOST_DMA_COPY] = "hal_dma_copy",
        [HAL_HOST_DMA_WAIT] = "hal_dma_wait",
        [HAL_HOST_L3_OPEN] = "hal_l3_open",
        [HAL_HOST_L3_START] = "hal_l3_start",
        [HAL_HOST_L3_TRANSFER] = "L3 transfer",
        [HAL_HOST_L3_WAIT] = "hal_l3_wait",
        [HAL_HOST_L3_CLOSE] = "hal_l3_close",
        [HAL_HOST_DMA_STALL] = "DMA copies that never end",
        [HAL_HOST_L3_STALL] = "L3 transfer that never ends",
        [HAL_HOST_DMA_DELAY] = "slow DMA copies",
        [HAL_HOST_L3_DELAY] = "slow L3 transfer",
    };
    return (unsigned)call < HAL_HOST_CALLS ? names[call] : "unknown call";
}

void hal_host_get_counters(struct hal_host_counters *counters)
{
    host_enter();
    *counters = host_counters;
    host_leave();
}

int host_violation(int status, const char *format, ...)
{
    host_counters.violations++;
    if (host_options.quiet)
        return status;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "dory hal: %s\n", text);
    return status;
}

/* The finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

uint64_t host_random(uint64_t stream, uint64_t index)
{
    return mix(mix(mix(host_options.seed + 0x9E3779B97F4A7C15u) ^ stream) + 0x9E3779B97F4A7C15u * (index + 1));
}

/* A PC has clocks, but none that counts cycles of a cluster. */
uint32_t hal_cycles(void) { return 0; }
int hal_cycles_available(void) { return 0; }

void hal_log(const char *text)
{
    if (text)
        fputs(text, stdout);
    fflush(stdout); /* who looks on, and who looks for what came last, has every line at once */
}
