/* Target descriptions: the built-in ones load; a key too many, too few or of the wrong kind is an error that names it.
 * Usage: test_target FOLDER, where it may write. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "target/target.h"

static const char *const sound =
    "{\"name\": \"mine\", \"cores\": 4, \"engines\": [\"portable\"],\n"
    " \"memory_bytes\": {\"l1\": 1000, \"l1_stacks\": 100, \"l2\": 5000, \"l2_firmware\": 50, \"flash\": 9, \"ram\": 8},\n"
    " \"cycles\": {\"dma_setup\": 1, \"dma_latency\": 2, \"dma_run_overhead\": 3, \"l3_setup\": 4, \"tile_overhead\": 5,\n"
    "            \"tile_driver\": 11,\n"
    "            \"step_driver\": 6, \"layer_overhead\": 7},\n"
    " \"bytes_per_1000_cycles\": {\"dma_read\": 8, \"dma_write\": 9, \"l3\": 10}}\n";

/* In place of the last group; the points are lines 8 and 10. */
#define POWER(low, high_mhz)                                                                                                \
    "\"l3\": 10}, \"power\":\n{\"controller_percent\": 20, \"low\":\n{\"source\": \"a\",\n" low                             \
    "},\n\"high\": {\"source\": \"b\", \"millivolts\": 2, \"microwatts\": 5, \"mhz\": " high_mhz "}}"

/* The sound description with one piece of text exchanged. */
static char *changed(struct arena *arena, const char *from, const char *to)
{
    const char *at = strstr(sound, from);
    return arena_format(arena, "%.*s%s%s", (int)(at - sound), sound, to, at + strlen(from));
}

static bool load_text(const char *folder, const char *text, struct target *target, struct arena *arena,
                      struct diagnostics *diagnostics)
{
    const char *path = arena_format(arena, "%s/target.json", folder);
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        exit(2);
    return target_load(target, path, arena, diagnostics);
}

static void expect_error(const char *folder, const char *from, const char *to, const char *attribute, const char *words)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    bool loaded = load_text(folder, changed(&arena, from, to), &target, &arena, &diagnostics);
    EXPECT(!loaded && diagnostics.error_count > 0, "'%s' instead of '%s'", to, from);
    if (diagnostics.count > 0) {
        const struct diagnostic *first = &diagnostics.list[0];
        EXPECT(first->attribute && !strcmp(first->attribute, attribute), "%s: %s", first->attribute, attribute);
        EXPECT(strstr(first->text, words), "'%s' is not in: %s", words, first->text);
    }
    arena_free(&arena);
}

static void test_sound(const char *folder)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    EXPECT(load_text(folder, sound, &target, &arena, &diagnostics), "the sound one");
    EXPECT(target.cores == 4 && target.l1_stack_bytes == 100 && target.l3_bytes_per_1000_cycles == 10 &&
               target.engines[0] == &dory_portable_engine && !target.engines[1],
           "values");
    EXPECT(!strcmp(target.name, "mine"), "%s", target.name);
    arena_free(&arena);
}

/* A kernel that is twice as fast takes half the cycles, rounded up; what is not said is as fast as dory's. */
static void test_speeds(const char *folder)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    char *text = changed(&arena, "\"l3\": 10}", "\"l3\": 10}, \"kernel_speed_percent\": {\"depthwise\": 200}");
    EXPECT(load_text(folder, text, &target, &arena, &diagnostics), "speeds");
    struct dory_layer depthwise = {.operation = DORY_DEPTHWISE}, pool = {.operation = DORY_AVERAGE_POOL};
    EXPECT_EQUAL(target_kernel_cycles(&target, &depthwise, 1001), 501);
    EXPECT_EQUAL(target_kernel_cycles(&target, &pool, 1001), 1001);
    arena_free(&arena);
}

static void test_built_in(void)
{
    static const char *const names[] = {"host", "virt", "gap8"};
    for (int i = 0; i < 3; i++) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        struct target target;
        EXPECT(target_load(&target, names[i], &arena, &diagnostics) && !strcmp(target.name, names[i]), "%s", names[i]);
        EXPECT(target.l1_bytes == 65536 && target.l2_bytes == 524288 && target.cores == 8, "%s", names[i]);
        arena_free(&arena);
    }
}

/* The same kernels in more memory. */
static void test_larger_chips(void)
{
    static const struct {
        const char *name;
        uint32_t l1_bytes, l2_bytes, weight_memory_bytes;
    } chips[] = {{"siracusa", 256 * 1024, 1984 * 1024, 8 * 1024 * 1024}, {"pulp_open", 64 * 1024, 1536 * 1024, 0}};
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        struct target target;
        EXPECT(target_load(&target, chips[i].name, &arena, &diagnostics) && target.cores == 8, "%s", chips[i].name);
        EXPECT(target.l1_bytes == chips[i].l1_bytes && target.l2_bytes == chips[i].l2_bytes, "%s", chips[i].name);
        EXPECT(target.weight_memory_bytes == chips[i].weight_memory_bytes, "%s", chips[i].name);
        arena_free(&arena);
    }
}

