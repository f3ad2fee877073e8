/* Host HAL, L3: order of the queue, poison, bounds, alignment, flash addresses, transfers nobody waits for. */
#include "support.h"

#include "dory/flash_section.h"

#define BYTES 64

static const uint8_t image[BYTES] DORY_FLASH = {1, 2, 3, 4};
static uint8_t flash[256];
static uint8_t *l2;

LOOKS_IN_FLIGHT static uint8_t look(const uint8_t *byte) { return *(const volatile uint8_t *)byte; }
LOOKS_IN_FLIGHT static void change(uint8_t *byte) { *(volatile uint8_t *)byte ^= 0x10; }

static void open_l3(enum hal_host_timing timing, uint64_t seed)
{
    fresh_hal(timing, seed);
    fill_pattern(flash, sizeof flash, 11);
    hal_host_set_flash(flash, sizeof flash);
    l2 = reserve(HAL_L2, 4 * BYTES);
    uint32_t flash_bytes, ram_bytes;
    EXPECT_EQUAL(hal_l3_open(&flash_bytes, &ram_bytes), DORY_OK);
    EXPECT_EQUAL(flash_bytes, sizeof flash);
    EXPECT_EQUAL(ram_bytes, 8 * 1024 * 1024);
}

static void close_l3(void)
{
    EXPECT_EQUAL(hal_l3_close(), DORY_OK);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
    hal_host_set_flash(NULL, 0);
}

static struct hal_l3_copy l3_copy(enum hal_l3_kind kind, uint32_t address, void *here, uint32_t bytes)
{
    return (struct hal_l3_copy){.kind = kind, .l3_address = address, .l2 = here, .run_bytes = bytes, .runs = 1};
}

static hal_l3_ticket start(struct hal_l3_copy copy)
{
    hal_l3_ticket ticket = 0;
    EXPECT_EQUAL(hal_l3_start(&copy, &ticket), DORY_OK);
    return ticket;
}

static int start_status(struct hal_l3_copy copy)
{
    hal_l3_ticket ticket = 0;
    int status = hal_l3_start(&copy, &ticket);
    if (status == DORY_OK)
        EXPECT_EQUAL(hal_l3_wait(ticket), DORY_OK);
    return status;
}

static void late_read_is_poisoned_until_the_wait(void)
{
    open_l3(HAL_HOST_LATE, 1);
    hal_l3_ticket ticket = start(l3_copy(HAL_FLASH_READ, 8, l2, BYTES));
    EXPECT_EQUAL(ticket, 1);
    EXPECT_EQUAL(look(l2), HAL_HOST_POISON);
    EXPECT_EQUAL(hal_l3_wait(ticket), DORY_OK);
    EXPECT_BYTES(l2, flash + 8, BYTES);
    close_l3();
}

static void runs_and_strides(void)
{
    open_l3(HAL_HOST_MIXED, 1);
    struct hal_l3_copy copy = {
        .kind = HAL_FLASH_READ, .l3_address = 2, .l2 = l2, .run_bytes = 8, .runs = 4, .l3_stride = 30, .l2_stride = 16};
    memset(l2, 0xEE, BYTES);
    EXPECT_EQUAL(start_status(copy), DORY_OK);
    for (unsigned run = 0; run < 4; run++) {
        EXPECT_BYTES(l2 + 16 * run, flash + 2 + 30 * run, 8);
        for (unsigned i = 8; i < 16; i++)
            EXPECT_EQUAL(l2[16 * run + i], 0xEE);
    }
    close_l3();
}

/* Write, overwrite the source from the flash, read back elsewhere: without a wait in between the order has to do. */
static void check_order(enum hal_host_timing timing, uint64_t seed)
{
    open_l3(timing, seed);
    uint8_t expected[BYTES];
    fill_pattern(l2, BYTES, 77);
    memcpy(expected, l2, BYTES);
    start(l3_copy(HAL_RAM_WRITE, 1000, l2, BYTES));
    start(l3_copy(HAL_FLASH_READ, 0, l2, BYTES));
    start(l3_copy(HAL_RAM_READ, 1000, l2 + BYTES, BYTES));
    hal_l3_ticket last = start(l3_copy(HAL_RAM_WRITE, 2000, l2 + BYTES, BYTES));
    EXPECT_EQUAL(hal_l3_wait(last), DORY_OK);
    EXPECT_BYTES(l2, flash, BYTES);
    EXPECT_BYTES(l2 + BYTES, expected, BYTES);
    EXPECT_BYTES(hal_host_ram() + 2000, expected, BYTES);
    EXPECT_EQUAL(violations(), 0);
    close_l3();
}

