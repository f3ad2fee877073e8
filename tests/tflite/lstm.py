#!/usr/bin/env python3
"""Random networks of LSTM layers: outputs and states of dory's golden model equal an implementation in numpy, in every element.
Where the package tflite-micro is installed, numpy's outputs equal those of its interpreter, too, over two runs.
Usage: lstm.py DORY FOLDER [NETWORKS] [SEED]
       lstm.py --write FOLDER [NETWORKS] [SEED]: models only
Exit status 77, skipped, without numpy."""
import math
import os
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)
try:
    from tflite_micro import runtime
except ImportError:
    runtime = None

import random_networks
import reference
import tflite_writer as tfl

SEQUENCE_LSTM = 44

# Always among the networks: one output of 200 is another one where the product of two scales is rounded to float32, as
# tflite-micro's releases up to August 2026 do. That of October 2026 has it exact, and so have numpy and dory.
EXACT_PRODUCT_SEED = 21549
INPUT, FORGET, CELL, OUTPUT = range(4)

# TensorFlow Lite Micro's table of 65536 / (1 + exp(-i / 24)), as it shows itself when its LOGISTIC of INT16 is given all
# 65536 inputs: rounded, but for these, which are one more.
ONE_MORE = (4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41, 43, 44, 45, 46, 49,
            50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255)
SIGMOID = np.array([math.floor(65536 / (1 + math.exp(-i / 24)) + 0.5) + (i in ONE_MORE) for i in range(256)], np.int64)


def saturated(x):
    return np.clip(x, -32768, 32767)


def between(x, places, end):
    """Of |x| in the table, `places` bits between two of its numbers; `end` behind the last."""
    index, part = np.abs(x) >> places, np.abs(x) & ((1 << places) - 1)
    low = np.minimum(index, 254)
    return np.where(index >= 255, end, (SIGMOID[low] << places) + part * (SIGMOID[low + 1] - SIGMOID[low]))


def sigmoid(x):
    x = 3 * x
    y = between(x, 9, 0x7FFF << 10)
    return np.where(x >= 0, y + 512, (1 << 25) - y + 511) >> 10


def tanh(x, places):
    """Of numbers with so many places behind the point."""
    shift = 12 - places
    x = x * (3 << shift) if shift >= 0 else (x * 3 + (1 << (-shift - 1))) >> -shift
    y = between(x, 8, 0xFFFF << 8) - (1 << 23)
    return np.where(x >= 0, y + 128, -y + 127) >> 8


class Lstm:
    """A layer's constants, and what it keeps."""

    def __init__(self, pick, numbers, x, cells):
        _, self.input_scale, self.input_zero = x
        self.inputs, self.cells = x[0].shape[-1], cells
        uniform = lambda low, high: float(np.float32(pick.uniform(low, high)))
        gain = pick.choice([0.3, 1, 3])
        self.scales = [[uniform(0.2, 1) * gain / (100 * math.sqrt(n)) for _ in range(4)] for n in (self.inputs, cells)]
        self.scales = [[float(np.float32(s)) for s in both] for both in self.scales]
        self.weights = [[numbers.randint(-127, 128, (cells, n)).astype(np.int64) for _ in range(4)] for n in (self.inputs, cells)]
        self.biases = [numbers.randint(-20000, 20000, cells).astype(np.int64) for _ in range(4)]
        self.scale, self.zero = uniform(0.004, 0.01), pick.choice([0, -1, pick.randint(-100, 100)])
        self.places = pick.randint(9, 15)
        self.clip = pick.choice([0.0, 10.0, uniform(0.3, 2)])
        self.reset()

    def reset(self):
        self.hidden, self.state = np.full(self.cells, self.zero, np.int64), np.zeros(self.cells, np.int64)

    def gate(self, x, which):
        sums = self.weights[0][which] @ (x - self.input_zero) + self.biases[which], self.weights[1][which] @ (self.hidden - self.zero)
        parts = [saturated(reference.scaled(sums[i], scale * self.scales[i][which] * 4096)) for i, scale in enumerate((self.input_scale, self.scale))]
        y = saturated(parts[0] + parts[1])
        return tanh(y, 12) if which == CELL else sigmoid(y)

    def step(self, x):
        gates, unit = [self.gate(x, which) for which in range(4)], 2.0 ** -self.places
        kept = saturated(reference.scaled(gates[FORGET] * self.state, 2.0 ** -15))
        self.state = saturated(kept + saturated(reference.scaled(gates[INPUT] * gates[CELL], 2.0 ** -30 / unit)))
        if self.clip > 0:
            most = int(min(self.clip / unit, 32767))
            self.state = np.clip(self.state, -most, most)
        y = reference.scaled(tanh(self.state, self.places) * gates[OUTPUT], 2.0 ** -30 / self.scale)
        self.hidden = np.clip(y + self.zero, -128, 127)
        return self.hidden

    def run(self, x):
        return np.array([self.step(row) for row in x.reshape(-1, self.inputs)])


