/* L3 from the FC and from the cluster: sizes, addresses, strides, order, more transfers than the queue holds. */
#include <string.h>

#include "dory/flash_section.h"
#include "dory/hal.h"
#include "expect.h"

#define AREA  49152u
#define GUARD 64u

extern const uint8_t flash_image[], second_image[];

static uint8_t source[AREA] DORY_L2, target[AREA + 2 * GUARD] DORY_L2;
static volatile uint32_t work DORY_L1;

static uint8_t flash_byte(uint32_t offset) { return (uint8_t)(offset * 13 + (offset >> 8)); }

/* ---- one transfer ------------------------------------------------------------------------------------------ */

static int transfer(enum hal_l3_kind kind, uint32_t l3_address, void *l2, uint32_t bytes)
{
    hal_l3_ticket ticket;
    int status = hal_l3_start(
        &(struct hal_l3_copy){.kind = kind, .l3_address = l3_address, .l2 = l2, .run_bytes = bytes, .runs = 1}, &ticket);
    return status ? status : hal_l3_wait(ticket);
}

static int guards_hold(uint32_t bytes)
{
    for (uint32_t i = 0; i < GUARD; i++)
        if (target[i] != 0x55 || target[GUARD + bytes + i] != 0x55)
            return 0;
    return 1;
}

static void check_ram(uint32_t address, uint32_t bytes)
{
    memset(target, 0x55, bytes + 2 * GUARD);
    EXPECT_EQUAL(transfer(HAL_RAM_WRITE, address, source, bytes), DORY_OK);
    EXPECT_EQUAL(transfer(HAL_RAM_READ, address, target + GUARD, bytes), DORY_OK);
    EXPECT_BYTES(target + GUARD, source, bytes);
    EXPECT_THAT(guards_hold(bytes));
}

static void check_flash(uint32_t offset, uint32_t bytes)
{
    memset(target, 0x55, bytes + 2 * GUARD);
    EXPECT_EQUAL(transfer(HAL_FLASH_READ, hal_flash_address(flash_image) + offset, target + GUARD, bytes), DORY_OK);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < bytes; i++)
        wrong += target[GUARD + i] != flash_byte(offset + i);
    EXPECT_EQUAL(wrong, 0);
    EXPECT_THAT(guards_hold(bytes));
}

static void check_sizes(void *argument)
{
    static const uint32_t sizes[] = {4, 8, 64, 508, 512, 516, 4096, 16380, 16384, 16388, 40000, 49152};
    (void)argument;
    if (hal_core_id() != 0)
        return;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_ram(i * 2 + i * 60000, sizes[i]);
        check_flash(i * 2, sizes[i]);
    }
    check_ram(8 * 1024 * 1024 - 1024, 1024);
}

/* ---- strides ----------------------------------------------------------------------------------------------- */

static void check_strides(void *argument)
{
    (void)argument;
    if (hal_core_id() != 0)
        return;
    struct hal_l3_copy copy = {.kind = HAL_FLASH_READ,
                               .l3_address = 100,
                               .l2 = target + GUARD,
                               .run_bytes = 20,
                               .runs = 30,
                               .l3_stride = 50,
                               .l2_stride = 24};
    hal_l3_ticket ticket;
    memset(target, 0x55, 30 * 24 + 2 * GUARD);
    EXPECT_EQUAL(hal_l3_start(&copy, &ticket), DORY_OK);
    EXPECT_EQUAL(hal_l3_wait(ticket), DORY_OK);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 30 * 24; i++)
        wrong += target[GUARD + i] != (i % 24 < 20 ? flash_byte(100 + i / 24 * 50 + i % 24) : 0x55);
    EXPECT_EQUAL(wrong, 0);

    copy.l3_stride = copy.l2_stride = copy.run_bytes; /* joined to one run */
    EXPECT_EQUAL(hal_l3_start(&copy, &ticket), DORY_OK);
    EXPECT_EQUAL(hal_l3_wait(ticket), DORY_OK);
    for (uint32_t i = 0; i < 600; i++)
        wrong += target[GUARD + i] != flash_byte(100 + i);
    EXPECT_EQUAL(wrong, 0);
}

/* ---- many transfers while the other cores compute ------------------------------------------------------------ */

#define PIECES      40u
#define PIECE_BYTES 1000u

/* Core 5 queues all at once: each piece is saved to RAM, overwritten from flash, and fetched from RAM to elsewhere.
 * The order of the queue is all that keeps them apart. */
