#!/usr/bin/env python3
"""Small networks of TFLite, one kind of graph each, against numpy.
Usage: kinds.py DORY FOLDER      exit status 77, skipped, without numpy"""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: no numpy; on Debian: apt-get install python3-numpy")
    sys.exit(77)

import random_networks
import reference
import tflite_writer as tfl


def unit_rows(n):
    """Operands in one order of memory, but not in one image: a norm of the last dimension has rows of one element."""
    x = n.reshaped(n.transposed(n.input((1, 1, 6, 2)), [0, 3, 1, 2]), (1, 2, 6, 1))
    y = n.operate(tfl.L2_NORMALIZATION, [x], reference.l2_norm(n.values[x]), (12, {0: ("b", 0)}))
    y = n.operate(tfl.QUANTIZE, [y], reference.requantise(n.values[y], n.values[x][1:]))
    return n.extreme("maximum", [x, y], [n.values[x], n.values[y]])


def blocks_of_two_dimensions(n):
    """Blocks of a dimension that is two in memory, of which none divides."""
    x = n.reshaped(n.transposed(n.reshaped(n.input((1, 9, 8, 3)), (2, 9, 4, 3)), [2, 0, 1, 3]), (1, 2, 18, 6))
    return n.blocks(x, *n.values[x])


KINDS = [unit_rows, blocks_of_two_dimensions]


def kind(build):
    class Kind(random_networks.Network):
        def grow(self):
            return build(self)
    return Kind


def main():
    dory, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    wrong = [build.__name__ for build in KINDS if not random_networks.check(dory, folder, 1, kind(build))]
    print("%d kinds; wrong: %s" % (len(KINDS), ", ".join(wrong) or "none"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
