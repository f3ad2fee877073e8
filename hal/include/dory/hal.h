/* The hardware that a generated network needs, in one header. Each folder of hal/ implements it once:
 *
 *   host/    a PC: memories are mappings with red zones, cores are threads, DMA is late or early by a seed
 *   virt/    riscv32 `virt` machine of QEMU with up to 8 harts
 *   gap8/    GAP8 bare metal: fabric controller, cluster, event unit, MCHAN, uDMA HyperBus; most of it is in pulp/
 *   siracusa/ the same of Siracusa
 *   pulp_open/ the same of PULP-open
 *   pmsis/   the same over the PMSIS API
 *   cortexm/ a Cortex-M: one core, copies by memcpy, flash in the address space
 *   alone/   one core and its memory, nothing else and no state: what `dory export` takes along
 *
 * Two sides call it. The *fabric controller* (FC) opens and closes things and runs a function on the cluster;
 * the *cluster cores* run that function together (single program, multiple data) and move data. A call says
 * which side may make it. Every call that can fail returns a status of dory/status.h.
 */
#ifndef DORY_HAL_H
#define DORY_HAL_H

#include <stddef.h>
#include <stdint.h>

#include "dory/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Buffers handed to a network start on this boundary (bytes): one 64-bit beat of the DMA. */
#define DORY_ALIGNMENT 8

/* Section attributes for an application's own static buffers, without initialiser; their first content is undefined
 * (on hardware, L1 has no power before hal_cluster_open). A name that starts with .bss keeps them out of the boot
 * image and makes an initialiser a compile error. On the host these are ordinary memory, but sections of
 * their own, so that the HAL knows transfers into them to be legal and takes their size off what hal_memory_reserve
 * has left. DORY_FC: data that the FC uses often, zero at the start of the program; on GAP8 in the FC's own memory. */
#if defined(DORY_HAL_PMSIS) && defined(__riscv)
#define DORY_L1 PI_CL_L1 __attribute__((aligned(DORY_ALIGNMENT))) /* of pmsis.h; or use hal_memory_reserve */
#define DORY_L2 __attribute__((aligned(DORY_ALIGNMENT)))          /* where an SDK has all static data */
#define DORY_FC
#elif defined(__riscv) || (defined(__arm__) && !defined(__linux__))
#define DORY_L1 __attribute__((section(".bss.dory_l1"), aligned(DORY_ALIGNMENT)))
#define DORY_L2 __attribute__((section(".bss.dory_l2"), aligned(DORY_ALIGNMENT)))
#define DORY_FC __attribute__((section(".bss.dory_fc"))) /* zero at the start of the program, as in C */
#else
#define DORY_L1 __attribute__((section("dory_l1"), aligned(DORY_ALIGNMENT)))
#define DORY_L2 __attribute__((section("dory_l2"), aligned(DORY_ALIGNMENT)))
#define DORY_FC
#endif

/* The headers of PulpOS have a function of this name: include pmsis.h before this one. */
#if defined(DORY_HAL_PMSIS) && defined(__riscv)
#define hal_core_id dory_hal_core_id
#endif

/* ---- memory ------------------------------------------------------------------------------------------------ */

enum hal_memory { HAL_L1, HAL_L2 };

/* FC. Hands out `bytes` of what the application's static data leave of a memory level, aligned to DORY_ALIGNMENT;
 * there is no way to give it back before hal_memory_reset. Meant for tests and for applications that size their
 * buffers at run time; an application may as well own static arrays marked DORY_L1 and DORY_L2.
 * DORY_ERROR_MEMORY: not that many bytes left. */
int hal_memory_reserve(enum hal_memory memory, size_t bytes, void **address);

/* FC. Takes back everything that hal_memory_reserve handed out. */
int hal_memory_reset(void);

/* ---- cluster ----------------------------------------------------------------------------------------------- */

/* FC. Powers the cluster up with `cores` cores (1 to hal_cluster_maximum_cores()). */
int hal_cluster_open(unsigned cores);
unsigned hal_cluster_maximum_cores(void);

/* FC. Runs entry(argument) on every core of the cluster and returns when all have returned. Meanwhile the FC
 * serves the queue of L3 transfers. */
int hal_cluster_run(void (*entry)(void *argument), void *argument);

