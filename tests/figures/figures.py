#!/usr/bin/env python3
"""Makes tests/memory.csv or plans.csv, or (--check) compares what is made with what is there.

memory  Peak of L2 and its lower bound, beside what the original's bidirectional stack needs (DORY's paper, section 4.4.1):
            D_stack = max over layers of input + output + own weights + weights of the next layer
        (its allocator holds two layers' weights; residuals are copied to L3 in between and count where they are read).
        Columns: D_stack; our plan with as much L2 as D_stack; our plan with GAP8's; the least L2 of any plan. Bound: what lives
        at one step. Where L2 is full of prefetched weights some gaps may be left; gap cycles are what they cost at most.
        Then what blocks spare, each without and with them: bytes that a run moves from and to L3 and, of these, RAM; and the
        least L2, in steps of 4 KiB, with which nothing but the network's inputs lies in RAM. (--check leaves these out: they
        take minutes.) Some networks more than in the other tables: a large one whose tensors just fit, three of papers on
        computing in patches, and one whose sums have 16 bits.
plans   Every network in 3 sizes of L1 by 6 of L2, most of them tight: what a change of the planner gains and loses. With --check
        also how much faster all of them are together, how far more memory makes a plan slower, and which plan takes longest.
speed   User CPU time and memory of `dory generate`, and how both grow with the number of layers: --check alone.
"""
import argparse
import collections
import csv
import io
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
GAP8 = TESTS.parent / "generator/target/gap8.json"
STACKS = json.loads(GAP8.read_text())["memory_bytes"]["l1_stacks"]  # bytes of GAP8's L1 that are no buffer


Model = collections.namedtuple("Model", ["path", "options"], defaults=[()])


class Maker:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)
        self.longest = (0.0, "")  # user seconds of a plan, and which

    def network(self, kind, size):
        path = self.folder / f"{kind}_{size}.onnx"
        if not path.exists():
            subprocess.run([self.options.write_network, kind, str(size), str(path)], check=True)
        return path

    def made(self, kind, size):
        """A network of seeded weights, whose channels are mostly constant: for plans, none of them may be left out."""
        return Model(self.network(kind, size), ("--all-channels",))

    def shared(self):
        """(name, model) of the real networks that the original deploys."""
        models = [p for kind in ("nemo", "quantlab") for p in sorted((pathlib.Path(self.options.shared) / kind).glob("*/*.onnx"))]
        return [(f"{p.parent.parent.name}/{p.parent.name}", Model(p)) for p in models]

    def networks(self):
        made = [("MobileNetV1-1.0-128", "mobilenet_v1", 128), ("MobileNetV2-1.0-128", "mobilenet_v2", 128),
                ("MobileNetV2-1.0-224", "mobilenet_v2", 224)]
        return [(name, self.made(kind, size)) for name, kind, size in made] + self.shared()

    def more_networks(self):
        """Of memory.csv alone."""
        exact = [(f"{name}, exact additions", Model(model.path, ("--exact-add",))) for name, model in self.shared()
                 if name == "nemo/proxylessnas_pulp_dronet"]
        made = [("MobileNetV1-1.0-224", "mobilenet_v1", 224), ("MobileNetV2-0.35-144", "mobilenet_v2_0.35", 144),
                ("like MCUNet for ImageNet, 176", "mcunet_imagenet", 176), ("like MCUNetV2 for wake words, 80", "mcunet_wake_words", 80)]
        return [(name, self.made(kind, size)) for name, kind, size in made] + exact

    def target(self, l1_bytes, l2_bytes):
        """GAP8, or one like it with as much memory."""
        gap8 = json.loads(GAP8.read_text())
        memory = gap8["memory_bytes"]
        if (l1_bytes or 0) <= memory["l1"] and (l2_bytes or 0) <= memory["l2"]:
            return "gap8"
        memory |= {"l1": max(l1_bytes or 0, memory["l1"]), "l2": max(l2_bytes or 0, memory["l2"])}
        path = self.folder / "larger.json"
        path.write_text(json.dumps(gap8))
        return str(path)

    def plan(self, model, l1_bytes=None, l2_bytes=None, blocks="auto"):
        """The report of a plan, or the generator's messages."""
        memory = [f"--l1-bytes={l1_bytes}"] * (l1_bytes is not None) + [f"--l2-bytes={l2_bytes}"] * (l2_bytes is not None)
        before = os.times().children_user
        command = [self.options.dory, "report", str(model.path), "--target", self.target(l1_bytes, l2_bytes), "--config", "none",
                   "--output-dir", str(self.folder)] + list(model.options)
        run = subprocess.run(command + memory + [f"--blocks={blocks}"], capture_output=True, text=True)
        self.longest = max(self.longest, (os.times().children_user - before, " ".join([model.path.name] + memory)))
        if run.returncode == 1:
            return run.stderr
        run.check_returncode()
        return json.loads((self.folder / "report.json").read_text())


