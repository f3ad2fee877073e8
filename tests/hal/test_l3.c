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
    assert_int_equal(hal_l3_open(&flash_bytes, &ram_bytes), DORY_OK);
    assert_int_equal(flash_bytes, sizeof flash);
    assert_int_equal(ram_bytes, 8 * 1024 * 1024);
}

static void close_l3(void)
{
    assert_int_equal(hal_l3_close(), DORY_OK);
    assert_int_equal(hal_memory_reset(), DORY_OK);
    hal_host_set_flash(NULL, 0);
}

static struct hal_l3_copy l3_copy(enum hal_l3_kind kind, uint32_t address, void *here, uint32_t bytes)
{
    return (struct hal_l3_copy){.kind = kind, .l3_address = address, .l2 = here, .run_bytes = bytes, .runs = 1};
}

static hal_l3_ticket start(struct hal_l3_copy copy)
{
    hal_l3_ticket ticket = 0;
    assert_int_equal(hal_l3_start(&copy, &ticket), DORY_OK);
    return ticket;
}

static int start_status(struct hal_l3_copy copy)
{
    hal_l3_ticket ticket = 0;
    int status = hal_l3_start(&copy, &ticket);
    if (status == DORY_OK)
        assert_int_equal(hal_l3_wait(ticket), DORY_OK);
    return status;
}

static void late_read_is_poisoned_until_the_wait(void **state)
{
    (void)state;
    open_l3(HAL_HOST_LATE, 1);
    hal_l3_ticket ticket = start(l3_copy(HAL_FLASH_READ, 8, l2, BYTES));
    assert_int_equal(ticket, 1);
    assert_int_equal(look(l2), HAL_HOST_POISON);
    assert_int_equal(hal_l3_wait(ticket), DORY_OK);
    assert_memory_equal(l2, flash + 8, BYTES);
    close_l3();
}

