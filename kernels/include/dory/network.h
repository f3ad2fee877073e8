/* The data that a generated network consists of, and the tile loop's view of it.
 *
 * The generator emits constants of these types and nothing else ("emit data, not code"); tests build the same
 * structs in memory and run them in the same process, without a compiler in between.
 *
 *   struct dory_network     steps, transfers, layers; what <net>_run executes
 *     struct dory_transfer  one copy between L3 and L2, in the order of the queue
 *     struct dory_step      one part of a layer: a range of output rows and channels, and the L2 windows it works on
 *       struct dory_layer   what all steps of a layer share (dory/layer.h)
 *         struct dory_tile  what a kernel gets: one tile that lies in L1
 */
#ifndef DORY_FIRMWARE_NETWORK_H
#define DORY_FIRMWARE_NETWORK_H

#include "dory/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dory_prepared_tile;
struct dory_driver;

/* ---- one step ---------------------------------------------------------------------------------------------- */

/* A part of a tensor that lies in L2: rows first_row .. first_row + rows - 1, channels first_channel .. + channels - 1,
 * all columns, as [rows][width][channels] elements, or [channels][rows][width] in CHW, from byte `offset` of the L2 arena.
 *
 * It may be a *ring* of rows, in which row r has the place of row r - rows: a step that reads rows behind the last one finds
 * them from the first place on, up to 2 * rows - 1 rows behind first_row. So layers that take turns, a stripe of one and
 * then a stripe of the next, need no more of the tensor between them than a stripe and what overlaps. What a step writes,
 * and what a layer with two inputs reads, does not go round: each is one copy. */
struct dory_window {
    uint32_t offset;
    uint16_t first_row, rows;
    uint16_t first_channel, channels;
};

/* The output rows and channels that a step computes (all columns), and where its operands are in L2. */
struct dory_step {
    const struct dory_layer *layer;
    uint16_t first_row, rows;
    uint16_t first_channel, channels; /* first_channel is a multiple of 4 */
    struct dory_window input[2];      /* [1]: layers with two inputs only */
    struct dory_window output;
    uint32_t weights_offset;    /* in the L2 arena, or in the network's linked weights: the block of first_channel */
    uint16_t transfers_awaited; /* transfers[0 .. n-1] are complete before this step reads or writes anything; where it does
                                 * not drain, they have been started by an earlier step */
    uint16_t transfers_started; /* transfers[0 .. n-1] may start when this step starts to compute: some with each tile */
    uint8_t drain;              /* all results of the steps before are in L2 before anything of this step happens */
    uint8_t last_of_layer;      /* the layer's output is complete after this step */
    uint16_t layer_number; /* among the network's, in the order in which they are completed: that of profiles and observers.
                            * The steps of a layer may lie among those of others */
    uint8_t weights_are_early; /* the first step of a layer: in L1, weights[0] of its map is where nothing of the layer
                                * before lies when that one's last tile is computed; the first weights may come beside it */
};

/* One copy between L3 and L2; transfers are queued in the order of the table and done in that order. */
struct dory_transfer {
    uint8_t kind; /* enum hal_l3_kind */
    uint16_t runs;
    uint32_t l3_address; /* flash: offset in the weights' image; RAM: offset in the network's part of the RAM */
    uint32_t l2_offset;
    uint32_t run_bytes;
    uint32_t l3_stride;
    uint32_t l2_stride;
};

/* A flash image starts with a header of this size: "DORY", format version, bytes of the image with header, hash, zeros; all
 * words little endian. The hash is of everything behind the header, word by word. Blobs are aligned to 8 bytes. */
#define DORY_FLASH_HEADER_BYTES 32
#define DORY_FLASH_VERSION      2
#define DORY_LOADED_BYTES       8 /* behind resident weights: the image's hash, zeros */
#define DORY_FLASH_HASH_START   2166136261u

