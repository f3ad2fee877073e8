/* Lays copies into a random network that can be views. */
#ifndef DORY_TEST_RANDOM_VIEWS_H
#define DORY_TEST_RANDOM_VIEWS_H

#include "random_network.h"

/* In front of some layers a copy of all that they read, behind some outputs one of a part. Before range_prove. */
void random_views(struct network *network, struct random *random, struct arena *arena);

#endif
