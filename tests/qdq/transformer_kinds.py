#!/usr/bin/python3
"""Small QDQ networks with what transformers and recurrent networks have, one kind each, against numpy; as kinds.py.

usage: transformer_kinds.py DORY      exit status 77: no python3-onnx
"""
import os
import subprocess
import sys

from kinds import (BOUNDS, FLOAT, IMAGE, Model, OUT_SCALE, OUT_ZERO, RANDOM, TensorProto, WEIGHTS, SCALE, elements, grid, is_equal, np,
                   numpy_helper, run, run_kinds)


def einsum(equation, split, second):
    """Two factors: of the tensor alone, or with a constant."""
    def build(m, x):
        y = m.node("Reshape", [x, np.array(split)])
        if second is None:
            return m.node("Einsum", [y, y], equation=equation), lambda a: np.einsum(
                equation, *[a.reshape(split).astype(np.float64)] * 2)
        w = m.node("DequantizeLinear", [second, FLOAT(2.0**-6), np.uint8(100)])
        return (m.node("Einsum", [w, y], equation=equation),
                lambda a: np.einsum(equation, (second.astype(np.float64) - 100) * 2.0**-6, a.reshape(split)))
    return build


def gemm_of_sums(m, x):
    """A step of an LSTM, whose MatMul and Add onnxruntime has joined: the bias is computed."""
    w = m.node("DequantizeLinear", [WEIGHTS, FLOAT(2.0**-7), np.int8(0)])
    u = m.node("DequantizeLinear", [WEIGHTS[::-1].copy(), FLOAT(2.0**-8), np.int8(0)])
    state = m.quantised(m.node("Gemm", [x, u]), FLOAT(2.0**-2), np.uint8(128))
    def compute(a):
        old = grid(a.astype(np.float64) @ (WEIGHTS[::-1] * 2.0**-8), FLOAT(2.0**-2), 128)
        return a.astype(np.float64) @ (WEIGHTS * 2.0**-7) + old
    return m.node("Gemm", [x, w, state]), compute


TABLES = RANDOM.integers(0, 256, (4, 2, 6)).astype(np.uint8)


def matrices_from_left(m, x):
    w = m.node("DequantizeLinear", [TABLES, FLOAT(2.0**-6), np.uint8(100)])
    return m.node("MatMul", [w, x]), lambda a: ((TABLES.astype(np.float64) - 100) * 2.0**-6) @ a


def matrices_from_right(m, x):
    w = m.node("DequantizeLinear", [TABLES.reshape(4, 6, 2)[:, :5], FLOAT(2.0**-6), np.uint8(100)])
    return m.node("MatMul", [x, w]), lambda a: a @ ((TABLES.reshape(4, 6, 2)[:, :5].astype(np.float64) - 100) * 2.0**-6)


def one_matrix(m, x):
    """Learned queries: a constant with a batch of 1."""
    w = m.node("DequantizeLinear", [TABLES[:1], FLOAT(2.0**-6), np.uint8(100)])
    rows = m.node("Reshape", [x, np.array([1, 6, 20])])
    return m.node("MatMul", [w, rows]), lambda a: ((TABLES[:1].astype(np.float64) - 100) * 2.0**-6) @ a.reshape(1, 6, 20)


def with_constant(m, x, shape):
    array = RANDOM.integers(0, 256, shape).astype(np.uint8)
    w = m.node("DequantizeLinear", [array, FLOAT(2.0**-6), np.uint8(100)])
    return m.node("Add", [x, w]), lambda a: a + (array.astype(np.float64) - 100) * 2.0**-6


def long_constant(m, x):
    """A bias of all scores, which has more elements than a tensor has channels."""
    return with_constant(m, x, (2, 200, 180))


STACK, UNITS = RANDOM.integers(-128, 128, (4, 2, 6)).astype(np.int8), (2.0 ** -np.arange(5, 9)).astype(FLOAT)


def stack(m, axis, array):
    """Matrices that each have a scale, or each row of which has: quantised per channel along a dimension that is not the last."""
    units = UNITS[:array.shape[axis]]
    w = m.node("DequantizeLinear", [array, units, np.zeros(len(units), np.int8)], axis=axis)
    return w, array.astype(np.float64) * units.reshape([-1 if i == axis else 1 for i in range(array.ndim)])


