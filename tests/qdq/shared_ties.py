#!/usr/bin/python3
"""The shared network "mixed", which interpolates at a scale that it keeps: 1 element in 50 is an exact tie, which float32 rounds
one way or the other, and what follows carries it on. So the way goes over the independent implementation (reference.py):
dory equals it in every element, and with the interpolation in float32, which differs at exact ties only, it equals the
integers in front of the float head that came with the network, but for one element in 10,000.

usage: shared_ties.py DORY FOLDER...      exit status 77: no folder, or no python3-onnx
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import reference
except ImportError:
    print("skipped: no onnx or numpy; on Debian: apt-get install python3-onnx python3-numpy")
    sys.exit(77)


def by_dory(dory, folder, k, kind):
    with tempfile.TemporaryDirectory() as scratch:
        output = f"{scratch}/output.bin"
        subprocess.run([dory, "run", f"{folder}/model.onnx", "--quiet", "--input", f"{folder}/input_{k}.bin", "--output", output],
                       check=True)
        return np.fromfile(output, kind)


def check(dory, folder):
    with open(f"{folder}/golden.json") as file:
        golden = json.load(file)
    ends = golden["inputs"][0], golden["outputs"][0]
    model = onnx.load(f"{folder}/model.onnx")
    elements = different = ties = unequal = 0
    for k in range(3):
        image = np.fromfile(f"{folder}/input_{k}.bin", ends[0]["type"]).reshape(ends[0]["shape"])
        expected = np.fromfile(f"{folder}/output_{k}.bin", ends[1]["type"])
        network = reference.Network(model, interpolate_in_float32=True)
        different += int((network.run(image, ends[1]["float_head"]).ravel() != expected).sum())
        exact = reference.Network(model).run(image, ends[1]["float_head"]).ravel()
        unequal += int((exact != by_dory(dory, folder, k, ends[1]["type"])).sum())
        elements, ties = elements + expected.size, ties + network.ties
    print(f"{os.path.basename(folder)}: {different} of {elements} elements differ but for {ties} ties; {unequal} differ from dory")
    return different * 10000 <= elements and unequal == 0


def main():
    dory, folders = sys.argv[1], [folder for folder in sys.argv[2:] if os.path.exists(f"{folder}/model.onnx")]
    if not folders:
        print("skipped: none of the folders is there")
        return 77
    return 0 if all([check(dory, folder) for folder in folders]) else 1


sys.exit(main())
