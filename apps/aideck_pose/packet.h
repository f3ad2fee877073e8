/* As it is sent to an application in the Crazyflie, behind a byte POSE_VERSION; both ends are little-endian and have IEEE
 * 754. */
#ifndef AIDECK_PACKET_H
#define AIDECK_PACKET_H

#include <stdint.h>

#define POSE_VERSION 1
struct __attribute__((packed)) pose {
    uint16_t frame;       /* its number, modulo 2^16 */
    float x, y, z, angle; /* as the model was trained: metres and radians of Frontnet */
};

#endif