static void stream(void)
{
    hal_l3_ticket ticket = 0;
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        uint8_t *here = source + piece * PIECE_BYTES, *there = target + piece * PIECE_BYTES;
        struct hal_l3_copy copy = {
            .kind = HAL_RAM_WRITE, .l3_address = piece * 2048, .l2 = here, .run_bytes = PIECE_BYTES, .runs = 1};
        EXPECT_EQUAL(hal_l3_start(&copy, &ticket), DORY_OK);
        copy.kind = HAL_FLASH_READ;
        copy.l3_address = piece * PIECE_BYTES;
        EXPECT_EQUAL(hal_l3_start(&copy, &ticket), DORY_OK);
        copy.kind = HAL_RAM_READ;
        copy.l3_address = piece * 2048;
        copy.l2 = there;
        EXPECT_EQUAL(hal_l3_start(&copy, &ticket), DORY_OK);
    }
    EXPECT_EQUAL(hal_l3_wait(ticket), DORY_OK);
}

static void stream_under_load(void *argument)
{
    (void)argument;
    if (hal_core_id() == 5)
        stream();
    else
        for (uint32_t i = 0; i < 5000; i++)
            work += i;
    hal_barrier();
}

static void test_load(void)
{
    for (uint32_t i = 0; i < AREA; i++)
        source[i] = (uint8_t)(i * 31 + (i >> 7) + 3);
    memset(target, 0, AREA);
    EXPECT_EQUAL(hal_cluster_run(stream_under_load, NULL), DORY_OK);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < PIECES * PIECE_BYTES; i++)
        wrong += source[i] != flash_byte(i) || target[i] != (uint8_t)(i * 31 + (i >> 7) + 3);
    EXPECT_EQUAL(wrong, 0);
}

/* ---- misuse ------------------------------------------------------------------------------------------------ */

static void test_misuse(void)
{
    hal_l3_ticket ticket;
    EXPECT_EQUAL(transfer(HAL_RAM_READ, 0, target, 4), DORY_ERROR_L3); /* not open */
    uint32_t flash_bytes, ram_bytes;
    EXPECT_EQUAL(hal_l3_open(&flash_bytes, &ram_bytes), DORY_OK);
    EXPECT_EQUAL(ram_bytes, 8 * 1024 * 1024);
    EXPECT_EQUAL(flash_bytes, 63 * 1024 * 1024);
    EXPECT_EQUAL(transfer(HAL_RAM_READ, 1, target, 4), DORY_ERROR_ALIGNMENT);
    EXPECT_EQUAL(transfer(HAL_RAM_READ, 0, target + 2, 4), DORY_ERROR_ALIGNMENT);
    EXPECT_EQUAL(transfer(HAL_RAM_READ, 0, target, 6), DORY_ERROR_ALIGNMENT);
    EXPECT_EQUAL(transfer(HAL_RAM_READ, ram_bytes - 4, target, 8), DORY_ERROR_L3);
    EXPECT_EQUAL(transfer(HAL_FLASH_READ, flash_bytes - 4, target, 8), DORY_ERROR_L3);
    EXPECT_EQUAL(transfer(HAL_RAM_READ, 0, (void *)(uintptr_t)0x10000000, 8), DORY_ERROR_L3);
    EXPECT_EQUAL(transfer(HAL_RAM_READ, 0, target, 0), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_l3_start(NULL, &ticket), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_l3_wait(0), DORY_OK);
    EXPECT_EQUAL(hal_l3_wait(1000), DORY_ERROR_ARGUMENT); /* never started */
    EXPECT_EQUAL(hal_flash_address(target), HAL_NOT_IN_FLASH);
    EXPECT_EQUAL(hal_flash_address(second_image), 65536);
}

static void test_close(void)
{
    hal_l3_ticket ticket;
    struct hal_l3_copy copy = {.kind = HAL_RAM_READ, .l2 = target, .run_bytes = 4096, .runs = 1};
    EXPECT_EQUAL(hal_l3_close(), DORY_OK);
    EXPECT_EQUAL(hal_l3_open(NULL, NULL), DORY_OK);
    EXPECT_EQUAL(hal_l3_start(&copy, &ticket), DORY_OK);
    EXPECT_EQUAL(hal_l3_close(), DORY_ERROR_L3); /* nobody waited */
}

int main(void)
{
    test_misuse();
    for (uint32_t i = 0; i < AREA; i++)
        source[i] = (uint8_t)(i * 31 + (i >> 7) + 3);
    check_ram(0x2468, 1000); /* by the FC, the cluster without power */
    check_flash(0, 40000);
    EXPECT_EQUAL(transfer(HAL_FLASH_READ, hal_flash_address(second_image), target, 24), DORY_OK);
    EXPECT_BYTES(target, "second image in flash...", 24);

    EXPECT_EQUAL(hal_cluster_open(8), DORY_OK);
    EXPECT_EQUAL(hal_cluster_run(check_sizes, NULL), DORY_OK);
    EXPECT_EQUAL(hal_cluster_run(check_strides, NULL), DORY_OK);
    test_load();
    check_ram(0, 5000); /* by the FC, behind those of the cluster */
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    test_close();
    return expect_result("chip: l3");
}
