"""Operators of random networks that move elements, repeat them, or split what is one: for random_networks.py."""
import numpy as np

import reference
import tflite_writer as tfl


class Moves:
    """Methods of a network; each takes a tensor of one image and gives the next."""

    def move(self, x):
        (data, scale, zero), pick = self.values[x], self.random
        return pick.choice([self.slice, self.split, self.transpose, self.resize, self.shuffle, self.reshape])(x, data, (scale, zero))

    def slice(self, x, data, quantisation):
        first = [0] + [self.random.randrange(size) for size in data.shape[1:]]
        if self.random.random() < 0.3:
            sizes = [1] + [self.random.randint(1, size - f) for f, size in zip(first[1:], data.shape[1:])]
            result = data[tuple(np.s_[f:f + s] for f, s in zip(first, sizes))]
            inputs = [self.model.integers("first", first), self.model.integers("sizes", sizes)]
            return self.operate(tfl.SLICE, [x] + inputs, (result, *quantisation))
        step = [1] + [self.random.randint(1, 3) for _ in range(3)]
        result = data[tuple(np.s_[f::s] for f, s in zip(first, step))]
        inputs = [self.model.integers(name, list(numbers))
                  for name, numbers in (("first", first), ("end", data.shape), ("step", step))]
        return self.operate(tfl.STRIDED_SLICE, [x] + inputs, (result, *quantisation), (32, {0: ("i", 0)}))

    def split(self, x, data, quantisation):
        axis = self.random.choice([1, 2, 3])
        if data.shape[axis] > 1 and self.random.random() < 0.5:
            first = self.random.randrange(1, data.shape[axis])
            parts = [self.tensor((part, *quantisation)) for part in np.split(data, [first], axis)]
            sizes = self.model.integers("sizes", [first, data.shape[axis] - first])
            self.model.operator(tfl.SPLIT_V, [x, sizes, self.model.integers("axis", [axis], [])], parts, (79, {0: ("i", 2)}))
            return self.unary(self.random.choice(parts))
        count = self.random.choice([n for n in (1, 2, 3) if data.shape[axis] % n == 0])
        parts = [self.tensor((part, *quantisation)) for part in np.split(data, count, axis)]
        self.model.operator(tfl.SPLIT, [self.model.integers("axis", [axis], []), x], parts, (35, {0: ("i", count)}))
        return self.unary(self.random.choice(parts))

    def transpose(self, x, data, quantisation):
        order = [0] + self.random.sample([1, 2, 3], 3)
        moved = self.operate(tfl.TRANSPOSE, [x, self.model.integers("order", order)],
                             (np.transpose(data, order), *quantisation))
        return self.random.choice([self.unary, self.pool, self.convolution])(moved)

    def reshaped(self, x, shape):
        data, *quantisation = self.values[x]
        return self.operate(tfl.RESHAPE, [x, self.model.integers("shape", list(shape))], (data.reshape(shape), *quantisation))

    def transposed(self, x, order):
        data, *quantisation = self.values[x]
        return self.operate(tfl.TRANSPOSE, [x, self.model.integers("order", order)], (np.transpose(data, order), *quantisation))

    def shuffle(self, x, data, quantisation):
        """Channels of groups take turns; or those of a pixel become a square of pixels."""
        (_, height, width, channels), pick = data.shape, self.random
        if channels % 4 == 0 and pick.random() < 0.5:
            parts = self.transposed(self.reshaped(x, (1, height, width, 2, 2, channels // 4)), [0, 1, 3, 2, 4, 5])
            return self.convolution(self.reshaped(parts, (1, 2 * height, 2 * width, channels // 4)))
        groups = pick.choice([n for n in range(1, channels + 1) if channels % n == 0])
        parts = self.transposed(self.reshaped(x, (1, height, width, groups, channels // groups)), [0, 1, 2, 4, 3])
        return pick.choice([self.unary, self.pool, self.convolution])(self.reshaped(parts, data.shape))

    def reshape(self, x, data, quantisation):
        """Behind a transposition, to dimensions that cut through its own, or not."""
        moved = self.transposed(x, [0] + self.random.sample([1, 2, 3], 3))
        a, b, c = self.random.sample(data.shape[1:], 3)
        again = self.reshaped(moved, self.random.choice([(1, a, b, c), (1, 1, a * b, c), (1, a, 1, b * c)]))
        return self.random.choice([self.unary, self.pool, self.convolution])(again)

    def resize(self, x, data, quantisation):
        (_, height, width, _), pick = data.shape, self.random
        size, (corners, half) = (pick.randint(1, 12), pick.randint(1, 12)), pick.choice([(0, 0), (1, 0), (0, 1)])
        inputs = [x, self.model.integers("size", list(size))]
        if pick.random() < 0.5:
            rows, columns = (reference.nearest_positions(*pair, corners, half) for pair in zip(size, (height, width)))
            return self.operate(tfl.RESIZE_NEAREST_NEIGHBOR, inputs, (data[:, rows][:, :, columns], *quantisation),
                                (74, {0: ("b", corners), 1: ("b", half)}))
        rows, columns = (reference.bilinear_positions(*pair, corners, half) for pair in zip(size, (height, width)))
        return self.operate(tfl.RESIZE_BILINEAR, inputs, (reference.bilinear(data, rows, columns), *quantisation),
                            (15, {2: ("b", corners), 3: ("b", half)}))

    def rearrange(self, x):
        """Moves of elements, often of a tensor that is turned, and something behind that wants an image."""
        if self.random.random() < 0.3:
            x = self.transposed(x, [0] + self.random.sample([1, 2, 3], 3))
        ways = [self.gather, self.reverse, self.mirror, self.tile, self.stack, self.cut, self.blocks, self.island]
        moved = self.random.choice(ways)(x, *self.values[x])
        big = self.values[moved][0].size > 3000
        return self.random.choice([self.unary] if big else [self.unary, self.pool, self.convolution])(moved)

    def some_shape(self, size, rank):
        """Dimensions of that many elements."""
        shape, factor = [1] * rank, 2
        while size > 1:
            factor = next(f for f in range(factor, size + 1) if size % f == 0)
            shape[self.random.randrange(rank)] *= factor
            size //= factor
        return tuple(shape)

    def any_rank(self, x):
        """A sum, a product or a difference with its own means along some dimensions, or with constants; two to five dimensions,
        and in other orders before and behind."""
        data, pick = self.values[x][0], self.random
        rank = pick.randint(2, 5)
        y = self.reshaped(x, self.some_shape(data.size, rank))
        y = self.transposed(y, pick.sample(range(rank), rank)) if pick.random() < 0.7 else y
        shape, kind = self.values[y][0].shape, pick.choice(["add", "subtract", "multiply"])
        if pick.random() < 0.5:
            axes = pick.sample(range(rank), pick.randint(1, rank))
            other = self.operate(tfl.MEAN, [y, self.model.integers("axes", axes)],
                                 reference.mean(self.values[y], axes, self.quantisation()), (27, {0: ("b", 1)}))
            value = self.values[other]
        else:
            scale, zero = self.quantisation()
            value = self.integers(*[n if pick.random() < 0.5 else 1 for n in shape]), scale, zero
            other = self.model.tensor("constant", list(value[0].shape), tfl.INT8, scale, zero, value[0].astype(np.int8).tobytes())
        pair = [(y, self.values[y]), (other, value)]
        pick.shuffle(pair)
        y = self.arithmetic(kind, [i for i, _ in pair], [v for _, v in pair], pick.choice([0, 1, 2, 3]))
        y = self.transposed(y, pick.sample(range(rank), rank)) if pick.random() < 0.7 else y
        y = self.reshaped(y, (1, *self.some_shape(data.size, 3)))
        return pick.choice([self.unary, self.pool, self.convolution])(y)

    def computed(self, indices):
        """The model computes them, as PyTorch does those of a border that is reflected."""
        given = self.model.integers("given", [i * self.random.choice([-1, 1]) for i in indices])
        def number(code, inputs, kind=tfl.INT32):
            self.model.operator(code, inputs, [self.model.tensor("number", [len(indices)], kind)])
            return len(self.model.tensors) - 1
        below = number(tfl.LESS, [given, self.model.integers("zero", [0])], tfl.BOOL)
        return number(tfl.SELECT, [below, number(tfl.ABS, [given]), given])

    def images(self, x):
        """Images of a batch, as of a sequence, through layers that slide a window over each."""
        y = self.reshaped(x, self.some_shape(self.values[x][0].size, 4))
        for _ in range(self.random.randint(1, 3)):
            y = self.random.choice([self.convolution, self.depthwise, self.pool])(y)
        return self.reshaped(y, (1, *self.some_shape(self.values[y][0].size, 3)))

    def gather(self, x, data, *quantisation):
        axis, pick = self.random.choice([1, 2, 3]), self.random
        indices = [pick.randrange(data.shape[axis]) for _ in range(pick.randint(1, 5))]
        if axis == 1 and pick.random() < 0.5:  # as rows of two indices
            rows = np.array([[[0, i] for i in indices]], np.int32)
            return self.operate(tfl.GATHER_ND, [x, self.model.tensor("rows", rows.shape, tfl.INT32, data=rows.tobytes())],
                                (np.take(data, indices, axis), *quantisation))
        rows = self.computed(indices) if pick.random() < 0.3 else self.model.integers("indices", indices)
        return self.operate(tfl.GATHER, [x, rows], (np.take(data, indices, axis), *quantisation),
                            (23, {0: ("i", pick.choice([axis, axis - 4]))}))

    def reverse(self, x, data, *quantisation):
        axes = self.random.sample([1, 2, 3], self.random.randint(1, 2))
        return self.operate(tfl.REVERSE_V2, [x, self.model.integers("axes", axes)], (np.flip(data, axes), *quantisation))

    def mirror(self, x, data, *quantisation):
        mode = self.random.choice([0, 1])
        pads = [(0, 0)] + [tuple(self.random.randint(0, min(2, size - 1 + mode)) for _ in range(2)) for size in data.shape[1:]]
        result = np.pad(data, pads, mode="symmetric" if mode else "reflect")
        return self.operate(tfl.MIRROR_PAD, [x, self.model.integers("borders", [n for pair in pads for n in pair], [4, 2])],
                            (result, *quantisation), (77, {0: ("b", mode)}))

    def tile(self, x, data, *quantisation):
        """Of a dimension of its own, which is joined to the next: rows or columns twice; or of what is there."""
        times, axis = self.random.randint(1, 2), self.random.choice([1, 2])
        if self.random.random() < 0.5:
            repeats = [1, times, self.random.randint(1, 2), 1]
            return self.operate(tfl.TILE, [x, self.model.integers("times", repeats)], (np.tile(data, repeats), *quantisation))
        shape = list(data.shape)
        longer = self.reshaped(x, (*shape[:axis + 1], 1, *shape[axis + 1:]))
        repeats = [1] * 5
        repeats[axis + 1] = times
        tiled = self.operate(tfl.TILE, [longer, self.model.integers("times", repeats)],
                             (np.tile(self.values[longer][0], repeats), *quantisation))
        shape[axis] *= times
        return self.reshaped(tiled, tuple(shape))

    def stack(self, x, data, *quantisation):
        """Apart along one axis, together along another, in another order."""
        axis, other = self.random.choice([1, 2, 3]), self.random.choice([1, 2, 3])
        parts = [self.tensor((np.take(data, i, axis), *quantisation)) for i in range(data.shape[axis])]
        self.model.operator(tfl.UNPACK, [x], parts, (64, {0: ("i", len(parts)), 1: ("i", axis)}))
        parts = self.random.sample(parts, self.random.randint(1, len(parts)))
        return self.operate(tfl.PACK, parts, (np.stack([self.values[i][0] for i in parts], other), *quantisation),
                            (59, {0: ("i", len(parts)), 1: ("i", other)}))

    def cut(self, x, data, *quantisation):
        """Backwards, to the end, and with a dimension that is dropped and made again."""
        axis, pick = self.random.choice([1, 2, 3]), self.random
        begin, end, step, drop = [0] * 4, list(data.shape), [1] * 4, 0
        if pick.random() < 0.5:
            begin[axis], end[axis], step[axis], drop = pick.choice([-1, 0]), 1, 1, 1 << axis
            part = np.take(data, begin[axis], axis)
        else:
            begin[axis], end[axis], step[axis] = data.shape[axis] - 1, -data.shape[axis] - 1, -pick.randint(1, 2)
            part = data[tuple(np.s_[::step[axis]] if i == axis else np.s_[:] for i in range(4))]
        inputs = [self.model.integers(name, numbers) for name, numbers in (("begin", begin), ("end", end), ("step", step))]
        cut = self.operate(tfl.STRIDED_SLICE, [x] + inputs, (part, *quantisation), (32, {4: ("i", drop)}))
        return self.reshaped(cut, np.expand_dims(part, axis).shape) if drop else cut

    def blocks(self, x, data, *quantisation):
        _, height, width, channels = data.shape
        if channels % 4 == 0 and self.random.random() < 0.7:
            parts = data.reshape(1, height, width, 2, 2, channels // 4).transpose(0, 1, 3, 2, 4, 5)
            return self.operate(tfl.DEPTH_TO_SPACE, [x], (parts.reshape(1, 2 * height, 2 * width, channels // 4), *quantisation),
                                (94, {0: ("i", 2)}))
        if height % 2 or width % 2:
            return x
        parts = data.reshape(1, height // 2, 2, width // 2, 2, channels).transpose(0, 1, 3, 2, 4, 5)
        return self.operate(tfl.SPACE_TO_DEPTH, [x], (parts.reshape(1, height // 2, width // 2, 4 * channels), *quantisation),
                            (19, {0: ("i", 2)}))

    def normalised(self, x, data, scale, zero):
        """Channels by the root of their squares' sum, in real numbers; none of them near the middle of two steps."""
        real = float(np.float32(scale)) * (data - zero)
        root, output = np.sqrt((real * real).sum(-1, keepdims=True)), (self.random.uniform(0.004, 0.01), self.random.randint(-20, 20))
        steps = real / np.where(root == 0, 1, root) / float(np.float32(output[0]))
        if np.any(np.abs(np.abs(steps - np.floor(steps)) - 0.5) < 1e-3):
            return x
        inside, result = (self.model.tensor(name, list(data.shape), tfl.FLOAT32) for name in ("inside", "normal"))
        self.model.operator(tfl.DEQUANTIZE, [x], [inside])
        self.model.operator(tfl.L2_NORMALIZATION, [inside], [result], (12, {}))
        whole = np.clip(np.rint(steps) + output[1], -128, 127).astype(np.int64)
        return self.operate(tfl.QUANTIZE, [result], (whole, float(np.float32(output[0])), output[1]))

    def island(self, x, data, scale, zero):
        """Real numbers in between: each of one element."""
        if self.random.random() < 0.4:
            return self.normalised(x, data, scale, zero)
        real = (np.float32(scale) * (data - zero).astype(np.float32)).astype(np.float32)
        names = iter(range(9))
        floats = lambda: self.model.tensor("real%d" % next(names), list(data.shape), tfl.FLOAT32)
        number = np.float32(self.random.uniform(-2, 2))
        constant = self.model.tensor("number", [], tfl.FLOAT32, data=number.tobytes())
        inside, product, result = floats(), floats(), floats()
        self.model.operator(tfl.DEQUANTIZE, [x], [inside])
        if self.random.random() < 0.3:  # integers, selected by what a real number is
            truth = self.model.tensor("truth", list(data.shape), tfl.BOOL)
            other = np.int8(self.random.randint(-128, 127))
            self.model.operator(reference.COMPARISONS["greater"][0], [inside, constant], [truth])
            choices = [x, self.model.tensor("other", [], tfl.INT8, scale, zero, data=other.tobytes())]
            return self.operate(tfl.SELECT_V2, [truth] + choices, (np.where(real > number, data, int(other)), scale, zero))
        self.model.operator(tfl.MUL, [inside, constant], [product], (21, {}))
        if self.random.random() < 0.5:
            self.model.operator(tfl.RELU, [product], [result])
            y = np.maximum(real * number, np.float32(0))
        else:
            truth = self.model.tensor("truth", list(data.shape), tfl.BOOL)
            self.model.operator(reference.COMPARISONS["greater"][0], [inside, constant], [truth])
            self.model.operator(tfl.SELECT_V2, [truth, product, constant], [result])
            y = np.where(real > number, real * number, number).astype(np.float32)
        if self.random.random() < 0.4:  # as rotary positions are, where there is no NEG of 8 bits
            joined = self.model.tensor("joined", [*data.shape[:-1], 2 * data.shape[-1]], tfl.FLOAT32)
            self.model.operator(tfl.CONCATENATION, [result, inside], [joined], (10, {0: ("i", data.ndim - 1)}))
            result, y = joined, np.concatenate([y, real], -1)
        output_scale, output_zero = self.quantisation()
        steps = y / np.float32(output_scale)
        whole = np.floor(np.abs(steps) + np.float32(0.5)) * np.sign(steps)
        whole = np.where(np.abs(steps) - np.floor(np.abs(steps)) < 0.5, np.floor(np.abs(steps)) * np.sign(steps), whole)
        return self.operate(tfl.QUANTIZE, [result], (np.clip(whole + output_zero, -128, 127).astype(np.int64), output_scale, output_zero))

    def repeated(self, x):
        """Operands of which one is repeated along some dimensions."""
        value, pick = self.values[x], self.random
        axes = pick.sample([1, 2, 3], pick.randint(1, 2))
        small = self.operate(tfl.REDUCE_MAX, [x, self.model.integers("axes", axes)],
                             (np.max(value[0], axis=tuple(axes), keepdims=True), *value[1:]), (27, {0: ("b", 1)}))
        pair = [x, small] if pick.random() < 0.5 else [small, x]
        kind, values = pick.choice(["add", "subtract", "multiply", "maximum"]), [self.values[i] for i in pair]
        if kind == "maximum":
            return self.extreme(kind, pair, values)
        return self.arithmetic(kind, pair, values, pick.choice([0, 1, 2, 3]))

    def dilated(self, x):
        """Blocks as images of a batch, as Keras has them around a convolution, or two that read the same: the file says one image."""
        (data, scale, zero), pick, block = self.values[x], self.random, self.random.randint(2, 3)
        _, height, width, channels = data.shape
        pads = [(block, block + -(size + 2 * block) % block) for size in (height, width)]
        padded = np.pad(data, ((0, 0), *pads, (0, 0)), constant_values=zero)
        inside, outputs = [size // block for size in padded.shape[1:3]], pick.randint(1, 5)
        parts = self.operate(tfl.SPACE_TO_BATCH_ND, [x, self.model.integers("block", [block] * 2),
                                                     self.model.integers("pads", [n for pair in pads for n in pair], [2, 2])],
                             (padded, scale, zero), None, [block * block, *inside, channels])
        crops = [0, pads[0][1] - block, 0, pads[1][1] - block]

        def convolved():
            output = self.quantisation()
            tensors, weights, scales, bias = self.weights([outputs, 3, 3, channels], outputs, 0, scale, True)
            whole = reference.convolution((padded, scale, zero), weights, scales, bias, output, (1, 1), (block, block), False, 0, False)
            sums = self.operate(tfl.CONV_2D, [parts] + tensors, whole, (1, {0: ("b", 1), 1: ("i", 1), 2: ("i", 1)}),
                                [block * block, inside[0] - 2, inside[1] - 2, outputs])
            result = whole[0][:, :height, :width], *whole[1:]
            return self.operate(tfl.BATCH_TO_SPACE_ND, [sums, self.model.integers("block", [block] * 2),
                                                        self.model.integers("crops", crops, [2, 2])], result)

        first = convolved()
        if pick.random() < 0.5:
            return first
        pair = [first, convolved()]
        return self.arithmetic("add", pair, [self.values[i] for i in pair], 0)