class Recurrent(random_networks.Network):
    """One to three layers, one behind the other, and all steps or the last."""

    def __init__(self, seed):
        super().__init__(seed)
        self.layers = []

    def constant(self, numbers, kind, scale):
        data = numbers.astype({tfl.INT8: np.int8, tfl.INT32: np.int32}[kind])
        return self.model.tensor("constant", list(data.shape), kind, scale, 0, data.tobytes())

    def state(self, layer, kind, scale, zero, is_variable=1):
        return self.model.tensor("state", [1, layer.cells], kind, scale, zero, fields={5: ("b", is_variable)})

    def lstm(self, x, is_time_major, change=lambda *_: None):
        layer = Lstm(self.random, self.numbers, self.values[x], self.random.choice([1, 3, 4, 8, self.random.randint(1, 24)]))
        weights = [[self.constant(layer.weights[i][g], tfl.INT8, layer.scales[i][g]) for g in range(4)] for i in (0, 1)]
        biases = [self.constant(layer.biases[g], tfl.INT32, layer.input_scale * layer.scales[0][g]) for g in range(4)]
        states = self.state(layer, tfl.INT8, layer.scale, layer.zero), self.state(layer, tfl.INT16, 2.0 ** -layer.places, 0)
        inputs = [x, *weights[0], *weights[1], -1, -1, -1, *biases, -1, -1, *states, -1, -1, -1, -1]
        options = {0: ("b", 4), 1: ("f", layer.clip), 2: ("f", 0.0), 3: ("b", 1) if is_time_major else None}
        change(self, layer, inputs, options)
        named = (layer.scale, layer.zero)
        if self.random.random() < 0.2:  # as the converter writes a bidirectional layer: the bytes are the state's
            named = float(np.float32(self.random.uniform(0.004, 0.01))), self.random.randint(-100, 100)
        result = layer.run(self.values[x][0]).reshape(*self.values[x][0].shape[:2], layer.cells), *named
        self.layers.append(layer)
        return self.operate(SEQUENCE_LSTM, inputs, result, (71, options))

    def grow(self):
        steps, is_time_major = self.random.choice([1, self.random.randint(1, 30)]), self.random.random() < 0.4
        width = self.random.choice([1, 2, 4, self.random.randint(1, 24)])
        self.source = x = self.input((steps, 1, width) if is_time_major else (1, steps, width))
        for _ in range(self.random.choice([1, 1, 2, 3])):
            x = self.lstm(x, is_time_major)
        return x

    def bytes_of_states(self):
        return [part for layer in self.layers for part in (layer.hidden.astype(np.int8).tobytes(), layer.state.astype("<i2").tobytes())]

    def run_again(self):
        data = self.values[self.source][0]
        for layer in self.layers:
            data = layer.run(data)
        return data


def interpret(interpreter, network):
    """What TensorFlow Lite Micro gives; its state goes on from run to run."""
    data, _, zero = network.values[network.inputs[0]]
    interpreter.set_input(data.astype(np.uint8 if data.min() < -128 or data.max() > 127 or zero > 127 else np.int8), 0)
    interpreter.invoke()
    return interpreter.get_output(0).astype(np.int8).tobytes()


