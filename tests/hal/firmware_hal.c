/* The HAL's contract, as firmware sees it: the same program for every target. Every byte round a destination is
 * checked, too. */
#include "firmware_hal.h"
#include "dory/flash_section.h"
#include "expect.h"

#define IMAGE_BYTES 1024
#define GUARD       0xEE

/* More than hal_memory_reserve has to give. A chip's are those of its description. */
#if defined(L1_LEVEL_BYTES)
#elif defined(__arm__) /* boards/mps has 4 MB of SRAM in all */
#define L1_LEVEL_BYTES (256 * 1024)
#define L2_LEVEL_BYTES (4 * 1024 * 1024)
#else
#define L1_LEVEL_BYTES (64 * 1024)
#define L2_LEVEL_BYTES (512 * 1024)
#endif

uint8_t l1[L1_BYTES] DORY_L1;
uint8_t l2[L2_BYTES] DORY_L2;
static uint8_t expected[L2_BYTES] DORY_L2;

/* A constant expression a byte, so that the image can be compared without a second copy of it. */
#define IMAGE_BYTE(i) ((uint8_t)((i)*37 + ((i) >> 8)))
#define IMAGE_4(i)    IMAGE_BYTE(i), IMAGE_BYTE((i) + 1), IMAGE_BYTE((i) + 2), IMAGE_BYTE((i) + 3)
#define IMAGE_16(i)   IMAGE_4(i), IMAGE_4((i) + 4), IMAGE_4((i) + 8), IMAGE_4((i) + 12)
#define IMAGE_64(i)   IMAGE_16(i), IMAGE_16((i) + 16), IMAGE_16((i) + 32), IMAGE_16((i) + 48)
#define IMAGE_256(i)  IMAGE_64(i), IMAGE_64((i) + 64), IMAGE_64((i) + 128), IMAGE_64((i) + 192)
static const uint8_t image[IMAGE_BYTES] DORY_FLASH = {IMAGE_256(0), IMAGE_256(256), IMAGE_256(512), IMAGE_256(768)};

static uint32_t random_state = 12345;
static uint32_t ram_bytes; /* of this machine; 0: it has none */

uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1103515245u + 12345u;
    return (random_state >> 8) % limit;
}

/* ---- DMA --------------------------------------------------------------------------------------------------- */

struct dma_case {
    struct hal_dma_copy copy;
    unsigned core; /* that copies */
    int status;
};

static void copy_by_definition(const struct hal_dma_copy *copy, uint8_t *to, const uint8_t *from)
{
    int in = copy->direction == HAL_TO_LOCAL;
    for (uint32_t plane = 0; plane < copy->planes; plane++) {
        for (uint32_t run = 0; run < copy->runs; run++) {
            uint32_t local = plane * copy->local_plane_stride + run * copy->local_run_stride;
            uint32_t external = plane * copy->external_plane_stride + run * copy->external_run_stride;
            memcpy(to + (in ? local : external), from + (in ? external : local), copy->run_bytes);
        }
    }
}

static void copy_on_one_core(void *argument)
{
    struct dma_case *dma = argument;
    hal_dma_ticket ticket;
    if (hal_core_id() == dma->core) {
        dma->status = hal_dma_open(&ticket);
        if (dma->status == DORY_OK)
            dma->status = hal_dma_copy(ticket, &dma->copy);
        if (dma->status == DORY_OK)
            dma->status = hal_dma_wait(ticket);
    }
    hal_barrier();
}

/* Both memories are filled, one side with guard bytes; `expected` gets what the other must become. */
static int try_copy(struct dma_case *dma)
{
    int in = dma->copy.direction == HAL_TO_LOCAL;
    uint8_t *to = in ? l1 : l2, *from = in ? l2 : l1;
    uint32_t to_bytes = in ? L1_BYTES : L2_BYTES, from_bytes = in ? L2_BYTES : L1_BYTES;
    uint32_t to_offset = (uint32_t)((uint8_t *)(in ? dma->copy.local : dma->copy.external) - to);
    uint32_t from_offset = (uint32_t)((uint8_t *)(in ? dma->copy.external : dma->copy.local) - from);
    for (uint32_t i = 0; i < from_bytes; i++)
        from[i] = (uint8_t)random_below(256);
    memset(to, GUARD, to_bytes);
    memset(expected, GUARD, to_bytes);
    copy_by_definition(&dma->copy, expected + to_offset, from + from_offset);
    int status = hal_cluster_run(copy_on_one_core, dma);
    if (status != DORY_OK || dma->status != DORY_OK)
        return 0;
    return memcmp(to, expected, to_bytes) == 0;
}

