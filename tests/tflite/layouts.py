#!/usr/bin/env python3
"""Networks whose tensors are channels, height, width around layers that are not: a TRANSPOSE and a PAD in front of each, as
onnx-tf and others write what PyTorch made. They plan with no copies but the input's and the output's, copies take less than
2 % of the cycles, and every element is numpy's.
Usage: layouts.py DORY FOLDER [--without-plans]    that of copies, and large networks, are left to a generator without sanitizers, which is ten times faster
       layouts.py --write FOLDER: the models only
Exit status 77, skipped, without numpy."""
import json
import os
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)

import random_networks
import reference
import tflite_writer as tfl

LAST, FIRST = [0, 2, 3, 1], [0, 3, 1, 2]
COPIES_PERCENT, SEED = 2, 7


def single(number):
    return float(np.float32(number))


class Turned(random_networks.Network):
    """Layers of tensors with channels first."""

    def __init__(self, seed, pads_first):
        super().__init__(seed)
        self.pads_first = pads_first

    def padded(self, x, borders):
        data, scale, zero = self.values[x]
        result = np.pad(data, borders, constant_values=zero), scale, zero
        numbers = self.model.integers("borders", [n for pair in borders for n in pair], [4, 2])
        return self.operate(tfl.PAD, [x, numbers], result)

    def turned(self, x, pad):
        if pad and self.pads_first:
            x = self.padded(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
        x = self.transposed(x, LAST)
        return self.padded(x, [(0, 0), (pad, pad), (pad, pad), (0, 0)]) if pad and not self.pads_first else x

    def layer(self, x, outputs, kernel=3, stride=1, activation=0, depthwise=False):
        x = self.turned(x, kernel // 2)
        value = self.values[x]
        channels = value[0].shape[3]
        shape = [1, kernel, kernel, channels] if depthwise else [outputs, kernel, kernel, channels]
        tensors, data, scales, bias = self.weights(shape, outputs, 3 if depthwise else 0, value[1], True)
        result = reference.convolution(value, data, scales, bias, (single(0.05), -128 if activation else 3), (stride, stride), (1, 1),
                                       False, activation, depthwise)
        fields = {0: ("b", 1), 1: ("i", stride), 2: ("i", stride)}
        tail = [("b", activation), ("i", 1), ("i", 1)]
        fields.update(enumerate([("i", 1)] + tail if depthwise else tail, 3))
        code = tfl.DEPTHWISE_CONV_2D if depthwise else tfl.CONV_2D
        return self.transposed(self.operate(code, [x] + tensors, result, (2 if depthwise else 1, fields)), FIRST)

    def halved(self, x):
        x = self.transposed(x, LAST)
        result = reference.pool(self.values[x], (2, 2), (2, 2), False, 0, False)
        options = {0: ("b", 1), 1: ("i", 2), 2: ("i", 2), 3: ("i", 2), 4: ("i", 2), 5: ("b", 0)}
        return self.transposed(self.operate(tfl.MAX_POOL_2D, [x], result, (5, options)), FIRST)

    def leaky(self, x):
        result = reference.leaky_relu(self.values[x], single(0.1), (single(0.04), -20))
        return self.operate(tfl.LEAKY_RELU, [x], result, (75, {0: ("f", 0.1)}))

    def sum(self, x, y):
        return self.operate(tfl.ADD, [x, y], reference.add(self.values[x], self.values[y], (single(0.08), -5), 0), (11, {0: ("b", 0)}))

    def doubled(self, x):
        x = self.transposed(x, LAST)
        data, *quantisation = self.values[x]
        size = [2 * n for n in data.shape[1:3]]
        result = np.repeat(np.repeat(data, 2, 1), 2, 2), *quantisation
        wide = self.operate(tfl.RESIZE_NEAREST_NEIGHBOR, [x, self.model.integers("size", size)], result, (74, {}))
        return self.transposed(wide, FIRST)

    def joined(self, x, y):
        data, scale, zero = self.values[x]
        y = self.operate(tfl.QUANTIZE, [y], reference.requantise(self.values[y], (scale, zero)))
        result = np.concatenate([data, self.values[y][0]], axis=1), scale, zero
        return self.operate(tfl.CONCATENATION, [x, y], result, (10, {0: ("i", 1)}))

    def average(self, x):
        result, *quantisation = reference.mean(self.values[x], [2, 3], (single(0.02), -100))
        return self.operate(tfl.MEAN, [x, self.model.integers("axes", [2, 3])], (result[:, :, 0, 0], *quantisation), (27, {}))

    def classified(self, x, classes):
        value = self.values[x]
        tensors, data, scales, bias = self.weights([classes, value[0].size], classes, 0, value[1], False)
        result = reference.fully_connected(value, data, scales, bias, (single(0.1), 0), 0)
        return self.operate(tfl.FULLY_CONNECTED, [x] + tensors, result, (8, {0: ("b", 0)}))


def detector(network, height, width):
    """A head of YOLO: the largest map has 8 bytes a pixel of the image."""
    x = network.input((1, 3, height, width))
    x = network.leaky(network.layer(x, 8))
    for channels in (16, 32):
        x = network.leaky(network.layer(network.halved(x), channels))
    fine = network.halved(x)
    coarse = network.layer(fine, 48, stride=2, activation=1)
    coarse = network.sum(coarse, network.layer(network.layer(coarse, 24, kernel=1, activation=3), 48))
    x = network.joined(network.doubled(network.layer(coarse, 32, kernel=1)), fine)
    x = network.layer(network.leaky(network.layer(x, 32)), 18, kernel=1)
    _, _, rows, columns = network.values[x][0].shape
    return network.transposed(network.reshaped(x, (1, 3, 6, rows * columns)), [0, 1, 3, 2])


def classifier(network, size):
    """Inverted residuals and a mean over rows and columns, which come last."""
    x = network.layer(network.input((1, 3, size, size)), 16, stride=2, activation=3)
    for outputs, stride in ((16, 1), (24, 2), (24, 1), (40, 2), (40, 1)):
        channels = network.values[x][0].shape[1]
        y = network.layer(x, 4 * channels, kernel=1, activation=3)
        y = network.layer(y, 4 * channels, stride=stride, activation=3, depthwise=True)
        y = network.layer(y, outputs, kernel=1)
        x = network.sum(x, y) if stride == 1 and outputs == channels else y
    return network.classified(network.average(network.layer(x, 96, kernel=1, activation=3)), 2)


CASES = [  # of a detector a copy resizes, and one turns the output
    ("detector_pads", detector, True, (240, 320), 2),
    ("detector_turns", detector, False, (240, 320), 2),
    ("classifier_pads", classifier, True, (80,), 0),
    ("classifier_turns", classifier, False, (80,), 0),
]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print("%s: exit status %d\n%s" % (" ".join(command), done.returncode, done.stderr))
    return done


def is_exact(dory, folder, path, network, output):
    source, target = os.path.join(folder, "input.bin"), os.path.join(folder, "output.bin")
    network.values[network.inputs[0]][0].astype(np.int16).astype(np.uint8).tofile(source)
    if run([dory, "run", path, "--input", source, "--output", target]).returncode != 0:
        return False
    return random_networks.is_equal(network, output, target, (SEED, path))


def has_few_copies(dory, path, copies):
    done = run([dory, "plan", path, "--target", "gap8", "--json"])
    if done.returncode != 0:
        return False
    layers = json.loads(done.stdout)["layers"]
    found = [layer for layer in layers if layer["kind"] == "copy"]
    cycles, all_cycles = (sum(layer["profile_cycles"] for layer in these) for these in (found, layers))
    percent = 100 * cycles / all_cycles
    is_listed = "Copies, which move" in run([dory, "inspect", path]).stdout
    print("%s: %d copies, %.2f %% of %d cycles" % (os.path.basename(path), len(found), percent, all_cycles))
    if len(found) == copies and is_listed == (copies > 0) and percent < COPIES_PERCENT:
        return True
    print("expected: %d copies: %s" % (copies, ", ".join(layer["name"] for layer in found)))
    return False


def main():
    dory, folder = sys.argv[1:3]
    with_plans = "--without-plans" not in sys.argv
    os.makedirs(folder, exist_ok=True)
    failures = 0
    for name, make, pads_first, shape, copies in CASES if with_plans else CASES[2:]:
        network, path = Turned(SEED, pads_first), os.path.join(folder, name + ".tflite")
        output = make(network, *shape)
        network.model.write(path, network.inputs, [output])
        if dory != "--write":
            failures += not (is_exact(dory, folder, path, network, output) and (not with_plans or has_few_copies(dory, path, copies)))
    return failures


if __name__ == "__main__":
    sys.exit(main())