/* FC. The same for work that a *driver* leads: it moves data between the memory levels while the cores compute. Where the
 * FC can start DMA copies (GAP8), it is the driver and runs entry(argument) beside the cores; elsewhere the last core is
 * both. The driver makes the calls of L3. */
int hal_cluster_drive(void (*entry)(void *argument), void *argument);

/* How work with a driver goes on beside the application that has started it: in interrupts where the driver is the FC, or
 * only in hal_cluster_poll. A driver that is a core of its own goes on by itself either way; one that shares the FC's hart
 * (virt) only when it is polled. */
enum hal_progress { HAL_BY_INTERRUPT, HAL_BY_POLL };

/* Of memory that is lent to hal_cluster_start: the driver's stack, where it is the FC. */
#define HAL_DRIVER_STACK_BYTES     1536
#define HAL_DRIVER_STACK_ALIGNMENT 16

/* FC. Begins hal_cluster_drive(entry, argument), and returns as soon as nothing can be done without waiting. `stack` is the
 * work's until hal_cluster_poll or hal_cluster_wait has returned something other than DORY_RUNNING. Where this does not
 * return DORY_OK, nothing was begun; DORY_ERROR_BUSY: what was begun before is not complete. */
int hal_cluster_start(void (*entry)(void *argument), void *argument, enum hal_progress progress, void *stack);

/* FC. Goes on with what was started, as far as that goes without waiting; DORY_RUNNING, or at the end, once, what
 * hal_cluster_drive would have returned. DORY_ERROR_ARGUMENT: nothing was started. */
int hal_cluster_poll(void);

/* FC. The same, and waits for the end. */
int hal_cluster_wait(void);

/* FC. Is there something that was started, and whose end has not been reported? Meanwhile the other calls of a cluster and
 * those of L3 answer the application DORY_ERROR_BUSY, but for hal_cluster_poll and _wait, and DMA is not for it. */
int hal_cluster_is_busy(void);

/* Inside hal_cluster_drive: what the caller is, 0 or 1; a driver may be no core, and then has no number. */
int hal_is_driver(void);
int hal_is_core(void);

/* Inside hal_cluster_drive, cores and driver. A barrier of all of them. */
void hal_meet(void);

/* Inside hal_cluster_drive. One core at a time tells the driver, which awaits as many notices as are given, that what it has
 * written or copied may be used. A driver that is a core comes through a barrier with that one in between. */
void hal_notify(void);
void hal_await_notice(void);

/* FC. Powers the cluster down. Calling it on a closed cluster does nothing. */
int hal_cluster_close(void);

/* Cluster. This core's number, 0 to hal_core_count() - 1. */
unsigned hal_core_id(void);
unsigned hal_core_count(void);

/* Cluster. Every core waits here until all have come; what they wrote before is seen by all after. */
void hal_barrier(void);

/* ---- stacks ------------------------------------------------------------------------------------------------ */

/* A stack that grew beyond its end makes hal_cluster_run and hal_cluster_close return DORY_ERROR_STACK, and its owner is
 * named in the log. So much of each stack is in use at most: */
struct hal_stack {
    uint32_t bytes;      /* of the stack, those left out that are the guard at its end */
    uint32_t peak_bytes; /* more than `bytes`: it has overflowed */
};

#define HAL_FABRIC_CONTROLLER UINT32_MAX

/* FC, while the cluster is open and runs nothing. What a core, 0 to hal_core_count() - 1, has used since hal_cluster_open,
 * or HAL_FABRIC_CONTROLLER since the program began. DORY_ERROR_UNSUPPORTED: this stack is not the HAL's. */
int hal_stack_peak(unsigned core, struct hal_stack *stack);

/* ---- DMA between L2 and L1 --------------------------------------------------------------------------------- */

enum hal_direction { HAL_TO_LOCAL, HAL_FROM_LOCAL }; /* into L1, out of L1 */

/* A copy of `planes` times `runs` runs of `run_bytes` bytes. Run r of plane p is at
 * external + p * external_plane_stride + r * external_run_stride, likewise on the local side; strides are in bytes
 * and are ignored where the count is 1. Counts are at least 1. No alignment is required; sizes and strides may
 * exceed what the hardware takes at once: the HAL splits the copy. */