static struct dma_case random_case(void)
{
    struct dma_case dma = {.core = random_below(hal_core_count())};
    struct hal_dma_copy *copy = &dma.copy;
    uint32_t dimensions = 1 + random_below(3);
    copy->run_bytes = 1 + random_below(dimensions == 1 ? 4000 : 40);
    copy->runs = dimensions > 1 ? 1 + random_below(9) : 1;
    copy->planes = dimensions > 2 ? 1 + random_below(7) : 1;
    copy->local_run_stride = copy->run_bytes + random_below(20);
    copy->external_run_stride = copy->run_bytes + random_below(40);
    copy->local_plane_stride = copy->runs * copy->local_run_stride + random_below(30);
    copy->external_plane_stride = copy->runs * copy->external_run_stride + random_below(60);
    copy->local = l1 + 8 + random_below(64);
    copy->external = l2 + 8 + random_below(256);
    copy->direction = random_below(2) ? HAL_TO_LOCAL : HAL_FROM_LOCAL;
    return dma;
}

static void test_dma(void)
{
    for (int i = 0; i < 60; i++) {
        struct dma_case dma = random_case();
        EXPECT(try_copy(&dma), "copy %d: %u planes x %u runs x %u bytes, status %d", i, (unsigned)dma.copy.planes,
               (unsigned)dma.copy.runs, (unsigned)dma.copy.run_bytes, dma.status);
    }
}

#define LARGE_RUNS      140
#define LARGE_RUN_BYTES 500
#define LARGE_STRIDE    510
#define LARGE_BYTE(i)   ((uint8_t)((i)*37 + ((i) >> 8)))

/* Into L1 and out again to another place: of `runs` runs in L2, one behind the other in L1. */
static int large_copies(uint8_t *local, uint8_t *external, uint32_t runs, uint32_t run_bytes, uint32_t stride)
{
    struct dma_case dma = {.copy = {.local = local,
                                    .external = external,
                                    .direction = HAL_TO_LOCAL,
                                    .run_bytes = run_bytes,
                                    .runs = runs,
                                    .planes = 1,
                                    .local_run_stride = run_bytes,
                                    .external_run_stride = stride}};
    for (uint32_t i = 0; i < runs * stride; i++)
        external[i] = LARGE_BYTE(i);
    int status = hal_cluster_run(copy_on_one_core, &dma) | dma.status;
    for (uint32_t i = 0; i < runs * run_bytes; i++)
        status |= local[i] != LARGE_BYTE(i / run_bytes * stride + i % run_bytes);
    memset(external, GUARD, runs * stride);
    dma.copy.direction = HAL_FROM_LOCAL;
    status |= hal_cluster_run(copy_on_one_core, &dma) | dma.status;
    for (uint32_t i = 0; i < runs * stride; i++)
        status |= external[i] != (i % stride < run_bytes ? LARGE_BYTE(i) : GUARD);
    return status;
}

/* More than 16 bits can say, where there is so much L1. */
static void test_large_dma(void)
{
    void *local, *external;
    if (hal_core_count() > 1)
        return;
    if (hal_memory_reserve(HAL_L1, LARGE_RUNS * LARGE_RUN_BYTES, &local) == DORY_OK &&
        hal_memory_reserve(HAL_L2, LARGE_RUNS * LARGE_STRIDE, &external) == DORY_OK) {
        EXPECT_EQUAL(large_copies(local, external, LARGE_RUNS, LARGE_RUN_BYTES, LARGE_STRIDE), 0);
        EXPECT_EQUAL(large_copies(local, external, 1, LARGE_RUNS * LARGE_RUN_BYTES, LARGE_RUNS * LARGE_RUN_BYTES), 0);
    }
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
}

/* Every core moves its own part in and out again, several copies a ticket, all tickets in use at once. */
static int team_status[16];

static void move_own_part(void *argument)
{
    unsigned core = hal_core_id();
    uint32_t part = L1_BYTES / 2 / hal_core_count() / 4 * 4;
    int status = DORY_OK;
    (void)argument;
    for (int direction = HAL_TO_LOCAL; direction <= HAL_FROM_LOCAL; direction++) {
        hal_dma_ticket ticket;
        status |= hal_dma_open(&ticket);
        for (uint32_t i = 0; i < 4 && status == DORY_OK; i++) {
            uint32_t offset = core * part + i * (part / 4);
            struct hal_dma_copy copy = {.local = l1 + offset,
                                        .external = l2 + offset + (direction == HAL_TO_LOCAL ? 0 : L2_BYTES / 2),
                                        .run_bytes = part / 4,
                                        .runs = 1,
                                        .planes = 1,
                                        .direction = (enum hal_direction)direction};
            status |= hal_dma_copy(ticket, &copy);
        }
        status |= hal_dma_wait(ticket);
    }
    team_status[core] = status;
}