# ---- memory ----

def stack_bytes(report):
    """D_stack of the original for the layers in the order in which they run."""
    layers, tensors = report["layers"], report["tensors"]
    inputs = {i: 0 for i in range(len(layers))}
    for i, layer in enumerate(layers):
        inputs[i] = sum(tensors[t]["bytes"] for t in layer["inputs"])
    output = {t["producer"]: t["bytes"] for t in tensors}
    weights = [layer["weights_bytes"] for layer in layers] + [0]
    return max(inputs[i] + output[i] + weights[i] + weights[i + 1] for i in range(len(layers)))


def least_bytes(message):
    found = re.search(r"at least \d+ bytes of L1.* and (\d+) bytes of L2", message)
    return int(found[1])


MEMORY_COLUMNS = ["network", "layers", "weights B", "D_stack B", "peak B in D_stack", "bound B in D_stack", "gap cycles in D_stack",
                  "cycles in D_stack", "peak B", "bound B", "gap cycles", "cycles", "least L2 B"]
BLOCK_COLUMNS = [f"{what} {how} blocks" for what in ("L3 B moved", "RAM B moved", "least L2 B, inputs alone in RAM,")
                 for how in ("without", "with")]
STEP_BYTES = 4096
STEPS_BELOW = 16
MAXIMUM_L2_BYTES = 1 << 21  # of the search for the least
MAXIMUM_GAP_CYCLES = 0.001  # of the cycles, that gaps may cost where the peak is not the bound


def memory_row(maker, name, model):
    ours = maker.plan(model)
    if isinstance(ours, str):
        raise SystemExit(f"{name}: {ours}")
    stack = stack_bytes(ours)
    within = maker.plan(model, l2_bytes=stack)
    row = [name, len(ours["layers"]), ours["totals"]["weights_bytes"], stack]
    for report in (within, ours):
        memory = report["memory"]
        row += [memory["l2_peak_bytes"], memory["l2_lower_bound_bytes"], memory["l2_gap_cycles"], report["totals"]["predicted_cycles"]]
    return row + [least_bytes(maker.plan(model, l2_bytes=8))]


def only_inputs_in_ram(report):
    return all(tensor["memory"] != "ram" or tensor["producer"] is None for tensor in report["tensors"])


def inputs_alone_in_ram(maker, model, l2_bytes, blocks):
    report = maker.plan(model, l2_bytes=l2_bytes, blocks=blocks)
    return not isinstance(report, str) and only_inputs_in_ram(report)


def least_l2_bytes(maker, model, blocks):
    """With which nothing but inputs is in RAM. Plans in a little less may have tensors there because that is faster, and in still
    less again none: so the sizes below what the bisection finds are tried, too."""
    enough, too_little = MAXIMUM_L2_BYTES, 0
    while enough - too_little > STEP_BYTES:
        middle = (enough + too_little) // 2
        enough, too_little = (middle, too_little) if inputs_alone_in_ram(maker, model, middle, blocks) else (enough, middle)
    below = range(max(STEP_BYTES, enough - STEPS_BELOW * STEP_BYTES), enough, STEP_BYTES)
    return next((size for size in below if inputs_alone_in_ram(maker, model, size, blocks)), enough)


def block_figures(maker, model):
    reports = [maker.plan(model, blocks=blocks) for blocks in ("none", "auto")]
    totals = [report["totals"] for report in reports]
    return ([total["flash_moved_bytes"] + total["ram_moved_bytes"] for total in totals] +
            [total["ram_moved_bytes"] for total in totals] +
            [least_l2_bytes(maker, model, blocks) for blocks in ("none", "sparing")])


def make_memory(maker):
    networks = maker.networks() + maker.more_networks()
    if maker.options.check:
        return [MEMORY_COLUMNS] + [memory_row(maker, name, model) for name, model in networks]
    return [MEMORY_COLUMNS + BLOCK_COLUMNS] + [memory_row(maker, name, model) + block_figures(maker, model)
                                               for name, model in networks]


