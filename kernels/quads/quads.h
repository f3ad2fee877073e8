/* Weights in quads: the format of kernels/reference and kernels/xpulpv2 (struct dory_weights_format in dory/engine.h).
 *
 * Blocks of four output channels ("quads") one after the other, so that any range of quads is one contiguous
 * transfer whatever the tile. The last quad is filled up with zero channels. A fully connected layer of bytes with fewer
 * than four outputs has one quad that is not filled up: dory_lanes() of four channels are there, and below, too.
 *
 * Convolution. The input elements that one output pixel reads are *runs* that are contiguous in the L1 tile (but for the
 * bits that fill up a pixel): where dilation_width is 1, kernel_height runs of kernel_width * c elements (one kernel row
 * each, kx major, c minor), else kernel_height * kernel_width runs of c elements; c is the number of input channels of the
 * slice ("chunk"). The elements of a chunk come in this order: of each run all whole fours; then of each run the rest of 1
 * to 3 elements, where there is one; then zero weights up to a multiple of 4. Where dory_fills_taps(), each element of the
 * kernel's row is a run, c elements and zero weights up to a multiple of 4, one after the other. One quad is
 *
 *     for each chunk of tile.input_channels input channels (the last may be shorter)
 *         for each 4 elements of the chunk, 16 weights in 2 * weight_bits bytes:
 *             8 bits: 4 bytes of output channel 0, 4 of channel 1, 4 of channel 2, 4 of channel 3
 *             4 bits: 4 bytes with channel 0 in the low and channel 1 in the high half, 4 of channels 2 and 3
 *             2 bits: 4 bytes with channel 0 in the low bits, then channels 1, 2 and 3
 *     normalisation constants of the 4 channels
 *
 * so one chunk of a quad has dory_chunk_bytes() bytes; all chunks but the last have chunk_bytes. Whatever the bits, byte i
 * of a word belongs to element i: shifts by bytes make the words of 8-bit weights of it, and a run is no longer for fewer
 * bits.
 *
 * Depth-wise: always 8 bits, since a row of so few weights takes a word in any case. One quad is, for each of its 4
 * channels, kernel_height rows of kernel_width bytes, each row filled up with zeros to a multiple of 4 bytes; then the
 * normalisation constants. chunk_bytes is all of the weights.
 *
 * In groups: one quad is a convolution's with one chunk of dory_window_channels(), each run filled up to a multiple of 4.
 *
 * Constants: one quad is four elements, and nothing else.
 *
 * Normalisation constants of a quad:
 *     DORY_NORMALISE_NONE             4 x { int32 addend }
 *     DORY_NORMALISE_32               4 x { int32 multiplier, int32 addend }
 *     DORY_NORMALISE_64 and _DIVIDE   4 x { int64 multiplier, int64 addend }
 *     DORY_NORMALISE_CLAMPED          4 x { int32 low, int32 high, uint32 multiplier, uint32 addend }
 *     DORY_NORMALISE_SPLIT            4 x { int32 bias, int32 limit, uint32 low, uint32 addend, uint32 high }
 *         and with DORY_ROUND_AWAY    4 x { the same, int32 zero, uint32 step }
 *     DORY_NORMALISE_HIGH             4 x { int32 bias, int32 multiplier, int32 addend, int32 shift }
 *     DORY_NORMALISE_SHARED           4 x { int32 bias }
 * little endian, in the order of the channels. Quads are aligned to 4 bytes, so 64-bit constants are read as two words.
 */
#ifndef DORY_QUADS_H
#define DORY_QUADS_H

#include "dory/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Convolutions of bytes along a row, of which each tap is filled up to whole words, if that is an eighth more at most:
 * pixels that are filled up alike then follow each other in front of the weights, where every word has its place. Not those
 * whose runs are words without that. */
static inline bool dory_fills_taps(const struct dory_layer *layer)
{
    uint32_t channels = layer->input_channels, rest = channels % 4;
    bool slides =
        layer->kernel_height == 1 && layer->kernel_width > 1 && layer->stride_width == 1 && layer->output_width >= 8;
    bool bytes = layer->input_bits == 8 && layer->weight_bits == 8 && (layer->output_bits == 8 || layer->output_bits == 32);
    return layer->operation == DORY_CONVOLUTION && slides && bytes &&
           (rest == 0 ? layer->dilation_width > 1 : 8 * (4 - rest) <= channels);
}

