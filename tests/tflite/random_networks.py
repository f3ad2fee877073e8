#!/usr/bin/env python3
"""Random networks of TFLite: every output of dory's golden model equals an implementation in numpy, in every element.
Usage: random_networks.py DORY FOLDER [NETWORKS] [SEED]
       random_networks.py --write FOLDER [NETWORKS] [SEED]: models only, small ones
Exit status 77, skipped, without numpy."""
import math
import os
import random
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)

import attention
import random_moves
import reference
import tflite_writer as tfl


class Network(random_moves.Moves, attention.Attention):
    """A model that grows operator by operator, together with the values that its tensors have."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.RandomState(seed % 2**32)
        self.model, self.values, self.inputs, self.count = tfl.Model(), {}, [], 0
        self.states = []  # of each variable what it is before the run, and the tensor that it is assigned

    def quantisation(self):
        scale = float(np.float32(math.exp(self.random.uniform(math.log(0.003), math.log(0.5)))))
        return scale, self.random.choice([-128, 0, self.random.randint(-128, 127)])

    def integers(self, *shape):
        return self.numbers.randint(-128, 128, shape).astype(np.int64)

    def tensor(self, value, shape=None):
        data, scale, zero = value
        self.count += 1
        index = self.model.tensor("t%d" % self.count, list(data.shape if shape is None else shape), tfl.INT8, scale, zero)
        self.values[index] = value
        return index

    def unsigned(self, value):
        """A tensor of uint8 that stands for the same numbers: 128 more, its zero point, too."""
        data, scale, zero = value
        self.count += 1
        index = self.model.tensor("u%d" % self.count, list(data.shape), tfl.UINT8, scale, zero + 128)
        self.values[index] = data + 128, scale, zero + 128
        return index

    def input(self, shape):
        """Sometimes of bytes without a sign, as a camera has them, with a QUANTIZE behind."""
        value = self.integers(*shape), *self.quantisation()
        index = self.tensor(value) if self.random.random() < 0.8 else self.unsigned(value)
        self.inputs.append(index)
        if value[0] is not self.values[index][0]:
            index = self.operate(tfl.QUANTIZE, [index], value)
        return index

    def turned_input(self, shape):
        """As PyTorch has it, channels first, and turned before all else."""
        height, width, channels = shape[1:]
        index = self.input((1, channels, height, width))
        return self.transposed(index, [0, 2, 3, 1])

    def output(self, x):
        value = self.values[x]
        if value[1] is None or self.random.random() < 0.8:
            return x
        index = self.unsigned(value)
        self.model.operator(tfl.QUANTIZE, [x], [index])
        return index

    def operate(self, code, inputs, value, options=None, shape=None):
        index = self.tensor(value, shape)
        self.model.operator(code, inputs, [index], options)
        return index

    def weights(self, shape, outputs, axis, input_scale, per_channel):
        data = np.maximum(self.integers(*shape), -127)
        scales = [float(np.float32(self.random.uniform(0.0005, 0.01))) for _ in range(outputs if per_channel else 1)]
        tensor = self.model.tensor("w", shape, tfl.INT8, scales, 0, data.astype(np.int8).tobytes(), axis)
        if self.random.random() < 0.2:
            return [tensor], data, scales, np.zeros(outputs, np.int64)
        bias = self.numbers.randint(-5000, 5000, outputs).astype(np.int64)
        bias_tensor = self.model.tensor("b", [outputs], tfl.INT32, [input_scale * s for s in scales], 0,
                                        bias.astype(np.int32).tobytes(), self.random.choice([0, axis]))
        return [tensor, bias_tensor], data, scales, bias

    # ---- operators: each takes a tensor of one image and gives the next

    def convolution(self, x, depthwise=False):
        value, pick = self.values[x], self.random
        _, height, width, channels = value[0].shape
        kernel = (pick.randint(1, 3), pick.randint(1, 3))
        stride, dilation, same = (pick.randint(1, 2), pick.randint(1, 2)), (pick.randint(1, 2), 1), pick.random() < 0.6
        if not same and ((kernel[0] - 1) * dilation[0] >= height or kernel[1] > width):
            same = True
        groups = pick.choice([g for g in (1, 1, 2, 3) if channels % g == 0])
        outputs = channels * pick.randint(1, 2) if depthwise else groups * pick.randint(1, 5)
        shape = [1, *kernel, outputs] if depthwise else [outputs, *kernel, channels // groups]
        per_channel = pick.random() < 0.8
        tensors, data, scales, bias = self.weights(shape, outputs, 3 if depthwise else 0, value[1], per_channel)
        activation, output = pick.choice([0, 1, 2, 3]), self.quantisation()
        result = reference.convolution(value, data, scales if per_channel else scales * outputs, bias, output, stride,
                                       dilation, same, activation, depthwise)
        fields = {0: ("b", 0 if same else 1), 1: ("i", stride[1]), 2: ("i", stride[0])}
        tail = [("b", activation), ("i", dilation[1]), ("i", dilation[0])]
        fields.update(enumerate([("i", outputs // channels)] + tail if depthwise else tail, 3))
        code = tfl.DEPTHWISE_CONV_2D if depthwise else tfl.CONV_2D
        return self.operate(code, [x] + tensors, result, (2 if depthwise else 1, fields))

    def depthwise(self, x):
        return self.convolution(x, True)

    def pool(self, x):
        value, pick = self.values[x], self.random
        average, stride = pick.random() < 0.5, (pick.randint(1, 2), pick.randint(1, 2))
        same, activation = pick.random() < 0.5 and not (average and len(value[0]) > 1), pick.choice([0, 1, 2, 3])
        kernel = tuple(pick.randint(1, 5 if same else min(3, size)) for size in value[0].shape[1:3])
        result = reference.pool(value, kernel, stride, same, activation, average)
        return self.operate(tfl.AVERAGE_POOL_2D if average else tfl.MAX_POOL_2D, [x], result,
                            (5, {0: ("b", 0 if same else 1), 1: ("i", stride[1]), 2: ("i", stride[0]), 3: ("i", kernel[1]),
                                 4: ("i", kernel[0]), 5: ("b", activation)}))

    def reduce(self, x):
        axes = self.random.choice([[1, 2], [2, 1], [1], [2], [3], [1, 3], [3, 2], [1, 2, 3]])
        x = self.transposed(x, [0] + self.random.sample([1, 2, 3], 3)) if self.random.random() < 0.3 else x
        if self.random.random() < 0.4:
            data, scale, zero = self.values[x]
            code, function = self.random.choice([(tfl.REDUCE_MAX, np.max), (tfl.REDUCE_MIN, np.min)])
            result = function(data, axis=tuple(axes), keepdims=True), scale, zero
            return self.operate(code, [x, self.model.integers("axes", axes)], result, (27, {0: ("b", 1)}))
        if self.random.random() < 0.3:
            result = reference.sum_of(self.values[x], axes, self.quantisation())
            return self.operate(tfl.SUM, [x, self.model.integers("axes", axes)], result, (27, {0: ("b", 1)}))
        result = reference.mean(self.values[x], axes, self.quantisation())
        return self.operate(tfl.MEAN, [x, self.model.integers("axes", axes)], result, (27, {0: ("b", 1)}))

    def pad(self, x):
        (data, scale, zero), borders = self.values[x], [self.random.randint(0, 2) for _ in range(6)]
        if self.random.random() < 0.7:
            borders[4:] = 0, 0
        pads = [(0, 0)] + [tuple(borders[i:i + 2]) for i in (0, 2, 4)]
        constant = self.random.choice([None, self.random.randint(-128, 127)])
        result = np.pad(data, pads, constant_values=zero if constant is None else constant), scale, zero
        inputs = [x, self.model.integers("borders", [0, 0] + borders, [4, 2])]
        if constant is not None:
            inputs.append(self.model.tensor("fill", [1], tfl.INT8, scale, zero, bytes([constant & 255])))
        padded = self.operate(tfl.PAD if constant is None else tfl.PADV2, inputs, result)
        return self.random.choice([self.convolution, self.pool, self.unary])(padded)

    def add(self, x):
        value = self.values[x]
        other = self.random.choice([self.unary(x), self.input(value[0].shape)])
        activation, pair = self.random.choice([0, 1, 2, 3]), [x, other] if self.random.random() < 0.5 else [other, x]
        kind = self.random.choice(["add", "subtract", "multiply"])
        return self.arithmetic(kind, pair, [self.values[i] for i in pair], activation)

    def divide(self, x):
        """By an input, or a constant, whose elements are not zero; or a constant by such an input."""
        value, pick, (scale, zero) = self.values[x], self.random, self.quantisation()
        shape = pick.choice([value[0].shape, value[0].shape, (1, 1) + value[0].shape[2:], value[0].shape[:3] + (1,), (1,)])
        data = self.integers(*shape)
        data[data == zero] += 1 if zero < 127 else -1
        if len(shape) == 1 or pick.random() < 0.3:
            other = self.model.tensor("divisor", list(shape), tfl.INT8, scale, zero, data.astype(np.int8).tobytes())
        else:
            other = self.tensor((data, scale, zero))
            self.inputs.append(other)
        activation, output = pick.choice([0, 1, 2, 3]), self.quantisation()
        if value[1] / (scale * output[0]) > 1e5: # of more, nothing but the sign is left
            return self.unary(x)
        result = reference.divide(value, (data, scale, zero), output, activation)
        return self.operate(tfl.DIV, [x, other], result, (29, {0: ("b", activation)}))

    def add_constant(self, x):
        value, activation, output = self.values[x], self.random.choice([0, 1, 2, 3]), self.quantisation()
        scale, zero = self.quantisation()
        number = self.random.randint(-128, 127)
        constant = self.model.tensor("constant", [1], tfl.INT8, scale, zero, bytes([number & 255]))
        other = np.full([1] * value[0].ndim, number, np.int64), scale, zero
        sign, first = self.random.choice([1, -1]), self.random.random() < 0.5
        inputs, values = ([x, constant], (value, other)) if first else ([constant, x], (other, value))
        result = reference.add(*values, output, activation, sign)
        return self.operate(tfl.ADD if sign == 1 else tfl.SUB, inputs, result, (11 if sign == 1 else 28, {0: ("b", activation)}))

    def multiply_by_constant(self, x):
        """One number, or one a channel."""
        value, (scale, _), activation = self.values[x], self.quantisation(), self.random.choice([0, 1, 2, 3])
        shape = [self.random.choice([1, value[0].shape[3]])]
        numbers = self.integers(*shape)
        constant = self.model.tensor("constant", shape, tfl.INT8, scale, 0, numbers.astype(np.int8).tobytes())
        result = reference.multiply(value, (numbers, scale, 0), self.quantisation(), activation)
        return self.operate(tfl.MUL, [x, constant], result, (21, {0: ("b", activation)}))

    def constants(self, x):
        """Numbers along some dimensions: of the channels, of all elements, of the rows."""
        value, pick = self.values[x], self.random
        shape = list(value[0].shape[pick.choice([1, 3]):])
        shape = [size if pick.random() < 0.8 else 1 for size in shape]
        operator = pick.choice(["add", "subtract", "multiply", "maximum", "minimum"])
        scale, zero = value[1:] if operator in ("maximum", "minimum") else self.quantisation()
        numbers = self.integers(*shape)
        constant = self.model.tensor("constant", shape, tfl.INT8, scale, zero, numbers.astype(np.int8).tobytes())
        inputs, values = [x, constant], [value, (numbers, scale, zero)]
        if pick.random() < 0.5:
            inputs, values = inputs[::-1], values[::-1]
        if operator in ("maximum", "minimum"):
            return self.extreme(operator, inputs, values)
        return self.arithmetic(operator, inputs, values, pick.choice([0, 1, 2, 3]))

    def arithmetic(self, operator, inputs, values, activation):
        if operator == "multiply":
            return self.operate(tfl.MUL, inputs, reference.multiply(*values, self.quantisation(), activation),
                                (21, {0: ("b", activation)}))
        result = reference.add(*values, self.quantisation(), activation, 1 if operator == "add" else -1)
        return self.operate(tfl.ADD if operator == "add" else tfl.SUB, inputs, result,
                            (11 if operator == "add" else 28, {0: ("b", activation)}))

    def extreme(self, operator, inputs, values):
        code, function = (tfl.MAXIMUM, np.maximum) if operator == "maximum" else (tfl.MINIMUM, np.minimum)
        return self.operate(code, inputs, (function(values[0][0], values[1][0]), *values[0][1:]))

    def choose(self, x):
        """The larger or smaller of two tensors, or of one and a number."""
        pair = [x, self.same_scale(x)]
        self.random.shuffle(pair)
        return self.extreme(self.random.choice(["maximum", "minimum"]), pair, [self.values[i] for i in pair])

    def select(self, x):
        """By a comparison with a number, or of two tensors; of tensors, or a number."""
        value, pick = self.values[x], self.random
        name = pick.choice(["less", "less equal", "greater", "greater equal", "equal", "not equal"])
        if value[1] >= 1: # TFLM refuses such
            return self.unary(x)
        has_number = pick.random() < 0.5
        scale, zero = float(np.float32(pick.uniform(0.003, 0.5))), pick.randint(-128, 127)
        if has_number:
            number = np.array(pick.randint(-128, 127), np.int64)
            other, compared = self.model.tensor("bound", [], tfl.INT8, scale, zero, bytes([int(number) & 255])), (number, scale, zero)
        else:
            other = self.input(value[0].shape[:1] + pick.choice([value[0].shape[1:], (1, 1) + value[0].shape[3:]]))
            compared = self.values[other]
        truth = reference.compare(name, value, compared)
        choices, chosen = [], []
        condition = self.model.tensor("truth", truth.shape, tfl.BOOL)
        self.model.operator(reference.COMPARISONS[name][0], [x, other], [condition])
        condition, truth = self.logic(condition, truth)
        for _ in range(2):
            if pick.random() < 0.2:
                shape = pick.choice([value[0].shape[3:], value[0].shape])
                chosen.append(self.integers(*shape))
                choices.append(self.model.tensor("choices", list(shape), tfl.INT8, *value[1:], chosen[-1].astype(np.int8).tobytes()))
            elif pick.random() < 0.3:
                chosen.append(np.array(pick.randint(-128, 127), np.int64))
                choices.append(self.model.tensor("choice", [], tfl.INT8, *value[1:], bytes([int(chosen[-1]) & 255])))
            else:
                choices.append(pick.choice([x, self.same_scale(x)]))
                chosen.append(self.values[choices[-1]][0])
        return self.operate(tfl.SELECT_V2, [condition] + choices, (np.where(truth, *chosen), *value[1:]))

    def decided(self, constant, mask):
        """What constants and shapes decide, as Keras' causal mask of an open batch."""
        shape, filler = list(np.broadcast_shapes(mask.shape, (1, mask.shape[1], 1, 1))), self.random.randint(0, 1)
        filled, result = (self.model.tensor(name, shape, tfl.BOOL) for name in ("filled", "truth"))
        kind = self.random.choice([tfl.LOGICAL_AND, tfl.LOGICAL_OR])
        self.model.operator(tfl.FILL, [self.model.integers("shape", shape), self.model.tensor("filler", [], tfl.BOOL, data=bytes([filler]))], [filled])
        self.model.operator(kind, self.random.sample([filled, constant], 2), [result])
        truth = np.broadcast_to(mask & bool(filler) if kind == tfl.LOGICAL_AND else mask | bool(filler), shape)
        turned = self.model.tensor("truth", shape, tfl.BOOL)
        self.model.operator(tfl.LOGICAL_NOT, [result], [turned])
        return self.random.choice([(result, truth), (turned, ~truth)])

    def logic(self, condition, truth):
        """The truth or another one, both, not it; or a constant instead."""
        pick, kind = self.random, self.random.choice(["same", "same", "not", "and", "or", "constant"])
        if kind == "same":
            return condition, truth
        if kind == "constant":
            mask = self.numbers.randint(0, 2, (1, *truth.shape[1:3], 1)).astype(bool)
            constant = self.model.tensor("mask", mask.shape, tfl.BOOL, data=mask.tobytes())
            return (constant, mask) if pick.random() < 0.5 else self.decided(constant, mask)
        result = self.model.tensor("truth", truth.shape, tfl.BOOL)
        if kind == "not":
            self.model.operator(tfl.LOGICAL_NOT, [condition], [result])
            return result, ~truth
        bound = pick.randint(-128, 127)
        other = self.input(truth.shape)
        number = self.model.tensor("bound", [], tfl.INT8, *self.values[other][1:], bytes([bound & 255]))
        second = self.model.tensor("truth", truth.shape, tfl.BOOL)
        self.model.operator(reference.COMPARISONS["less"][0], [other, number], [second])
        self.model.operator(tfl.LOGICAL_AND if kind == "and" else tfl.LOGICAL_OR, [condition, second], [result])
        also = self.values[other][0] < bound
        return result, truth & also if kind == "and" else truth | also

    def prelu(self, x):
        value, pick = self.values[x], self.random
        shape = pick.choice([[1], [1, 1, value[0].shape[3]], [value[0].shape[3]], list(value[0].shape[1:])])
        numbers = self.integers(*shape)
        numbers = np.abs(np.maximum(numbers, -127)) if pick.random() < 0.5 else numbers
        scale = float(np.float32(pick.uniform(0.001, 0.02)))
        slopes = self.model.tensor("slopes", shape, tfl.INT8, scale, 0, numbers.astype(np.int8).tobytes())
        return self.operate(tfl.PRELU, [x, slopes], reference.prelu(value, (numbers, scale, 0), self.quantisation()))

    def same_elements(self, x):
        """A dimension more, and back."""
        data, *quantisation = self.values[x]
        more = self.operate(tfl.EXPAND_DIMS, [x, self.model.integers("axis", [0], [])], (data[np.newaxis], *quantisation))
        return self.unary(self.operate(tfl.SQUEEZE, [more], (data, *quantisation), (30, {0: tfl.Numbers("i", [0])})))

    def transposed_convolution(self, x):
        value, pick = self.values[x], self.random
        _, height, width, channels = value[0].shape
        kernel, stride, same = (pick.randint(1, 4), pick.randint(1, 4)), (pick.randint(1, 3), pick.randint(1, 3)), pick.random() < 0.5
        if height * width > 60:
            return self.unary(x)
        shape = [size * s + (0 if same else max(k - s, 0)) for size, s, k in zip((height, width), stride, kernel)]
        outputs, per_channel, output = pick.randint(1, 5), pick.random() < 0.8, self.quantisation()
        tensors, data, scales, bias = self.weights([outputs, *kernel, channels], outputs, 0, value[1], per_channel)
        result = reference.transposed_convolution(value, data, scales if per_channel else scales * outputs, bias, output,
                                                  stride, shape, same)
        inputs = [self.model.integers("shape", [1, *shape, outputs]), tensors[0], x] + tensors[1:]
        return self.operate(tfl.TRANSPOSE_CONV, inputs, result,
                            (49, {0: ("b", 0 if same else 1), 1: ("i", stride[1]), 2: ("i", stride[0])}))

    def gate(self, x):
        """Squeeze and excite."""
        factors = self.operate(tfl.MEAN, [x, self.model.integers("axes", [1, 2])],
                               reference.mean(self.values[x], [1, 2], self.quantisation()), (27, {0: ("b", 1)}))
        factors = self.operate(tfl.LOGISTIC, [factors], reference.logistic(self.values[factors]))
        result = reference.multiply(self.values[x], self.values[factors], self.quantisation(), 0)
        return self.operate(tfl.MUL, [x, factors], result, (21, {}))

    def concatenate(self, x):
        data, scale, zero = self.values[x]
        parts = [x] + [self.operate(tfl.QUANTIZE, [x], reference.requantise(self.values[x], (scale, zero)))
                       if self.random.random() < 0.3 else self.same_scale(x) for _ in range(self.random.randint(1, 3))]
        axis = self.random.choice([1, 2, 3])
        result = np.concatenate([self.values[i][0] for i in parts], axis=axis), scale, zero
        return self.operate(tfl.CONCATENATION, parts, result, (10, {0: ("i", self.random.choice([axis, axis - 4]))}))

    def stream(self, x):
        """Rows that a variable keeps from earlier runs, in front of x: as streaming networks have them."""
        (data, scale, zero), axis, name = self.values[x], self.random.choice([1, 2]), "stream_%d/states" % len(self.states)
        shape = list(data.shape)
        shape[axis] = kept = self.random.randint(1, 4)
        handle = self.model.variable(name, shape, scale, zero, bytes([zero & 255]) * int(np.prod(shape)))
        before = self.operate(tfl.READ_VARIABLE, [handle], (self.integers(*shape), scale, zero))
        joined = np.concatenate([self.values[before][0], data], axis=axis)
        both = self.operate(tfl.CONCATENATION, [before, x], (joined, scale, zero), (10, {0: ("i", axis)}))
        begin = [0, 0, 0, 0]
        begin[axis] = data.shape[axis]
        size = [n if i != axis else kept for i, n in enumerate(joined.shape)]
        rest = np.take(joined, range(begin[axis], begin[axis] + kept), axis=axis)
        after = self.operate(tfl.SLICE, [both, self.model.integers("begin", begin), self.model.integers("size", size)],
                             (rest, scale, zero))
        self.model.operator(tfl.ASSIGN_VARIABLE, [handle, after], [])
        self.states.append((before, after))
        return both

    def same_scale(self, x):
        data, scale, zero = self.values[x]
        other = self.unary(x)
        return self.operate(tfl.QUANTIZE, [other], reference.requantise(self.values[other], (scale, zero)))

    def unary(self, x):
        value, output = self.values[x], self.quantisation()
        which = self.random.randint(0, 7)
        if which == 7:
            return self.operate(tfl.L2_NORMALIZATION, [x], reference.l2_norm(value), (12, {0: ("b", 0)}))
        if which == 6:
            return self.operate(tfl.RELU6, [x], reference.relu6(value))
        if which == 0:
            return self.operate(tfl.RELU, [x], reference.relu(value, output))
        if which == 1:
            alpha = float(np.float32(self.random.uniform(0.01, 0.9)))
            return self.operate(tfl.LEAKY_RELU, [x], reference.leaky_relu(value, alpha, output), (75, {0: ("f", alpha)}))
        if which == 2:
            return self.operate(tfl.LOGISTIC, [x], reference.logistic(value))
        if which == 3:
            return self.operate(tfl.TANH, [x], reference.tanh(value))
        if which == 4 and value[1] < 64 * output[0]: # TFLM refuses more
            return self.operate(tfl.HARD_SWISH, [x], reference.hard_swish(value, output))
        return self.operate(tfl.QUANTIZE, [x], reference.requantise(value, output))

    def head(self, x):
        """Flattens, connects, and sometimes softens. Sums of more products may not fit 32 bits, which is refused."""
        value, size = self.values[x], self.values[x][0].size
        if size > 65535:
            return x
        outputs = self.random.randint(*((500, 1100) if size < 30 and self.random.random() < 0.3 else (2, 12)))
        per_channel, activation = self.random.random() < 0.3, self.random.choice([0, 1, 2, 3])
        flat = self.operate(tfl.RESHAPE, [x, self.model.integers("shape", [1, size])], (value[0].reshape(1, size), *value[1:]))
        tensors, data, scales, bias = self.weights([outputs, size], outputs, 0, value[1], per_channel)
        result = reference.fully_connected(value, data, scales, bias, self.quantisation(), activation)
        logits = self.operate(tfl.FULLY_CONNECTED, [flat] + tensors, result, (8, {0: ("b", activation)}))
        if self.values[logits][1] < 1e-7: # of which a softmax is flat
            return logits
        kind = self.random.choice(["logits", "index" if outputs <= 256 else "logits", "softmax", "softmax"])
        if kind == "logits":
            return logits
        if kind == "index":
            index = self.model.tensor("index", [1], tfl.INT32)
            code, function, option = self.random.choice([(tfl.ARG_MAX, np.argmax, 40), (tfl.ARG_MIN, np.argmin, 57)])
            self.values[index] = function(self.values[logits][0], axis=-1), None, None
            if self.random.random() < 0.5:  # of real numbers, as ai-edge-quantizer leaves it
                real = self.model.tensor("real_logits", list(self.values[logits][0].shape), tfl.FLOAT32)
                self.model.operator(tfl.DEQUANTIZE, [logits], [real])
                logits = real
            self.model.operator(code, [logits, self.model.integers("axis", [self.random.choice([-1, 1])], [])], [index],
                                (option, {0: ("b", 2)}))
            return index
        return self.operate(tfl.SOFTMAX, [logits], reference.softmax(self.values[logits], 1.0), (9, {0: ("f", 1.0)}))

    def grow(self):
        pick = self.random
        x = pick.choice([self.input, self.input, self.turned_input])((1, pick.randint(1, 9), pick.randint(1, 9), pick.randint(1, 6)))
        steps = [self.convolution, self.convolution, self.depthwise, self.pool, self.reduce, self.pad, self.add, self.gate,
                 self.add_constant, self.multiply_by_constant, self.same_elements, self.transposed_convolution,
                 self.concatenate, self.stream, self.constants, self.constants, self.choose, self.select, self.prelu, self.unary, self.move, self.move,
                 self.rearrange, self.rearrange, self.rearrange, self.any_rank, self.any_rank, self.repeated, self.dilated, self.images, self.matrices, self.attention,
                 self.attention, self.token, self.divide, self.select]
        for _ in range(pick.randint(1, 5)):
            x = pick.choice(steps)(x)
        return self.output(self.head(x) if pick.random() < 0.6 else x)


