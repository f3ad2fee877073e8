#!/usr/bin/env python3
"""The trace of a real network says what the report says, layer by layer, in a form that Perfetto's reader of Chrome's format
accepts: known phases, slices of a track one behind the other, arrows from a slice to a slice.

usage: trace.py DORY MODEL FOLDER [OPTION]...      exit status 77: the model is not there
"""
import json
import os
import subprocess
import sys

SKIPPED = 77
STEPS, L3, LOADS, STORES, FIRST_CORE = 1, 2, 3, 4, 10
REQUIRED = {"X": ("name", "ts", "dur", "pid", "tid"), "M": ("name", "args", "pid", "tid"), "C": ("name", "ts", "args", "pid"),
            "s": ("name", "cat", "id", "ts", "pid", "tid"), "f": ("name", "cat", "id", "ts", "pid", "tid")}


def check_form(events):
    for event in events:
        assert event["ph"] in REQUIRED, event
        assert all(key in event for key in REQUIRED[event["ph"]]), event
        assert all(isinstance(event[key], int) and event[key] >= 0 for key in ("ts", "dur") if key in event), event


def slices(events, track):
    found = sorted((event for event in events if event["ph"] == "X" and event["tid"] == track), key=lambda event: event["ts"])
    for before, event in zip(found, found[1:]):
        assert before["ts"] + before["dur"] <= event["ts"], f"track {track}: {before} and {event} overlap"
    return found


def check_arrows(events):
    """Each starts inside a transfer and ends inside a step."""
    for phase, track in (("s", L3), ("f", STEPS)):
        spans = [(slice["ts"], slice["ts"] + slice["dur"]) for slice in slices(events, track)]
        for event in events:
            if event["ph"] == phase:
                assert any(start <= event["ts"] <= end for start, end in spans), event
    starts, ends = ([event["id"] for event in events if event["ph"] == phase] for phase in "sf")
    assert sorted(starts) == sorted(ends) and len(set(starts)) == len(starts)


def check_layers(events, report):
    kernels = slices(events, FIRST_CORE)
    transfers = slices(events, LOADS) + slices(events, STORES)
    for index, layer in enumerate(report["layers"]):
        name = f"{index} {layer['name']}"
        own = [event for event in kernels if event["name"] == name]
        assert [event["args"]["tile"] for event in own] == list(range(layer["tiles"])), f"{name}: tiles"
        assert sum(event["dur"] for event in own) == layer["kernel_cycles"], f"{name}: cycles of kernels"
        moved = [event for event in transfers if event["name"] == name]
        assert sum(event["dur"] for event in moved) == layer["dma_cycles"], f"{name}: cycles of transfers"
        for event in own + moved:
            assert layer["begin_cycle"] <= event["ts"] and event["ts"] + event["dur"] <= layer["end_cycle"], f"{name}: {event}"


def main():
    dory, model, folder, *options = sys.argv[1:]
    if not os.path.exists(model):
        print("skipped: no model")
        return SKIPPED
    subprocess.run([dory, "report", model, "--target", "gap8", "--output-dir", folder, *options], capture_output=True, check=True)
    events = json.load(open(os.path.join(folder, "report_trace.json")))["traceEvents"]
    report = json.load(open(os.path.join(folder, "report.json")))
    check_form(events)
    check_layers(events, report)
    check_arrows(events)
    cores = [len(slices(events, FIRST_CORE + core)) for core in range(report["options"]["cores"])]
    assert cores == sorted(cores, reverse=True) and cores[0] == report["totals"]["tiles"], f"tiles of the cores: {cores}"
    print(f"{len(events)} events; tiles of the cores: {cores}")
    return 0


sys.exit(main())
