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
static uint64_t port_cycles(const struct target *target, uint64_t bytes, uint64_t runs)
{
    uint64_t run = runs == 1 ? bytes : divide_up(bytes, runs);
    return runs * divide_up(run * 1000, target->dma_read_bytes_per_1000_cycles);
}

/* The DMA and the port are at work at the same time. Searches ask for this more often than for anything else, and divisions
 * are most of it: none is made whose result is known. */
uint64_t tile_copy_cycles(struct mover *mover, uint64_t bytes, uint64_t runs, bool read)
{
    const struct target *target = mover->target;
    uint32_t port_rate = target->dma_read_bytes_per_1000_cycles,
             rate = read ? port_rate : target->dma_write_bytes_per_1000_cycles;
    uint64_t port = port_cycles(target, bytes, runs);
    uint64_t moving =
        (runs == 1 && rate == port_rate ? port : divide_up(bytes * 1000, rate)) + runs * target->dma_run_overhead_cycles;
    uint64_t at_port = mover->rates.read == port_rate ? port : divide_up(port * port_rate, mover->rates.read);
    mover->moved_bytes += bytes;
    mover->tally.copies++;
    return target->dma_setup_cycles + maximum(moving, at_port);
}

uint64_t tile_planes_cycles(struct mover *mover, uint32_t channels, uint32_t run_bytes, uint32_t plane_bytes, bool read)
{
    return tile_copy_cycles(mover, (uint64_t)channels * run_bytes, run_bytes == plane_bytes ? 1 : channels, read);
}

uint64_t tile_rectangle_cycles(struct mover *mover, const struct rectangle *r, bool read)
{
    if (r->rows == 0 || r->columns == 0)
        return 0;
    uint64_t record = dory_element_bytes(r->channels, r->bits), runs = (uint64_t)r->rows * r->columns;
    uint64_t bytes = record * runs;
    bool whole_pixels = r->channels == r->window_channels, whole_rows = r->columns == r->width && r->pitch == r->columns;
    if (whole_pixels) /* a row is one run, or the rectangle is */
        runs = whole_rows ? 1 : r->rows;
    uint64_t more_commands = !whole_rows && !(whole_pixels && r->pitch == r->columns) ? r->rows - 1 : 0;
    mover->tally.commands += more_commands;
    uint64_t moving = tile_copy_cycles(mover, bytes, runs, read), starting = more_commands * mover->target->command_cycles;
    return moving > starting ? moving : starting;
}
