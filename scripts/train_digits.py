#!/usr/bin/python3
"""Trains the network of apps/digits, quantises it to integers, and writes what that application is built from.

The data are the 1797 handwritten digits of 8 x 8 pixels that scikit-learn ships (UCI ML, Alpaydin and Kaynak). A
quarter of them is never trained with and tells the accuracy. Training is plain numpy: convolutions with ReLU, two
maximum pools, a fully connected layer; Adam; one seed. The integer network has NEMO's form and is written by
integer_network's classes, whose exact integer simulation also gives the accuracy of the integer network.

    scripts/train_digits.py apps/digits

writes digits.onnx, test_images.bin (64 bytes an image, row by row), test_labels.bin (a byte an image), accuracy.json.
They are committed, so that nobody needs Python to build the application; another BLAS may round the training
differently. Needs numpy and onnx, and the file digits.csv.gz of Debian's python3-sklearn (not the module itself).
"""

import argparse
import gzip
import importlib.util
import json
import os
import sys
from types import SimpleNamespace

import numpy as np
import onnx

from integer_network.calibration import INT32_LIMIT, float32_integer, worst_case
from integer_network.layers import Network
from integer_network.onnx_form import OnnxWriter, check_representable
from integer_network.simulation import accumulate, normalise, pool_maximum

SIDE = 8
CLASSES = 10
TEST_IMAGES = 450
PIXEL_SCALE = 15                # pixels of the data set are 0 to 16, those of the network 0 to 240
FILTERS = (16, 32)
EPOCHS, BATCH, RATE = 40, 32, 2e-3
ACTIVATION_QUANTILE = 0.9995    # of an activation's values that the integers 0 to 255 cover


# --- Data ---------------------------------------------------------------------------------------

def default_data_file():
    package = importlib.util.find_spec("sklearn")
    folder = os.path.dirname(package.origin) if package else "/usr/lib/python3/dist-packages/sklearn"
    return os.path.join(folder, "datasets", "data", "digits.csv.gz")


def load(path, random):
    """Images as images x 8 x 8 x 1 of integers 0 to 240, labels; training part, then test part."""
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",").astype(np.int64)
    table = table[random.permutation(len(table))]
    images, labels = table[:, :-1].reshape(-1, SIDE, SIDE, 1) * PIXEL_SCALE, table[:, -1]
    return (images[TEST_IMAGES:], labels[TEST_IMAGES:]), (images[:TEST_IMAGES], labels[:TEST_IMAGES])


def shifted(images, random):
    """The same digits, each moved by up to one pixel: more to learn from than 1347 images."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    down, right = random.integers(0, 3, 2)
    return padded[:, down:down + SIDE, right:right + SIDE]


# --- The network in floats ----------------------------------------------------------------------
# Each layer has forward(x) and backward(gradient of its output), which returns the gradient of its input.

class Dense:
    """Output = input x weight + bias. The base of a convolution, too, whose input is im2col's."""

    def __init__(self, random, inputs, outputs):
        self.parameters = [random.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs), np.zeros(outputs)]

    def forward(self, x):
        self.shape, self.input = x.shape, x.reshape(len(x), -1)
        return self.input @ self.parameters[0] + self.parameters[1]

    def backward(self, gradient):
        self.gradients = [self.input.T @ gradient, gradient.sum(axis=0)]
        return (gradient @ self.parameters[0].T).reshape(self.shape)