def run(dory, path, inputs, outputs):
    command = [dory, "run", path, "--quiet"]
    done = subprocess.run(command + [word for name in inputs for word in ("--input", name)] +
                          [word for name in outputs for word in ("--output", name)], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def check(dory, folder, seed):
    """Two runs, of which the second goes on where the first has ended; that starts with what is before all runs."""
    network = Recurrent(seed)
    output = network.grow()
    path, x = os.path.join(folder, "model.tflite"), os.path.join(folder, "input.bin")
    files = [os.path.join(folder, "output_%d.bin" % i) for i in range(1 + 2 * len(network.layers))]
    network.model.write(path, network.inputs, [output])
    network.values[network.inputs[0]][0].astype(np.int16).astype(np.uint8).tofile(x)
    interpreter = runtime.Interpreter.from_file(path) if runtime and network.inputs[0] == network.source else None
    for turn, y in enumerate((network.values[output][0], None)):
        y = (network.run_again() if y is None else y).astype(np.int8).tobytes()
        if interpreter and interpret(interpreter, network) != y:
            print("seed %d, run %d: numpy and TensorFlow Lite Micro differ" % (seed, turn))
            return False
        if error := run(dory, path, [x] + files[1:] * turn, files):
            print("seed %d, run %d: %s" % (seed, turn, error))
            return False
        for name, expected in zip(files, [y] + network.bytes_of_states()):
            if open(name, "rb").read() != expected:
                print("seed %d, run %d: %s differs from numpy" % (seed, turn, name))
                return False
    return True


def put(index, make):
    def change(network, layer, inputs, _):
        inputs[index] = make(network, layer)
    return change


def option(number, value):
    return lambda network, layer, inputs, options: options.update({number: value})


def refused(dory, folder):
    """What there is no layer for, with words that say so."""
    cells = lambda n, l: n.constant(np.ones(l.cells, np.int64), tfl.INT8, 0.01)
    state = lambda *more: lambda n, l: n.state(l, *more)
    cases = {"peepholes": put(10, cells), "a projection": put(16, cells), "a layer normalisation inside": put(21, cells),
             "CIFG": put(1, lambda n, l: -1), "the activation 1": option(0, ("b", 1)), "a projection that it has not": option(2, ("f", 1.0)),
             "clips cells at -1": option(1, ("f", -1.0)), "of scale 0.3; supported: powers of two": put(19, state(tfl.INT16, 0.3, 0)),
             "none of INT8, with cells of INT16": put(19, state(tfl.INT8, 0.5, 0)),
             "reads tensor 'state', which nothing": put(18, state(tfl.INT8, 0.5, 0, 0)),
             "supported: constants": put(2, lambda n, l: n.input((l.cells, l.inputs))),
             "no one scale": put(6, lambda n, l: n.constant(np.ones((1, l.cells * l.cells), np.int64), tfl.INT8, 0.01)),
             "sums exceed 30 bits": put(12, lambda n, l: n.constant(np.full(l.cells, 2**31 - 1), tfl.INT32, 0.01))}
    wrong = 0
    for text, change in cases.items():
        network, path = Recurrent(7), os.path.join(folder, "refused.tflite")
        x = network.tensor((network.integers(1, 5, 4), 0.1, 0))
        network.inputs.append(x)
        y = network.lstm(x, False, change)
        network.model.write(path, network.inputs, [y])
        done = subprocess.run([dory, "inspect", path], capture_output=True, text=True)
        if done.returncode != 1 or text not in done.stderr:
            print("%s: exit status %d\n%s" % (text, done.returncode, done.stderr))
            wrong += 1
    return wrong


def write(folder, seed):
    network = Recurrent(seed)
    data = network.model.pack(network.inputs, [network.grow()])
    with open(os.path.join(folder, "%d.tflite" % seed), "wb") as file:
        file.write(data)


def main():
    dory, folder = sys.argv[1:3]
    networks, seed = (int(text) for text in (sys.argv[3:5] + ["60", "1"][len(sys.argv) - 3:]))
    os.makedirs(folder, exist_ok=True)
    if dory == "--write":
        for s in range(seed, seed + networks):
            write(folder, s)
        return 0
    seeds = {*range(seed, seed + networks), EXACT_PRODUCT_SEED}
    wrong = [s for s in sorted(seeds) if not check(dory, folder, s)]
    wrong += [0] * refused(dory, folder)
    print("%d random networks, %d wrong%s" % (len(seeds), len(wrong), "" if runtime else "; not compared with tflite-micro, which is not installed"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
