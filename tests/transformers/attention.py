#!/usr/bin/env python3
"""Networks of attention: one block or two, heads 1 to 8, odd numbers of tokens, masks, norms operator by operator.

usage: attention.py DORY FOLDER [COUNT [SEED]]     `dory run` gives numpy's elements
       attention.py --write FOLDER COUNT           the models only, for test_model_files and firmware
       attention.py --network PATH TOKENS HEADS DEPTH   one block of this shape, for measurements

Exit status 77, skipped, without numpy."""
import os
import sys

try:
    import numpy  # noqa: F401 what the networks are made with
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tflite"))
import random_networks  # noqa: E402


class Blocks(random_networks.Network):
    """Of rows of tokens, as a transformer's encoder has them."""

    def grow(self):
        pick = self.random
        x = self.input((1, pick.randint(1, 4), pick.randint(2, 12), pick.randint(2, 12)))
        for _ in range(pick.randint(1, 2)):
            x = self.attention(self.normed(x) if pick.random() < 0.5 else x)
        return self.output(x)


def write(path, network, output):
    with open(path, "wb") as file:
        file.write(network.model.pack(network.inputs, [output]))


def write_one(path, tokens, heads, depth):
    network = Blocks(1)
    x = network.input((1, tokens, 1, heads * depth))
    write(path, network, network.output(network.attend(x, heads, depth)))


def main():
    if sys.argv[1] == "--network":
        write_one(sys.argv[2], *map(int, sys.argv[3:6]))
        return 0
    folder, count = sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 100
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    os.makedirs(folder, exist_ok=True)
    if sys.argv[1] == "--write":
        for seed in range(first, first + count):
            network = Blocks(seed)
            write(os.path.join(folder, f"attention_{seed}.tflite"), network, network.grow())
        return 0
    wrong = sum(not random_networks.check(sys.argv[1], folder, seed, Blocks) for seed in range(first, first + count))
    print(f"{count} networks of attention, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