class Convolution:
    """3 x 3, stride 1, one pixel of zeros around."""

    def __init__(self, random, channels, filters):
        self.dense = Dense(random, 9 * channels, filters)

    def forward(self, x):
        n, height, width, channels = x.shape
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        columns = np.concatenate([padded[:, r:r + height, c:c + width] for r in range(3) for c in range(3)], axis=3)
        return self.dense.forward(columns.reshape(-1, 9 * channels)).reshape(n, height, width, -1)

    def backward(self, gradient):
        n, height, width, filters = gradient.shape
        columns = self.dense.backward(gradient.reshape(-1, filters)).reshape(n, height, width, 9, -1)
        padded = np.zeros((n, height + 2, width + 2, columns.shape[-1]))
        for tap in range(9):
            padded[:, tap // 3:tap // 3 + height, tap % 3:tap % 3 + width] += columns[:, :, :, tap]
        return padded[:, 1:-1, 1:-1]


class Rectifier:
    def forward(self, x):
        self.positive = x > 0
        return x * self.positive

    def backward(self, gradient):
        return gradient * self.positive


class Pool:
    """Maximum of 2 x 2."""

    def forward(self, x):
        n, height, width, channels = x.shape
        blocks = x.reshape(n, height // 2, 2, width // 2, 2, channels)
        result = blocks.max(axis=(2, 4))
        equal = blocks == result[:, :, None, :, None]
        self.share = equal / equal.sum(axis=(2, 4), keepdims=True)
        return result

    def backward(self, gradient):
        blocks = self.share * gradient[:, :, None, :, None]
        n, height, _, width, _, channels = blocks.shape
        return blocks.reshape(n, 2 * height, 2 * width, channels)


def make_float_network(random):
    side = SIDE // 4
    return [Convolution(random, 1, FILTERS[0]), Rectifier(), Pool(),
            Convolution(random, FILTERS[0], FILTERS[1]), Rectifier(), Pool(),
            Dense(random, side * side * FILTERS[1], CLASSES)]


def forward(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return x


def softmax_gradient(logits, labels):
    """Of the mean cross entropy."""
    scores = np.exp(logits - logits.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    scores[np.arange(len(labels)), labels] -= 1
    return scores / len(labels)


class Adam:
    """Kingma and Ba, 2015, with its usual constants."""

    def __init__(self, layers):
        self.dense = [getattr(layer, "dense", layer) for layer in layers if not isinstance(layer, (Rectifier, Pool))]
        self.moments = [[[np.zeros_like(p), np.zeros_like(p)] for p in layer.parameters] for layer in self.dense]
        self.steps = 0

    def step(self, rate):
        self.steps += 1
        rate *= np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        for layer, moments in zip(self.dense, self.moments):
            for parameter, gradient, (first, second) in zip(layer.parameters, layer.gradients, moments):
                first += 0.1 * (gradient - first)
                second += 0.001 * (gradient**2 - second)
                parameter -= rate * first / (np.sqrt(second) + 1e-8)


def train(layers, images, labels, random):
    optimiser = Adam(layers)
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        for start in range(0, len(order), BATCH):
            batch = order[start:start + BATCH]
            logits = forward(layers, shifted(images[batch], random) / 255)
            gradient = softmax_gradient(logits, labels[batch])
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            optimiser.step(RATE * (1 - epoch / EPOCHS))


def correct(logits, labels):
    return int((logits.reshape(len(labels), -1).argmax(axis=1) == labels).sum())


# --- The network in integers --------------------------------------------------------------------

def make_integer_network():
    net = Network(1.0, "symmetric")
    x = net.append("input", "input", (), (SIDE, SIDE, 1))
    for i, filters in enumerate(FILTERS, 1):
        x = net.conv(f"conv{i}", x, filters, 3)
        x = net.max_pool(f"pool{i}", x, 2)
    net.fully_connected("fc", x, CLASSES)
    return net.layers


def quantise_convolution(layer, dense, input_scale, output_scale):
    """weight * scale of its channel; kappa / divisor = that scale * input scale / output scale. Half a step is added to
    the bias, because normalisation floors."""
    weight = dense.parameters[0].reshape(3, 3, -1, layer.shape[2]).transpose(3, 2, 0, 1)
    scale = np.abs(weight).max(axis=(1, 2, 3)) / 127
    layer.weight = np.rint(weight / scale[:, None, None, None]).astype(np.int64)
    slope, offset = scale * input_scale / output_scale, dense.parameters[1] / output_scale + 0.5
    layer.multipliers = (1,)
    for exponent in range(24, 0, -1):
        layer.divisor = 2**exponent
        layer.kappa = np.maximum(1, np.rint(slope * layer.divisor)).astype(np.int64)
        layer.lamda = float32_integer(np.rint(offset * layer.divisor))
        if worst_case(layer) < INT32_LIMIT:
            return
    sys.exit(f"train_digits.py: layer {layer.name}: no normalisation fits 32 bits")


def quantise_fully_connected(layer, dense, input_scale):
    """Logits have no scale of their own: argmax does not see it."""
    height, width, channels = layer.source.shape
    weight = dense.parameters[0].reshape(height, width, channels, CLASSES).transpose(3, 2, 0, 1).reshape(CLASSES, -1)
    scale = np.abs(weight).max() / 127
    layer.weight = np.rint(weight / scale).astype(np.int64)
    layer.bias = float32_integer(np.rint(dense.parameters[1] / (scale * input_scale)))
    layer.has_bias = True


def quantise(float_layers, images):
    """Layer by layer; the scale of an activation is read off the float network's values on the training images."""
    layers = make_integer_network()
    x, scale = images / 255, 1 / 255
    convolutions = iter([layer for layer in layers if layer.kind == "conv"])
    for layer in float_layers:
        x = layer.forward(x)
        if isinstance(layer, Convolution):
            output_scale = np.quantile(np.maximum(x, 0), ACTIVATION_QUANTILE) / 255
            quantise_convolution(next(convolutions), layer.dense, scale, output_scale)
            scale = output_scale
        elif isinstance(layer, Dense):
            quantise_fully_connected(layers[-1], layer, scale)
    return layers


def run_integer_network(layers, images):
    for layer in layers:
        if layer.kind == "input":
            layer.output = images
        elif layer.kind == "conv":
            layer.output = normalise(layer, accumulate(layer))
        elif layer.kind == "max_pool":
            layer.output = pool_maximum(layer)
        else:
            layer.output = accumulate(layer) + layer.bias
    return layers[-1].output


# --- Files --------------------------------------------------------------------------------------

def write_model(path, layers):
    options = SimpleNamespace(network="digits", names="numeric", constants="mixed", clip="attribute", pads="conv",
                              requantisation="int64", opset=9)
    check_representable(layers)
    model = OnnxWriter(options).model(layers)
    onnx.checker.check_model(model)
    with open(path, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))


def write_accuracy(path, count, float_correct, integer_correct):
    record = {"test_images": count, "float_correct": float_correct, "integer_correct": integer_correct,
              "float_percent": round(100 * float_correct / count, 2),
              "integer_percent": round(100 * integer_correct / count, 2)}
    with open(path, "w", encoding="ascii") as file:
        json.dump(record, file, indent=2)
        file.write("\n")
    print(f"{count} test images: float {record['float_percent']} %, integer {record['integer_percent']} %")


def main():
    parser = argparse.ArgumentParser(description="Train and quantise the network of apps/digits.")
    parser.add_argument("folder", help="where digits.onnx, test_images.bin, test_labels.bin and accuracy.json go")
    parser.add_argument("--data", default=default_data_file(), metavar="FILE", help="digits.csv.gz of scikit-learn")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    options = parser.parse_args()
    if not os.path.exists(options.data):
        sys.exit(f"train_digits.py: {options.data} is not there; on Debian: apt install python3-sklearn, or --data FILE")
    random = np.random.default_rng(options.seed)
    (images, labels), (test_images, test_labels) = load(options.data, random)
    float_layers = make_float_network(random)
    train(float_layers, images, labels, random)
    layers = quantise(float_layers, images)
    write_model(os.path.join(options.folder, "digits.onnx"), layers)
    test_images.astype(np.uint8).tofile(os.path.join(options.folder, "test_images.bin"))
    test_labels.astype(np.uint8).tofile(os.path.join(options.folder, "test_labels.bin"))
    write_accuracy(os.path.join(options.folder, "accuracy.json"), len(test_labels),
                   correct(forward(float_layers, test_images / 255), test_labels),
                   correct(run_integer_network(layers, test_images), test_labels))


if __name__ == "__main__":
    main()
