#!/usr/bin/python3
"""What scripts/verify makes of outputs that came from onnxruntime: differences at exact ties are told and counted, and the
model's exact values are expected; any other difference is a warning, and the file's values are expected.

usage: check_ties.py DORY FOLDER      exit status 77: no folder
"""
import os
import shutil
import subprocess
import sys
import tempfile


def messages(dory, folder):
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([dory, "generate", f"{folder}/model.onnx", "--check", folder, "--output-dir", scratch],
                              capture_output=True, text=True)
        lines = [line for line in done.stderr.splitlines() if "differs from the model" in line]
        return done.returncode, [line for line in lines if "warning:" in line], [line for line in lines if "note:" in line]


def spoil(path, by):
    """Changes an element that is no tie, of a network whose layers do not all depend on one."""
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        data[0] ^= by
        file.seek(0)
        file.write(data)


def main():
    dory, mixed, plain = sys.argv[1:4]
    if not (os.path.exists(f"{mixed}/model.onnx") and os.path.exists(f"{plain}/model.onnx")):
        print("skipped: a folder is not there")
        return 77
    status, warnings, notes = messages(dory, mixed)
    good = status == 0 and not warnings and len(notes) == 3 and all("at exact halves" in note for note in notes)
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(plain, f"{scratch}/copy")
        spoil(f"{copy}/output_0.bin", 0x40)
        status, warnings, _ = messages(dory, copy)
        good = good and status == 0 and len(warnings) == 1
    print("ties are told, other differences are warned of" if good else f"not so: {status}, {warnings}, {notes}")
    return 0 if good else 1


sys.exit(main())
