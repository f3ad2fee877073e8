"""Folders of cases, what must be so of each, and its plan: for exporters.py and transformers.py."""
import os
import subprocess


def find_model(folder):
    return next((path for ending in ("tflite", "onnx") if os.path.exists(path := os.path.join(folder, f"model.{ending}"))), None)


def has_plan(dory, model):
    """right, or wrong and why."""
    plan = subprocess.run([dory, "plan", model, "--target", "gap8", "--quiet"], capture_output=True, text=True, timeout=300)
    return ("wrong", "no plan: " + plan.stderr.strip()) if plan.returncode else ("right", "")


def read_list(path):
    wanted = {}
    with open(path) as file:
        for line in file:
            words = line.split("#")[0].split(None, 2)
            if words:
                wanted[words[0]] = words[1], words[2].strip() if len(words) > 2 else ""
    return wanted


def list_cases(folder, wanted, path):
    """The cases of a folder, and how many of the list are not there."""
    there = [name for name in sorted(os.listdir(folder)) if os.path.isdir(os.path.join(folder, name))]
    missing = sorted(set(wanted) - set(there))
    for name in missing:
        print(f"{name} of {path} is not in {folder}")
    return there, len(missing)
