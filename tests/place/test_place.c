/* Placement: never overlaps, never below the bound, on the bound for nearly all of many random instances. */
#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "networks.h"
#include "place/place.h"

#define INSTANCES 200

static uint32_t bound_by_steps(const struct place_item *items, int count, int steps)
{
    uint32_t most = 0;
    for (int step = 0; step < steps; step++) {
        uint32_t sum = 0;
        for (int i = 0; i < count; i++)
            if (items[i].first <= step && step <= items[i].last)
                sum += (items[i].bytes + 7) / 8 * 8;
        most = sum > most ? sum : most;
    }
    return most;
}

static void expect_apart(const struct place_item *items, int count, uint32_t peak, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        EXPECT(items[i].offset % 8 == 0 && items[i].offset + items[i].bytes <= peak, "seed %" PRIu64 ", item %d", seed, i);
        for (int j = 0; j < i; j++) {
            bool together = items[i].first <= items[j].last && items[j].first <= items[i].last;
            bool overlap =
                items[i].offset < items[j].offset + items[j].bytes && items[j].offset < items[i].offset + items[i].bytes;
            EXPECT(!(together && overlap), "seed %" PRIu64 ", items %d and %d", seed, i, j);
        }
    }
}

/* Returns whether the bound was met. */
static bool test_instance(uint64_t seed)
{
    struct arena arena = {0};
    struct network_builder random;
    builder_start(&random, &arena, seed);
    enum { STEPS = 60, MOST = 100 };
    struct place_item items[MOST], again[MOST];
    int count = 30 + (int)builder_random(&random, MOST - 30);
    for (int i = 0; i < count; i++) {
        int first = (int)builder_random(&random, STEPS), last = first + (int)builder_random(&random, 8);
        items[i] = (struct place_item){1 + builder_random(&random, 20000), first, last < STEPS ? last : STEPS - 1, 0};
    }
    memcpy(again, items, sizeof items);
    uint32_t peak = place(items, count, 8, 0, PLACE_CAREFULLY, &arena), bound = bound_by_steps(items, count, STEPS);
    EXPECT(bound == place_bound(items, count, 8), "seed %" PRIu64 ": bound %u", seed, bound);
    EXPECT(peak >= bound && peak <= bound + bound / 10, "seed %" PRIu64 ": %u bytes, bound %u", seed, peak, bound);
    expect_apart(items, count, peak, seed);
    place(again, count, 8, 0, PLACE_CAREFULLY, &arena);
    EXPECT(!memcmp(items, again, (size_t)count * sizeof *items), "seed %" PRIu64 ": a second run differs", seed);
    arena_free(&arena);
    return peak == bound;
}

int main(void)
{
    int met = 0;
    for (uint64_t seed = 1; seed <= INSTANCES; seed++)
        met += test_instance(seed);
    printf("the bound was met in %d of %d instances\n", met, INSTANCES);
    EXPECT(met >= INSTANCES * 98 / 100, "%d", met);
    struct arena arena = {0};
    EXPECT(place(NULL, 0, 8, 0, PLACE_CAREFULLY, &arena) == 0, "nothing takes no room");
    arena_free(&arena);
    return expect_result("placement");
}