def stack_from_left(m, x):
    w, real = stack(m, 1, STACK)
    return m.node("MatMul", [w, x]), lambda a: real @ a


def stack_from_right(m, x):
    w, real = stack(m, 1, STACK.reshape(1, 4, 6, 2)[:, :, :5])
    return m.node("MatMul", [x, w]), lambda a: a @ real


def repeated_rows(m, x):
    """The same rows for each of the matrices."""
    w, real = stack(m, 0, STACK.reshape(4, 6, 2))
    return m.node("MatMul", [x, w]), lambda a: a @ real


def norm_of_rows(m, x):
    rows = m.node("Reshape", [x, np.array([6, 4, 5])])
    scale, shift = FLOAT([1, 0.5, 2, 1]), FLOAT([0, 1, -1, 0.25])
    def compute(a):
        b = a.astype(np.float64).reshape(6, 4, 5)
        b = (b - b.mean(2, keepdims=True)) / np.sqrt(b.var(2, keepdims=True) + 1e-5)
        return b * scale[:, None] + shift[:, None]
    return m.node("InstanceNormalization", [rows, scale, shift]), compute


FILTERS = RANDOM.integers(-20, 21, (3, 2, 3, 2)).astype(np.int8)


def images(kind, **attributes):
    """A window over each image of a batch: padded above, so that rows lie between the images."""
    def build(m, x):
        batch = m.node("Reshape", [x, np.array([4, 2, 5, 6])])
        w = [m.node("DequantizeLinear", [FILTERS, FLOAT(2.0**-6), np.int8(0)])] if kind == "Conv" else []
        def compute(a):
            a = a.astype(np.float64).reshape(4, 2, 5, 6)
            a = np.pad(a, ((0, 0), (0, 0), (1, 1), (0, 0)), constant_values=-np.inf if kind == "MaxPool" else 0)
            windows = np.lib.stride_tricks.sliding_window_view(a, (3, 2), (2, 3))[:, :, ::2]
            return {"Conv": lambda: np.einsum("nchwij,ocij->nohw", windows, FILTERS * 2.0**-6), "MaxPool": lambda: windows.max((4, 5)),
                    "AveragePool": lambda: windows.mean((4, 5))}[kind]()
        return m.node(kind, [batch] + w, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 0], **attributes), compute
    return build


def signals(m, x):
    """Signals of several sources, each decoded by the same filters: rows of one image."""
    w = m.node("DequantizeLinear", [FILTERS[:, :, :, 0].copy(), FLOAT(2.0**-6), np.int8(0)])
    batch = m.node("Reshape", [x, np.array([8, 3, 5])])
    def compute(a):
        spread = np.zeros((8, 2, 11))
        for t in range(5):
            spread[:, :, 2 * t:2 * t + 3] += np.einsum("nc,cok->nok", a.astype(np.float64).reshape(8, 3, 5)[:, :, t], FILTERS[:, :, :, 0] * 2.0**-6)
        return spread
    return m.node("ConvTranspose", [batch, w], strides=[2]), compute


def frame(m, x):
    w = m.node("DequantizeLinear", [WEIGHTS[:5], FLOAT(2.0**-7), np.int8(0)])
    return m.node("MatMul", [m.node("Gather", [x, np.array(1)], axis=1), w]), lambda a: a[:, 1] @ (WEIGHTS[:5] * 2.0**-7)


MASK = np.tril(np.ones((6, 5), bool))


def masked_scores(m, x):
    """A constant mask of scores that are divided by what is no power of two."""
    divided = m.node("Div", [x, FLOAT(2.8284271)])
    return m.node("Where", [MASK, divided, FLOAT(-7.5)]), lambda a: np.where(MASK, a / FLOAT(2.8284271), FLOAT(-7.5))


def filled_scores(m, x):
    divided = m.node("Div", [x, FLOAT(2.8284271)])
    return m.node("Where", [~MASK, BOUNDS, divided]), lambda a: np.where(~MASK, BOUNDS, a / FLOAT(2.8284271))


def selected(m, x):
    """One of two functions, by a row that is compared."""
    top = m.quantised(m.node("ReduceMax", [x], axes=[2], keepdims=1))
    above = m.node("Greater", [top, FLOAT(4)])
    y = m.node("Where", [above, m.node("Sigmoid", [x]), m.node("Mul", [top, FLOAT(0.3)])])
    def compute(a):
        most = grid(a.max(2, keepdims=True))
        return np.where(most > 4, 1 / (1 + np.exp(-a.astype(np.float64))), (most * FLOAT(0.3)).astype(np.float64))
    return y, compute


