#!/usr/bin/env python3
"""Deeploy's test networks of integers: every number of every output of `dory run` is the one that comes with them.

usage: deeploy.py DORY FOLDER NAME...     exit status 77: no FOLDER

FOLDER is DeeployTest/Tests of a checkout of pulp-platform/Deeploy; NAME a folder in it, with network.onnx, inputs.npz and
outputs.npz. Files do not say whether inputs have a sign: they have where a number is below zero.
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
except ImportError as missing:
    print(f"skipped: {missing}; on Debian: apt-get install python3-numpy python3-onnx")
    sys.exit(77)


def arrays_of(path, names):
    """In the graph's order: by their names, or else by the numbers in these."""
    with np.load(path, allow_pickle=True) as file:
        keys = names if set(names) <= set(file.files) else sorted(file.files, key=lambda key: [int(n) for n in re.findall(r"\d+", key)])
        return [file[key] for key in keys]


def check(dory, folder):
    """What is wrong, or None."""
    model = f"{folder}/network.onnx"
    graph = onnx.load(model).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = arrays_of(f"{folder}/inputs.npz", [i.name for i in graph.input if i.name not in constants])
    expected = arrays_of(f"{folder}/outputs.npz", [o.name for o in graph.output])
    is_signed = any(x.min() < 0 for x in inputs)
    with tempfile.TemporaryDirectory() as place:
        command = [dory, "run", model, "--quiet"] + (["--input-signed"] if is_signed else [])
        for i, x in enumerate(inputs):
            x.astype(np.int8 if is_signed else np.uint8).tofile(f"{place}/input_{i}.bin")
            command += ["--input", f"{place}/input_{i}.bin"]
        for i in range(len(expected)):
            command += ["--output", f"{place}/output_{i}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return done.stderr.strip()
        for i, wanted in enumerate(expected):
            found = np.load(f"{place}/output_{i}.npy")
            if found.size != wanted.size:
                return f"output {i} has {found.size} elements, expected {wanted.size}"
            wrong = int((found.ravel().astype(np.int64) != wanted.ravel().astype(np.int64)).sum())
            if wrong:
                return f"output {i}: {wrong} of {wanted.size} elements are wrong"
    options = ["--input-signed"] if is_signed else []
    plan = subprocess.run([dory, "plan", model, "--target", "gap8", "--quiet"] + options, capture_output=True, text=True, timeout=300)
    return f"no plan: {plan.stderr.strip()}" if plan.returncode else None


def main():
    dory, root, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not os.path.isdir(root):
        print(f"skipped: no folder {root or 'is named'}; DORY_DEEPLOY_TESTS names DeeployTest/Tests of Deeploy's source")
        return 77
    failed = 0
    for name in names:
        message = check(dory, os.path.join(root, name))
        print(f"{name}: {message or 'right'}", flush=True)
        failed += message is not None
    return 1 if failed else 0


sys.exit(main())
