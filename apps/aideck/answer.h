/* What the network says of a frame, and how the Crazyflie and its client learn of it: each application's own. */
#ifndef AIDECK_ANSWER_H
#define AIDECK_ANSWER_H

#include <stdint.h>

/* Takes the network's output for a frame. */
void answer_take(const void *output, uint32_t frame);

/* Sends what was taken last, or drops it where the queue is full: a later answer is worth more. Any other status is
 * returned. */
int answer_send(void);

/* Answers that were dropped. */
extern uint32_t answers_dropped;

#endif
