#!/usr/bin/python3
"""Small QDQ networks that leave numbers unrounded between operators, as NNCF and quantize_static do, one kind each, against
numpy; as kinds.py.

usage: unrounded_kinds.py DORY      exit status 77: no python3-onnx
"""
import os
import subprocess
import sys

from kinds import FLOAT, IMAGE, Model, OUT_SCALE, OUT_ZERO, RANDOM, SCALE, grid, is_equal, np, onnx, run, run_kinds, sums_of_pixels

HALF = FLOAT(2.0**-5)


def of_half(m, x):
    """Another tensor, of another scale."""
    return m.quantised(m.node("Abs", [x]), HALF, np.uint8(3)), lambda a: grid(np.abs(a), HALF, 3)


def joined(m, x):
    y, compute = of_half(m, x)
    return m.node("Concat", [x, y], axis=1), lambda a: np.concatenate([a, compute(a)], 1)


def turned(kind):
    """Nodes that move no byte stand between an operator and its quantiser."""
    def build(m, x):
        y, compute = of_half(m, x)
        whole = {"Concat": lambda a, b: np.concatenate([a, b], 2), "Max": np.maximum, "Sum": lambda a, b: a + b}[kind]
        real = m.node(kind, [x, y], **({"axis": 2} if kind == "Concat" else {}))
        flat = m.node("Flatten", [m.node("Transpose", [real], perm=[0, 2, 3, 1])])
        return flat, lambda a: whole(a, compute(a)).transpose(0, 2, 3, 1)
    return build


def turned_sums(m, x):
    """Of what a convolution computes and a tensor."""
    sums, compute = sums_of_pixels(m, x)
    y = m.node("Concat", [x, m.node("Slice", [x, np.array([0]), np.array([2]), np.array([1])])], axis=1)
    real = m.node("Transpose", [m.node("Add", [sums, y])], perm=[0, 3, 2, 1])
    return real, lambda a: (compute(a) + np.concatenate([a, a[:, :2]], 1)).transpose(0, 3, 2, 1)


def joined_means(m, x):
    """As Inception ends: a Linear reads means of what is joined."""
    whole, compute = joined(m, x)
    return m.node("ReduceMean", [whole], axes=[2, 3], keepdims=0), lambda a: compute(a).astype(np.float64).mean((2, 3))


def joined_norm(m, x):
    """As DenseNet: a BatchNormalization, whose factors are powers of two, and a Relu."""
    whole, compute = joined(m, x)
    factors, terms = 2.0**RANDOM.integers(-2, 3, 8), RANDOM.integers(-8, 9, 8) / 8
    numbers = [FLOAT(2 * factors), FLOAT(terms), np.zeros(8, FLOAT), np.full(8, 4, FLOAT)]
    y = m.node("Relu", [m.node("BatchNormalization", [whole, *numbers], epsilon=0.0)])
    return y, lambda a: np.maximum(compute(a) * factors.reshape(8, 1, 1) + terms.reshape(8, 1, 1), 0)


def joined_pieces(m, x):
    """Cut, joined again with another part, and added to a tensor."""
    whole, compute = joined(m, x)
    cut = m.node("Slice", [whole, np.array([1, 1]), np.array([7, 6]), np.array([1, 2])])
    again = m.node("Concat", [cut, m.node("Slice", [x, np.array([1]), np.array([6]), np.array([2])])], axis=1)
    other = m.quantised(m.node("Sigmoid", [again]), FLOAT(2.0**-7), np.uint8(0))
    def expected(a):
        b = np.concatenate([compute(a)[:, 1:7, 1:6], a[:, :, 1:6]], 1)
        return b - grid(1 / (1 + np.exp(-b.astype(np.float64))), FLOAT(2.0**-7), 0)
    return m.node("Sub", [again, other]), expected


def tokens(m, x):
    """A class token and positions in floating point, of any numbers."""
    first, positions = RANDOM.normal(0, 1, (1, 1, 20)).astype(FLOAT), FLOAT(RANDOM.integers(-64, 64, (1, 13, 20)) / 64)
    whole = m.node("Concat", [first, m.node("Reshape", [x, np.array([1, 12, 20])])], axis=1)
    def compute(a): return np.concatenate([first + positions[:, :1], a.reshape(1, 12, 20) + positions[:, 1:]], 1)
    return m.node("Clip", [m.node("Add", [whole, positions]), FLOAT(-4), FLOAT(5)]), lambda a: np.clip(compute(a), -4, 5)


def mean_of_function(kind, function):
    """As EEGNet: quantize_static leaves Elu in floating point."""
    def build(m, x):
        y = m.node("Elu", [x])
        means = m.node(kind, [y], **({"kernel_shape": [2, 5], "strides": [2, 1]} if kind == "AveragePool" else {}))
        return m.node("Flatten", [means]), lambda a: function(np.where(a > 0, a, np.expm1(a.astype(np.float64))))
    return build


