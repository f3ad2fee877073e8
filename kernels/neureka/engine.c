/* Starts jobs, and waits for them: on Siracusa by the engine's registers, elsewhere by its model. */
#include "job.h"

#if defined(DORY_NEUREKA)

/* Registers, as the maintained gvsoc's model and programs that tried it have them. */
struct registers {
    uint32_t start; /* write 0: what was configured is queued, and runs when its turn has come */
    int32_t acquire;
    uint32_t reserved;
    uint32_t contexts; /* in use: bits 0 and 8 */
    uint32_t running;  /* number of the job that runs, or ran last, in its low 8 bits */
    uint32_t reserved_behind[3];
    uint32_t job[24];
};
_Static_assert(sizeof(struct registers) == 0x80, "job registers lie from 0x20 on");
#define WEIGHT_MEMORY 0x10400000u /* what the engine counts from there */
#define ENGINE        ((volatile struct registers *)0x10201000u)

static uint32_t address_of(const void *pointer) { return (uint32_t)(uintptr_t)pointer; }

bool dory_neureka_has_room(void) { return (ENGINE->contexts & 0x101) != 0x101; }

uint32_t dory_neureka_start(const struct dory_neureka_registers *registers, const struct dory_neureka_pointers *pointers)
{
    bool in_memory = registers->word[DORY_NEUREKA_REGISTERS - 1] & DORY_NEUREKA_WEIGHT_MEMORY;
    volatile uint32_t *to = ENGINE->job;
    int32_t number;
    while ((number = ENGINE->acquire) < 0) {
    }
    to[0] = address_of(pointers->weights) - (in_memory ? WEIGHT_MEMORY : 0);
    to[1] = address_of(pointers->input);
    to[2] = address_of(pointers->output);
    to[3] = address_of(pointers->multipliers);
    to[4] = 0; /* shifts of channels */
    to[5] = address_of(pointers->addends);
    to += 6;
    for (uint32_t i = 0; i < DORY_NEUREKA_REGISTERS; i++) {
        to[i] = registers->word[i];
    }
    __asm__ volatile("" : : : "memory");
    ENGINE->start = 0;
    return (uint32_t)number;
}

/* The engine counts jobs in 8 bits. */
static bool has_ended(uint32_t number)
{
    int8_t later = (int8_t)(ENGINE->running - number);
    return later > 0 || (later == 0 && ENGINE->contexts == 0);
}

void dory_neureka_await(uint32_t number)
{
    while (!has_ended(number)) {
    }
    __asm__ volatile("" : : : "memory");
}

#else

bool dory_neureka_has_room(void) { return true; }

uint32_t dory_neureka_start(const struct dory_neureka_registers *registers, const struct dory_neureka_pointers *pointers)
{
    static uint32_t number; /* of one core, which others meet before they ask for it */
    struct dory_neureka_job job = dory_neureka_job_of(registers, pointers);
    dory_neureka_model(&job);
    return number++;
}

void dory_neureka_await(uint32_t number) { (void)number; }

#endif
