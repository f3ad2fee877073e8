#!/usr/bin/python3
"""Makes an integer network in the form in which NEMO exports it.

The shape is that of a well-known network; the weights are seeded random integers. What makes it
usable as a test or benchmark is the calibration: kappa, lamda and the divisor of every layer are
chosen from a simulation of the network on natural-looking images, so that activations spread over
0..255 in every channel of every layer, as in a trained network. The same simulation, in exact
integers, gives the expected output of every layer (--golden-dir).

    scripts/make_model.py mobilenet_v1 mobilenet.onnx --width-multiplier 0.5 --golden-dir golden

Same options, same bytes: random numbers and statistics are computed in integers, or with float
operations that IEEE 754 fixes to the last bit. Needs numpy and onnx, nothing else.

To add a network: write a function like mobilenet_v1() below and give it a line in NETWORKS.
"""

import argparse
import math
import os
import sys
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INT32_LIMIT = 2**31
FLOAT32_MANTISSA = 2**24
CALIBRATION_IMAGES = 4


# --- Layers -------------------------------------------------------------------------------------

@dataclass(eq=False)
class Layer:
    """One layer: its shape when built, its parameters and output once calibrated."""

    kind: str       # input, conv, depthwise, max_pool, average_pool, add, fully_connected
    name: str
    inputs: tuple
    shape: tuple    # of the output: height, width, channels
    kernel: tuple = (1, 1)
    stride: tuple = (1, 1)
    pads: tuple = (0, 0, 0, 0)      # top, left, bottom, right, as in ONNX
    relu: bool = False              # an add that is followed by a ReLU with its own multiplier
    has_bias: bool = False

    weight: np.ndarray = None       # in the order of ONNX: cout, cin, kh, kw
    bias: np.ndarray = None
    kappa: np.ndarray = None        # requantisation: (kappa * acc + lamda) * multipliers[0] / divisor
    lamda: np.ndarray = None        # (NEMO's spelling)
    multipliers: tuple = ()
    divisor: int = 1
    relu_multiplier: int = 1
    relu_divisor: int = 1
    output: np.ndarray = None       # int64, images x height x width x channels
    maximum: int = 255              # largest value that the output can take for any image

    @property
    def macs(self):
        return 0 if self.weight is None else self.weight.size * self.shape[0] * self.shape[1]

    @property
    def source(self):
        return self.inputs[0]


