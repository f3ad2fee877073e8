/* The kernels on the hardware they are for: random layers against the portable kernels, bit for bit, then a table of usual
 * layers with cycles measured and predicted. All operands lie in L1; no DMA runs. Without a file of firmware_cases.h in
 * flash (KERNEL_OUTPUTS_IN_FLASH) the controller finds the random layers, and the cluster computes what those of the table
 * give. */
#include "dory/hal.h"
#include "expect.h"
#include "firmware_case.h"
#include "firmware_cases.h"

#define CORES 8

/* The largest error of a prediction for a layer of the table: per cent, and cycles. The cycles are what the place of the
 * code moves a short layer by: at some places, functions share sets of the instruction cache that do not at others. */
#ifndef WORST_PREDICTION
#define WORST_PREDICTION 10
#endif
#define PLACE_CYCLES 150

#ifdef KERNEL_OUTPUTS_IN_FLASH
extern const uint8_t kernel_outputs[];
#else
static const uint8_t kernel_outputs[1]; /* which is not in flash */
#endif

static struct test_case test;

static struct random_start start DORY_L2; /* one at a time: L2 is full of kernels */

/* The portable kernels, too, run on the cluster. */
static void run_random_cases(uint32_t outputs)
{
    bool has_starts = outputs != HAL_NOT_IN_FLASH;
    for (uint32_t i = 0; i < RANDOM_CASES && expect_failures < 10; i++) {
        uint32_t cycles;
        if (!has_starts) {
            find_random_case(&test, i);
        } else if (!firmware_case_read(outputs + i * (uint32_t)sizeof start, &start, sizeof start) ||
                   !test_case_again(&test, start.seed, start.start, RANDOM_MACS)) {
            EXPECT(false, "write_kernel_outputs is of another tree");
            return;
        }
        EXPECT(firmware_case_run(&test, HAL_NOT_IN_FLASH, &cycles), "random layer %u", (unsigned)i);
    }
}

static void measure(const struct test_shape *shape, unsigned cores, uint32_t outputs)
{
    test_case_of(&test, shape, cores);
    uint32_t taken;
    EXPECT(firmware_case_run(&test, outputs, &taken), "%s", shape->name);
    long predicted = (long)test.description->cycles(&test.layer, &test.shape, cores), cycles = (long)taken;
    long error = (predicted - cycles) * 100 / cycles, rate = (long)(test.macs * 1000 / (uint64_t)cycles);
    printf("%-42s  %u %8ld %8ld %+5ld %% %4ld.%03ld\n", shape->name, cores, cycles, predicted, error, rate / 1000,
           rate % 1000);
    EXPECT(labs(predicted - cycles) <= cycles * WORST_PREDICTION / 100 + PLACE_CYCLES,
           "the prediction for %s is off by more than %d %% and %d cycles", shape->name, WORST_PREDICTION, PLACE_CYCLES);
}

/* The whole table on all cores; of its second layer, more cores and more. */
static void measure_all(uint32_t outputs)
{
    uint32_t second_outputs = outputs;
    printf("%-42s  cores cycles predicted error MAC/cycle\n", "layer in L1");
    for (size_t i = 0; i < test_shape_count; i++) {
        second_outputs = i == 1 ? outputs : second_outputs;
        measure(&test_shapes[i], CORES, outputs);
        outputs += outputs == HAL_NOT_IN_FLASH ? 0 : dory_round_up(test.output_bytes, 4);
    }
    for (unsigned cores = 1; cores <= CORES; cores *= 2) {
        measure(&test_shapes[1], cores, second_outputs);
    }
}

int main(void)
{
    int status = firmware_case_open(CORES);
    if (status != 0) {
        return status;
    }
    uint32_t outputs = hal_flash_address(kernel_outputs);
    run_random_cases(outputs);
    measure_all(outputs == HAL_NOT_IN_FLASH ? outputs : outputs + RANDOM_CASES * (uint32_t)sizeof start);
    firmware_case_close();
    return expect_result("kernels on the cluster");
}
