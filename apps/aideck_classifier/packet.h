/* As it is sent to an application in the Crazyflie, behind a byte ANSWER_VERSION; both ends are little-endian. */
#ifndef AIDECK_PACKET_H
#define AIDECK_PACKET_H

#include <stdint.h>

#define ANSWER_VERSION 1
struct __attribute__((packed)) answer {
    uint8_t class_number;
    uint8_t is_sure; /* by at least THRESHOLD */
    uint16_t frame;  /* its number, modulo 2^16 */
    int32_t output;  /* the network's, for that class */
};

#endif