def distance(m, x):
    """As Siamese networks compare: of means that nobody has rounded, each of another scale."""
    y, compute = of_half(m, m.node("Neg", [x]))
    means = [m.node("GlobalAveragePool", [value]) for value in (x, y)]
    return m.node("Abs", [m.node("Sub", means)]), lambda a: np.abs((a - compute(-a)).astype(np.float64).mean((2, 3)))


def distance_of_tensors(m, x):
    y, compute = of_half(m, m.node("Neg", [x]))
    return m.node("Abs", [m.node("Sub", [x, y])]), lambda a: np.abs(a - compute(-a))


def distance_of_sums(m, x):
    sums, compute = sums_of_pixels(m, x)
    return m.node("Abs", [sums]), lambda a: np.abs(compute(a))


def means_of_means(first, second, rank, kind="ReduceMean"):
    """As x.mean(3).mean(2): both means are one."""
    def build(m, x):
        keeps = [{"keepdims": int(keep)} for _, keep in (first, second)]
        axes = [{"axes": [axis]} for axis, _ in (first, second)] if kind == "ReduceMean" else [{}, {}]
        y = m.node(kind, [x, *([] if axes[0] else [np.array([first[0]])])], **axes[0], **keeps[0])
        y = m.node(kind, [y, *([] if axes[1] else [np.array([second[0]])])], **axes[1], **keeps[1])
        function = np.mean if kind == "ReduceMean" else np.sum
        def compute(a):
            a = function(a.astype(np.float64), first[0], keepdims=first[1])
            return function(a, second[0], keepdims=second[1]).reshape([1] * (rank - 2) + [4, -1])
        return m.node("Reshape", [y, np.array([1] * (rank - 2) + [4, -1])]), compute
    return build


def maximum_of_function(m, x):
    """As SincNet: quantize_static leaves Abs in floating point."""
    y = m.node("MaxPool", [m.node("Abs", [x])], kernel_shape=[2, 5], strides=[2, 1])
    return y, lambda a: np.abs(a).reshape(1, 4, 3, 10).max(3).reshape(1, 4, 3, 1)


def by_statistics(kind, function):
    """As GroupNormalization of opset 21 is written out: only mean and variance are rounded. Some variances are 0."""
    def build(m, x):
        mean = m.quantised(m.node("ReduceMean", [x], axes=[2, 3]), HALF)
        variance = m.quantised(m.node("Relu", [m.node("ReduceMean", [x], axes=[2, 3])]), FLOAT(2.0**-2), np.uint8(0))
        real = m.node(kind, [m.node("Sub", [x, mean]), m.node("Sqrt", [variance])])
        def compute(a):
            average = a.astype(np.float64).mean((2, 3), keepdims=True)
            root = np.sqrt(grid(np.maximum(average, 0), FLOAT(2.0**-2), 0).astype(np.float64))
            with np.errstate(all="ignore"):
                return np.nan_to_num(function(a - grid(average, HALF).astype(np.float64), root), posinf=1e9, neginf=-1e9)
        return m.node("Flatten", [real]), compute
    return build


def from_statistics(kind):
    """The operand with fewer elements first."""
    def build(m, x):
        mean = m.quantised(m.node("ReduceMean", [x], axes=[2, 3]), HALF)
        real = m.node("Mul", [m.node(kind, [mean, x]), x])
        def compute(a):
            average = grid(a.astype(np.float64).mean((2, 3), keepdims=True), HALF).astype(np.float64)
            return (average + (a if kind == "Add" else -a)) * a
        return m.node("Flatten", [real]), compute
    return build


def by_negative_zero(m, x):
    """What is divided by -0 has the other sign; 0 by 0 is no number, and is not asked for."""
    ahead = m.node("Add", [x, FLOAT(64)])
    zeros = m.quantised(m.node("Relu", [m.node("Sub", [x, FLOAT(64)])]), FLOAT(2.0**-3), np.uint8(0))
    ahead = m.node("Sub", [m.quantised(ahead, FLOAT(0.5), np.uint8(0)), x])
    return m.node("Div", [ahead, m.node("Neg", [zeros])]), lambda a: np.full(IMAGE, -1e9)


def interpolated(m, x):
    """As torch.lerp: only the product's result is rounded."""
    y, compute = of_half(m, x)
    z = m.quantised(m.node("Sigmoid", [x]), FLOAT(2.0**-8), np.uint8(0))
    def expected(a): return (a - compute(a)) * grid(1 / (1 + np.exp(-a.astype(np.float64))), FLOAT(2.0**-8), 0)
    return m.node("Mul", [z, m.node("Sub", [x, y])]), expected


