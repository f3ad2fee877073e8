"""Attention in random networks: products of two activations, masks, softmax, heads; for random_networks.py."""
import numpy as np

import reference
import tflite_writer as tfl


class Attention:
    """Methods of a network; each takes a tensor of one image and gives the next."""

    def product(self, x, y, first_is_turned=False, second_is_turned=False):
        """Of tensors whose last two dimensions are rows and terms, terms and columns; turned: the other way round."""
        values = [self.values[x], self.values[y]]
        factors = [np.swapaxes(data - zero, -1, -2) if turned else data - zero
                   for (data, _, zero), turned in zip(values, (first_is_turned, second_is_turned))]
        sums, scale = factors[0] @ factors[1], values[0][1] * values[1][1]
        output = float(np.float32(scale * max(np.abs(sums).max(), 1) / 140)), self.random.randint(-60, 60)
        return self.operate(tfl.BATCH_MATMUL, [x, y], reference.finish(reference.scaled(sums, scale / output[0]), *output),
                            (101, {0: ("b", int(first_is_turned)), 1: ("b", int(second_is_turned))}))

    def matrices(self, x):
        """A tensor by another of its size, each as it is or turned, or by a constant matrix."""
        value, pick = self.values[x], self.random
        _, height, width, channels = value[0].shape
        shape = pick.choice([(1, height, width, channels), (height, width, channels), (height * width, channels)])
        a = self.reshaped(x, shape)
        if pick.random() < 0.3:
            numbers, (scale, zero) = self.integers(pick.randint(1, 9), width if len(shape) > 2 else height * width), self.quantisation()
            b = self.model.tensor("matrix", list(numbers.shape), tfl.INT8, scale, zero, numbers.astype(np.int8).tobytes())
            self.values[b] = numbers, scale, zero
            y = self.product(b, a)
        elif pick.random() < 0.5:
            y = self.product(a, self.reshaped(self.unary(x), shape), False, True)
        else:
            y = self.product(a, self.reshaped(self.unary(x), shape), True, False)
        return self.reshaped(y, (1,) * (4 - self.values[y][0].ndim) + self.values[y][0].shape)

    def projected(self, x, outputs, shape=None):
        value, per_channel = self.values[x], self.random.random() < 0.5
        tensors, data, scales, bias = self.weights([outputs, value[0].shape[-1]], outputs, 0, value[1], per_channel)
        scale = value[1] * float(np.mean(scales)) * 70 * np.sqrt(value[0].shape[-1])
        output = float(np.float32(scale)), self.random.randint(-40, 40)
        result, *more = reference.fully_connected(value, data, scales, bias // 20, output, 0)
        tensors = tensors[:1] + ([self.model.tensor("b", [outputs], tfl.INT32, [value[1] * s for s in scales], 0,
                                                    (bias // 20).astype(np.int32).tobytes())] if len(tensors) > 1 else [])
        result = result.reshape(shape or (*value[0].shape[:-1], outputs))
        return self.operate(tfl.FULLY_CONNECTED, [x] + tensors, (result, *more), (8, {0: ("b", 0), 2: ("b", int(not shape))}))

    def softened(self, x):
        if self.values[x][1] < 1e-7:  # of which a softmax is flat
            return x
        return self.operate(tfl.SOFTMAX, [x], reference.softmax(self.values[x], 1.0), (9, {0: ("f", 1.0)}))

    def masked(self, x, tokens):
        """Those behind a token are hidden from it: a constant for each pair."""
        if tokens * tokens > 65535:  # more are no constant
            return x
        value, scale = self.values[x], float(np.float32(self.random.uniform(0.02, 0.2)))
        numbers = np.where(np.triu(np.ones((tokens, tokens)), 1) > 0, -128, 0).astype(np.int64)
        mask = self.model.tensor("mask", [tokens, tokens], tfl.INT8, scale, 0, numbers.astype(np.int8).tobytes())
        result = reference.add(value, (numbers, scale, 0), (max(value[1], scale), self.random.randint(0, 60)), 0)
        return self.operate(tfl.ADD, [x, mask], result, (11, {0: ("b", 0)}))

    def attention(self, x):
        return self.attend(x, self.random.randint(1, 8), self.random.randint(1, 9))

    def attend(self, x, heads, depth):
        """Of the pixels of an image, or its rows' pixels."""
        pick = self.random
        _, height, width, channels = self.values[x][0].shape
        tokens = height * width
        rows = self.reshaped(x, (1, tokens, channels))
        q, k, v = (self.transposed(self.reshaped(self.projected(rows, heads * depth), (1, tokens, heads, depth)), [0, 2, 1, 3])
                   for _ in range(3))
        if pick.random() < 0.5:
            q, k, v = (self.reshaped(part, (heads, tokens, depth)) for part in (q, k, v))
        if pick.random() < 0.5:
            scores = self.product(q, k, False, True)
        else:
            order = list(range(self.values[k][0].ndim))
            scores = self.product(q, self.transposed(k, order[:-2] + order[:-3:-1]))
        if pick.random() < 0.5:
            scores = self.masked(scores, tokens)
        y = self.product(self.softened(scores), v)
        y = self.transposed(self.reshaped(y, (1, heads, tokens, depth)), [0, 2, 1, 3])
        y = self.reshaped(y, (1, tokens, heads * depth))
        if pick.random() < 0.3:  # windows, whose rows the layer gives in dimensions of their own
            y = self.transposed(self.projected(y, channels, (1, height, 1, width, 1, channels)), [0, 3, 2, 1, 4, 5])
            return self.reshaped(y, (1, width, height, channels))
        return self.reshaped(self.projected(y, channels), (1, height, width, channels))

    def filling(self, real, least=4e-6):
        """The quantisation of which these numbers fill the elements, of a scale that is not too small."""
        low, high = min(float(real.min()), 0.0), max(float(real.max()), 0.0)
        scale = float(np.float32(max((high - low) / 250, least)))
        return scale, int(np.clip(round(-128 - low / scale), -128, 127))

    def real(self, x):
        data, scale, zero = self.values[x]
        return (data - zero) * scale

    def mean(self, x, axis):
        output = self.filling(self.real(x).mean(axis, keepdims=True))
        return self.operate(tfl.MEAN, [x, self.model.integers("axes", [axis])], reference.mean(self.values[x], [axis], output),
                            (27, {0: ("b", 1)}))

    def pair(self, x, y, kind):
        """The sum, difference or product of two tensors."""
        code, option, function, real = {
            "add": (tfl.ADD, 11, reference.add, np.add), "multiply": (tfl.MUL, 21, reference.multiply, np.multiply),
            "subtract": (tfl.SUB, 28, lambda *values: reference.add(*values, -1), np.subtract)}[kind]
        output = self.filling(real(self.real(x), self.real(y)))
        return self.operate(code, [x, y], function(self.values[x], self.values[y], output, 0), (option, {0: ("b", 0)}))

    def number(self, shape, low, high):
        """A constant of random numbers."""
        data, scale = self.numbers.randint(low, high, shape).astype(np.int64), float(np.float32(self.random.uniform(0.005, 0.02)))
        constant = self.model.tensor("constant", list(shape), tfl.INT8, scale, 0, data.astype(np.int8).tobytes())
        self.values[constant] = data, scale, 0
        return constant

    def normed(self, x):
        """Of each row, column or channel, operator by operator: ((x - mean) * root) * factor + term, multiplied out or not."""
        axis = self.random.choice([3, 3, 3, 1, 2])
        shape = [1 if i != axis else n for i, n in enumerate(self.values[x][0].shape)]
        mean, factor, term = self.mean(x, axis), self.number(shape, 20, 128), self.number(shape, -128, 128)
        values = self.values[x], self.values[mean]
        output = self.filling((self.real(x) - self.real(mean)) ** 2, max(value[1] for value in values) ** 2 / 1000)
        squares = reference.squared_difference(*values, output)
        variance = self.mean(self.operate(tfl.SQUARED_DIFFERENCE, [x, mean], squares), axis)
        variance = self.pair(variance, self.number([1] * 4, 1, 9), "add")
        root = 1 / np.sqrt(np.maximum(self.real(variance), self.values[variance][1]))
        root = self.operate(tfl.RSQRT, [variance], reference.reciprocal_root(self.values[variance], self.filling(root)))
        if self.random.random() < 0.5:
            normal = self.pair(self.pair(self.pair(x, mean, "subtract"), root, "multiply"), factor, "multiply")
            return self.pair(normal, term, "add")
        factor = self.pair(root, factor, "multiply")
        return self.pair(self.pair(x, factor, "multiply"), self.pair(term, self.pair(mean, factor, "multiply"), "subtract"), "add")

    def token(self, x):
        """A constant in front of the pixels, and one of full shape added to them."""
        (data, scale, zero), pick = self.values[x], self.random
        _, height, width, channels = data.shape
        numbers = self.integers(1, 1, channels)
        first = self.model.tensor("token", [1, 1, channels], tfl.INT8, scale, zero, numbers.astype(np.int8).tobytes())
        rows = self.reshaped(x, (1, height * width, channels))
        parts, order = [(first, numbers), (rows, data.reshape(1, -1, channels))], pick.choice([1, -1])
        joined = np.concatenate([part for _, part in parts[::order]], 1)
        y = self.operate(tfl.CONCATENATION, [index for index, _ in parts[::order]], (joined, scale, zero), (10, {0: ("i", 1)}))
        return self.reshaped(y, (1, height * width + 1, 1, channels))
