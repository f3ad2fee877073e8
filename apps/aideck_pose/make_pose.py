#!/usr/bin/python3
"""Writes a QDQ network of the shape of PULP-Frontnet, with random weights: 160 x 96 grey in, four numbers out. A stand-in for a trained one.

usage: make_pose.py FILE.onnx"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEIGHT, WIDTH = 96, 160


class Builder:
    def __init__(self):
        self.random = np.random.default_rng(1)
        self.nodes, self.constants = [], []

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def node(self, kind, inputs, **attributes):
        output = 't%d' % len(self.nodes)
        self.nodes.append(helper.make_node(kind, inputs, [output], name='%s_%d' % (kind, len(self.nodes)), **attributes))
        return output

    def quantised(self, value, scale, zero_point):
        at = len(self.nodes)
        pair = [self.constant('scale%d' % at, np.float32(scale)), self.constant('zero%d' % at, zero_point)]
        return self.node('DequantizeLinear', [self.node('QuantizeLinear', [value] + pair)] + pair)

    def weights(self, shape):
        """int8 of mean 0 behind a scale with which a sum of that many inputs has about their size."""
        at = len(self.nodes)
        values = self.random.integers(-90, 91, shape).astype(np.int8)
        scale = np.float32(1.7 / (52 * np.sqrt(np.prod(shape[1:]))))
        bias = self.random.integers(-400, 400, shape[0]).astype(np.int32)
        return self.node('DequantizeLinear', [self.constant('weight%d' % at, values), self.constant('wscale%d' % at, scale)]), scale, bias

    def layer(self, kind, value, shape, input_scale, output_scale, zero_point, **attributes):
        weight, scale, bias = self.weights(shape)
        at = len(self.nodes)
        biases = self.node('DequantizeLinear', [self.constant('bias%d' % at, bias), self.constant('bscale%d' % at, np.float32(scale * input_scale))])
        return self.quantised(self.node(kind, [value, weight, biases], **attributes), output_scale, zero_point)


def main():
    builder, scale, zero = Builder(), 1 / 255, np.uint8(0)
    value = builder.quantised('image', scale, zero)
    channels = 1
    for outputs, size, stride in ((32, 5, 2), (32, 3, 2), (32, 3, 1), (64, 3, 2), (64, 3, 1), (128, 3, 2), (128, 3, 1)):
        value = builder.layer('Conv', value, (outputs, channels, size, size), scale, 1 / 255, zero, kernel_shape=[size, size],
                              pads=[size // 2] * 4, strides=[stride, stride])
        channels, scale = outputs, 1 / 255
        if size == 5:
            value = builder.node('MaxPool', [value], kernel_shape=[2, 2], strides=[2, 2])
    value = builder.node('Flatten', [value])
    value = builder.layer('Gemm', value, (4, 128 * (HEIGHT // 32) * (WIDTH // 32)), scale, 1 / 64, np.int8(0), transB=1)
    graph = helper.make_graph(builder.nodes, 'pose', [helper.make_tensor_value_info('image', TensorProto.FLOAT, [1, 1, HEIGHT, WIDTH])],
                              [helper.make_tensor_value_info(value, TensorProto.FLOAT, [1, 4])], builder.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1])


main()