/* The runs of a convolution, and the elements of each in a chunk of `channels` input channels. */
static inline uint32_t dory_runs(const struct dory_layer *layer)
{
    return layer->kernel_height * (layer->dilation_width == 1 ? 1u : layer->kernel_width);
}
static inline uint32_t dory_run_elements(const struct dory_layer *layer, uint32_t channels)
{
    return (layer->dilation_width == 1 ? layer->kernel_width : 1u) * channels;
}

/* Elements of such a chunk: whole fours of all runs, then the rests of all runs, filled up together; or, where taps are
 * filled up, tap after tap; or, in groups, run after run. */
static inline uint32_t dory_chunk_elements_of(const struct dory_layer *layer, uint32_t channels, bool fills_taps)
{
    uint32_t taps = (uint32_t)layer->kernel_height * layer->kernel_width;
    return layer->operation == DORY_GROUPED ? dory_runs(layer) * dory_round_up(dory_run_elements(layer, channels), 4)
           : fills_taps                     ? taps * dory_round_up(channels, 4)
                                            : dory_round_up(taps * channels, 4);
}
static inline uint32_t dory_chunk_elements(const struct dory_layer *layer, uint32_t channels)
{
    return dory_chunk_elements_of(layer, channels, dory_fills_taps(layer));
}

/* A fully connected layer of bytes. */
static inline bool dory_is_fully_connected(const struct dory_layer *layer)
{
    return layer->operation == DORY_CONVOLUTION && layer->output_height == 1 && layer->output_width == 1 &&
           layer->kernel_height == 1 && layer->kernel_width == 1 && layer->input_bits == 8 && layer->weight_bits == 8 &&
           (layer->output_bits == 8 || layer->output_bits == 32);
}

/* Output channels that a quad has in the blob. */
static inline uint32_t dory_lanes(const struct dory_layer *layer)
{
    return layer->output_channels < 4 && dory_is_fully_connected(layer) ? layer->output_channels : 4;
}

/* Bytes of the weights of such a chunk, of one quad. */
static inline uint32_t dory_chunk_bytes(const struct dory_layer *layer, uint32_t channels)
{
    return dory_chunk_elements(layer, channels) * layer->weight_bits / 8 * dory_lanes(layer);
}

/* In groups, a quad has weights for a *window* of input channels: those of all groups that 4 output channels may belong to,
 * filled up to whole fours; but not one or two of bytes, of which runs are filled up. Other channels' weights are zero. */
static inline uint32_t dory_window_channels(const struct dory_layer *layer)
{
    uint32_t outputs = layer->grouped.outputs, groups = outputs % 4 == 0 ? 1 : outputs == 1 ? 4 : 2;
    uint32_t channels = groups * layer->grouped.channels;
    bool rows = layer->kernel_width > 1 && layer->dilation_width == 1 && layer->input_bits == 8 && layer->output_bits != 16;
    return channels <= 2 && rows ? channels : dory_round_up(channels, 4);
}

/* The first channel of the window of a quad of the layer; all of it is in the input, unless that has fewer channels. */
static inline uint32_t dory_window_start(const struct dory_layer *layer, uint32_t quad)
{
    uint32_t channels = layer->input_channels, window = dory_window_channels(layer);
    uint32_t start = 4 * quad / layer->grouped.outputs * layer->grouped.channels;
    return dory_minimum(start, channels > window ? channels - window : 0);
}

/* Bytes of weights of one quad of a convolution that is depth-wise or in groups. */
static inline uint32_t dory_depthwise_quad_weight_bytes(const struct dory_layer *layer)
{
    return layer->operation == DORY_GROUPED ? dory_chunk_bytes(layer, dory_window_channels(layer))
                                            : 4u * layer->kernel_height * dory_round_up(layer->kernel_width, 4);
}

/* Of one quad. */
static inline uint32_t dory_constants_bytes(const struct dory_layer *layer)
{
    return dory_lanes(layer) * dory_channel_constants_bytes(layer);
}

#ifdef __cplusplus
}
#endif

#endif
