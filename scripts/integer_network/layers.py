"""Layers, and the list of them that a network is."""

import math
import sys
from dataclasses import dataclass, field

import numpy as np


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
