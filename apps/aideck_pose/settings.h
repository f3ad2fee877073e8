/* What an application around another network changes. */
#ifndef AIDECK_SETTINGS_H
#define AIDECK_SETTINGS_H

/* A line on the console for every so many frames; a packet goes to the Crazyflie for each. */
#ifndef PRINT_EVERY
#define PRINT_EVERY 5
#endif

/* 1: pictures go to a PC that is connected by Wi-Fi, one after the other, as fast as SPI takes them. */
#ifndef STREAM
#define STREAM 0
#endif

/* How many frames to look at; 0: for ever. */
#ifndef FRAMES
#define FRAMES 0
#endif

#endif
