/* A core's own performance counters, for profiling. Each core has its own set; they stand still while it sleeps.
 *
 *     pulp_counters_start();                 // on every core that is to be measured
 *     work();
 *     pulp_counters_stop();
 *     stalls = pulp_counter(PULP_COUNTER_LOAD_STALLS);
 *
 * The silicon has one counter that counts one selected event; gvsoc has one for each event and counts all at once.
 * Cycles across sleep are hal_cycles().
 */
#ifndef DORY_PULP_COUNTERS_H
#define DORY_PULP_COUNTERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pulp_counter {
    PULP_COUNTER_CYCLES = 0, /* awake */
    PULP_COUNTER_INSTRUCTIONS = 1,
    PULP_COUNTER_LOAD_STALLS = 2, /* a result used by the instruction behind its load */
    PULP_COUNTER_JUMP_STALLS = 3,
    PULP_COUNTER_CACHE_MISSES = 4, /* instruction cache; always 0 on gvsoc, which charges them all the same */
    PULP_COUNTER_LOADS = 5,
    PULP_COUNTER_STORES = 6,
    PULP_COUNTER_TCDM_CONTENTION = 15
};
#define PULP_COUNTERS_ALL 0xFFFFu

/* CSRs: 0x780 + n counter n, 0x79F all counters (written), 0x7A0 selected events, 0x7A1 bit 0 counting. */
static inline void pulp_counters_start_events(uint32_t event_mask)
{
    __asm__ volatile("csrw 0x7A1, zero\n\tcsrw 0x79F, zero\n\tcsrw 0x7A0, %0\n\tcsrwi 0x7A1, 1"
                     :
                     : "r"(event_mask)
                     : "memory");
}

static inline void pulp_counters_start(void) { pulp_counters_start_events(PULP_COUNTERS_ALL); }

static inline void pulp_counters_stop(void) { __asm__ volatile("csrw 0x7A1, zero" : : : "memory"); }

#define PULP_READ_COUNTER(number, value) __asm__ volatile("csrr %0, 0x780 + " #number : "=r"(value) : : "memory")

static inline uint32_t pulp_counter(enum pulp_counter counter)
{
    uint32_t value = 0;
    switch (counter) { /* a CSR's number is part of the instruction */
    case PULP_COUNTER_CYCLES: PULP_READ_COUNTER(0, value); break;
    case PULP_COUNTER_INSTRUCTIONS: PULP_READ_COUNTER(1, value); break;
    case PULP_COUNTER_LOAD_STALLS: PULP_READ_COUNTER(2, value); break;
    case PULP_COUNTER_JUMP_STALLS: PULP_READ_COUNTER(3, value); break;
    case PULP_COUNTER_CACHE_MISSES: PULP_READ_COUNTER(4, value); break;
    case PULP_COUNTER_LOADS: PULP_READ_COUNTER(5, value); break;
    case PULP_COUNTER_STORES: PULP_READ_COUNTER(6, value); break;
    case PULP_COUNTER_TCDM_CONTENTION: PULP_READ_COUNTER(15, value); break;
    }
    return value;
}

#ifdef __cplusplus
}
#endif

#endif
