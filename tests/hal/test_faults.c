/* Host HAL, faults on demand: each kind fails at the call that was asked for, once, and leaves things usable. */
#include "fault_status.h"
#include "support.h"

#define ROUNDS 3

/* A small use of the whole HAL, three rounds of everything. Returns the first status that is not 0, like a careful
 * application: it goes on closing what it has opened. */
struct use {
    uint8_t *l1, *l2;
    int status;
};

static void keep_first(int *status, int next)
{
    if (*status == DORY_OK)
        *status = next;
}

static void round_on_cluster(void *argument)
{
    struct use *use = argument;
    hal_dma_ticket dma;
    hal_l3_ticket l3;
    struct hal_l3_copy read = {.kind = HAL_FLASH_READ, .l2 = use->l2, .run_bytes = 16, .runs = 1};
    struct hal_dma_copy load = copy_1d(use->l1, use->l2, 16, HAL_TO_LOCAL);
    keep_first(&use->status, hal_l3_start(&read, &l3));
    if (use->status == DORY_OK)
        keep_first(&use->status, hal_l3_wait(l3));
    if (use->status == DORY_OK)
        keep_first(&use->status, hal_dma_open(&dma));
    if (use->status != DORY_OK)
        return;
    keep_first(&use->status, hal_dma_copy(dma, &load));
    keep_first(&use->status, hal_dma_wait(dma));
}

static int use_everything(void)
{
    void *l1, *l2;
    struct use use = {.status = DORY_OK};
    keep_first(&use.status, hal_memory_reserve(HAL_L1, 16, &l1));
    keep_first(&use.status, hal_memory_reserve(HAL_L2, 16, &l2));
    if (use.status != DORY_OK)
        return use.status;
    use.l1 = l1;
    use.l2 = l2;
    keep_first(&use.status, hal_l3_open(NULL, NULL));
    if (use.status != DORY_OK)
        return use.status;
    keep_first(&use.status, hal_cluster_open(1));
    for (int round = 0; round < ROUNDS && use.status == DORY_OK; round++)
        keep_first(&use.status, hal_cluster_run(round_on_cluster, &use));
    keep_first(&use.status, hal_cluster_close());
    keep_first(&use.status, hal_l3_close());
    return use.status;
}

static const uint8_t flash[64] = {1, 2, 3};

static void begin(void)
{
    struct hal_host_options options = {.seed = 3, .quiet = 1, .patience_milliseconds = 4};
    EXPECT_EQUAL(hal_host_configure(&options), DORY_OK);
    hal_host_set_flash(flash, sizeof flash);
}

static void fault_at(enum hal_host_call call, uint64_t nth)
{
    struct hal_host_counters counters;
    begin();
    hal_host_fail(call, nth);
    EXPECT_EQUAL(use_everything(), fault_status[call]);
    hal_host_get_counters(&counters);
    EXPECT_EQUAL(counters.faults, 1);
    EXPECT_THAT(counters.calls[call] >= nth);
    EXPECT_EQUAL(counters.violations, 0);
    /* it failed once, and all is closed */
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
    EXPECT_EQUAL(use_everything(), DORY_OK);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
}

static void every_call_can_fail(void)
{
    begin();
    EXPECT_EQUAL(use_everything(), DORY_OK);
    struct hal_host_counters calm;
    hal_host_get_counters(&calm);
    unsigned injected = 0;
    for (int call = 0; call < HAL_HOST_CALLS; call++) {
        EXPECT_THAT(calm.calls[call] > 0);
        for (uint64_t nth = 1; nth <= calm.calls[call]; nth++, injected++)
            fault_at((enum hal_host_call)call, nth);
    }
    EXPECT_EQUAL(injected, 6 + 6 * ROUNDS + ROUNDS + 4 * ROUNDS);
}

static void orders_can_be_taken_back(void)
{
    begin();
    hal_host_fail(HAL_HOST_DMA_COPY, 2);
    hal_host_fail(HAL_HOST_DMA_COPY, 0);
    EXPECT_EQUAL(use_everything(), DORY_OK);
}

/* What failed late has not arrived, and what was poisoned stays so. */
static void failed_transfer_never_arrives(void)
{
    hal_l3_ticket first, second;
    begin();
    uint8_t *l2 = reserve(HAL_L2, 32);
    EXPECT_EQUAL(hal_l3_open(NULL, NULL), DORY_OK);
    hal_host_fail(HAL_HOST_L3_TRANSFER, 1);
    struct hal_l3_copy copy = {.kind = HAL_FLASH_READ, .l2 = l2, .run_bytes = 16, .runs = 1};
    EXPECT_EQUAL(hal_l3_start(&copy, &first), DORY_OK);
    copy.l2 = l2 + 16;
    EXPECT_EQUAL(hal_l3_start(&copy, &second), DORY_OK);
    EXPECT_EQUAL(hal_l3_wait(second), DORY_ERROR_L3);
    EXPECT_EQUAL(l2[0], HAL_HOST_POISON);
    EXPECT_BYTES(l2 + 16, flash, 16);
    EXPECT_EQUAL(hal_l3_close(), DORY_OK);
}

static void calls_have_names(void)
{
    for (int call = 0; call < HAL_HOST_CALLS; call++)
        EXPECT_THAT(strcmp(hal_host_call_name((enum hal_host_call)call), "unknown call") != 0);
    EXPECT_TEXT(hal_host_call_name(HAL_HOST_CALLS), "unknown call");
}

int main(void)
{
    static const struct test tests[] = {
        TEST(every_call_can_fail),
        TEST(orders_can_be_taken_back),
        TEST(failed_transfer_never_arrives),
        TEST(calls_have_names),
    };
    return RUN_TESTS("host HAL: faults", tests, NULL);
}
