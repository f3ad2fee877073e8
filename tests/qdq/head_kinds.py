#!/usr/bin/python3
"""Small QDQ networks whose end is not quantised: the firmware gives sums or what is in front, against numpy; as kinds.py.

usage: head_kinds.py DORY      exit status 77: no python3-onnx
"""
import os
import subprocess
import sys

from kinds import WEIGHTS, BIAS, IMAGE, RANDOM, FLOAT, SCALE, Model, grid, is_equal, np, run, run_kinds


def sums_of_channels(dory, folder, head=None):
    """A last product without a QuantizeLinear, whose scales differ: real numbers. So with a function behind, which is the
    application's."""
    model, path = Model([1, 20]), os.path.join(folder, "sums.onnx")
    scales = (2.0**-np.arange(5, 12)).astype(FLOAT)
    w = model.node("DequantizeLinear", [WEIGHTS, scales, np.zeros(7, np.int8)], axis=1)
    sums = model.node("Gemm", [model.quantised("x"), w, BIAS * scales[::-1].max()])
    model.write(path, model.node(head, [sums]) if head else sums)
    x = RANDOM.normal(0, 3, (1, 20)).astype(FLOAT)
    found, text = run(dory, path, x, folder)
    expected = grid(x).astype(np.float64) @ (WEIGHTS * scales.astype(np.float64)) + BIAS * scales[::-1].max()
    unit = SCALE * scales.astype(np.float64)
    if found is not None and found.dtype == FLOAT and np.all(np.abs(found.ravel() - expected.ravel()) <= 0.51 * unit + 1e-6):
        return True
    print("sums_of_channels:", text, found, expected)
    return False


def sums_in_front(dory, folder): return sums_of_channels(dory, folder, "Sigmoid")


def last_average(dory, folder):
    """A last mean that nobody quantises: sums."""
    model, path = Model(IMAGE), os.path.join(folder, "average.onnx")
    model.write(path, model.node("Flatten", [model.node("GlobalAveragePool", [model.quantised("x")])]))
    x = RANDOM.normal(0, 3, IMAGE).astype(FLOAT)
    return is_equal("last_average", *run(dory, path, x, folder), (grid(x) / SCALE).sum((2, 3)).astype(np.float64))


def left_norm(dory, folder):
    """A last norm that nobody quantises: the firmware gives what it is of, and the note names all of it."""
    model, path = Model([1, 20]), os.path.join(folder, "norm.onnx")
    x = model.quantised("x")
    length = model.node("Clip", [model.node("ReduceL2", [x], axes=[1], keepdims=1), FLOAT(1e-12)])
    model.write(path, model.node("Div", [x, model.node("Expand", [length, np.array([1, 20])])]))
    done = subprocess.run([dory, "inspect", path], capture_output=True, text=True)
    if done.returncode == 0 and all(name in done.stderr for name in ("ReduceL2 '", "Clip '", "Expand '", "Div '", "left to the application")):
        return True
    print("left_norm:", done.returncode, done.stderr)
    return False


def left_length(dory, folder):
    """A last part of a norm: the application's, like all of it."""
    model, path = Model([1, 20]), os.path.join(folder, "length.onnx")
    model.write(path, model.node("ReduceL2", [model.quantised("x")], axes=[1], keepdims=0))
    done = subprocess.run([dory, "inspect", path], capture_output=True, text=True)
    if done.returncode == 0 and "ReduceL2 '" in done.stderr and "left to the application" in done.stderr:
        return True
    print("left_length:", done.returncode, done.stderr)
    return False


def left_choice(dory, folder):
    """A last Where, as of the peaks of a heat map: the application gets truths, 0 and 1."""
    model, path = Model(IMAGE), os.path.join(folder, "choice.onnx")
    x = model.quantised("x")
    y = model.quantised(model.node("MaxPool", [x], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
    model.write(path, model.node("Where", [model.node("Equal", [x, y]), x, FLOAT(-1)]))
    a = RANDOM.normal(0, 3, IMAGE).astype(FLOAT)
    np.save(os.path.join(folder, "choice.npy"), a)
    outputs = [os.path.join(folder, f"choice{i}.npy") for i in range(2)]
    done = subprocess.run([dory, "run", path, "--quiet", "--input", os.path.join(folder, "choice.npy"), *(word for name in outputs for word in ("--output", name))],
                          capture_output=True, text=True)
    padded = np.pad(grid(a), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-99)
    peaks = np.max([padded[:, :, i:i + 6, j:j + 5] for i in range(3) for j in range(3)], 0)
    found = [np.load(name) for name in outputs] if done.returncode == 0 else []
    if any(array.size == a.size and np.array_equal(array.ravel(), (peaks == grid(a)).ravel()) for array in found):
        return True
    print("left_choice:", done.returncode, done.stderr)
    return False


if __name__ == "__main__":
    sys.exit(run_kinds([], sums_of_channels, sums_in_front, last_average, left_norm, left_length, left_choice))
