#!/usr/bin/python3
"""Constants that are no whole number of a tensor's units, and make exact halves of the output's.

usage: halves.py DORY      exit status 77: no python3-onnx
"""
import os
import subprocess
import sys
import tempfile

import kinds
from kinds import FLOAT, np


def added_halves(dory, folder, scale=FLOAT(0.0111424)):
    """A constant a channel that makes an exact half of the output where x is zero, and is no whole number of units of x."""
    model, path = kinds.Model(kinds.IMAGE), os.path.join(folder, "halves.onnx")
    halves = (np.array([0.5, 1.5, -2.5, 3]) * kinds.OUT_SCALE).astype(FLOAT)
    real = model.node("Add", [model.quantised("x", scale), halves.reshape(4, 1, 1)])
    model.write(path, model.quantised(real, kinds.OUT_SCALE, kinds.OUT_ZERO))
    steps = kinds.RANDOM.integers(-9, 10, kinds.IMAGE)
    steps[0, :, 0] = 0
    found, text = kinds.run(dory, path, (steps * scale).astype(FLOAT), folder)
    expected = steps * scale.astype(np.longdouble) + halves.reshape(4, 1, 1)
    return kinds.is_equal("added_halves", found, text, kinds.elements(expected))


def halves_both_ways(dory, folder):
    """No stage adds a third of a unit exactly, of which some halves go up to even and some go down."""
    model, path = kinds.Model(kinds.IMAGE), os.path.join(folder, "both.onnx")
    real = model.node("Add", [model.quantised("x", FLOAT(3 / 64)), np.array([1, 3, 5, 7], FLOAT).reshape(4, 1, 1) / 16])
    model.write(path, model.quantised(real, kinds.OUT_SCALE, kinds.OUT_ZERO))
    done = subprocess.run([dory, "inspect", path], capture_output=True, text=True)
    if done.returncode == 1 and "exact halves" in done.stderr:
        return True
    print("halves_both_ways:", done.returncode, done.stderr)
    return False


def main():
    with tempfile.TemporaryDirectory() as folder:
        good = [check(sys.argv[1], folder) for check in (added_halves, halves_both_ways)]
    return 0 if all(good) else 1


sys.exit(main())
