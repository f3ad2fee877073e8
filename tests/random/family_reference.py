#!/usr/bin/python3
"""Random networks as QuantLib, Deeploy and PLiNIO write them, computed on their own: in exact integers with numpy while they
are built, none of dory's code, against `dory run`, every element of the output.

usage: family_reference.py DORY FORMAT FIRST_SEED COUNT      exit status 77: no python3-onnx
       family_reference.py --write FOLDER COUNT     models of each format, and nothing more
FORMAT: quantlib, deeploy, match, onnx, maupiti, integer (PLiNIO's ONNX with ConvInteger), or all
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: no onnx or numpy; on Debian: apt-get install python3-onnx python3-numpy")
    sys.exit(77)

FORMATS = ["quantlib", "deeploy", "match", "onnx", "maupiti", "integer"]


class Value:
    """A tensor of the graph: its name and what it holds, numbers / divisor, each channel first and without batch. With
    `bounds`, all that its elements can be."""

    def __init__(self, name, numbers, divisor=1, bounds=None):
        self.name, self.numbers, self.divisor, self.bounds = name, numbers, divisor, bounds


class Network:
    def __init__(self, kind, seed):
        self.kind, self.random = kind, np.random.RandomState(seed)
        self.nodes, self.initialisers, self.metadata, self.count = [], [], {}, 0
        self.exact_average = self.chance(0.5)
        self.signed = {"match": False, "onnx": self.chance(0.7), "integer": self.chance(0.5)}.get(kind, self.chance(0.5))
        self.rank = 1 if self.chance(0.25) else 2
        channels, size = self.draw(1, 6), [self.draw(5, 11) for _ in range(self.rank)]
        low, high = self.bounds(8, self.signed)
        name = "input_of_graph"
        self.input = Value(name, self.random.randint(low, high + 1, [channels] + size).astype(np.int64), 1, (low, high))
        self.say(name, 8, self.signed)

    # ---- parts of any graph ----

    def draw(self, least, most):
        return int(self.random.randint(least, most + 1))

    def chance(self, probability):
        return self.random.rand() < probability

    @staticmethod
    def bounds(bits, signed):
        low = -(1 << bits - 1) if signed else 0
        return low, low + (1 << bits) - 1

    def say(self, name, precision, signed):
        if self.kind in ("onnx", "integer"):
            self.metadata[name] = str({"precision": precision, "signed": bool(signed)})

    def fresh(self, text):
        self.count += 1
        return f"/{text}_{self.count}/out"

    def node(self, kind, inputs, domain="", **attributes):
        output = self.fresh(kind)
        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def constant(self, numbers, kind=np.float32, inside=False):
        array = np.asarray(numbers, dtype=kind)
        if inside:  # PLiNIO's and QuantLib's multipliers are Constant nodes
            return self.node("Constant", [], value=numpy_helper.from_array(array))
        self.count += 1
        self.initialisers.append(numpy_helper.from_array(array, f"constant_{self.count}"))
        return f"constant_{self.count}"

    def weights(self, shape, bits):
        low, high = self.bounds(bits, True)
        weights = self.random.randint(low, high + 1, shape).astype(np.int64)
        name = self.constant(weights, np.int8 if self.kind == "integer" else np.float32)
        self.say(name, bits, True)
        return name, weights

    def bits(self):
        return int(self.random.choice([8, 8, 8, 4, 2]))

    # ---- arithmetic ----

    def settle(self, x):
        """What a layer reads: an average that was not rounded is floored, unless it is carried on."""
        return x if self.exact_average else Value(x.name, x.numbers // x.divisor, 1, x.bounds)

    def pads_by_node(self):
        return self.kind in ("onnx", "maupiti", "integer") or self.chance(0.2)

    def pad(self, x, pads):
        """Pads of height and width, before and after; by a node of its own, or by the layer."""
        least = x.bounds[0] if self.kind in ("onnx", "maupiti", "integer") and x.divisor == 1 else 0
        by_node = self.pads_by_node()
        value = least if by_node else 0
        spread = [(0, 0)] + [tuple(pads)] * self.rank
        numbers = np.pad(x.numbers, spread, constant_values=value)
        if not by_node:
            return Value(x.name, numbers, x.divisor, x.bounds), [pads[0]] * self.rank + [pads[1]] * self.rank
        flat = [0, 0] + [pads[0]] * self.rank + [0, 0] + [pads[1]] * self.rank
        if self.kind == "integer":
            name = self.node("Pad", [x.name, self.constant(flat, np.int64), self.constant([value], np.int8 if value < 0 else np.uint8)])
        else:
            name = self.node("Pad", [x.name], mode="constant", pads=flat, value=float(value))
        return Value(name, numbers, x.divisor, x.bounds), [0] * (2 * self.rank)

    @staticmethod
    def windows(numbers, kernel, stride):
        view = np.lib.stride_tricks.sliding_window_view(numbers, kernel, axis=tuple(range(1, 1 + len(kernel))))
        return view[(slice(None),) + tuple(slice(None, None, s) for s in stride)]

    def convolve(self, x, weights, groups, stride):
        kernel, outputs = list(weights.shape[2:]), weights.shape[0]
        view = self.windows(x, kernel, stride)
        each_in, each_out, result = x.shape[0] // groups, outputs // groups, []
        for o in range(outputs):
            part = view[o // each_out * each_in:(o // each_out + 1) * each_in]
            w = weights[o].reshape([each_in] + [1] * self.rank + kernel)
            result.append((part * w).sum(axis=(0,) + tuple(range(1 + self.rank, 1 + 2 * self.rank))))
        return np.stack(result)

    def requantise(self, sums, bits, signed, shift=None):
        """Mul, Add, Div, Floor and Clip in the format's way; `sums` is a Value."""
        channels, spread = sums.numbers.shape[0], float(np.abs(sums.numbers).max()) / sums.divisor + 1
        low, high = self.bounds(bits, signed)
        shift = self.draw(4, 22) if shift is None else shift
        largest = max(1, int((high - low) / spread * 2.0 ** shift))
        per_channel = self.chance(0.8)
        k = self.random.randint(1, largest + 1, channels if per_channel else 1).astype(np.int64)
        k = np.minimum(k, 1 << 20)
        if self.kind in ("quantlib", "deeploy") and self.chance(0.3):
            k = -k
        addend = self.random.randint(-(high - low) << shift, ((high - low) << shift) + 1, len(k))
        addend = addend.astype(np.float32).astype(np.int64)
        numerator = self.spread(k, sums.numbers) * sums.numbers + self.spread(addend, sums.numbers) * sums.divisor
        divisor = sums.divisor << shift
        rounds = self.kind in ("quantlib", "deeploy")
        y = (2 * numerator + divisor) // (2 * divisor) if rounds else numerator // divisor
        name = self.write_requantisation(sums, k, addend, shift, bits, signed)
        return Value(name, np.clip(y, low, high), 1, (low, high))

    @staticmethod
    def spread(numbers, like):
        return numbers if len(numbers) == 1 else numbers.reshape([-1] + [1] * (like.ndim - 1))

    def write_requantisation(self, sums, k, addend, shift, bits, signed):
        low, high = self.bounds(bits, signed)
        flat = sums.numbers.ndim == 1
        if self.kind == "deeploy":
            shape = [] if len(k) == 1 else [-1] if flat else [-1, 1, 1]
            wrap = (lambda number: numpy_helper.from_array(np.array([number], np.float32))) if self.chance(0.7) else float
            levels = "n_levels_out" if self.chance(0.5) else "n_levels"
            domain = str(self.random.choice(["", "PACTOps", "ai.onnx.contrib"]))
            attributes = {"div": wrap(1 << shift), levels: wrap(1 << bits), "signed": wrap(int(signed))}
            return self.node("RequantShift", [sums.name, self.constant(k.reshape(shape)), self.constant(addend.reshape(shape))],
                             domain, **attributes)
        whole = np.int32 if self.kind == "integer" else np.float32
        shape = [1] * (sums.numbers.ndim + 1)
        if len(k) > 1:
            shape[1] = -1
        if self.kind == "quantlib":
            shape = shape[1:]
        annotate = self.kind in ("match", "maupiti", "quantlib")
        name = self.node("Mul", [sums.name, self.constant(k.reshape(shape), whole, True)], **({"mult_bits": 32} if annotate else {}))
        name = self.node("Add", [name, self.constant(addend.reshape(shape), whole, True)], **({"add_bits": 32} if annotate else {}))
        name = self.node("Div", [name, self.constant(1 << shift if self.kind == "quantlib" else [1 << shift], whole, True)])
        if self.kind == "quantlib":
            name = self.node("Add", [name, self.constant(0.5, inside=True)], add_bits=32)
        if self.kind == "integer":
            name = self.node("Clip", [name, self.constant(low, np.int32), self.constant(high, np.int32)])
            self.say(name, bits, signed)
            return self.node("Cast", [name], to=TensorProto.INT8 if signed else TensorProto.UINT8) if self.chance(0) else name
        name = self.node("Floor", [name])
        name = self.node("Clip", [name], min=float(low), max=float(high), **({"out_bits": bits} if annotate else {}))
        self.say(name, bits, signed)
        return name

    # ---- layers ----

    def convolution(self, x):
        bits, signed, x = self.bits(), self.output_is_signed(), self.settle(x)
        kernel = [min(self.draw(1, 4), size) for size in x.numbers.shape[1:]]
        stride, pads = [self.draw(1, 2)] * self.rank, [self.draw(0, 1), self.draw(0, 1)]
        channels = x.numbers.shape[0]
        depthwise = self.chance(0.25)
        padded, own = self.pad(x, pads)
        parts = [channels if depthwise else self.draw(1, 8)]
        if self.kind in ("match", "onnx", "maupiti") and not depthwise and self.chance(0.5):
            parts += [self.draw(1, 5) for _ in range(self.draw(1, 2))]  # one convolution a precision
        results = [self.one_convolution(padded, own, part, channels if depthwise else 1, kernel, stride, bits, signed)
                   for part in parts]
        return self.concatenate(results) if len(results) > 1 else results[0]

    def one_convolution(self, x, own, outputs, groups, kernel, stride, bits, signed):
        weight_bits = self.bits()
        name, weights = self.weights([outputs, x.numbers.shape[0] // groups] + kernel, weight_bits)
        attributes = {"group": groups, "kernel_shape": kernel, "strides": stride, "dilations": [1] * self.rank}
        attributes.update({"pads": own} if any(own) or self.chance(0.5) else {"auto_pad": "VALID"})
        if self.kind in ("match", "maupiti", "quantlib"):
            attributes.update(weight_bits=weight_bits, bias_bits=32)
        output = self.node("ConvInteger" if self.kind == "integer" else "Conv", [x.name, name], **attributes)
        return self.requantise(Value(output, self.convolve(x.numbers, weights, groups, stride), x.divisor), bits, signed)

    def concatenate(self, parts):
        name = self.node("Concat", [part.name for part in parts], axis=1)
        return Value(name, np.concatenate([part.numbers for part in parts]), 1, parts[0].bounds)

    def output_is_signed(self):
        return self.signed if self.kind in ("match", "onnx", "integer") else self.kind == "maupiti" or self.chance(0.4)

    def pool(self, x):
        kernel = [min(self.draw(1, 3), size) for size in x.numbers.shape[1:]]
        view = self.windows(x.numbers, kernel, kernel)
        axes = tuple(range(1 + self.rank, 1 + 2 * self.rank))
        if self.chance(0.5) or x.divisor > 1:
            x = self.settle(x)
            view = self.windows(x.numbers, kernel, kernel)
            name = self.node("MaxPool", [x.name], kernel_shape=kernel, strides=kernel)
            return Value(name, view.max(axis=axes), x.divisor, x.bounds)
        name = self.node("AveragePool", [x.name], kernel_shape=kernel, strides=kernel)
        return Value(name, view.sum(axis=axes), int(np.prod(kernel)), x.bounds)

    def residual(self, x):
        """A sum of the tensor and of a convolution of it that keeps its shape."""
        if x.divisor > 1 or self.kind == "integer":
            return x
        bits, signed, channels = 8, x.bounds[0] < 0, x.numbers.shape[0]
        name, weights = self.weights([channels, channels] + [1] * self.rank, 8)
        output = self.node("Conv", [x.name, name], kernel_shape=[1] * self.rank)
        ones = [1] * self.rank
        other = self.requantise(Value(output, self.convolve(x.numbers, weights, 1, ones)), bits, signed)
        total = Value(self.node("Add", [other.name, x.name]), other.numbers + x.numbers)
        return self.requantise(total, bits, signed, 0 if self.chance(0.5) else None)

    def head(self, x):
        x = self.settle(x)
        name = self.node("Flatten", [x.name], axis=1)
        inputs, outputs = x.numbers.size, self.draw(1, 10)
        weight_name, weights = self.weights([inputs, outputs], 8)
        biases = self.random.randint(-5000, 5000, outputs).astype(np.int64)
        sums = weights.T @ x.numbers.ravel()
        if self.kind in ("quantlib", "deeploy"):
            transposed = self.constant(weights.T)
            name = self.node("Gemm", [name, transposed, self.constant(biases)], transB=1)
        else:
            name = self.node("MatMulInteger" if self.kind == "integer" else "MatMul", [name, weight_name])
            name = self.node("Add", [name, self.constant(biases.reshape(1, -1), np.int32 if self.kind == "integer" else np.float32)])
        result = Value(name, sums + biases * x.divisor, x.divisor)
        return self.requantise(result, 8, True) if self.kind == "deeploy" and self.chance(0.5) else result

    def build(self):
        x = self.convolution(self.input)
        for _ in range(self.draw(0, 3)):
            step = self.random.choice([self.convolution, self.pool, self.residual])
            x = step(x)
        if self.chance(0.7) or x.divisor > 1:
            x = self.head(x)
        self.output = x

    # ---- the file, and the comparison ----

    def save(self, path):
        shape = [1] + list(self.input.numbers.shape)
        kind = TensorProto.FLOAT
        if self.kind == "integer":
            kind = TensorProto.INT8 if self.signed else TensorProto.UINT8
        inputs = [helper.make_tensor_value_info(self.input.name, kind, shape)]
        outputs = [helper.make_tensor_value_info(self.output.name, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "random", inputs, outputs, self.initialisers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13 if self.kind == "integer" else 10)])
        for key, text in self.metadata.items():
            entry = model.metadata_props.add()
            entry.key, entry.value = key, text
        onnx.save(model, path)

    def options(self):
        said_by_model = self.kind in ("onnx", "integer")
        return (["--exact-add"] + ["--exact-average"] * self.exact_average +
                ["--input-signed"] * (self.signed and not said_by_model))

    def expected(self):
        numbers = self.output.numbers // self.output.divisor
        return (np.moveaxis(numbers, 0, -1) if numbers.ndim > 1 else numbers).ravel()


def check(dory, kind, seed, folder):
    network = Network(kind, seed)
    network.build()
    model, values = os.path.join(folder, "random.onnx"), os.path.join(folder, "input.npy")
    network.save(model)
    np.save(values, network.input.numbers[None].astype(np.float32 if seed % 2 else np.int16))
    run = subprocess.run([dory, "run", model, "--input", values, "--config", "none"] + network.options(),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if run.returncode != 0:
        return run.stderr.strip().splitlines()[-1]
    found = np.array([int(number) for number in run.stdout.rsplit(":", 1)[1].split()])
    wanted = network.expected()
    if found.shape != wanted.shape:
        return f"{found.size} elements, {wanted.size} expected"
    wrong = int((found != wanted).sum())
    return f"{wrong} of {wanted.size} elements differ" if wrong else None


def write(folder, count):
    for kind in FORMATS:
        for seed in range(count):
            network = Network(kind, seed)
            network.build()
            network.save(os.path.join(folder, f"{kind}_{seed}.onnx"))


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--write":
        return write(sys.argv[2], int(sys.argv[3]))
    if len(sys.argv) != 5 or sys.argv[2] not in FORMATS + ["all"]:
        sys.exit(__doc__)
    dory, first, count = sys.argv[1], int(sys.argv[3]), int(sys.argv[4])
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in FORMATS if sys.argv[2] == "all" else [sys.argv[2]]:
            for seed in range(first, first + count):
                fault = check(dory, kind, seed, folder)
                if fault:
                    failures += 1
                    print(f"{kind} {seed}: {fault}")
            print(f"{kind}: {count} networks")
    sys.exit(failures != 0)


main()
