/* Host HAL, DMA: late and early, what must not change in flight, overlap, bounds, tickets. */
#include "support.h"

#define BYTES 64

/* What a function on the cluster sees; asserted afterwards by the test's own thread. */
struct scene {
    uint8_t *l1, *l2;
    struct hal_dma_copy copy, second;
    int open, start, second_start, wait;
    uint8_t before_wait, after_wait;
    hal_dma_ticket ticket;
    void (*meddle)(struct scene *scene); /* between start and wait */
};

LOOKS_IN_FLIGHT static uint8_t look(const uint8_t *byte) { return *(const volatile uint8_t *)byte; }
LOOKS_IN_FLIGHT static void change(uint8_t *byte) { *(volatile uint8_t *)byte ^= 0x10; }

static void copy_and_wait(void *argument)
{
    struct scene *scene = argument;
    uint8_t *destination = scene->copy.direction == HAL_TO_LOCAL ? scene->copy.local : scene->copy.external;
    scene->open = hal_dma_open(&scene->ticket);
    scene->start = hal_dma_copy(scene->ticket, &scene->copy);
    if (scene->second.runs)
        scene->second_start = hal_dma_copy(scene->ticket, &scene->second);
    scene->before_wait = look(destination);
    if (scene->meddle)
        scene->meddle(scene);
    scene->wait = hal_dma_wait(scene->ticket);
    scene->after_wait = look(destination);
}

static struct scene new_scene(enum hal_host_timing timing)
{
    fresh_hal(timing, 1);
    struct scene scene = {.l1 = reserve(HAL_L1, BYTES), .l2 = reserve(HAL_L2, BYTES)};
    fill_pattern(scene.l2, BYTES, 3);
    memset(scene.l1, 0, BYTES);
    scene.copy = copy_1d(scene.l1, scene.l2, BYTES, HAL_TO_LOCAL);
    return scene;
}

static void late_copy_poisons_until_the_wait(void)
{
    struct scene scene = new_scene(HAL_HOST_LATE);
    EXPECT_EQUAL(run_on(1, copy_and_wait, &scene), DORY_OK);
    EXPECT_EQUAL(scene.start, DORY_OK);
    EXPECT_EQUAL(scene.before_wait, HAL_HOST_POISON);
    EXPECT_EQUAL(scene.wait, DORY_OK);
    EXPECT_BYTES(scene.l1, scene.l2, BYTES);
}

static void early_copy_is_there_at_once(void)
{
    struct scene scene = new_scene(HAL_HOST_EARLY);
    EXPECT_EQUAL(run_on(1, copy_and_wait, &scene), DORY_OK);
    EXPECT_EQUAL(scene.before_wait, 3);
    EXPECT_BYTES(scene.l1, scene.l2, BYTES);
}

static void copy_out_of_l1(void)
{
    struct scene scene = new_scene(HAL_HOST_LATE);
    fill_pattern(scene.l1, BYTES, 90);
    scene.copy.direction = HAL_FROM_LOCAL;
    EXPECT_EQUAL(run_on(1, copy_and_wait, &scene), DORY_OK);
    EXPECT_EQUAL(scene.before_wait, HAL_HOST_POISON);
    EXPECT_EQUAL(scene.after_wait, 90);
    EXPECT_BYTES(scene.l1, scene.l2, BYTES);
}

/* ---- the seed ---------------------------------------------------------------------------------------------- */

struct choices {
    uint8_t *l1, *l2;
    uint32_t late; /* bit i: copy i */
};

static void make_choices(void *argument)
{
    struct choices *choices = argument;
    for (unsigned i = 0; i < 32; i++) {
        hal_dma_ticket ticket;
        struct hal_dma_copy copy = copy_1d(choices->l1, choices->l2, 1, HAL_TO_LOCAL);
        hal_dma_open(&ticket);
        hal_dma_copy(ticket, &copy);
        choices->late |= (uint32_t)(look(choices->l1) == HAL_HOST_POISON) << i;
        hal_dma_wait(ticket);
    }
}

static uint32_t choices_of_seed(uint64_t seed)
{
    fresh_hal(HAL_HOST_MIXED, seed);
    struct choices choices = {.l1 = reserve(HAL_L1, 1), .l2 = reserve(HAL_L2, 1)};
    *choices.l2 = 1;
    EXPECT_EQUAL(run_on(1, make_choices, &choices), DORY_OK);
    return choices.late;
}