static void transfers_keep_their_order(void)
{
    check_order(HAL_HOST_LATE, 1);
    check_order(HAL_HOST_EARLY, 1);
    for (uint64_t seed = 0; seed < 32; seed++)
        check_order(HAL_HOST_MIXED, seed);
}

static void wait_covers_what_is_before_and_no_more(void)
{
    open_l3(HAL_HOST_LATE, 1);
    start(l3_copy(HAL_FLASH_READ, 0, l2, 8));
    hal_l3_ticket second = start(l3_copy(HAL_FLASH_READ, 8, l2 + 8, 8));
    hal_l3_ticket third = start(l3_copy(HAL_FLASH_READ, 16, l2 + 16, 8));
    EXPECT_EQUAL(hal_l3_wait(0), DORY_OK);
    EXPECT_EQUAL(hal_l3_wait(second), DORY_OK);
    EXPECT_BYTES(l2, flash, 16);
    EXPECT_EQUAL(look(l2 + 16), HAL_HOST_POISON);
    EXPECT_EQUAL(hal_l3_wait(third), DORY_OK);
    EXPECT_EQUAL(hal_l3_wait(third + 1), DORY_ERROR_ARGUMENT);
    close_l3();
}

static void full_queue_goes_on(void)
{
    open_l3(HAL_HOST_LATE, 1);
    hal_l3_ticket ticket = 0;
    for (uint32_t i = 0; i < 60; i++)
        ticket = start(l3_copy(HAL_FLASH_READ, 4 * i, l2 + 4 * i, 4));
    EXPECT_EQUAL(hal_l3_wait(ticket), DORY_OK);
    EXPECT_BYTES(l2, flash, 240);
    close_l3();
}

/* ---- misuse ------------------------------------------------------------------------------------------------ */