def batch_second(m, x):
    """Tokens, a batch of 1, features: torch without batch_first."""
    w = m.node("DequantizeLinear", [WEIGHTS, FLOAT(2.0**-7), np.int8(0)])
    rows = m.node("MatMul", [x, w])
    return m.node("Transpose", [rows], perm=[2, 1, 0]), lambda a: (a.astype(np.float64) @ (WEIGHTS * 2.0**-7)).transpose(2, 1, 0)


def of_more_dimensions(m, x):
    """A folded constant of three dimensions in a recurrent step of two: the result has three."""
    w = m.node("DequantizeLinear", [WEIGHTS[:, :1].reshape(1, 1, 20).copy(), FLOAT(2.0**-5), np.int8(0)])
    sums = m.quantised(m.node("Add", [w, x]), FLOAT(2.0**-4), np.uint8(120))
    def compute(a):
        real = grid(a.astype(np.float64) + WEIGHTS[:, 0] * 2.0**-5, FLOAT(2.0**-4), 120)
        return np.concatenate([real, real], 1)
    return m.node("Concat", [sums, sums], axis=2), compute


def centred(axes, length=1):
    """What elements are more than their mean, rounded by itself: as of a deviation that is written out."""
    def build(m, x):
        wide = m.node("Concat", [x] * length, axis=-1) if length > 1 else x
        y = m.node("Sub", [wide, m.node("ReduceMean", [wide], axes=axes, keepdims=1)])
        def compute(a):
            a = np.concatenate([a.astype(np.float64)] * length, -1)
            return a - a.mean(tuple(axes), keepdims=True)
        return m.quantised(y, FLOAT(2.0**-3), np.uint8(120)), lambda a: grid(compute(a), FLOAT(2.0**-3), 120)
    return build


KINDS = [
    ("einsum_scores", IMAGE, einsum("bihd,bjhd->bhij", [1, 8, 3, 5], None)),
    ("einsum_ellipsis", IMAGE, einsum("...qd,...kd->...qk", [1, 8, 3, 5], None)),
    ("einsum_stack", IMAGE, einsum("hB, ...B j->...h j", [2, 6, 10], TABLES[:, 0].copy())),
    ("einsum_outer", [1, 4, 3, 2], einsum("bch,bdi->bcdhi", [1, 8, 3], None)),
    ("long_constant", [1, 2, 200, 180], long_constant),
    ("einsum_scales", IMAGE, einsum("dn,bd->bnd", [1, 120], RANDOM.integers(0, 256, (120, 3)).astype(np.uint8))),
    ("einsum_weights", IMAGE, einsum("ec, bchw->bhew", IMAGE, TABLES[:, 0, :4].copy())),
    ("einsum_heads", IMAGE, einsum("hdk,bhtk->bthd", [1, 4, 5, 6], TABLES)),
    ("matrices_from_left", IMAGE, matrices_from_left), ("matrices_from_right", IMAGE, matrices_from_right),
    ("stack_from_left", IMAGE, stack_from_left), ("stack_from_right", IMAGE, stack_from_right),
    ("repeated_rows", [1, 1, 5, 6], repeated_rows), ("norm_of_rows", IMAGE, norm_of_rows), ("frame", [1, 2, 3, 4, 5], frame),
    ("images_conv", [1, 8, 5, 6], images("Conv")), ("images_maximum", [1, 8, 5, 6], images("MaxPool")),
    ("images_average", [1, 8, 5, 6], images("AveragePool", count_include_pad=1)), ("signals", IMAGE, signals),
    ("one_matrix", IMAGE, one_matrix), ("masked_scores", IMAGE, masked_scores), ("filled_scores", IMAGE, filled_scores),
    ("selected", IMAGE, selected), ("batch_second", [9, 1, 20], batch_second), ("gemm_of_sums", [1, 20], gemm_of_sums),
    ("of_more_dimensions", [1, 20], of_more_dimensions),
    ("centred_rows", IMAGE, centred([-1])), ("centred_channels", IMAGE, centred([1])), ("centred_images", IMAGE, centred([2, 3])),
    ("centred_long_rows", [1, 6, 30], centred([-1], 40)),
]


