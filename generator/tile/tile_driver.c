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

uint64_t tile_driver_apart_cycles(const struct target *target, uint64_t driver)
{
    uint64_t port = target->port_bytes_per_1000_cycles, taken = (uint64_t)target->dma_read_bytes_per_1000_cycles * 7 / 8;
    uint64_t free = port > taken ? driver * (port - taken) / port : 0;
    return driver - (port != 0 && free < driver / 3 ? free : driver / 3);
}
