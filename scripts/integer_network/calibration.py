"""Chooses weights and normalisations, so that activations spread as those of a trained network."""

import math
import sys

import numpy as np

from .randomness import random_weight
from .simulation import accumulate, normalise, pool_maximum, pool_sum, rectify, weighted_sum

INT32_LIMIT = 2**31


def calibrate(layers, images, random, options):
    """Fills in parameters and output of every layer, in order."""
    for layer in layers:
        if layer.kind == "input":
            layer.output = images
        elif layer.kind in ("conv", "depthwise"):
            calibrate_convolution(layer, random, options)
        elif layer.kind == "fully_connected":
            calibrate_fully_connected(layer, random, options)
        elif layer.kind == "max_pool":
            layer.output, layer.maximum = pool_maximum(layer), layer.source.maximum
        elif layer.kind == "average_pool":
            calibrate_average_pool(layer)
        elif layer.kind == "add":
            calibrate_add(layer, random, options)


def calibrate_convolution(layer, random, options):
    fan_in = 1 if layer.kind == "depthwise" else layer.source.shape[2]
    layer.weight = random_weight(random, (layer.shape[2], fan_in, *layer.kernel), options.weight_bits)
    accumulator = accumulate(layer)
    choose_normalisation(layer, accumulator, random, options)
    layer.output = normalise(layer, accumulator)


def choose_normalisation(layer, accumulator, random, options):
    """Gives every channel a mean near 80 and a deviation near 70 before the clip, with the largest
    divisor for which no intermediate value of any image leaves 32 bits."""
    channels = layer.shape[2]
    mean, deviation = channel_statistics(accumulator)
    slope = random.uniform(60, 80, channels) / deviation
    centre = random.uniform(60, 100, channels)
    multiplier = random.one(2, 5)
    layer.multipliers = (multiplier,)
    for exponent in range(24, 0, -1):
        layer.divisor = 2**exponent - (options.divisor == "odd")
        unit = layer.divisor / multiplier
        layer.kappa = np.maximum(1, np.rint(slope * unit)).astype(np.int64)
        layer.lamda = float32_integer(np.rint(centre * unit - layer.kappa * mean))
        if layer.kappa.max() <= 2048 and worst_case(layer) < INT32_LIMIT:
            return
    sys.exit(f"make_model.py: layer {layer.name}: no normalisation fits 32 bits")


def channel_statistics(accumulator):
    """Mean and deviation of every channel, computed from integer sums."""
    values = accumulator.reshape(-1, accumulator.shape[-1])
    offset = values.sum(axis=0) // len(values)
    rest = values - offset
    rest_mean = rest.sum(axis=0) / len(values)
    variance = (rest * rest).sum(axis=0) / len(values) - np.square(rest_mean)
    # A channel that is constant on these images (1x1 maps) must not be amplified without bound.
    floor = max(math.fsum(variance) / len(variance) / 16, 1.0)
    return offset + rest_mean, np.sqrt(np.maximum(variance, floor))


def float32_integer(value):
    """The nearest integer that float32, in which NEMO writes it, can hold."""
    return value.astype(np.float32).astype(np.int64)


def worst_case(layer):
    """The largest magnitude that (kappa * acc + lamda) * multiplier can reach for any input."""
    accumulator = layer.source.maximum * np.abs(layer.weight).reshape(len(layer.weight), -1).sum(axis=1)
    return int((layer.multipliers[0] * (layer.kappa * accumulator + np.abs(layer.lamda))).max())


def calibrate_fully_connected(layer, random, options):
    """Logits: no requantisation, 32 bits."""
    classes = layer.shape[2]
    layer.weight = random_weight(random, (classes, math.prod(layer.source.shape)), options.weight_bits)
    layer.bias = random.uniform(-5000, 5000, classes) if layer.has_bias else np.zeros(classes, np.int64)
    layer.output = accumulate(layer) + layer.bias
    layer.maximum = int((layer.source.maximum * np.abs(layer.weight).sum(axis=1) + np.abs(layer.bias)).max())


def calibrate_average_pool(layer):
    """NEMO's factor: 1/area in at least 5 bits. It may round up, by which a sum of 255s gives 256."""
    area = math.prod(layer.kernel)
    layer.divisor = 1 << (32 * area - 1).bit_length()
    layer.multipliers = ((2 * layer.divisor + area) // (2 * area),)
    layer.output = pool_sum(layer) * layer.multipliers[0] // layer.divisor
    layer.maximum = layer.source.maximum * area * layer.multipliers[0] // layer.divisor


def calibrate_add(layer, random, options):
    """Unequal multipliers, so that a swap of the two inputs is noticed."""
    values = [x.output for x in layer.inputs]
    layer.divisor = 64
    share = random.one(24, 40)
    layer.multipliers = (share, layer.divisor - share)
    if layer.relu:
        layer.multipliers = (layer.divisor, share)
        layer.relu_divisor = 64
        layer.relu_multiplier = 255 * layer.relu_divisor // high_value(weighted_sum(layer, values))
    elif options.adds == "overflow":
        high = high_value(weighted_sum(layer, values))
        layer.multipliers = tuple(m * 255 // high for m in layer.multipliers)
    layer.output = weighted_sum(layer, values)
    layer.maximum = weighted_sum(layer, [x.maximum for x in layer.inputs])
    if layer.relu:
        layer.output, layer.maximum = rectify(layer, layer.output), 255


def high_value(values):
    """The value that 99.5 % do not exceed."""
    values = np.sort(values, axis=None)
    return max(1, int(values[len(values) * 995 // 1000]))
