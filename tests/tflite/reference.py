"""What int8 operators of TensorFlow Lite Micro compute, in numpy: written from their definition, sharing nothing with dory.

Tensors are (int64 array NHWC, scale, zero point)."""
import math

import numpy as np


def quantise_multiplier(real):
    fraction, exponent = math.frexp(real)
    whole = int(math.floor(fraction * 2**31 + 0.5))
    if whole == 2**31:
        whole, exponent = whole // 2, exponent + 1
    return (0, 0) if exponent < -31 else (whole, exponent)


def divide_by_power(x, places):
    """x / 2^places, halves away from zero."""
    if places == 0:
        return x
    return np.sign(x) * ((np.abs(x) + (1 << (places - 1))) >> places)


def scaled(x, real=None, multiplier=None, exponent=None):
    if real is not None:
        multiplier, exponent = quantise_multiplier(real)
    high = (np.asarray(x, np.int64) * (1 << max(exponent, 0)) * multiplier + (1 << 30)) >> 31
    return divide_by_power(high, max(-exponent, 0))


def activation_range(activation, scale, zero):
    def at(real):
        return zero + int(math.copysign(math.floor(abs(real / np.float32(scale)) + 0.5), real))
    low, high = {0: (None, None), 1: (0, None), 2: (-1, 1), 3: (0, 6)}[activation]
    return (-128 if low is None else max(-128, at(low)), 127 if high is None else min(127, at(high)))


COMPARISONS = {"less": (58, np.less), "less equal": (63, np.less_equal), "greater": (61, np.greater),
               "greater equal": (62, np.greater_equal), "equal": (71, np.equal), "not equal": (72, np.not_equal)}


def compare(name, a, b):
    """Both scaled to whole numbers of 1/256."""
    first, second = (scaled((data - zero) * 256, scale) for data, scale, zero in (a, b))
    return COMPARISONS[name][1](first, second)


def finish(y, scale, zero, activation=0):
    low, high = activation_range(activation, scale, zero)
    return np.clip(y + zero, low, high), scale, zero


