/* Writes the file of firmware_cases.h.
 *
 *     write_kernel_outputs FILE
 */
#include <stdio.h>
#include <stdlib.h>

#include "firmware_cases.h"

#define MEMORY_BYTES (512u << 10)

static bool write_start(FILE *file, uint32_t index)
{
    struct test_case test;
    find_random_case(&test, index);
    struct random_start start = {test.seed, test.start};
    return fwrite(&start, sizeof start, 1, file) == 1;
}

static bool write_output(FILE *file, const struct test_shape *shape, uint8_t *buffers)
{
    struct test_case test;
    struct test_memory memory, expected;
    test_memory_start(&memory, buffers, MEMORY_BYTES);
    test_memory_start(&expected, buffers + MEMORY_BYTES, MEMORY_BYTES);
    test_case_of(&test, shape, 1);
    if (!test_case_place(&test, &memory, &expected)) {
        fprintf(stderr, "%s: too big\n", shape->name);
        return false;
    }
    struct dory_tile tile = test_case_expected_tile(&test);
    for (unsigned step = 0; step < test_case_steps(&test); step++, tile.first_row++) {
        test.reference(&test.layer, &tile, 0, 1);
    }
    uint32_t bytes = dory_round_up(test.output_bytes, 4); /* and of the last word what belongs to no output */
    return fwrite(test.expected, 1, bytes, file) == bytes;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
    uint8_t *buffers = malloc(2 * MEMORY_BYTES);
    bool is_well = file && buffers;
    for (uint32_t i = 0; i < RANDOM_CASES && is_well; i++) {
        is_well = write_start(file, i);
    }
    for (size_t i = 0; i < test_shape_count && is_well; i++) {
        is_well = write_output(file, &test_shapes[i], buffers);
    }
    if (file && fclose(file) != 0) {
        is_well = false;
    }
    free(buffers);
    if (!is_well) {
        fprintf(stderr, "usage: write_kernel_outputs FILE, which it can write\n");
    }
    return !is_well;
}
