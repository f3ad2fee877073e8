"""docs/from-plinio.md on a small network: its python blocks, as they stand there, and `dory run` against what PLiNIO dumped.

usage: plinio_recipe.py DORY SOURCE_FOLDER [--table]     exit status 77: no torch or no PLiNIO (its folder in DORY_PLINIO)
--table: prints the comparison of PLiNIO's model of GAP8 with dory's instead, for the document
"""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
dory, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path[:0] = [f"{source}/generator/cost/python"] + [folder for folder in (os.environ.get("DORY_PLINIO"),) if folder]
try:
    import torch
    import plinio.methods.mps
except ImportError as missing:
    print(f"skipped: {missing}; set DORY_PLINIO_PYTHON and DORY_PLINIO")
    sys.exit(77)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16)
        self.second, self.norm_2 = torch.nn.Conv2d(16, 16, 3, padding=1, stride=2), torch.nn.BatchNorm2d(16)
        self.pool, self.classes = torch.nn.MaxPool2d(4), torch.nn.Linear(64, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = torch.relu(self.norm_2(self.second(x)))
        return self.classes(torch.flatten(self.pool(x), 1))


# name, kind, channels, outputs, kernel, padding, size of the output
LAYERS = [("3x3", 16, 16, 3, 1, 32), ("3x3", 32, 32, 3, 1, 16), ("3x3", 64, 64, 3, 1, 8), ("3x3, first", 3, 16, 3, 1, 32),
          ("1x1", 16, 32, 1, 0, 32), ("1x1", 64, 64, 1, 0, 16), ("1x1", 128, 128, 1, 0, 8),
          ("depth-wise 3x3", 16, 16, 3, 1, 32), ("depth-wise 3x3", 32, 32, 3, 1, 32), ("depth-wise 3x3", 64, 64, 3, 1, 16),
          ("depth-wise 3x3", 128, 128, 3, 1, 8), ("depth-wise 5x5", 64, 64, 5, 2, 16), ("linear", 64, 10, 1, 0, 1),
          ("linear", 256, 128, 1, 0, 1)]


def table():
    from plinio.cost import gap8_latency
    from plinio_cost import specification
    ours = specification("gap8")
    print("| layer | channels | size | PLiNIO | dory | quotient |\n|---|---|---|---:|---:|---:|")
    for name, channels, outputs, kernel, padding, size in LAYERS:
        linear = name == "linear"
        spec = {"in_features": channels, "out_features": outputs} if linear else {
            "in_channels": channels, "out_channels": outputs, "kernel_size": (kernel, kernel), "stride": (1, 1),
            "dilation": (1, 1), "padding": (padding, padding), "groups": channels if "depth" in name else 1,
            "output_shape": [1, outputs, size, size]}
        tensors = {key: torch.tensor(float(value)) if key.startswith(("in_", "out_")) else value for key, value in spec.items()}
        key = (torch.nn.Linear if linear else torch.nn.Conv2d, spec)
        theirs, own = float(gap8_latency[key](tensors)), float(ours[key](spec))
        print(f"| {name} | {channels} to {outputs} | {size}x{size} | {theirs:,.0f} | {own:,.0f} | {theirs / own:.2f} |")


def numbers(path):
    with open(path) as file:
        return [int(line.strip(" ,\n")) for line in file.readlines()[1:] if line.strip()]


def main():
    with open(f"{source}/docs/from-plinio.md") as file:
        blocks = re.findall(r"<!-- recipe -->\n```python\n(.*?)```", file.read(), re.S)
    names = {}
    exec("\n".join(blocks), names)
    torch.manual_seed(1)
    batches = [(torch.rand(8, 3, 16, 16), torch.randint(0, 10, (8,))) for _ in range(3)]
    model = names["search"](Network(), (3, 16, 16), batches, 1e-7, 1)
    with tempfile.TemporaryDirectory() as folder:
        names["export"](model, torch.rand(1, 3, 16, 16), folder)
        run = subprocess.run([dory, "run", f"{folder}/model.onnx", "--config", f"{folder}/config_model.json", "--input",
                              f"{folder}/input_quantizer.txt"], stdout=subprocess.PIPE, check=True, text=True)
        found = [int(number) for number in run.stdout.split(":")[1].split()]
        expected = numbers(f"{folder}/output.txt")
    apart = max(abs(a - b) for a, b in zip(found, expected))
    assert len(found) == len(expected) and apart <= 127, f"{found}, PLiNIO has {expected}"  # float32: one element of a layer
    print(f"{len(found)} outputs, {sum(a != b for a, b in zip(found, expected))} of them apart by float32's rounding")


table() if "--table" in sys.argv else main()