static void test_team_dma(void)
{
    uint32_t moved = L1_BYTES / 2 / hal_core_count() / 4 * 4 * hal_core_count();
    for (uint32_t i = 0; i < L2_BYTES; i++)
        l2[i] = (uint8_t)random_below(256);
    EXPECT_EQUAL(hal_cluster_run(move_own_part, NULL), DORY_OK);
    for (unsigned core = 0; core < hal_core_count(); core++)
        EXPECT(team_status[core] == DORY_OK, "core %u: status %d", core, team_status[core]);
    EXPECT_BYTES(l2, l2 + L2_BYTES / 2, moved);
}

/* ---- cluster ----------------------------------------------------------------------------------------------- */

#define STEPS 500

struct team {
    volatile unsigned steps[16];
    volatile unsigned errors[16];
};

static void step_in_time(void *argument)
{
    struct team *team = argument;
    unsigned self = hal_core_id();
    for (unsigned step = 1; step <= STEPS; step++) {
        team->steps[self] = step;
        hal_barrier();
        for (unsigned core = 0; core < hal_core_count(); core++)
            team->errors[self] += team->steps[core] != step;
        hal_barrier();
    }
}

static void test_barriers(void)
{
    static struct team team; /* static data lie in L2, which all cores see */
    memset(&team, 0, sizeof team);
    EXPECT_EQUAL(hal_cluster_run(step_in_time, &team), DORY_OK);
    for (unsigned core = 0; core < 16; core++) {
        EXPECT_EQUAL(team.steps[core], core < hal_core_count() ? STEPS : 0);
        EXPECT(team.errors[core] == 0, "core %u saw %u others elsewhere", core, team.errors[core]);
    }
}

/* ---- L3 ---------------------------------------------------------------------------------------------------- */

static int move_l3(enum hal_l3_kind kind, uint32_t address, void *here, uint32_t bytes, hal_l3_ticket *ticket)
{
    struct hal_l3_copy copy = {.kind = kind, .l3_address = address, .l2 = here, .run_bytes = bytes, .runs = 1};
    return hal_l3_start(&copy, ticket);
}

static void test_flash(void)
{
    uint32_t address = hal_flash_address(image);
    hal_l3_ticket ticket;
    struct hal_l3_copy copy = {.kind = HAL_FLASH_READ,
                               .l3_address = address + 4,
                               .l2 = l2 + 8,
                               .run_bytes = 12,
                               .runs = 20,
                               .l3_stride = 50,
                               .l2_stride = 16};
    memset(l2, GUARD, L2_BYTES);
    memset(expected, GUARD, L2_BYTES);
    for (uint32_t run = 0; run < copy.runs; run++) {
        for (uint32_t i = 0; i < copy.run_bytes; i++)
            expected[8 + run * 16 + i] = IMAGE_BYTE(4 + run * 50 + i);
    }
    EXPECT_THAT(address != HAL_NOT_IN_FLASH && hal_flash_address(l2) == HAL_NOT_IN_FLASH);
    EXPECT_THAT(hal_l3_start(&copy, &ticket) == DORY_OK && hal_l3_wait(ticket) == DORY_OK);
    EXPECT_BYTES(l2, expected, L2_BYTES);
}

/* Without RAM: a later transfer over what an earlier one has brought. */
static int move_round_in_flash(void)
{
    hal_l3_ticket ticket = 0;
    uint32_t address = hal_flash_address(image);
    int status = move_l3(HAL_FLASH_READ, address, l2, IMAGE_BYTES / 2, &ticket);
    status |= move_l3(HAL_FLASH_READ, address + IMAGE_BYTES / 2, l2, IMAGE_BYTES / 2, &ticket);
    status |= hal_l3_wait(ticket);
    return status == DORY_OK && l2[1] == IMAGE_BYTE(IMAGE_BYTES / 2 + 1);
}

/* Out to RAM, over the source from flash, back from RAM: only the order of the queue makes that right. */
static int move_round(void)
{
    hal_l3_ticket ticket = 0;
    int status = DORY_OK;
    for (uint32_t i = 0; i < L2_BYTES; i++)
        l2[i] = (uint8_t)random_below(256);
    memcpy(expected, l2, L2_BYTES);
    if (ram_bytes == 0)
        return move_round_in_flash();
    status |= move_l3(HAL_RAM_WRITE, 4096, l2, L2_BYTES / 2, &ticket);
    status |= move_l3(HAL_FLASH_READ, hal_flash_address(image), l2, IMAGE_BYTES, &ticket);
    status |= move_l3(HAL_RAM_READ, 4096, l2 + L2_BYTES / 2, L2_BYTES / 2, &ticket);
    status |= hal_l3_wait(ticket);
    return status == DORY_OK && l2[1] == IMAGE_BYTE(1) && memcmp(l2 + L2_BYTES / 2, expected, L2_BYTES / 2) == 0;
}

