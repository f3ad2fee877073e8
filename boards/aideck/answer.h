/* What the network says of a frame, and how the Crazyflie and its client learn of it: each application's own. */
#ifndef AIDECK_ANSWER_H
#define AIDECK_ANSWER_H

#include <stdint.h>

#include "aideck/model.h"

/* Takes the network's outputs for a frame; model.h has the struct. */
void answer_take(const struct model_outputs *outputs, uint32_t frame);

/* Sends what was taken last. DORY_ERROR_BUSY, DORY_ERROR_DEVICE: there is no room, or nobody; the answer is dropped, since a
 * later one is worth more. Any other status ends the program. */
int answer_send(void);

#endif
