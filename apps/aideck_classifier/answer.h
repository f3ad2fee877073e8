/* What the network says of a frame, and how the Crazyflie and its client learn of it. */
#ifndef AIDECK_ANSWER_H
#define AIDECK_ANSWER_H

#include <stdint.h>

/* As it is sent to an application in the Crazyflie, behind a byte ANSWER_VERSION; both ends are little-endian. */
#define ANSWER_VERSION 1
struct __attribute__((packed)) answer {
    uint8_t class_number;
    uint8_t is_sure; /* by at least THRESHOLD */
    uint16_t frame;  /* its number, modulo 2^16 */
    int32_t output;  /* the network's, for that class */
};

/* Of the network's output. */
struct answer answer_of(const void *output, uint32_t frame);

/* Sends both, or drops them where the queue is full: a later answer is worth more. Any other status is returned. */
int answer_send(const struct answer *answer);

/* Answers that were dropped. */
extern uint32_t answers_dropped;

#endif
