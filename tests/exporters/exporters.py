#!/usr/bin/env python3
"""Networks as people's exporters write them: the outputs of `dory run` are those of the model's own runtime.

usage: exporters.py DORY FOLDER LIST [--without-plans] [NAME...]     exit status 77: no numpy, or no FOLDER
--without-plans: that there are plans for GAP8 is left to a generator without sanitizers

FOLDER has a folder a case: model.tflite or model.onnx, in0.npy and so on, expected0.npy and so on. LIST has a line a case: its name and
what must be so:
  right    each element of a TFLite model is equal; none of an ONNX model is more than two steps off (ties and float32 noise of onnxruntime)
  refused  with a message that has the text behind; nothing else on the line: any message
  open     to be done: may be refused or left to the application in part, but must not be wrong
  oracle   the expected values are none of the model's; the text behind says why. The model must go in
Cases that LIST lacks are open. A case that is neither refused nor in part, and not right, is an error, but for oracle.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)

import cases

MOST_STEPS = 2.01


def numbered(folder, stem):
    paths = []
    while os.path.exists(path := os.path.join(folder, f"{stem}{len(paths)}.npy")):
        paths.append(path)
    return paths


def steps_off(found, expected, is_tflite):
    """In steps of the quantisation how far elements are apart; None where these are other numbers, not the model's output."""
    step = 1.0
    if expected.dtype.kind == "f":
        values = np.unique(expected)
        step = float(np.diff(values).min()) if len(values) > 1 else 1.0
    found, expected_flat = found.astype(float).ravel(), expected.astype(float).ravel()
    if found.size != expected_flat.size:
        return None
    off = np.abs(found - expected_flat).max() / step
    if off <= MOST_STEPS or expected.dtype.kind != "f" or found.size < 3:
        return 0 if is_tflite and off < 0.01 else off
    terms = np.stack([found, np.ones_like(found)], axis=1)  # sums of 32 bits, or integers: the same up to a scale
    fit = terms @ np.linalg.lstsq(terms, expected_flat, rcond=None)[0]
    if np.abs(fit - expected_flat).max() <= 1e-4 * max(np.ptp(expected_flat), 1e-30):
        return 0
    found_off = np.abs(fit - expected_flat).max() / step
    return found_off if found_off <= MOST_STEPS else None


def judge(dory, folder, with_plans):
    """right, refused, part or wrong, and why."""
    model = cases.find_model(folder)
    if not model:
        return "wrong", "no model"
    with tempfile.TemporaryDirectory() as place:
        command, expected = [dory, "run", model, "--quiet"], numbered(folder, "expected")
        for path in numbered(folder, "in"):
            command += ["--input", path]
        outputs = [os.path.join(place, f"{i}.npy") for i in range(len(expected))]
        for path in outputs:
            command += ["--output", path]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
        if done.returncode < 0:
            return "wrong", f"signal {-done.returncode}"
        if done.returncode:
            return "refused", done.stderr.strip()
        for i, path in enumerate(outputs):
            if not os.path.exists(path):
                return "wrong", f"output {i} is missing"
            reference = np.load(expected[i])
            off = steps_off(np.load(path), reference, model.endswith("tflite"))
            if off is None and reference.dtype.kind == "f":
                return "part", f"output {i} is not the model's"
            if off is None or off > (0 if model.endswith("tflite") else MOST_STEPS):
                return "wrong", f"output {i}: {off} steps off"
    return cases.has_plan(dory, model) if with_plans else ("right", "")


def is_good(verdict, message, wanted, text):
    if wanted == "oracle":
        return verdict in ("right", "wrong") and not message.startswith(("signal", "no plan"))
    if wanted == "open":
        return verdict != "wrong"
    return verdict == wanted and text in message


def main():
    dory, folder, path, *names = [word for word in sys.argv[1:] if word != "--without-plans"]
    with_plans = "--without-plans" not in sys.argv
    if not os.path.isdir(folder):
        print(f"skipped: no {folder}")
        return 77
    wanted, bad = cases.read_list(path), 0
    there, missing = cases.list_cases(folder, wanted, path)
    for name in names or there:
        verdict, message = judge(dory, os.path.join(folder, name), with_plans)
        want, text = wanted.get(name, ("open", ""))
        if not is_good(verdict, message, want, text):
            bad += 1
            print(f"{name}: {verdict}, wanted {want} {text}\n  {message[:300]}")
    print(f"{len(names or there)} cases, {bad} not as wanted")
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main())
