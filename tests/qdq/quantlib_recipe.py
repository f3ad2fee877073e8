"""QuantLib's recipe of docs/from-pytorch.md on small networks, by both of its backends: `dory run` against what QuantLib computes.

usage: quantlib_recipe.py DORY SOURCE_FOLDER       exit status 77: no torch, onnxruntime or QuantLib (the folder above its in DORY_QUANTLIB)
The python block marked <!-- recipe quantlib --> is run as it stands in the document.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
warnings.filterwarnings("ignore")
sys.path[:0] = [folder for folder in os.environ.get("DORY_QUANTLIB", "").split(":") if folder]
try:
    import numpy as np
    import torch
    import quantlib.backends.deeploy
    import quantlib.backends.dory
except ImportError as missing:
    print(f"skipped: {missing}; set DORY_ONNXRUNTIME_PYTHON and DORY_QUANTLIB")
    sys.exit(77)
from torch import nn

SCALE = 1 / 64


def block(channels, outputs, stride=1, groups=1, kernel=3):
    return [nn.Conv2d(channels, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.depth = nn.Sequential(*block(3, 8, 2)), nn.Sequential(*block(8, 8, groups=8))
        self.head = nn.Sequential(nn.MaxPool2d(8), nn.Flatten(), nn.Linear(8, 5))

    def forward(self, image):
        x = self.first(image)
        return self.head(self.depth(x) + x)


class Plain(nn.Sequential):
    def __init__(self):
        super().__init__(*block(3, 12), *block(12, 16, 2, kernel=5), *block(16, 16, 2, groups=4), nn.Flatten(), nn.Linear(256, 7))


def numbers(path):
    with open(path) as file:
        return [int(line.strip(" ,\n")) for line in file.readlines()[1:]]


def check(dory, names, network, folder):
    torch.manual_seed(1)
    batches = [torch.randint(-128, 128, (4, 3, 16, 16)) * SCALE for _ in range(3)]
    model = names["quantise_with_quantlib"](network(), batches)
    image, wrong = torch.randint(-128, 128, (1, 3, 16, 16)).float(), 0
    for backend in (quantlib.backends.dory, quantlib.backends.deeploy):
        place = f"{folder}/{network.__name__}_{backend.__name__}"
        names["export_with_quantlib"](backend, model, image, SCALE, place)
        if backend is quantlib.backends.dory:
            options, expected = ["--config", f"{place}/config_model.json", "--input", f"{place}/input.txt"], numbers(f"{place}/output.txt")
        else:
            options = ["--input-signed", "--input", f"{place}/inputs.npz"]
            expected = np.load(f"{place}/outputs.npz")["output"].ravel().tolist()
        run = subprocess.run([dory, "run", *glob.glob(f"{place}/*.onnx"), *options], stdout=subprocess.PIPE, check=True, text=True)
        found = [int(number) for number in run.stdout.split(":")[1].split()]
        wrong += found != expected
        print(f"{network.__name__}, {backend.__name__}: {found}" + (f", expected {expected}" if found != expected else ""))
    return wrong


def main():
    dory, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    with open(f"{source}/docs/from-pytorch.md") as file:
        names = {}
        exec(re.findall(r"<!-- recipe quantlib -->\n```python\n(.*?)```", file.read(), re.S)[0], names)
    with tempfile.TemporaryDirectory() as folder:
        return 1 if sum(check(dory, names, network, folder) for network in (Residual, Plain)) else 0


sys.exit(main())
