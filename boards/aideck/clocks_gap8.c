/* The program runs at the clocks that the network was planned for. */
#include "dory/gap8_clocks.h"
#include "model.h"

const struct gap8_clocks gap8_clocks = GAP8_CLOCKS(MODEL);