def left_map(dory, folder):
    """Scores whose logarithm over the heads nobody quantises: the firmware gives the model's own tensor, in its order."""
    model, path = Model([1, 6, 20]), os.path.join(folder, "map.onnx")
    heads = model.node("Transpose", [model.node("Reshape", [model.quantised("x"), np.array([6, 4, 5])])], perm=[1, 0, 2])
    other = model.node("Transpose", [heads], perm=[0, 2, 1])
    scores = model.quantised(model.node("MatMul", [heads, other]), OUT_SCALE, OUT_ZERO)
    model.write(path, model.node("ReduceLogSumExp", [scores], axes=[0], keepdims=0))
    x = RANDOM.normal(0, 1, (1, 6, 20)).astype(FLOAT)
    found, text = run(dory, path, x, folder)
    a = grid(x).reshape(6, 4, 5).transpose(1, 0, 2).astype(np.float64)
    if found is not None and found.shape != (4, 6, 6):
        found, text = None, f"shape {found.shape}"
    return is_equal("left_map", found, text, elements(a @ a.transpose(0, 2, 1)))


def has_plan(dory, path):
    plan = subprocess.run([dory, "plan", path, "--target", "gap8"], capture_output=True, text=True)
    return plan.returncode == 0 or print(path, plan.stderr) or False


def long_constant_in_l1(dory, folder):
    """Its parts are no longer than L1 holds."""
    model, path = Model([1, 2, 160, 400]), os.path.join(folder, "long.onnx")
    real, _ = with_constant(model, model.quantised("x"), (2, 160, 400))
    model.write(path, model.quantised(real, OUT_SCALE, OUT_ZERO))
    return has_plan(dory, path)


LARGE_ORDERS = [
    ([8, 8, 8, 192], [2, 1, 0, 3]),        # heads of pixels that are taken column by column
    ([2, 8, 2, 8, 256], [2, 0, 3, 1, 4]),  # windows of an image
    ([12, 10, 9, 64], [3, 2, 1, 0]),
    ([4, 6, 5, 7, 96], [3, 4, 1, 0, 2]),
]


def large_orders(dory, folder):
    """Four and more dimensions in another order, of tensors that are larger than L1: there are plans."""
    for i, (shape, order) in enumerate(LARGE_ORDERS):
        pixels = [1, int(np.prod(shape[:-1])), shape[-1]]
        model, path = Model(pixels), os.path.join(folder, f"large_order_{i}.onnx")
        turned = model.node("Transpose", [model.node("Reshape", [model.quantised("x"), np.array(shape)])], perm=order)
        model.write(path, model.quantised(model.node("Neg", [turned]), OUT_SCALE, OUT_ZERO))
        x = RANDOM.normal(0, 3, pixels).astype(FLOAT)
        if not has_plan(dory, path) or not is_equal(path, *run(dory, path, x, folder), elements(-grid(x).reshape(shape).transpose(order))):
            return False
    return True


def repeated_order(dory, folder):
    """A matrix of heads that is turned, of which one is taken twice: both at once would need all of it in L1."""
    model, path = Model([1, 300, 400]), os.path.join(folder, "repeated_order.onnx")
    heads = model.node("Reshape", [model.quantised(model.node("Neg", [model.quantised("x")])), np.array([300, 2, 200])])
    taken = model.node("Gather", [model.node("Transpose", [heads], perm=[1, 2, 0]), np.array([0, 0])], axis=0)
    model.write(path, model.quantised(model.node("Softmax", [taken], axis=-1), FLOAT(2.0**-8), np.uint8(0)))
    return has_plan(dory, path)


EMBEDDING = RANDOM.integers(0, 256, (40, 6)).astype(np.uint8)


def words(folder):
    """Rows of a matrix by the input's words: the network's own input are the rows."""
    model, path = Model([1, 5], TensorProto.INT64), os.path.join(folder, "words.onnx")
    table = model.node("DequantizeLinear", [EMBEDDING, FLOAT(2.0**-6), np.uint8(100)])
    rows = model.quantised(model.node("Gather", [table, "x"]), FLOAT(2.0**-6), np.uint8(100))
    model.write(path, model.quantised(model.node("Neg", [rows]), OUT_SCALE, OUT_ZERO))
    return path


