#!/usr/bin/env python3
"""Random networks of GATHER with batches, and of GATHER_ND: rows of indices, constant or computed by the model as PyTorch's
exporter does, against numpy.
Usage: gathers.py DORY FOLDER [NETWORKS] [SEED]
       gathers.py --write FOLDER [NETWORKS] [SEED]: models only
Exit status 77, skipped, without numpy."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)

import random_networks
import tflite_writer as tfl


class Gathers(random_networks.Network):
    def given(self, data, kind=tfl.INT32):
        types = {tfl.INT32: np.int32, tfl.INT64: np.int64, tfl.BOOL: np.bool_}
        return self.model.tensor("given", list(data.shape), kind, data=data.astype(types[kind]).tobytes()), data

    def compute(self, code, inputs, result, options=None, kind=tfl.INT32):
        output = self.model.tensor("computed", list(result.shape), kind)
        self.model.operator(code, [i for i, _ in inputs], [output], options)
        return output, result

    def from_end(self, numbers, size):
        """Indices below 0 count from the end."""
        turned = self.given(np.where(self.random.random() < 0.5, numbers[1], numbers[1] - size))
        below = self.compute(tfl.LESS, [turned, self.given(np.zeros((), int))], turned[1] < 0, None, tfl.BOOL)
        sums = self.compute(tfl.ADD, [turned, self.given(np.array(size))], turned[1] + size, (11, {}))
        return self.compute(tfl.SELECT_V2, [below, sums, turned], np.where(below[1], sums[1], turned[1]))

    def column(self, size, shape):
        """One of the indices, as large as `shape`: it varies along some dimensions."""
        pick, axes = self.random, [i for i in range(len(shape)) if self.random.random() < 0.5]
        own = [n if i in axes else 1 for i, n in enumerate(shape)]
        numbers = self.given(np.array([pick.randrange(size) for _ in range(int(np.prod(own)))]).reshape(own))
        if pick.random() < 0.3:
            numbers = self.from_end(numbers, size)
        if pick.random() < 0.3:
            numbers = self.compute(tfl.FLOOR_MOD, [numbers, self.given(np.array(size))], numbers[1] % size)
        whole = np.broadcast_to(numbers[1], shape)
        numbers = self.compute(tfl.BROADCAST_TO, [numbers, self.given(np.array(shape))], whole)
        return self.compute(tfl.RESHAPE, [numbers, self.given(np.array([*shape, 1]))], whole[..., None])

    def by_columns(self, sizes):
        shape = [self.random.randint(1, 4) for _ in range(self.random.randint(1, 3))]
        columns = [self.column(size, shape) for size in sizes]
        return self.compute(tfl.CONCATENATION, columns, np.concatenate([data for _, data in columns], -1), (10, {0: ("i", len(shape))}))

    def windows(self, sizes):
        """Of one dimension: where each begins, and with a border of zeros what is further."""
        pick, columns, axis = self.random, len(sizes), self.random.randrange(len(sizes))
        length = pick.randint(1, sizes[axis])
        step = pick.randint(1, 3)
        first = np.arange(0, sizes[axis] - length + 1, step)
        begins = np.zeros((len(first), 1, columns), int)
        begins[:, 0, axis] = first
        border = np.array([[0, 0], [0, 0], [axis, columns - 1 - axis]])
        further = self.compute(tfl.PAD, [self.given(np.arange(length).reshape(1, length, 1)), self.given(border)],
                               np.pad(np.arange(length).reshape(1, length, 1), border))
        return self.compute(tfl.ADD, [self.given(begins), further], begins + further[1], (11, {}))

    def constant(self, sizes):
        shape = [self.random.randint(1, 4) for _ in range(self.random.randint(0, 3))]
        rows = np.stack([np.array([self.random.randrange(size) for _ in range(int(np.prod(shape)))]).reshape(shape) for size in sizes], -1)
        return self.given(rows, self.random.choice([tfl.INT32, tfl.INT64]))

    def batches(self, x):
        """GATHER of other indices for each batch, as np.take_along_axis becomes."""
        pick, (data, *quantisation) = self.random, self.values[x]
        batches = pick.randint(1, min(3, data.ndim - 1))
        axis = pick.randint(batches, data.ndim - 1)
        shape = (*data.shape[:batches], *(pick.randint(1, 4) for _ in range(pick.randint(0, 2))))
        indices = np.array([pick.randrange(data.shape[axis]) for _ in range(int(np.prod(shape)))]).reshape(shape)
        result = np.stack([np.take(part, own, axis - batches) for part, own in
                           zip(data.reshape(-1, *data.shape[batches:]), indices.reshape(-1, *shape[batches:]))])
        result = result.reshape(*shape[:batches], *result.shape[1:])
        options = (23, {0: ("i", pick.choice([axis, axis - data.ndim])), 1: ("i", pick.choice([batches, batches - indices.ndim] if batches < indices.ndim else [batches]))})
        return self.operate(tfl.GATHER, [x, self.given(indices)[0]], (result, *quantisation), options), result

    def rows(self, x):
        pick, (data, *quantisation) = self.random, self.values[x]
        rows, indices = pick.choice([self.by_columns, self.by_columns, self.windows, self.constant])(data.shape[:pick.randint(1, min(3, data.ndim))])
        result = data[tuple(np.moveaxis(indices, -1, 0))]
        return self.operate(tfl.GATHER_ND, [x, rows], (result, *quantisation)), result

    def grow(self):
        pick = self.random
        x = pick.choice([self.input, self.turned_input])((1, pick.randint(1, 6), pick.randint(1, 7), pick.randint(1, 6)))
        if pick.random() < 0.5:
            x = self.transposed(x, pick.sample(range(4), 4))
        if pick.random() < 0.3:
            x = self.reshaped(x, self.some_shape(self.values[x][0].size, pick.randint(1, 5)))
        has_batches = self.values[x][0].ndim > 1 and pick.random() < 0.3
        y, result = (self.batches if has_batches else self.rows)(x)
        if result.ndim > 1 and pick.random() < 0.5:
            y = self.transposed(y, pick.sample(range(result.ndim), result.ndim))
        y = self.reshaped(y, (1, *self.some_shape(result.size, 3)))
        return pick.choice([self.unary, self.pool, self.convolution])(y)


def main():
    dory, folder = sys.argv[1:3]
    networks, seed = (int(text) for text in (sys.argv[3:5] + ["150", "1"][len(sys.argv) - 3:]))
    os.makedirs(folder, exist_ok=True)
    if dory == "--write":
        for s in range(seed, seed + networks):
            network = Gathers(s)
            network.model.write(os.path.join(folder, "%d.tflite" % s), network.inputs, [network.grow()])
        return 0
    wrong = [s for s in range(seed, seed + networks) if not random_networks.check(dory, folder, s, Gathers)]
    print("%d networks of gathers, %d wrong" % (networks, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
