/* Host HAL, memories: sizes, alignment, canaries, static buffers; and the sentences of status codes. */
#include "support.h"

#define STATIC_BYTES 1000

static volatile uint8_t static_l1[STATIC_BYTES] DORY_L1;
static volatile uint8_t static_l2[STATIC_BYTES] DORY_L2;

LOOKS_IN_FLIGHT static void change(uint8_t *byte) { *(volatile uint8_t *)byte ^= 1; }

static void real_sizes_less_static_data(void)
{
    void *address;
    fresh_hal(HAL_HOST_MIXED, 1);
    static_l1[0] = static_l2[0] = 1; /* so that the linker keeps them */
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 64 * 1024 - STATIC_BYTES + 8, &address), DORY_ERROR_MEMORY);
    EXPECT_THAT(!address);
    memset(reserve(HAL_L1, 64 * 1024 - STATIC_BYTES), 0, 64 * 1024 - STATIC_BYTES);
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 1, &address), DORY_ERROR_MEMORY);
    memset(reserve(HAL_L2, 512 * 1024 - STATIC_BYTES), 0, 512 * 1024 - STATIC_BYTES);
    EXPECT_EQUAL(hal_memory_reserve(HAL_L2, SIZE_MAX, &address), DORY_ERROR_MEMORY);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
    reserve(HAL_L1, 64 * 1024 - STATIC_BYTES);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
}

static void sizes_are_options(void)
{
    void *address;
    struct hal_host_options options = {.l1_bytes = STATIC_BYTES + 16, .l2_bytes = 2 * 1024 * 1024, .quiet = 1};
    EXPECT_EQUAL(hal_host_configure(&options), DORY_OK);
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 24, &address), DORY_ERROR_MEMORY);
    reserve(HAL_L1, 16);
    reserve(HAL_L2, 1024 * 1024);
    options.l1_bytes = STATIC_BYTES - 1;
    EXPECT_EQUAL(hal_host_configure(&options), DORY_OK);
    EXPECT_EQUAL(hal_cluster_open(1), DORY_ERROR_MEMORY); /* the static data do not fit */
}

static void addresses_are_aligned_and_apart(void)
{
    struct hal_host_counters counters;
    fresh_hal(HAL_HOST_MIXED, 1);
    uint8_t *first = reserve(HAL_L1, 13), *second = reserve(HAL_L1, 1);
    EXPECT_EQUAL((uintptr_t)first % DORY_ALIGNMENT, 0);
    EXPECT_EQUAL((uintptr_t)second % DORY_ALIGNMENT, 0);
    EXPECT_THAT(second >= first + 13 + 32); /* room for a canary */
    EXPECT_EQUAL(first[12], HAL_HOST_FRESH);
    reserve(HAL_L1, 0); /* legal, and some address */
    hal_host_get_counters(&counters);
    EXPECT_EQUAL(counters.l1_bytes_reserved, 24);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
}

static void check_canary(enum hal_memory memory, ptrdiff_t offset)
{
    fresh_hal(HAL_HOST_MIXED, 1);
    uint8_t *middle = (reserve(memory, 40), reserve(memory, 20));
    reserve(memory, 40);
    change(middle + offset);
    EXPECT_EQUAL(hal_memory_reset(), DORY_ERROR_MEMORY);
    EXPECT_EQUAL(violations(), 1);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK); /* restored */
}

static void writes_outside_reservations_are_found(void)
{
    check_canary(HAL_L1, 20); /* also inside the last 8 bytes */
    check_canary(HAL_L1, 60);
    check_canary(HAL_L1, -1);
    check_canary(HAL_L2, 20);
    check_canary(HAL_L2, 300 * 1024);
}

static void arguments_are_checked(void)
{
    void *address;
    fresh_hal(HAL_HOST_MIXED, 1);
    EXPECT_EQUAL(hal_memory_reserve(HAL_L1, 8, NULL), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_memory_reserve((enum hal_memory)2, 8, &address), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_host_register_memory(HAL_L1, NULL, 8), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_host_register_memory(HAL_L1, &address, 0), DORY_ERROR_ARGUMENT);
}

static void every_status_has_its_sentence(void)
{
    for (int status = DORY_ERROR_PACKET; status <= DORY_RUNNING; status++) {
        REQUIRE(dory_strerror(status));
        EXPECT_THAT(strcmp(dory_strerror(status), dory_strerror(DORY_RUNNING + 1)) != 0);
        for (int other = status + 1; other <= DORY_RUNNING; other++)
            EXPECT_THAT(strcmp(dory_strerror(status), dory_strerror(other)) != 0);
    }
    EXPECT_TEXT(dory_strerror(DORY_ERROR_PACKET - 1), dory_strerror(DORY_RUNNING + 1));
}

int main(void)
{
    static const struct test tests[] = {
        TEST(real_sizes_less_static_data),           TEST(sizes_are_options),     TEST(addresses_are_aligned_and_apart),
        TEST(writes_outside_reservations_are_found), TEST(arguments_are_checked), TEST(every_status_has_its_sentence),
    };
    return RUN_TESTS("host HAL: memory", tests, NULL);
}
