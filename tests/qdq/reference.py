"""What a QDQ or QOperator network means, computed on its own: from the ONNX file in exact numbers, none of dory's code.

A real tensor between a DequantizeLinear and a QuantizeLinear is either exact, integers times a fraction a channel plus a
fraction a channel, or, behind a function of single elements, float32. QuantizeLinear rounds exact tensors exactly, halves to
even, and float32 ones in float32.
"""
import math
from fractions import Fraction

import numpy as np
from onnx import helper, numpy_helper

from reference_compared import Compared
from reference_joined import Joined, joined
from reference_values import Exact, FLOAT, Interpolated, Parts, Plain, Rows, Weights, fraction, round_exactly


class Network(Compared, Joined):
    """Runs a model on the integers behind its first QuantizeLinear, or of its integer input."""

    def __init__(self, model, interpolate_in_float32=False):
        self.graph = model.graph
        self.opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in self.graph.initializer}
        self.in_float32 = interpolate_in_float32
        self.ties = 0  # that float32 rounded otherwise

    def run(self, elements, stop_at=()):
        self.values = dict(self.constants)
        self.first = elements
        for value in self.graph.input:
            if value.name not in self.constants:
                is_float = value.type.tensor_type.elem_type == 1
                self.values[value.name] = None if is_float else elements
        last = None
        for node in self.graph.node:
            if node.op_type in stop_at:
                break
            inputs = [self.values.get(name) if name else None for name in node.input]
            attributes = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
            compute = getattr(self, "node_" + node.op_type)
            is_joined = any(isinstance(value, Parts) for value in inputs) and node.op_type not in ("QuantizeLinear", "Concat", "Slice")
            results = self.spread(compute, inputs, attributes, node) if is_joined else compute(inputs, attributes, node)
            results = results if isinstance(results, list) else [results]
            self.values.update(zip(node.output, results))
            last = results[0] if isinstance(results[0], np.ndarray) else last
        return self.outputs(last)

    def outputs(self, last):
        value = self.values.get(self.graph.output[0].name)
        return value.elements if isinstance(value, Plain) else value if isinstance(value, np.ndarray) else last

    # ---- edges ----

    def quantise(self, value, scale, zero_point):
        kind = zero_point.dtype
        limits = np.iinfo(kind)
        if value is None:
            return self.first
        if isinstance(value, Interpolated):
            return self.quantise_interpolated(value, scale, zero_point)
        if isinstance(value, Parts):
            return np.concatenate([self.quantise(part, scale, zero_point) for part in value.parts], value.axis)
        if isinstance(value, Plain):
            value = value.floats()
        if isinstance(value, Exact):
            rounded = self.quantise_exactly(value, fraction(scale))
            for bound, choose in zip(value.bounds, (np.maximum, np.minimum)):
                if bound is not None:
                    rounded = choose(rounded, int(np.rint(FLOAT(bound) / FLOAT(scale))))
        else:
            rounded = np.rint((value / FLOAT(scale)).astype(FLOAT)).astype(np.float64)
        return np.clip(rounded + int(zero_point), limits.min, limits.max).astype(kind)

    def quantise_interpolated(self, value, scale, zero_point):
        """As float32 has it, which may be otherwise at exact ties only."""
        rounded = self.quantise(value.floats, scale, zero_point)
        differs = rounded != self.quantise(value.exact, scale, zero_point)
        steps = value.exact.scales[0] / fraction(scale)
        for at in np.argwhere(differs):
            twice = 2 * int(value.exact.numbers[tuple(at)]) * steps
            assert twice.denominator == 1 and twice.numerator % 2 == 1, "float32 differs where there is no tie"
        self.ties += int(differs.sum())
        return rounded

    def quantise_exactly(self, value, scale):
        numbers = value.numbers
        rounded = np.empty_like(numbers)
        channels = 1 if len(value.scales) == 1 and len(value.offsets) == 1 else numbers.shape[1]
        for channel in range(channels):
            at = (slice(None), channel) if channels > 1 else slice(None)
            factor, offset = value.channel(channel)
            rounded[at] = round_exactly(numbers[at], factor / scale, offset / scale)
        return rounded

    def node_QuantizeLinear(self, inputs, attributes, node):
        value, scale, zero_point = (inputs + [None])[:3]
        zero_point = np.uint8(0) if zero_point is None else zero_point
        if isinstance(value, np.ndarray):
            axis = attributes.get("axis", 1)
            shape = [-1 if i == axis % value.ndim else 1 for i in range(value.ndim)] if scale.ndim else [1] * value.ndim
            limits = np.iinfo(zero_point.dtype)
            rounded = np.rint(value / scale.reshape(shape)).astype(int) + zero_point.reshape(shape).astype(int)
            return np.clip(rounded, limits.min, limits.max).astype(zero_point.dtype)
        return self.quantise(value, scale, zero_point)

    def node_DequantizeLinear(self, inputs, attributes, node):
        elements, scale, zero_point = (inputs + [None])[:3]
        zero_point = np.zeros(np.shape(scale), elements.dtype) if zero_point is None else zero_point
        if np.ndim(scale) == 0 or np.size(scale) == 1:
            value = Plain(elements, np.ravel(scale)[0], np.ravel(zero_point)[0])
            value.is_number = node.input[0] in self.constants and elements.size == 1
            return value
        return Weights(elements, scale, zero_point, attributes.get("axis", 1))

    # ---- products ----

    def products(self, weights, axis):
        """Weights as integers, and a scale for each of their outputs."""
        if isinstance(weights, Plain):
            return weights.integers(), [fraction(weights.scale)]
        shape = [-1 if i == weights.axis % weights.elements.ndim else 1 for i in range(weights.elements.ndim)]
        assert weights.axis % weights.elements.ndim == axis
        integers = weights.elements.astype(np.int64) - weights.zero_point.astype(np.int64).reshape(shape)
        return integers, [fraction(scale) for scale in weights.scale]

    def finish(self, sums, value, scales, bias):
        factors = [fraction(value.scale) * scale for scale in scales]
        offsets = [Fraction(0)]
        if isinstance(bias, (Plain, Weights)) and bias.elements.dtype == np.int32:
            integers = bias.elements.astype(np.int64)
            sums = sums + integers.reshape([1, -1] + [1] * (sums.ndim - 2))
        elif isinstance(bias, np.ndarray) and bias.dtype == np.int32:
            sums = sums + bias.astype(np.int64).reshape([1, -1] + [1] * (sums.ndim - 2))
        elif bias is not None:
            offsets = [fraction(number) for number in np.ravel(bias)]
        return Exact(sums, factors, offsets)

    def windows(self, x, kernel, strides, pads, dilations, fill):
        """[batch, channels, rows, columns, kernel rows, kernel columns]"""
        x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])], constant_values=fill)
        span = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        view = np.lib.stride_tricks.sliding_window_view(x, span, (2, 3))
        return view[:, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]

    def geometry(self, attributes, kernel, size):
        strides, dilations = attributes.get("strides", [1, 1]), attributes.get("dilations", [1, 1])
        pads = list(attributes.get("pads", [0, 0, 0, 0]))
        automatic = attributes.get("auto_pad", b"NOTSET").decode()
        if automatic.startswith("SAME"):
            for i in range(2):
                total = max((math.ceil(size[i] / strides[i]) - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - size[i], 0)
                pads[i] = total // 2 if automatic == "SAME_UPPER" else total - total // 2
                pads[i + 2] = total - pads[i]
        return strides, pads, dilations

    def convolve(self, x, weights, groups, strides, pads, dilations):
        view = self.windows(x, weights.shape[2:], strides, pads, dilations, 0)
        outputs = []
        each_in, each_out = x.shape[1] // groups, weights.shape[0] // groups
        for group in range(groups):
            part = view[:, group * each_in:(group + 1) * each_in]
            outputs.append(np.einsum("nchwij,ocij->nohw", part, weights[group * each_out:(group + 1) * each_out]))
        return np.concatenate(outputs, 1)

    def node_Conv(self, inputs, attributes, node):
        value, weights, bias = (inputs + [None])[:3]
        integers, scales = self.products(weights, 0)
        geometry = self.geometry(attributes, integers.shape[2:], value.elements.shape[2:])
        return self.finish(self.convolve(value.integers(), integers, attributes.get("group", 1), *geometry), value, scales, bias)

    def node_ConvTranspose(self, inputs, attributes, node):
        value, weights, bias = (inputs + [None])[:3]
        integers, scales = self.products(weights, 1)
        strides, pads, _ = self.geometry(attributes, integers.shape[2:], value.elements.shape[2:])
        extra = attributes.get("output_padding", [0, 0])
        x = value.integers()
        size = [(x.shape[2 + i] - 1) * strides[i] + integers.shape[2 + i] for i in range(2)]
        whole = np.zeros((1, integers.shape[1], size[0] + extra[0], size[1] + extra[1]), np.int64)
        for row in range(x.shape[2]):
            for column in range(x.shape[3]):
                whole[0, :, row * strides[0]:row * strides[0] + integers.shape[2],
                      column * strides[1]:column * strides[1] + integers.shape[3]] += np.einsum(
                          "c,coij->oij", x[0, :, row, column], integers)
        cut = whole[:, :, pads[0]:whole.shape[2] - pads[2], pads[1]:whole.shape[3] - pads[3]]
        return self.finish(cut, value, scales, bias)

    def node_Gemm(self, inputs, attributes, node):
        value, weights, bias = (inputs + [None])[:3]
        transposed = attributes.get("transB", 0)
        integers, scales = self.products(weights, 0 if transposed else 1)
        if value.elements.ndim == 3:  # rows: channels second, for the scales
            return Rows((value.integers() @ integers).transpose(0, 2, 1), [fraction(value.scale) * scale for scale in scales])
        sums, alpha = value.integers() @ (integers.T if transposed else integers), attributes.get("alpha", 1.0)
        if alpha == 1:
            return self.finish(sums, value, scales, bias)
        if isinstance(bias, (Plain, Weights)):
            bias = bias.elements.astype(np.int64) * np.asarray(bias.scale, float)
        bias = None if bias is None else np.asarray(bias, float) * attributes.get("beta", 1.0)
        return self.finish(int(np.sign(alpha)) * sums, value, [scale * abs(fraction(alpha)) for scale in scales], bias)

    def node_MatMul(self, inputs, attributes, node):
        if all(isinstance(value, Plain) for value in inputs[:2]):
            return Exact(inputs[0].integers() @ inputs[1].integers(), [fraction(inputs[0].scale) * fraction(inputs[1].scale)])
        return self.node_Gemm(inputs[:2], {}, node)

    # ---- pools ----

    def node_AveragePool(self, inputs, attributes, node):
        kernel, integers = attributes["kernel_shape"], inputs[0].integers()
        strides, pads, dilations = self.geometry(attributes, kernel, inputs[0].elements.shape[2:])
        area, ones = kernel[0] * kernel[1], np.ones_like(integers)
        if attributes.get("ceil_mode", 0): # windows that start inside the image or the padding in front of it
            for i in range(2):
                size, reach = integers.shape[2 + i], (kernel[i] - 1) * dilations[i] + 1
                count = -(-(size + pads[i] + pads[i + 2] - reach) // strides[i])
                count -= count * strides[i] >= size + pads[i]
                pads[i + 2] = max(pads[i + 2], count * strides[i] + reach - size - pads[i])
        sums = self.windows(integers, kernel, strides, pads, dilations, 0).sum((4, 5))
        if attributes.get("count_include_pad", 0):
            return Exact(sums, [fraction(inputs[0].scale) / area])
        counts = self.windows(ones, kernel, strides, pads, dilations, 0).sum((4, 5))
        common = math.lcm(*(int(number) for number in np.unique(counts)))
        return Exact(sums * (common // counts), [fraction(inputs[0].scale) / common])

    def node_GlobalAveragePool(self, inputs, attributes, node):
        return self.node_ReduceMean(inputs[:1], {"axes": [2, 3]}, node)

    def axes(self, inputs, attributes):
        return tuple(int(axis) for axis in (attributes.get("axes") if "axes" in attributes else inputs[1]))

    def node_ReduceMax(self, inputs, attributes, node):
        return inputs[0].moved(inputs[0].elements.max(self.axes(inputs, attributes), keepdims=bool(attributes.get("keepdims", 1))))

    def node_ReduceMin(self, inputs, attributes, node):
        return inputs[0].moved(inputs[0].elements.min(self.axes(inputs, attributes), keepdims=bool(attributes.get("keepdims", 1))))

    def node_ArgMin(self, inputs, attributes, node):
        return np.argmin(inputs[0].elements, attributes.get("axis", 0), keepdims=bool(attributes.get("keepdims", 1)))

    def node_ArgMax(self, inputs, attributes, node):
        return np.argmax(inputs[0].elements, attributes.get("axis", 0), keepdims=bool(attributes.get("keepdims", 1)))

    def node_ReduceMean(self, inputs, attributes, node):
        axes = self.axes(inputs, attributes)
        sums = inputs[0].integers().sum(axes, keepdims=bool(attributes.get("keepdims", 1)))
        return Exact(sums, [fraction(inputs[0].scale) * sums.size / inputs[0].elements.size])

    def node_MaxPool(self, inputs, attributes, node):
        elements = inputs[0].elements if isinstance(inputs[0], Plain) else inputs[0]
        kernel = attributes["kernel_shape"]
        geometry = self.geometry(attributes, kernel, elements.shape[2:])
        view = self.windows(elements.astype(int), kernel, *geometry, -1000).max((4, 5)).astype(elements.dtype)
        return inputs[0].moved(view) if isinstance(inputs[0], Plain) else view

    def node_Softmax(self, inputs, attributes, node):
        """In whole numbers, as docs/numerics.md has it: exponentials of as many bits as 32-bit sums of them leave."""
        axis, x = attributes.get("axis", -1), inputs[0].integers()
        bits = min(31, 31 - math.ceil(math.log2(x.shape[axis])))
        table = np.array([round(math.exp(-i * float(inputs[0].scale)) * 2**bits) for i in range(256)], np.int64)
        x = table[x.max(axis, keepdims=True) - x]
        return Exact((x << 30) // x.sum(axis, keepdims=True), [Fraction(1, 2**30)])

    # ---- elements ----

    def function(self, inputs, compute):
        return compute(inputs[0].floats() if isinstance(inputs[0], Plain) else inputs[0]).astype(FLOAT)

    def node_Relu(self, inputs, attributes, node):
        if isinstance(inputs[0], Exact):
            return Exact(inputs[0].numbers, inputs[0].scales, inputs[0].offsets, (0, inputs[0].bounds[1]))
        return self.function(inputs, lambda x: np.maximum(x, FLOAT(0)))

    def node_Clip(self, inputs, attributes, node):
        low, high = ([None if bound is None else float(bound) for bound in inputs[1:]] + [None, None])[:2]
        if isinstance(inputs[0], Exact):
            return Exact(inputs[0].numbers, inputs[0].scales, inputs[0].offsets, (low, high))
        if isinstance(inputs[0], np.ndarray) and inputs[0].dtype != FLOAT:
            return np.clip(inputs[0], int(low), int(high))
        return self.function(inputs, lambda x: np.clip(x, low, high))

    def node_LeakyRelu(self, inputs, attributes, node):
        alpha = FLOAT(attributes.get("alpha", 0.01))
        return self.function(inputs, lambda x: np.where(x >= 0, x, alpha * x))

    def node_Sigmoid(self, inputs, attributes, node):
        return self.function(inputs, lambda x: 1 / (1 + np.exp(-x.astype(np.float64))))

    def node_Tanh(self, inputs, attributes, node):
        return self.function(inputs, lambda x: np.tanh(x.astype(np.float64)))

    def node_HardSigmoid(self, inputs, attributes, node):
        alpha, beta = FLOAT(attributes.get("alpha", 0.2)), FLOAT(attributes.get("beta", 0.5))
        return self.function(inputs, lambda x: np.clip(alpha * x + beta, FLOAT(0), FLOAT(1)))

    def node_HardSwish(self, inputs, attributes, node):
        return self.function(inputs, lambda x: x * np.clip(FLOAT(1) / FLOAT(6) * x + FLOAT(0.5), FLOAT(0), FLOAT(1)))

    def node_BatchNormalization(self, inputs, attributes, node):
        value, gamma, beta, mean, variance = inputs
        factors = (gamma.astype(float) / np.sqrt(variance.astype(float) + attributes.get("epsilon", 1e-5))).astype(FLOAT)
        sign = np.where(factors < 0, -1, 1).reshape(1, -1, *[1] * (value.elements.ndim - 2))
        scales = [fraction(value.scale) * abs(fraction(factor)) for factor in factors]
        offsets = [fraction(float(b) - float(m) * float(f)) for b, m, f in zip(beta, mean, factors)]
        return Exact(value.integers() * sign, scales, offsets)

    def add(self, inputs, sign):
        if isinstance(inputs[0], Plain) and isinstance(inputs[1], np.ndarray):
            inputs = [Exact(inputs[0].integers(), [fraction(inputs[0].scale)]), inputs[1]]
        if isinstance(inputs[0], Exact):
            offsets = [fraction(number) * sign for number in np.ravel(inputs[1])]
            return Exact(inputs[0].numbers, inputs[0].scales, offsets)
        first, second = (fraction(value.scale) for value in inputs)
        unit = Fraction(1, max(first.denominator, second.denominator))
        return Exact(inputs[0].integers() * int(first / unit) + sign * inputs[1].integers() * int(second / unit), [unit])

    def sum_exactly(self, values, signs, divisor=1):
        """Numbers of one scale a tensor."""
        terms, unit = [], Fraction(1, 2**40)
        for value, sign in zip(values, signs):
            numbers, scale = (value.integers(), value.scale) if isinstance(value, Plain) else (value.numbers, value.scales[0])
            if isinstance(value, Exact):
                assert len(value.scales) == 1 and value.offsets == [0] and value.bounds in ((None, None), (0, None))
                numbers = numbers if value.bounds[0] is None else np.maximum(numbers, 0)
            terms.append(sign * numbers * int(fraction(scale) / unit))
        return Exact(sum(terms), [unit / divisor])

    def node_Sum(self, inputs, attributes, node):
        return self.sum_exactly(inputs, [1] * len(inputs))

    def node_Mean(self, inputs, attributes, node):
        return self.sum_exactly(inputs, [1] * len(inputs), len(inputs))

    def node_Add(self, inputs, attributes, node):
        is_sum = any(isinstance(value, Exact) and not isinstance(value, Rows) for value in inputs) and node.input[1] not in self.constants
        return self.sum_exactly(inputs, [1, 1]) if is_sum else self.add(inputs, 1)

    def node_Sub(self, inputs, attributes, node):
        is_sum = any(isinstance(value, Exact) for value in inputs) and node.input[1] not in self.constants
        return self.sum_exactly(inputs, [1, -1]) if is_sum else self.add(inputs, -1)

    def node_Mul(self, inputs, attributes, node):
        if isinstance(inputs[1], np.ndarray) and node.input[1] in self.constants:
            factors = np.ravel(inputs[1])
            sign = np.where(factors < 0, -1, 1).reshape(1, -1, 1, 1)
            return Exact(inputs[0].integers() * sign, [fraction(inputs[0].scale) * abs(fraction(factor)) for factor in factors])
        is_function = any(getattr(value, "is_number", False) for value in inputs)  # of one element, in float32
        if all(isinstance(value, Plain) for value in inputs) and inputs[0] is not inputs[1] and not is_function:
            return Exact(inputs[0].integers() * inputs[1].integers(), [fraction(inputs[0].scale) * fraction(inputs[1].scale)])
        a, b = (value.floats() if isinstance(value, Plain) else value for value in inputs)
        return (a * b).astype(FLOAT)

    # ---- moves ----

    def move(self, value, how):
        return value.moved(how(value.elements if isinstance(value, Plain) else value.numbers)) \
            if isinstance(value, (Plain, Exact)) else how(value)

    def node_Identity(self, inputs, attributes, node):
        return inputs[0]

    def node_Flatten(self, inputs, attributes, node):
        return self.move(inputs[0], lambda x: x.reshape(1, -1))

    def node_Reshape(self, inputs, attributes, node):
        def reshape(x):
            shape = [x.shape[i] if size == 0 else size for i, size in enumerate(inputs[1])]
            return x.reshape(shape)
        return self.move(inputs[0], reshape)

    def node_Transpose(self, inputs, attributes, node):
        if isinstance(inputs[0], Rows):
            return Exact(inputs[0].numbers, inputs[0].scales, inputs[0].offsets)
        return self.move(inputs[0], lambda x: x.transpose(attributes["perm"]))

    def node_Squeeze(self, inputs, attributes, node):
        return self.move(inputs[0], lambda x: x.squeeze(self.axes(inputs, attributes)))

    def node_Unsqueeze(self, inputs, attributes, node):
        return self.move(inputs[0], lambda x: np.expand_dims(x, self.axes(inputs, attributes)))

    def node_Concat(self, inputs, attributes, node):
        return joined(inputs, attributes["axis"])

    def node_Pad(self, inputs, attributes, node):
        pads, mode = inputs[1], attributes.get("mode", b"constant").decode()
        rank = len(pads) // 2
        widths = [(int(pads[i]), int(pads[rank + i])) for i in range(rank)]
        more = {"constant_values": int(inputs[0].zero_point)} if mode == "constant" else {}
        return self.move(inputs[0], lambda x: np.pad(x, widths, mode, **more))

    def node_Slice(self, inputs, attributes, node):
        if isinstance(inputs[0], Parts):
            return self.sliced(inputs, attributes, node)
        _, starts, ends, axes, steps = inputs
        cuts = {int(axis): slice(int(start), int(end), int(step)) for start, end, axis, step in zip(starts, ends, axes, steps)}
        return self.move(inputs[0], lambda x: x[tuple(cuts.get(i, slice(None)) for i in range(x.ndim))])

    def node_Split(self, inputs, attributes, node):
        ends = np.cumsum(attributes["split"] if "split" in attributes else inputs[1])[:-1]
        parts = np.split(inputs[0].elements, ends, attributes["axis"])
        return [inputs[0].moved(part) for part in parts]

    def node_Resize(self, inputs, attributes, node):
        value, scales = inputs[0], [int(scale) for scale in inputs[2][2:]]
        if attributes["mode"] == b"nearest":
            return self.move(value, lambda x: x.repeat(scales[0], 2).repeat(scales[1], 3))
        return self.interpolate(value, scales)

    def interpolate(self, value, scales):
        """half_pixel: row o lies at (o + 1/2) / scale - 1/2."""
        x = value.integers()
        taps = []
        for i in range(2):
            size = x.shape[2 + i]
            at = [min(max(Fraction(2 * o + 1, 2 * scales[i]) - Fraction(1, 2), 0), size - 1) for o in range(size * scales[i])]
            first = np.array([int(position) for position in at])
            taps.append((first, np.minimum(first + 1, size - 1), np.array([int((p - int(p)) * 2 * scales[i]) for p in at])))
        exact = Exact(self.weigh(x, taps, scales), [fraction(value.scale) / (4 * scales[0] * scales[1])])
        return Interpolated(self.interpolate_float32(value.floats(), taps, scales), exact) if self.in_float32 else exact

    def weigh(self, x, taps, scales):
        (r0, r1, wr), (c0, c1, wc) = taps
        wr, wc = wr[:, None], wc[None, :]
        vr, vc = 2 * scales[0] - wr, 2 * scales[1] - wc
        rows0, rows1 = x[:, :, r0], x[:, :, r1]
        return vr * vc * rows0[..., c0] + vr * wc * rows0[..., c1] + wr * vc * rows1[..., c0] + wr * wc * rows1[..., c1]

    def interpolate_float32(self, x, taps, scales):
        """In the order of onnxruntime's sums."""
        (r0, r1, wr), (c0, c1, wc) = taps
        y1 = np.where(r0 == r1, FLOAT(0.5), wr / FLOAT(2 * scales[0])).astype(FLOAT)[:, None]
        x1 = np.where(c0 == c1, FLOAT(0.5), wc / FLOAT(2 * scales[1])).astype(FLOAT)[None, :]
        y2, x2 = (1 - y1).astype(FLOAT), (1 - x1).astype(FLOAT)
        x11, x21, x12, x22 = x[:, :, r0][..., c0], x[:, :, r0][..., c1], x[:, :, r1][..., c0], x[:, :, r1][..., c1]
        return (x2 * y2 * x11 + x1 * y2 * x21 + x2 * y1 * x12 + x1 * y1 * x22).astype(FLOAT)

    # ---- operators with scales and zero points as inputs ----

    def wrapped(self, inputs, attributes, node, inner, operands, output, bias=None):
        values = [self.node_DequantizeLinear(inputs[at:at + 3], {"axis": self.axis(inputs, at, attributes)}, node) for at in operands]
        if bias is not None:
            values.append(inputs[bias] if bias < len(inputs) else None)
        value = getattr(self, "node_" + inner)(values, attributes, node)
        return self.quantise(value, inputs[output], inputs[output + 1])

    def axis(self, inputs, at, attributes):
        return 0 if inputs[at].ndim == 4 or attributes.get("transB", 0) else 1

    def node_QLinearConv(self, inputs, attributes, node):
        return self.wrapped(inputs, attributes, node, "Conv", [0, 3], 6, 8)

    def node_QGemm(self, inputs, attributes, node):
        return self.wrapped(inputs, attributes, node, "Gemm", [0, 3], 7, 6)

    def node_QLinearMatMul(self, inputs, attributes, node):
        return self.wrapped(inputs, attributes, node, "MatMul", [0, 3], 6)

    def node_QLinearAdd(self, inputs, attributes, node):
        return self.wrapped(inputs, attributes, node, "Add", [0, 3], 6)

    def node_QLinearMul(self, inputs, attributes, node):
        return self.wrapped(inputs, attributes, node, "Mul", [0, 3], 6)

    def node_QLinearSigmoid(self, inputs, attributes, node):
        return self.wrapped(inputs, attributes, node, "Sigmoid", [0], 3)

    def node_QLinearLeakyRelu(self, inputs, attributes, node):
        return self.wrapped(inputs, attributes, node, "LeakyRelu", [0], 3)

    def node_QLinearAveragePool(self, inputs, attributes, node):
        return self.wrapped(inputs, attributes, node, "AveragePool", [0], 3)

    def node_QLinearGlobalAveragePool(self, inputs, attributes, node):
        return self.wrapped(inputs, attributes, node, "GlobalAveragePool", [0], 3)

    def node_QLinearConcat(self, inputs, attributes, node):
        parts = [self.node_DequantizeLinear(inputs[at:at + 3], {}, node) for at in range(2, len(inputs), 3)]
        return self.quantise(Parts(parts, attributes["axis"]), inputs[0], inputs[1])
