#!/usr/bin/env python3
"""Random QDQ networks of attention blocks and norms, for firmware: heads 1 to 8, odd numbers of tokens, masks, softmax over any axis;
norms of rows, images and groups. norms.py and random_networks.py compare the parts of them with exact numbers.

usage: blocks.py --write FOLDER COUNT [FIRST]      exit status 77: no numpy or onnx
"""
import os
import sys

import random_networks
from random_networks import FLOAT, Tensor, np, onnx


class Blocks(random_networks.Builder):
    def __init__(self, seed):
        super().__init__(seed)
        self.opset = 17

    def parameters(self, shape):
        """Factor and term of a norm, as onnxruntime quantises them."""
        factors = self.constant(self.random.integers(-127, 128, shape).astype(np.int8), "g")
        terms = self.constant(self.random.integers(-20000, 20000, shape).astype(np.int32), "b")
        return [self.node("DequantizeLinear", [integers, self.constant(FLOAT(scale))]) for integers, scale in ((factors, 0.01), (terms, 5e-5))]

    def normed(self, real, x):
        return self.quantised(real, x.shape, FLOAT(self.random.uniform(0.01, 0.04)))

    def rows(self, x):
        """Of the channels of a pixel, as a transformer has them; or of trailing dimensions."""
        last = self.turned(x, [0, 2, 3, 1])
        axis = self.pick([-1, -1, 2])
        return self.turned(self.normed(self.node("LayerNormalization", [self.real(last), *self.parameters(last.shape[axis:])], axis=axis), last), [0, 3, 1, 2])

    def instances(self, x):
        return self.normed(self.node("InstanceNormalization", [self.real(x), *self.parameters(x.shape[1:2])]), x)

    def groups(self, x):
        """As PyTorch exports it."""
        count = self.pick([n for n in range(1, x.shape[1] + 1) if x.shape[1] % n == 0])
        apart = self.node("Reshape", [self.real(x), self.constant(np.array([1, count, -1]))])
        plain = [self.constant(np.full(count, number, FLOAT)) for number in (1, 0)]
        whole = self.node("Reshape", [self.node("InstanceNormalization", [apart, *plain]), self.constant(np.array(x.shape))])
        factor, term = self.parameters((x.shape[1], 1, 1))
        return self.normed(self.node("Add", [self.node("Mul", [whole, factor]), term]), x)

    def lengths(self, x):
        """Along an axis: rows of length one, or of a mean square of one."""
        axes = [self.number(1, 3)]
        real = self.real(x)
        if self.number(0, 1):
            return self.normed(self.node("Div", [real, self.node("ReduceL2", [real], axes=axes)]), x)
        squares = self.node("ReduceMean", [self.node("Pow", [real, self.constant(FLOAT(2))])], axes=axes)
        root = self.node("Sqrt", [self.node("Add", [squares, self.constant(FLOAT(1e-5))])])
        return self.normed(self.node("Div", [real, root]), x)

    def grow(self):
        shape = (1, self.number(2, 12), self.number(1, 5), self.number(2, 8))
        x = y = Tensor("x", shape, self.scale(), self.zero_point())
        for _ in range(self.number(1, 2)):
            y = self.pick([self.rows, self.rows, self.instances, self.groups, self.lengths])(y)
            y = self.attention(y)
        return x, self.summed(y) if self.number(0, 1) else y


def main():
    folder, count = sys.argv[2], int(sys.argv[3])
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    for seed in range(first, first + count):
        onnx.save(Blocks(seed).model()[0], os.path.join(folder, f"blocks_{seed}.onnx"))
    return 0


sys.exit(main())
