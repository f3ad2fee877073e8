/* The HAL's contract, its driver: what runs beside the cores, in turns with them or told by notices. */
#include "expect.h"
#include "firmware_hal.h"

#define ROUNDS     40
#define TILE_BYTES 1024

/* A driver brings a tile a round, in turn to one of two buffers; the cores add 1 to each byte; the driver stores it. */
struct driven {
    volatile unsigned drivers, errors[16];
    volatile int status;
};

static int move(uint8_t *local, uint8_t *external, uint32_t bytes, enum hal_direction direction)
{
    hal_dma_ticket ticket;
    struct hal_dma_copy copy = {
        .local = local, .external = external, .run_bytes = bytes, .runs = 1, .planes = 1, .direction = direction};
    int status = hal_dma_open(&ticket);
    status |= hal_dma_copy(ticket, &copy);
    return status | hal_dma_wait(ticket);
}

static int move_tile(uint8_t *tile, unsigned round, enum hal_direction direction)
{
    return move(tile, l2 + round * 128 + (direction == HAL_TO_LOCAL ? 0 : L2_BYTES / 2), TILE_BYTES, direction);
}

static void add_one(struct driven *driven, uint8_t *tile, unsigned round)
{
    unsigned core = hal_core_id();
    for (unsigned i = core; i < TILE_BYTES; i += hal_core_count()) {
        driven->errors[core] += tile[i] != l2[round * 128 + i];
        tile[i]++;
    }
}

static void drive_rounds(void *argument)
{
    struct driven *driven = argument;
    int driver = hal_is_driver(), core = hal_is_core();
    if (driver)
        driven->drivers++;
    for (unsigned round = 0; round <= ROUNDS; round++) {
        uint8_t *tile = l1 + round % 2 * TILE_BYTES, *before = l1 + (round + 1) % 2 * TILE_BYTES;
        if (driver && round < ROUNDS)
            driven->status |= move_tile(tile, round, HAL_TO_LOCAL);
        hal_meet();
        if (driver && round > 0)
            driven->status |= move_tile(before, round - 1, HAL_FROM_LOCAL);
        if (core && round < ROUNDS)
            add_one(driven, tile, round);
    }
}

/* The ways to have something driven: in one call, or started, with what the application does then. */
enum way { DRIVE, INTERRUPT_AND_POLL, POLL, INTERRUPT_AND_WAIT, POLL_AND_WAIT, WAYS };

/* What must not be done beside something that was started, whose end has not been reported. */
static void expect_refusals(void (*entry)(void *argument), void *argument)
{
    static uint8_t other_stack[HAL_DRIVER_STACK_BYTES] __attribute__((aligned(HAL_DRIVER_STACK_ALIGNMENT)));
    EXPECT_EQUAL(hal_cluster_start(entry, argument, HAL_BY_POLL, other_stack), DORY_ERROR_BUSY);
    EXPECT_EQUAL(hal_cluster_drive(entry, argument), DORY_ERROR_BUSY);
    EXPECT_EQUAL(hal_cluster_run(entry, argument), DORY_ERROR_BUSY);
    EXPECT_EQUAL(hal_cluster_close(), DORY_ERROR_BUSY);
    EXPECT_EQUAL(hal_l3_close(), DORY_ERROR_BUSY);
    EXPECT_EQUAL(hal_l3_wait(1), DORY_ERROR_BUSY);
}

static void expect_nothing_to_poll(void (*entry)(void *argument), void *argument, void *stack)
{
    EXPECT_THAT(!hal_cluster_is_busy());
    EXPECT_EQUAL(hal_cluster_poll(), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_cluster_wait(), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_cluster_start(NULL, NULL, HAL_BY_POLL, stack), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_cluster_start(entry, argument, HAL_BY_POLL, NULL), DORY_ERROR_ARGUMENT);
}

static void start_and_end(enum way way, void (*entry)(void *argument), void *argument)
{
    static uint8_t stack[HAL_DRIVER_STACK_BYTES] __attribute__((aligned(HAL_DRIVER_STACK_ALIGNMENT)));
    bool is_by_interrupt = way == INTERRUPT_AND_POLL || way == INTERRUPT_AND_WAIT;
    expect_nothing_to_poll(entry, argument, stack);
    int status = hal_cluster_start(entry, argument, is_by_interrupt ? HAL_BY_INTERRUPT : HAL_BY_POLL, stack);
    EXPECT_EQUAL(status, DORY_OK);
    EXPECT_THAT(hal_cluster_is_busy());
    int end = hal_cluster_poll(); /* a machine that can do nothing meanwhile is through */
    if (end == DORY_RUNNING)
        expect_refusals(entry, argument);
    for (unsigned poll = 0; end == DORY_RUNNING && (poll < 3 || way == POLL || way == INTERRUPT_AND_POLL); poll++)
        end = hal_cluster_poll();
    if (end == DORY_RUNNING)
        end = hal_cluster_wait();
    EXPECT(end == DORY_OK && !hal_cluster_is_busy(), "way %d ends with %d", (int)way, end);
}