struct hal_dma_copy {
    void *local;    /* in L1 */
    void *external; /* in L2 */
    uint32_t run_bytes;
    uint32_t runs;
    uint32_t planes;
    uint32_t external_run_stride;
    uint32_t external_plane_stride;
    uint32_t local_run_stride;
    uint32_t local_plane_stride;
    enum hal_direction direction;
};

typedef int32_t hal_dma_ticket;

/* Cluster, or the driver, in all calls of DMA. Opens a ticket: the copies that this core starts from now on, up to its next
 * hal_dma_open, belong to it. At most HAL_DMA_TICKETS are open at a time over all cores. */
#define HAL_DMA_TICKETS 8
int hal_dma_open(hal_dma_ticket *ticket);

/* Cluster. Starts a copy under the ticket that this core opened last. The source must not be written, and the
 * destination neither read nor written, until hal_dma_wait of that ticket has returned. */
int hal_dma_copy(hal_dma_ticket ticket, const struct hal_dma_copy *copy);

/* Cluster. Waits until all copies of the ticket are complete and closes it. Only the core that opened it may wait;
 * the others learn of it by a barrier. A ticket without copies is complete at once. */
int hal_dma_wait(hal_dma_ticket ticket);

/* ---- L3 ---------------------------------------------------------------------------------------------------- */

enum hal_l3_kind { HAL_FLASH_READ, HAL_RAM_READ, HAL_RAM_WRITE };

/* A copy between L3 and L2 of `runs` runs of `run_bytes` bytes. L3 addresses are byte offsets from the start of the
 * flash's data area or of the RAM. HyperBus moves 16-bit words and the uDMA 32-bit ones: l2, l2_stride and run_bytes are
 * multiples of HAL_L3_ALIGNMENT bytes, l3_address and l3_stride multiples of 2. Otherwise: DORY_ERROR_ALIGNMENT. */
#define HAL_L3_ALIGNMENT 4
struct hal_l3_copy {
    enum hal_l3_kind kind;
    uint32_t l3_address;
    void *l2;
    uint32_t run_bytes;
    uint32_t runs;
    uint32_t l3_stride; /* ignored where runs is 1 */
    uint32_t l2_stride;
};

/* A position in the queue: transfers are numbered 1, 2, 3 ... as they are started, done in that order. */
typedef uint32_t hal_l3_ticket;

/* FC. Makes flash and RAM usable; sizes in bytes, either pointer may be null. */
int hal_l3_open(uint32_t *flash_bytes, uint32_t *ram_bytes);

/* FC. DORY_ERROR_L3 where a transfer was started and never waited for; it is closed all the same. */
int hal_l3_close(void);

/* Either side. The flash address of a symbol in the section of dory/flash_section.h, for HAL_FLASH_READ;
 * HAL_NOT_IN_FLASH for any other pointer. */
#define HAL_NOT_IN_FLASH UINT32_MAX
uint32_t hal_flash_address(const void *symbol);

/* One cluster core at a time, or the driver, or the FC while no function runs on the cluster. Queues a copy; waits for room
 * in the queue where there is none. Same rule for source and destination as hal_dma_copy, but between transfers of this
 * queue their order is enough: a later one may overwrite what an earlier one reads. */
int hal_l3_start(const struct hal_l3_copy *copy, hal_l3_ticket *ticket);

/* The caller of hal_l3_start. Waits until the transfer with this ticket and all before it are complete.
 * A failed transfer is reported by the first wait that covers it. Ticket 0 is complete. DORY_ERROR_ARGUMENT: there is no
 * such transfer. */
int hal_l3_wait(hal_l3_ticket ticket);

/* ---- time and text ----------------------------------------------------------------------------------------- */

/* Either side. A counter of cluster clock cycles that also runs while cores sleep, modulo 2^32. It stands still while
 * the cluster is closed; 0 for ever where there is none (then hal_cycles_available() is 0). */
uint32_t hal_cycles(void);
int hal_cycles_available(void);

/* Either side. Writes text to the log, as it is. */
void hal_log(const char *text);

#ifdef __cplusplus
}
#endif

/* A target may define the calls that are made for every tile as inline functions; same names, same contract. */
#ifdef DORY_HAL_INLINE
#include "dory/hal_inline.h"
#endif

#endif
