#define DORY_HAL_ON_DRIVER
#include "dory/turn.h"
#include "run_state.h"

/* Queues the next one; returns its bytes. */
static uint32_t start_next(struct dory_run *run)
{
    const struct dory_transfer *transfer = &run->network->transfers[run->transfers_started];
    bool flash = transfer->kind == HAL_FLASH_READ;
    struct hal_l3_copy copy = {
        .kind = (enum hal_l3_kind)transfer->kind,
        .l3_address = transfer->l3_address + (flash ? run->buffers->flash_address : run->buffers->ram_address),
        .l2 = (uint8_t *)run->buffers->l2 + transfer->l2_offset,
        .run_bytes = transfer->run_bytes,
        .runs = transfer->runs,
        .l3_stride = transfer->l3_stride,
        .l2_stride = transfer->l2_stride,
    };
    hal_l3_ticket ticket = 0;
    dory_run_fail(run, hal_l3_start(&copy, &ticket));
    run->ticket_base = ticket - run->transfers_started - 1u;
    run->transfers_started++;
    return copy.run_bytes * copy.runs;
}

void dory_start_transfers(struct dory_run *run, unsigned end)
{
    while (run->transfers_started < end) {
        start_next(run);
    }
}

void dory_start_some_transfers(struct dory_run *run, unsigned end)
{
    uint32_t bytes = 0;
    for (unsigned started = 0; run->transfers_started < end && dory_turn_goes_on(started, bytes); started++) {
        bytes += start_next(run);
    }
}

void dory_await_transfers(struct dory_run *run, unsigned end)
{
    if (end <= run->transfers_complete) {
        return;
    }
    dory_start_transfers(run, end);
    uint32_t before = run->buffers->profile ? hal_cycles() : 0;
    dory_run_fail(run, hal_l3_wait(run->ticket_base + end));
    run->transfers_complete = (uint16_t)end;
    if (run->buffers->profile) {
        run->l3_wait_cycles += hal_cycles() - before;
    }
}

void dory_await_started_transfers(struct dory_run *run, unsigned end)
{
    if (end <= run->transfers_started) {
        dory_await_transfers(run, end);
    }
}