static void seed_decides_and_repeats(void)
{
    uint32_t first = choices_of_seed(5);
    EXPECT_EQUAL(first, choices_of_seed(5));
    EXPECT_THAT(first != choices_of_seed(6));
    EXPECT_THAT(first != 0);
    EXPECT_THAT(first != UINT32_MAX);
    struct hal_host_counters counters;
    hal_host_get_counters(&counters);
    EXPECT_EQUAL(counters.late + counters.early, 32);
    EXPECT_EQUAL(counters.dma_bytes_to_local, 32);
    EXPECT_EQUAL(counters.calls[HAL_HOST_DMA_COPY], 32);
}

/* ---- changes in flight ------------------------------------------------------------------------------------- */

static void change_source(struct scene *scene) { change(scene->l2 + BYTES - 1); }
static void change_destination(struct scene *scene) { change(scene->l1 + 5); }

static void check_meddling(enum hal_host_timing timing, void (*meddle)(struct scene *scene))
{
    struct scene scene = new_scene(timing);
    scene.meddle = meddle;
    EXPECT_EQUAL(run_on(1, copy_and_wait, &scene), DORY_OK);
    EXPECT_EQUAL(scene.start, DORY_OK);
    EXPECT_EQUAL(scene.wait, DORY_ERROR_DMA);
    EXPECT_EQUAL(violations(), 1);
}

static void changes_in_flight_are_reported(void)
{
    check_meddling(HAL_HOST_LATE, change_source);
    check_meddling(HAL_HOST_EARLY, change_source);
    check_meddling(HAL_HOST_LATE, change_destination);
    check_meddling(HAL_HOST_EARLY, change_destination);
}

/* ---- overlap ----------------------------------------------------------------------------------------------- */

static int second_start(struct hal_dma_copy first, struct hal_dma_copy second, struct scene scene)
{
    scene.copy = first;
    scene.second = second;
    EXPECT_EQUAL(run_on(1, copy_and_wait, &scene), DORY_OK);
    EXPECT_EQUAL(scene.start, DORY_OK);
    EXPECT_EQUAL(scene.wait, DORY_OK);
    return scene.second_start;
}

static void overlaps_in_flight_are_refused(void)
{
    struct scene scene = new_scene(HAL_HOST_MIXED);
    uint8_t *l1 = scene.l1, *l2 = scene.l2;
    /* two writers of one byte; a writer where another reads; a reader where another writes */
    EXPECT_EQUAL(DORY_ERROR_DMA,
                 second_start(copy_1d(l1, l2, 16, HAL_TO_LOCAL), copy_1d(l1 + 15, l2 + 32, 8, HAL_TO_LOCAL), scene));
    EXPECT_EQUAL(DORY_ERROR_DMA,
                 second_start(copy_1d(l1, l2, 16, HAL_TO_LOCAL), copy_1d(l1 + 32, l2 + 15, 8, HAL_FROM_LOCAL), scene));
    EXPECT_EQUAL(DORY_ERROR_DMA,
                 second_start(copy_1d(l1, l2, 16, HAL_TO_LOCAL), copy_1d(l1 + 8, l2 + 32, 8, HAL_FROM_LOCAL), scene));
    /* neighbours, and two readers of one byte, are no overlap */
    EXPECT_EQUAL(DORY_OK,
                 second_start(copy_1d(l1, l2, 16, HAL_TO_LOCAL), copy_1d(l1 + 16, l2 + 16, 8, HAL_TO_LOCAL), scene));
    EXPECT_EQUAL(DORY_OK,
                 second_start(copy_1d(l1, l2, 16, HAL_TO_LOCAL), copy_1d(l1 + 16, l2 + 8, 16, HAL_TO_LOCAL), scene));
    EXPECT_EQUAL(violations(), 3);
}

