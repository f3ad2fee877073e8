#include "times.h"

#include "dory/hal.h"
#include "line.h"

static void add_rate(struct line *line, uint64_t macs, uint64_t cycles)
{
    line_add(line, "; ");
    line_add_unsigned(line, macs);
    line_add(line, " MAC, ");
    line_add_ratio(line, macs, cycles);
    line_add(line, " MAC/cycle");
}

static void log_layer_time(const struct dory_check *check, unsigned layer)
{
    const struct dory_layer_profile *profile = &check->profile[layer];
    struct line line = {.length = 0};
    line_add(&line, "perf ");
    line_add_layer(&line, layer, check->layers[layer].name);
    line_add(&line, ": ");
    line_add_unsigned(&line, profile->cycles);
    line_add(&line, " cycles, ");
    line_add_unsigned(&line, profile->dma_wait_cycles);
    line_add(&line, " waiting for L2, ");
    line_add_unsigned(&line, profile->l3_wait_cycles);
    line_add(&line, " for L3, ");
    line_add_unsigned(&line, profile->tiles);
    line_add(&line, " tiles");
    add_rate(&line, check->layers[layer].macs, profile->cycles);
    line_log(&line);
}

static void add_stack(struct line *line, const char *whose, unsigned core)
{
    struct hal_stack stack;
    if (hal_stack_peak(core, &stack) != DORY_OK) {
        return;
    }
    line_add(line, line->length ? ", " : "stacks: ");
    line_add(line, whose);
    if (core != HAL_FABRIC_CONTROLLER) {
        line_add_unsigned(line, core);
        line_add(line, " ");
    }
    line_add_unsigned(line, stack.peak_bytes);
    line_add(line, "/");
    line_add_unsigned(line, stack.bytes);
}

void check_log_stacks(void)
{
    struct line line = {.length = 0};
    add_stack(&line, "FC ", HAL_FABRIC_CONTROLLER);
    for (unsigned core = 0; line.length && core < hal_core_count(); core++) {
        add_stack(&line, "core ", core);
    }
    if (line.length) {
        line_add(&line, " bytes");
        line_log(&line);
    }
}

/* A run that has ended well has made each of its transfers once. */
static void add_l3_bytes(struct line *line, const struct dory_network *network)
{
    uint64_t from = 0, to = 0;
    for (unsigned i = 0; i < network->transfer_count; i++) {
        const struct dory_transfer *transfer = &network->transfers[i];
        uint64_t bytes = (uint64_t)transfer->run_bytes * transfer->runs;
        from += transfer->kind == HAL_RAM_WRITE ? 0 : bytes;
        to += transfer->kind == HAL_RAM_WRITE ? bytes : 0;
    }
    line_add(line, "; L3: ");
    line_add_unsigned(line, from);
    line_add(line, " bytes read, ");
    line_add_unsigned(line, to);
    line_add(line, " written");
}

void check_log_times(const struct dory_check *check, uint32_t cycles)
{
    uint64_t macs = 0;
    struct line line = {.length = 0};
    for (unsigned layer = 0; layer < check->network->layer_count; layer++) {
        if (check->profile) {
            log_layer_time(check, layer);
        }
        macs += check->layers[layer].macs;
    }
    line_add(&line, "total: ");
    line_add_unsigned(&line, cycles);
    line_add(&line, " cycles");
    add_rate(&line, macs, cycles);
    add_l3_bytes(&line, check->network);
    line_log(&line);
}