static int round_on_core_0;

static void move_round_on_core_0(void *argument)
{
    (void)argument;
    if (hal_core_id() == 0)
        round_on_core_0 = move_round();
    hal_barrier();
}

static void test_l3_queue(void)
{
    round_on_core_0 = 0;
    EXPECT_THAT(move_round());
    EXPECT_EQUAL(hal_cluster_run(move_round_on_core_0, NULL), DORY_OK);
    EXPECT_THAT(round_on_core_0);
}

static void test_l3_refuses(void)
{
    hal_l3_ticket ticket;
    EXPECT_EQUAL(move_l3(HAL_RAM_READ, ram_bytes ? ram_bytes - 4 : 0, l2, 8, &ticket), DORY_ERROR_L3);
    EXPECT_THAT(ram_bytes > 0 || move_l3(HAL_RAM_WRITE, 0, l2, 8, &ticket) == DORY_ERROR_L3);
    EXPECT_EQUAL(move_l3(HAL_RAM_READ, 1, l2, 8, &ticket), DORY_ERROR_ALIGNMENT);
    EXPECT_EQUAL(move_l3(HAL_RAM_READ, 0, l2, 6, &ticket), DORY_ERROR_ALIGNMENT);
    EXPECT_EQUAL(move_l3(HAL_RAM_READ, 0, l2, 0, &ticket), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_l3_wait(0), DORY_OK);
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

static void reserve_to_the_end(enum hal_memory memory, size_t level_bytes)
{
    void *address;
    size_t total = 0;
    EXPECT_EQUAL(hal_memory_reserve(memory, level_bytes, &address), DORY_ERROR_MEMORY); /* static data take some of it */
    while (total < level_bytes && hal_memory_reserve(memory, 1000, &address) == DORY_OK) {
        EXPECT_EQUAL((uintptr_t)address % DORY_ALIGNMENT, 0);
        memset(address, 0x33, 1000);
        total += 1000;
    }
    EXPECT(total > 0 && total < level_bytes, "in memory %d, %u bytes", (int)memory, (unsigned)total);
}

static void test_memory(void)
{
    for (int i = 0; i < 2; i++) {
        reserve_to_the_end(HAL_L1, L1_LEVEL_BYTES);
        reserve_to_the_end(HAL_L2, L2_LEVEL_BYTES);
        EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
    }
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 8, NULL), DORY_ERROR_ARGUMENT);
}

/* ---- all of it --------------------------------------------------------------------------------------------- */

static void test_time(void)
{
    uint32_t before = hal_cycles();
    for (volatile int i = 0; i < 1000; i++)
        ;
    uint32_t after = hal_cycles();
    EXPECT(hal_cycles_available() ? after - before > 1000 : after == 0 && before == 0, "from %u to %u", (unsigned)before,
           (unsigned)after);
}

static const struct test tests[] = {
    {"DMA in one, two and three dimensions", test_dma},
    {"DMA of many bytes", test_large_dma},
    {"DMA on all cores at once", test_team_dma},
    {"barriers", test_barriers},
    {"a driver and the cores", test_driver},
    {"a driver beside the application", test_start},
    {"notices to the driver", test_notices},
    {"flash", test_flash},
    {"order of the L3 queue", test_l3_queue},
    {"L3 refuses what it cannot do", test_l3_refuses},
    {"memory", test_memory},
    {"cycles", test_time},
};

static int run_on(unsigned cores)
{
    char subject[] = "the HAL with ? cores";
    *strchr(subject, '?') = (char)('0' + cores);
    bool is_open = hal_cluster_open(cores) == DORY_OK && hal_l3_open(NULL, &ram_bytes) == DORY_OK;
    EXPECT(is_open, "%s does not open", subject);
    if (!is_open)
        return expect_result(subject);
    RUN_TESTS(subject, tests, NULL);
    EXPECT_EQUAL(hal_l3_close(), DORY_OK);
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    return expect_failures != 0;
}

int main(void)
{
    int failed = 0;
    for (unsigned cores = 1; cores <= hal_cluster_maximum_cores() && cores <= 8; cores = cores == 2   ? 5
                                                                                         : cores == 5 ? 8
                                                                                                      : cores + 1)
        failed |= run_on(cores);
    return failed;
}
