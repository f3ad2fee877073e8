#!/usr/bin/env python3
"""Random QDQ networks of one norm, as one node or as the nodes that exporters write: `dory run` against the correctly rounded result.

usage: norms.py DORY FIRST COUNT | norms.py --write FOLDER COUNT [FIRST]     exit status 77: no numpy or onnx

An integer norm is within one element of the exact one, and differs from it in fewer than one element of a thousand.
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

KINDS = ("layer", "trailing", "parts", "rounded", "instance", "group", "root_mean_square", "l2", "centred", "length")
exact = np.longdouble


class Network:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.kind = KINDS[self.random.integers(len(KINDS))]
        rank = 4 if self.kind == "group" else int(self.random.integers(3, 5))
        self.shape = (1,) + tuple(int(n) for n in self.random.integers(1, 40 if rank == 3 else 14, rank - 1))
        self.nodes, self.constants = [], []
        self.epsilon = float(np.float32(10.0 ** self.random.uniform(-12, -2)))
        self.rows = self.choose_rows(rank)
        if self.kind == "rounded" and self.shape[self.rows[0]] < 3: # hardly a variance
            self.kind = "parts"
        if self.kind == "rounded" and self.random.random() < 0.4:
            self.shape = tuple(int(self.random.integers(182, 363)) if i in self.rows else min(n, 5) for i, n in enumerate(self.shape))

    def choose_rows(self, rank):
        """Dimensions that are normalised together; of groups those behind the group."""
        return {"layer": (rank - 1,), "trailing": tuple(range(max(1, rank - 2), rank)), "parts": (int(self.random.integers(1, rank)),), "rounded": (int(self.random.integers(1, rank)),),
                "instance": tuple(range(2, rank)), "group": (2, 3), "root_mean_square": (rank - 1,), "l2": (int(self.random.integers(1, rank)),),
                "length": tuple(int(i) for i in self.random.permutation(range(1, rank))[: self.random.integers(1, rank)]),
                "centred": tuple(int(i) for i in range(1, rank) if i == rank - 1 or self.random.random() < 0.5)}[self.kind]

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def quantise(self, name, scale, zero):
        quantisation = [self.constant(name + "_scale", np.float32(scale)), self.constant(name + "_zero", np.uint8(zero))]
        self.node("QuantizeLinear", [name] + quantisation, name + "_q")
        return self.node("DequantizeLinear", [name + "_q"] + quantisation, name + "_real")

    def parameter(self, name, integers, scale, is_float):
        """Of a norm: integers and a scale, or what they stand for in float32. Its exact values."""
        if is_float:
            self.constant(name, (integers * scale).astype(np.float32))
            return (integers * scale).astype(np.float32).astype(exact)
        self.node("DequantizeLinear", [self.constant(name + "_integers", integers), self.constant(name + "_scale", scale)], name)
        return integers.astype(exact) * exact(scale)

    def turned(self, x, axes):
        """onnxruntime moves a Transpose in front of a norm to behind its first difference."""
        if self.random.random() < 0.7:
            return x, axes
        self.order = [0, *(int(a) for a in self.random.permutation(range(1, len(self.shape))))]
        return self.node("Transpose", [x], "turned", perm=self.order), [self.order.index(a) for a in axes]

    def moments(self, x, axes):
        self.constant("two", np.float32(2))
        self.constant("epsilon", np.float32(self.epsilon))
        if self.kind == "parts":
            mean = self.node("ReduceMean", [x], "mean", axes=axes, keepdims=1)
            x, axes = self.turned(self.node("Sub", [x, mean], "centred"), axes)
        squares = self.node("Pow", [x, "two"], "squares") if self.kind != "parts" or self.random.random() < 0.5 else self.node("Mul", [x, x], "squares")
        mean = self.node("ReduceMean", [squares], "variance", axes=axes, keepdims=1)
        return x, self.node("Sqrt", [self.node("Add", [mean, "epsilon"], "more")], "root")

    def by_parts(self, x):
        self.order = None
        normal = self.normal_by_parts(x)
        return self.node("Transpose", [normal], "straight", perm=[int(a) for a in np.argsort(self.order)]) if self.order else normal

    def normal_by_parts(self, x):
        axes = [int(a) for a in self.rows]
        if self.kind == "rounded":
            return self.by_rounded_variance(x, axes)
        if self.kind == "l2":
            self.epsilon = 0.0
            root = self.node("ReduceL2", [x], "root", axes=axes, keepdims=1)
        else:
            x, root = self.moments(x, axes)
        if self.random.random() < 0.5:
            return self.node("Div", [x, root], "normal")
        self.constant("one", np.float32(1))
        return self.node("Mul", [self.node("Div", ["one", root], "inverse"), x], "normal")

    def by_rounded_variance(self, x, axes):
        """As quantize_static leaves it: the variance is rounded, with epsilon it is once more; the rest stays float."""
        variance = self.variance()
        self.scales = [np.float32(max(float(variance.max()), 1e-6) * self.random.uniform(0.8, 1.1) / 255)]
        self.epsilon = float(self.scales[0] * np.float32(self.random.uniform(1, 3)))
        self.scales.append(np.float32(self.scales[0] * self.random.uniform(1, 1.2)))
        self.constant("two", np.float32(2))
        self.constant("epsilon", np.float32(self.epsilon))
        centred = self.node("Sub", [x, self.node("ReduceMean", [x], "mean", axes=axes, keepdims=1)], "centred")
        centred, axes = self.turned(centred, axes)
        mean = self.node("ReduceMean", [self.node("Pow", [centred, "two"], "squares")], "variance", axes=axes, keepdims=1)
        more = self.node("Add", [self.quantise(mean, self.scales[0], 0), "epsilon"], "more")
        return self.node("Div", [centred, self.node("Sqrt", [self.quantise(more, self.scales[1], 0)], "root")], "normal")

    def variance(self):
        """Of each row, in real numbers; exact but for its last bits."""
        x, count = self.elements, int(np.prod([self.shape[a] for a in self.rows]))
        squares = count * (x * x).sum(self.rows, keepdims=True) - x.sum(self.rows, keepdims=True) ** 2
        return squares.astype(exact) * exact(self.scale) ** 2 / count**2

    def rounded_normal(self):
        q = np.clip(np.rint(self.variance() / exact(self.scales[0])), 0, 255)
        q = np.clip(np.rint((q * exact(self.scales[0]) + exact(np.float32(self.epsilon))) / exact(self.scales[1])), 0, 255)
        x, count = self.elements, int(np.prod([self.shape[a] for a in self.rows]))
        d = (count * x - x.sum(self.rows, keepdims=True)).astype(exact) * exact(self.scale) / count
        return d / np.sqrt(q * exact(self.scales[1]))

    def affine(self, normal, factor, term):
        return self.node("Add", [self.node("Mul", [factor, normal], "scaled"), term], "norm")

    def build(self, x):
        """The norm of a real tensor: the names of the result, and the shapes of factor and term as they are broadcast."""
        shape, rank = self.shape, len(self.shape)
        if self.kind in ("layer", "trailing"):
            return shape[self.rows[0]:], lambda: self.node("LayerNormalization", [x, "factor", "term"], "norm", axis=self.rows[0], epsilon=self.epsilon)
        if self.kind == "instance":
            return (shape[1],), lambda: self.node("InstanceNormalization", [x, "factor", "term"], "norm", epsilon=self.epsilon)
        if self.kind == "group":
            return (shape[1], 1, 1), lambda: self.groups(x)
        own = tuple(shape[i] if i in self.rows else 1 for i in range(rank))
        if self.kind == "centred": # rounded by itself, without the rest of a norm
            axes = list(self.rows)
            return own, lambda: self.node("Sub", [x, self.node("ReduceMean", [x], "mean", axes=axes, keepdims=1)], "centred")
        if self.kind == "length":
            return own, lambda: self.length(x)
        return own, lambda: self.affine(self.by_parts(x), "factor", "term")

    def length(self, x):
        """The root of a sum of squares or of their mean, rounded by itself, as of a global response norm or of torch.norm."""
        axes, keepdims, form = [int(a) for a in self.rows], int(self.keeps), self.random.integers(3)
        if not self.is_mean and form == 0:
            root = self.node("ReduceL2", [x], "root", axes=axes, keepdims=keepdims)
        elif not self.is_mean and form == 1:
            root = self.node("Sqrt", [self.node("ReduceSumSquare", [x], "sum", axes=axes, keepdims=keepdims)], "root")
        else:
            squares = self.node("Mul", [x, x], "squares")
            over = {"axes": axes} if self.is_mean else {}
            lists = [] if self.is_mean else [self.constant("axes", np.int64(axes))]
            total = self.node("ReduceMean" if self.is_mean else "ReduceSum", [squares] + lists, "sum", keepdims=keepdims, **over)
            root = self.node("Sqrt", [total], "root")
        return self.node("Clip", [root, self.constant("least", np.float32(self.least))], "kept") if self.least else root

    def groups(self, x):
        """As PyTorch exports it: instances of a tensor whose second dimension is the groups."""
        count = self.group_count
        self.node("Reshape", [x, self.constant("split", np.int64([1, count, -1]))], "grouped")
        self.constant("ones", np.ones(count, np.float32))
        self.constant("zeros", np.zeros(count, np.float32))
        self.node("InstanceNormalization", ["grouped", "ones", "zeros"], "group_norm", epsilon=self.epsilon)
        self.node("Reshape", ["group_norm", self.constant("whole", np.int64(self.shape))], "joined")
        return self.affine("joined", "factor", "term")

    @property
    def group_count(self):
        return max(n for n in (1, 2, 3, 4) if self.shape[1] % n == 0)

    def values(self):
        """Elements of the input, often of a small variance, of long rows also of the largest one."""
        if max(self.shape) > 181 and self.random.random() < 0.4:
            return self.random.integers(0, 2, self.shape) * 255
        if self.random.random() < 0.2:
            return self.random.integers(0, 256, self.shape)
        spread = self.random.normal(self.random.uniform(60, 200), self.random.uniform(0.3, 60), self.shape)
        return np.clip(np.rint(spread), 0, 255).astype(np.int64)

    def normal(self, x, scale, zero):
        shape = (self.shape[0], self.group_count, self.shape[1] // self.group_count, -1) if self.kind == "group" else self.shape
        x, axes = x.reshape(shape), self.rows
        count = int(np.prod([x.shape[a] for a in axes]))
        if self.kind in ("root_mean_square", "l2"):
            d, units = (x - zero).astype(exact), count if self.kind == "root_mean_square" else 1
            squares = (d * d).sum(axes, keepdims=True)
        else:
            units = 1
            sums = x.sum(axes, keepdims=True)
            d = (count * x - sums).astype(exact)
            squares = (count * (x * x).sum(axes, keepdims=True) - sums * sums).astype(exact)
        if self.kind == "length":
            d = ((x - zero) ** 2).sum(axes, keepdims=self.keeps).astype(exact) / (count if self.is_mean else 1)
            return np.maximum(np.sqrt(d) * exact(scale), self.least)
        if self.kind == "centred":
            return d * exact(scale) / count
        more = exact(np.float32(self.epsilon)) * (units if units > 1 or self.kind in ("root_mean_square", "l2") else count * count) / exact(scale) ** 2
        root = np.sqrt(squares + more)
        return (d / np.where(root == 0, 1, root) * np.sqrt(exact(units))).reshape(self.shape)

    def make(self):
        random = self.random
        scale, zero = np.float32(random.uniform(0.005, 0.1)), int(random.integers(0, 256))
        self.scale, self.elements = scale, self.values()
        self.is_mean, self.keeps = bool(random.integers(2)), bool(random.integers(2))
        self.least = float(np.float32(scale / 2)) if random.random() < 0.4 and not self.is_mean else 0
        own, lay = self.build(self.quantise("x", scale, zero))
        is_float = self.kind != "trailing" and random.random() < 0.3
        factors = self.parameter("factor", random.integers(-127, 128, own).astype(np.int8), np.float32(random.uniform(0.002, 0.02)), is_float)
        terms = self.parameter("term", random.integers(-20000, 20000, own).astype(np.int32), np.float32(random.uniform(1e-5, 2e-4)), is_float)
        last = lay()
        elements = self.elements
        if self.kind == "instance":
            own = own + (1,) * (len(self.shape) - 2)
        normal = self.rounded_normal() if self.kind == "rounded" else self.normal(elements, scale, zero)
        is_bare = self.kind in ("centred", "length")
        real = normal if is_bare else normal * factors.reshape(own) + terms.reshape(own)
        if not is_bare and random.random() < 0.2:
            last, real = self.node("Relu", [last], "bounded"), np.maximum(real, 0)
        step = np.float32(max(float(real.max() - real.min()) / random.uniform(200, 300), 1e-4))
        output_zero = int(np.clip(round(float(-real.min()) / step), 0, 255))
        self.quantise(last, step, output_zero)
        return elements, np.clip(np.rint(real / exact(step)).astype(np.int64) + output_zero, 0, 255), last + "_real"

    def model(self, output):
        shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(self.shape)) for name in ("x", output)]
        graph = helper.make_graph(self.nodes, "norm", shapes[:1], shapes[1:], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def check(dory, seed, scratch):
    network = Network(seed)
    elements, expected, output = network.make()
    path = os.path.join(scratch, "model.onnx")
    onnx.save(network.model(output), path)
    np.save(os.path.join(scratch, "x.npy"), elements.astype(np.uint8))
    found = os.path.join(scratch, "y.npy")
    run = subprocess.run([dory, "run", path, "--quiet", "--input", os.path.join(scratch, "x.npy"), "--output", found], capture_output=True, text=True)
    if run.returncode:
        print(f"FAILED: seed {seed}, {network.kind} of {network.shape}: {run.stderr.strip()}")
        return None
    return np.abs(np.load(found).astype(np.int64).ravel() - expected.ravel()), network


def main():
    if sys.argv[1] == "--write":
        first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
        for seed in range(first, first + int(sys.argv[3])):
            network = Network(seed)
            onnx.save(network.model(network.make()[2]), os.path.join(sys.argv[2], f"norm_{seed}.onnx"))
        return 0
    dory, first, count, differing, total, failures = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), 0, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(first, first + count):
            result = check(dory, seed, scratch)
            if result is None or result[0].max() > 1:
                failures += 1
                if result:
                    print(f"FAILED: seed {seed}, {result[1].kind} of {result[1].shape}: {result[0].max()} elements off")
                continue
            differing += int((result[0] > 0).sum())
            total += result[0].size
    print(f"{count} norms, {total} elements: {differing} differ from the exact ones, by one; {failures} wrong")
    return 1 if failures or differing * 1000 > total or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
