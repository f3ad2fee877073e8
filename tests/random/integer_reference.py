#!/usr/bin/python3
"""Networks as NEMO and Quantlab export them, computed on their own: the ONNX file in exact integers with numpy, none of dory's
code, against `dory run`, every element of every output.

usage: integer_reference.py DORY MAKE_RANDOM_MODEL FIRST_SEED COUNT      exit status 77: no python3-onnx
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
except ImportError:
    print("skipped: no onnx or numpy; on Debian: apt-get install python3-onnx python3-numpy")
    sys.exit(77)

KINDS = [[], ["graph"], ["chain"]]  # of make_random_model: NEMO's operators, then Quantlab's
TOO_LARGE = "supported: 32 bits"    # a network that was made for inputs of fewer bits than the 8 that are given here
MAXIMUM_TOO_LARGE = 5               # per cent


class Quotient:
    """What an average pool gives: sums, and by how much they are to be divided. Div rounds down once, of all that."""

    def __init__(self, numbers, divisor):
        self.numbers, self.divisor = numbers, divisor


def integers(value):
    return value.numbers // value.divisor if isinstance(value, Quotient) else value


class Network:
    def __init__(self, model):
        self.graph = model.graph
        self.constants = {tensor.name: self.exact(numpy_helper.to_array(tensor)) for tensor in self.graph.initializer}
        self.edges = {value.name: [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
                      for value in self.graph.input if value.name not in self.constants}

    @staticmethod
    def exact(array):
        numbers = np.asarray(array)
        rounded = np.rint(numbers.astype(np.float64)).astype(np.int64) if numbers.dtype.kind == "f" else numbers.astype(np.int64)
        assert np.array_equal(rounded, numbers), "a constant is no integer"
        return rounded

    def run(self, inputs):
        self.values = {**self.constants, **inputs}
        for node in self.graph.node:
            operands = [self.values[name] for name in node.input if name]
            attributes = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
            self.values[node.output[0]] = getattr(self, "node_" + node.op_type)(operands, attributes)
        return [integers(self.values[value.name]) for value in self.graph.output]

    # ---- elements ----

    def node_Constant(self, operands, attributes):
        return self.exact(numpy_helper.to_array(attributes["value"]))

    def node_Cast(self, operands, attributes):
        return operands[0]

    node_Identity = node_Dropout = node_Cast

    def node_Floor(self, operands, attributes):
        return integers(operands[0])

    def node_Mul(self, operands, attributes):
        x, factor = operands
        return Quotient(x.numbers * factor, x.divisor) if isinstance(x, Quotient) else x * factor

    def node_Add(self, operands, attributes):
        x, y = operands
        return Quotient(x.numbers + y * x.divisor, x.divisor) if isinstance(x, Quotient) else x + y

    def node_Div(self, operands, attributes):
        x, divisor = operands
        return x.numbers // (x.divisor * divisor) if isinstance(x, Quotient) else x // divisor

    def node_Clip(self, operands, attributes):
        return np.clip(integers(operands[0]), int(attributes["min"]), int(attributes["max"]))

    # ---- windows ----

    def windows(self, x, attributes, fill):
        """[batch, channels, rows, columns, kernel rows, kernel columns], or without rows for 1-D."""
        kernel = attributes["kernel_shape"]
        rank = len(kernel)
        strides, dilations = attributes.get("strides", [1] * rank), attributes.get("dilations", [1] * rank)
        pads = attributes.get("pads", [0] * 2 * rank)
        x = np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[rank + i]) for i in range(rank)], constant_values=fill)
        axes = tuple(range(2, 2 + rank))
        view = np.lib.stride_tricks.sliding_window_view(x, [(k - 1) * d + 1 for k, d in zip(kernel, dilations)], axes)
        steps = [slice(None, None, step) for step in list(strides) + list(dilations)]
        return view[(slice(None), slice(None), *steps)]

    def node_Conv(self, operands, attributes):
        x, weights = integers(operands[0]), operands[1]
        groups, inner = attributes.get("group", 1), tuple(range(2, weights.ndim))
        attributes = {"kernel_shape": weights.shape[2:], **attributes}
        parts = []
        for part, own in zip(np.split(x, groups, 1), np.split(weights, groups)):
            view = self.windows(part, attributes, 0)
            axes = tuple(range(view.ndim - len(inner), view.ndim))
            sums = np.tensordot(view, own, ((1, *axes), (1, *inner)))
            parts.append(np.moveaxis(sums, -1, 1))
        result = np.concatenate(parts, 1)
        return result + operands[2].reshape(1, -1, *[1] * (result.ndim - 2)) if len(operands) > 2 else result

    def node_Gemm(self, operands, attributes):
        x, weights = integers(operands[0]), operands[1]
        sums = x @ (weights.T if attributes.get("transB", 0) else weights)
        return sums + operands[2] if len(operands) > 2 else sums

    def node_AveragePool(self, operands, attributes):
        view = self.windows(integers(operands[0]), attributes, 0)
        axes = tuple(range(view.ndim - len(attributes["kernel_shape"]), view.ndim))
        return Quotient(view.sum(axes), int(np.prod(attributes["kernel_shape"])))

    def node_MaxPool(self, operands, attributes):
        view = self.windows(integers(operands[0]), attributes, np.iinfo(np.int64).min)
        return view.max(tuple(range(view.ndim - len(attributes["kernel_shape"]), view.ndim)))

    # ---- moves ----

    def move(self, value, how):
        return Quotient(how(value.numbers), value.divisor) if isinstance(value, Quotient) else how(value)

    def node_Flatten(self, operands, attributes):
        return self.move(operands[0], lambda x: x.reshape(1, -1))

    def node_Reshape(self, operands, attributes):
        return self.move(operands[0], lambda x: x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(operands[1])]))

    def node_Transpose(self, operands, attributes):
        return self.move(operands[0], lambda x: x.transpose(attributes["perm"]))

    def node_Squeeze(self, operands, attributes):
        return self.move(operands[0], lambda x: x.squeeze(tuple(attributes["axes"])))

    def node_Unsqueeze(self, operands, attributes):
        return self.move(operands[0], lambda x: np.expand_dims(x, tuple(attributes["axes"])))

    def node_Pad(self, operands, attributes):
        pads = attributes["pads"]
        rank = len(pads) // 2
        return self.move(operands[0], lambda x: np.pad(x, [(pads[i], pads[rank + i]) for i in range(rank)]))

    def node_Concat(self, operands, attributes):
        return np.concatenate([integers(value) for value in operands], attributes["axis"])


def check(dory, maker, seed, scratch):
    path = os.path.join(scratch, "model.onnx")
    subprocess.run([maker, str(seed), path] + KINDS[seed % len(KINDS)], check=True, stdout=subprocess.DEVNULL)
    network, random = Network(onnx.load(path)), np.random.default_rng(seed)
    inputs = {name: random.integers(0, 256, shape) for name, shape in network.edges.items()}
    command, outputs = [dory, "run", path, "--quiet", "--exact-add"], []
    for i, value in enumerate(inputs.values()):
        name = os.path.join(scratch, f"input_{i}.bin")
        value.astype(np.uint8).tofile(name)
        command += ["--input", name]
    expected = network.run(inputs)
    for i in range(len(expected)):
        outputs.append(os.path.join(scratch, f"output_{i}.npy"))
        command += ["--output", outputs[-1]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    for i, value in enumerate(expected):
        found = np.load(outputs[i]).ravel().astype(np.int64)
        wrong = np.flatnonzero(found != value.ravel()) if found.size == value.size else [0]
        if len(wrong):
            return f"output {i}: {len(wrong)} of {value.size} elements differ, the first at {wrong[0]}; {found.size} found"
    return ""


def main():
    dory, maker, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    wrong = too_large = 0
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(first, first + count):
            fault = check(dory, maker, seed, scratch)
            if TOO_LARGE in fault:
                too_large += 1
            elif fault:
                wrong += 1
                print(f"seed {seed}: {fault}")
    print(f"{count} random networks, {wrong} wrong, {too_large} refused for sums of more than 32 bits")
    return 1 if wrong or too_large * 100 > MAXIMUM_TOO_LARGE * count else 0


sys.exit(main())
