#!/usr/bin/env python3
"""L2 that attention needs with nothing in RAM, with and without queries that take turns (depth first), for GAP8.

usage: memory.py DORY FOLDER TABLE [--write]     compares the first rows with TABLE, a CSV, or writes it; exit status 77: no numpy

Of each number of tokens the block that attention.py makes. `without`: no layers take turns. `quick`: the least L2 with which they do
in at most 5 % more cycles; `least`: in whatever time. L2 is found to 2 kB; with 128 tokens and more it must be half of that without.
For `without` the chip has 2 MB of L2: of 256 tokens two maps do not fit its own.
"""
import csv
import json
import os
import re
import subprocess
import sys

HEADS, DEPTH, STEP, LARGE = 4, 16, 2048, 1 << 21
COLUMNS = ["tokens", "heads", "depth", "map B", "without B", "without cycles", "quick B", "quick cycles", "least B", "least cycles"]


def plan(dory, path, blocks, l2_bytes, target="gap8"):
    """Bytes of L2 and cycles; None: there is no plan without RAM."""
    done = subprocess.run([dory, "plan", path, "--target", target, "--blocks", blocks, "--l2-bytes", str(l2_bytes)], capture_output=True,
                          text=True, timeout=120)
    number = [re.search(pattern, done.stdout, re.M) for pattern in (r"^L2: (\d+) of", r"^(\d+) cycles in all", r"^RAM: (\d+) bytes")]
    l2, cycles, ram = (int(found.group(1)) if found else None for found in number)
    return (l2, cycles) if done.returncode == 0 and ram == 0 else None


def least(dory, path, most_bytes, most_cycles):
    low, high, best = 0, most_bytes // STEP, None
    while high - low > 1:
        middle = (low + high) // 2
        found = plan(dory, path, "sparing", middle * STEP)
        if found and found[1] <= most_cycles:
            high, best = middle, found
        else:
            low = middle
    return best or (0, 0)


def large_target(folder):
    """GAP8 with more L2."""
    path = os.path.join(folder, "large.json")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../generator/target/gap8.json")) as file:
        target = json.load(file)
    target["memory_bytes"]["l2"] = LARGE
    with open(path, "w") as file:
        json.dump(target, file)
    return path


def measure(dory, folder, tokens):
    path = os.path.join(folder, f"attention_of_{tokens}.tflite")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attention.py")
    subprocess.run([sys.executable, "-B", script, "--network", path, str(tokens), str(HEADS), str(DEPTH)], check=True)
    without = plan(dory, path, "none", LARGE - 65536, large_target(folder))
    quick = least(dory, path, min(without[0], 460000), without[1] * 105 // 100)
    return [tokens, HEADS, DEPTH, HEADS * tokens * tokens, *without, *quick, *least(dory, path, min(without[0], 460000), 1 << 62)]


def compare(found, known):
    """Bytes alone, for cycles move with every kernel's cost: no more than the table has."""
    worse = [name for name in COLUMNS if name.endswith(" B") and int(found[name]) > int(known[name]) + STEP]
    halves = int(found["tokens"]) < 128 or 0 < int(found["least B"]) <= int(found["without B"]) // 2
    print(found, "more than in the table: " + ", ".join(worse) if worse else "" if halves else "not half of that without")
    return halves and not worse


def main():
    dory, folder, table = sys.argv[1:4]
    try:
        import numpy  # noqa: F401 for attention.py
    except ImportError:
        print("skipped: no numpy")
        return 77
    os.makedirs(folder, exist_ok=True)
    if "--write" in sys.argv:
        with open(table, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS] + [measure(dory, folder, tokens) for tokens in (64, 128, 256)])
    with open(table, newline="") as file:
        known = {row["tokens"]: row for row in csv.DictReader(file)}
    good = [compare(dict(zip(COLUMNS, measure(dory, folder, tokens))), known[str(tokens)]) for tokens in (64, 128)]
    return 0 if all(good) else 1


sys.exit(main())
