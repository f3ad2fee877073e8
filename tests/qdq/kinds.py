#!/usr/bin/python3
"""Small QDQ networks, one kind of operator each, against numpy. Scales are powers of two, so that float32 is exact.

usage: kinds.py DORY      exit status 77: no python3-onnx
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: no onnx or numpy; on Debian: apt-get install python3-onnx python3-numpy")
    sys.exit(77)

FLOAT = np.float32
SCALE, ZERO, OUT_SCALE, OUT_ZERO = FLOAT(2.0**-4), np.uint8(100), FLOAT(2.0**-3), np.uint8(120)
RANDOM = np.random.default_rng(46)


class Model:
    def __init__(self, shape, kind=TensorProto.FLOAT, opset=13):
        self.nodes, self.constants, self.shape, self.kind, self.opset = [], [], shape, kind, opset

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, kind, inputs, count=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(kind, [i if isinstance(i, str) else self.constant(i) for i in inputs], names,
                                           name=f"{kind}_{len(self.nodes)}", **attributes))
        return names[0] if count == 1 else names

    def quantised(self, real, scale=SCALE, zero=ZERO):
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [real, scale, zero]), scale, zero])

    def write(self, path, output):
        kind = self.kind
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", kind, self.shape)],
                                  [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)]), path)


def grid(array, scale=SCALE, zero=ZERO):
    """What a QuantizeLinear and a DequantizeLinear make of real numbers."""
    return ((np.clip(np.rint(array / scale) + int(zero), 0, 255) - int(zero)) * scale).astype(FLOAT)


# Each kind: the shape of the input, what is built on a quantised tensor, and the same in numpy.


def gather(m, x): return m.node("Gather", [x, np.array([3, 0, -1])], axis=1), lambda a: a[:, [3, 0, -1]]


def last_step(m, x): return m.node("Gather", [x, np.array(4)], axis=2), lambda a: a[:, :, 4]


def tile(m, x): return m.node("Tile", [x, np.array([1, 1, 2, 3])]), lambda a: np.tile(a, (1, 1, 2, 3))


def expand(m, x):
    top = m.node("ReduceMax", [x], axes=[2, 3])
    return m.node("Expand", [top, np.array([1, 4, 6, 5])]), lambda a: np.broadcast_to(a.max((2, 3), keepdims=True), (1, 4, 6, 5))


def to_space(mode, order):
    def build(m, x):
        def compute(a):
            parts = a.reshape((1, 2, 2, 1, 6, 5) if mode == "DCR" else (1, 1, 2, 2, 6, 5))
            return parts.transpose(order).reshape(1, 1, 12, 10)
        return m.node("DepthToSpace", [x], blocksize=2, mode=mode), compute
    return build


def to_depth(m, x):
    def compute(a): return a.reshape(1, 4, 3, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 16, 3, 3)
    return m.node("SpaceToDepth", [x], blocksize=2), compute


def reduction(kind, axes, keep, function):
    def build(m, x):
        inputs, more = ([x, np.array(axes)], {}) if kind == "ReduceSum" else ([x], {"axes": axes})
        return m.node(kind, inputs, keepdims=keep, **more), lambda a: function(a, tuple(axes), bool(keep))
    return build


def mean(a, axes, keep): return a.astype(np.float64).mean(axes, keepdims=keep)


def largest_of_three(m, x):
    y, z = m.quantised(m.node("Neg", [x]), FLOAT(2.0**-5)), m.quantised(m.node("Abs", [x]), FLOAT(2.0**-3), np.uint8(3))
    def compute(a): return np.maximum(np.maximum(a, grid(-a, FLOAT(2.0**-5))), grid(np.abs(a), FLOAT(2.0**-3), 3))
    return m.node("Max", [x, y, z]), compute


def smallest_of_rows(m, x):
    low = m.quantised(m.node("ReduceMax", [x], axes=[3]), SCALE)
    return m.node("Min", [low, x]), lambda a: np.minimum(grid(a.max(3, keepdims=True)), a)


SLOPES = np.array([0.25, -0.5, 2, 0], FLOAT).reshape(4, 1, 1)


def slopes(m, x): return m.node("PRelu", [x, SLOPES]), lambda a: np.where(a >= 0, a, a * SLOPES)


WEIGHTS = RANDOM.integers(-127, 128, (20, 7)).astype(np.int8)
BIAS = RANDOM.integers(-99, 100, 7).astype(FLOAT) * FLOAT(2.0**-9)


def scaled_product(m, x):
    w = m.node("DequantizeLinear", [WEIGHTS, FLOAT(2.0**-7), np.int8(0)])
    return (m.node("Gemm", [x, w, BIAS], alpha=0.5, beta=2.0),
            lambda a: 0.5 * (a.astype(np.float64) @ (WEIGHTS * 2.0**-7)) + 2 * BIAS)


WIDE = RANDOM.integers(0, 256, (3, 2, 3, 3)).astype(np.uint8)


def wide_weights(m, x):
    w = m.node("DequantizeLinear", [np.concatenate([WIDE, WIDE]), FLOAT(2.0**-9), np.uint8(60)])

    def compute(a):
        real, out = (WIDE.astype(np.float64) - 60) * 2.0**-9, np.zeros((1, 6, 4, 3))
        weights = np.concatenate([real, real])  # of two groups
        for o in range(6):
            for y in range(4):
                for z in range(3):
                    out[0, o, y, z] = np.sum(a[0, o // 3 * 2:o // 3 * 2 + 2, y:y + 3, z:z + 3] * weights[o])
        return out
    return m.node("Conv", [x, w], group=2), compute


def rows_of_products(m, x):
    w = m.node("DequantizeLinear", [WEIGHTS[:5], FLOAT(2.0**-7), np.int8(0)])
    flat = m.node("Reshape", [x, np.array([24, 5])])
    return m.node("MatMul", [flat, w]), lambda a: a.reshape(24, 5).astype(np.float64) @ (WEIGHTS[:5] * 2.0**-7)


def joined_rows(m, x):
    turned = m.node("Transpose", [x], perm=[0, 2, 3, 1])
    return m.node("Concat", [turned, turned], axis=0), lambda a: np.concatenate([a.transpose(0, 2, 3, 1)] * 2)


def joined_turned(m, x):
    """Columns of what is turned and cut through other dimensions than it has."""
    cut = m.node("Reshape", [m.node("Transpose", [x], perm=[0, 2, 1]), np.array([1, 16, 3, 1])])
    return m.node("Concat", [cut, cut], axis=3), lambda a: np.concatenate([a.transpose(0, 2, 1).reshape(1, 16, 3, 1)] * 2, 3)


def rows_added(m, x):
    """Tensors of five dimensions, one of which is repeated."""
    split = m.node("Reshape", [x, np.array([2, 2, 3, 2, 5])])
    turned = m.node("Transpose", [split], perm=[1, 0, 3, 2, 4])
    top = m.quantised(m.node("ReduceMax", [turned], axes=[0, 3]))

    def compute(a):
        moved = a.reshape(2, 2, 3, 2, 5).transpose(1, 0, 3, 2, 4).astype(np.float64)
        return moved + grid(moved.max((0, 3), keepdims=True))
    return m.node("Add", [turned, top]), compute


def quotient(m, x):
    y = m.quantised(m.node("Neg", [m.node("Abs", [x])]), FLOAT(2.0**-5), np.uint8(255))  # below zero, and zero

    def compute(a):
        b = grid(-np.abs(a), FLOAT(2.0**-5), 255).astype(np.float64)
        return np.where(b != 0, a / np.where(b, b, 1), np.sign(a) * 1e6)
    return m.node("Div", [x, y]), compute


def quotient_by_root(m, x):
    """As an RMSNorm whose mean of squares has a zero point: the root of the bytes below it is no number, and never occurs."""
    squares = m.quantised(m.node("ReduceMean", [m.node("Mul", [x, x])], axes=[1], keepdims=1), FLOAT(0.5), np.uint8(128))

    def compute(a):
        root = np.sqrt(grid((a.astype(np.float64)**2).mean(1, keepdims=True), FLOAT(0.5), 128).astype(np.float64))
        return np.where(root != 0, a / np.where(root, root, 1), np.sign(a) * 1e6)
    return m.node("Div", [x, m.node("Sqrt", [squares])]), compute


def quotient_of_no_numbers(m, x):
    """By roots of negative numbers: the zero point, where onnxruntime on x86 gives the least byte."""
    shifted = m.quantised(m.node("Add", [x, FLOAT(1)]))

    def compute(a):
        b = grid(a + 1).astype(np.float64)
        assert (b < 0).any() and (b > 0).any()
        return np.where(b > 0, a / np.sqrt(np.where(b > 0, b, 1)), np.where(b < 0, 0, np.sign(a) * 1e6))
    return m.node("Div", [x, m.node("Sqrt", [shifted])]), compute


def root(m, x):
    """Of negative numbers, too: the least byte, as onnxruntime has it on x86."""
    return m.node("Sqrt", [x]), lambda a: np.where(a < 0, -1e6, np.sqrt(np.abs(a)))


NUMERATORS = RANDOM.integers(0, 256, (4, 1, 5)).astype(np.uint8)


def constant_quotient(m, x):
    numerators = m.node("DequantizeLinear", [NUMERATORS, FLOAT(2.0**-4), np.uint8(77)])
    positive = m.quantised(m.node("Exp", [m.node("Mul", [x, FLOAT(0.125)])]), FLOAT(2.0**-5), np.uint8(0))

    def compute(a):
        b = grid(np.exp(a * FLOAT(0.125)), FLOAT(2.0**-5), 0).astype(np.float64)
        return (NUMERATORS.astype(np.float64) - 77) * 2.0**-4 / b
    return m.node("Div", [numerators, positive]), compute


def gathered_rows(m, x):
    rows = np.array([[[0, 3, 4]], [[0, 3, -2]], [[0, 3, 0]]])
    return m.node("GatherND", [x, rows]), lambda a: a[0, 3, [4, -2, 0]][:, None]


def gathered_pixels(m, x):
    rows = np.array([[[0, 3], [2, -1]], [[1, 0], [2, 4]]])
    turned = m.node("Transpose", [x], perm=[2, 3, 0, 1])
    return m.node("GatherND", [turned, rows]), lambda a: a[:, :, [[0, 2], [1, 2]], [[3, -1], [0, 4]]].transpose(2, 3, 0, 1)


def gathered_batches(m, x):
    """Of each channel other rows."""
    rows = RANDOM.integers(-6, 6, (1, 4, 3, 1))
    def compute(a): return a[0, np.arange(4)[:, None], rows[0, :, :, 0]][None]
    return m.node("GatherND", [x, rows], batch_dims=2), compute


def gathered_elements(axis, shape):
    """As torch.gather."""
    def build(m, x):
        places = np.random.default_rng(axis).integers(-IMAGE[axis], IMAGE[axis], shape)
        def compute(a):
            index = list(np.indices(shape))
            index[axis] = places
            return a[tuple(index)]
        return m.node("GatherElements", [x, places], axis=axis), compute
    return build


BOUNDS = (RANDOM.integers(-30, 30, (4, 6, 1)) * 2.0**-4).astype(FLOAT)


def chosen_constants(m, x): return m.node("Max", [BOUNDS, x]), lambda a: np.maximum(a, BOUNDS)


def bordered(m, x):
    return m.node("Pad", [x, np.array([0, 0, 1, 0, 0, 0, 0, 2]), FLOAT(0.7)]), lambda a: np.pad(
        a, [(0, 0), (0, 0), (1, 0), (0, 2)], constant_values=FLOAT(0.7))


SPREAD = RANDOM.integers(-127, 128, (4, 2, 3, 3)).astype(np.int8)


def output_shape(m, x):
    w = m.node("DequantizeLinear", [SPREAD, FLOAT(2.0**-8), np.int8(0)])

    def compute(a):
        whole = np.zeros((1, 2, 13, 11))
        for y in range(6):
            for z in range(5):
                whole[0, :, 2 * y:2 * y + 3, 2 * z:2 * z + 3] += np.tensordot(a[0, :, y, z].astype(np.float64), SPREAD * 2.0**-8, 1)
        return whole[:, :, 1:, 1:]  # the odd one in front
    return m.node("ConvTranspose", [x, w], strides=[2, 2], output_shape=[12, 10]), compute


def product_from_left(m, x):
    w = m.node("DequantizeLinear", [WEIGHTS[:6].T.copy(), (2.0**-np.arange(5, 12)).astype(FLOAT), np.zeros(7, np.int8)], axis=0)
    return m.node("MatMul", [w, x]), lambda a: (WEIGHTS[:6].T * 2.0**-np.arange(5, 12)[:, None]) @ a.astype(np.float64)


def function_of_nodes(m, x):
    """As exporters write GELU: tables, a product and a sum, all of one element."""
    size = m.quantised(m.node("Abs", [x]), FLOAT(2.0**-3), np.uint8(3))
    product = m.quantised(m.node("Mul", [x, size]), FLOAT(2.0**-2), np.uint8(128))

    def compute(a):
        a = a.astype(np.float64)
        return a + grid(a * grid(np.abs(a), FLOAT(2.0**-3), 3), FLOAT(2.0**-2), 128)
    return m.node("Add", [product, x]), compute


KERNELS = RANDOM.integers(-128, 128, (6, 4)).astype(np.int8)


def sums_of_pixels(m, x):
    """A 1x1 convolution whose sums nobody rounds yet."""
    w = m.node("DequantizeLinear", [KERNELS.reshape(6, 4, 1, 1), FLOAT(2.0**-6), np.int8(0)])
    return m.node("Conv", [x, w]), lambda a: np.einsum("oc,nchw->nohw", KERNELS * 2.0**-6, a.astype(np.float64))


def moved_sums(m, x):
    """What only moves, or keeps the order of numbers, in front of the rounding, as NNCF leaves a chomp."""
    sums, compute = sums_of_pixels(m, x)
    parts = [m.node("Slice", [sums, np.array(start), np.array(end), np.array([1, 3])]) for start, end in (([0, 0], [4, -2]), ([2, 2], [6, 5]))]
    whole = m.node("Relu", [m.node("MaxPool", [m.node("Concat", parts, axis=1)], kernel_shape=[2, 1], strides=[2, 1])])
    def expected(a):
        y = compute(a)
        return np.maximum(np.concatenate([y[:, 0:4, :, :3], y[:, 2:6, :, 2:]], 1).reshape(1, 8, 3, 2, 3).max(3), 0)
    return whole, expected


def normalisation(m, x, channels):
    """A BatchNormalization whose factors are powers of two, and its factors and terms."""
    factors, terms, mean = 2.0**RANDOM.integers(-2, 3, channels), RANDOM.integers(-8, 9, channels) / 8, RANDOM.integers(-8, 9, channels) / 16
    numbers = [FLOAT(2 * factors), FLOAT(terms), FLOAT(mean), np.full(channels, 4, FLOAT)]
    return m.node("BatchNormalization", [x, *numbers], epsilon=0.0), factors, terms - mean * factors


def normalised_sums(m, x):
    """Behind sums that nobody has rounded, as a BatchNorm1d behind a Linear."""
    sums, compute = sums_of_pixels(m, x)
    y, factors, terms = normalisation(m, sums, 6)
    return y, lambda a: compute(a) * factors.reshape(6, 1, 1) + terms.reshape(6, 1, 1)


def normalised_rows(m, x):
    """Of tokens: rows that are a batch for PyTorch."""
    y, factors, terms = normalisation(m, m.node("Reshape", [x, np.array([24, 5])]), 5)
    return y, lambda a: a.reshape(24, 5) * factors + terms


def joined_constant(m, x):
    """Positions that the quantiser has left in floating point, rounded with the whole."""
    grid_of = FLOAT(np.linspace(-3, 3, 60).reshape(1, 2, 6, 5))
    return m.node("Concat", [x, grid_of], axis=1), lambda a: np.concatenate([a, grid_of], 1)


def computed_pads(m, x):
    """A padding as torch.onnx writes it, from the last dimension on: nobody has folded it."""
    zeros = m.node("ConstantOfShape", [np.array([4])], value=numpy_helper.from_array(np.array([0])))
    listed = m.node("Reshape", [m.node("Concat", [np.array([1, 2, 3, 0]), zeros], axis=0), np.array([-1, 2])])
    turned = m.node("Transpose", [m.node("Slice", [listed, np.array([-1]), np.array([-2**63 + 1]), np.array([0]), np.array([-1])])], perm=[1, 0])
    pads = m.node("Cast", [m.node("Reshape", [turned, np.array([-1])])], to=7)
    return m.node("Pad", [x, pads]), lambda a: np.pad(a, ((0, 0), (0, 0), (3, 0), (1, 2)))


def computed_shape(m, x):
    """A shape with the sizes that are left out as -1, and a factor that is a power, a root and a remainder."""
    asked = np.array([1, -1, 6, 5])
    ones = m.node("ConstantOfShape", [m.node("Shape", [asked])], value=numpy_helper.from_array(np.array([1])))
    shape = m.node("Where", [m.node("Equal", [asked, m.node("Mul", [ones, np.array(-1)])]), ones, asked])
    factor = m.node("Div", [m.node("Pow", [m.node("Sqrt", [FLOAT(16)]), FLOAT(-0.5)]), m.node("Cast", [m.node("Mod", [np.array(6), np.array(4)])], to=1)])
    factors = m.node("Expand", [factor, np.array([4, 1, 1])])
    top = m.node("ReduceMax", [x], axes=[1, 2, 3])
    return m.node("Mul", [m.node("Add", [m.node("Expand", [top, shape]), x]), factors]), lambda a: (a.max((1, 2, 3), keepdims=True) + a) * 0.25


def sloped_sums(slopes):
    """LeakyRelu, or PRelu with a slope a channel, of sums that nobody has rounded."""
    def build(m, x):
        sums, compute = sums_of_pixels(m, x)
        leaky = m.node("LeakyRelu", [sums], alpha=slopes) if isinstance(slopes, float) else m.node("PRelu", [sums, slopes.reshape(-1, 1, 1)])
        def expected(a):
            y = compute(a)
            return np.where(y < 0, y * (slopes if isinstance(slopes, float) else slopes.reshape(-1, 1, 1).astype(np.float64)), y)
        return leaky, expected
    return build


def kept_above(kind, scale, bound):
    """A length or a sum of squares that a bound keeps from being 0, where it is rounded by itself."""
    def build(m, x):
        below = m.quantised(m.node("Min", [x, FLOAT(0)]), scale, np.uint8(255))
        y = m.node("Max", [m.node(kind, [below], axes=[1], keepdims=1), bound])
        def compute(a):
            squares = (grid(np.minimum(a, 0), scale, 255).astype(np.float64)**2).sum(1, keepdims=True)
            return np.maximum(np.sqrt(squares) if kind == "ReduceL2" else squares, bound)
        return y, compute
    return build


IMAGE = [1, 4, 6, 5]
KINDS = [
    ("quotient", IMAGE, quotient), ("quotient_by_root", IMAGE, quotient_by_root),
    ("quotient_of_no_numbers", IMAGE, quotient_of_no_numbers), ("root", IMAGE, root), ("constant_quotient", IMAGE, constant_quotient),
    ("chosen_constants", IMAGE, chosen_constants),
    ("bordered", IMAGE, bordered), ("output_shape", IMAGE, output_shape), ("product_from_left", IMAGE, product_from_left),
    ("gather", IMAGE, gather), ("gathered_rows", IMAGE, gathered_rows), ("gathered_pixels", IMAGE, gathered_pixels), ("gathered_batches", IMAGE, gathered_batches),
    ("gathered_elements", IMAGE, gathered_elements(2, (1, 4, 3, 5))), ("gathered_channels", IMAGE, gathered_elements(1, (1, 2, 6, 4))),
    ("last_step", IMAGE, last_step), ("tile", IMAGE, tile), ("expand", IMAGE, expand),
    ("depth_to_space", IMAGE, to_space("DCR", (0, 3, 4, 1, 5, 2))), ("depth_to_space_crd", IMAGE, to_space("CRD", (0, 1, 4, 2, 5, 3))),
    ("space_to_depth", [1, 4, 6, 6], to_depth),
    ("sum_of_channels", IMAGE, reduction("ReduceSum", [1], 1, lambda a, x, k: a.sum(x, keepdims=k))),
    ("sum_of_rows", IMAGE, reduction("ReduceSum", [2, 3], 0, lambda a, x, k: a.sum(x, keepdims=k))),
    ("mean_of_channels", IMAGE, reduction("ReduceMean", [1], 1, mean)), ("mean_of_all", IMAGE, reduction("ReduceMean", [1, 3], 0, mean)),
    ("mean_of_many", [1, 300, 1, 300], reduction("ReduceMean", [1, 3], 0, mean)),
    ("largest_channel", IMAGE, reduction("ReduceMax", [1], 1, lambda a, x, k: a.max(x, keepdims=k))),
    ("largest_of_three", IMAGE, largest_of_three), ("smallest_of_rows", IMAGE, smallest_of_rows), ("slopes", IMAGE, slopes),
    ("scaled_product", [1, 20], scaled_product), ("wide_weights", IMAGE, wide_weights), ("rows_of_products", IMAGE, rows_of_products),
    ("joined_rows", IMAGE, joined_rows), ("joined_turned", [1, 24, 2], joined_turned), ("rows_added", IMAGE, rows_added),
    ("function_of_nodes", IMAGE, function_of_nodes), ("moved_sums", IMAGE, moved_sums), ("computed_pads", IMAGE, computed_pads),
    ("leaky_sums", IMAGE, sloped_sums(0.125)), ("steep_sums", IMAGE, sloped_sums(np.array([1, 2, 1.5, 4, 1.25, 3], FLOAT))),
    ("sloped_sums", IMAGE, sloped_sums(np.array([0.5, -0.25, 0.75, 1, 0.125, 0.0625], FLOAT))),
    ("computed_shape", IMAGE, computed_shape), ("normalised_sums", IMAGE, normalised_sums), ("normalised_rows", IMAGE, normalised_rows),
    ("joined_constant", IMAGE, joined_constant),
    ("squares_kept_above", IMAGE, kept_above("ReduceSumSquare", FLOAT(1), FLOAT(1))), ("length_kept_above", IMAGE, kept_above("ReduceL2", FLOAT(1), FLOAT(1))),
    ("length_kept_above_half", [1, 1, 20, 20], kept_above("ReduceL2", FLOAT(2.0**-4), FLOAT(2.0**-4))),
]


def run(dory, model, x, folder):
    np.save(os.path.join(folder, "x.npy"), x)
    done = subprocess.run([dory, "run", model, "--quiet", "--input", os.path.join(folder, "x.npy"), "--output", os.path.join(folder, "y.npy")],
                          capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    return np.load(os.path.join(folder, "y.npy")), ""


def is_equal(name, found, text, expected):
    found = None if found is None else found.ravel().astype(np.float64)
    if found is not None and found.size == expected.size and np.array_equal(found, expected.ravel()):
        return True
    off = "" if found is None or found.size != expected.size else f"{np.sum(found != expected.ravel())} of {expected.size} elements differ"
    print(f"{name}: {off}{text}")
    return False


def elements(real): return np.clip(np.rint(real / OUT_SCALE) + int(OUT_ZERO), 0, 255).astype(np.float64)


def check_kind(dory, folder, name, shape, build):
    model, path = Model(shape), os.path.join(folder, name + ".onnx")
    real, compute = build(model, model.quantised("x"))
    model.write(path, model.quantised(real, OUT_SCALE, OUT_ZERO))
    x = RANDOM.normal(0, 3, shape).astype(FLOAT)
    return is_equal(name, *run(dory, path, x, folder), elements(compute(grid(x))))


def front(name, build, kind=TensorProto.FLOAT):
    """Arithmetic in front of the first QuantizeLinear."""
    def check(dory, folder):
        model, path = Model([1, 3, 4, 5], kind), os.path.join(folder, name + ".onnx")
        real, compute = build(model, "x")
        a = model.quantised(real, FLOAT(2.0**-6), np.uint8(90))
        model.write(path, model.quantised(model.node("Neg", [a]), OUT_SCALE, OUT_ZERO))
        x = RANDOM.integers(0, 256, (1, 3, 4, 5)).astype(np.uint8 if kind == TensorProto.UINT8 else FLOAT)
        return is_equal(name, *run(dory, path, x, folder), elements(-grid(compute(x.astype(FLOAT)), FLOAT(2.0**-6), 90)))
    return check


MEANS, DEVIATIONS = np.array([120, 99.5, 130], FLOAT).reshape(3, 1, 1), np.array([64, 80, 50], FLOAT).reshape(3, 1, 1)


def normalised(m, x): return m.node("Div", [m.node("Sub", [x, MEANS]), DEVIATIONS]), lambda a: (a - MEANS) / DEVIATIONS


def of_bytes(m, x): return m.node("Mul", [m.node("Cast", [x], to=1), FLOAT(2.0**-7)]), lambda a: a * FLOAT(2.0**-7)


def turned_bytes(m, x):
    wanted = np.array([2, 1, 0])
    return m.node("Gather", [m.node("SpaceToDepth", [m.node("Slice", [x, np.array([0]), np.array([4]), np.array([3])])], blocksize=2),
                             wanted], axis=1), lambda a: a[..., :4].reshape(1, 3, 2, 2, 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 12, 2, 2)[:, wanted]


def is_one_table(dory, folder):
    """What check_kind has left of function_of_nodes."""
    done = subprocess.run([dory, "inspect", os.path.join(folder, "function_of_nodes.onnx")], capture_output=True, text=True)
    layers = [line.split() for line in done.stdout.splitlines() if line[:4].strip().isdigit()]
    if len(layers) == 1 and layers[0][2] == "table":
        return True
    print("function_of_nodes: not one table:", layers, done.stderr)
    return False


def run_kinds(kinds, *checks):
    """The program of a file of kinds: each is run, and each further check of the folder that they leave."""
    dory, good = sys.argv[1], True
    with tempfile.TemporaryDirectory() as folder:
        for name, shape, build in kinds:
            good &= check_kind(dory, folder, name, shape, build)
        for check in checks:
            good &= check(dory, folder)
    print(f"{len(kinds) + len(checks)} kinds" + ("" if good else ", not all as they should be"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(run_kinds(KINDS, front("normalised", normalised), front("of_bytes", of_bytes, TensorProto.UINT8), front("turned", turned_bytes),
                       is_one_table))
