#!/usr/bin/env python3
"""Random QDQ networks of attention blocks and norms: heads 1 to 8, odd numbers of tokens, masks, softmax over any axis; norms of rows,
images and groups. `dory run` against the independent implementation (reference.py), every element.

usage: blocks.py DORY FIRST COUNT | blocks.py --write FOLDER COUNT [FIRST]      exit status 77: no numpy or onnx

An integer norm is within one element of the exact one, and rarely another. So norms are outputs, too: what dory has there is compared, and the
reference goes on with it.
"""
import os
import subprocess
import sys
import tempfile

import random_networks
from random_networks import FLOAT, Tensor, TensorProto, helper, np, onnx, reference

exact = np.longdouble


class Blocks(random_networks.Builder):
    def __init__(self, seed):
        super().__init__(seed)
        self.opset, self.norms = 17, []

    def parameters(self, shape):
        """Factor and term of a norm, as onnxruntime quantises them."""
        factors = self.constant(self.random.integers(-127, 128, shape).astype(np.int8), "g")
        terms = self.constant(self.random.integers(-20000, 20000, shape).astype(np.int32), "b")
        return [self.node("DequantizeLinear", [integers, self.constant(FLOAT(scale))]) for integers, scale in ((factors, 0.01), (terms, 5e-5))]

    def normed(self, real, x):
        self.norms.append(self.quantised(real, x.shape, FLOAT(self.random.uniform(0.01, 0.04))))
        return self.norms[-1]

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


class Norms(reference.Network):
    """Norms in real numbers, in place of which those that are known go on."""

    def __init__(self, model, known):
        super().__init__(model)
        self.known, self.elements, self.differ = known, 0, 0

    def real(self, value):
        return value.integers() * exact(value.scale) if isinstance(value, reference.Plain) else np.asarray(value, exact)

    def normal(self, x, axes, epsilon):
        d = x - x.mean(axes, keepdims=True)
        return d / np.sqrt((d * d).mean(axes, keepdims=True) + exact(FLOAT(epsilon)))

    def node_LayerNormalization(self, inputs, attributes, node):
        x, factor, term = map(self.real, inputs)
        return self.normal(x, tuple(range(attributes["axis"] % x.ndim, x.ndim)), attributes.get("epsilon", 1e-5)) * factor + term

    def node_InstanceNormalization(self, inputs, attributes, node):
        x, factor, term = map(self.real, inputs)
        factor, term = (value.reshape(-1, *[1] * (x.ndim - 2)) for value in (factor, term))
        return self.normal(x, tuple(range(2, x.ndim)), attributes.get("epsilon", 1e-5)) * factor + term

    def node_ReduceL2(self, inputs, attributes, node):
        x = self.real(inputs[0])
        return np.sqrt((x * x).sum(tuple(attributes["axes"]), keepdims=True))

    def node_Pow(self, inputs, attributes, node):
        return self.real(inputs[0]) ** self.real(inputs[1])

    def node_Sqrt(self, inputs, attributes, node):
        return np.sqrt(inputs[0])

    def node_ReduceMean(self, inputs, attributes, node):
        return inputs[0].mean(tuple(attributes["axes"]), keepdims=True)

    def between(self, compute, otherwise, inputs, attributes, node):
        """Of two tensors, one of which belongs to a norm."""
        if any(isinstance(value, np.ndarray) and value.dtype == exact for value in inputs):
            return compute(*map(self.real, inputs))
        return otherwise(inputs, attributes, node)

    def node_Add(self, *node):
        return self.between(np.add, super().node_Add, *node)

    def node_Mul(self, *node):
        return self.between(np.multiply, super().node_Mul, *node)

    def node_Div(self, *node):
        return self.between(lambda a, b: a / np.where(b == 0, 1, b), super().node_Div, *node)

    def node_QuantizeLinear(self, inputs, attributes, node):
        return self.go_on(super().node_QuantizeLinear(inputs, attributes, node), node)

    def node_Clip(self, inputs, attributes, node):
        return self.go_on(super().node_Clip(inputs, attributes, node), node)

    def go_on(self, value, node):
        if node.output[0] not in self.known:
            return value
        known = self.known[node.output[0]].reshape(value.shape)
        steps = np.abs(known.astype(int) - value)
        assert steps.max() <= 1, f"{node.output[0]}: an element of a norm is {steps.max()} off"
        self.elements, self.differ = self.elements + steps.size, self.differ + int(steps.sum())
        return known


def run(dory, model, source, folder, outputs):
    """Writes as many files 0.bin, 1.bin ...; what has failed."""
    onnx.save(model, f"{folder}/model.onnx")
    command = [dory, "run", f"{folder}/model.onnx", "--quiet", "--input", source]
    return subprocess.run(command + [word for i in range(outputs) for word in ("--output", f"{folder}/{i}.bin")], capture_output=True, text=True).stderr


def check(dory, seed, folder):
    """Of the norms: elements, and those that differ by one; what is wrong."""
    network = Blocks(seed)
    model, image = network.model()
    image.tofile(f"{folder}/input.bin")
    with_norms = onnx.ModelProto()
    with_norms.CopyFrom(model)
    kinds = [TensorProto.INT8 if norm.zero_point.dtype == np.int8 else TensorProto.UINT8 for norm in network.norms]
    with_norms.graph.output.extend(helper.make_tensor_value_info(norm.name, kind, norm.shape) for norm, kind in zip(network.norms, kinds))
    if fault := run(dory, with_norms, f"{folder}/input.bin", folder, 1 + len(network.norms)):
        return 0, 0, fault
    known = {norm.name: np.fromfile(f"{folder}/{i + 1}.bin", norm.zero_point.dtype) for i, norm in enumerate(network.norms)}
    try:
        expected = (norms := Norms(model, known)).run(image).ravel()
    except AssertionError as wrong:
        return 0, 0, str(wrong)
    fault = random_networks.difference(f"{folder}/0.bin", expected) or run(dory, model, f"{folder}/input.bin", folder, 1)
    return norms.elements, norms.differ, fault or random_networks.difference(f"{folder}/0.bin", expected)


def compare(dory, first, count):
    elements = differ = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            *counts, fault = check(dory, seed, folder)
            elements, differ, wrong = elements + counts[0], differ + counts[1], wrong + bool(fault)
            if fault:
                print(f"seed {seed}: {fault}")
    print(f"{count} networks of attention blocks, {wrong} wrong; {differ} of {elements} elements of norms differ from the exact ones, by one")
    return 1 if wrong or differ * 1000 > elements else 0


def main():
    if sys.argv[1] != "--write":
        return compare(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    folder, count = sys.argv[2], int(sys.argv[3])
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    for seed in range(first, first + count):
        onnx.save(Blocks(seed).model()[0], os.path.join(folder, f"blocks_{seed}.onnx"))
    return 0


sys.exit(main())
