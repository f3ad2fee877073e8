/* Layers and machines that nobody would ask for: whatever their numbers are, there is an answer or a reason, and nothing
 * else. Worth the most under sanitizers. Usage: test_hostile FOLDER, where it may write. */
#include "dory/cost.h"
#include "expect.h"
#include "random_layer.h"
#include "target/target.h"

#define LAYERS       1500
#define DESCRIPTIONS 1500

static uint64_t state = 1;

static uint32_t between(uint32_t least, uint32_t most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (uint32_t)((state >> 33) % ((uint64_t)most - least + 1));
}

/* Small numbers, limits, and anything. */
static uint32_t odd_number(void)
{
    static const uint32_t limits[] = {0, 1, 2, 3, 7, 255, 256, 4095, 65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    uint32_t kind = between(0, 9);
    return kind < 5   ? between(0, 20)
           : kind < 9 ? limits[between(0, sizeof limits / sizeof *limits - 1)]
                      : between(0, UINT32_MAX - 1);
}

static void test_layers(struct dory_cost_model *model)
{
    for (int i = 0; i < LAYERS; i++) {
        struct dory_cost_layer layer = random_cost_layer(between(1, 100000));
        uint32_t words[sizeof layer / sizeof(uint32_t)];
        struct dory_cost cost;
        memcpy(words, &layer, sizeof words);
        for (uint32_t changes = between(1, 6); changes > 0; changes--)
            words[between(0, sizeof words / sizeof *words - 1)] = odd_number();
        memcpy(&layer, words, sizeof words);
        bool runs = dory_cost_of(model, &layer, DORY_COST_FAST, &cost);
        EXPECT(runs ? cost.cycles > 0 && cost.l1_bytes <= 65536 : cost.reason[0] != 0, "layer %d", i);
    }
}

static void test_descriptions(const char *folder)
{
    static const char sound[] = "{\"name\": \"mine\", \"cores\": 4, \"engines\": [\"xpulpv2\", \"portable\"],\n"
                                " \"memory_bytes\": {\"l1\": 65536, \"l1_stacks\": 100, \"l2\": 500000, \"l2_firmware\": "
                                "50, \"flash\": 9, \"ram\": 8},\n"
                                " \"cycles\": {\"dma_setup\": 1, \"dma_latency\": 2, \"dma_run_overhead\": 3, \"l3_setup\": "
                                "4, \"tile_overhead\": 5,\n"
                                " \"tile_driver\": 11, \"step_driver\": 6, \"layer_overhead\": 7},\n"
                                " \"bytes_per_1000_cycles\": {\"dma_read\": 8, \"dma_write\": 9, \"l3\": 10}, "
                                "\"kernel_speed_percent\": {\"pool\": 50}}\n";
    static const char pieces[] = "{}[]\",:\\0123456789-e\n ";
    for (int i = 0; i < DESCRIPTIONS; i++) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        struct target target;
        char text[sizeof sound];
        memcpy(text, sound, sizeof text);
        for (uint32_t changes = between(1, 3); changes > 0; changes--)
            text[between(0, sizeof text - 2)] = pieces[between(0, sizeof pieces - 2)];
        const char *path = arena_format(&arena, "%s/hostile.json", folder);
        FILE *file = fopen(path, "w");
        REQUIRE(file && fwrite(text, 1, between(0, 9) ? sizeof text - 1 : between(0, sizeof text - 1), file) < sizeof text);
        REQUIRE(fclose(file) == 0);
        bool good = target_load(&target, path, &arena, &diagnostics);
        EXPECT(good == (diagnostics.error_count == 0), "description %d", i);
        arena_free(&arena);
    }
}

int main(int argc, char **argv)
{
    char message[DORY_COST_TEXT_BYTES];
    struct dory_cost_model *model = dory_cost_open("gap8", message, sizeof message);
    REQUIRE(argc == 2 && model);
    test_layers(model);
    test_descriptions(argv[1]);
    dory_cost_close(model);
    return expect_result("hostile");
}
