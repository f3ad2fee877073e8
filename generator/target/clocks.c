/* Costs of a machine whose controller and cluster have clocks of their own. The planner counts cycles of the cluster: what
 * the controller does, and what its memories do, takes more of them the faster the cluster is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "target/target.h"

bool target_read_clocks(const char *text, uint32_t *controller_mhz, uint32_t *cluster_mhz)
{
    uint32_t *const numbers[] = {controller_mhz, cluster_mhz};
    for (int i = 0; i < 2; i++) {
        char *end;
        unsigned long number = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || number == 0 || number > UINT16_MAX || *end != (i ? 0 : '/'))
            return false;
        *numbers[i] = (uint32_t)number;
        text = end + 1;
    }
    return true;
}

struct ratio {
    uint64_t controller, cluster;
};

/* Bytes a cycle of the controller, as bytes a cycle of the cluster. */
static uint32_t converted_rate(struct ratio clocks, uint32_t rate)
{
    uint64_t bytes = rate * clocks.controller / clocks.cluster;
    return bytes > UINT32_MAX ? UINT32_MAX : bytes ? (uint32_t)bytes : 1;
}

static bool is_there(const struct target *target, const char *what, uint32_t mhz, uint32_t most,
                     struct diagnostics *diagnostics)
{
    if (mhz >= target->least_mhz && mhz <= most)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, "clocks", "%" PRIu32 " MHz for the %s; %s can have %" PRIu32 " to %" PRIu32,
             mhz, what, target->name, target->least_mhz, most);
    return false;
}

/* The driver's cycles, all its own. */
static uint32_t converted_driver(struct ratio clocks, uint32_t cycles)
{
    return (uint32_t)(cycles * clocks.cluster / clocks.controller);
}

/* At a slower controller the DMA takes only a part of the cycles that its copies keep the port of L2. */
static uint32_t converted_contention(const struct target *target, struct ratio clocks)
{
    if (target->port_bytes_per_1000_cycles && clocks.controller < clocks.cluster)
        return (uint32_t)(target->dma_contention_cycles * clocks.controller / clocks.cluster);
    return target->dma_contention_cycles;
}

static struct target *copy_of(const struct target *target, struct arena *arena)
{
    return memcpy(arena_allocate(arena, sizeof *target), target, sizeof *target);
}

bool target_set_clocks(struct target *target, uint32_t controller_mhz, uint32_t cluster_mhz, struct diagnostics *diagnostics)
{
    struct ratio clocks = {controller_mhz, cluster_mhz};
    bool good = is_there(target, "controller", controller_mhz, target->controller_most_mhz, diagnostics);
    if (!is_there(target, "cluster", cluster_mhz, target->cluster_most_mhz, diagnostics) || !good)
        return false;
    if (controller_mhz != cluster_mhz)
        target->at_equal_clocks = copy_of(target, diagnostics->arena);
    target->controller_mhz = controller_mhz;
    target->cluster_mhz = cluster_mhz;
    target->l3_setup_cycles = converted_driver(clocks, target->l3_setup_cycles);
    uint32_t *const driver[] = {&target->tile_driver_cycles, &target->step_driver_cycles, &target->turn_driver_cycles,
                                &target->transfer_driver_cycles};
    for (size_t i = 0; i < sizeof driver / sizeof *driver; i++)
        *driver[i] = converted_driver(clocks, *driver[i]);
    target->dma_contention_cycles = converted_contention(target, clocks);
    target->run_overhead_cycles = converted_driver(clocks, target->run_overhead_cycles);
    target->table_run_overhead_cycles = converted_driver(clocks, target->table_run_overhead_cycles);
    target->table_transfer_cycles = converted_driver(clocks, target->table_transfer_cycles);
    target->l3_bytes_per_1000_cycles = converted_rate(clocks, target->l3_bytes_per_1000_cycles);
    if (target->port_bytes_per_1000_cycles)
        target->port_bytes_per_1000_cycles = converted_rate(clocks, target->port_bytes_per_1000_cycles);
    return true;
}

struct target *target_with_table(const struct target *target, struct arena *arena)
{
    struct target *quick = copy_of(target, arena);
    quick->has_table = true;
    quick->tile_driver_cycles = quick->step_driver_cycles = quick->turn_driver_cycles = 0; /* to queue transfers remains */
    quick->tile_overhead_cycles = target->table_tile_overhead_cycles;
    quick->layer_overhead_cycles = target->table_layer_overhead_cycles;
    quick->run_overhead_cycles = target->table_run_overhead_cycles;
    quick->dma_contention_cycles = target->table_dma_contention_cycles;
    quick->transfer_driver_cycles = target->table_transfer_cycles;
    if (target->at_equal_clocks)
        quick->at_equal_clocks = target_with_table(target->at_equal_clocks, arena);
    return quick;
}
