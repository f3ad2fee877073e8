#!/usr/bin/env python3
"""Random networks of TFLite whose files leave dimensions open, as Keras does with the batch and all that follows from it: such
a file says 1. Every output equals numpy's. Usage: open_dimensions.py DORY FOLDER [NETWORKS] [SEED]. Status 77: no numpy."""
import os
import sys

import random_networks
import tflite_writer as tfl

WINDOWS = {tfl.CONV_2D, tfl.DEPTHWISE_CONV_2D, tfl.AVERAGE_POOL_2D, tfl.MAX_POOL_2D}
KEEPS = WINDOWS | {tfl.ADD, tfl.SUB, tfl.MUL, tfl.RELU, tfl.RELU6, tfl.LEAKY_RELU, tfl.LOGISTIC, tfl.TANH, tfl.HARD_SWISH, tfl.QUANTIZE,
                   tfl.PAD, tfl.TILE, tfl.EXPAND_DIMS, tfl.CONCATENATION, tfl.TRANSPOSE, tfl.FULLY_CONNECTED,
                   tfl.MEAN, tfl.SUM, tfl.REDUCE_MAX, tfl.REDUCE_MIN}


class Network(random_networks.Network):
    opened = 0

    def grow(self):
        self.open = set()
        return super().grow()

    def operate(self, code, inputs, value, options=None, shape=None):
        index = super().operate(code, inputs, value, options, shape)
        # rows in dimensions that a projection alone knows are nowhere else in the file
        is_known = code != tfl.FULLY_CONNECTED or value[0].shape[:-1] == self.values[inputs[0]][0].shape[:-1]
        if code == tfl.RESHAPE and self.random.random() < 0.7 or code in KEEPS and is_known and any(i in self.open for i in inputs):
            self.leave_open(index, value[0].shape)
        return index

    def leave_open(self, index, sizes):
        """All dimensions but the last."""
        fields = self.model.tensors[index].fields
        fields[0] = tfl.Numbers("i", [1] * (len(sizes) - 1) + [sizes[-1]])
        fields[7] = tfl.Numbers("i", [-1] * (len(sizes) - 1) + [sizes[-1]])
        self.open.add(index)
        Network.opened += max(sizes[:-1], default=1) > 1


def main():
    dory, folder = sys.argv[1:3]
    networks, seed = (int(text) for text in (sys.argv[3:5] + ["100", "1"][len(sys.argv) - 3:]))
    os.makedirs(folder, exist_ok=True)
    wrong = [s for s in range(seed, seed + networks) if not random_networks.check(dory, folder, s, Network)]
    print(f"{networks} random networks with {Network.opened} tensors of open dimensions, {len(wrong)} wrong")
    return 1 if wrong or (networks >= 20 and not Network.opened) else 0


if __name__ == "__main__":
    sys.exit(main())
