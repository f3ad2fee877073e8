/* One layer, one tile, random data: runs a kernel for GAP8 and the portable kernel on it, and compares every byte. */
#ifndef DORY_TEST_KERNELS_CASE_H
#define DORY_TEST_KERNELS_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "dory/engine.h"
#include "dory/layer.h"

struct test_case {
    uint32_t seed, start; /* start: the state of the random numbers before the draw that gave the case */
    const struct dory_kernel_description *description;
    dory_kernel_function *kernel, *finish, *reference; /* finish: null where the kernel has one part */
    unsigned cores;
    struct dory_layer layer;
    struct dory_stages stages; /* of it */
    int32_t lists[1024];       /* likewise: what its pointers to lists point to */
    uint32_t channels_behind;  /* of the output, behind those of the tile */
    struct dory_tile tile;
    struct dory_tile_shape shape;
    const uint8_t *quads; /* the weights as the portable kernel reads them */
    uint64_t macs;
    const uint8_t *output; /* what is compared: the output, or the accumulators where the chunk is not the last */
    uint8_t *expected;
    int32_t *expected_accumulators;
    uint32_t output_bytes;
    uint32_t row_bytes, row_step; /* of the output: gaps between its rows are not written */
};

/* Memory with guards between the buffers, which are checked afterwards and are not accessible under AddressSanitizer. */
struct test_memory {
    uint8_t *start, *next, *end;
    bool full;
};

void test_memory_start(struct test_memory *memory, void *start, size_t bytes);

/* Whose kernels are tested; at the start the one for GAP8. */
extern const struct dory_engine *test_engine;

/* Makes up a layer and a tile that one of the kernels supports, of at most so many multiplications. */
void test_case_random(struct test_case *test, uint32_t seed, uint64_t most_macs);

/* The same from its start on, without the draws before, of which there are some hundred. False: it is no such start. */
bool test_case_again(struct test_case *test, uint32_t seed, uint32_t start, uint64_t most_macs);

/* A given layer: operation, shape and stride as in the tables of convolution networks, everything else as usual. */
struct test_shape {
    const char *name, *kernel;
    uint8_t operation;
    uint16_t rows, columns, channels, input_channels, kernel_size, stride;
    uint8_t normalisation;
    uint32_t
        divisor; /* for DORY_NORMALISE_CLAMPED and _DIVIDE; for _HIGH the rounding, of a softmax the largest exponential */
    uint8_t weight_bits, input_bits, output_bits; /* 0: 8, and for outputs that are not normalised 32 */
    bool writes_chw;
    uint8_t second_repeats;
    uint16_t kernel_height; /* 0: kernel_size */
    uint16_t groups;
    uint16_t dilation_width;
};
void test_case_of(struct test_case *test, const struct test_shape *shape, unsigned cores);

/* The steps of an LSTM, which its kernel computes one by one, the number of each in the tile's first_row; of all others 1.
 */
unsigned test_case_steps(const struct test_case *test);

/* Lays the buffers out and fills them; `expected` lies in the other memory. False where they do not fit. */
bool test_case_place(struct test_case *test, struct test_memory *memory, struct test_memory *expected_memory);

/* Before test_case_place: whether it would fit into so many bytes. */
bool test_case_fits(const struct test_case *test, uint32_t bytes);

/* The tile for the portable kernel, which gives `expected`. Call it, and that kernel, before the kernel under test is run,
 * for accumulators are read, too. */
struct dory_tile test_case_expected_tile(struct test_case *test);

/* Compares, and checks the guards. True where all is well; otherwise says what differs. */
bool test_case_check(const struct test_case *test, const struct test_memory *memory);

#endif
