/* The engine: the list of its kernels. */
#include "description.h"
#include "dory/engine.h"

#include <stddef.h>

#define DESCRIPTION(name) &dory_xpulpv2_##name##_description,

static const struct dory_kernel_description *const kernels[] = {DORY_XPULPV2_KERNELS(DESCRIPTION) NULL};

const struct dory_engine dory_xpulpv2_engine = {.name = "xpulpv2", .weights = &dory_quads, .kernels = kernels};

uint64_t dory_busiest_cycles(uint32_t items, unsigned cores, dory_share_cycles *share_cycles, const void *context)
{
    uint32_t first = 0;
    uint64_t most = 0;
    for (unsigned core = 0; core < cores && first < items; core++) {
        uint32_t end = first + items / cores + (core < items % cores);
        uint64_t cycles = share_cycles(context, first, end);
        most = cycles > most ? cycles : most;
        first = end;
    }
    return most;
}

uint32_t dory_division_start_cycles(const struct dory_layer *layer)
{
    bool is_quick = layer->normalisation == DORY_NORMALISE_DIVIDE && dory_divides_narrowly(layer);
    uint32_t bits = 0;
    while (is_quick && layer->divisor >> bits > 1) {
        bits++;
    }
    return is_quick ? 120 + 12 * bits : 0;
}