def windows(x, kernel, stride, dilation, same, fill):
    """For each place of the kernel the image that it meets, as (ky, kx, image)."""
    pads, outputs = [], []
    for i in range(2):
        reach, size = (kernel[i] - 1) * dilation[i] + 1, x.shape[1 + i]
        count = -(-size // stride[i]) if same else (size - reach) // stride[i] + 1
        total = max((count - 1) * stride[i] + reach - size, 0) if same else 0
        pads.append((total // 2, total - total // 2))
        outputs.append(count)
    padded = np.pad(x, ((0, 0), pads[0], pads[1], (0, 0)), constant_values=fill)
    for ky in range(kernel[0]):
        for kx in range(kernel[1]):
            top, left = ky * dilation[0], kx * dilation[1]
            yield ky, kx, padded[:, top:top + (outputs[0] - 1) * stride[0] + 1:stride[0],
                                 left:left + (outputs[1] - 1) * stride[1] + 1:stride[1]]


def convolution(x, weights, scales, bias, output, stride, dilation, same, activation, depthwise):
    """weights OHWI, or depth-wise 1HWC; scales one an output channel."""
    data, scale, zero = x
    channels = weights.shape[3] if depthwise else weights.shape[0]
    total = 0
    for ky, kx, image in windows(data - zero, weights.shape[1:3], stride, dilation, same, 0):
        if depthwise:
            total = total + np.repeat(image, channels // data.shape[3], axis=3) * weights[0, ky, kx]
            continue
        inputs, groups = weights.shape[3], data.shape[3] // weights.shape[3]
        parts = [image[..., g * inputs:(g + 1) * inputs] @ weights[g * channels // groups:(g + 1) * channels // groups,
                                                                   ky, kx].T for g in range(groups)]
        total = total + np.concatenate(parts, axis=3)
    total = total + bias
    real = [scale * s / output[0] for s in scales]
    return finish(np.stack([scaled(total[..., c], real[c]) for c in range(channels)], axis=3), *output, activation)


def transposed_convolution(x, weights, scales, bias, output, stride, shape, same):
    """weights OHWI; shape: height and width of the output."""
    data, scale, zero = x
    _, height, width, _ = data.shape
    before = []
    for i in range(2):
        places = -(-shape[i] // stride[i])
        before.append(max((places - 1) * stride[i] + weights.shape[1 + i] - shape[i], 0) // 2 if same else 0)
    total = np.zeros((1, *shape, weights.shape[0]), np.int64) + bias
    for row in range(height):
        for column in range(width):
            for ky in range(weights.shape[1]):
                for kx in range(weights.shape[2]):
                    y, x_ = row * stride[0] - before[0] + ky, column * stride[1] - before[1] + kx
                    if 0 <= y < shape[0] and 0 <= x_ < shape[1]:
                        total[0, y, x_] += weights[:, ky, kx] @ (data[0, row, column] - zero)
    real = [scale * s / output[0] for s in scales]
    return finish(np.stack([scaled(total[..., c], real[c]) for c in range(len(real))], axis=3), *output)


def fully_connected(x, weights, scales, bias, output, activation):
    data, scale, zero = x
    total = (data.reshape(-1, weights.shape[1]) - zero) @ weights.T + bias
    real = [scale * s / output[0] for s in scales] * (weights.shape[0] // len(scales))
    return finish(np.stack([scaled(total[:, c], real[c]) for c in range(len(real))], axis=1), *output, activation)


def pool(x, kernel, stride, same, activation, average):
    data, scale, zero = x
    images = [image for _, _, image in windows(data, kernel, stride, (1, 1), same, -128)]
    if not average:
        return finish(np.max(images, axis=0) - zero, scale, zero, activation)
    total = np.sum([image for _, _, image in windows(data, kernel, stride, (1, 1), same, 0)], axis=0)
    count = np.sum([image for _, _, image in windows(np.ones_like(data), kernel, stride, (1, 1), same, 0)], axis=0)
    nearest = np.sign(total) * ((np.abs(total) + count // 2) // count)
    return finish(nearest - zero, scale, zero, activation)


def mean(x, axes, output):
    data, scale, zero = x
    count = int(np.prod([data.shape[a] for a in axes]))
    multiplier, exponent = quantise_multiplier(scale / output[0])
    shift = min(count.bit_length() - 1, 31 + exponent)
    total = np.sum(data - zero, axis=tuple(axes), keepdims=True)
    return finish(scaled(total, None, (multiplier << shift) // count, exponent - shift), *output)


def sum_of(x, axes, output):
    data, scale, zero = x
    sums = (data - zero).sum(axis=tuple(axes), keepdims=True)
    return finish(scaled(sums, scale / output[0]), *output)


def add(a, b, output, activation, sign=1):
    """Or subtract: sign -1."""
    unit = 2 * max(a[1], b[1])
    first, second = (scaled((x[0] - x[2]) << 20, x[1] / unit) for x in (a, b))
    total = first + sign * second
    return finish(scaled(total, unit / (2**20 * output[0])), *output, activation)


def squared_difference(a, b, output):
    unit = 2 * max(a[1], b[1])
    first, second = (scaled((x[0] - x[2]) << 7, x[1] / unit) for x in (a, b))
    return finish(scaled((first - second) ** 2, unit * unit / (2**14 * output[0])), *output)


def multiply(a, b, output, activation):
    return finish(scaled((a[0] - a[2]) * (b[0] - b[2]), a[1] * b[1] / output[0]), *output, activation)


def sign_bits(x):
    return 31 - (x if x >= 0 else ~x).bit_length()


def quotient(a, b, multiplier, exponent):
    """Of two whole numbers, b not 0, in steps of the output: by a reciprocal of 31 bits. Shifts by 32 and more, which C leaves
    undefined, are exact."""
    a, b = (-a, -b) if b < 0 else (a, b)
    zeros, headroom = 32 - b.bit_length(), sign_bits(a)
    fraction = np.array([(b << zeros) - (1 << 31)], np.int64)
    inverse = int(saturated(two_over_one_plus(fraction) * 2)[0])
    high = lambda x, y: int(product(np.array([x], np.int64), np.array([y], np.int64))[0])
    return int(divide_by_power(np.array([high(high(a << headroom, inverse), multiplier)], np.int64),
                               31 - zeros + headroom - exponent)[0])


def divide(a, b, output, activation):
    multiplier, exponent = quantise_multiplier(a[1] / (b[1] * output[0]))
    x, y = np.broadcast_arrays(a[0] - a[2], b[0] - b[2])
    result = [quotient(int(p), int(q), multiplier, exponent) for p, q in zip(x.flat, y.flat)]
    return finish(np.array(result, np.int64).reshape(x.shape), *output, activation)


def relu(x, output):
    y = scaled(x[0] - x[2], float(np.float32(x[1]) / np.float32(output[0])))
    return np.clip(y + output[1], output[1], 127), *output


def relu6(x):
    data, scale, zero = x
    six = zero + int(math.floor(np.float32(6) / np.float32(scale) + np.float32(0.5)))
    return np.clip(data, zero, min(six, 127)), scale, zero


def inverse_root(value):
    """1 / sqrt(value) as a multiplier and an exponent, by Newton's steps of numbers with 28 bits behind the point."""
    if value <= 1:
        return 2**31 - 1, 0
    product = lambda a, b: (a * b + 2**30) >> 31
    shift, x = 11, 2**28
    while value >= 2**29:
        value, shift = value // 4, shift + 1
    while value < 2**27:
        value, shift = value * 4, shift - 1
    half = (value // 2 + 1) // 2
    for _ in range(5):
        cube = min(product(product(x, x), x) * 64, 2**31 - 1)
        x = (product(3 * 2**27, x) - product(half, cube)) * 8
    return product(x, 1518500250) << max(-shift, 0), -max(shift, 0)


def l2_norm(x):
    data, _, zero = x
    distances = (data - zero).reshape(-1, data.shape[-1])
    rows = [scaled(row, multiplier=m, exponent=e + 7)
            for row, (m, e) in zip(distances, (inverse_root(int((row * row).sum())) for row in distances))]
    return np.clip(np.array(rows).reshape(data.shape), -128, 127), 1 / 128, 0


def reciprocal_root(x, output):
    """The largest element where there is none."""
    step = quantise_multiplier(1 / float(np.sqrt(np.float32(x[1])) * np.float32(output[0])))

    def of(distance):
        multiplier, exponent = inverse_root(distance)
        root = int(scaled(1, multiplier=multiplier, exponent=exponent + 20))
        return int(np.clip(scaled(root, multiplier=step[0], exponent=step[1] - 20) + output[1], -128, 127))
    table = {q: of(int(q - x[2])) if q > x[2] else 127 for q in np.unique(x[0])}
    return np.vectorize(table.get, otypes=[np.int64])(x[0]), *output


def requantise(x, output):
    return finish(scaled(x[0] - x[2], x[1] / output[0]), *output)


def leaky_relu(x, alpha, output):
    data, quotient = x[0] - x[2], np.float32(x[1]) / np.float32(output[0])
    steep = float(np.float32(x[1]) * np.float32(alpha) / np.float32(output[0]))
    return finish(np.where(data >= 0, scaled(data, float(quotient)), scaled(data, steep)), *output)


def prelu(x, slopes, output):
    data, products = x[0] - x[2], (x[0] - x[2]) * (slopes[0] - slopes[2])
    return finish(np.where(data >= 0, scaled(data, x[1] / output[0]), scaled(products, x[1] * slopes[1] / output[0])), *output)


# ---- 32-bit fixed point: a number with i integer bits stands for raw / 2^(31 - i)


def product(a, b):
    return (np.asarray(a, np.int64) * b + (1 << 30)) >> 31


def saturated(x):
    return np.clip(x, -2**31, 2**31 - 1)


def exponential(x, integer_bits):
    """e^x for x <= 0; the result has no integer bits."""
    quarter = 1 << (29 - integer_bits)
    inside = (x & (quarter - 1)) - quarter
    y = (inside << integer_bits) + (1 << 28)
    square = product(y, y)
    series = product(divide_by_power(product(square, square), 2) + product(square, y), round(2**31 / 3)) + square
    at_eighth = round(math.exp(-1 / 8) * 2**31)
    result = at_eighth + product(at_eighth, y + divide_by_power(series, 1))
    for i in range(integer_bits + 2):
        factor = round(math.exp(-2.0**(i - 2)) * 2**31)
        result = np.where((inside - x) & (quarter << i), product(result, factor), result)
    return np.where(x == 0, 2**31 - 1, result)


def two_over_one_plus(x):
    """Two integer bits."""
    half = (x + 2**31) >> 1
    result = round(48 / 17 * 2**29) + product(half, round(-32 / 17 * 2**29))
    for _ in range(3):
        result = result + (product(result, (1 << 29) - product(half, result)) << 2)
    return result


def argument(x, integer_bits, factor):
    """The input times a factor, and where it fits."""
    multiplier, exponent = quantise_multiplier(min(x[1] * factor * 2.0**(31 - integer_bits), 2.0**31 - 1))
    radius = math.floor(((1 << integer_bits) - 1) * 2.0**(31 - integer_bits) / 2.0**exponent)
    return (lambda data: scaled(data, None, multiplier, exponent)), radius


def squash(x, function, places, offset):
    convert, radius = argument(x, 4, 1)
    data = x[0] - x[2]
    inner = divide_by_power(function(convert(np.clip(data, -radius, radius))), places) + offset
    return np.where(data <= -radius, -128, np.where(data >= radius, 127, np.clip(inner, -128, 127)))


def logistic(x):
    def function(z):
        positive = saturated(two_over_one_plus(exponential(-np.abs(z), 4)) * 2)
        return np.where(z == 0, 1 << 30, np.where(z > 0, positive, 2**31 - 1 - positive))
    return squash(x, function, 23, -128), 1 / 256, -128


def tanh(x):
    def function(z):
        return np.sign(z) * saturated((two_over_one_plus(exponential(-np.abs(z), 5)) - (1 << 29)) * 4)
    return squash(x, function, 24, 0), 1 / 128, 0


def softmax(x, beta):
    convert, radius = argument(x, 5, beta)
    distance = x[0] - np.max(x[0], axis=-1, keepdims=True)
    power = np.where(distance >= -radius, exponential(convert(np.maximum(distance, -radius)), 5), 0)
    total = np.sum(divide_by_power(power, 12), axis=-1, keepdims=True)
    zeros = 32 - np.vectorize(int.bit_length)(total.astype(object)).astype(np.int64)
    reciprocal = saturated(two_over_one_plus((total << zeros) - 2**31) * 2)
    scaled_power, places = product(power, reciprocal), 35 - zeros
    result = (scaled_power + (1 << (places - 1))) >> places
    return np.minimum(result, 255) - 128, 1 / 256, -128


def hard_swish(x, output):
    def narrowed(values):
        return np.clip(values, -2**15, 2**15 - 1)

    def times(a, b):
        return narrowed((a * b + (1 << 14)) >> 15)

    def narrow(multiplier):
        return min((multiplier + (1 << 15)) >> 16, 32767)
    fine = np.float32(1 / 128) * np.float32(x[1])
    multiplier, exponent = quantise_multiplier(float(fine / np.float32(output[0])))
    gate_multiplier, gate_exponent = quantise_multiplier(float(fine / np.float32(3 / 32768)))
    data = (x[0] - x[2]) << 7
    gate = narrowed(data << max(gate_exponent - 1, 0))
    gate = times(gate, narrow(gate_multiplier))
    gate = narrowed(gate * 2) if gate_exponent > 0 else divide_by_power(gate, -gate_exponent)
    gate = (gate + (1 << 15)) >> 1
    both = gate * times(data, narrow(multiplier))
    return finish(divide_by_power(np.sign(both) * (np.abs(both) >> 15), -exponent), *output)


# ---- resize: positions of the output's rows or columns in the input


def nearest_positions(outputs, inputs, corners, half):
    corners_apart = corners and outputs > 1
    scale = np.float32(inputs - 1) / np.float32(outputs - 1) if corners_apart else np.float32(inputs) / np.float32(outputs)
    at = (np.arange(outputs, dtype=np.float32) + np.float32(0.5 if half else 0)) * scale
    return np.minimum(np.floor(at + np.float32(0.5)) if corners else np.floor(at), inputs - 1).astype(int)


def bilinear_positions(outputs, inputs, corners, half):
    """Two positions, and the second one's weight of 1024."""
    scale = (1024 * inputs + outputs // 2) // outputs
    if corners and outputs > 1:
        scale = (1024 * (inputs - 1) + (outputs - 1) // 2) // (outputs - 1)
    at = np.arange(outputs) * scale + (scale // 2 - 512 if half else 0)
    low = np.clip(at // 1024, 0, inputs - 1)
    high = np.clip(-(-at // 1024), 0, inputs - 1)
    return low, high, at - low * 1024


def bilinear(data, rows, columns):
    def along(image, positions, axis):
        low, high, weight = positions
        weight = weight.reshape([-1 if i == axis else 1 for i in range(4)])
        return np.take(image, low, axis) * (1024 - weight) + np.take(image, high, axis) * weight
    total = along(along(data, rows, 1), columns, 2)
    return np.sign(total) * ((np.abs(total) + (1 << 19)) >> 20)