def check_memory(rows, kept):
    faults = []
    for row in rows[1:]:
        values = dict(zip(MEMORY_COLUMNS, row))
        before = dict(zip(MEMORY_COLUMNS, kept.get(row[0], row)))
        for where in ("", " in D_stack"):
            peak, bound, lost = (values[f"{what}{where}"] for what in ("peak B", "bound B", "gap cycles"))
            if peak > bound and lost > MAXIMUM_GAP_CYCLES * values[f"cycles{where}"]:
                faults.append(f"{row[0]}: the peak{where} is {peak}, its lower bound {bound}: gaps, which cost up to {lost} cycles")
            elif peak > bound:
                print(f"note: {row[0]}: {peak - bound} bytes{where} are gaps, which cost at most {lost} cycles")
        if values["peak B in D_stack"] > values["D_stack B"]:
            faults.append(f"{row[0]}: more than the original's stack")
        for column in ("cycles in D_stack", "cycles", "least L2 B"):
            if values[column] > int(before[column]) * 1.01:
                faults.append(f"{row[0]}: {column}: {values[column]}, was {before[column]}")
    return faults


# ---- plans ----

PLANS_COLUMNS = ["network", "L1 B", "L2 B", "cycles", "peak B", "gap cycles", "searched cycles", "bound cycles"]
PLANS_L1 = [22000, 32000, 55000]
PLANS_L2 = [64000, 100000, 150000, 200000, 300000, 430000]
PLANS_BESIDE = {"MobileNetV2-1.0-224": [(65536 - STACKS, 430336)]}  # as the firmware leaves it
NO_PLAN = "does not fit"
MAXIMUM_SLOWER = 1.003
MAXIMUM_NOT_MONOTONE = 1.001  # cycles with more memory, of those with less
MAXIMUM_PLAN_SECONDS = 3  # user time of the longest plan


def plans_row(maker, name, model, l1, l2):
    report = maker.plan(model, l1 + STACKS, l2)
    if isinstance(report, str):
        return [name, l1, l2, NO_PLAN, "", "", "", ""]
    memory, proof = report["memory"], report["proof"]
    if proof:
        assert proof["bound_cycles"] <= proof["searched_cycles"], f"{name}, {l1} and {l2} bytes: a bound above what was found"
    return [name, l1, l2, report["totals"]["predicted_cycles"], memory["l2_peak_bytes"], memory["l2_gap_cycles"],
            proof["searched_cycles"] if proof else "", proof["bound_cycles"] if proof else ""]


def make_plans(maker):
    rows = [PLANS_COLUMNS]
    with (TESTS / "memory.csv").open() as table:
        names = {row["network"] for row in csv.DictReader(table)}
    for name, model in maker.networks():
        if name in names and maker.options.only in name:
            sizes = [(l1, l2) for l1 in PLANS_L1 for l2 in PLANS_L2] + PLANS_BESIDE.get(name, [])
            rows += [plans_row(maker, name, model, l1, l2) for l1, l2 in sizes]
    print(f"longest: {maker.longest[0]:.2f} s, {maker.longest[1]}")
    return rows + [["longest", maker.longest[0]]] if maker.options.check else rows


def cycles_of(row):
    return math.inf if row[3] == NO_PLAN else int(row[3])


def ratio(a, b):
    """Of cycles; networks that fit neither way are equal."""
    return 1.0 if a == b else a / b if math.isfinite(b) else 0.0


def not_monotone(rows):
    """(ratio, row, row with less memory) where less memory makes a plan faster."""
    pairs = [(ratio(cycles_of(more), cycles_of(less)), more, less) for more in rows for less in rows
             if more[0] == less[0] and less[1] <= more[1] and less[2] <= more[2]]
    return sorted((pair for pair in pairs if pair[0] > 1), key=lambda pair: -pair[0])


def place_of(row):
    return f"{row[0]}, L1 {row[1]}, L2 {row[2]}"


