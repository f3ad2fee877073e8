#!/usr/bin/python3
"""Random residual networks in QDQ: convolutions, of which the last is added to what the first reads, or to another convolution of that.
`dory run` against reference.py, every element; and models for firmware whose kernels add.

usage: residuals.py DORY FIRST_SEED COUNT      exit status 77: no python3-onnx
       residuals.py --write FOLDER COUNT [FIRST]
"""
import sys
import tempfile

import random_networks
from random_networks import FLOAT, np, onnx


class Residuals(random_networks.Builder):
    def same(self, x, channels, is_bounded):
        """Of the rows and columns of its input."""
        kernel = self.pick([1, 3])
        weights, scales = self.weights((channels, x.shape[1], kernel, kernel), 0, self.number(0, 2))
        real = self.node("Conv", [self.real(x), weights] + self.bias(x.scale, scales), kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4)
        scale = self.output_scale(x.scale, scales, x.shape[1] * kernel * kernel)
        return self.tensor(self.node("Relu", [real]) if is_bounded else real, (1, channels, *x.shape[2:]), scale)

    def tensor(self, real, shape, scale):
        limits = np.iinfo(self.kind)
        zero = limits.min if self.number(0, 2) else self.number(limits.min, limits.max)
        name = self.node("QuantizeLinear", [real, self.constant(scale, "s"), self.constant(self.kind(zero), "z")])
        return random_networks.Tensor(name, shape, scale, self.kind(zero))

    def block(self, x):
        is_wider, inside = self.number(0, 1), self.number(0, 1)
        channels = x.shape[1] + (4 * self.number(0, 3) if is_wider else 0)
        between = self.same(x, 4 * self.number(1, 6), True) if inside else x
        other = self.same(x, channels, False) if is_wider else x
        last = self.same(between, channels, self.number(0, 4) == 0)
        terms = [last, other] if self.number(0, 1) else [other, last]
        real = self.node("Add", [self.real(term) for term in terms])
        scale = FLOAT(max(last.scale, other.scale) * np.exp(self.random.uniform(-0.5, 1)))
        return self.tensor(self.node("Relu", [real]) if self.number(0, 1) else real, last.shape, scale)

    def grow(self):
        self.is_mixed = False
        shape = (1, 4 * self.number(1, 5), self.number(4, 16), self.number(4, 16))
        x = y = self.tensor("x", shape, self.scale())
        for _ in range(self.number(1, 3)):
            y = self.block(y)
        return x, y


def write(folder, count, first):
    for seed in range(first, first + count):
        onnx.save(Residuals(seed).model()[0], f"{folder}/residual_{seed}.onnx")
    return 0


def main():
    if sys.argv[1] == "--write":
        return write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    dory, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as scratch:
        faults = {seed: random_networks.check(dory, seed, scratch, Residuals) for seed in range(first, first + count)}
    for seed in (seed for seed in faults if faults[seed]):
        print(f"seed {seed}: {faults[seed]}")
    wrong = sum(bool(fault) for fault in faults.values())
    print(f"{count} random residual networks, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
