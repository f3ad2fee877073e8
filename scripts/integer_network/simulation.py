"""What a layer computes, in exact integers."""

import numpy as np


def taps(layer, x):
    """For every position in the kernel: the input pixels that it meets, one for each output pixel."""
    top, left, bottom, right = layer.pads
    height, width, _ = layer.shape
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    for row in range(layer.kernel[0]):
        for column in range(layer.kernel[1]):
            yield row, column, x[:, row:row + (height - 1) * layer.stride[0] + 1:layer.stride[0],
                                 column:column + (width - 1) * layer.stride[1] + 1:layer.stride[1]]


def accumulate(layer):
    """The sums of products. As float64, because numpy has fast matrix products of floats only;
    every sum stays far below 2^53, so that each is exact in any order."""
    x = layer.source.output.astype(np.float64)
    weight = layer.weight.astype(np.float64)
    if layer.kind == "fully_connected":
        flat = x.transpose(0, 3, 1, 2).reshape(len(x), -1)      # ONNX flattens channels first
        total = (flat @ weight.T).reshape(len(x), 1, 1, -1)
    elif layer.kind == "depthwise":
        total = sum(pixels * weight[:, 0, row, column] for row, column, pixels in taps(layer, x))
    else:
        total = sum(pixels.reshape(-1, x.shape[3]) @ weight[:, :, row, column].T
                    for row, column, pixels in taps(layer, x)).reshape(len(x), *layer.shape)
    return total.astype(np.int64)


def normalise(layer, accumulator):
    scaled = (layer.kappa * accumulator + layer.lamda) * layer.multipliers[0] // layer.divisor
    return np.clip(scaled, 0, 255)


def pool_sum(layer):
    return sum(pixels for _, _, pixels in taps(layer, layer.source.output))


def pool_maximum(layer):
    # No network here pads a pool: zero padding would be wrong if values could be negative.
    return np.max([pixels for _, _, pixels in taps(layer, layer.source.output)], axis=0)


def weighted_sum(layer, values):
    """The residual add; floor, and no clip: NEMO's sums may leave 0..255."""
    return sum(m * value for m, value in zip(layer.multipliers, values)) // layer.divisor


def rectify(layer, value):
    return np.clip(value * layer.relu_multiplier // layer.relu_divisor, 0, 255)