def chosen_sums(kind):
    """As torch.lerp selects one of two ways to compute it: a sum that nobody has rounded, or another tensor."""
    def build(m, x):
        y, compute = of_half(m, x)
        total = m.node("Sub", [x, y])
        real = m.node(kind, [m.node("Less", [x, FLOAT(0.5)]), y, total] if kind == "Where" else [y, total])
        def expected(a):
            b = compute(a)
            return np.where(a < 0.5, b, a - b) if kind == "Where" else np.minimum(b, a - b)
        return real, expected
    return build


def joined_sums(m, x):
    """As PT2E leaves a Concat that a residual addition reads beside a convolution, of what nobody has rounded."""
    y, of_y = of_half(m, x)
    (sums, of_sums), (others, of_others) = sums_of_pixels(m, x), sums_of_pixels(m, y)
    whole = m.node("Concat", [sums, m.node("Relu", [others])], axis=1)
    rounded = m.quantised(whole, HALF, np.uint8(3))
    def joined(a): return np.concatenate([of_sums(a), np.maximum(of_others(of_y(a)), 0)], 1)
    return m.node("Sub", [whole, rounded]), lambda a: joined(a) - grid(joined(a), HALF, 3)


def bordered_sums(m, x):
    """A Pad between a convolution and its quantiser."""
    sums, compute = sums_of_pixels(m, x)
    real = m.node("Pad", [sums, np.array([0, 0, 1, 2, 0, 0, 0, 1]), FLOAT(0.25)])
    return real, lambda a: np.pad(compute(a), ((0, 0), (0, 0), (1, 0), (2, 1)), constant_values=0.25)


def joined_truths(m, x):
    """As torch.roll turns a mask, and with a constant row."""
    truth = m.node("Greater", [x, FLOAT(0.25)])
    parts = [m.node("Slice", [truth, np.array([first]), np.array([last]), np.array([2])]) for first, last in ((4, 5), (0, 4))]
    row = (np.arange(20) % 3 == 0).reshape(1, 4, 1, 5)
    y = m.node("Where", [m.node("Concat", [*parts, row], axis=2), x, m.node("Neg", [x])])
    def compute(a):
        b = a > FLOAT(0.25)
        return np.where(np.concatenate([b[:, :, 4:5], b[:, :, :4], row], 2), a, -a)
    return y, compute


def safe_softmax(m, x):
    """As scaled_dot_product_attention has it behind a mask of truths: no row of it is without numbers."""
    return m.node("Where", [m.node("IsNaN", [x]), np.zeros((), FLOAT), x]), lambda a: a


KINDS = [
    ("safe_softmax", IMAGE, safe_softmax), ("joined_truths", IMAGE, joined_truths),
    ("joined_sums", IMAGE, joined_sums), ("bordered_sums", IMAGE, bordered_sums),
    ("selected_sums", IMAGE, chosen_sums("Where")), ("smaller_sums", IMAGE, chosen_sums("Min")),
    ("interpolated", IMAGE, interpolated),
    ("means_of_means", IMAGE, means_of_means((3, False), (2, False), 4)),
    ("mean_of_means_kept", IMAGE, means_of_means((2, True), (3, False), 4)),
    ("mean_of_rows_of_means", IMAGE, means_of_means((2, False), (2, True), 4)),
    ("sum_of_sums", IMAGE, means_of_means((3, True), (2, True), 4, "ReduceSum")),
    ("maximum_of_function", IMAGE, maximum_of_function),
    ("divided_by_statistics", IMAGE, by_statistics("Div", np.divide)),
    ("sum_from_statistics", IMAGE, from_statistics("Add")), ("difference_from_statistics", IMAGE, from_statistics("Sub")),
    ("divided_by_negative_zero", IMAGE, by_negative_zero),
    ("multiplied_by_statistics", IMAGE, by_statistics("Mul", np.multiply)),
    ("turned_parts", IMAGE, turned("Concat")), ("turned_maximum", IMAGE, turned("Max")), ("turned_sum", IMAGE, turned("Sum")),
    ("turned_sums", IMAGE, turned_sums), ("joined_means", IMAGE, joined_means), ("joined_norm", IMAGE, joined_norm),
    ("joined_pieces", IMAGE, joined_pieces), ("tokens", [1, 12, 4, 5], tokens),
    ("mean_of_function", IMAGE, mean_of_function("GlobalAveragePool", lambda a: a.mean((2, 3)))),
    ("sum_of_function", IMAGE, mean_of_function("ReduceSum", lambda a: a.sum((0, 1, 2, 3)))),
    ("means_of_function", IMAGE, mean_of_function("AveragePool", lambda a: a.reshape(1, 4, 3, 10).mean(3))),
    ("distance", IMAGE, distance), ("distance_of_tensors", IMAGE, distance_of_tensors), ("distance_of_sums", IMAGE, distance_of_sums),
]