/* One core, flash that is read where it lies; one has RAM. */
static void test_cortexm(void)
{
    static const char *const names[] = {"cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "rp2350", "stm32h7"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct arena arena = {0};
        struct diagnostics diagnostics = {.arena = &arena};
        struct target target;
        EXPECT(target_load(&target, names[i], &arena, &diagnostics) && !strcmp(target.name, names[i]), "%s", names[i]);
        EXPECT(target.cores == 1 && target.constants_in_flash == 1, "%s", names[i]);
        EXPECT((target.ram_bytes != 0) == !strcmp(names[i], "stm32h7"), "%s", names[i]);
        arena_free(&arena);
    }
}

static void test_unknown(void)
{
    struct arena arena = {0};
    struct diagnostics diagnostics = {.arena = &arena};
    struct target target;
    EXPECT(!target_load(&target, "gap9", &arena, &diagnostics), "gap9");
    EXPECT(strstr(diagnostics.list[0].text, "gap8"), "%s", diagnostics.list[0].text);
    EXPECT(!target_load(&target, "/no/such/file.json", &arena, &diagnostics), "no file");
    arena_free(&arena);
}

/* A sound description in which one text is another: the key that the message names, and what it says. */
static void test_errors(const char *folder)
{
    static const struct {
        const char *text, *other, *key, *message;
    } errors[] = {
        {"\"cores\": 4, ", "", "cores", "missing"},
        {"\"l3_setup\": 4, ", "", "l3_setup", "missing"},
        {"\"cores\": 4", "\"cores\": 4, \"coers\": 4", "coers", "unknown"},
        {"\"ram\": 8", "\"ram\": 8, \"rom\": 8", "rom", "unknown"},
        {"\"cores\": 4", "\"cores\": 0", "cores", "whole number"},
        {"\"cores\": 4", "\"cores\": 2.5", "cores", "whole number"},
        {"\"cores\": 4", "\"cores\": \"4\"", "cores", "whole number"},
        {"\"l3\": 10", "\"l3\": 0", "l3", "whole number"},
        {"\"engines\": [\"portable\"]", "\"engines\": true", "engines", "list of engines"},
        {"\"engines\": [\"portable\"]", "\"engines\": []", "engines", "xpulpv2, armv7em, mve, neureka, portable"},
        {"[\"portable\"]", "[\"portable\", \"neural\"]", "engines", "'neural' is no engine"},
        {"[\"portable\"]", "[\"portable\", \"portable\"]", "engines", "twice"},
        {"[\"portable\"]", "[\"portable\", 7]", "engines", "is no engine"},
        {"\"engines\": [\"portable\"],", "", "engines", "missing"},
        {"\"mine\"", "\"\"", "name", "text"},
        {"\"cores\": 4", "\"cores\": 4, \"cores\": 8", "target", "line 1"},
        {"\"l1_stacks\": 100", "\"l1_stacks\": 1000", "l1_stacks", "all of l1"},
        {"\"dma_read\": 8", "\"dma_read\": ", "target", "line"},
        {"\"l2\": 5000", "\"l2\": 16777217", "l2", "line 2: must be a whole number from 64 to 16777216, not"},
        {"\"l1\": 1000", "\"l1\": 1048577", "l1", "line 2: must be a whole number from 64 to 1048576, not"},
        {"\"cores\": 4", "\"cores\": 17", "cores", "line 1: must be a whole number from 1 to 16, not 17"},
        {"\"step_driver\": 6", "\"step_driver\": -6", "step_driver", "line 5"},
        {"\"dma_write\": 9, ", "", "dma_write", "line 6: is missing"},
        {"\"l3\": 10}", "\"l3\": 10},\n\"kernel_speed_percent\": {\"pool\": 0}", "pool", "line 7"},
        {"\"l3\": 10}", "\"l3\": 10},\n\"kernel_speed_percent\":\n {\"pol\": 50}", "pol", "line 8: unknown key"},
        {"\"l3\": 10}", "\"l3\": 10}, \"kernel_speed_percent\": 5", "kernel_speed_percent", "object"},
        {"\"l3\": 10}", "\"l3\": 10} trailing", "target", "line 6"},
        {"\"l3\": 10}", "\"l3\": 10},\n\"clock_mhz\": {\"least\": 0}", "least", "line 7"},
        {"\"l3\": 10}", "\"l3\": 10},\n\"tile_table\": {\"most_tiles\": 4}", "tile_overhead", "line 7: is missing"},
        {"\"l3\": 10}", "\"l3\": 10},\n\"controller\": {\n\"port_l3_percent\": 101}", "port_l3_percent", "line 8"},
        {"\"l3\": 10}", POWER("\"mhz\": 100, \"millivolts\": 1, \"microwatts\": 0", "200"), "microwatts",
         "line 9: must be a whole number from 1"},
        {"\"l3\": 10}", POWER("\"mhz\": 100, \"millivolts\": 1, \"microwatts\": 1", "100"), "high", "line 10"},
        {"\"l3\": 10}", POWER("\"mhz\": 100, \"millivolts\": 1", "200"), "microwatts", "line 8: is missing"},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        expect_error(folder, errors[i].text, errors[i].other, errors[i].key, errors[i].message);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    test_sound(folder);
    test_speeds(folder);
    test_built_in();
    test_larger_chips();
    test_cortexm();
    test_unknown();
    test_errors(folder);
    return expect_result("targets");
}