static void drive(enum way way, void (*entry)(void *argument), void *argument)
{
    if (way == DRIVE)
        EXPECT_EQUAL(hal_cluster_drive(entry, argument), DORY_OK);
    else
        start_and_end(way, entry, argument);
}

static void drive_and_compare(enum way way)
{
    static struct driven driven;
    unsigned wrong = 0;
    memset(&driven, 0, sizeof driven);
    for (uint32_t i = 0; i < L2_BYTES; i++)
        l2[i] = (uint8_t)random_below(256);
    drive(way, drive_rounds, &driven);
    EXPECT_EQUAL(driven.drivers, 1);
    EXPECT_EQUAL(driven.status, DORY_OK);
    for (unsigned core = 0; core < 16; core++)
        EXPECT(driven.errors[core] == 0, "core %u read %u wrong bytes", core, driven.errors[core]);
    for (unsigned i = 0; i < (ROUNDS - 1) * 128 + TILE_BYTES; i++)
        wrong += l2[L2_BYTES / 2 + i] != (uint8_t)(l2[i] + 1);
    EXPECT(wrong == 0, "way %d: %u bytes are wrong", (int)way, wrong);
}

void test_driver(void)
{
    drive_and_compare(DRIVE);
    EXPECT_EQUAL(hal_cluster_drive(NULL, NULL), DORY_ERROR_ARGUMENT);
}

void test_start(void)
{
    for (enum way way = INTERRUPT_AND_POLL; way < WAYS; way++)
        drive_and_compare(way);
}

/* ---- notices ----------------------------------------------------------------------------------------------- */

#define NOTIFIED_RUNS   20 /* the host HAL has a core for the driver in some of them, the fabric controller in the others */
#define NOTIFIED_ROUNDS 10
#define PIECES          2 /* a round, each with a notice of its own */
#define PIECE_BYTES     256

/* The cores write to L1; the first one brings that to L2, always to the same place, piece by piece; the driver fetches each
 * piece when it has been told of it. */
static uint8_t written(unsigned round, unsigned i) { return (uint8_t)(round * 59 + i * 3); }

static void write_own_part(unsigned round)
{
    for (unsigned i = hal_core_id(); i < PIECES * PIECE_BYTES; i += hal_core_count())
        l1[i] = written(round, i);
}

static int store_and_notify(void)
{
    int status = DORY_OK;
    for (unsigned piece = 0; piece < PIECES; piece++) {
        for (volatile int i = 0; i < 300; i++)
            ; /* a driver that does not wait is there first */
        status |= move(l1 + piece * PIECE_BYTES, l2 + piece * PIECE_BYTES, PIECE_BYTES, HAL_FROM_LOCAL);
        hal_notify();
    }
    return status;
}

static int await_and_fetch(unsigned round)
{
    uint8_t *here = l1 + L1_BYTES / 2;
    int status = DORY_OK;
    for (unsigned piece = 0; piece < PIECES; piece++) {
        hal_await_notice();
        status |= move(here, l2 + piece * PIECE_BYTES, PIECE_BYTES, HAL_TO_LOCAL);
        for (unsigned i = 0; i < PIECE_BYTES; i++)
            status |= here[i] != written(round, piece * PIECE_BYTES + i);
    }
    return status;
}

static void notify_rounds(void *argument)
{
    struct driven *driven = argument;
    for (unsigned round = 0; round < NOTIFIED_ROUNDS; round++) {
        if (hal_is_core())
            write_own_part(round);
        hal_meet();
        if (hal_is_core() && hal_core_id() == 0)
            driven->errors[0] |= (unsigned)store_and_notify();
        if (hal_is_core())
            hal_barrier();
        if (hal_is_driver())
            driven->status |= await_and_fetch(round);
    }
}

void test_notices(void)
{
    static struct driven driven;
    memset(&driven, 0, sizeof driven);
    for (unsigned run = 0; run < NOTIFIED_RUNS; run++) {
        drive((enum way)(run % WAYS), notify_rounds, &driven);
        EXPECT(driven.status == DORY_OK && driven.errors[0] == 0, "run %u: driver %d, core %u", run, driven.status,
               driven.errors[0]);
    }
}
