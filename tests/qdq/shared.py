#!/usr/bin/python3
"""The shared QDQ networks by `dory run`, against the integers that came with them.

usage: shared.py DORY FOLDER...      exit status 77: no folder is there
At most one element in 10,000 of a folder may differ, and by no more than one: onnxruntime rounds in float32.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)


def element_type(folder):
    with open(os.path.join(folder, "golden.json")) as file:
        return np.dtype(json.load(file)["outputs"][0]["type"])


def differences(dory, folder, k, scratch):
    """Elements, how many differ, and by how much at most."""
    actual = os.path.join(scratch, "output.bin")
    subprocess.run([dory, "run", f"{folder}/model.onnx", "--quiet", "--input", f"{folder}/input_{k}.bin", "--output", actual],
                   check=True)
    type_of_element = element_type(folder)
    expected = np.fromfile(f"{folder}/output_{k}.bin", type_of_element).astype(int)
    found = np.fromfile(actual, type_of_element).astype(int)
    if expected.size != found.size:
        raise SystemExit(f"{folder}: output {k} has {found.size} elements, expected {expected.size}")
    distance = np.abs(expected - found)
    return expected.size, int((distance > 0).sum()), int(distance.max())


def check(dory, folder):
    elements = different = most = 0
    with tempfile.TemporaryDirectory() as scratch:
        k = 0
        while os.path.exists(f"{folder}/input_{k}.bin"):
            size, wrong, distance = differences(dory, folder, k, scratch)
            elements, different, most, k = elements + size, different + wrong, max(most, distance), k + 1
    print(f"{os.path.basename(folder)}: {different} of {elements} elements of {k} inputs differ, by {most} at most")
    return k > 0 and different * 10000 <= elements and most <= 1


def main():
    dory, folders = sys.argv[1], sys.argv[2:]
    present = [folder for folder in folders if os.path.exists(f"{folder}/model.onnx")]
    if not present:
        print("skipped: none of the folders is there")
        return 77
    return 0 if all([check(dory, folder) for folder in present]) else 1


sys.exit(main())
