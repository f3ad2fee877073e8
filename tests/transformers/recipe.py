#!/usr/bin/env python3
"""The recipe of docs/transformers.md on a small encoder, from its PyTorch module on: dory's integers against onnxruntime's.

usage: recipe.py DORY SOURCE_FOLDER      exit status 77: no PyTorch or no onnxruntime
The document's python block "From PyTorch" is run as it stands there.
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    import torch
    from onnx import numpy_helper
    from onnxruntime.quantization import CalibrationDataReader
except ImportError as missing:
    print(f"skipped: {missing}; the recipe needs PyTorch and onnxruntime, which Debian does not have: set DORY_TORCH_PYTHON")
    sys.exit(77)

TOKENS, FEATURES, CLASSES = 12, 16, 5


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(FEATURES, 32)
        self.position = torch.nn.Parameter(torch.randn(1, TOKENS, 32) * 0.3)
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(32) for _ in range(2)])
        self.query, self.key, self.value, self.out = (torch.nn.Linear(32, 32) for _ in range(4))
        self.up, self.down, self.head = torch.nn.Linear(32, 48), torch.nn.Linear(48, 32), torch.nn.Linear(32, CLASSES)

    def forward(self, x):
        x = self.embed(x) + self.position
        y = self.norms[0](x)
        q, k, v = (part(y).reshape(1, TOKENS, 4, 8).transpose(1, 2) for part in (self.query, self.key, self.value))
        scores = torch.softmax(q @ k.transpose(2, 3) / 8**0.5, -1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(1, TOKENS, 32))
        x = x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x))))
        return self.head(x[:, 0])


class Calibration(CalibrationDataReader):
    def __init__(self, name, samples):
        self.left = [{name: sample} for sample in samples]

    def get_next(self):
        return self.left.pop() if self.left else None


def main():
    dory, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with open(f"{source}/docs/transformers.md") as file:
        block = re.search(r"## From PyTorch\n.*?```python\n(.*?)```", file.read(), re.S)[1]
    torch.manual_seed(1)
    random = np.random.default_rng(1)
    samples = [random.normal(0, 1, (1, TOKENS, FEATURES)).astype(np.float32) for _ in range(40)]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        names = {"model": Encoder(), "example": torch.from_numpy(samples[0]), "calibration": Calibration("input", samples)}
        block = block.replace('"model.onnx", opset', '"model.onnx", input_names=["input"], opset')
        exec(block, names)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession("quantised.onnx", options)
        constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load("quantised.onnx").graph.initializer}
        output = session.get_outputs()[0].name
        scale, zero = constants[f"{output}_scale"], int(constants[f"{output}_zero_point"])
        off = []
        for sample in samples:
            np.save("sample.npy", sample)
            subprocess.run([dory, "run", "quantised.onnx", "--quiet", "--input", "sample.npy", "--output", "logits.bin"], check=True)
            expected = np.rint(session.run(None, {"input": sample})[0].ravel() / scale) + zero
            off += list(np.abs(np.fromfile("logits.bin", np.uint8) - expected))
        subprocess.run([dory, "plan", "quantised.onnx", "--target", "gap8", "--quiet"], check=True)
    wrong = sum(step > 1 for step in off)
    print(f"{len(off)} logits: {sum(step > 0 for step in off)} differ from onnxruntime's, {wrong} by more than one")
    return 0 if wrong * 50 <= len(off) else 1


sys.exit(main())