def looked_up(dory, folder):
    x = np.array([[3, 39, 0, -1, 3]])
    return is_equal("looked_up", *run(dory, words(folder), x, folder), elements(-(EMBEDDING[x].astype(np.float64) - 100) * 2.0**-6))


def looked_up_elements(dory, folder):
    """Of a matrix that is dequantised behind the look-up, by indices of another shape."""
    for kind in np.uint8, np.int8:
        model, path, zero = Model([1, 5], TensorProto.INT64), os.path.join(folder, "elements.onnx"), kind(20)
        table = EMBEDDING.view(kind)
        rows = model.node("Gather", [table, model.node("Reshape", ["x", np.array([5])])])
        model.write(path, model.quantised(model.node("Neg", [model.node("DequantizeLinear", [rows, FLOAT(2.0**-6), zero])]), OUT_SCALE, OUT_ZERO))
        x = np.array([[3, 39, 0, 7, 3]])
        if not is_equal("looked_up_elements", *run(dory, path, x, folder), elements(-(table[x].astype(np.float64) - 20) * 2.0**-6)):
            return False
    return True


def no_such_word(dory, folder):
    found, text = run(dory, words(folder), np.array([[3, 40, 0, 1, 3]]), folder)
    good = found is None and "number 1 is 40" in text and "has 40 rows" in text
    return good or print("no_such_word:", text)


def words_in_files(dory, folder):
    """A row has as many elements as an index has bytes; files have either, and bytes are no indices."""
    model, path, x = Model([1, 5], TensorProto.INT64), os.path.join(folder, "files.onnx"), np.array([[3, 29, 0, -1, 3]])
    table = EMBEDDING.reshape(30, 8)
    rows = model.quantised(model.node("Gather", [model.node("DequantizeLinear", [table, FLOAT(2.0**-6), np.uint8(100)]), "x"]),
                           FLOAT(2.0**-6), np.uint8(100))
    model.write(path, model.quantised(model.node("Neg", [rows]), OUT_SCALE, OUT_ZERO))
    expected = elements(-(table[x].astype(np.float64) - 100) * 2.0**-6)
    files = [os.path.join(folder, name) for name in ("words.bin", "words.txt", "bytes.bin")]
    x.tofile(files[0])
    np.savetxt(files[1], x.ravel(), "%d")
    x.astype(np.int8).tofile(files[2])
    for file, good in zip(files, (True, True, False)):
        done = subprocess.run([dory, "run", path, "--quiet", "--input", file, "--output", path + ".npy"], capture_output=True, text=True)
        if good and not is_equal(file, np.load(path + ".npy") if done.returncode == 0 else None, done.stderr, expected):
            return False
        if not good and (done.returncode != 1 or "8 bytes each" not in done.stderr):
            return print(file, done.stderr)
    return True


def name_of_words(dory, folder):
    """The table's name does not end the comment that it stands in."""
    model, path, table = Model([1, 5], TensorProto.INT64), os.path.join(folder, "name.onnx"), "a */ b"
    model.constants.append(numpy_helper.from_array(EMBEDDING.astype(FLOAT), table))
    model.write(path, model.quantised(model.node("Neg", [model.quantised(model.node("Gather", [table, "x"]))])))
    done = subprocess.run([dory, "generate", path, "--target", "gap8", "--output-dir", folder], capture_output=True, text=True)
    if done.returncode:
        return print("name_of_words:", done.stderr)
    with open(os.path.join(folder, "name.h")) as file:
        return table not in file.read() or print("name_of_words: a comment ends early")


def words_of_two_scales(dory, folder):
    """Two tables that are made of one constant."""
    model, path, table = Model([1, 5], TensorProto.INT64), os.path.join(folder, "two_scales.onnx"), "table"
    model.constants.append(numpy_helper.from_array(EMBEDDING, table))
    rows = [model.quantised(model.node("Gather", [model.node("DequantizeLinear", [table, FLOAT(scale), np.uint8(100)]), "x"]))
            for scale in (2.0**-6, 2.0**-5)]
    model.write(path, model.quantised(model.node("Add", rows), OUT_SCALE, OUT_ZERO))
    found, text = run(dory, path, np.zeros((1, 5), np.int64), folder)
    good = found is None and "one table an input" in text
    return good or print("words_of_two_scales:", text)


