#include <math.h>

#include "target/target.h"

/* At equal clocks. */
static double power_at(const struct target *target, uint32_t mhz)
{
    const struct power_point *low = &target->low, *high = &target->high;
    double clock = mhz, exponent = 1;
    if (!low->source || !high->source || mhz > high->mhz)
        return 0;
    if (mhz > low->mhz)
        exponent = log((double)high->microwatts / low->microwatts) / log((double)high->mhz / low->mhz);
    return low->microwatts / 1000.0 * pow(clock / low->mhz, exponent);
}

double target_power_milliwatts(const struct target *target, uint32_t controller_mhz, uint32_t cluster_mhz)
{
    uint32_t fastest = controller_mhz > cluster_mhz ? controller_mhz : cluster_mhz;
    double share = target->controller_power_percent / 100.0;
    double busy = (share * controller_mhz + (1 - share) * cluster_mhz) / fastest;
    return power_at(target, fastest) * busy;
}
