#!/usr/bin/python3
"""Random networks, QDQ and with QOperators: `dory run` against the independent implementation (reference.py), every element.

usage: random_networks.py DORY FIRST_SEED COUNT      exit status 77: no python3-onnx
       random_networks.py --write FOLDER COUNT [FIRST]       the models only, for fuzzers to start from
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    import attention
    import qoperators
    import reference
    import views
except ImportError:
    print("skipped: no onnx or numpy; on Debian: apt-get install python3-onnx python3-numpy")
    sys.exit(77)

FLOAT = np.float32


class Tensor:
    """A quantised tensor: the name of its integers, shape, scale and zero point."""

    def __init__(self, name, shape, scale, zero_point):
        self.name, self.shape, self.scale, self.zero_point = name, shape, scale, zero_point


class Builder(attention.Attention, views.Views):
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []
        self.kind = self.pick([np.int8, np.uint8])
        self.is_mixed = self.number(0, 4) == 0
        self.opset = self.pick([11, 12, 13, 15, 17, 19, 21])

    def pick(self, choices):
        return choices[self.random.integers(len(choices))]

    def number(self, low, high):
        return int(self.random.integers(low, high + 1))

    def constant(self, array, name="c"):
        name = f"{name}{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, kind, inputs, count=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(count)]
        if kind in ("QuantizeLinear", "DequantizeLinear") and self.number(0, 9) == 0:
            attributes["domain"] = "com.microsoft"  # onnxruntime has them there, too
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"{kind}_{len(self.nodes)}", **attributes))
        return names if count > 1 else names[0]

    # ---- quantisations ----

    def scale(self):
        """Often a power of two, which has ties."""
        return FLOAT(2.0 ** -self.number(3, 8)) if self.number(0, 3) == 0 else FLOAT(np.exp(self.random.uniform(-6, -2)))

    def zero_point(self):
        limits = np.iinfo(self.kind)
        return self.kind(self.pick([limits.min, 0 if self.kind == np.int8 else 128, self.number(limits.min, limits.max)]))

    def quantised(self, real, shape, scale=None, zero_point=None):
        scale = self.scale() if scale is None else scale
        if zero_point is None:
            self.kind = self.pick([np.int8, np.uint8]) if self.is_mixed else self.kind
            zero_point = self.zero_point()
        name = self.node("QuantizeLinear", [real, self.constant(scale, "s"), self.constant(zero_point, "z")])
        if self.number(0, 9) == 0:  # as Brevitas has it, for fewer bits
            kind = zero_point.dtype.type
            limits = np.iinfo(kind)
            low, high = sorted(self.number(limits.min, limits.max) for _ in range(2))
            name = self.node("Clip", [name, self.constant(kind(low)), self.constant(kind(high))])
        return Tensor(name, shape, scale, zero_point)

    def real(self, tensor):
        return self.node("DequantizeLinear", [tensor.name, self.constant(tensor.scale, "s"), self.constant(tensor.zero_point, "z")])

    def weights(self, shape, axis, per_channel):
        integers = self.random.integers(-127, 128, shape).astype(np.int8)
        if not per_channel or self.opset < 13:  # which had no scales of channels
            scale = FLOAT(np.exp(self.random.uniform(-7, -3)))
            return self.dequantised_weights(integers, scale, axis), [scale] * shape[axis]
        scales = np.exp(self.random.uniform(-7, -3, shape[axis])).astype(FLOAT)
        zeros = self.constant(np.zeros(shape[axis], np.int8), "z")
        return self.node("DequantizeLinear", [self.constant(integers, "w"), self.constant(scales, "s"), zeros], axis=axis), scales

    def dequantised_weights(self, integers, scale, axis):
        """As initialiser, as float behind a QuantizeLinear, or transposed behind it."""
        ends = [self.constant(scale, "s"), self.constant(np.int8(0), "z")]
        way = self.number(0, 3)
        if way == 0:
            floats = (integers * scale).astype(FLOAT)
            return self.node("DequantizeLinear", [self.node("QuantizeLinear", [self.constant(floats, "f")] + ends)] + ends)
        if way == 1 and integers.ndim == 2:
            turned = self.node("DequantizeLinear", [self.constant(np.ascontiguousarray(integers.T), "w")] + ends)
            return self.node("Transpose", [turned], perm=[1, 0])
        if way == 2:
            low, high = self.constant(np.int8(-127), "l"), self.constant(np.int8(127), "h")
            return self.node("DequantizeLinear", [self.node("Clip", [self.constant(integers, "w"), low, high])] + ends)
        if integers.flat[0] % 4 == 0:  # minus their zero point they have 9 bits
            ends[1] = self.constant(np.uint8(integers.flat[-1] + 128), "z")
            integers = (integers.astype(np.int16) + 128).astype(np.uint8)
        return self.node("DequantizeLinear", [self.constant(integers, "w")] + ends)

    def bias(self, scale, scales):
        way = self.number(0, 3)
        if way == 0:
            return []
        if way == 1:
            return [self.constant(self.random.normal(0, 1, len(scales)).astype(FLOAT), "b")]
        products = (scale * np.asarray(scales, FLOAT)).astype(FLOAT)
        integers = self.random.integers(-3000, 3000, len(scales)).astype(np.int32)
        if len(set(scales)) == 1:
            zero = self.constant(np.int32(0), "z")
            return [self.node("DequantizeLinear", [self.constant(integers, "b"), self.constant(products[0], "s"), zero])]
        zeros = self.constant(np.zeros(len(scales), np.int32), "z")
        return [self.node("DequantizeLinear", [self.constant(integers, "b"), self.constant(products, "s"), zeros], axis=0)]

    def output_scale(self, scale, scales, taps):
        """Such that sums fill the elements, more or less."""
        return FLOAT(scale * np.mean(scales) * np.sqrt(taps) * np.exp(self.random.uniform(2, 4.5)))

    def bounded(self, real):
        """Sometimes with a Relu or Clip behind."""
        way = self.number(0, 5)
        if way == 0:
            return self.node("Relu", [real])
        if way == 1:
            return self.node("Clip", [real, self.constant(FLOAT(0)), self.constant(FLOAT(self.random.uniform(0.5, 6)))])
        return real

    # ---- layers ----

    def convolution(self, x):
        channels, depthwise = self.number(1, 9), self.number(0, 2) == 0
        groups = x.shape[1] if depthwise else self.pick([g for g in (1, 1, 1, 2, 3) if x.shape[1] % g == 0])
        channels = groups * self.number(1, 2) if depthwise else channels if groups == 1 else groups * self.number(1, 3)
        kernel = [min(self.number(1, 3), x.shape[2]), min(self.number(1, 3), x.shape[3])]
        weights, scales = self.weights((channels, x.shape[1] // groups, *kernel), 0, self.number(0, 1))
        more = {"auto_pad": "SAME_UPPER"} if self.number(0, 3) == 0 else {"pads": [self.number(0, k - 1) for k in kernel * 2]}
        strides, dilations, pads = [self.number(1, 2), self.number(1, 2)], [1, 1], more.get("pads", [0] * 4)
        if "pads" in more and all(x.shape[2 + i] + pads[i] + pads[i + 2] > 2 * (kernel[i] - 1) for i in range(2)):
            dilations = more["dilations"] = [self.pick([1, 1, 2]), self.pick([1, 1, 2])]
        real = self.node("Conv", [self.real(x), weights] + self.bias(x.scale, scales), kernel_shape=kernel, strides=strides,
                         group=groups, **more)
        size = [-(-x.shape[2 + i] // strides[i]) if "auto_pad" in more else
                (x.shape[2 + i] + pads[i] + pads[i + 2] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(2)]
        scale = self.output_scale(x.scale, scales, x.shape[1] // groups * kernel[0] * kernel[1])
        return self.quantised(self.bounded(real), (1, channels, *size), scale)

    def transposed(self, x):
        channels, kernel, strides = self.number(1, 5), [self.number(1, 3), self.number(1, 3)], [self.number(1, 2), self.number(1, 2)]
        if x.shape[2] * x.shape[3] > 200:
            return x
        weights, scales = self.weights((x.shape[1], channels, *kernel), 1, self.number(0, 1))
        pads, extra = [self.number(0, (k - 1) // 2) for k in kernel * 2], [self.number(0, s - 1) for s in strides]
        size = [(x.shape[2 + i] - 1) * strides[i] + kernel[i] + extra[i] - pads[i] - pads[i + 2] for i in range(2)]
        if min(size) < 1:
            return x
        real = self.node("ConvTranspose", [self.real(x), weights] + self.bias(x.scale, scales), kernel_shape=kernel,
                         strides=strides, pads=pads, output_padding=extra)
        return self.quantised(real, (1, channels, *size), self.output_scale(x.scale, scales, x.shape[1]))

    def average(self, x):
        way = self.number(0, 2)
        scale = x.scale if self.number(0, 2) == 0 else FLOAT(x.scale / self.pick([2, 3]))
        zero = x.zero_point if scale == x.scale else self.zero_point()
        if way == 0:
            return self.quantised(self.node("GlobalAveragePool", [self.real(x)]), (1, x.shape[1], 1, 1), scale, zero)
        if way == 1:
            axes = {"axes": [2, 3]} if self.opset < 18 else {}
            more = [] if axes else [self.constant(np.array([2, 3]))]
            return self.quantised(self.node("ReduceMean", [self.real(x)] + more, keepdims=1, **axes), (1, x.shape[1], 1, 1), scale, zero)
        if self.number(0, 1):
            return self.average_inside(x, scale, zero)
        kernel = [min(2, x.shape[2]), min(2, x.shape[3])]
        real = self.node("AveragePool", [self.real(x)], kernel_shape=kernel, strides=kernel)
        return self.quantised(real, (1, x.shape[1], x.shape[2] // kernel[0], x.shape[3] // kernel[1]), scale, zero)

    def average_inside(self, x, scale, zero):
        """Windows that leave the image, of which the elements inside count."""
        kernel, strides, pads = [self.number(1, 4), self.number(1, 4)], [self.number(1, 2), self.number(1, 2)], []
        for side in range(4):
            pads.append(self.number(0, min(kernel[side % 2] - 1, 2)))
        if any(x.shape[2 + i] + pads[i] + pads[2 + i] < kernel[i] for i in range(2)):
            return x
        counts = int(self.number(0, 3) == 0)
        shape = [(x.shape[2 + i] + pads[i] + pads[2 + i] - kernel[i]) // strides[i] + 1 for i in range(2)]
        real = self.node("AveragePool", [self.real(x)], kernel_shape=kernel, strides=strides, pads=pads, count_include_pad=counts)
        return self.quantised(real, (1, x.shape[1], *shape), scale, zero)

    def maximum(self, x):
        kernel = [min(self.number(1, 3), x.shape[2]), min(self.number(1, 3), x.shape[3])]
        pads = [self.number(0, k - 1) for k in kernel * 2]
        real = self.node("MaxPool", [self.real(x)], kernel_shape=kernel, strides=[1, 1], pads=pads)
        shape = (1, x.shape[1], *[x.shape[2 + i] + pads[i] + pads[i + 2] - kernel[i] + 1 for i in range(2)])
        return self.quantised(real, shape, x.scale, x.zero_point)

    def largest(self, x):
        """Along height, width, or both, of an image or of one with its channels last."""
        axes, last = self.pick([[2], [3], [2, 3], [-1, -2]]), self.number(0, 1)
        real = self.node("Transpose", [self.real(x)], perm=[0, 2, 3, 1]) if last else self.real(x)
        places = [axis % 4 - 1 for axis in axes] if last else axes
        lists = {"axes": places} if self.opset < 18 else {}
        real = self.node("ReduceMax", [real] + ([] if lists else [self.constant(np.array(places))]), keepdims=1, **lists)
        real = self.node("Transpose", [real], perm=[0, 3, 1, 2]) if last else real
        shape = [1 if i in [axis % 4 for axis in axes] else x.shape[i] for i in range(4)]
        return self.quantised(real, tuple(shape), x.scale, x.zero_point)

    def index(self, x):
        """The dimension of the largest element, along any but the first; a model's output is nothing else's input."""
        axis, keep, kind = self.number(1, len(x.shape) - 1), self.number(0, 1), self.pick(["ArgMax", "ArgMin"])
        shape = [size for i, size in enumerate(x.shape) if keep or i != axis]
        shape[axis:axis + keep] = [1] * keep
        given = axis - len(x.shape) if self.number(0, 1) else axis
        return Tensor(self.node(kind, [self.real(x)], axis=given, keepdims=keep), shape, None, None)

    def unary(self, x):
        kind, more = self.pick([("Relu", {}), ("LeakyRelu", {"alpha": 0.1}), ("Sigmoid", {}), ("Tanh", {}), ("HardSwish", {}),
                                ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.5}), ("Identity", {})])
        kind = "Relu" if kind == "HardSwish" and self.opset < 14 else kind
        return self.quantised(self.node(kind, [self.real(x)], **({} if kind == "Relu" else more)), x.shape)

    def silu(self, x):
        real = self.real(x)
        return self.quantised(self.node("Mul", [real, self.node("Sigmoid", [real])]), x.shape)

    def residual(self, x):
        y = self.unary(x)
        kind = self.pick(["Add", "Sub"])
        scale = self.pick([None, FLOAT(2 * x.scale)])
        return self.rounded(self.bounded(self.node(kind, [self.real(x), self.real(y)])), x.shape, scale)

    def summed(self, x):
        """Several tensors of different scales, and convolutions that nothing rounds, rounded once. Scales are powers of two,
        of which such sums are exact."""
        def power():
            return FLOAT(2.0 ** -self.number(3, 7))
        x = self.quantised(self.node("Identity", [self.real(x)]), x.shape, power())
        terms = []
        for _ in range(self.number(2, 4)):
            way = self.number(0, 3)
            if way == 0:
                terms.append(self.real(self.quantised(self.node("Sigmoid", [self.real(x)]), x.shape, power())))
            elif way == 1:
                terms.append(self.real(x))
            else:
                integers = self.random.integers(-127, 128, (x.shape[1], x.shape[1], 1, 1)).astype(np.int8)
                ends = [self.constant(power(), "s"), self.constant(np.int8(0), "z")]
                weights = self.node("DequantizeLinear", [self.constant(integers, "w")] + ends)
                real = self.node("Conv", [self.real(x), weights], kernel_shape=[1, 1])
                terms.append(self.node("Relu", [real]) if way == 2 else real)
        if self.number(0, 1):
            real = self.node("Mean" if len(terms) == 3 and self.number(0, 1) else "Sum", terms)
        else:
            real = terms[0]
            for term in terms[1:]:
                real = self.node(self.pick(["Add", "Sub"]), [real, term])
        return self.rounded(self.bounded(real), x.shape, self.pick([None, FLOAT(0.25), FLOAT(4)]))

    def excite(self, x):
        pooled = self.quantised(self.node("GlobalAveragePool", [self.real(x)]), (1, x.shape[1], 1, 1), x.scale, x.zero_point)
        gate = self.quantised(self.node("Sigmoid", [self.real(pooled)]), pooled.shape, FLOAT(1 / 256))
        real = self.node("Mul", [self.real(x), self.real(gate)])
        return self.quantised(real, x.shape, FLOAT(x.scale / 2))

    def concatenation(self, x):
        parts = [x] + [self.unary(x) for _ in range(self.number(1, 2))]
        axis, shape = self.pick([1, 1, 2, 3]), list(x.shape)
        shape[axis] *= len(parts)
        if shape[axis] > 40:
            return x
        real = self.node("Concat", [self.real(part) for part in parts], axis=axis)
        return self.quantised(real, tuple(shape))

    def pad(self, x):
        pads = [0, 0, self.number(0, 2), self.number(0, 2), 0, 0, self.number(0, 2), self.number(0, 2)]
        mode = self.pick(["constant", "edge", "reflect"])
        if mode == "reflect" and min(x.shape[2:]) < 3:
            return x
        real = self.node("Pad", [self.real(x), self.constant(np.array(pads))], mode=mode)
        return self.quantised(real, (1, x.shape[1], x.shape[2] + pads[2] + pads[6], x.shape[3] + pads[3] + pads[7]), x.scale, x.zero_point)

    def cut(self, x):
        if min(x.shape[1:]) < 2:
            return x
        if self.number(0, 1):
            at = self.number(1, x.shape[1] - 1)
            sizes = [at, x.shape[1] - at]
            lists = {"split": sizes} if self.opset < 13 else {}
            first, second = self.node("Split", [self.real(x)] + ([] if lists else [self.constant(np.array(sizes))]), 2, axis=1, **lists)
            return self.quantised(self.pick([first, second]) if at * 2 == x.shape[1] else second, (1, x.shape[1] - at, *x.shape[2:]),
                                  x.scale, x.zero_point)
        lists = [np.array(list_) for list_ in ([1, 0], [x.shape[2], x.shape[3]], [2, 3], [1, 2])]
        real = self.node("Slice", [self.real(x)] + [self.constant(list_) for list_ in lists])
        return self.quantised(real, (1, x.shape[1], x.shape[2] - 1, -(-x.shape[3] // 2)), x.scale, x.zero_point)

    def resize(self, x):
        if x.shape[2] * x.shape[3] > 150:
            return x
        scales = [self.number(1, 3), self.number(1, 3)]
        more = self.pick([{"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
                          {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}])
        real = self.node("Resize", [self.real(x), "", self.constant(np.array([1, 1, *scales], FLOAT))], **more)
        return self.quantised(real, (*x.shape[:2], x.shape[2] * scales[0], x.shape[3] * scales[1]), x.scale, x.zero_point)

    def camera(self, mode):
        """An image that fits no L1 whole, scaled to less."""
        x = self.quantised("x", (1, 1, 244, 324))
        scales, more = self.constant(np.array([1, 1, 0.5, 0.25], FLOAT)), {"coordinate_transformation_mode": "half_pixel"}
        small = self.quantised(self.node("Resize", [self.real(x), "", scales], mode=mode, **more), (1, 1, 122, 81), x.scale, x.zero_point)
        return x, self.convolution(small)

    def shuffle(self, x):
        """Channels in another order, or there and back."""
        groups = next((g for g in (2, 3) if x.shape[1] % g == 0), 1)
        apart = self.node("Reshape", [self.real(x), self.constant(np.array([1, groups, x.shape[1] // groups, *x.shape[2:]]))])
        turned = self.node("Transpose", [apart], perm=[0, 2, 1, 3, 4])
        return self.quantised(self.node("Reshape", [turned, self.constant(np.array(x.shape))]), x.shape, x.scale, x.zero_point)

    def one_more_dimension(self, x):
        """And back, with a function between."""
        axis, more = self.number(0, 3), self.pick([self.unary, self.silu])
        lists = {"axes": [axis]} if self.opset < 13 else {}
        ends = [] if lists else [self.constant(np.array([axis]))]
        real = self.node("Squeeze", [self.node("Unsqueeze", [self.real(x)] + ends, **lists)] + ends, **lists)
        return more(self.quantised(real, x.shape, x.scale, x.zero_point))

    def to_channels_last_and_back(self, x):
        last = self.quantised(self.node("Transpose", [self.real(x)], perm=[0, 2, 3, 1]), x.shape, x.scale, x.zero_point)
        return self.quantised(self.node("Transpose", [self.real(last)], perm=[0, 3, 1, 2]), x.shape, x.scale, x.zero_point)

    def normalised(self, x):
        """Arithmetic with a constant for each channel."""
        def numbers(low=-2.0, high=2.0):
            return self.random.uniform(low, high, x.shape[1]).astype(FLOAT)
        if self.number(0, 1):
            constants = [self.constant(array) for array in (numbers(), numbers(), numbers(), numbers(0.1))]
            return self.quantised(self.bounded(self.node("BatchNormalization", [self.real(x), *constants])), x.shape)
        kind = self.pick(["Add", "Sub", "Mul"])
        shape = self.pick([(1, -1, 1, 1), (-1, 1, 1)])
        return self.quantised(self.node(kind, [self.real(x), self.constant(numbers(0.1).reshape(shape))]), x.shape)

    def rows(self, x):
        """MatMul of the pixels' channels, or of the channels' pixels."""
        apart = self.node("Reshape", [self.real(x), self.constant(np.array([1, x.shape[1], -1]))])
        inner, rows = x.shape[1], x.shape[2] * x.shape[3]
        if self.number(0, 1):
            apart = self.node("Transpose", [apart], perm=[0, 2, 1])
        else:
            inner, rows = rows, inner
        outputs = self.number(1, 6)
        weights, scales = self.weights((inner, outputs), 1, self.number(0, 1))
        real = self.node("MatMul", [apart, weights])
        turned = self.node("Transpose", [real], perm=[0, 2, 1])
        scale = self.output_scale(x.scale, scales, inner)
        return self.quantised(self.node("Reshape", [turned, self.constant(np.array([1, outputs, rows, 1]))]), (1, outputs, rows, 1), scale)

    def classifier(self, x):
        size = int(np.prod(x.shape))
        in_integers = self.number(0, 1)
        flat = x.name if in_integers else self.real(x)
        if self.number(0, 2) == 0:
            flat = self.node("Transpose", [flat], perm=[0, 2, 3, 1])
        flat = self.node(*self.pick([("Flatten", [flat]), ("Reshape", [flat, self.constant(np.array([0, size]))])]))
        flat = self.real(Tensor(flat, None, x.scale, x.zero_point)) if in_integers else flat
        outputs, way = self.number(2, 10), self.number(0, 2)
        if way == 0:
            weights, scales = self.weights((outputs, size), 0, self.number(0, 1))
            alpha, bias = self.pick([1.0, 1.0, 0.5, -1.0, -2.0]), self.bias(x.scale, scales)
            more = {} if alpha == 1 else {"alpha": alpha, "beta": self.pick([1.0, -0.5])}
            real = self.node("Gemm", [flat, weights] + bias, transB=1, **more)
        else:
            weights, scales = self.weights((size, outputs), 1, self.number(0, 1))
            real = self.node("MatMul", [flat, weights])
            if way == 2:
                real = self.node("Add", [real, self.constant(self.random.normal(0, 1, outputs).astype(FLOAT), "b")])
        return self.quantised(real, (1, outputs), self.output_scale(x.scale, scales, size))

    def model(self):
        return self.finish(*self.grow())

    def grow(self):
        shape = (1, self.number(1, 8), self.number(2, 12), self.number(2, 12))
        is_float = self.number(0, 4) > 0
        x = self.quantised("x", shape) if is_float else Tensor("x", shape, self.scale(), self.zero_point())
        layers = [self.convolution] * 4 + [self.transposed, self.average, self.maximum, self.largest, self.unary, self.silu, self.residual, self.summed, self.summed, self.excite,
                                           self.concatenation, self.pad, self.cut, self.resize, self.shuffle, self.normalised, self.rows,
                                           self.to_channels_last_and_back, self.one_more_dimension, self.matrices, self.attention,
                                           self.attention, self.token, self.any_rank, self.any_rank, self.any_rank, self.select, self.divided, self.joined,
                                           self.joined]
        y = x
        for _ in range(self.number(1, 6)):
            y = self.pick(layers)(y)
        if self.number(0, 1) or y is x:
            y = self.classifier(y)
        return x, y

    def finish(self, x, y):
        is_float, shape = x.name != "x", x.shape
        types = {np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8}
        elements, results = types[x.zero_point.dtype], types[y.zero_point.dtype]
        if self.number(0, 4) == 0:
            y, results = self.index(y), TensorProto.INT64
        if self.number(0, 2) == 0:
            self.nodes = qoperators.fused(self.nodes)
        graph = helper.make_graph(self.nodes, "random",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT if is_float else elements, shape)],
                                  [helper.make_tensor_value_info(y.name, results, y.shape)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)])
        limits = np.iinfo(x.zero_point.dtype)
        return model, self.random.integers(limits.min, limits.max + 1, shape).astype(x.zero_point.dtype)


def check(dory, seed, scratch, builder=Builder):
    model, image = builder(seed).model()
    path, source, result = (os.path.join(scratch, name) for name in ("model.onnx", "input.bin", "output.bin"))
    expected = reference.Network(model).run(image).ravel()
    if seed % 8 == 0:  # some tools do not keep ONNX's order
        nodes = list(model.graph.node)
        np.random.default_rng(seed).shuffle(nodes)
        del model.graph.node[:]
        model.graph.node.extend(nodes)
    onnx.save(model, path)
    image.tofile(source)
    done = subprocess.run([dory, "run", path, "--quiet", "--input", source, "--output", result], capture_output=True, text=True)
    return done.stderr if done.returncode else difference(result, expected)


def difference(path, expected):
    """Of a file's elements from the expected ones, in words; none: ''."""
    found = np.fromfile(path, expected.dtype)
    if expected.dtype == np.int64:  # indices have as many bytes as they need
        found = np.fromfile(path, np.uint16 if os.path.getsize(path) == 2 * expected.size else np.uint8)
    if found.size != expected.size:
        return f"{found.size} elements, expected {expected.size}"
    wrong = np.flatnonzero(found != expected)
    return f"{wrong.size} of {found.size} elements differ, the first is {found[wrong[0]]}, expected {expected[wrong[0]]}" if wrong.size else ""


def write(folder, count, first):
    for seed in range(first, first + count):
        onnx.save(Builder(seed).model()[0], f"{folder}/qdq_{seed}.onnx")
    for mode in ("nearest", "linear"):
        builder = Builder(first + count - 1)
        onnx.save(builder.finish(*builder.camera(mode))[0], f"{folder}/qdq_camera_{mode}.onnx")
    return 0


def main():
    if sys.argv[1] == "--write":
        return write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    dory, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(first, first + count):
            fault = check(dory, seed, scratch)
            if fault:
                wrong += 1
                print(f"seed {seed}: {fault}")
    print(f"{count} random networks, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