static void bounds_and_alignment(void)
{
    open_l3(HAL_HOST_MIXED, 1);
    EXPECT_EQUAL(start_status(l3_copy(HAL_FLASH_READ, 252, l2, 8)), DORY_ERROR_L3);
    EXPECT_EQUAL(start_status(l3_copy(HAL_FLASH_READ, 0, l2 + 4 * BYTES - 4, 8)), DORY_ERROR_L3);
    EXPECT_EQUAL(start_status(l3_copy(HAL_FLASH_READ, 0, flash, 8)), DORY_ERROR_L3);
    EXPECT_EQUAL(start_status(l3_copy(HAL_RAM_WRITE, 8 * 1024 * 1024 - 4, l2, 8)), DORY_ERROR_L3);
    EXPECT_EQUAL(start_status(l3_copy(HAL_RAM_WRITE, 8 * 1024 * 1024 - 8, l2, 8)), DORY_OK);
    EXPECT_EQUAL(start_status(l3_copy(HAL_FLASH_READ, 1, l2, 8)), DORY_ERROR_ALIGNMENT);
    EXPECT_EQUAL(start_status(l3_copy(HAL_FLASH_READ, 2, l2, 6)), DORY_ERROR_ALIGNMENT);
    EXPECT_EQUAL(start_status(l3_copy(HAL_FLASH_READ, 2, l2 + 2, 4)), DORY_ERROR_ALIGNMENT);
    EXPECT_EQUAL(start_status(l3_copy(HAL_FLASH_READ, 2, l2, 0)), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(start_status(l3_copy((enum hal_l3_kind)7, 2, l2, 4)), DORY_ERROR_ARGUMENT);
    hal_l3_ticket ticket;
    EXPECT_EQUAL(hal_l3_start(NULL, &ticket), DORY_ERROR_ARGUMENT);
    close_l3();
}

static void source_changed_in_flight(void)
{
    for (int timing = HAL_HOST_LATE; timing <= HAL_HOST_EARLY; timing++) {
        open_l3((enum hal_host_timing)timing, 1);
        hal_l3_ticket ticket = start(l3_copy(HAL_RAM_WRITE, 0, l2, BYTES));
        change(l2 + 9);
        EXPECT_EQUAL(hal_l3_wait(ticket), DORY_ERROR_L3);
        EXPECT_EQUAL(hal_l3_wait(ticket), DORY_OK); /* reported once */
        close_l3();
    }
}

static void transfer_without_wait_is_reported_by_close(void)
{
    open_l3(HAL_HOST_MIXED, 1);
    start(l3_copy(HAL_FLASH_READ, 0, l2, 8));
    EXPECT_EQUAL(hal_memory_reset(), DORY_ERROR_MEMORY);
    EXPECT_EQUAL(hal_l3_close(), DORY_ERROR_L3);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
    EXPECT_EQUAL(start_status(l3_copy(HAL_FLASH_READ, 0, l2, 8)), DORY_ERROR_L3); /* closed */
    EXPECT_EQUAL(hal_l3_wait(0), DORY_ERROR_L3);
}

struct meeting {
    uint8_t *l1;
    int status;
};

static void copy_what_l3_still_writes(void *argument)
{
    struct meeting *meeting = argument;
    hal_dma_ticket ticket;
    struct hal_dma_copy copy = copy_1d(meeting->l1, l2, 4, HAL_TO_LOCAL);
    hal_dma_open(&ticket);
    meeting->status = hal_dma_copy(ticket, &copy);
    hal_dma_wait(ticket);
}

static void dma_and_l3_do_not_overlap(void)
{
    open_l3(HAL_HOST_MIXED, 1);
    struct meeting meeting = {.l1 = reserve(HAL_L1, 4)};
    hal_l3_ticket ticket = start(l3_copy(HAL_FLASH_READ, 0, l2, 8));
    EXPECT_EQUAL(run_on(1, copy_what_l3_still_writes, &meeting), DORY_OK);
    EXPECT_EQUAL(meeting.status, DORY_ERROR_DMA);
    EXPECT_EQUAL(hal_l3_wait(ticket), DORY_OK);
    EXPECT_EQUAL(run_on(1, copy_what_l3_still_writes, &meeting), DORY_OK);
    EXPECT_EQUAL(meeting.status, DORY_OK);
    close_l3();
}

/* ---- flash ------------------------------------------------------------------------------------------------- */

static void linked_images_are_the_flash(void)
{
    fresh_hal(HAL_HOST_MIXED, 1);
    hal_host_set_flash(NULL, 0);
    l2 = reserve(HAL_L2, BYTES);
    EXPECT_EQUAL(hal_l3_open(NULL, NULL), DORY_OK);
    EXPECT_EQUAL(hal_l3_open(NULL, NULL), DORY_ERROR_L3);
    uint32_t address = hal_flash_address(image);
    EXPECT_THAT(address != HAL_NOT_IN_FLASH);
    EXPECT_EQUAL(hal_flash_address(flash), HAL_NOT_IN_FLASH);
    EXPECT_EQUAL(start_status(l3_copy(HAL_FLASH_READ, address, l2, BYTES)), DORY_OK);
    EXPECT_BYTES(l2, image, BYTES);
    close_l3();
}

static void address_in_a_given_flash(void)
{
    hal_host_set_flash(flash, sizeof flash);
    EXPECT_EQUAL(hal_flash_address(flash + 40), 40);
    EXPECT_EQUAL(hal_flash_address(flash + sizeof flash), HAL_NOT_IN_FLASH);
    hal_host_set_flash(NULL, 0);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(late_read_is_poisoned_until_the_wait),
        TEST(runs_and_strides),
        TEST(transfers_keep_their_order),
        TEST(wait_covers_what_is_before_and_no_more),
        TEST(full_queue_goes_on),
        TEST(bounds_and_alignment),
        TEST(source_changed_in_flight),
        TEST(transfer_without_wait_is_reported_by_close),
        TEST(dma_and_l3_do_not_overlap),
        TEST(linked_images_are_the_flash),
        TEST(address_in_a_given_flash),
    };
    return RUN_TESTS("host HAL: L3", tests, NULL);
}
