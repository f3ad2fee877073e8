/* What things take on a machine. */
#include "target/target.h"

static enum target_kernels kernels_of(const struct dory_layer *layer)
{
    switch (layer->operation) {
    case DORY_CONVOLUTION: return KERNELS_OF_CONVOLUTIONS;
    case DORY_DEPTHWISE:
    case DORY_GROUPED: return KERNELS_OF_DEPTHWISE;
    case DORY_MAXIMUM_POOL:
    case DORY_AVERAGE_POOL: return KERNELS_OF_POOLS;
    default: return KERNELS_OF_OTHERS;
    }
}

uint64_t target_kernel_cycles(const struct target *target, const struct dory_layer *layer, uint64_t cycles)
{
    uint32_t percent = target->kernel_speed_percent[kernels_of(layer)];
    return percent == 0 || percent == 100 ? cycles : (cycles * 100 + percent - 1) / percent;
}

uint64_t target_l3_cycles(const struct target *target, uint32_t runs, uint32_t run_bytes)
{
    uint64_t bytes = (uint64_t)run_bytes * runs; /* every run is a command of its own */
    uint32_t rate = target->l3_bytes_per_1000_cycles;
    return (uint64_t)runs * target->l3_setup_cycles + (bytes * 1000 + rate - 1) / rate;
}
