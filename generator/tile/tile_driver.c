/* What a tile takes of the driver, which prepares it beside the tile before. */
#include "tile/tile.h"

uint64_t tile_driver_cycles(const struct tile_problem *problem, bool starts_copies)
{
    const struct target *target = problem->target;
    if (!problem->is_decided)
        return target->tile_driver_cycles + target->start_driver_cycles + target->serve_driver_cycles / 2;
    uint64_t serve = (uint64_t)target->serve_driver_cycles * problem->l3_busy_percent / 100;
    return target->tile_driver_cycles + serve + (starts_copies ? target->start_driver_cycles : 0);
}
