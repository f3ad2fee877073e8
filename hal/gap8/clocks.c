#include "dory/gap8_clocks.h"

#include "chip.h"

__attribute__((weak)) const struct gap8_clocks gap8_clocks = {.fc_hertz = 100000000, .cluster_hertz = 100000000};

#define MINIMUM_HERTZ   16000000u
#define MAXIMUM_HERTZ   250000000u
#define REFERENCE_HERTZ 32768u

/* Fields of control_1. The output divides the oscillator by 2^divider; the loop counts half its pulses. */
#define DIVIDER_1        (1u << 26)
#define OSCILLATOR_SHIFT 16
#define CLOSED_LOOP      (1u << 31)
#define FACTOR_MASK      0xFFFFu

/* The oscillator's typical curve, from gvsoc's model (models/pulp/fll/fll_v1_impl.cpp), in kHz; for codes 250 to 511
 * it rises from 30 to 560 MHz. */
static uint32_t oscillator_kilohertz(uint32_t code) { return (3674u * code * code - 752000u * code - 11237100u) / 1000u; }

static uint32_t open_loop_setting(uint32_t hertz)
{
    uint32_t code = 250;
    while (code < 511 && oscillator_kilohertz(code + 1) <= hertz / 500u) /* twice the frequency, as kHz */
        code++;
    return DIVIDER_1 | code << OSCILLATOR_SHIFT;
}

/* Waits until the measured factor has come within 1/64 of the wanted one; the chip needs about 100 reference cycles. */
static void wait_for_lock(volatile struct gap8_fll *fll, uint32_t factor)
{
    for (int reference_cycles = 0; reference_cycles < 1000; reference_cycles++) {
        uint32_t measured = fll->status & FACTOR_MASK; /* a read takes one cycle of the reference */
        uint32_t distance = measured > factor ? measured - factor : factor - measured;
        if (distance <= factor / 64)
            return;
    }
}

int gap8_set_clock(enum gap8_clock clock, uint32_t hertz)
{
    if ((clock != GAP8_CLOCK_FC && clock != GAP8_CLOCK_CLUSTER) || hertz < MINIMUM_HERTZ || hertz > MAXIMUM_HERTZ)
        return DORY_ERROR_ARGUMENT;
    volatile struct gap8_fll *fll = &GAP8_FLL[clock];
    uint32_t factor = hertz / REFERENCE_HERTZ;
#ifdef DORY_GAP8_FLL_OPEN_LOOP
    fll->control_1 = open_loop_setting(hertz) | factor;
#else
    fll->control_1 = CLOSED_LOOP | open_loop_setting(hertz) | factor;
#endif
    wait_for_lock(fll, factor);
    return DORY_OK;
}

static int set_configured(enum gap8_clock clock, uint32_t hertz, const char *name)
{
    int status = gap8_set_clock(clock, hertz);
    if (status != DORY_OK) {
        hal_log("dory hal: gap8_clocks: the clock of the ");
        hal_log(name);
        hal_log(" must be from 16000000 to 250000000 Hz; the program ends\n");
    }
    return status;
}

int gap8_set_configured_clocks(void)
{
    int status = set_configured(GAP8_CLOCK_FC, gap8_clocks.fc_hertz, "fabric controller");
    return status ? status : set_configured(GAP8_CLOCK_CLUSTER, gap8_clocks.cluster_hertz, "cluster");
}
