/* An engine computes layers: a chip's cores with their instructions, plain C, an accelerator. This is what the generator
 * knows of one. A target's description names its engines in order of preference, and each layer of a network goes to the
 * first of them that has a kernel for it. */
#ifndef DORY_ENGINE_H
#define DORY_ENGINE_H

#include "dory/constants.h"
#include "dory/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A layer's weights as the model has them, which a format is to write. */
struct dory_model_weights {
    const int8_t *weights; /* [output channel][channel of its inputs][tap], each in one byte */
    uint32_t inputs, taps; /* that one output channel reads; taps: of the model's window, row after row */
    const struct dory_channel_constants *constants; /* one an output channel */
};

/* How an engine wants weights: *blocks*, one for each few output channels, one after the other, so that any range of blocks
 * is one contiguous transfer. A block is the weights of its channels, chunk after chunk where input channels are tiled, and
 * behind them its channels' constants. The last block of a layer may have fewer channels, but has as many bytes. Tiles have
 * whole blocks, or all channels that are left. Chunks and constants are multiples of 4 bytes. */
struct dory_weights_format {
    const char *name; /* for people */

    /* log2 of the output channels of a block. Where elements are packed into bytes, a block has no fewer of them than a
     * byte. */
    uint8_t (*block_shift)(const struct dory_layer *layer);

    /* Of a block, of a layer with its block_shift: weights for so many input channels, all or a slice that a tile has of
     * them (convolutions that a kernel tiles so; others are asked for all). */
    uint32_t (*chunk_bytes)(const struct dory_layer *layer, uint32_t input_channels);
    uint32_t (*constants_bytes)(const struct dory_layer *layer);

    /* All blocks of a layer, whose tile is decided: `bytes` of them. False where a constant does not fit its place, or there
     * are other than so many bytes. What an engine adds to the constants is its own: one that multiplies signed bytes only
     * has 128 times the sum of a channel's weights in them where the layer's input has no sign. */
    bool (*write)(const struct dory_layer *layer, const struct dory_model_weights *model, uint8_t *to, uint32_t bytes);
};

struct dory_engine {
    const char *name; /* in "engines" of a target's description */
    const struct dory_weights_format *weights;

    /* Null-terminated, in order of preference where cycles are equal. */
    const struct dory_kernel_description *const *kernels;

    /* It computes few kinds of layers, and those not always faster than cores: the next engine that has a kernel for a layer
     * gets it where that is faster. */
    bool is_accelerator;

    /* DORY_NORMALISE_32 with a negative multiplier is not for it; DORY_NORMALISE_64 says the same. */
    bool has_unsigned_factors;
};

extern const struct dory_engine dory_portable_engine; /* kernels/reference: portable C, every layer */
extern const struct dory_engine dory_xpulpv2_engine;  /* kernels/xpulpv2: RISC-V cores with XpulpV2, such as GAP8's */

extern const struct dory_engine
    dory_armv7em_engine; /* kernels/armv7em: Arm's cores with DSP instructions: Cortex-M4, M7, M33 */

extern const struct dory_engine dory_mve_engine; /* kernels/mve: Arm's cores with vectors: Cortex-M55, M85 */

extern const struct dory_engine dory_neureka_engine; /* kernels/neureka: N-EUREKA, Siracusa's accelerator */

extern const struct dory_weights_format dory_quads; /* kernels/quads: four output channels a block */

/* Bytes of a block whose weights come in chunks of so many input channels; 0 without weights. */
uint32_t dory_block_bytes(const struct dory_weights_format *format, const struct dory_layer *layer,
                          uint32_t tile_input_channels);

/* Of the first chunk of a block; 0 without weights. */
uint32_t dory_first_chunk_bytes(const struct dory_weights_format *format, const struct dory_layer *layer,
                                uint32_t tile_input_channels);

/* Bytes of L1 of a tile's weights, or its table. */
uint32_t dory_weights_tile_bytes(const struct dory_weights_format *format, const struct dory_layer *layer,
                                 const struct dory_tile_shape *tile);

/* The weight of a channel, as the firmware counts its input's channels and taps: in a layer that reads its whole input,
 * whose channels are elements in HWC order, taps go on where channels end. 0 where there is none: behind the last channel,
 * or of an input that is not of the channel's group. With the sign that its constants want. */
int8_t dory_model_weight(const struct dory_layer *layer, const struct dory_model_weights *model, uint32_t output,
                         uint32_t input, uint32_t tap);

/* A channel's constants as dory_normalise() reads them: dory_channel_constants_bytes() little-endian bytes. `channel` null:
 * zeros. False where a number does not fit. */
bool dory_write_constants(const struct dory_layer *layer, const struct dory_channel_constants *channel, uint8_t *to);

/* Sets what a layer's record says of an engine's format: block_shift. */
void dory_set_format(struct dory_layer *layer, const struct dory_weights_format *format);

/* Cycles of the engine's fastest kernel for a layer, were it one tile on so many cores. UINT64_MAX: it has no kernel for the
 * layer. */
uint64_t dory_engine_cycles(const struct dory_engine *engine, const struct dory_layer *layer, unsigned cores);

#ifdef __cplusplus
}
#endif

#endif