def check_plans(rows, kept):
    faults, rows, seconds = [], [row for row in rows[1:] if row[0] != "longest"], rows[-1][1] if rows[-1][0] == "longest" else 0
    tight = []
    for row in rows:
        before = kept.get(tuple(str(value) for value in row[:3]))
        if not before:
            continue
        slower = ratio(cycles_of(row), cycles_of(before))
        if row[2] <= 200000 and math.isfinite(slower) and slower > 0:
            tight.append(math.log(slower))
        if slower > MAXIMUM_SLOWER:
            faults.append(f"{place_of(row)}: {row[3]} cycles, was {before[3]}")
        elif slower != 1:
            print(f"note: {place_of(row)}: {100 * (slower - 1):+.2f} %")
    if tight:
        print(f"with at most 200 kB of L2: {100 * (math.exp(sum(tight) / len(tight)) - 1):+.3f} % in the geometric mean")
    slower_with_more = not_monotone(rows)
    for more_less, more, less in slower_with_more[:10]:
        print(f"not monotone: {place_of(more)} takes {100 * (more_less - 1):.2f} % longer than {place_of(less)}")
    faults += [f"{place_of(more)}: {more[3]} cycles, but {less[3]} with {place_of(less)}" for more_less, more, less in slower_with_more
               if kept and more_less > MAXIMUM_NOT_MONOTONE]
    if seconds > MAXIMUM_PLAN_SECONDS:
        faults.append(f"a plan took {seconds:.2f} s, allowed are {MAXIMUM_PLAN_SECONDS}")
    return faults


# ---- speed ----

SPEED_COLUMNS = ["network", "layers", "user s", "MB", "at most s", "at most MB"]
SPEED = [("MobileNetV1-1.0-128", "mobilenet_v1", 128, 29, 0.5, 120), ("MobileNetV2-1.0-224", "mobilenet_v2", 224, 65, 2.0, 120),
         ("10 layers", "deep", 10, 10, "", ""), ("25 layers", "deep", 25, 25, "", ""), ("50 layers", "deep", 50, 50, "", ""),
         ("100 layers", "deep", 100, 100, "", ""), ("200 layers", "deep", 200, 200, 0.25, 120)]


def make_speed(maker):
    """Of three runs the fastest: others use the machine, too."""
    rows = [SPEED_COLUMNS]
    for name, kind, size, layers, seconds, megabytes in SPEED:
        model = maker.network(kind, size)
        times, peak = [], 0
        for _ in range(3):
            child = subprocess.Popen([maker.options.dory, "generate", str(model), "--target", "gap8", "--name", "network", "--all-channels",
                                      "--output-dir", str(maker.folder / "generated")], stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            if status:
                raise SystemExit(f"{name}: dory generate failed")
            times.append(usage.ru_utime)
            peak = max(peak, usage.ru_maxrss * 1024 / 1e6)
        rows.append([name, layers, f"{min(times):.2f}", f"{peak:.0f}", seconds, megabytes])
    return rows


def check_speed(rows, kept):
    faults = []
    for name, _, seconds, megabytes, most_seconds, most_megabytes in rows[1:]:
        if most_seconds != "" and float(seconds) > most_seconds:
            faults.append(f"{name}: {seconds} s, allowed are {most_seconds}")
        if most_megabytes != "" and float(megabytes) > most_megabytes:
            faults.append(f"{name}: {megabytes} MB, allowed are {most_megabytes}")
    return faults


# ---- all ----

TABLES = {"memory": (make_memory, check_memory), "plans": (make_plans, check_plans), "speed": (make_speed, check_speed)}
KEYS = {"plans": 3}  # first columns that say which row it is


def text_of(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    parser.add_argument("--dory", required=True)
    parser.add_argument("--write-network", required=True)
    parser.add_argument("--shared", required=True, help="folder of the real networks; without it those are left out")
    parser.add_argument("--only", default="", help="plans: networks with this in their names")
    options = parser.parse_args()
    make, check = TABLES[options.table]
    path = TESTS / f"{options.table}.csv"
    key = KEYS.get(options.table, 1)
    kept = {tuple(row[:key]) if key > 1 else row[0]: row for row in csv.reader(path.open())} if path.exists() else {}
    with tempfile.TemporaryDirectory(prefix="dory-figures-") as folder:
        rows = make(Maker(options, folder))
    print(text_of(rows), end="")
    if not options.check and options.table != "speed":
        path.write_text(text_of(rows))
    faults = check(rows, kept if options.check else {})
    for fault in faults:
        print(f"FAILED: {fault}", file=sys.stderr)
    if faults:
        print(f"If that is meant: scripts/figures {options.table}", file=sys.stderr)
        sys.exit(1)
    if options.check and options.table == "memory" and not pathlib.Path(options.shared).is_dir():
        print(f"skipped: {options.shared} is not there; MobileNets only")
        sys.exit(77)


if __name__ == "__main__":
    main()
