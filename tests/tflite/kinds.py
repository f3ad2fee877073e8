#!/usr/bin/env python3
"""Small networks of TFLite, one kind of graph each, against numpy.
Usage: kinds.py DORY FOLDER      exit status 77, skipped, without numpy"""
import os
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)

import random_networks
import reference
import tflite_writer as tfl


def unit_rows(n):
    """Operands in one order of memory, but not in one image: a norm of the last dimension has rows of one element."""
    x = n.reshaped(n.transposed(n.input((1, 1, 6, 2)), [0, 3, 1, 2]), (1, 2, 6, 1))
    y = n.operate(tfl.L2_NORMALIZATION, [x], reference.l2_norm(n.values[x]), (12, {0: ("b", 0)}))
    y = n.operate(tfl.QUANTIZE, [y], reference.requantise(n.values[y], n.values[x][1:]))
    return n.extreme("maximum", [x, y], [n.values[x], n.values[y]])


def blocks_of_two_dimensions(n):
    """Blocks of a dimension that is two in memory, of which none divides."""
    x = n.reshaped(n.transposed(n.reshaped(n.input((1, 9, 8, 3)), (2, 9, 4, 3)), [2, 0, 1, 3]), (1, 2, 18, 6))
    return n.blocks(x, *n.values[x])


