"""A network in the form in which NEMO exports it."""

import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT32_MANTISSA = 2**24


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



def annotate_weights(model, bits):
    """The attribute by which Quantlab tells the bits of weights; no ONNX checker knows it."""
    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm", "MatMul"):
            node.attribute.append(helper.make_attribute("weight_bits", bits))
