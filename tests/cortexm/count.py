#!/usr/bin/env python3
"""Counts the instructions of inferences on a Cortex-M under QEMU, beside tests/cortexm.csv.

    count.py TABLE CHIP DORY NETWORK=MODEL=PROGRAM... -- EMULATOR...            fails where one takes over 1 % more
    count.py --write TABLE CHIP DORY NETWORK=MODEL=PROGRAM... -- EMULATOR...    writes the chip's rows
"""
import csv
import re
import subprocess
import sys

COLUMNS = ["chip", "network", "predicted instructions", "instructions"]


def output_of(command, pattern):
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = re.search(pattern, result.stdout)
    if result.returncode or not found:
        sys.exit(f"{' '.join(command)}: {result.stdout[-500:]}{result.stderr[-500:]}")
    return int(found[1])


def count(chip, dory, emulator, network, model, program):
    counted = [emulator[0], "-icount", "shift=0"] + emulator[1:] + [program]
    predicted = output_of([dory, "plan", model, "--target", chip], r"(\d+) cycles in all")
    return {"chip": chip, "network": network, "predicted instructions": predicted,
            "instructions": output_of(counted, r"instructions: (\d+)")}


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write(path, chip, rows):
    rows = sorted([row for row in read(path) if row["chip"] != chip] + rows, key=lambda row: (row["chip"], row["network"]))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def is_slower(row, table):
    known = [int(other["instructions"]) for other in table if (other["chip"], other["network"]) == (row["chip"], row["network"])]
    print(f"{row['chip']} {row['network']}: {row['instructions']} instructions, in the table {known[0] if known else 'none'}")
    return not known or row["instructions"] > known[0] * 1.01


def main(arguments):
    writes = arguments[:1] == ["--write"]
    path, chip, dory, *rest = arguments[writes:]
    end = rest.index("--")
    rows = [count(chip, dory, rest[end + 1:], *name.split("=")) for name in rest[:end]]
    if writes:
        write(path, chip, rows)
    elif any([is_slower(row, read(path)) for row in rows]):
        sys.exit("slower than in the table: scripts/count_instructions writes it")


main(sys.argv[1:])