@dataclass
class Network:
    """Builds the list of layers; each method appends one layer and returns it."""

    width_multiplier: float
    padding: str        # "symmetric" as in PyTorch or "same" as in TensorFlow
    layers: list = field(default_factory=list)

    def channels(self, count):
        """The channel count for the width multiplier: a multiple of 8, never below 90 %."""
        wanted = count * self.width_multiplier
        rounded = max(8, int(wanted + 4) // 8 * 8)
        return rounded if rounded >= 0.9 * wanted else rounded + 8

    def append(self, kind, name, inputs, shape, **attributes):
        if min(shape) < 1:
            sys.exit(f"make_model.py: layer {name}: the input is too small, its output would be {shape}")
        self.layers.append(Layer(kind, name, inputs, shape, **attributes))
        return self.layers[-1]

    def pads(self, size, kernel, stride):
        if self.padding == "symmetric":
            before = [(k - 1) // 2 for k in kernel]
            return (*before, *before)
        total = [max((math.ceil(n / s) - 1) * s + k - n, 0) for n, k, s in zip(size, kernel, stride)]
        return (*(t // 2 for t in total), *(t - t // 2 for t in total))

    def convolution(self, kind, name, x, channels, kernel, stride):
        kernel, stride = pair(kernel), pair(stride)
        pads = self.pads(x.shape, kernel, stride)
        size = [(x.shape[i] + pads[i] + pads[i + 2] - kernel[i]) // stride[i] + 1 for i in (0, 1)]
        return self.append(kind, name, (x,), (*size, channels), kernel=kernel, stride=stride, pads=pads)

    def conv(self, name, x, channels, kernel, stride=1):
        return self.convolution("conv", name, x, channels, kernel, stride)

    def depthwise(self, name, x, kernel, stride=1):
        return self.convolution("depthwise", name, x, x.shape[2], kernel, stride)

    def max_pool(self, name, x, kernel):
        shape = (x.shape[0] // kernel, x.shape[1] // kernel, x.shape[2])
        return self.append("max_pool", name, (x,), shape, kernel=pair(kernel), stride=pair(kernel))

    def global_average_pool(self, name, x):
        return self.append("average_pool", name, (x,), (1, 1, x.shape[2]), kernel=x.shape[:2], stride=x.shape[:2])

    def add(self, name, x, y, relu=False):
        return self.append("add", name, (x, y), x.shape, relu=relu)

    def fully_connected(self, name, x, classes, bias=True):
        return self.append("fully_connected", name, (x,), (1, 1, classes), has_bias=bias)


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


# --- Networks -----------------------------------------------------------------------------------

# channels, stride
MOBILENET_V1_BLOCKS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + 5 * [(512, 1)] + [(1024, 2), (1024, 1)]

# expansion, channels, repetitions, stride of the first
MOBILENET_V2_BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]

# channels, stride
RESNET8_BLOCKS = [(16, 1), (32, 2), (64, 2)]
DRONET_BLOCKS = [(32, 2), (64, 2), (128, 2)]


def mobilenet_v1(net, x, classes):
    x = net.conv("conv0", x, net.channels(32), 3, stride=2)
    for i, (channels, stride) in enumerate(MOBILENET_V1_BLOCKS, 1):
        x = net.depthwise(f"block{i}.depthwise", x, 3, stride)
        x = net.conv(f"block{i}.pointwise", x, net.channels(channels), 1)
    x = net.global_average_pool("pool", x)
    net.fully_connected("fc", x, classes)


def mobilenet_v2(net, x, classes):
    x = net.conv("conv0", x, net.channels(32), 3, stride=2)
    blocks = [(expansion, channels, stride if i == 0 else 1)
              for expansion, channels, repetitions, stride in MOBILENET_V2_BLOCKS for i in range(repetitions)]
    for i, (expansion, channels, stride) in enumerate(blocks, 1):
        x = inverted_residual(net, f"block{i}", x, expansion, net.channels(channels), stride)
    # The paper never narrows the last convolution.
    x = net.conv("conv_last", x, max(1280, net.channels(1280)), 1)
    x = net.global_average_pool("pool", x)
    net.fully_connected("fc", x, classes)


def inverted_residual(net, name, x, expansion, channels, stride):
    y = x
    if expansion != 1:
        y = net.conv(f"{name}.expand", y, expansion * x.shape[2], 1)
    y = net.depthwise(f"{name}.depthwise", y, 3, stride)
    y = net.conv(f"{name}.project", y, channels, 1)
    return net.add(f"{name}.add", x, y) if x.shape == y.shape else y


def resnet8(net, x, classes):
    x = net.conv("conv0", x, net.channels(16), 3)
    for i, (channels, stride) in enumerate(RESNET8_BLOCKS, 1):
        x = residual(net, f"block{i}", x, net.channels(channels), stride, relu=True)
    x = net.global_average_pool("pool", x)
    net.fully_connected("fc", x, classes)


def dronet(net, x, classes):
    x = net.conv("conv0", x, net.channels(32), 5, stride=2)
    x = net.max_pool("pool", x, 2)
    for i, (channels, stride) in enumerate(DRONET_BLOCKS, 1):
        x = residual(net, f"block{i}", x, net.channels(channels), stride, relu=i == len(DRONET_BLOCKS))
    net.fully_connected("fc", x, classes, bias=False)


def residual(net, name, x, channels, stride, relu):
    y = net.conv(f"{name}.conv1", x, channels, 3, stride)
    y = net.conv(f"{name}.conv2", y, channels, 3)
    shortcut = x if x.shape == y.shape else net.conv(f"{name}.shortcut", x, channels, 1, stride)
    return net.add(f"{name}.add", y, shortcut, relu)


def ds_cnn(net, x, classes):
    x = net.conv("conv0", x, net.channels(64), (10, 4), stride=2)
    for i in range(1, 5):
        x = net.depthwise(f"block{i}.depthwise", x, 3)
        x = net.conv(f"block{i}.pointwise", x, net.channels(64), 1)
    x = net.global_average_pool("pool", x)
    net.fully_connected("fc", x, classes)


# name: function, input height, width, channels, classes, padding
NETWORKS = {
    "mobilenet_v1": (mobilenet_v1, (128, 128, 3), 1000, "symmetric"),
    "mobilenet_v2": (mobilenet_v2, (128, 128, 3), 1000, "symmetric"),
    "resnet8": (resnet8, (32, 32, 3), 10, "same"),      # MLPerf Tiny, CIFAR-10
    "ds_cnn": (ds_cnn, (49, 10, 1), 12, "same"),        # MLPerf Tiny, keyword spotting
    "dronet": (dronet, (200, 200, 1), 2, "symmetric"),
}


def build(name, width_multiplier, resolution, classes):
    function, shape, default_classes, padding = NETWORKS[name]
    net = Network(width_multiplier, padding)
    x = net.append("input", "input", (), (*(resolution or shape[:2]), shape[2]))
    function(net, x, classes or default_classes)
    return net.layers


# --- Random numbers -----------------------------------------------------------------------------

class Random:
    """The splitmix64 generator: unlike numpy's own, its numbers depend on no version and no libm."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, seed):
        self.state = seed

    def bits(self, count):
        z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(self.STEP) + np.uint64(self.state % 2**64)
        self.state += count * self.STEP
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    def uniform(self, low, high, count):
        """Integers, low and high included."""
        return low + (self.bits(count) >> np.uint64(1)).astype(np.int64) % (high - low + 1)

    def one(self, low, high):
        return int(self.uniform(low, high, 1)[0])

    def normal(self, shape):
        """Integers in -1020..1020, bell-shaped with deviation 209: each the sum of eight bytes."""
        octets = self.bits(math.prod(shape)).view(np.uint8).reshape(-1, 8)
        return (octets.sum(axis=1, dtype=np.int64) - 1020).reshape(shape)


def natural_image(random, shape):
    """Gradients, soft blobs, discs with an edge, and noise, stretched over 0..255."""
    height, width, channels = shape
    y = ((2 * np.arange(height) + 1 - height) / max(height, width))[:, None, None]
    x = ((2 * np.arange(width) + 1 - width) / max(height, width))[None, :, None]
    image = x * random.uniform(-60, 60, channels) + y * random.uniform(-60, 60, channels)
    for i in range(12):
        down, right = random.uniform(-100, 100, 2) / 100
        radius = random.one(10, 60) / 100
        distance = (np.square(y - down) + np.square(x - right)) / (radius * radius)
        profile = 1 / np.square(1 + distance) if i % 2 else (distance < 0.25) * 1.0
        image = image + profile * (random.one(-80, 80) + random.uniform(-30, 30, channels))
    image = image + random.normal(shape) / 50
    image = image - image.min()
    return np.floor(image * 255 / image.max() + 0.5).astype(np.int64)


def random_weight(random, shape, bits):
    """Weights of one scale for the whole layer, so that output channels differ in range. With fewer
    than 8 bits the largest are cut off, or nearly all would be zero."""
    gain = random.uniform(64, 256, shape[0]).reshape(-1, *(1 for _ in shape[1:]))
    value = random.normal(shape) * gain
    peak = np.abs(value).max()
    most = 2 ** (bits - 1) - 1
    scale = 8 // bits * most
    return np.clip((2 * scale * value + peak) // (2 * peak), -most - 1, most)


# --- Simulation in exact integers ---------------------------------------------------------------

def taps(layer, x):
    """For every position in the kernel: the input pixels that it meets, one for each output pixel."""
    top, left, bottom, right = layer.pads
    height, width, _ = layer.shape
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    for row in range(layer.kernel[0]):
        for column in range(layer.kernel[1]):
            yield row, column, x[:, row:row + (height - 1) * layer.stride[0] + 1:layer.stride[0],
                                 column:column + (width - 1) * layer.stride[1] + 1:layer.stride[1]]


def accumulate(layer):
    """The sums of products. As float64, because numpy has fast matrix products of floats only;
    every sum stays far below 2^53, so that each is exact in any order."""
    x = layer.source.output.astype(np.float64)
    weight = layer.weight.astype(np.float64)
    if layer.kind == "fully_connected":
        flat = x.transpose(0, 3, 1, 2).reshape(len(x), -1)      # ONNX flattens channels first
        total = (flat @ weight.T).reshape(len(x), 1, 1, -1)
    elif layer.kind == "depthwise":
        total = sum(pixels * weight[:, 0, row, column] for row, column, pixels in taps(layer, x))
    else:
        total = sum(pixels.reshape(-1, x.shape[3]) @ weight[:, :, row, column].T
                    for row, column, pixels in taps(layer, x)).reshape(len(x), *layer.shape)
    return total.astype(np.int64)


def normalise(layer, accumulator):
    scaled = (layer.kappa * accumulator + layer.lamda) * layer.multipliers[0] // layer.divisor
    return np.clip(scaled, 0, 255)


def pool_sum(layer):
    return sum(pixels for _, _, pixels in taps(layer, layer.source.output))


def pool_maximum(layer):
    # No network here pads a pool: zero padding would be wrong if values could be negative.
    return np.max([pixels for _, _, pixels in taps(layer, layer.source.output)], axis=0)


def weighted_sum(layer, values):
    """The residual add; floor, and no clip: NEMO's sums may leave 0..255."""
    return sum(m * value for m, value in zip(layer.multipliers, values)) // layer.divisor


def rectify(layer, value):
    return np.clip(value * layer.relu_multiplier // layer.relu_divisor, 0, 255)


# --- Calibration --------------------------------------------------------------------------------

def calibrate(layers, images, random, options):
    """Fills in parameters and output of every layer, in order."""
    for layer in layers:
        if layer.kind == "input":
            layer.output = images
        elif layer.kind in ("conv", "depthwise"):
            calibrate_convolution(layer, random, options)
        elif layer.kind == "fully_connected":
            calibrate_fully_connected(layer, random, options)
        elif layer.kind == "max_pool":
            layer.output, layer.maximum = pool_maximum(layer), layer.source.maximum
        elif layer.kind == "average_pool":
            calibrate_average_pool(layer)
        elif layer.kind == "add":
            calibrate_add(layer, random, options)


def calibrate_convolution(layer, random, options):
    fan_in = 1 if layer.kind == "depthwise" else layer.source.shape[2]
    layer.weight = random_weight(random, (layer.shape[2], fan_in, *layer.kernel), options.weight_bits)
    accumulator = accumulate(layer)
    choose_normalisation(layer, accumulator, random, options)
    layer.output = normalise(layer, accumulator)


def choose_normalisation(layer, accumulator, random, options):
    """Gives every channel a mean near 80 and a deviation near 70 before the clip, with the largest
    divisor for which no intermediate value of any image leaves 32 bits."""
    channels = layer.shape[2]
    mean, deviation = channel_statistics(accumulator)
    slope = random.uniform(60, 80, channels) / deviation
    centre = random.uniform(60, 100, channels)
    multiplier = random.one(2, 5)
    layer.multipliers = (multiplier,)
    for exponent in range(24, 0, -1):
        layer.divisor = 2**exponent - (options.divisor == "odd")
        unit = layer.divisor / multiplier
        layer.kappa = np.maximum(1, np.rint(slope * unit)).astype(np.int64)
        layer.lamda = float32_integer(np.rint(centre * unit - layer.kappa * mean))
        if layer.kappa.max() <= 2048 and worst_case(layer) < INT32_LIMIT:
            return
    sys.exit(f"make_model.py: layer {layer.name}: no normalisation fits 32 bits")


def channel_statistics(accumulator):
    """Mean and deviation of every channel, computed from integer sums."""
    values = accumulator.reshape(-1, accumulator.shape[-1])
    offset = values.sum(axis=0) // len(values)
    rest = values - offset
    rest_mean = rest.sum(axis=0) / len(values)
    variance = (rest * rest).sum(axis=0) / len(values) - np.square(rest_mean)
    # A channel that is constant on these images (1x1 maps) must not be amplified without bound.
    floor = max(math.fsum(variance) / len(variance) / 16, 1.0)
    return offset + rest_mean, np.sqrt(np.maximum(variance, floor))


def float32_integer(value):
    """The nearest integer that float32, in which NEMO writes it, can hold."""
    return value.astype(np.float32).astype(np.int64)


def worst_case(layer):
    """The largest magnitude that (kappa * acc + lamda) * multiplier can reach for any input."""
    accumulator = layer.source.maximum * np.abs(layer.weight).reshape(len(layer.weight), -1).sum(axis=1)
    return int((layer.multipliers[0] * (layer.kappa * accumulator + np.abs(layer.lamda))).max())


def calibrate_fully_connected(layer, random, options):
    """Logits: no requantisation, 32 bits."""
    classes = layer.shape[2]
    layer.weight = random_weight(random, (classes, math.prod(layer.source.shape)), options.weight_bits)
    layer.bias = random.uniform(-5000, 5000, classes) if layer.has_bias else np.zeros(classes, np.int64)
    layer.output = accumulate(layer) + layer.bias
    layer.maximum = int((layer.source.maximum * np.abs(layer.weight).sum(axis=1) + np.abs(layer.bias)).max())


def calibrate_average_pool(layer):
    """NEMO's factor: 1/area in at least 5 bits. It may round up, by which a sum of 255s gives 256."""
    area = math.prod(layer.kernel)
    layer.divisor = 1 << (32 * area - 1).bit_length()
    layer.multipliers = ((2 * layer.divisor + area) // (2 * area),)
    layer.output = pool_sum(layer) * layer.multipliers[0] // layer.divisor
    layer.maximum = layer.source.maximum * area * layer.multipliers[0] // layer.divisor


def calibrate_add(layer, random, options):
    """Unequal multipliers, so that a swap of the two inputs is noticed."""
    values = [x.output for x in layer.inputs]
    layer.divisor = 64
    share = random.one(24, 40)
    layer.multipliers = (share, layer.divisor - share)
    if layer.relu:
        layer.multipliers = (layer.divisor, share)
        layer.relu_divisor = 64
        layer.relu_multiplier = 255 * layer.relu_divisor // high_value(weighted_sum(layer, values))
    elif options.adds == "overflow":
        high = high_value(weighted_sum(layer, values))
        layer.multipliers = tuple(m * 255 // high for m in layer.multipliers)
    layer.output = weighted_sum(layer, values)
    layer.maximum = weighted_sum(layer, [x.maximum for x in layer.inputs])
    if layer.relu:
        layer.output, layer.maximum = rectify(layer, layer.output), 255


def high_value(values):
    """The value that 99.5 % do not exceed."""
    values = np.sort(values, axis=None)
    return max(1, int(values[len(values) * 995 // 1000]))


# --- ONNX ---------------------------------------------------------------------------------------

class OnnxWriter:
    """Writes layers as the node chains of NEMO's exports (PyTorch 1.6, opset 9), or variations."""

    def __init__(self, options):
        self.options = options
        self.nodes = []
        self.initializers = []
        self.tensors = {}       # layer -> name of its output tensor
        self.used = {}          # node name -> how often it was wanted
        self.numbers = 0

    def number(self):
        self.numbers += 1
        return str(self.numbers - 1)

    def node(self, layer, kind, inputs, **attributes):
        """Appends a node and returns the name of its output."""
        if self.options.names == "numeric":
            name, output = f"{kind}_{len(self.nodes)}", self.number()
        else:
            name = f"/{layer.name}/{kind}"
            count = self.used[name] = self.used.get(name, 0) + 1
            name = name if count == 1 else f"{name}_{count - 1}"
            output = f"{name}_output_0"
        self.nodes.append(helper.make_node(kind, inputs, [output], name, **attributes))
        return output

    def parameter(self, layer, role, values):
        """Weights and the like: NEMO holds integers in float tensors, as initialisers."""
        return self.constant(layer, role, np.asarray(values, np.float32), self.options.constants == "node")

    def scalar(self, layer, role, values):
        """Factors of a whole layer: NEMO writes a Constant node in front of the consumer."""
        return self.constant(layer, role, np.asarray(values), self.options.constants != "initializer")

    def constant(self, layer, role, values, as_node):
        if as_node:
            return self.node(layer, "Constant", [], value=numpy_helper.from_array(values))
        name = f"{layer.name}.{role}"
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def inputs(self, layer):
        return [self.tensors[x] for x in layer.inputs]

    def layer(self, layer):
        method = {"conv": self.convolution, "depthwise": self.convolution, "max_pool": self.max_pool,
                  "average_pool": self.average_pool, "add": self.add, "fully_connected": self.fully_connected}
        self.tensors[layer] = method[layer.kind](layer)

    def convolution(self, layer):
        x, = self.inputs(layer)
        pads = layer.pads
        if self.options.pads == "node" and any(pads):
            x, pads = self.pad(layer, x), (0, 0, 0, 0)
        group = layer.shape[2] if layer.kind == "depthwise" else 1
        x = self.node(layer, "Conv", [x, self.parameter(layer, "weight", layer.weight)], dilations=[1, 1],
                      group=group, kernel_shape=layer.kernel, pads=pads, strides=layer.stride)
        x = self.node(layer, "Mul", [self.parameter(layer, "bn.kappa", layer.kappa.reshape(1, -1, 1, 1)), x])
        x = self.node(layer, "Add", [x, self.parameter(layer, "bn.lamda", layer.lamda.reshape(1, -1, 1, 1))])
        return self.requantise(layer, x, "activation", layer.multipliers[0], layer.divisor)

    def pad(self, layer, x):
        top, left, bottom, right = layer.pads
        pads = [0, 0, top, left, 0, 0, bottom, right]
        if self.options.opset < 11:
            return self.node(layer, "Pad", [x], mode="constant", pads=pads, value=0.0)
        return self.node(layer, "Pad", [x, self.scalar(layer, "pads", np.int64(pads))], mode="constant")

    def requantise(self, layer, x, role, multiplier, divisor):
        """Multiply, divide, floor, clip. NEMO goes through int64, where Div is already integral (it
        truncates; what would differ from floor is negative and clipped)."""
        if self.options.requantisation == "int64":
            x = self.node(layer, "Cast", [x], to=TensorProto.INT64)
            x = self.node(layer, "Mul", [x, self.scalar(layer, f"{role}.mul", np.int64([multiplier]))])
            x = self.node(layer, "Div", [x, self.scalar(layer, f"{role}.div", np.int64(divisor))])
            for target in (TensorProto.INT64, TensorProto.INT64, TensorProto.FLOAT):    # sic
                x = self.node(layer, "Cast", [x], to=target)
        else:
            x = self.node(layer, "Mul", [x, self.scalar(layer, f"{role}.mul", np.float32(multiplier))])
            x = self.node(layer, "Div", [x, self.scalar(layer, f"{role}.div", np.float32(divisor))])
            x = self.node(layer, "Floor", [x])
        return self.clip(layer, x, role)

    def clip(self, layer, x, role):
        if self.options.clip == "attribute":
            return self.node(layer, "Clip", [x], max=255.0, min=0.0)
        bounds = [self.scalar(layer, f"{role}.{end}", np.float32(value)) for end, value in (("min", 0), ("max", 255))]
        return self.node(layer, "Clip", [x, *bounds])

    def max_pool(self, layer):
        return self.node(layer, "MaxPool", self.inputs(layer),
                         kernel_shape=layer.kernel, pads=layer.pads, strides=layer.stride)

    def average_pool(self, layer):
        x = self.node(layer, "AveragePool", self.inputs(layer),
                      kernel_shape=layer.kernel, pads=layer.pads, strides=layer.stride)
        x = self.node(layer, "Mul", [x, self.scalar(layer, "area", np.float32(math.prod(layer.kernel)))])
        x = self.node(layer, "Mul", [x, self.scalar(layer, "mul", np.float32(layer.multipliers[0]))])
        x = self.node(layer, "Div", [x, self.scalar(layer, "div", np.float32(layer.divisor))])
        return self.node(layer, "Floor", [x])

    def add(self, layer):
        terms = [self.node(layer, "Mul", [x, self.scalar(layer, f"mul{i}", np.float32(m))])
                 for i, (x, m) in enumerate(zip(self.inputs(layer), layer.multipliers), 1)]
        x = self.node(layer, "Add", terms)
        x = self.node(layer, "Div", [x, self.scalar(layer, "div", np.float32(layer.divisor))])
        x = self.node(layer, "Floor", [x])
        return self.requantise(layer, x, "relu", layer.relu_multiplier, layer.relu_divisor) if layer.relu else x

    def fully_connected(self, layer):
        """Gemm with a bias, MatMul (weights transposed) without, as PyTorch exports nn.Linear."""
        x = self.node(layer, "Flatten", self.inputs(layer), axis=1)
        if not layer.has_bias:
            return self.node(layer, "MatMul", [x, self.parameter(layer, "weight", layer.weight.T)])
        parameters = [self.parameter(layer, "weight", layer.weight), self.parameter(layer, "bias", layer.bias)]
        return self.node(layer, "Gemm", [x, *parameters], alpha=1.0, beta=1.0, transB=1)

    def model(self, layers):
        image, logits = layers[0], layers[-1]
        numeric = self.options.names == "numeric"
        self.tensors[image] = self.number() if numeric else "image"
        for layer in layers[1:]:
            self.layer(layer)
        if not numeric:
            self.tensors[logits] = self.nodes[-1].output[0] = "logits"
        height, width, channels = image.shape
        graph = helper.make_graph(
            self.nodes, "torch-jit-export" if numeric else self.options.network,
            [helper.make_tensor_value_info(self.tensors[image], TensorProto.FLOAT, [1, channels, height, width])],
            [helper.make_tensor_value_info(self.tensors[logits], TensorProto.FLOAT, [1, logits.shape[2]])],
            self.initializers)
        return helper.make_model(graph, producer_name="make_model.py", ir_version=6 if self.options.opset < 12 else 7,
                                 opset_imports=[helper.make_opsetid("", self.options.opset)])


def check_representable(layers):
    """Integers in float tensors: each must survive the trip."""
    for layer in layers:
        for values in (layer.weight, layer.bias, layer.kappa, layer.lamda):
            assert values is None or np.array_equal(values.astype(np.float32).astype(np.int64), values), layer.name
        assert layer.divisor <= FLOAT32_MANTISSA, layer.name


# --- Text files and summary ---------------------------------------------------------------------

def write_values(path, name, values):
    """The format of input.txt and out_layerN.txt: a header, then one value a line, HWC order."""
    shape = values.shape if values.shape[:2] != (1, 1) else values.shape[2:]
    with open(path, "w", encoding="ascii") as file:
        file.write(f"# {name} (shape {list(shape)}),\n")
        file.writelines(f"{value},\n" for value in values.ravel().tolist())


def write_golden(directory, layers):
    os.makedirs(directory, exist_ok=True)
    write_values(os.path.join(directory, "input.txt"), "input", layers[0].output[0])
    for i, layer in enumerate(layers[1:]):
        write_values(os.path.join(directory, f"out_layer{i}.txt"), layer.name, layer.output[0])


def print_summary(network, layers):
    print("  # layer               kind             output       k MAC   at 0  at 255    max       kappa   div  mul  bits")
    for i, layer in enumerate(layers[1:]):
        print(f"{i:3} {layer.name:19} {layer.kind:15} {'x'.join(map(str, layer.shape)):>12} {layer.macs / 1000:9.0f}"
              f" {activation_summary(layer)} {normalisation_summary(layer)}".rstrip())
    macs = sum(layer.macs for layer in layers)
    weights = sum(layer.weight.size for layer in layers if layer.weight is not None)
    print(f"{network}: {len(layers) - 1} layers, {macs / 1e6:.1f} MMAC, {weights / 1e6:.2f} M weights")


def activation_summary(layer):
    if layer.kind == "fully_connected":
        return f"  {layer.output.min()}..{layer.output.max()}"
    return f"{(layer.output == 0).mean():6.1%} {(layer.output >= 255).mean():6.1%} {layer.output.max():6}"


def normalisation_summary(layer):
    """Range of kappa, divisor, multipliers, and the bits that a signed intermediate needs."""
    kappa, bits = "", ""
    if layer.kappa is not None:
        kappa, bits = f"{layer.kappa.min()}..{layer.kappa.max()}", worst_case(layer).bit_length() + 1
    if not layer.multipliers:
        return ""
    divisor = f"2^{layer.divisor.bit_length() - 1}" if layer.divisor & (layer.divisor - 1) == 0 else layer.divisor
    return f"{kappa:>11} {divisor:>5} {'/'.join(map(str, layer.multipliers)):>5} {bits:>4}"


# --- Command line -------------------------------------------------------------------------------

def resolution(text):
    try:
        size = tuple(int(part) for part in text.split("x"))
        size = size * 2 if len(size) == 1 else size
    except ValueError:
        size = ()
    if len(size) != 2 or min(size) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is neither SIZE nor HEIGHTxWIDTH")
    return size


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Make an integer network in NEMO's ONNX form, with seeded weights and calibrated requantisation.")
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("output", help="the ONNX file to write")
    parser.add_argument("--width-multiplier", type=float, default=1.0, metavar="X", help="scale of all channel counts")
    parser.add_argument("--resolution", type=resolution, metavar="N|HxW",
                        help="size of the input (default: the network's usual one, for MobileNets 128)")
    parser.add_argument("--classes", type=int, metavar="N", help="number of logits (default: the network's usual one)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of weights and images (default: 1)")
    parser.add_argument("--input-file", metavar="FILE", help="write the first calibration image as input.txt")
    parser.add_argument("--golden-dir", metavar="DIR", help="write input.txt and the expected out_layerN.txt of it")
    parser.add_argument("--verbose", action="store_true", help="print a summary of every layer")

    parser.add_argument("--weight-bits", type=int, choices=[2, 4, 8], default=8,
                        help="of all weights; fewer than 8 are told by Quantlab's attribute weight_bits")

    form = parser.add_argument_group("form of the graph (default: as NEMO writes it)")
    form.add_argument("--constants", choices=["mixed", "initializer", "node"], default="mixed",
                      help="where constants are: weights as initialisers and scalars as Constant nodes, or all alike")
    form.add_argument("--names", choices=["numeric", "words"], default="numeric", help="tensor names")
    form.add_argument("--clip", choices=["attribute", "input"], help="bounds of Clip (default: what the opset has)")
    form.add_argument("--pads", choices=["conv", "node"], default="conv", help="padding in Conv or in Pad nodes")
    form.add_argument("--requantisation", choices=["int64", "float"], default="int64",
                      help="Cast, Mul, Div, Cast, Clip or Mul, Div, Floor, Clip")
    form.add_argument("--opset", type=int, metavar="N", help="9 to 17 (default: 9, with --clip input 13)")

    values = parser.add_argument_group("properties of the values")
    values.add_argument("--divisor", choices=["even", "odd"], default="even",
                        help="divisors of normalisations: 2^n, or 2^n - 1 as in some exports of NEMO")
    values.add_argument("--adds", choices=["bounded", "overflow"], default="bounded",
                        help="residual adds without ReLU stay below 256 for any input, or a few exceed it, as NEMO's do")
    options = parser.parse_args()
    check_options(parser, options)
    return options


def check_options(parser, options):
    options.opset = options.opset or (13 if options.clip == "input" else 9)
    options.clip = options.clip or ("attribute" if options.opset < 11 else "input")
    if not 9 <= options.opset <= 17:
        parser.error(f"--opset {options.opset}: not in 9..17")
    if options.clip != ("attribute" if options.opset < 11 else "input"):
        parser.error(f"--clip {options.clip}: opset {options.opset} does not have it (bounds are inputs from opset 11)")
    if options.classes is not None and options.classes < 1:
        parser.error(f"--classes {options.classes}: must be positive")
    if options.width_multiplier <= 0:
        parser.error(f"--width-multiplier {options.width_multiplier}: must be positive")


def annotate_weights(model, bits):
    """The attribute by which Quantlab tells the bits of weights; no ONNX checker knows it."""
    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm", "MatMul"):
            node.attribute.append(helper.make_attribute("weight_bits", bits))


def main():
    options = parse_arguments()
    random = Random(options.seed)
    layers = build(options.network, options.width_multiplier, options.resolution, options.classes)
    images = np.stack([natural_image(random, layers[0].shape) for _ in range(CALIBRATION_IMAGES)])
    calibrate(layers, images, random, options)
    check_representable(layers)
    model = OnnxWriter(options).model(layers)
    onnx.checker.check_model(model)
    if options.weight_bits < 8:
        annotate_weights(model, options.weight_bits)
    with open(options.output, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
    if options.input_file:
        write_values(options.input_file, "input", layers[0].output[0])
    if options.golden_dir:
        write_golden(options.golden_dir, layers)
    if options.verbose:
        print_summary(options.network, layers)


if __name__ == "__main__":
    main()
