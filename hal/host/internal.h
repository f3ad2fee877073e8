/* What the files of the host HAL share. One lock guards all of it; hal.h and hal_host.h say what it is for. */
#ifndef DORY_HAL_HOST_INTERNAL_H
#define DORY_HAL_HOST_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dory/hal_host.h"

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

/* ---- control.c ---- */

/* ThreadSanitizer sees neither locks nor data between these two: a lock of the HAL would order the cores and hide a
 * barrier that the firmware forgot. */
void host_unordered_begin(void);
void host_unordered_end(void);

/* The order that the contract does promise: what was done before `event` is seen after it. Outside the two above. */
void host_order_before(void *event);
void host_order_after(void *event);

/* The same with the lock: every entry point that touches shared state of memories and transfers is between these two. */
void host_enter(void);
void host_leave(void);

/* Inside them, round accesses to memory of the firmware, which ThreadSanitizer shall see. */
void host_firmware_access_begin(void);
void host_firmware_access_end(void);

extern struct hal_host_counters host_counters;
extern struct hal_host_options host_options; /* no zeros left */

/* Counts the call; true: it has to fail. */
bool host_fault(enum hal_host_call call);

/* With or without the lock. */
void host_sleep(unsigned milliseconds);

/* Counts and prints a violation of the contract; returns `status`. */
int host_violation(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number that depends on the seed and its arguments only, so that threads' interleaving changes nothing. */
uint64_t host_random(uint64_t stream, uint64_t index);

/* Of functions that count on their own what memory is used for, between host_unordered_begin and _end, where ThreadSanitizer
 * does not look: not to be made ready for it, either, which costs most of their time. */
#define HOST_BOOKKEEPING __attribute__((no_sanitize_thread))

/* ---- pattern.c ---- */

struct pattern {
    uint32_t word;
    int file;
    size_t bytes; /* of the file; 0: none yet */
};

/* At least so many bytes, from a page on, full of the pattern: at `at`, in place of what is there, or anywhere where that is
 * null. Null: the operating system has no more. munmap ends it. */
uint8_t *pattern_map(struct pattern *pattern, void *at, size_t bytes);

/* ---- memory.c ---- */

/* Memory that transfers may touch. A mark a byte tells what transfers in flight do with it. */
enum range_origin { RANGE_STATIC, RANGE_REGISTERED, RANGE_RESERVED };

#define MARK_WRITTEN 0x80000000u /* else the number of transfers that read it */

struct range {
    struct range *next;
    enum hal_memory memory;
    enum range_origin origin;
    uint8_t *base;
    size_t bytes;
    uint32_t *marks;
    unsigned in_flight; /* sides of transfers that have marks in it */
};

void memory_setup(void); /* from options; once before anything else, and again by configure */
struct range *memory_find(enum hal_memory memory, const uint8_t *address);
const char *memory_name(enum hal_memory memory);
bool memory_static_data_fit(void);

void poison_address_range(const void *address, size_t bytes); /* for AddressSanitizer; nothing without it */
void unpoison_address_range(const void *address, size_t bytes);

/* ---- transfer.c ---- */

/* One side of a transfer. No range: flash or RAM, which only the L3 queue touches, in order. */
struct view {
    uint8_t *base;
    uint32_t run_stride, plane_stride;
    struct range *range;
};

struct transfer {
    const char *kind; /* for messages: "DMA copy" */
    uint64_t number;  /* of its kind, from 1 */
    int core;         /* -1: FC */
    struct view to, from;
    uint32_t run_bytes, runs, planes;
    bool late, performed;
    uint64_t to_sum, from_sum; /* checksums of what must not change until the wait */
};

/* Checks that one side of `transfer` lies inside one range of a memory level and sets view->range. 0 or `status`. */
int transfer_locate(const struct transfer *transfer, struct view *view, enum hal_memory memory, int status);

/* Does another transfer in flight touch the destination, or write the source? The second reports it. */
bool transfer_conflicts(const struct transfer *transfer);
int transfer_check_conflict(const struct transfer *transfer, int status);

/* Started, performed, finished. The last two return false after they have reported, with `status`, that a side changed
 * in flight. Finished without being performed: its bytes never arrive. */
void transfer_start(struct transfer *transfer, bool late);
bool transfer_perform(struct transfer *transfer, int status); /* nothing where it was early */
bool transfer_finish(struct transfer *transfer, int status);
size_t transfer_bytes(const struct transfer *transfer);

/* ---- cluster.c ---- */

#define FABRIC_CONTROLLER (-1)
#define PARTIES           (HAL_HOST_MAXIMUM_CORES + 1) /* the cores, and a driver beside them */
int cluster_this_core(
    void); /* FABRIC_CONTROLLER outside the cluster; the number behind the last core for a driver that is none */
bool cluster_is_open(void);

/* A run: begin, with the fabric controller as its driver where `has_driver` and the options say so, drive beside the cores
 * where that is so, and finish, which waits for all. */
int cluster_begin(void (*entry)(void *argument), void *argument, bool has_driver);
bool cluster_has_driver_beside(void);
void cluster_drive_beside(void);
bool cluster_has_ended(void);
int cluster_finish(void);

/* ---- stack.c ---- */

int stack_make(unsigned core);
void stack_drop(unsigned core);
bool stack_use(unsigned core, pthread_attr_t *attributes);
int stacks_check(unsigned cores); /* 0, or DORY_ERROR_STACK after a violation was reported */

/* ---- start.c: what goes on beside the application ---- */

/* For calls of the application that there must be no such thing for; without the lock. 0, or DORY_ERROR_BUSY after a
 * violation was reported. */
int start_check_idle(const char *call);

/* Does it go on when it is polled only; and is the caller its driver? Who is, lets the application go on where it waits. */
bool start_is_polled(void);
bool start_driver_is_polled(void);
void start_yield(void);

/* Where the machine may have to wait, or not. `stream` and `index` decide, with the seed. */
void start_yield_sometimes(uint64_t stream, uint64_t index);

/* ---- dma.c, l3.c ---- */

/* At the end of a run: ends tickets that nobody waited for. 0, or DORY_ERROR_DMA after a violation was reported. */
int dma_end_of_run(void);
void dma_setup(void);

bool l3_is_open(void);
void l3_setup(void);

#endif