def words_that_are_none(dory, folder):
    """Rows of what is no number are taken as an input's are: the lowest element."""
    model, path = Model([1, 5], TensorProto.INT64), os.path.join(folder, "none.onnx")
    rows = model.quantised(model.node("Gather", [np.full((3, 6), np.nan, FLOAT), "x"]))
    model.write(path, model.quantised(model.node("Neg", [rows]), OUT_SCALE, OUT_ZERO))
    found, text = run(dory, path, np.zeros((1, 5), np.int64), folder)
    return is_equal("words_that_are_none", found, text, elements(np.full((1, 5, 6), 100 * float(SCALE))))


def computed_words(dory, folder):
    """Arithmetic of indices is the application's."""
    model, path = Model([1, 5], TensorProto.INT64), os.path.join(folder, "computed_words.onnx")
    table = model.node("DequantizeLinear", [EMBEDDING, FLOAT(2.0**-6), np.uint8(100)])
    both = model.node("Add", [model.node("Gather", [table, "x"]), model.node("Cast", [model.node("Neg", ["x"])], to=1)])
    model.write(path, model.quantised(both, OUT_SCALE, OUT_ZERO))
    found, text = run(dory, path, np.zeros((1, 5), np.int64), folder)
    good = found is None and "computes with indices" in text
    return good or print("computed_words:", text)


def whole_mask(dory, folder):
    """A mask of 64-bit integers, of which the model makes real numbers in front of its quantiser."""
    model, path = Model([1, 20], TensorProto.INT64), os.path.join(folder, "mask.onnx")
    real = model.node("Mul", [model.node("Sub", [np.array(1, FLOAT), model.node("Cast", ["x"], to=1)]), np.array(-20, FLOAT)])
    mask = model.quantised(real, FLOAT(2.0**-3), np.uint8(200))
    model.write(path, model.quantised(model.node("Neg", [mask]), OUT_SCALE, OUT_ZERO))
    x = RANDOM.integers(0, 2, (1, 20))
    return is_equal("whole_mask", *run(dory, path, x, folder), elements(-grid(-20.0 * (1 - x), FLOAT(2.0**-3), 200)))


STEPS, STEP_SCALES, STEP_ZEROS = (3, 0, 1), FLOAT([2.0**-3, 2.0**-4, 2.0**-5]), (90, 130, 20)
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def time_steps(dory, folder):
    """Steps of an input that are quantised one by one, as an unrolled network has them; one of the four is not read."""
    for kind, less in (np.uint8, 0), (np.int8, 128):
        model, path = Model([1, 4, 6]), os.path.join(folder, f"steps_{less}.onnx")
        x, state, expected = RANDOM.normal(0, 2, (1, 4, 6)).astype(FLOAT), None, np.zeros((1, 6))
        for step, scale, zero in zip(STEPS, STEP_SCALES, STEP_ZEROS):
            new = model.quantised(model.node("Gather", ["x", np.array(step)], axis=1), scale, kind(zero - less))
            state = model.quantised(model.node("Add", [state, new]) if state else new, SCALE, kind(100 - less))
            expected = grid(expected + grid(x[:, step], scale, zero), SCALE, 100)
        model.write(path, model.quantised(model.node("Neg", [state]), OUT_SCALE, OUT_ZERO))
        if not is_equal(path, *run(dory, path, x, folder), elements(-expected)) or not has_parts(dory, folder, path, x):
            return False
    return True


HOST = r"""
#include <stdio.h>
#include "KWS.h"
int main(void)
{
    static float sound[KWS_INPUT_BYTES];
    static uint8_t input[KWS_INPUT_BYTES];
    fread(sound, sizeof sound, 1, stdin);
@LOOP@
    fwrite(input, sizeof input, 1, stdout);
    return 0;
}
"""


def documented_loop():
    """How docs/transformers.md quantises such an input."""
    with open(os.path.join(SOURCE, "docs/transformers.md"), encoding="utf-8") as file:
        return next(block for block in file.read().split("```c\n")[1:] if "KWS_INPUT_PARTS" in block).split("```")[0]