static void interleaved_runs_do_not_overlap(void)
{
    struct scene scene = new_scene(HAL_HOST_MIXED);
    struct hal_dma_copy even = {.local = scene.l1,
                                .external = scene.l2,
                                .run_bytes = 4,
                                .runs = 8,
                                .planes = 1,
                                .local_run_stride = 4,
                                .external_run_stride = 8,
                                .direction = HAL_FROM_LOCAL};
    struct hal_dma_copy odd = even;
    odd.local = scene.l1 + 32;
    odd.external = scene.l2 + 4;
    fill_pattern(scene.l1, BYTES, 1);
    EXPECT_EQUAL(second_start(even, odd, scene), DORY_OK);
    for (unsigned run = 0; run < 8; run++) {
        EXPECT_BYTES(scene.l2 + 8 * run, scene.l1 + 4 * run, 4);
        EXPECT_BYTES(scene.l2 + 8 * run + 4, scene.l1 + 32 + 4 * run, 4);
    }
}

/* ---- bounds ------------------------------------------------------------------------------------------------ */

static int start_status(struct scene scene, struct hal_dma_copy copy)
{
    struct scene here = scene;
    here.copy = copy;
    here.copy.runs = copy.runs ? copy.runs : 1;
    EXPECT_EQUAL(run_on(1, copy_and_wait, &here), DORY_OK);
    return here.start;
}

static void bounds_of_reservations(void)
{
    static uint8_t elsewhere[BYTES];
    struct scene scene = new_scene(HAL_HOST_MIXED);
    uint8_t *l1 = scene.l1, *l2 = scene.l2;
    reserve(HAL_L1, BYTES); /* a neighbour: the copy must not run into it either */
    EXPECT_EQUAL(DORY_OK, start_status(scene, copy_1d(l1, l2, BYTES, HAL_TO_LOCAL)));
    EXPECT_EQUAL(DORY_ERROR_DMA, start_status(scene, copy_1d(l1 + 1, l2, BYTES, HAL_TO_LOCAL)));
    EXPECT_EQUAL(DORY_ERROR_DMA, start_status(scene, copy_1d(l1, l2 + 1, BYTES, HAL_TO_LOCAL)));
    EXPECT_EQUAL(DORY_ERROR_DMA, start_status(scene, copy_1d(l2, l1, BYTES, HAL_FROM_LOCAL)));
    EXPECT_EQUAL(DORY_ERROR_DMA, start_status(scene, copy_1d(l1, elsewhere, 8, HAL_TO_LOCAL)));
    struct hal_dma_copy huge = {.local = l1,
                                .external = l2,
                                .run_bytes = 8,
                                .runs = UINT32_MAX,
                                .planes = UINT32_MAX,
                                .external_run_stride = UINT32_MAX,
                                .external_plane_stride = UINT32_MAX};
    EXPECT_EQUAL(DORY_ERROR_DMA, start_status(scene, huge));
}