def near_halves(n):
    """A row, columns and scales of which the products' elements are others where the scales' product is rounded to float32."""
    while True:
        scales = [float(np.float32(n.random.uniform(low, 4 * low))) for low in (0.004, 0.001, 0.02)]
        sums = np.arange(-16000, 16001)
        exact, rounded = scales[0] * scales[1], float(np.float32(scales[0]) * np.float32(scales[1]))
        sums = sums[reference.scaled(sums, exact / scales[2]) != reference.scaled(sums, rounded / scales[2])]
        if len(sums) >= 2 and abs(sums[0] * exact) < 100 * scales[2]:
            return np.array([[127, 1]]), np.array([(sums + 63) // 127, (sums + 63) % 127 - 63]), *scales


def exact_product(n):
    """Of two scales, as TensorFlow Lite Micro has had it since autumn 2026, in a product of two tensors."""
    row, columns, *scales, scale = near_halves(n)
    x, y = (n.tensor((data, scale, 0)) for data, scale in zip((row, columns), scales))
    n.inputs += [x, y]
    result = reference.finish(reference.scaled(row @ columns, scales[0] * scales[1] / scale), scale, 0)
    return n.operate(tfl.BATCH_MATMUL, [x, y], result, (101, {0: ("b", 0), 1: ("b", 0)}))


def exact_product_with_weights(n):
    row, columns, *scales, scale = near_halves(n)
    x = n.tensor((row, scales[0], 0))
    n.inputs.append(x)
    weights = n.model.tensor("weights", list(columns.T.shape), tfl.INT8, scales[1], 0, columns.T.astype(np.int8).tobytes())
    result = reference.fully_connected(n.values[x], columns.T, scales[1:], 0, (scale, 0), 0)
    return n.operate(tfl.FULLY_CONNECTED, [x, weights, -1], result, (8, {0: ("b", 0)}))


def truths_as_numbers(n):
    """x where it is larger than a bound, or than another tensor: Keras' ThresholdedReLU casts the comparison to float32."""
    x = n.input((1, 5, 4, 6))
    for other, value in ((n.model.tensor("bound", [], tfl.INT8, 0.02, -128, bytes([40])), (np.array(40), 0.02, -128)), (n.same_scale(x), None)):
        value = value or n.values[other]
        truth = reference.compare("greater", n.values[x], value)
        condition, number = n.model.tensor("truth", truth.shape, tfl.BOOL), n.model.tensor("number", truth.shape, tfl.FLOAT32)
        n.model.operator(reference.COMPARISONS["greater"][0], [x, other], [condition])
        n.model.operator(tfl.CAST, [condition], [number])
        y = n.operate(tfl.QUANTIZE, [number], (np.where(truth, 127, -128), float(np.float32(1 / 255)), -128))
        x = n.arithmetic("multiply", [x, y], [n.values[x], n.values[y]], 0)
    return x


def computed_constant(n):
    """Weights of an interpolation as litert-torch leaves them: a function of constants in float, then QUANTIZE."""
    x = n.input((1, 5, 4, 6))
    given = np.array([-1, 0.25, 0.5, 0.999, 1.5, 0.1], np.float32)
    given, number = n.model.tensor("given", [6], tfl.FLOAT32, data=given.tobytes()), np.clip(given, 0, 1)
    computed, scale = n.model.tensor("computed", [6], tfl.FLOAT32), float(np.float32(1 / 255))
    n.model.operator(tfl.RELU_0_TO_1, [given], [computed])
    y = n.operate(tfl.QUANTIZE, [computed], (np.int64(np.round(number / np.float32(scale))) - 128, scale, -128))
    return n.arithmetic("multiply", [x, y], [n.values[x], n.values[y]], 0)


def common_shapes(n):
    """What Keras writes of an open batch: a shape that the shapes of a tensor, a constant and a scalar have in common."""
    x = n.input((1, 4, 1, 6))
    shapes = [n.model.tensor("shape_%d" % i, [4], tfl.INT32) for i in range(3)]
    n.model.operator(tfl.SHAPE, [x], shapes[:1])
    n.model.operator(tfl.BROADCAST_ARGS, [shapes[0], n.model.tensor("of a scalar", [0], tfl.INT32)], shapes[1:2])
    n.model.operator(tfl.BROADCAST_ARGS, [n.model.integers("given", [3, 1]), shapes[1]], shapes[2:])
    data, *quantisation = n.values[x]
    return n.unary(n.operate(tfl.BROADCAST_TO, [x, shapes[2]], (np.broadcast_to(data, (1, 4, 3, 6)), *quantisation)))


def chosen_channels(n):
    """What is above a bound of its channel's, and not below an element's."""
    x = n.input((1, 5, 4, 6))
    (data, *quantisation), result = n.values[x], n.values[x][0]
    for name, shape in (("greater", (6,)), ("less equal", (1, 5, 4, 6))):
        bounds = n.integers(*shape)
        bound = n.model.tensor("bounds", list(shape), tfl.INT8, 0.05, 3, bounds.astype(np.int8).tobytes())
        truth = reference.compare(name, n.values[x], (bounds, 0.05, 3))
        condition = n.model.tensor("truth", truth.shape, tfl.BOOL)
        n.model.operator(reference.COMPARISONS[name][0], [x, bound], [condition])
        number = n.model.tensor("number", [], tfl.INT8, *quantisation, bytes([17]))
        x = n.operate(tfl.SELECT_V2, [condition, x, number], (np.where(truth, n.values[x][0], 17), *quantisation))
    return x


def moved_truths(n):
    """Of which tokens count, as litert-torch compares them: moved, with constants among them, some of a row or all."""
    x, given = n.input((1, 6, 6)), n.input((1, 6))
    data, scale, zero = n.values[given]
    def node(code, inputs, result, options=None, kind=tfl.BOOL):
        output = n.model.tensor("node", list(result.shape), kind)
        n.model.operator(code, inputs, [output], options)
        return output, result
    def constant(array, kind): return n.model.tensor("constant", list(array.shape), kind, data=array.tobytes())
    def shape(*sizes): return n.model.integers("shape", sizes)
    real = node(tfl.DEQUANTIZE, [given], ((data - zero) * scale).astype(np.float32), None, tfl.FLOAT32)
    counts = node(tfl.GREATER, [real[0], constant(np.float32(0.7), tfl.FLOAT32)], real[1] > np.float32(0.7))
    columns, rows = (node(tfl.RESHAPE, [counts[0], shape(*sizes)], counts[1].reshape(sizes)) for sizes in ((1, 1, 6), (1, 6, 1)))
    both = node(tfl.LOGICAL_AND, [columns[0], rows[0]], columns[1] & rows[1])
    causal = np.tril(np.ones((1, 6, 6), bool))
    seen = node(tfl.LOGICAL_AND, [both[0], constant(causal, tfl.BOOL)], both[1] & causal)
    wide = node(tfl.BROADCAST_TO, [rows[0], shape(1, 6, 2)], np.broadcast_to(rows[1], (1, 6, 2)))
    whole = node(tfl.CONCATENATION, [seen[0], wide[0], constant(np.ones((1, 6, 1), bool), tfl.BOOL)],
                 np.concatenate([seen[1], wide[1], np.ones((1, 6, 1), bool)], 2), (10, {0: ("i", 2)}))
    cut = node(tfl.SLICE, [whole[0], shape(0, 0, 3), shape(1, 6, 6)], whole[1][:, :, 3:])
    some = node(tfl.REDUCE_ANY, [both[0], n.model.integers("axes", [1])], both[1].any(1, keepdims=True), (27, {0: ("b", 1)}))
    all_of = node(tfl.REDUCE_ALL, [cut[0], n.model.integers("axes", [2])], cut[1].all(2, keepdims=True), (27, {0: ("b", 1)}))
    number = n.model.tensor("number", [], tfl.INT8, *n.values[x][1:], bytes([17]))
    for condition, truth in cut, some, all_of:
        x = n.operate(tfl.SELECT_V2, [condition, x, number], (np.where(truth, n.values[x][0], 17), *n.values[x][1:]))
    return x


def rounded_behind(n):
    """As ai-edge-quantizer leaves a MINIMUM and a SELECT of two tensors in floating point, in front of a QUANTIZE."""
    scale = float(np.float32(0.07))
    def node(code, inputs, result, kind=tfl.FLOAT32):
        output = n.model.tensor("node", list(result.shape), kind)
        n.model.operator(code, inputs, [output])
        return output, result
    def real(x):
        data, scale, zero = n.values[x]
        return node(tfl.DEQUANTIZE, [x], (data - zero).astype(np.float32) * np.float32(scale))
    def rounded(real, numbers):
        steps = numbers / np.float32(scale)
        data = np.clip(np.trunc(steps + np.copysign(np.float32(0.5), steps)).astype(int) + 3, -128, 127)
        return n.operate(tfl.QUANTIZE, [real], (data, scale, 3))
    (a, of_a), (b, of_b), (c, of_c) = (real(n.input(shape)) for shape in ((1, 5, 4, 6), (1, 5, 4, 6), (1, 5, 4, 1)))
    results = [rounded(*node(tfl.MINIMUM, [a, b], np.minimum(of_a, of_b)))]
    for code, truth in (tfl.GREATER, of_a > of_c), (tfl.LESS_EQUAL, of_a <= of_c):
        condition, _ = node(code, [a, c], truth, tfl.BOOL)
        results.append(rounded(*node(tfl.SELECT_V2, [condition, b, a], np.where(truth, of_b, of_a))))
    x = results[0]
    for y in results[1:]:
        x = n.extreme("maximum", [x, y], [n.values[x], n.values[y]])
    return x


def no_difference(n):
    """x - x, with a scale that is far below x's: Keras finds so what is finite."""
    x = n.input((1, 5, 4, 6))
    zeros = n.operate(tfl.SUB, [x, x], (np.full((1, 5, 4, 6), 7), 1e-8, 7), (28, {0: ("b", 0)}))
    zero = n.model.tensor("zero", [1, 5, 4, 6], tfl.INT8, 4e-9, 0, bytes(120))
    condition = n.model.tensor("truth", [1, 5, 4, 6], tfl.BOOL)
    n.model.operator(reference.COMPARISONS["equal"][0], [zeros, zero], [condition])
    number = n.model.tensor("number", [], tfl.INT8, *n.values[x][1:], bytes([17]))
    return n.operate(tfl.SELECT, [condition, x, number], n.values[x])


def words(signs, others=False):
    """Rows that indices choose, which with `signs` are made positive as Keras does; `others`: they are read elsewhere, too."""
    model, table = tfl.Model(), np.arange(-30, 30, dtype=np.int8).reshape(20, 3)
    number = lambda value: model.tensor("number", [1], tfl.INT32, data=np.int32(value).tobytes())
    rows = model.tensor("table", [20, 3], tfl.INT8, 0.5, 4, table.tobytes())
    x = index = model.tensor("words", [1, 6], tfl.INT32)
    if signs:
        less, sums, index = (model.tensor(name, [1, 6], kind) for name, kind in (("less", tfl.BOOL), ("sums", tfl.INT32), ("sign", tfl.INT32)))
        model.operator(tfl.LESS, [x, number(0)], [less])
        model.operator(tfl.ADD, [x, number(20)], [sums], (11, {}))
        model.operator(tfl.SELECT_V2, [less, sums, x], [index])
    chosen, y, z = (model.tensor(name, [1, 6, 3], tfl.INT8, 0.5, 4) for name in ("rows", "relu", "z"))
    model.operator(tfl.GATHER, [rows, index], [chosen])
    model.operator(tfl.RELU, [chosen], [y])
    if others:
        model.operator(tfl.GATHER, [rows, x], [z])
    return model.pack([x], [y, z] if others else [y]), lambda i: np.maximum(table[i], 4)


def check_words(dory, folder, signs):
    path = os.path.join(folder, "words")
    data, compute = words(signs)
    with open(path + ".tflite", "wb") as file:
        file.write(data)
    for indices, good in ([[0, 19, 7, -1, 7, 2]], True), ([[0, 19, 7, 20, 7, 2]], False):
        np.save(path + ".npy", np.int32(indices))
        done = subprocess.run([dory, "run", path + ".tflite", "--quiet", "--input", path + ".npy", "--output", path + "_y.npy"],
                              capture_output=True, text=True)
        if good and (done.returncode or not np.array_equal(np.load(path + "_y.npy").reshape(1, 6, 3), compute(indices))):
            return print("words:", done.stderr)
        if not good and (done.returncode != 1 or "number 3 is 20" not in done.stderr):
            return print("no such word:", done.stderr)
    return True


def refuses_words_of_two(dory, folder):
    path = os.path.join(folder, "two.tflite")
    with open(path, "wb") as file:
        file.write(words(True, True)[0])
    done = subprocess.run([dory, "inspect", path], capture_output=True, text=True)
    return done.returncode == 1 and "the input is INT32" in done.stderr or print("words of two:", done.stderr)


KINDS = [unit_rows, blocks_of_two_dimensions, exact_product, exact_product_with_weights, truths_as_numbers,
         computed_constant, common_shapes, chosen_channels, moved_truths, rounded_behind,
         no_difference]


def kind(build):
    class Kind(random_networks.Network):
        def grow(self):
            return build(self)
    return Kind


def main():
    dory, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    wrong = [build.__name__ for build in KINDS if not random_networks.check(dory, folder, 1, kind(build))]
    wrong += [f"words {signs}" for signs in (False, True) if not check_words(dory, folder, signs)]
    wrong += [] if refuses_words_of_two(dory, folder) else ["words of two"]
    print("%d kinds; wrong: %s" % (len(KINDS) + 3, ", ".join(wrong) or "none"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
