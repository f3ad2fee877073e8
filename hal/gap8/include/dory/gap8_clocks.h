/* The clocks of fabric controller (with peripherals) and cluster. An application that wants others than 100 MHz each
 * defines gap8_clocks itself, or calls gap8_set_clock. The FC's should not be slower than the cluster's. With a gap8_clocks
 * that cannot be, the program ends before main, with a line in the log.
 *
 * 100 MHz because at this clock of the FC HyperBus runs at its 50 MHz (two bytes a clock), so that gvsoc, which moves
 * one byte a cycle of the FC whatever the clock, is neither optimistic nor pessimistic.
 *
 * A frequency-locked loop (FLL) holds its frequency against the 32 kHz reference by steps of its oscillator of about
 * 1 %, so the two clocks wander a little against one another: on gvsoc 0.05 % over 2 ms. With DORY_GAP8_FLL_OPEN_LOOP
 * the oscillators are set once and run free: exactly equal clocks on gvsoc, but on a chip whatever its oscillator gives.
 */
#ifndef DORY_GAP8_CLOCKS_H
#define DORY_GAP8_CLOCKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gap8_clock { GAP8_CLOCK_FC, GAP8_CLOCK_CLUSTER };

struct gap8_clocks {
    uint32_t fc_hertz;
    uint32_t cluster_hertz;
};
extern const struct gap8_clocks gap8_clocks;

/* Those that a network was planned for (dory_add_network(... CLOCKS 250/175)), NAME being its name in capital letters:
 *     const struct gap8_clocks gap8_clocks = GAP8_CLOCKS(MOBILENET); */
#define GAP8_CLOCKS(NAME)                                                                                                   \
    {                                                                                                                       \
        .fc_hertz = NAME##_CONTROLLER_HERTZ, .cluster_hertz = NAME##_CLUSTER_HERTZ                                          \
    }

/* FC. The highest frequency not above `hertz` that the oscillator can give; DORY_ERROR_ARGUMENT outside
 * 16 to 250 MHz. Each call takes some cycles of the 32 kHz reference. */
int gap8_set_clock(enum gap8_clock clock, uint32_t hertz) __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif

#endif
