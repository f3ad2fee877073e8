#!/usr/bin/env python3
"""What the firmware of apps/writer writes is what its model says: `dory run`, character by character, and the same drawing.

usage: golden.py DORY FOLDER CHARACTERS PROGRAM...      exit status 77: no numpy
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)

WIDTH, CONTEXT, CACHES = 32, 32, 4


def read_alphabet(path):
    with open(path) as file:
        text = file.read()
    lists = [[int(n) for n in re.findall(r"\d+", numbers)] for numbers in re.findall(r"= \{([^}]*)\}", text)]
    return re.search(r'ALPHABET "(.*)"', text)[1].replace("\\n", "\n"), lists[0], lists[1]


def draw(logits, likelihoods, random):
    weights = [likelihoods[int(logits.max()) - int(logit)] for logit in logits]
    random = (random * 1664525 + 1013904223) % (1 << 32)
    left = random * sum(weights) >> 32
    letter = 0
    while left >= weights[letter]:
        left -= weights[letter]
        letter += 1
    return letter, random


def main():
    dory, folder, count, program = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    alphabet, empty, likelihoods = read_alphabet(f"{folder}/alphabet.h")
    caches = [np.full((CONTEXT, WIDTH), number, np.uint8) for number in empty]
    letter, random, expected = 0, 1, ""
    with tempfile.TemporaryDirectory() as place:
        for _ in range(count):
            one_hot = np.zeros(len(alphabet), np.uint8)
            one_hot[letter] = 1
            command = [dory, "run", f"{folder}/writer.onnx", "--quiet"]
            for i, x in enumerate([one_hot] + [cache[1:] for cache in caches]):
                x.tofile(f"{place}/input_{i}.bin")
                command += ["--input", f"{place}/input_{i}.bin", "--output", f"{place}/output_{i}.bin"]
            subprocess.run(command, check=True, timeout=60)
            outputs = [np.fromfile(f"{place}/output_{i}.bin", np.uint8) for i in range(1 + CACHES)]
            caches = [output.reshape(CONTEXT, WIDTH) for output in outputs[1:]]
            letter, random = draw(outputs[0], likelihoods, random)
            expected += alphabet[letter]
    done = subprocess.run(program, capture_output=True, text=True, timeout=1000)
    if done.returncode or expected not in done.stdout:
        print(f"expected:\n{expected}\n\nexit status {done.returncode}, found:\n{done.stdout}{done.stderr}")
        return 1
    print(f"{count} characters are the model's:\n{expected}")
    return 0


sys.exit(main())