def has_parts(dory, folder, path, x):
    """The header tells the application: elements 0 to 5, 6 to 17, and the rest. The loop of the documents uses it rightly."""
    done = subprocess.run([dory, "generate", path, "--target", "gap8", "--output-dir", folder, "--name", "KWS"], capture_output=True, text=True)
    with open(os.path.join(folder, "KWS.h")) as file:
        header = file.read()
    wanted = ("KWS_INPUT_PARTS 3", "KWS_INPUT_FIRST {0, 6, 18}", "KWS_INPUT_SCALES {6.25", "KWS_INPUT_ZERO_POINTS {130, 20, 90}",
              "KWS_quantise_input(float real, int part)")
    missing = [text for text in wanted if text not in header]
    if missing:
        print("time_steps:", done.stderr, missing)
        return False
    program = os.path.join(folder, "quantise")
    with open(program + ".c", "w") as file:
        file.write(HOST.replace("@LOOP@", documented_loop()))
    folders = ["-I" + os.path.join(SOURCE, part) for part in ("kernels/include", "hal/include")]
    subprocess.run([os.environ.get("CC", "cc"), *folders, program + ".c", "-o", program, "-lm"], check=True)
    found = np.frombuffer(subprocess.run([program], input=x.tobytes(), capture_output=True, check=True).stdout, np.uint8).reshape(4, 6)
    expected = [grid(x[0, step], scale, zero) / scale + zero for step, scale, zero in zip(STEPS, STEP_SCALES, STEP_ZEROS)]
    return is_equal("the documents' loop", found[list(STEPS)], "", np.array(expected))


def part_of_a_part(dory, folder):
    """Columns of a slice, each with a scale of its own: parts take turns in memory."""
    model, path = Model([1, 4, 6]), os.path.join(folder, "columns.onnx")
    rows = model.node("Slice", ["x", np.array([1]), np.array([3]), np.array([1])])
    halves = model.node("Split", [rows, np.array([4, 2])], 2, axis=2)
    a, b = (model.quantised(half, scale, np.uint8(zero)) for half, scale, zero in zip(halves, STEP_SCALES, STEP_ZEROS))
    b = model.quantised(model.node("Neg", [b]), OUT_SCALE, OUT_ZERO)
    a = model.quantised(model.node("Neg", [a]), OUT_SCALE, OUT_ZERO)
    model.write(path, model.quantised(model.node("Concat", [b, a], axis=2), OUT_SCALE, OUT_ZERO))
    x = RANDOM.normal(0, 2, (1, 4, 6)).astype(FLOAT)
    expected = [-grid(part, scale, zero) for part, scale, zero in zip((x[:, 1:3, :4], x[:, 1:3, 4:]), STEP_SCALES, STEP_ZEROS)]
    return is_equal("part_of_a_part", *run(dory, path, x, folder), elements(np.concatenate(expected[::-1], 2)))


LEAST = 2.0**127  # the mask of is_causal where an exporter has no minus infinity: the least float32, which takes the whole scale


def far_scales(dory, folder):
    """Scores and a mask, whose scales are far apart: the result has the mask's scale, half of it, so that halves are decided by the sign
    of the scores, that of the scores, or one in between."""
    x, mask = RANDOM.normal(0, 2, (1, 4, 6)).astype(FLOAT), RANDOM.integers(0, 3, (4, 6)).astype(np.uint8)
    for scale in LEAST / 256, LEAST / 128, 2.0**-4, 2.0**20:
        for is_swapped in False, True:
            model, path = Model([1, 4, 6]), os.path.join(folder, "far.onnx")
            terms = [model.quantised("x"), model.node("DequantizeLinear", [mask, FLOAT(LEAST / 256), np.uint8(2)])]
            model.write(path, model.quantised(model.node("Add", terms[::-1] if is_swapped else terms), FLOAT(scale), np.uint8(200)))
            scores, lowest = grid(x).astype(np.float64), (mask.astype(np.float64) - 2) * LEAST / 256
            halves = np.where(scores > 0, 0.25, np.where(scores < 0, -0.25, 0))  # what float64 loses beside the mask
            steps = np.where(lowest == 0, scores / scale, lowest / scale + (halves if scale > 2.0**64 else 0))
            expected = np.clip(np.rint(steps) + 200, 0, 255)
            if not is_equal(f"far_scales {scale:g}", *run(dory, path, x, folder), expected):
                return False
    return True


if __name__ == "__main__":
    sys.exit(run_kinds(KINDS, far_scales, time_steps, part_of_a_part, left_map, long_constant_in_l1, large_orders, repeated_order, looked_up, looked_up_elements, no_such_word, words_in_files, name_of_words,
                       words_of_two_scales, words_that_are_none, computed_words, whole_mask))
