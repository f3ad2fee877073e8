/* Copies between L2 and L1: the DMA, and the port of L2 that it shares with L3 and with everybody's instructions. */
#include "tile/tile_mover.h"

static uint64_t divide_up(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

/* What waits for a copy waits for the port of L2, which L3 uses, too. */
static uint32_t port_rate(const struct tile_problem *problem, uint32_t rate)
{
    const struct target *target = problem->target;
    uint64_t taken = (uint64_t)target->port_l3_percent * problem->l3_busy_percent; /* of 10,000 */
    uint64_t port = target->port_bytes_per_1000_cycles * (10000 - taken) / 10000;
    return target->port_bytes_per_1000_cycles && port < rate ? (uint32_t)(port ? port : 1) : rate;
}

struct tile_rates tile_rates_of(const struct tile_problem *problem)
{
    return (struct tile_rates){.read = port_rate(problem, problem->target->dma_read_bytes_per_1000_cycles),
                               .write = port_rate(problem, problem->target->dma_write_bytes_per_1000_cycles)};
}

struct mover tile_mover_of(const struct tile_problem *problem)
{
    return (struct mover){.target = problem->target, .rates = tile_rates_of(problem)};
}

/* The port takes no part of a word, so that short runs keep it longer than their bytes do. */
static uint64_t port_cycles(const struct target *target, uint64_t run_bytes, uint64_t runs)
{
    return runs * divide_up(run_bytes * 1000, target->dma_read_bytes_per_1000_cycles);
}

/* Runs that follow each other on both sides are one. The DMA and the port are at work at the same time. Searches ask for
 * this more often than for anything else, and divisions are most of it: none is made whose result is known. */
uint64_t tile_copy_cycles(const struct mover *mover, const struct hal_dma_copy *copy)
{
    const struct target *target = mover->target;
    uint32_t port_rate = target->dma_read_bytes_per_1000_cycles,
             rate = copy->direction == HAL_TO_LOCAL ? port_rate : target->dma_write_bytes_per_1000_cycles;
    uint64_t all_runs = (uint64_t)copy->runs * copy->planes, bytes = tile_copy_bytes(copy);
    bool follow = copy->runs == 1 || copy->local_run_stride == copy->run_bytes;
    bool is_one = copy->planes == 1 && (copy->runs == 1 || (follow && copy->external_run_stride == copy->run_bytes));
    uint64_t runs = is_one ? 1 : all_runs;
    uint64_t port = port_cycles(target, is_one ? bytes : copy->run_bytes, runs);
    uint64_t moving =
        (is_one && rate == port_rate ? port : divide_up(bytes * 1000, rate)) + runs * target->dma_run_overhead_cycles;
    uint64_t at_port = mover->rates.read == port_rate ? port : divide_up(port * port_rate, mover->rates.read);
    return target->dma_setup_cycles + maximum(moving, at_port);
}
