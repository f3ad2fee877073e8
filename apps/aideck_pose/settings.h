/* What an application around another network changes; boards/aideck/options.h has more. */
#ifndef AIDECK_SETTINGS_H
#define AIDECK_SETTINGS_H

/* A line on the console for every so many frames; a packet goes to the Crazyflie for each. */
#ifndef PRINT_EVERY
#define PRINT_EVERY 5
#endif

#endif
