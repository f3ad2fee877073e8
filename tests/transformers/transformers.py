#!/usr/bin/env python3
"""Transformers and recurrent networks: every byte of every output of `dory run` is the expected one.

usage: transformers.py DORY FOLDER LIST [--once] [--without-plans] [NAME...]     exit status 77: no FOLDER
--once: the first run of each network alone; --without-plans: that there are plans for GAP8 is left to a generator without sanitizers

FOLDER has a folder a network: model.tflite or model.onnx, golden.json, and for each run K and input or output I, of several, input_K[_I].bin
and output_K[_I].bin. In place of the latter count, where they are, exact_K[_I].bin (each rounding of the model correct) and numpy_K[_I].bin
(the arithmetic of TensorFlow Lite Micro). LIST has a line a network: its name and
  right    every byte is equal, and there is a plan for GAP8
  near     up to three off LiteRT's bytes, whose kernels are others, for there are none of TensorFlow Lite Micro; behind it a digest of each
           run's outputs, as numpy gives them in the arithmetic of TensorFlow Lite Micro
  refused  with a message that has the text behind
  open     to be done: may be refused, but must not be wrong
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "exporters"))
import cases


def paths_of(folder, stem, run, count):
    """None where there are no such files."""
    paths = [os.path.join(folder, f"{stem}_{run}.bin" if count == 1 else f"{stem}_{run}_{i}.bin") for i in range(count)]
    return paths if all(os.path.exists(path) for path in paths) else None


NEAR = 3  # elements that LiteRT and TensorFlow Lite Micro differ by


def first_difference(found, expected, most):
    if not os.path.exists(found):
        return "is missing"
    with open(found, "rb") as a, open(expected, "rb") as b:
        a, b = a.read(), b.read()
    off = [(a[i] - b[i] + 128) % 256 - 128 for i in range(min(len(a), len(b)))]
    wrong = [i for i, steps in enumerate(off) if abs(steps) > most]
    if len(a) != len(b):
        return f"has {len(a)} bytes, expected {len(b)}"
    return f"{len(wrong)} of {len(b)} bytes differ, the first is {a[wrong[0]]}, expected {b[wrong[0]]}" if wrong else ""


def digest(paths):
    sha = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            sha.update(file.read())
    return sha.hexdigest()[:16]


def judge_run(dory, folder, model, golden, run, place, digests):
    inputs = paths_of(folder, "input", run, len(golden["inputs"]))
    stems = ("exact", "numpy", "output")
    expected = next(filter(None, (paths_of(folder, stem, run, len(golden["outputs"])) for stem in stems)), None)
    if not inputs or not expected:
        return "wrong", f"files of run {run} are missing"
    found = [os.path.join(place, f"{i}.bin") for i in range(len(expected))]
    command = [dory, "run", model, "--quiet"]
    command += [word for path in inputs for word in ("--input", path)] + [word for path in found for word in ("--output", path)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
    if done.returncode < 0:
        return "wrong", f"signal {-done.returncode}"
    if done.returncode:
        return "refused", done.stderr.strip()
    for i, path in enumerate(found):
        if difference := first_difference(path, expected[i], NEAR if digests else 0):
            return "wrong", f"run {run}, output {i}: {difference}"
    if digests and digest(found) != digests[run]:
        return "wrong", f"run {run}: the digest is {digest(found)}, expected {digests[run]}"
    return "right", ""


def judge(dory, folder, digests, runs, with_plans):
    """right, refused or wrong, and why."""
    model = cases.find_model(folder)
    if not model:
        return "wrong", "no model"
    with open(os.path.join(folder, "golden.json")) as file:
        golden = json.load(file)
    for run in range(runs):
        with tempfile.TemporaryDirectory() as place:
            verdict, message = judge_run(dory, folder, model, golden, run, place, digests)
        if verdict != "right":
            return verdict, message
    return cases.has_plan(dory, model) if with_plans else ("right", "")


def main():
    dory, folder, path, *names = [word for word in sys.argv[1:] if word not in ("--once", "--without-plans")]
    runs, with_plans = 1 if "--once" in sys.argv else 2, "--without-plans" not in sys.argv
    if not os.path.isdir(folder):
        print(f"skipped: no {folder}")
        return 77
    wanted, bad = cases.read_list(path), 0
    there, missing = cases.list_cases(folder, wanted, path)
    for name in names or there:
        want, text = wanted.get(name, ("open", ""))
        verdict, message = judge(dory, os.path.join(folder, name), text.split() if want == "near" else [], runs, with_plans)
        verdict = "near" if want == "near" and verdict == "right" else verdict
        good = verdict != "wrong" if want == "open" else verdict == want and (want == "near" or text in message)
        bad += not good
        if not good or verdict != want:
            print(f"{name}: {verdict}, wanted {want} {text}\n  {message[:300]}", flush=True)
    print(f"{len(names or there)} networks, {bad} not as wanted")
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main())
