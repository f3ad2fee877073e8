"""The real tensors of reference.py, and how they are rounded."""
from fractions import Fraction

import numpy as np

FLOAT = np.float32


class Exact:
    """numbers[channel axis 1] * scales[channel] + offsets[channel]; numbers are int64."""

    def __init__(self, numbers, scales, offsets=None, bounds=(None, None)):
        self.numbers, self.scales, self.offsets, self.bounds = numbers, scales, offsets or [Fraction(0)], bounds

    def channel(self, index):
        return (self.scales[index if len(self.scales) > 1 else 0], self.offsets[index if len(self.offsets) > 1 else 0])

    def moved(self, numbers):
        return Exact(numbers, self.scales, self.offsets, self.bounds)


class Rows(Exact):
    """[1, outputs, rows], which the model has the other way round: its next node is the Transpose."""


class Plain:
    """(elements - zero_point) * scale: what DequantizeLinear makes."""

    def __init__(self, elements, scale, zero_point):
        self.elements, self.scale, self.zero_point = elements, scale, zero_point

    def integers(self):
        return self.elements.astype(np.int64) - int(self.zero_point)

    def floats(self):
        return ((self.elements.astype(np.int32) - np.int32(self.zero_point)).astype(FLOAT) * FLOAT(self.scale)).astype(FLOAT)

    def moved(self, elements):
        return Plain(elements, self.scale, self.zero_point)


class Parts:
    """Tensors side by side, which only QuantizeLinear can join."""

    def __init__(self, parts, axis):
        self.parts, self.axis = parts, axis


class Interpolated:
    """In float32, as onnxruntime computes it, and exactly."""

    def __init__(self, floats, exact):
        self.floats, self.exact = floats, exact


def fraction(number):
    return Fraction(float(number))


def round_exactly(numbers, scale, offset):
    """rint(numbers * scale + offset), halves to even."""
    guess = numbers.astype(np.longdouble) * np.longdouble(scale.numerator) / np.longdouble(scale.denominator)
    guess = guess + np.longdouble(offset.numerator) / np.longdouble(offset.denominator)
    rounded = np.rint(guess)
    doubtful = np.abs(np.abs(guess - np.floor(guess)) - 0.5) < 1e-6
    for at in np.argwhere(doubtful):
        at = tuple(at)
        rounded[at] = round(int(numbers[at]) * scale + offset)
    return rounded.astype(np.int64)


class Weights:
    """Constants with a scale for each index of an axis."""

    def __init__(self, elements, scale, zero_point, axis):
        self.elements, self.scale, self.zero_point, self.axis = elements, scale, zero_point, axis
