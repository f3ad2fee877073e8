"""Attention in random networks: products of two activations, masks, softmax, heads, tokens; for random_networks.py."""
import numpy as np

FLOAT = np.float32


class Attention:
    """Methods of a builder; each takes a quantised image and gives the next."""

    def same(self, x, kind, inputs, shape, **attributes):
        """A node that moves elements, quantised as x."""
        return self.quantised(self.node(kind, [self.real(x), *inputs], **attributes), tuple(shape), x.scale, x.zero_point)

    def shaped(self, x, shape):
        return self.same(x, "Reshape", [self.constant(np.array(shape))], shape)

    def turned(self, x, order):
        return self.same(x, "Transpose", [], [x.shape[i] for i in order], perm=order)

    def product(self, a, b):
        terms = a.shape[-1]
        front = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        scale = FLOAT(a.scale * b.scale * 60 * np.sqrt(terms) * np.exp(self.random.uniform(-0.5, 1.5)))
        return self.quantised(self.node("MatMul", [self.real(a), self.real(b)]), (*front, a.shape[-2], b.shape[-1]), scale)

    def matrices(self, x):
        """A tensor by another of its size, of which one is turned, or a constant matrix by a tensor."""
        shape = self.pick([x.shape, x.shape[1:], (x.shape[1], x.shape[2] * x.shape[3])])
        if int(np.prod(shape)) * max(shape) > 1 << 20:  # elements of the product, which more of these would square again
            return x
        a, order = self.shaped(x, shape), list(range(len(shape)))
        order = order[:-2] + order[:-3:-1]
        if self.number(0, 2) == 0:
            integers, scale = self.random.integers(-127, 128, (self.number(1, 6), shape[-2])).astype(np.int8), self.scale()
            constant = Constant(self.constant(integers, "m"), integers.shape, scale, np.int8(self.number(-9, 9)))
            y = self.product(constant, a)
        else:
            pair = [a, self.turned(self.shaped(self.unary(x), shape), order)]
            y = self.product(*(pair if self.number(0, 1) else [pair[1], pair[0]]))
        return self.shaped(y, (1,) * (4 - len(y.shape)) + tuple(y.shape))

    def projected(self, x, outputs):
        weights, scales = self.weights((x.shape[-1], outputs), 1, False)
        real = self.node("MatMul", [self.real(x), weights])
        scale = FLOAT(x.scale * scales[0] * 70 * np.sqrt(x.shape[-1]))
        return self.quantised(real, (*x.shape[:-1], outputs), scale)

    def attention(self, x):
        """Of the pixels of an image."""
        _, channels, height, width = x.shape
        tokens, heads, depth = height * width, self.number(1, 8), self.number(1, 9)
        if tokens > 90:
            return x
        rows = self.turned(self.shaped(x, (1, channels, tokens)), [0, 2, 1])
        parts = [self.shaped(self.projected(rows, heads * depth), (1, tokens, heads, depth)) for _ in range(3)]
        turned_key = self.number(0, 1)
        q, k, v = (self.turned(part, [0, 2, 3, 1] if turned_key and i == 1 else [0, 2, 1, 3]) for i, part in enumerate(parts))
        k = k if turned_key else self.turned(k, [0, 1, 3, 2])
        scores = self.product(q, k)
        if self.number(0, 1):
            scores = self.masked(scores, tokens)
        if self.opset < 13:
            return x
        axis = self.pick([-1, -1, 3, 2])
        weights = self.quantised(self.node("Softmax", [self.real(scores)], axis=axis), scores.shape, FLOAT(1 / 255), np.uint8(0))
        y = self.shaped(self.turned(self.product(weights, v), [0, 2, 1, 3]), (1, tokens, heads * depth))
        return self.shaped(self.turned(self.projected(y, channels), [0, 2, 1]), x.shape)

    def masked(self, x, tokens):
        """Those behind a token are hidden from it: a constant for each pair."""
        scale, zero = FLOAT(self.random.uniform(0.02, 0.2)), np.uint8(255)
        integers = np.where(np.triu(np.ones((tokens, tokens)), 1) > 0, 0, 255).astype(np.uint8)
        mask = Constant(self.constant(integers, "m"), integers.shape, scale, zero)
        return self.quantised(self.node("Add", [self.real(x), self.real(mask)]), x.shape, FLOAT(max(x.scale, scale)))

    def token(self, x):
        """A constant in front of the pixels or behind them."""
        _, channels, height, width = x.shape
        rows = self.turned(self.shaped(x, (1, channels, height * width)), [0, 2, 1])
        limits = np.iinfo(x.zero_point.dtype)
        integers = self.random.integers(limits.min, limits.max + 1, (1, 1, channels)).astype(x.zero_point.dtype)
        parts = [rows, Constant(self.constant(integers, "t"), integers.shape, self.pick([x.scale, FLOAT(x.scale / 2)]), x.zero_point)]
        parts = parts if self.number(0, 1) else parts[::-1]
        y = self.quantised(self.node("Concat", [self.real(part) for part in parts], axis=1), (1, height * width + 1, channels))
        return self.shaped(self.turned(y, [0, 2, 1]), (1, channels, height * width + 1, 1))


class Constant:
    """As a tensor of the network: integers, shape, scale and zero point."""

    def __init__(self, name, shape, scale, zero_point):
        self.name, self.shape, self.scale, self.zero_point = name, shape, scale, zero_point
