/* Runs a network on the machine at hand and compares what every layer computed with expected values in flash.
 *
 * `dory generate --check` makes the table and the image of expected values; the library dory::check brings main():
 *
 *     layer 3 conv2: exact (8192 values)
 *     layer 4 conv3: differs at (0, 3, 17), tile (0, 0, 1) of step 6: expected 12, actual 13; 5 of 8192 values differ
 *     layer 5 pool: exact (2048 values)
 *     output without observer: exact (2048 values)
 *     2 exact, 1 differ
 *
 * Coordinates are row, column, channel of the first value that differs; tiles of a step are counted likewise, steps as in
 * the table of the generated source. Where there are several samples of the input, each sample's lines follow a line "sample
 * 3:". The last run has nobody look at its layers: L3 transfers overlap as in an application. Where the machine counts
 * cycles, there are two runs before it, of which the second keeps a profile, which takes some cycles a tile or a layer, and
 * the last one is timed as a whole:
 *
 *     perf layer 3 conv2: 12345 cycles, 1000 waiting for L2, 0 for L3, 8 tiles; 98304 MAC, 7.96 MAC/cycle
 *     total: 123456 cycles; 983040 MAC, 7.96 MAC/cycle; L3: 65536 bytes read, 0 written
 *
 * and, where the stacks are the HAL's, how much of each was used at most, all runs together:
 *
 *     stacks: FC 1320/12120, core 0 920/1152, core 1 880/1152, ... bytes
 */
#ifndef DORY_CHECK_H
#define DORY_CHECK_H

#include <stdint.h>

#include "dory/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of a layer's output. */
struct dory_comparison {
    uint32_t bytes, differing;     /* compared; values that differ */
    uint32_t row, column, channel; /* of the first that differs */
    int32_t expected, actual;
};

/* Where a layer's output lies after its last step, and what it should be. */
struct dory_check_layer {
    const char *name;
    uint32_t offset;          /* in the L2 arena, or in the network's part of the RAM */
    uint32_t expected_offset; /* in a sample's image of expected values, multiple of 8; there as in memory */
    uint16_t height, width, channels;
    uint8_t bits; /* of an element */
    uint8_t is_signed;
    uint8_t in_ram;
    uint16_t ring;  /* only a ring of its rows is there, compared by turns: its place in `rings`, from 1 on; else 0 */
    uint8_t layout; /* enum dory_layout, of the actual values; one in CHW is not in RAM */
    uint64_t macs;
};

struct dory_check {
    const struct dory_network *network;
    const struct dory_check_layer *layers; /* network->layer_count */
    struct dory_layer_profile *profile;    /* room for network->layer_count; null: none is wanted, nor a run for it */
    struct dory_comparison *rings;         /* one for each layer with a ring */
    const void *weights, *expected;        /* images in flash: symbols for hal_flash_address */
    uint32_t samples;                      /* images of expected values, one behind the other */
    uint32_t sample_bytes;                 /* of one, multiple of 8 */
    const uint32_t *input_offsets;         /* of the network's inputs in a sample's image, multiples of 8 */
    const uint16_t *output_layers;         /* the layers whose outputs are the network's, in its order */
};

/* FC. Opens cluster and L3, runs the network twice a sample, and twice more for the profile, prints the lines above, closes
 * everything. Returns 0, DORY_ERROR_MISMATCH where any layer differs or none was compared, or the status that ended it. */
int dory_check_run(const struct dory_check *check);

/* The table of a check program, defined by its generated source. */
extern const struct dory_check dory_check;

#ifdef __cplusplus
}
#endif

#endif
