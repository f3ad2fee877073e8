/* Random layers and tiles through every kernel of an engine, on any machine, against the portable kernels.
 *
 *     random_kernels [COUNT [FIRST_SEED [ENGINE]]]
 *
 * ENGINE: xpulpv2 (at first), armv7em or mve. A firmware, which has no arguments, is compiled with them: COUNT and ENGINE.
 */
#include <string.h>

#include "case.h"
#include "expect.h"

#define MEMORY_BYTES (512u << 10)
#define MAXIMUM_MACS 40000
#if !defined(COUNT)
#define COUNT  60000
#define ENGINE "xpulpv2"
#endif

/* A plan is run on as many cores as it was made for, or on fewer. */
static bool has_scratch_for_fewer(const struct test_case *test)
{
    uint32_t planned = dory_scratch_bytes(test->description, &test->layer, &test->shape, test->cores);
    for (unsigned cores = 1; cores < test->cores; cores++) {
        if (dory_scratch_bytes(test->description, &test->layer, &test->shape, cores) > planned) {
            printf("%s: more scratch on %u cores than on %u\n", test->description->name, cores, test->cores);
            return false;
        }
    }
    return true;
}

static bool run(uint32_t seed, uint8_t *buffers)
{
    struct test_case test;
    struct test_memory memory, expected;
    test_memory_start(&memory, buffers, MEMORY_BYTES);
    test_memory_start(&expected, buffers + MEMORY_BYTES, MEMORY_BYTES);
    test_case_random(&test, seed, MAXIMUM_MACS);
    if (!test_case_place(&test, &memory, &expected)) {
        printf("seed %u: too big\n", (unsigned)seed);
        return false;
    }
    struct dory_tile expected_tile = test_case_expected_tile(&test);
    struct dory_tile tile = test.tile;
    for (unsigned step = 0; step < test_case_steps(&test); step++, expected_tile.first_row++, tile.first_row++) {
        test.reference(&test.layer, &expected_tile, 0, 1);
        for (unsigned core = 0; core < test.cores; core++) { /* in turn: cores do not depend on each other */
            test.kernel(&test.layer, &tile, core, test.cores);
        }
    }
    for (unsigned core = 0; test.finish && core < test.cores; core++) {
        test.finish(&test.layer, &test.tile, core, test.cores);
    }
    return test_case_check(&test, &memory) && has_scratch_for_fewer(&test);
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : COUNT;
    uint32_t first = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 0;
    uint8_t *buffers = malloc(2 * MEMORY_BYTES);
    REQUIRE(buffers);
    const char *engine = argc > 3 ? argv[3] : ENGINE;
    if (strcmp(engine, "xpulpv2") != 0) {
        bool is_mve = strcmp(engine, "mve") == 0;
        REQUIRE(is_mve || strcmp(engine, "armv7em") == 0);
        test_engine = is_mve ? &dory_mve_engine : &dory_armv7em_engine;
    }
    for (uint32_t seed = first; seed < first + count && expect_failures < 20; seed++) {
        EXPECT(run(seed, buffers), "seed %u", (unsigned)seed);
    }
    free(buffers);
    return expect_result("random layers by every kernel");
}
