#!/usr/bin/env python3
"""Writes a network as users of the AI-deck have them: a grey image of 324 x 244, every second pixel of it by a depth-wise
1x1 convolution, three channels by a 1x1 convolution, 96 x 96 by a bilinear resize, and MobileNetV2 0.35.

Weights are seeded random numbers; scales make activations as wide as those of trained networks. Needs no packages.
Usage: make_front_end.py FILE [CLASSES]"""
import math
import random
import struct
import sys

import tflite_writer as tfl

# Expansion, channels at a width of 1, repetitions, stride.
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
WIDTH = 0.35
NONE, RELU6 = 0, 3
LINEAR_SCALE, RELU6_SCALE = 0.05, 6 / 255


def narrowed(channels):
    """To multiples of 8, as Keras narrows MobileNets: no more than a tenth less."""
    wanted = channels * WIDTH
    number = max(8, int(wanted + 4) // 8 * 8)
    return number + 8 if number < 0.9 * wanted else number


class Network:
    def __init__(self):
        self.model, self.random, self.count = tfl.Model(), random.Random(1), 0

    def tensor(self, shape, scale, zero, **more):
        self.count += 1
        return Value(self.model.tensor("t%d" % self.count, shape, tfl.INT8, scale, zero, **more), shape, scale)

    def weights(self, x, shape, axis, spread):
        """Weights and biases, of scales that make sums about as wide as `spread`."""
        outputs, taps = shape[axis], math.prod(shape) // shape[axis]
        data = bytes(self.random.randint(-127, 127) & 255 for _ in range(math.prod(shape)))
        typical = 40 * 73 * math.sqrt(taps) * x.scale  # deviations of elements and weights
        scales = [spread / typical * self.random.uniform(0.7, 1.4) for _ in range(outputs)]
        biases = [self.random.randint(-1000, 1000) for _ in range(outputs)]
        self.count += 1
        return [self.model.tensor("w%d" % self.count, shape, tfl.INT8, scales, [0] * outputs, data, axis),
                self.model.tensor("b%d" % self.count, [outputs], tfl.INT32, [x.scale * s for s in scales], [0] * outputs,
                                  struct.pack("<%di" % outputs, *biases))]

    def output(self, shape, activation):
        return self.tensor(shape, *((RELU6_SCALE, -128) if activation == RELU6 else (LINEAR_SCALE, 3)))

    def convolution(self, x, outputs, kernel=1, stride=1, activation=RELU6):
        shape = [1, -(-x.shape[1] // stride), -(-x.shape[2] // stride), outputs]
        tensors = self.weights(x, [outputs, kernel, kernel, x.shape[3]], 0, 2)
        y = self.output(shape, activation)
        options = {0: ("b", 0), 1: ("i", stride), 2: ("i", stride), 3: ("b", activation), 4: ("i", 1), 5: ("i", 1)}
        self.model.operator(tfl.CONV_2D, [x.tensor] + tensors, [y.tensor], (1, options))
        return y

    def depthwise(self, x, kernel=3, stride=1, activation=RELU6):
        shape = [1, -(-x.shape[1] // stride), -(-x.shape[2] // stride), x.shape[3]]
        tensors = self.weights(x, [1, kernel, kernel, x.shape[3]], 3, 2)
        y = self.output(shape, activation)
        options = {0: ("b", 0), 1: ("i", stride), 2: ("i", stride), 3: ("i", 1), 4: ("b", activation), 5: ("i", 1), 6: ("i", 1)}
        self.model.operator(tfl.DEPTHWISE_CONV_2D, [x.tensor] + tensors, [y.tensor], (2, options))
        return y

    def resize(self, x, height, width):
        y = self.tensor([1, height, width, x.shape[3]], x.scale, 3)
        size = self.model.integers("size", [height, width])
        self.model.operator(tfl.RESIZE_BILINEAR, [x.tensor, size], [y.tensor], (15, {2: ("b", 0), 3: ("b", 1)}))
        return y

    def inverted_residual(self, x, expansion, channels, stride):
        y = self.convolution(x, expansion * x.shape[3]) if expansion > 1 else x
        y = self.convolution(self.depthwise(y, 3, stride), channels, activation=NONE)
        if x.shape != y.shape:
            return y
        both = self.output(y.shape, NONE)
        self.model.operator(tfl.ADD, [x.tensor, y.tensor], [both.tensor], (11, {0: ("b", NONE)}))
        return both

    def mobilenet(self, x, classes):
        x = self.convolution(x, narrowed(32), 3, 2)
        for expansion, channels, repetitions, stride in BLOCKS:
            for i in range(repetitions):
                x = self.inverted_residual(x, expansion, narrowed(channels), stride if i == 0 else 1)
        x = self.convolution(x, 1280)
        mean = self.tensor([1, 1280], RELU6_SCALE, -128)
        self.model.operator(tfl.MEAN, [x.tensor, self.model.integers("axes", [1, 2])], [mean.tensor], (27, {0: ("b", 0)}))
        tensors, y = self.weights(mean, [classes, 1280], 0, 2), self.output([1, classes], NONE)
        self.model.operator(tfl.FULLY_CONNECTED, [mean.tensor] + tensors, [y.tensor], (8, {0: ("b", NONE)}))
        return y


class Value:
    def __init__(self, tensor, shape, scale):
        self.tensor, self.shape, self.scale = tensor, shape, scale


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: make_front_end.py FILE [CLASSES]")
    network = Network()
    image = network.tensor([1, 244, 324, 1], 1 / 127.5, -1)
    half = network.depthwise(image, 1, 2, NONE)
    colours = network.resize(network.convolution(half, 3, activation=NONE), 96, 96)
    y = network.mobilenet(colours, int(sys.argv[2]) if len(sys.argv) == 3 else 2)
    network.model.write(sys.argv[1], [image.tensor], [y.tensor])


if __name__ == "__main__":
    main()
