#!/usr/bin/env python3
"""Random networks of Deeploy's operators of integers: `dory run` against the formulas, every element.

usage: random_networks.py DORY FIRST COUNT | random_networks.py --write FOLDER COUNT [FIRST]     exit status 77: no numpy or onnx

A network is a chain of parts: attention, feed-forward, norms, sums. Each RequantShift is chosen so that its results use the
range of bytes. Written networks have inputs without a sign, which is what `dory` takes without an option.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    print(f"skipped: {error}; on Debian: apt-get install python3-numpy python3-onnx")
    sys.exit(77)


def truncated(a, b):
    """Quotients as C has them, towards zero."""
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -quotient, quotient)


def whole_root(x):
    return np.array([int(np.floor(np.sqrt(float(v)))) for v in x.ravel()]).reshape(x.shape)


class Network:
    """Nodes, and beside each value's name the numbers that it has."""

    def __init__(self, seed, has_sign=None):
        self.random = random = np.random.default_rng(seed)
        self.nodes, self.constants, self.numbers = [], [], {}
        self.has_sign = bool(random.integers(2)) if has_sign is None else has_sign
        self.tokens, self.heads, self.width = int(random.integers(1, 18)), int(random.integers(1, 5)), int(random.integers(1, 9)) * 2
        self.size = self.heads * self.width
        low, high = (-128, 128) if self.has_sign else (0, 256)
        self.input = random.integers(low, high, (1, self.tokens, self.size))
        self.numbers["x"] = self.input
        x = "x"
        for part in range(int(random.integers(1, 4))):
            x = (self.attention, self.feed_forward, self.normalise)[random.integers(3)](x)
        if random.random() < 0.4:
            x = self.mean(x)
        self.output = x

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, np.float32 if np.asarray(value).dtype != np.int64 else np.int64), name))
        return name

    def node(self, kind, inputs, numbers, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f"{kind}_{name}", domain="PACTOps" if kind[0] == "i" and self.random.random() < 0.3 else "", **attributes))
        self.numbers[name] = numbers
        return name

    def round(self, x, signed=None):
        """A RequantShift whose results are nearly as large as bytes are."""
        random, values = self.random, self.numbers[x]
        signed = bool(random.integers(3)) if signed is None else signed
        shift = int(random.integers(8, 18))
        multiplier = max(1, min(1 << 20, int((1 << shift) * float(random.uniform(60, 150)) / max(1, int(np.abs(values).max())))))
        addend = int(random.integers(-(20 << shift), 20 << shift))
        levels = 256 if random.random() < 0.8 else int(random.integers(2, 257))
        low = -(levels // 2) if signed else 0
        numbers = np.clip((values * multiplier + addend + (1 << shift) // 2) >> shift, low, low + levels - 1)
        return self.node("RequantShift", [x, self.constant(np.float32(multiplier)), self.constant(np.float32(addend))], numbers, div=float(1 << shift), n_levels_out=float(levels), signed=float(signed))

    def linear(self, x, outputs):
        random, numbers = self.random, self.numbers[x]
        weights = random.integers(-128, 128, (numbers.shape[-1], outputs))
        y = self.node("MatMul", [x, self.constant(weights.astype(np.float32))], numbers @ weights)
        if random.random() < 0.5:
            bias = random.integers(-20000, 20000, outputs)
            y = self.node("Add", [y, self.constant(bias.astype(np.float32))][:: 1 if random.random() < 0.5 else -1], self.numbers[y] + bias)
        return self.round(y)

    def shape(self, x, dimensions):
        return self.node("Reshape", [x, self.constant(np.array(dimensions, np.int64))], self.numbers[x].reshape(dimensions))

    def turn(self, x, order):
        return self.node("Transpose", [x], self.numbers[x].transpose(order), perm=order)

    def product(self, a, b):
        return self.round(self.node("MatMul", [a, b], self.numbers[a] @ self.numbers[b]))

    def add(self, x, y):
        """With what they are sums of, rounded or not."""
        if self.random.random() < 0.5:
            x = self.round(x)
        total = self.node("Add", [x, y], self.numbers[x] + self.numbers[y])
        if self.random.random() < 0.3:
            again = self.round(y)
            total = self.node("Add", [total, again], self.numbers[total] + self.numbers[again])
        return self.round(total)

    def softmax(self, x):
        numbers = self.numbers[x]
        below = numbers.max(-1, keepdims=True) - numbers
        levels = 256
        kind = self.random.random()
        if kind < 0.25:
            return self.partial_softmax(x)
        if kind < 0.5:
            sums = (256 >> ((below + 16) >> 5)).sum(-1, keepdims=True)
            return self.node("ITAMax", [x], ((levels - 1) * 256 // sums) >> ((below + 16) >> 5), n_levels=levels)
        log2, a, c = int(self.random.integers(4, 140)), 1, int(self.random.integers(1, 16000))
        b = log2 + int(self.random.integers(0, 80))
        z = np.clip(below // log2, 0, 31)
        exponentials = (a * (z * log2 - below + b) ** 2 + c) >> z
        return self.node("iSoftmax", [x], exponentials * (levels - 1) // exponentials.sum(-1, keepdims=True), coeffA=float(a), coeffB=float(b), coeffC=float(c), log2=float(log2), n_levels=float(levels))

    def partial_softmax(self, x):
        """The sum of a group is added to those before, which the largest element so far has made smaller if it rose."""
        numbers, width = self.numbers[x], int(self.random.integers(1, 20))
        levels = 256 if self.random.random() < 0.6 else int(self.random.integers(4, 257))
        largest, sums = numbers[..., :1], np.int64(0)
        for first in range(0, numbers.shape[-1], width):
            group = numbers[..., first : first + width]
            before, largest = largest, np.maximum(largest, group.max(-1, keepdims=True))
            sums = (sums >> ((largest - before + 16) >> 5)) + (256 >> ((largest - group + 16) >> 5)).sum(-1, keepdims=True)
        y = ((levels // 2 - 1) * 256 // sums) >> ((largest - numbers + 16) >> 5)
        return self.node("ITAPartialMax", [x], y, n_levels=levels, group_width=width)

    def heads_of(self, x, order):
        return self.turn(self.shape(x, [1, self.tokens, self.heads, self.width]), order)

    def attention(self, x):
        query = self.heads_of(self.linear(x, self.size), [0, 2, 1, 3])
        scores = self.product(query, self.heads_of(self.linear(x, self.size), [0, 2, 3, 1]))
        if self.random.random() < 0.4:
            scores = self.divide(scores)
        scores = self.softmax(scores)
        if self.random.random() < 0.3:
            scores = self.round(scores)
        y = self.product(scores, self.heads_of(self.linear(x, self.size), [0, 2, 1, 3]))
        y = self.shape(self.turn(y, [0, 2, 1, 3]), [1, self.tokens, self.size])
        return self.add(x, self.linear(y, self.size))

    def divide(self, x):
        delta, eta, eps, y = (int(n) for n in self.random.integers((1, 1, 1, 0), (1 << 14, 1 << 17, 100, 9)))
        factor = delta * eta // (y * eta + eps)
        if 255 * factor >= 1 << 24:
            return x
        return self.round(self.node("TrueIntegerDiv", [x], self.numbers[x] * factor, Delta=delta, eta=eta, eps=eps, y=y))

    def activation(self, x):
        numbers = self.numbers[x]
        if self.random.random() < 0.5:
            b, one = -int(self.random.integers(1, 120)), int(self.random.integers(0, 20000))
            q = np.minimum(np.abs(numbers), -b)
            y = self.node("iGELU", [x], numbers * ((one + np.sign(numbers) * (one - (q + b) ** 2)) >> 1), b=b, one=one)
        else:
            three, six, factor = (int(n) for n in self.random.integers(1, (400, 800, 60)))
            y = self.node("iHardswish", [x], numbers * (np.clip(numbers + three, 0, six) * factor), three=three, six=six, one_over_six=factor)
        return self.round(y)

    def feed_forward(self, x):
        inner = int(self.random.integers(1, 40))
        y = self.activation(self.linear(x, inner))
        if self.random.random() < 0.4:
            gate = self.linear(x, inner)
            y = self.round(self.node("Mul", [y, gate], self.numbers[y] * self.numbers[gate]))
        return self.add(x, self.linear(y, self.size))

    def normalise(self, x):
        numbers, shift = self.numbers[x], int(self.random.integers(4, 17))
        weights = (self.random.uniform(-1, 1, self.size) * (90 << shift)).astype(np.int64) if self.random.random() < 0.8 else np.full(self.size, 60 << shift)
        mean = truncated(numbers.sum(-1, keepdims=True), np.int64(self.size))
        if self.random.random() < 0.5:
            root = whole_root((numbers * numbers).sum(-1, keepdims=True) // self.size + 1)
            y = np.clip(truncated(numbers * weights, root) >> shift, -128, 127)
            return self.node("iRMSNorm", [x, self.constant(weights.astype(np.float32))], y, D=1 << shift, n_levels=256)
        bias = self.random.integers(-(40 << shift), 40 << shift, self.size)
        root = whole_root(((numbers - mean) ** 2).sum(-1, keepdims=True) // self.size + 1)
        y = (truncated((numbers - mean) * weights, root) + bias) >> shift
        return self.node("iLayerNorm", [x, self.constant(weights.astype(np.float32)), self.constant(bias.astype(np.float32))], ((y + 128) & 255) - 128, D=float(1 << shift), n_levels=256.0)

    def mean(self, x):
        numbers = self.numbers[x]
        count, sums = self.tokens, numbers.sum(1)
        power = count & (count - 1) == 0
        mean = (sums + count // 2) // count if power else truncated(sums + np.where(sums < 0, -1, 1) * (count // 2), np.int64(count))
        return self.node("IntegerMean" if self.random.random() < 0.7 else "ReduceMean", [x], mean, axes=[1], keepdims=0)

    def save(self, path):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(self.input.shape))],
                                  [helper.make_tensor_value_info(self.output, TensorProto.FLOAT, list(self.numbers[self.output].shape))], self.constants)
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 10), helper.make_opsetid("PACTOps", 1)]), path)


def check(dory, seed, place):
    network = Network(seed)
    network.save(f"{place}/model.onnx")
    network.input.astype(np.int8 if network.has_sign else np.uint8).tofile(f"{place}/input.bin")
    signed = ["--input-signed"] if network.has_sign else []
    done = subprocess.run([dory, "run", f"{place}/model.onnx", "--quiet", "--input", f"{place}/input.bin", "--output", f"{place}/output.npy"] + signed,
                          capture_output=True, text=True, timeout=100)
    if done.returncode:
        return done.stderr.strip()
    found, expected = np.load(f"{place}/output.npy").ravel().astype(np.int64), network.numbers[network.output].ravel()
    wrong = int((found != expected).sum()) if found.size == expected.size else expected.size
    return f"{wrong} of {expected.size} elements are wrong: {[node.op_type for node in network.nodes]}" if wrong else None


def main():
    count = int(sys.argv[3])
    if sys.argv[1] == "--write":
        first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
        for seed in range(first, first + count):
            Network(seed, has_sign=False).save(f"{sys.argv[2]}/integers_{seed}.onnx")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        for seed in range(int(sys.argv[2]), int(sys.argv[2]) + count):
            message = check(sys.argv[1], seed, place)
            failed += message is not None
            if message:
                print(f"network {seed}: {message}")
    print(f"{count} networks of integers, {failed} wrong")
    return 1 if failed else 0


sys.exit(main())