static void registered_memory_is_legal(void)
{
    static uint8_t mine[BYTES];
    struct scene scene = new_scene(HAL_HOST_MIXED);
    EXPECT_EQUAL(hal_host_register_memory(HAL_L2, mine, sizeof mine), DORY_OK);
    EXPECT_EQUAL(hal_host_register_memory(HAL_L2, mine + 1, 2), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(start_status(scene, copy_1d(scene.l1, mine, BYTES, HAL_TO_LOCAL)), DORY_OK);
    EXPECT_EQUAL(hal_host_unregister_memory(mine), DORY_OK);
    EXPECT_EQUAL(hal_host_unregister_memory(mine), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(start_status(scene, copy_1d(scene.l1, mine, BYTES, HAL_TO_LOCAL)), DORY_ERROR_DMA);
}

static void counts_and_pointers_are_checked(void)
{
    struct scene scene = new_scene(HAL_HOST_MIXED);
    struct hal_dma_copy nothing = copy_1d(scene.l1, scene.l2, 0, HAL_TO_LOCAL);
    EXPECT_EQUAL(start_status(scene, nothing), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_dma_copy(1, NULL), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(hal_dma_open(NULL), DORY_ERROR_ARGUMENT);
}

/* ---- tickets ----------------------------------------------------------------------------------------------- */

struct tickets {
    uint8_t *l1, *l2;
    int opened, ninth, stale_copy, wait, second_wait, foreign_wait;
    hal_dma_ticket shared;
};

static void use_all_tickets(void *argument)
{
    struct tickets *tickets = argument;
    hal_dma_ticket ticket[HAL_DMA_TICKETS], ninth;
    for (int i = 0; i < HAL_DMA_TICKETS; i++)
        tickets->opened += hal_dma_open(&ticket[i]) == DORY_OK;
    tickets->ninth = hal_dma_open(&ninth);
    struct hal_dma_copy copy = copy_1d(tickets->l1, tickets->l2, 1, HAL_TO_LOCAL);
    tickets->stale_copy = hal_dma_copy(ticket[0], &copy);
    for (int i = 0; i < HAL_DMA_TICKETS; i++)
        tickets->wait |= hal_dma_wait(ticket[i]);
    tickets->second_wait = hal_dma_wait(ticket[0]);
}

static void tickets_are_limited_and_single_use(void)
{
    fresh_hal(HAL_HOST_MIXED, 1);
    struct tickets tickets = {.l1 = reserve(HAL_L1, 1), .l2 = reserve(HAL_L2, 1)};
    EXPECT_EQUAL(run_on(1, use_all_tickets, &tickets), DORY_OK);
    EXPECT_EQUAL(tickets.opened, HAL_DMA_TICKETS);
    EXPECT_EQUAL(tickets.ninth, DORY_ERROR_DMA);
    EXPECT_EQUAL(tickets.stale_copy, DORY_ERROR_DMA); /* not the one opened last */
    EXPECT_EQUAL(tickets.wait, DORY_OK);
    EXPECT_EQUAL(tickets.second_wait, DORY_ERROR_DMA);
}

static void wait_for_anothers_ticket(void *argument)
{
    struct tickets *tickets = argument;
    if (hal_core_id() == 0)
        tickets->opened = hal_dma_open(&tickets->shared);
    hal_barrier();
    if (hal_core_id() == 1)
        tickets->foreign_wait = hal_dma_wait(tickets->shared);
    hal_barrier();
    if (hal_core_id() == 0)
        tickets->wait = hal_dma_wait(tickets->shared);
}

static void only_the_opener_waits(void)
{
    fresh_hal(HAL_HOST_MIXED, 1);
    struct tickets tickets = {0};
    EXPECT_EQUAL(run_on(2, wait_for_anothers_ticket, &tickets), DORY_OK);
    EXPECT_EQUAL(tickets.foreign_wait, DORY_ERROR_DMA);
    EXPECT_EQUAL(tickets.wait, DORY_OK);
}

static void never_wait(void *argument)
{
    struct scene *scene = argument;
    scene->open = hal_dma_open(&scene->ticket);
    scene->start = hal_dma_copy(scene->ticket, &scene->copy);
}

static void forgotten_ticket_fails_the_run(void)
{
    struct scene scene = new_scene(HAL_HOST_LATE);
    EXPECT_EQUAL(run_on(1, never_wait, &scene), DORY_ERROR_DMA);
    /* nothing of it stays behind */
    EXPECT_EQUAL(run_on(1, copy_and_wait, &scene), DORY_OK);
    EXPECT_EQUAL(scene.wait, DORY_OK);
    EXPECT_EQUAL(hal_memory_reset(), DORY_OK);
}

static void fabric_controller_has_no_dma(void)
{
    struct scene scene = new_scene(HAL_HOST_MIXED);
    EXPECT_EQUAL(hal_dma_open(&scene.ticket), DORY_ERROR_DMA);
    EXPECT_EQUAL(hal_dma_copy(1, &scene.copy), DORY_ERROR_DMA);
    EXPECT_EQUAL(hal_dma_wait(1), DORY_ERROR_DMA);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(late_copy_poisons_until_the_wait),
        TEST(early_copy_is_there_at_once),
        TEST(copy_out_of_l1),
        TEST(seed_decides_and_repeats),
        TEST(changes_in_flight_are_reported),
        TEST(overlaps_in_flight_are_refused),
        TEST(interleaved_runs_do_not_overlap),
        TEST(bounds_of_reservations),
        TEST(registered_memory_is_legal),
        TEST(counts_and_pointers_are_checked),
        TEST(tickets_are_limited_and_single_use),
        TEST(only_the_opener_waits),
        TEST(forgotten_ticket_fails_the_run),
        TEST(fabric_controller_has_no_dma),
    };
    return RUN_TESTS("host HAL: DMA", tests, NULL);
}
