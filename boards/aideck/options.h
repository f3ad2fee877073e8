/* What an application says in its settings.h, and what is so where it says nothing. */
#ifndef AIDECK_OPTIONS_H
#define AIDECK_OPTIONS_H

#include "settings.h"

/* 1: pictures go to a PC that is connected by Wi-Fi, one after the other, as fast as SPI takes them. Takes a third frame of
 * L2, 79,056 bytes. */
#ifndef STREAM
#define STREAM 0
#endif

/* How the camera looks. 1: left and right change places; above and below. */
#ifndef CAMERA_MIRRORS
#define CAMERA_MIRRORS 0
#endif
#ifndef CAMERA_FLIPS
#define CAMERA_FLIPS 0
#endif

/* For how many of a frame's 532 lines, 63 us each, a row takes in light; 0: the camera sees to it, and to CAMERA_GAIN. */
#ifndef CAMERA_EXPOSURE_LINES
#define CAMERA_EXPOSURE_LINES 0
#endif

/* 1, 2, 4 or 8; counts with CAMERA_EXPOSURE_LINES. */
#ifndef CAMERA_GAIN
#define CAMERA_GAIN 1
#endif

/* The order of colours in four pixels, for networks of three channels: SCALE_RGGB, SCALE_GRBG, SCALE_GBRG or SCALE_BGGR. A
 * camera that mirrors or flips has another one. */
#ifndef CAMERA_PATTERN
#define CAMERA_PATTERN SCALE_RGGB
#endif

/* How many frames to look at; 0: for ever. */
#ifndef FRAMES
#define FRAMES 0
#endif

#endif
