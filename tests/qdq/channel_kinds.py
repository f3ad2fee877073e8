#!/usr/bin/python3
"""Small QDQ networks whose depth-wise convolutions read activations with a scale a channel, as NNCF quantises them, one kind of
what stands in front each, against numpy; as kinds.py.

usage: channel_kinds.py DORY      exit status 77: no python3-onnx
"""
import os
import subprocess
import sys

from kinds import FLOAT, IMAGE, RANDOM, SCALE, ZERO, grid, np, run_kinds, sloped_sums, sums_of_pixels

CHANNEL_SCALES, TAPS = (2.0**-np.array([3, 5, 4, 2, 6, 3])).astype(FLOAT), RANDOM.integers(-128, 128, (6, 1, 3, 3)).astype(np.int8)


def depthwise(m, x, scales):
    """A scale a channel in front of a depth-wise convolution, as NNCF quantises, and channels that change places between."""
    zero = np.zeros(len(scales), np.uint8)
    x = m.node("DequantizeLinear", [m.node("QuantizeLinear", [x, scales, zero], axis=1), scales, zero], axis=1)
    turned = m.node("Transpose", [m.node("Reshape", [x, np.array([1, 2, len(scales) // 2, 6, 5])])], perm=[0, 2, 1, 3, 4])
    w = m.node("DequantizeLinear", [TAPS[:len(scales)], FLOAT(2.0**-7), np.int8(0)])
    y = m.node("Conv", [m.node("Reshape", [turned, np.array([1, -1, 6, 5])]), w], group=len(scales), pads=[1, 1, 1, 1])
    def compute(a):
        steps = scales.reshape(1, -1, 1, 1).astype(np.float64)
        a = np.clip(np.rint(a / steps), 0, 255) * steps
        a = np.pad(a.reshape(1, 2, -1, 6, 5).transpose(0, 2, 1, 3, 4).reshape(1, -1, 6, 5), ((0, 0), (0, 0), (1, 1), (1, 1)))
        return sum(a[:, :, i:i + 6, k:k + 5] * TAPS[:len(scales), 0, i, k].reshape(1, -1, 1, 1) * 2.0**-7 for i in range(3) for k in range(3))
    return y, compute


def scaled_channels(m, x):
    sums, compute = sums_of_pixels(m, x)
    y, rest = depthwise(m, m.node("Relu", [sums]), CHANNEL_SCALES)
    return y, lambda a: rest(np.maximum(compute(a), 0))


def sloped_channels(m, x):
    """PRelu in front of such a convolution, as in MobileFaceNet."""
    slopes = np.array([0.5, -0.25, 0.75, 1, 0.125, 0.0625], FLOAT)
    sums, compute = sloped_sums(slopes)(m, x)
    y, rest = depthwise(m, sums, CHANNEL_SCALES)
    return y, lambda a: rest(compute(a))


def scaled_pairs(operator, compute, scales):
    """A sum, difference or product in front of such a convolution, as in networks that add what they decode."""
    def build(m, x):
        steps = SCALE * scales[:2]
        a, b = (m.quantised(m.node("MaxPool", [x], kernel_shape=[1, 3], pads=[0, i, 0, 2 - i]), steps[i], ZERO) for i in range(2))
        y, rest = depthwise(m, m.node(operator, [a, b]), scales[2:])
        def expected(x):
            low = np.pad(x, ((0, 0), (0, 0), (0, 0), (2, 2)), constant_values=-np.inf)
            a, b = (grid(np.max([low[..., 2 - i + k:7 - i + k] for k in range(3)], 0), steps[i]).astype(np.float64) for i in range(2))
            return rest(compute(a, b))
        return y, expected
    return build


ODD_SCALES = np.array([1.3717, 0.7331, 0.61371, 0.31873, 0.41931, 0.18971], FLOAT)
EVEN_SCALES = (2.0**np.array([0, -1, -4, -3, -2, -1])).astype(FLOAT)


def scaled_again(m, x): return depthwise(m, x, CHANNEL_SCALES[:4])


KINDS = [
    ("scaled_channels", IMAGE, scaled_channels), ("scaled_again", IMAGE, scaled_again), ("sloped_channels", IMAGE, sloped_channels),
    ("scaled_sum", IMAGE, scaled_pairs("Add", np.add, ODD_SCALES)), ("scaled_ties", IMAGE, scaled_pairs("Add", np.add, EVEN_SCALES)),
    ("scaled_difference", IMAGE, scaled_pairs("Sub", np.subtract, ODD_SCALES)),
    ("scaled_product_of_two", IMAGE, scaled_pairs("Mul", np.multiply, ODD_SCALES)),
]


def are_planned(dory, folder):
    """What check_kind has left of layers whose channels have a scale each."""
    names = [name for name, _, _ in KINDS]
    done = [subprocess.run([dory, "plan", os.path.join(folder, name + ".onnx"), "--target", "gap8"], capture_output=True, text=True) for name in names]
    for name, plan in zip(names, done):
        if plan.returncode:
            print(f"{name}: no plan:", plan.stderr)
    return not any(plan.returncode for plan in done)


if __name__ == "__main__":
    sys.exit(run_kinds(KINDS, are_planned))
