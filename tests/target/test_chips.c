/* Chips that do not exist: plans for them are proven by the check pass and executed on the host HAL, exact.
 *
 * Usage: test_chips FOLDER MODEL..., where it may write. */
#include <inttypes.h>

#include "../random/random_network.h"
#include "check/check.h"
#include "emit/assemble.h"
#include "expect.h"
#include "import/load.h"
#include "network/range.h"
#include "run_plan.h"

#define RANDOM_NETWORKS 6 /* on each chip */

struct chip {
    const char *name;
    unsigned cores;
    uint32_t l1_bytes, l2_bytes;
    const char *engines;
    uint32_t dma_rate, l3_rate, speed_percent;
};

static const struct chip chips[] = {
    {"twelve cores", 12, 256 << 10, 1 << 20, "\"xpulpv2\", \"portable\"", 16000, 4000, 100},
    {"one core", 1, 16 << 10, 256 << 10, "\"portable\"", 4000, 500, 100},
    {"the largest", 16, 1 << 20, 16 << 20, "\"xpulpv2\", \"portable\"", 64000, 64000, 400},
    {"the slowest", 3, 16 << 10, 128 << 10, "\"xpulpv2\", \"portable\"", 100, 10, 5},
};

static const char *write_description(const struct chip *chip, const char *folder, struct arena *arena)
{
    const char *path = arena_format(arena, "%s/chip.json", folder);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fprintf(file,
            "{\"name\": \"%s\", \"cores\": %u, \"engines\": [%s],\n"
            " \"memory_bytes\": {\"l1\": %" PRIu32 ", \"l1_stacks\": 1024, \"l2\": %" PRIu32 ", \"l2_firmware\": 0,\n"
            "  \"flash\": 67108864, \"ram\": 8388608},\n"
            " \"cycles\": {\"dma_setup\": 10, \"dma_latency\": 16, \"dma_run_overhead\": 1, \"l3_setup\": 100,\n"
            "  \"tile_overhead\": 80, \"tile_driver\": 3700, \"step_driver\": 2000, \"layer_overhead\": 3000},\n"
            " \"bytes_per_1000_cycles\": {\"dma_read\": %" PRIu32 ", \"dma_write\": %" PRIu32 ", \"l3\": %" PRIu32 "},\n"
            " \"kernel_speed_percent\": {\"convolution\": %" PRIu32 ", \"pool\": %" PRIu32 "}}\n",
            chip->name, chip->cores, chip->engines, chip->l1_bytes, chip->l2_bytes, chip->dma_rate, chip->dma_rate,
            chip->l3_rate, chip->speed_percent, chip->speed_percent);
    REQUIRE(fclose(file) == 0);
    return path;
}

static void expect_exact(struct network *network, const struct target *target, uint64_t seed, const char *what,
                         struct arena *arena)
{
    struct diagnostics diagnostics = {.arena = arena};
    struct random random = {seed};
    struct plan plan = {0};
    struct plan_options options = {0};
    bool planned = plan_make(network, target, &options, &plan, arena, &diagnostics) &&
                   layout_weights(&plan, arena, &diagnostics) && plan_check(&plan, &diagnostics);
    EXPECT(planned, "%s on '%s': %s", what, target->name, diagnostics.count ? diagnostics.list[0].text : "");
    if (!planned)
        return;
    EXPECT(plan.cores == target->cores, "%u cores", plan.cores);
    struct run_plan_options run = {.cores = target->cores, .seed = seed};
    struct run_plan_result result = run_plan(&plan, random_inputs(&random, network, arena), &run);
    EXPECT(result.exact, "%s on '%s': %s", what, target->name, result.message);
}

static void try_models(const struct target *target, char **models, int count)
{
    for (int i = 0; i < count; i++) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        struct network *network = network_load(models[i], NULL, &arena, &diagnostics);
        REQUIRE(network && range_prove(network, NULL, &arena, &diagnostics));
        expect_exact(network, target, 1, models[i], &arena);
        arena_free(&arena);
    }
}

static void try_random_networks(const struct target *target)
{
    for (uint64_t seed = 1; seed <= RANDOM_NETWORKS; seed++) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        struct random random = {seed};
        struct network *network = random_graph(&random, &arena);
        if (range_prove(network, NULL, &arena, &diagnostics))
            expect_exact(network, target, seed, arena_format(&arena, "random graph %d", (int)seed), &arena);
        arena_free(&arena);
    }
}

int main(int argc, char **argv)
{
    REQUIRE(argc > 2);
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        struct target target;
        REQUIRE(target_load(&target, write_description(&chips[i], argv[1], &arena), &arena, &diagnostics));
        try_models(&target, argv + 2, argc - 2);
        try_random_networks(&target);
        arena_free(&arena);
    }
    return expect_result("chips");
}
