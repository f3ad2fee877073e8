/* What an application around another network changes; boards/aideck/options.h has more. */
#ifndef AIDECK_SETTINGS_H
#define AIDECK_SETTINGS_H

/* A name for each class; further classes go by their number. */
#ifndef LABELS
#define LABELS "a 0", "a 1", "a 2", "a 3", "a 4", "a 5", "a 6", "a 7", "a 8", "a 9"
#endif

/* By how much the largest output must exceed the others for an answer to be sure, in units of the network's output. */
#ifndef THRESHOLD
#define THRESHOLD (CLASSIFIER_OUTPUT_BITS == 8 ? 26 : 1000) /* of 8 bits: a tenth of all */
#endif

/* A line on the console for every so many frames; a packet goes to the Crazyflie for each. */
#ifndef PRINT_EVERY
#define PRINT_EVERY 1
#endif

/* 1: pictures go to a PC that is connected by Wi-Fi, one after the other, as fast as SPI takes them. */
#ifndef STREAM
#define STREAM 1
#endif

#endif
