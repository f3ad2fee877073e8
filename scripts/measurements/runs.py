"""Networks, their runs by scripts/verify, and tables of figures."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = os.path.join(TOP, "build", "measure")
GENERATOR = os.environ.get("DORY_GENERATOR", os.path.join(TOP, "build", "host", "bin", "dory"))
SHARED = os.environ.get("DORY_SHARED_MODELS") or os.path.join(TOP, "..", "shared", "models")

# network: arguments of make_model.py
MADE = {
    "mobilenet_v1_1.0_128": ["mobilenet_v1"],
    "mobilenet_v1_1.0_128_4bit": ["mobilenet_v1", "--weight-bits", "4"],
    "mobilenet_v1_0.5_192": ["mobilenet_v1", "--width-multiplier", "0.5", "--resolution", "192"],
    "mobilenet_v1_0.25_128": ["mobilenet_v1", "--width-multiplier", "0.25"],
    "mobilenet_v2_1.0_128": ["mobilenet_v2"],
    "mobilenet_v1_1.0_224": ["mobilenet_v1", "--resolution", "224"],
    "mobilenet_v2_1.0_224": ["mobilenet_v2", "--resolution", "224"],
    "resnet8": ["resnet8"],
    "ds_cnn": ["ds_cnn"],
}
# Further runs of them, with options of scripts/verify.
MADE_VARIANTS = {"mobilenet_v2_1.0_224_sparing_ram": ("mobilenet_v2_1.0_224", ["--blocks", "sparing", "--l2-bytes", "430336"])}
GROUPS = ["nemo", "quantlab", "mlperf_tiny", "qdq"]  # of the shared models: folders with a folder a network; and further runs of these
VARIANTS = {"proxylessnas_pulp_dronet_exact_add": ("proxylessnas_pulp_dronet", ["--exact-add"])}
VARIANTS |= {f"{name}_resident": (name, ["--weights", "resident"]) for name in ("ad_autoencoder", "ic_resnet8", "kws_ds_cnn", "sww_ds_cnn_1d")}
# Compared with the golden model alone: their expected outputs are another arithmetic's, at ties or where sums saturate.
WITHOUT_EXPECTED = ("mixed_", "proxylessnas_pulp_dronet")


def progress(text):
    print(text, file=sys.stderr, flush=True)


def write(table, header, rows):
    with open(os.path.join(TOP, "tests", f"{table}.csv"), "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def model(name, arguments):
    folder = os.path.join(MODELS, name)
    path = os.path.join(folder, "model.onnx")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["/usr/bin/python3", os.path.join(TOP, "scripts", "make_model.py"), arguments[0], path, "--golden-dir", folder,
                        *arguments[1:]], check=True, stdout=subprocess.DEVNULL)
    return folder


class Run:
    """What scripts/verify measured of a network, and its plan: report.json."""

    def __init__(self, output, build):
        self.layers = {}  # name, MAC, cycles, of them waiting for L2, for L3, tiles
        for found in re.finditer(r"^perf layer (\d+) (.*?): (\d+) cycles, (\d+) waiting for L2, (\d+) for L3, (\d+) tiles; (\d+) MAC",
                                 output, re.M):
            self.layers[int(found[1])] = [found[2], int(found[7]), int(found[3]), int(found[4]), int(found[5]), int(found[6])]
        self.total = int(re.search(r"^total: (\d+) cycles", output, re.M)[1])
        with open(os.path.join(build, "network_network", "report.json")) as file:
            self.report = json.load(file)
        self.planned_total = self.report["totals"]["predicted_cycles"]
        self.planned = [layer["profile_cycles"] for layer in self.report["layers"]]

    def sum(self, index):
        return sum(layer[index] for layer in self.layers.values())

    def layers_off(self):
        """How far the predictions of layers above 1 % of the run are off, in %, the worst first."""
        return sorted((abs(percent_off(self.planned[i], layer[2])) for i, layer in self.layers.items() if layer[2] > self.total / 100),
                      reverse=True)

    def worst_layer(self):
        """Of those above 1 % of the run: how far the most mistaken prediction is off, in %, and its layer's name."""
        return max((abs(percent_off(self.planned[i], layer[2])), layer[0])
                   for i, layer in self.layers.items() if layer[2] > self.total / 100)


class Failed(Exception):
    """The last lines of what scripts/verify said."""


def percent_off(planned, measured):
    return 100 * (planned / measured - 1)


def verify(path, *options, target="gap8", generator=None):
    environment = {**os.environ, "DORY_GENERATOR": generator} if generator else None
    run = subprocess.run([os.path.join(TOP, "scripts", "verify"), path, "--target", target, "--perf", *options], text=True,
                         env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode == 77:
        progress(run.stdout.strip())
        sys.exit(77)
    if run.returncode != 0:
        raise Failed("\n".join(run.stdout.splitlines()[-5:]))
    return Run(run.stdout, os.path.join(TOP, "build", f"verify-{target}"))


def rate(mac, cycles):
    return f"{mac / cycles:.2f}"


def without_expected(name, folder):
    """The model alone in a folder, so that nothing but the golden model is compared with."""
    alone = os.path.join(MODELS, name)
    os.makedirs(alone, exist_ok=True)
    for file in os.listdir(folder):
        if file.endswith((".onnx", ".tflite")):
            shutil.copy(os.path.join(folder, file), alone)
    return alone


def shared_networks():
    found, paths = {}, {}
    for group in GROUPS:
        folder = os.path.join(SHARED, group)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            if not os.path.isdir(path) or not any(file.endswith((".onnx", ".tflite")) for file in os.listdir(path)):
                continue
            key = f"{group}_{name}" if group == "quantlab" else name
            paths[key] = path
            found[key] = (without_expected(name, path) if name.startswith(WITHOUT_EXPECTED) else path, [])
    found.update({key: (paths[name], options) for key, (name, options) in VARIANTS.items() if name in paths})
    return found


def known(table, columns):
    path = os.path.join(TOP, "tests", f"{table}.csv")
    with open(path, newline="") as file:
        return [[row.get(column) or "" for column in columns] for row in csv.DictReader(file)]