static void runs_and_strides(void **state)
{
    (void)state;
    open_l3(HAL_HOST_MIXED, 1);
    struct hal_l3_copy copy = {
        .kind = HAL_FLASH_READ, .l3_address = 2, .l2 = l2, .run_bytes = 8, .runs = 4, .l3_stride = 30, .l2_stride = 16};
    memset(l2, 0xEE, BYTES);
    assert_int_equal(start_status(copy), DORY_OK);
    for (unsigned run = 0; run < 4; run++) {
        assert_memory_equal(l2 + 16 * run, flash + 2 + 30 * run, 8);
        for (unsigned i = 8; i < 16; i++)
            assert_int_equal(l2[16 * run + i], 0xEE);
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
    assert_int_equal(hal_l3_wait(last), DORY_OK);
    assert_memory_equal(l2, flash, BYTES);
    assert_memory_equal(l2 + BYTES, expected, BYTES);
    assert_memory_equal(hal_host_ram() + 2000, expected, BYTES);
    assert_int_equal(violations(), 0);
    close_l3();
}

static void transfers_keep_their_order(void **state)
{
    (void)state;
    check_order(HAL_HOST_LATE, 1);
    check_order(HAL_HOST_EARLY, 1);
    for (uint64_t seed = 0; seed < 32; seed++)
        check_order(HAL_HOST_MIXED, seed);
}

static void wait_covers_what_is_before_and_no_more(void **state)
{
    (void)state;
    open_l3(HAL_HOST_LATE, 1);
    start(l3_copy(HAL_FLASH_READ, 0, l2, 8));
    hal_l3_ticket second = start(l3_copy(HAL_FLASH_READ, 8, l2 + 8, 8));
    hal_l3_ticket third = start(l3_copy(HAL_FLASH_READ, 16, l2 + 16, 8));
    assert_int_equal(hal_l3_wait(0), DORY_OK);
    assert_int_equal(hal_l3_wait(second), DORY_OK);
    assert_memory_equal(l2, flash, 16);
    assert_int_equal(look(l2 + 16), HAL_HOST_POISON);
    assert_int_equal(hal_l3_wait(third), DORY_OK);
    assert_int_equal(hal_l3_wait(third + 1), DORY_ERROR_ARGUMENT);
    close_l3();
}

static void full_queue_goes_on(void **state)
{
    (void)state;
    open_l3(HAL_HOST_LATE, 1);
    hal_l3_ticket ticket = 0;
    for (uint32_t i = 0; i < 60; i++)
        ticket = start(l3_copy(HAL_FLASH_READ, 4 * i, l2 + 4 * i, 4));
    assert_int_equal(hal_l3_wait(ticket), DORY_OK);
    assert_memory_equal(l2, flash, 240);
    close_l3();
}

/* ---- misuse ------------------------------------------------------------------------------------------------ */

static void bounds_and_alignment(void **state)
{
    (void)state;
    open_l3(HAL_HOST_MIXED, 1);
    assert_int_equal(start_status(l3_copy(HAL_FLASH_READ, 252, l2, 8)), DORY_ERROR_L3);
    assert_int_equal(start_status(l3_copy(HAL_FLASH_READ, 0, l2 + 4 * BYTES - 4, 8)), DORY_ERROR_L3);
    assert_int_equal(start_status(l3_copy(HAL_FLASH_READ, 0, flash, 8)), DORY_ERROR_L3);
    assert_int_equal(start_status(l3_copy(HAL_RAM_WRITE, 8 * 1024 * 1024 - 4, l2, 8)), DORY_ERROR_L3);
    assert_int_equal(start_status(l3_copy(HAL_RAM_WRITE, 8 * 1024 * 1024 - 8, l2, 8)), DORY_OK);
    assert_int_equal(start_status(l3_copy(HAL_FLASH_READ, 1, l2, 8)), DORY_ERROR_ALIGNMENT);
    assert_int_equal(start_status(l3_copy(HAL_FLASH_READ, 2, l2, 6)), DORY_ERROR_ALIGNMENT);
    assert_int_equal(start_status(l3_copy(HAL_FLASH_READ, 2, l2 + 2, 4)), DORY_ERROR_ALIGNMENT);
    assert_int_equal(start_status(l3_copy(HAL_FLASH_READ, 2, l2, 0)), DORY_ERROR_ARGUMENT);
    assert_int_equal(start_status(l3_copy((enum hal_l3_kind)7, 2, l2, 4)), DORY_ERROR_ARGUMENT);
    hal_l3_ticket ticket;
    assert_int_equal(hal_l3_start(NULL, &ticket), DORY_ERROR_ARGUMENT);
    close_l3();
}

static void source_changed_in_flight(void **state)
{
    (void)state;
    for (int timing = HAL_HOST_LATE; timing <= HAL_HOST_EARLY; timing++) {
        open_l3((enum hal_host_timing)timing, 1);
        hal_l3_ticket ticket = start(l3_copy(HAL_RAM_WRITE, 0, l2, BYTES));
        change(l2 + 9);
        assert_int_equal(hal_l3_wait(ticket), DORY_ERROR_L3);
        assert_int_equal(hal_l3_wait(ticket), DORY_OK); /* reported once */
        close_l3();
    }
}

static void transfer_without_wait_is_reported_by_close(void **state)
{
    (void)state;
    open_l3(HAL_HOST_MIXED, 1);
    start(l3_copy(HAL_FLASH_READ, 0, l2, 8));
    assert_int_equal(hal_memory_reset(), DORY_ERROR_MEMORY);
    assert_int_equal(hal_l3_close(), DORY_ERROR_L3);
    assert_int_equal(hal_memory_reset(), DORY_OK);
    assert_int_equal(start_status(l3_copy(HAL_FLASH_READ, 0, l2, 8)), DORY_ERROR_L3); /* closed */
    assert_int_equal(hal_l3_wait(0), DORY_ERROR_L3);
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

static void dma_and_l3_do_not_overlap(void **state)
{
    (void)state;
    open_l3(HAL_HOST_MIXED, 1);
    struct meeting meeting = {.l1 = reserve(HAL_L1, 4)};
    hal_l3_ticket ticket = start(l3_copy(HAL_FLASH_READ, 0, l2, 8));
    assert_int_equal(run_on(1, copy_what_l3_still_writes, &meeting), DORY_OK);
    assert_int_equal(meeting.status, DORY_ERROR_DMA);
    assert_int_equal(hal_l3_wait(ticket), DORY_OK);
    assert_int_equal(run_on(1, copy_what_l3_still_writes, &meeting), DORY_OK);
    assert_int_equal(meeting.status, DORY_OK);
    close_l3();
}

/* ---- flash ------------------------------------------------------------------------------------------------- */

static void linked_images_are_the_flash(void **state)
{
    (void)state;
    fresh_hal(HAL_HOST_MIXED, 1);
    hal_host_set_flash(NULL, 0);
    l2 = reserve(HAL_L2, BYTES);
    assert_int_equal(hal_l3_open(NULL, NULL), DORY_OK);
    assert_int_equal(hal_l3_open(NULL, NULL), DORY_ERROR_L3);
    uint32_t address = hal_flash_address(image);
    assert_int_not_equal(address, HAL_NOT_IN_FLASH);
    assert_int_equal(hal_flash_address(flash), HAL_NOT_IN_FLASH);
    assert_int_equal(start_status(l3_copy(HAL_FLASH_READ, address, l2, BYTES)), DORY_OK);
    assert_memory_equal(l2, image, BYTES);
    close_l3();
}

static void address_in_a_given_flash(void **state)
{
    (void)state;
    hal_host_set_flash(flash, sizeof flash);
    assert_int_equal(hal_flash_address(flash + 40), 40);
    assert_int_equal(hal_flash_address(flash + sizeof flash), HAL_NOT_IN_FLASH);
    hal_host_set_flash(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_read_is_poisoned_until_the_wait),
        cmocka_unit_test(runs_and_strides),
        cmocka_unit_test(transfers_keep_their_order),
        cmocka_unit_test(wait_covers_what_is_before_and_no_more),
        cmocka_unit_test(full_queue_goes_on),
        cmocka_unit_test(bounds_and_alignment),
        cmocka_unit_test(source_changed_in_flight),
        cmocka_unit_test(transfer_without_wait_is_reported_by_close),
        cmocka_unit_test(dma_and_l3_do_not_overlap),
        cmocka_unit_test(linked_images_are_the_flash),
        cmocka_unit_test(address_in_a_given_flash),
    };
    return cmocka_run_group_tests_name("host HAL: L3", tests, NULL, NULL);
}