def check(dory, folder, seed, kind=Network):
    network = kind(seed)
    output = network.grow()
    path = os.path.join(folder, "model.tflite")
    network.model.write(path, network.inputs, [output])
    outputs = [output] + [after for _, after in network.states]
    command = [dory, "run", path]
    for i, tensor in enumerate(network.inputs + [before for before, _ in network.states]):
        name = os.path.join(folder, "input_%d.bin" % i)
        network.values[tensor][0].astype(np.int16).astype(np.uint8).tofile(name)
        command += ["--input", name]
    for i in range(len(outputs)):
        command += ["--output", os.path.join(folder, "output_%d.bin" % i)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print("seed %d: exit status %d\n%s" % (seed, done.returncode, done.stderr))
        return False
    return all([is_equal(network, tensor, os.path.join(folder, "output_%d.bin" % i), (seed, command))
                for i, tensor in enumerate(outputs)])


def is_equal(network, tensor, name, about):
    found = np.fromfile(name, np.uint8)
    expected = network.values[tensor][0].flatten().astype(np.int16).astype(np.uint8)
    if found.size == expected.size and (found == expected).all():
        return True
    different = np.flatnonzero(found != expected) if found.size == expected.size else []
    print("seed %d: %d of %d elements differ from numpy; %s" % (about[0], len(different), expected.size, about[1]))
    return False


def write_addition(folder):
    """One of the few additions, one in some hundreds, that are no floors: by tables."""
    model, edge = tfl.Model(), [1, 3, 3, 5]
    scales = [float(np.float32(scale)) for scale in (0.1853565275669098, 0.17382237315177917, 0.3040449321269989)]
    x, y, z = (model.tensor(name, edge, tfl.INT8, scale, zero) for name, scale, zero in zip("xyz", scales, (-34, -29, 25)))
    model.operator(tfl.ADD, [x, y], [z], (11, {0: ("b", 0)}))
    model.write(os.path.join(folder, "addition.tflite"), [x, y], [z])


def write(folder, seed):
    network = Network(seed)
    data = network.model.pack(network.inputs, [network.grow()])
    if len(data) < 8000:
        with open(os.path.join(folder, "%d.tflite" % seed), "wb") as file:
            file.write(data)


def main():
    dory, folder = sys.argv[1:3]
    networks, seed = (int(text) for text in (sys.argv[3:5] + ["150", "1"][len(sys.argv) - 3:]))
    os.makedirs(folder, exist_ok=True)
    if dory == "--write":
        write_addition(folder)
        for s in range(seed, seed + networks):
            write(folder, s)
        return 0
    wrong = [s for s in range(seed, seed + networks) if not check(dory, folder, s)]
    print("%d random networks, %d wrong" % (networks, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
