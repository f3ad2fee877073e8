/* Makes channels of a random network dead. */
#ifndef DORY_TEST_DEAD_CHANNELS_H
#define DORY_TEST_DEAD_CHANNELS_H

#include "random_network.h"

/* In many convolutions, some channels of the output become constant, and some of the input are no longer read. Before
 * range_prove. */
void random_dead_channels(struct network *network, struct random *random, struct arena *arena);

/* Of some outputs a part is all that is left. Before range_prove. */
void random_parts(struct network *network, struct random *random, struct arena *arena);

/* How many channels a network has lost. */
int dead_channel_count(const struct network *network);

/* How many pixels a network lacks that no layer reads. */
int unread_pixel_count(const struct network *network);

#endif
