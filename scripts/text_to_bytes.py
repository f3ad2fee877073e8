#!/usr/bin/python3
"""Turns a text tensor (input.txt: a header line, then one value a line) into one byte a value.

usage: text_to_bytes.py INPUT.txt OUTPUT.bin
"""
import sys


def values(path):
    with open(path, encoding="ascii") as lines:
        for line in lines:
            first = line.split(",")[0].strip()
            try:
                yield int(float(first))
            except ValueError:
                continue  # the header


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    with open(sys.argv[2], "wb") as output:
        output.write(bytes(value & 0xFF for value in values(sys.argv[1])))


main()
