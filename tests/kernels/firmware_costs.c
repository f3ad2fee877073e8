/* What the planner is told of the kernels' cycles beside what they take, for random tiles of every kernel: their
 * descriptions have constants that were fitted to usual layers, and this is how far they hold. A line a tile:
 *
 *     tile of KERNEL: CYCLES cycles, PREDICTED predicted
 */
#include "dory/hal.h"
#include "expect.h"
#include "firmware_case.h"
#include "firmware_cases.h"

#define CORES        8
#define TILES        8 /* a kernel */
#define FIRST_ROUND  1000
#define MAXIMUM_MACS 40000

static struct test_case test;

/* Chunks of input channels are left out: what they take depends on which of them it is. */
static bool is_wanted(void)
{
    bool is_chunk = dory_reads_all_channels(&test.layer) && test.tile.input_channels != test.layer.input_channels;
    return test_case_fits(&test, LOCAL_BYTES) && test.tile.first_chunk && test.tile.last_chunk && !is_chunk;
}

static void measure(void)
{
    uint32_t cycles = 0;
    EXPECT(firmware_case_run(&test, HAL_NOT_IN_FLASH, &cycles), "%s", test.description->name);
    printf("tile of %s: %lu cycles, %lu predicted\n", test.description->name, (unsigned long)cycles,
           (unsigned long)test.description->cycles(&test.layer, &test.shape, CORES));
}

/* Kernels take turns with the seeds, see test_case_random. */
static void measure_kernel(uint32_t kernel, uint32_t kernels)
{
    for (uint32_t round = FIRST_ROUND, tiles = 0; tiles < TILES && round < FIRST_ROUND + 4 * TILES; round++) {
        test_case_random(&test, round * kernels + kernel, MAXIMUM_MACS);
        test.cores = CORES;
        if (is_wanted()) {
            measure();
            tiles++;
        }
    }
}

int main(void)
{
    uint32_t kernels = 0;
    int status = firmware_case_open(CORES);
    if (status != 0) {
        return status;
    }
    while (dory_xpulpv2_engine.kernels[kernels]) {
        kernels++;
    }
    for (uint32_t kernel = 0; kernel < kernels; kernel++) {
        measure_kernel(kernel, kernels);
    }
    firmware_case_close();
    return expect_result("predicted cycles of kernels");
}
