"""Tensors of two to five dimensions in any order, and what is chosen of them, in random networks; for random_networks.py."""
import numpy as np

FLOAT = np.float32


class Views:
    """Methods of a builder; each takes a quantised image and gives the next."""

    def some_shape(self, size, rank):
        """As many elements, in so many dimensions."""
        shape = [1] * rank
        for factor in (2, 3, 5, 7, 11):
            while size % factor == 0:
                size //= factor
                shape[self.number(0, rank - 1)] *= factor
        shape[self.number(0, rank - 1)] *= size
        return shape

    def order(self, rank):
        return [int(i) for i in self.random.permutation(rank)]

    def rounded(self, real, shape, scale=None):
        """Sometimes only once it is in another order."""
        if self.number(0, 2):
            return self.quantised(real, shape, scale)
        order = self.order(len(shape))
        y = self.quantised(self.node("Transpose", [real], perm=order), [shape[i] for i in order], scale)
        return self.turned(y, [order.index(i) for i in range(len(order))])

    def partner(self, y):
        """Another operand: a constant, or the largest or least along some dimensions; either is repeated."""
        if self.number(0, 1):
            shape = [n if self.number(0, 1) else 1 for n in y.shape]
            kind = self.pick([np.int8, np.uint8])
            limits = np.iinfo(kind)
            integers = self.random.integers(limits.min, limits.max + 1, shape).astype(kind)
            scale = FLOAT(2.0 ** -self.number(3, 8))  # of which the real numbers are exact in float32
            return type(y)(self.constant(integers, "k"), shape, scale, kind(self.number(limits.min, limits.max)))
        axes = sorted(self.order(len(y.shape))[:self.number(1, len(y.shape))])
        lists = {"axes": axes} if self.opset < 18 else {}
        more = [] if lists else [self.constant(np.array(axes))]
        real = self.node(self.pick(["ReduceMax", "ReduceMin"]), [self.real(y)] + more, keepdims=1, **lists)
        return self.quantised(real, [1 if i in axes else n for i, n in enumerate(y.shape)], y.scale, y.zero_point)

    def any_rank(self, x):
        """Arithmetic of two operands, in other orders before and behind."""
        rank = self.number(2, 5)
        if np.prod(x.shape) > 65535:  # rows of a reduction of all elements
            return x
        y = self.shaped(x, self.some_shape(int(np.prod(x.shape)), rank))
        y = self.turned(y, self.order(rank)) if self.number(0, 2) else y
        pair = [y, self.partner(y)]
        self.random.shuffle(pair)
        kind = self.pick(["Add", "Sub", "Mul", "Max", "Min"])
        real = self.node(kind, [self.real(tensor) for tensor in pair])
        scale = FLOAT(y.scale * pair[0].scale * 90) if kind == "Mul" else None
        y = self.rounded(self.bounded(real) if kind not in ("Max", "Min") else real, y.shape, scale)
        y = self.turned(y, self.order(rank)) if self.number(0, 2) else y
        return self.shaped(y, [1] + self.some_shape(int(np.prod(y.shape)), 3))

    def divided(self, x):
        """Of scales that are powers of two, of which many quotients are halves."""
        def power(y, shape):
            return self.quantised(y, shape, FLOAT(2.0 ** -self.number(4, 6)))
        shape = (*x.shape[:2], *([1, 1] if self.number(0, 1) else x.shape[2:]))
        numerator = power(self.node("Identity", [self.real(x)]), x.shape)
        denominator = self.real(self.unary(x))
        if shape != x.shape:
            lists = {"axes": [2, 3]} if self.opset < 18 else {}
            denominator = self.node("ReduceMax", [denominator] + ([] if lists else [self.constant(np.array([2, 3]))]), keepdims=1, **lists)
        pair = [self.real(numerator), self.real(power(denominator, shape))]
        return self.quantised(self.node("Div", pair), x.shape, FLOAT(2.0 ** -self.number(2, 5)))

    def comparison(self, x, other):
        """Of a tensor with a number, numbers of each channel, or a tensor of another scale."""
        numbers = (x.scale * self.random.integers(-90, 90, (x.shape[1], 1, 1))).astype(FLOAT)
        partner = self.quantised(self.node("Identity", [self.real(other)]), x.shape)
        bound = self.pick([self.constant(numbers.ravel()[0]), self.constant(numbers), self.real(partner), self.real(partner)])
        kinds = ["Greater", "Less"] + (["GreaterOrEqual", "LessOrEqual"] if self.opset >= 12 else [])
        pair = [self.real(self.pick([x, other])), bound]
        return self.node(self.pick(kinds), pair if self.number(0, 1) else pair[::-1])

    def joined(self, x):
        """What is joined of several scales and rounded only behind another operator, as NNCF leaves it."""
        parts = [self.real(x)] + [self.real(self.unary(x)) for _ in range(self.number(1, 2))]
        axis, shape = self.number(1, 3), list(x.shape)
        shape[axis] *= len(parts)
        real = self.node("Concat", parts, axis=axis)
        way = self.pick(["bounds", "function", "channels", "channel", "sum", "mean", "turn", "slice", "again"])
        if way == "bounds":
            real = self.node("Clip", [real, self.constant(FLOAT(-1)), self.constant(FLOAT(self.random.uniform(0.5, 6)))])
        elif way == "function":
            real = self.node(self.pick(["Sigmoid", "Tanh"]), [self.bounded(real)])
        elif way == "channels":
            numbers = [self.constant(self.random.uniform(low, 2, shape[1]).astype(FLOAT)) for low in (-2, -2, -2, 0.1)]
            real = self.bounded(self.node("BatchNormalization", [real, *numbers]))
        elif way == "channel":
            numbers = self.random.uniform(-2, 2, (shape[1], 1, 1)).astype(FLOAT)
            real = self.node(self.pick(["Add", "Sub", "Mul"]), [real, self.constant(numbers)])
        elif way == "sum":
            other = self.unary(self.quantised(real, shape))
            pair = [real, self.real(other)]
            real = self.bounded(self.node(self.pick(["Add", "Sub"]), pair if self.number(0, 1) else pair[::-1]))
        elif way == "mean":
            axes = [i for i in (2, 3) if i != axis]
            lists = {"axes": axes} if self.opset < 18 else {}
            real = self.node("ReduceMean", [real] + ([] if lists else [self.constant(np.array(axes))]), keepdims=1, **lists)
            shape = [1 if i in axes else n for i, n in enumerate(shape)]
        elif way == "slice":
            first = self.number(0, shape[axis] - 1)
            last = self.number(first + 1, shape[axis])
            ends = [self.constant(np.array([number])) for number in (first, last, axis, 1)]
            real, shape[axis] = self.node("Slice", [real, *ends]), last - first
        elif way == "again":
            real, shape[axis] = self.node("Concat", [real, parts[-1]], axis=axis), shape[axis] // len(parts) * (len(parts) + 1)
        if way == "turn" or (self.number(0, 2) == 0 and way not in ("channels", "channel")):
            y = self.quantised(self.node("Transpose", [real], perm=[0, 2, 3, 1]), [shape[i] for i in (0, 2, 3, 1)])
            return self.turned(y, [0, 3, 1, 2])
        return self.quantised(real, shape)

    def select(self, x):
        """By comparisons, or a constant; of tensors of one scale, or numbers of it."""
        other = self.quantised(self.node("Identity", [self.real(self.unary(x))]), x.shape, x.scale, x.zero_point)
        if self.number(0, 1):
            mask = self.random.integers(0, 2, [n if self.number(0, 1) else 1 for n in x.shape]).astype(bool)
            truth = self.constant(mask, "mask")
        else:
            truth = self.comparison(x, other)
            if self.number(0, 2) == 0:
                truth = self.node(self.pick(["And", "Or"]), [truth, self.comparison(x, other)])
            truth = self.node("Not", [truth]) if self.number(0, 2) == 0 else truth
        choices = [self.real(self.pick([x, other])) if self.number(0, 2) else
                   self.constant(FLOAT(x.scale * self.number(-90, 90))) for _ in range(2)]
        if all(choice.startswith("c") for choice in choices):
            choices[0] = self.real(x)
        return self.quantised(self.node("Where", [truth] + choices), x.shape, x.scale, x.zero_point)