def bordered_input(kind):
    """A Pad or a MaxPool in front of the first quantiser, as QuantFormat.QOperator leaves it."""
    def check(dory, folder):
        model, path = Model(IMAGE), os.path.join(folder, f"{kind}_input.onnx")
        x = model.node("Mul", ["x", FLOAT(0.5)])
        x = model.node("Pad", [x, np.array([0, 0, 1, 1, 0, 0, 1, 1])], mode="reflect") if kind == "Pad" else model.node("MaxPool", [x], kernel_shape=[2, 1], strides=[2, 1])
        model.write(path, model.quantised(model.node("Neg", [model.quantised(x)]), OUT_SCALE, OUT_ZERO))
        a = RANDOM.normal(0, 6, IMAGE).astype(FLOAT)
        moved = np.pad(a / 2, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="reflect") if kind == "Pad" else (a / 2).reshape(1, 4, 3, 2, 5).max(3)
        return is_equal(f"{kind}_input", *run(dory, path, a, folder), grid(-grid(moved), OUT_SCALE, OUT_ZERO) / OUT_SCALE + OUT_ZERO)
    return check


def doubled_sums(dory, folder):
    """A hostile file: each Concat has twice the parts of the one before."""
    model, path = Model(IMAGE), os.path.join(folder, "doubled.onnx")
    x = model.quantised("x")
    y = model.node("Sub", [x, model.quantised(model.node("Abs", [x]), HALF)])
    for i in range(9):
        y = model.node("Concat", [y, y], axis=1 + i % 3)
    readers = [model.quantised(y, HALF), model.quantised(model.node("Relu", [y]))]
    model.write(path, model.quantised(model.node("Add", readers), OUT_SCALE, OUT_ZERO))
    done = subprocess.run([dory, "inspect", path], capture_output=True, text=True, timeout=20)
    if done.returncode == 1 and "floating point in the middle" in done.stderr:
        return True
    print("doubled_sums:", done.returncode, done.stderr)
    return False


def sums_in_order(dory, folder):
    """A last sum over the features of tokens: 32-bit numbers in the model's order."""
    model, path = Model([1, 4, 6, 5]), os.path.join(folder, "sums.onnx")
    x = model.quantised(model.node("Transpose", [model.quantised("x")], perm=[0, 2, 3, 1]))
    model.write(path, model.node("ReduceSum", [x, np.array([-1])], keepdims=0))
    a = RANDOM.normal(0, 3, (1, 4, 6, 5)).astype(FLOAT)
    return is_equal("sums_in_order", *run(dory, path, a, folder), (grid(a) / SCALE).sum(1).astype(np.float64))


def constant_outputs(dory, folder):
    """As Brevitas has them, of a QuantTensor."""
    model, path = Model(IMAGE), os.path.join(folder, "outputs.onnx")
    model.write(path, model.quantised(model.node("Neg", [model.quantised("x")]), OUT_SCALE, OUT_ZERO))
    written = onnx.load(path)
    written.graph.output.extend(onnx.ValueInfoProto(name=entry.name) for entry in written.graph.initializer)
    onnx.save(written, path)
    done = subprocess.run([dory, "inspect", path], capture_output=True, text=True)
    if done.returncode == 0 and "outputs of the graph are constants" in done.stderr:
        return True
    print("constant_outputs:", done.returncode, done.stderr)
    return False


def last_product(dory, folder):
    """A last product of two tensors that nobody quantises: sums."""
    model, path = Model([1, 6, 20]), os.path.join(folder, "product.onnx")
    x = model.quantised("x")
    model.write(path, model.node("MatMul", [x, model.node("Transpose", [x], perm=[0, 2, 1])]))
    x = RANDOM.normal(0, 3, [1, 6, 20]).astype(FLOAT)
    steps = grid(x) / SCALE
    return is_equal("last_product", *run(dory, path, x, folder), (steps @ steps.transpose(0, 2, 1)).astype(np.float64))


def pooled_head(dory, folder):
    """A maximum of a function that nobody quantises: the firmware takes it of the elements, the application has the function left."""
    model, path = Model(IMAGE), os.path.join(folder, "pooled.onnx")
    model.write(path, model.node("MaxPool", [model.node("Elu", [model.quantised("x")])], kernel_shape=[2, 2]))
    done = subprocess.run([dory, "inspect", path], capture_output=True, text=True)
    if done.returncode == 0 and "(Elu '" in done.stderr and "MaxPool '" not in done.stderr and "maximum pool" in done.stdout:
        return True
    print("pooled_head:", done.returncode, done.stderr)
    return False


if __name__ == "__main__":
    sys.exit(run_kinds(KINDS, sums_in_order, doubled_sums, constant_outputs, last_product, pooled_head, bordered_input("Pad"), bordered_input("MaxPool")))
