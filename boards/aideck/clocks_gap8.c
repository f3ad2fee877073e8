/* The program runs at the clocks that the network was planned for. */
#include "aideck/model.h"
#include "dory/gap8_clocks.h"

const struct gap8_clocks gap8_clocks = GAP8_CLOCKS(BOARD_MODEL);
