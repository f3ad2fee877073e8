/* What one layer costs on a machine, without a network around it: for those who search for networks.
 *
 *     char message[DORY_COST_TEXT_BYTES];
 *     struct dory_cost_model *model = dory_cost_open("gap8", message, sizeof message);
 *     struct dory_cost_layer layer;
 *     struct dory_cost cost;
 *     dory_cost_layer_start(&layer);
 *     dory_cost_layer_set(&layer, "height", "32", message, sizeof message);
 *     ...
 *     if (dory_cost_of(model, &layer, DORY_COST_EXACT, &cost))
 *         printf("%llu cycles\n", (unsigned long long)cost.cycles);
 *     else
 *         puts(cost.reason);
 *     dory_cost_close(model);
 *
 * Nothing is global: threads may share a model, or have one each, which is faster. Memory that cannot be had ends the
 * process with a message and exit status 3. */
#ifndef DORY_COST_H
#define DORY_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DORY_COST_TEXT_BYTES 256

enum dory_cost_operation {
    DORY_COST_CONVOLUTION, /* depth-wise where `groups` is the number of input and of output channels */
    DORY_COST_LINEAR,      /* reads all of its input, whatever its shape */
    DORY_COST_MAXIMUM_POOL,
    DORY_COST_AVERAGE_POOL,
    DORY_COST_ADDITION,
    DORY_COST_MULTIPLICATION,
    DORY_COST_CONCATENATION, /* of `channels` and what is missing to `outputs` */
    DORY_COST_TABLE,         /* any function of one byte */
    DORY_COST_OPERATIONS
};

/* How a sum becomes an element, as report.json names it; docs/numerics.md says when which is found. */
enum dory_cost_normalisation {
    DORY_COST_NORMALISE_NONE,     /* 32-bit results */
    DORY_COST_NORMALISE_SHIFT_32, /* a product and a shift in 32 bits: the cheapest */
    DORY_COST_NORMALISE_SHIFT_64,
    DORY_COST_NORMALISE_DIVIDE,
    DORY_COST_NORMALISE_CLAMPED,         /* 32 bits behind a clamp: divisors 2^n */
    DORY_COST_NORMALISE_CLAMPED_DIVIDED, /* any other, such as NEMO's 2^n - 1 */
    DORY_COST_NORMALISE_HIGH,            /* a float scale, rounded down */
    DORY_COST_NORMALISE_HIGH_AWAY,       /* as TensorFlow Lite Micro rounds */
    DORY_COST_NORMALISE_HIGH_EVEN,       /* as ONNX's QuantizeLinear rounds */
    DORY_COST_NORMALISE_SHARED,          /* the same with one scale for all channels: fully connected */
    DORY_COST_NORMALISATIONS
};

enum dory_cost_layout { DORY_COST_HWC, DORY_COST_CHW, DORY_COST_LAYOUTS };

/* Whether the network's tiles are placed when its code is generated: a network of few tiles has a table of them, and what a
 * driver does on the chip for each is done already. */
enum dory_cost_tile_table {
    DORY_COST_TILE_TABLE_AUTO, /* where a network of this layer alone would have one */
    DORY_COST_TILE_TABLE_NO,
    DORY_COST_TILE_TABLE_YES,
    DORY_COST_TILE_TABLES
};

/* Set by dory_cost_layer_start, then as you like; no padding, so that equal layers have equal bytes. */
struct dory_cost_layer {
    uint32_t operation;               /* enum dory_cost_operation */
    uint32_t height, width, channels; /* of the input */
    uint32_t outputs;                 /* channels; 0: as many as the input has */
    uint32_t kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width;
    uint32_t padding_top, padding_left, padding_bottom, padding_right;
    uint32_t groups;
    uint32_t input_bits, weight_bits, output_bits; /* 2, 4, 8, 16 or 32; of weights 2, 4 or 8 */
    uint32_t input_is_signed, output_is_signed;
    uint32_t normalisation;               /* enum dory_cost_normalisation */
    uint32_t input_layout, output_layout; /* enum dory_cost_layout: how its tensors lie in L2 */
    uint32_t tile_table;                  /* enum dory_cost_tile_table */
};

enum dory_cost_mode {
    DORY_COST_EXACT, /* the tile that the planner would find, by its own search */
    DORY_COST_FAST   /* a good tile, by a closed form; see docs/cost.md for how far it is off */
};

struct dory_cost {
    uint64_t cycles;        /* from the first transfer until a next layer's can start, weights and tensors in L2 */
    uint64_t kernel_cycles; /* of them, of kernels, were there no transfers */
    uint64_t l3_cycles;     /* to load its weights from flash: may be hidden behind other layers */
    uint64_t macs;
    uint64_t l3_bytes; /* weights with their constants, as they lie in flash */
    uint64_t l2_bytes; /* moved between L2 and L1 */
    uint32_t l1_bytes; /* of the tile with its buffers */
    uint32_t tile_rows, tile_columns, tile_channels, tile_input_channels, tile_count;
    char kernel[64];
    char reason[DORY_COST_TEXT_BYTES]; /* why it cannot run, where dory_cost_of returned false */
};

struct dory_cost_model;

/* `target`: host, virt, gap8, cortex-m4 and so on, or the path of a description FILE.json. Null: `message` says why. */
struct dory_cost_model *dory_cost_open(const char *target, char *message, size_t message_bytes);
void dory_cost_close(struct dory_cost_model *model);

/* 1x1 convolution, stride 1, no padding, 8 bits, shift_32; without a shape. */
void dory_cost_layer_start(struct dory_cost_layer *layer);

/* One field by its name, from a text as a table of layers has it ("kernel", "3x3"). False: `message` says what is wrong. */
bool dory_cost_layer_set(struct dory_cost_layer *layer, const char *field, const char *text, char *message,
                         size_t message_bytes);

/* False where the layer cannot run on the machine; cost->reason says why. Layers are remembered. */
bool dory_cost_of(struct dory_cost_model *model, const struct dory_cost_layer *layer, enum dory_cost_mode mode,
                  struct dory_cost *cost);

#ifdef __cplusplus
}
#endif

#endif
