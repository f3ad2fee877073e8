#!/usr/bin/python3
"""The recipes of docs/from-pytorch.md for other quantisers, on a small network: dory's numbers against onnxruntime's.

usage: other_recipes.py DORY SOURCE_FOLDER nncf|brevitas      exit status 77: no such quantiser here
Its python block marked <!-- recipe NAME --> is run as it stands in the document.
"""
import os
import re
import subprocess
import sys
import tempfile

TOOL = sys.argv[3]
try:
    import numpy as np
    import onnxruntime
    import torch
    __import__(TOOL)
except ImportError as missing:
    print(f"skipped: {missing}; set DORY_ONNXRUNTIME_PYTHON to a Python with torch, onnxruntime and {TOOL}")
    sys.exit(77)


class Network(torch.nn.Module):
    """A convolution, one in depth with its normalisation, a residual addition, a pool and a classifier."""

    def __init__(self):
        super().__init__()
        self.first, self.relu = torch.nn.Conv2d(3, 8, 3, 2, 1), torch.nn.ReLU()
        self.depth, self.norm = torch.nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), torch.nn.BatchNorm2d(8)
        self.last_relu, self.pool = torch.nn.ReLU(), torch.nn.MaxPool2d(8)
        self.flatten, self.classify = torch.nn.Flatten(), torch.nn.Linear(8, 5)

    def forward(self, image):
        x = self.relu(self.first(image))
        return self.classify(self.flatten(self.pool(self.last_relu(x + self.norm(self.depth(x))))))


def quantise(names, images):
    network = Network().eval()
    network.norm.running_var.uniform_(0.5, 2)
    if TOOL == "nncf":
        torch.onnx.export(network, torch.from_numpy(images[0]), "float.onnx", opset_version=17, input_names=["image"],
                          output_names=["logits"], dynamo=False)
        names["quantise_with_nncf"](images)
    else:
        names["quantise_with_brevitas"](network, images)


def main():
    dory, source, random = os.path.abspath(sys.argv[1]), sys.argv[2], np.random.default_rng(1)
    torch.manual_seed(1)
    with open(f"{source}/docs/from-pytorch.md") as file:
        blocks = re.findall(rf"<!-- recipe {TOOL} -->\n```python\n(.*?)```", file.read(), re.S)
    images = [random.uniform(-1, 1, (1, 3, 16, 16)).astype(np.float32) for _ in range(20)]
    found, expected = [], []
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        names = {}
        exec("\n".join(blocks), names)
        quantise(names, images)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession("model.onnx", options)
        for image in images:
            np.save("image.npy", image)
            subprocess.run([dory, "run", "model.onnx", "--quiet", "--input", "image.npy", "--output", "logits.npy"], check=True)
            found.append(np.load("logits.npy").ravel().astype(float))
            expected.append(session.run(None, {"image": image})[0].ravel())
    # integers but for a scale and a zero point
    found, expected = np.array(found), np.array(expected)
    line = np.polyfit(found.ravel(), expected.ravel(), 1)
    off = np.abs(np.polyval(line, found) - expected).max() / np.ptp(expected)
    print(f"{TOOL}: of the range of all logits, {off:.2e} differs from onnxruntime's")
    return 0 if blocks and off < 0.01 else 1


sys.exit(main())
