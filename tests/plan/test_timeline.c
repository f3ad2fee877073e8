/* When steps start and transfers are queued, of two hand-made layers of one step each: the first one starts the transfer
 * that the second one awaits. */
#include "dory/turn.h"
#include "expect.h"
#include "plan/timeline.h"

enum {
    START = 100,
    COMPUTING = 50, /* after the start of a layer */
    LAYER = 1000,
    TILE_DRIVER = 20,
    TURN_DRIVER = 30,
    EARLY = 13,
    TO_QUEUE = 10,
    SHORT = 300, /* a transfer that is done long before the second layer starts */
    LONG = 5000  /* one that is not */
};

/* A byte a cycle from L3. */
static struct target target = {.l3_bytes_per_1000_cycles = 1000,
                               .tile_driver_cycles = TILE_DRIVER,
                               .turn_driver_cycles = TURN_DRIVER,
                               .transfer_driver_cycles = TO_QUEUE};
static const uint64_t layer_cycles[2] = {LAYER, LAYER};
static struct dory_kernel_description kernels[2];
static struct plan_layer layers[2];
static struct plan_step steps[2];
static struct plan_transfer transfers[2];
static struct sequence sequence;

static void set_up(bool has_table, uint32_t bytes)
{
    const struct dory_layer record = {.output_width = 4, .tile = {.rows = 8, .columns = 4, .channels = 4}};
    target.has_table = has_table;
    for (int i = 0; i < 2; i++) {
        kernels[i] = (struct dory_kernel_description){0};
        layers[i] = (struct plan_layer){.record = record, .kernel = &kernels[i]};
        layers[i].record.operation = DORY_DEPTHWISE;
        steps[i] = (struct plan_step){
            .layer = i, .start_cycles = COMPUTING, .record = {.rows = 8, .channels = 4, .last_of_layer = 1}};
        transfers[i] = (struct plan_transfer){.record = {.runs = 1, .run_bytes = bytes}};
        steps[i].record.transfers_started = 1;
    }
    steps[1].record.transfers_awaited = 1;
    sequence = (struct sequence){.target = &target,
                                 .steps = steps,
                                 .step_count = 2,
                                 .transfers = transfers,
                                 .transfer_count = 1,
                                 .layer_cycles = layer_cycles,
                                 .start_cycles = START,
                                 .finished = layers};
}

static struct arena arena;

static struct timeline play(void)
{
    struct timeline timeline;
    timeline_of_sequence(&sequence, &timeline, &arena);
    return timeline;
}

static void expect_second_start(uint64_t cycle) { EXPECT_EQUAL(play().steps[1].start_cycle, cycle); }

static void test_behind_transfers(void)
{
    const uint64_t end = START + COMPUTING + TILE_DRIVER + LONG;
    set_up(false, LONG);
    expect_second_start(end + TURN_DRIVER);
    steps[1].early_cycles = EARLY;
    expect_second_start(end + EARLY + TURN_DRIVER);
    EXPECT_EQUAL(play().l3_wait_cycles, end + EARLY + TURN_DRIVER - (START + LAYER));
    transfers[0].record.run_bytes = SHORT; /* has come while the layer before was computed, and all that behind it */
    expect_second_start(START + LAYER);
    EXPECT_EQUAL(play().l3_wait_cycles, 0);
}

/* Within a layer, before a plan is finished, and behind a transfer that is started no sooner than it is awaited. */
static void test_nothing_behind_transfers(void)
{
    const uint64_t end = START + COMPUTING + TILE_DRIVER + LONG;
    set_up(false, LONG);
    steps[1].early_cycles = EARLY;
    steps[0].record.transfers_started = 0;
    expect_second_start(START + LAYER + LONG);
    steps[0].record.transfers_started = 1;
    sequence.finished = NULL; /* nor does the driver place a tile before it queues transfers */
    expect_second_start(end - TILE_DRIVER);
    sequence.finished = layers;
    steps[1].layer = 0;
    expect_second_start(end);
}

/* Without a table: the first part with the first tile, the rest with the next. */
static void test_queued_with_tiles(void)
{
    const uint64_t first = START + COMPUTING + TILE_DRIVER;
    set_up(false, DORY_BYTES_A_TURN);
    sequence.transfer_count = steps[0].record.transfers_started = 2;
    layers[0].record.tile.rows = 4; /* two tiles */
    EXPECT_EQUAL(play().transfers[0].queued_cycle, first);
    EXPECT_EQUAL(play().transfers[1].queued_cycle, first + (LAYER - COMPUTING) / 2);
    transfers[0].record.run_bytes--; /* not enough for a turn */
    EXPECT_EQUAL(play().transfers[1].queued_cycle, first);
}

/* With a table: what the run's start has queued takes as long to see as to queue one, at least. */
static void test_first_wait(void)
{
    set_up(true, 1);
    EXPECT_EQUAL(play().steps[0].start_cycle, START); /* awaits nothing */
    steps[0].record.transfers_awaited = 1;
    EXPECT_EQUAL(play().transfers[0].queued_cycle, START - TO_QUEUE);
    EXPECT_EQUAL(play().steps[0].start_cycle, START + TO_QUEUE);
    transfers[0].record.run_bytes = LONG;
    EXPECT_EQUAL(play().steps[0].start_cycle, START - TO_QUEUE + LONG);
}

/* With a table cores wait for the transfer and nothing else. Nothing is early there. */
static void test_met(void)
{
    const uint64_t met = START + LAYER;
    set_up(true, SHORT);
    steps[1].early_cycles = EARLY;
    expect_second_start(met);
    EXPECT_EQUAL(play().transfers[0].queued_cycle, START + COMPUTING + TO_QUEUE);
    EXPECT_EQUAL(play().steps[0].end_cycle, START + LAYER);
    transfers[0].record.run_bytes = LONG;
    expect_second_start(START + COMPUTING + TO_QUEUE + LONG);
}

static void free_arena(void) { arena_free(&arena); }

static const struct test tests[] = {TEST(test_behind_transfers), TEST(test_nothing_behind_transfers),
                                    TEST(test_queued_with_tiles), TEST(test_first_wait), TEST(test_met)};

int main(void) { return RUN_TESTS("timeline", tests, free_arena); }
