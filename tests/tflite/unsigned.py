#!/usr/bin/env python3
"""Random networks of UINT8 as TensorFlow 1 made them, whose weights have a zero point: every element is numpy's. The numbers
are those of a network of INT8, all of them 128 more; weights minus their zero point may need 9 bits.
Usage: unsigned.py DORY FOLDER [NETWORKS] [SEED]      exit status 77, skipped, without numpy"""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)

import random_networks
import reference
import tflite_writer as tfl


class Unsigned(random_networks.Network):
    """Its values are those of INT8; what is written has 128 more."""

    def tensor(self, value, shape=None):
        data, scale, zero = value
        self.count += 1
        index = self.model.tensor("t%d" % self.count, list(data.shape if shape is None else shape), tfl.UINT8, scale, zero + 128)
        self.values[index] = value
        return index

    def input(self, shape):
        index = self.tensor((self.integers(*shape), *self.quantisation()))
        self.inputs.append(index)
        return index

    def output(self, x):
        return x

    def weights(self, shape, outputs, axis, input_scale, per_channel):
        """One scale; both scales' product is a float32 in the files' own runtime."""
        zero, reach = self.random.choice([self.random.randint(100, 160), self.random.randint(1, 254)]), self.random.choice([0, 255])
        low, high = max(0, zero - 128, -reach), min(255, zero + 127)
        stored = self.numbers.randint(0 if reach else low, (255 if reach else high) + 1, shape)
        scale = float(np.float32(self.random.uniform(0.0005, 0.01)))
        product = float(np.float32(np.float32(input_scale) * np.float32(scale)))
        tensor = self.model.tensor("w", shape, tfl.UINT8, scale, zero, stored.astype(np.uint8).tobytes())
        bias = self.numbers.randint(-5000, 5000, outputs).astype(np.int64)
        bias_tensor = self.model.tensor("b", [outputs], tfl.INT32, product, 0, bias.astype(np.int32).tobytes())
        scales = [product / input_scale] * (1 if not per_channel else outputs)
        return [tensor, bias_tensor], stored.astype(np.int64) - zero, scales, bias

    def average(self, x):
        """Of bytes without a sign, halves go up."""
        data, scale, zero = self.values[x]
        height, width = (self.random.randint(1, min(3, size)) for size in data.shape[1:3])
        windows = np.lib.stride_tricks.sliding_window_view(data + 128, (height, width), axis=(1, 2)).sum(axis=(4, 5))
        result = (windows + height * width // 2) // (height * width) - 128, scale, zero
        return self.operate(tfl.AVERAGE_POOL_2D, [x], result, (5, {0: ("b", 1), 1: ("i", 1), 2: ("i", 1), 3: ("i", width),
                                                                   4: ("i", height), 5: ("b", 0)}))

    def branch(self, x):
        """An addition or a multiplication of two convolutions."""
        value, depthwise = self.values[x], [self.random.random() < 0.5 for _ in range(2)]
        pair = [self.plain(x, value[0].shape[3], d) for d in depthwise]
        kind = self.random.choice(["add", "multiply"])
        return self.arithmetic(kind, pair, [self.values[i] for i in pair], self.random.choice([0, 1, 2, 3]))

    def plain(self, x, outputs, depthwise):
        value = self.values[x]
        shape = [1, 3, 3, outputs] if depthwise else [outputs, 1, 1, value[0].shape[3]]
        tensors, data, scales, bias = self.weights(shape, outputs, 0, value[1], True)
        result = reference.convolution(value, data, scales, bias, self.quantisation(), (1, 1), (1, 1), True, 0, depthwise)
        fields = {0: ("b", 0), 1: ("i", 1), 2: ("i", 1)}
        fields.update({3: ("i", 1)} if depthwise else {})
        return self.operate(tfl.DEPTHWISE_CONV_2D if depthwise else tfl.CONV_2D, [x] + tensors, result,
                            (2 if depthwise else 1, fields))

    def head(self, x):
        value, size, outputs = self.values[x], self.values[x][0].size, self.random.randint(2, 12)
        flat = self.operate(tfl.RESHAPE, [x, self.model.integers("shape", [1, size])], (value[0].reshape(1, size), *value[1:]))
        tensors, data, scales, bias = self.weights([outputs, size], outputs, 0, value[1], False)
        result = reference.fully_connected(value, data, scales, bias, self.quantisation(), 0)
        logits = self.operate(tfl.FULLY_CONNECTED, [flat] + tensors, result, (8, {0: ("b", 0)}))
        return self.operate(tfl.SOFTMAX, [logits], reference.softmax(self.values[logits], 1.0), (9, {0: ("f", 1.0)}))

    def grow(self):
        pick = self.random
        x = self.input((1, pick.randint(3, 9), pick.randint(3, 9), pick.randint(1, 6)))
        for _ in range(pick.randint(1, 3)):
            x = pick.choice([self.convolution, self.depthwise, self.average, self.branch])(x)
        x = self.plain(x, pick.randint(1, 5), False)
        result = self.head(x) if pick.random() < 0.6 else x
        for index in self.inputs + [result]: # as they are in the files
            data, scale, zero = self.values[index]
            self.values[index] = data + 128, scale, zero + 128
        return result


def main():
    dory, folder = sys.argv[1:3]
    networks, seed = (int(text) for text in (sys.argv[3:5] + ["60", "1"][len(sys.argv) - 3:]))
    os.makedirs(folder, exist_ok=True)
    wrong = [s for s in range(seed, seed + networks) if not random_networks.check(dory, folder, s, Unsigned)]
    print("%d random networks, %d wrong" % (networks, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