/* FNV-1a with words for bytes, of which a fabric controller takes four times as long, and with a shift: without it, what
 * differs in the highest bit of a word stays there, and a second such word would undo it. A single word that differs always
 * shows, since each step can be undone. */
static inline uint32_t dory_flash_hash_step(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * 16777619u;
    return hash ^ hash >> 15;
}

/* ---- the network ------------------------------------------------------------------------------------------- */

/* An input or output of the network, whole. */
struct dory_port {
    uint32_t bytes;
    uint32_t offset; /* in the L2 arena, or in the network's part of the RAM where in_ram */
    uint8_t in_ram;
};

struct dory_network {
    const char *name;
    const struct dory_step *steps;
    const struct dory_transfer *transfers;
    const struct dory_port *inputs, *outputs;
    uint16_t input_count, output_count;
    uint16_t step_count, transfer_count, layer_count;
    uint16_t cores;    /* the plan is made for so many; runs on fewer, and on more, of which the others idle */
    uint32_t l1_bytes; /* least size of the caller's buffers */
    uint32_t l2_bytes;
    uint32_t ram_bytes;   /* of L3 RAM that activations need */
    uint32_t flash_bytes; /* of the weights' image, a multiple of 8; 0 where weights are linked */
    uint32_t flash_hash;  /* of the image behind its header */

    /* Weights that stay in L2 from run to run, the first of the image behind its header: dory_network_load brings them to
     * the end of the arena, and behind them writes DORY_LOADED_BYTES by which a run sees that they are there. */
    uint32_t resident_offset, resident_bytes; /* in the arena; both multiples of 8; 0 bytes: none */

    const uint8_t *weights; /* not null: all of them, linked into the program, and there is no image in flash */

    /* How a run goes, one of those below; by a name, so that a program has what its networks need and nothing else. */
    void (*run)(struct dory_driver *driver);
    const struct dory_prepared_tile *tiles; /* for dory_run_table: of all steps (dory/prepared.h) */
};

void dory_run_tiles(struct dory_driver *driver);  /* the driver places tiles as it goes */
void dory_run_table(struct dory_driver *driver);  /* the cores take them from the table */
void dory_run_layers(struct dory_driver *driver); /* nothing of any tile is copied */

/* Bytes `first` and up, counted in HWC, of a tensor that lies in CHW; plane_bytes is its height times its width. */
static inline void dory_read_chw(const uint8_t *tensor, uint32_t plane_bytes, uint32_t channels, uint32_t first, uint8_t *to,
                                 uint32_t bytes)
{
    uint32_t pixel = first / channels, channel = first % channels;
    for (uint32_t i = 0; i < bytes; i++) {
        to[i] = tensor[channel * plane_bytes + pixel];
        if (++channel == channels) {
            channel = 0;
            pixel++;
        }
    }
}

/* 32-bit words of the layer's constants, those of a table of bytes apart. */
static inline uint32_t dory_list_words(const struct dory_layer *layer)
{
    uint32_t thresholds = layer->normalisation == DORY_NORMALISE_THRESHOLDS ? DORY_THRESHOLDS : 0;
    switch (layer->operation) {
    case DORY_TABLE: return 0;
    case DORY_ADDITION:
    case DORY_MULTIPLICATION: return thresholds ? thresholds : dory_table_bytes(layer) / 4;
    case DORY_COPY:
        return layer->constants.map ? (uint32_t)layer->output_height + layer->output_width + layer->output_channels : 0;
    case DORY_SOFTMAX: return 256 + thresholds;
    case DORY_QUOTIENT:
    case DORY_SQUARED_DIFFERENCE: return 512;
    case DORY_LSTM: return layer->lstm.words;
    case DORY_NORM: return layer->norm.words;
    case DORY_INTERPOLATION:
        return ((uint32_t)layer->output_height * layer->interpolation.row_pairs +
                (uint32_t)layer->output_width * layer->interpolation.column_pairs) *
                   4 +
               thresholds;
    default: return thresholds;
    }
}

#ifdef __cplusplus
}
#endif

#endif
