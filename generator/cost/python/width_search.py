#!/usr/bin/env python3
"""An example: the widest of a family of small networks that meets a budget of cycles.

    width_search.py [TARGET [CYCLES]]        default: gap8 400000

The family is a keyword spotter of one convolution, four depth-wise separable blocks, a pool and a linear layer, whose channels are
multiplied by a width multiplier and rounded to fours. Cycles do not grow evenly with it: eight cores and blocks of four channels have
their favourites, which a count of multiplications does not know.
"""
import sys

import dory_cost

CLASSES, BASE, BLOCKS = 12, 64, 4
MULTIPLIERS = [sixteenths / 16 for sixteenths in range(2, 65)]
QUANTISED = {"normalisation": "high_32_away"}  # as TensorFlow Lite Micro


def layers(channels):
    """Of a network, as fields of dory_cost."""
    yield dict(height=49, width=10, channels=1, outputs=channels, kernel=(10, 4), stride=2, padding=(4, 1, 5, 1), **QUANTISED)
    for _ in range(BLOCKS):
        yield dict(height=25, width=5, channels=channels, outputs=channels, groups=channels, kernel=3, padding=1, **QUANTISED)
        yield dict(height=25, width=5, channels=channels, outputs=channels, **QUANTISED)
    yield dict(operation="average_pool", height=25, width=5, channels=channels, kernel=(25, 5), **QUANTISED)
    yield dict(operation="linear", height=1, width=1, channels=channels, outputs=CLASSES, **QUANTISED)


def network_cost(model, channels):
    """Cycles and multiplications; flash is read beside other layers, and counted where it takes longer than they."""
    costs = [model.cost(**layer) for layer in layers(channels)]
    cycles = max(sum(cost.cycles for cost in costs), sum(cost.l3_cycles for cost in costs))
    return cycles, sum(cost.macs for cost in costs)


def search(model, budget):
    """The most multiplications within the budget: multiplier, channels, cycles, multiplications."""
    found = []
    for multiplier in MULTIPLIERS:
        channels = max(4, round(BASE * multiplier / 4) * 4)
        cycles, macs = network_cost(model, channels)
        if cycles <= budget:
            found.append((macs, -cycles, multiplier, channels))
    if not found:
        sys.exit(f"the narrowest network takes more than {budget} cycles")
    macs, cycles, multiplier, channels = max(found)
    return multiplier, channels, -cycles, macs


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "gap8"
    budget = int(sys.argv[2]) if len(sys.argv) > 2 else 400000
    multiplier, channels, cycles, macs = search(dory_cost.Model(target), budget)
    print(f"width multiplier {multiplier}, {channels} channels: {cycles} cycles of {budget}, {macs} MAC, {macs / cycles:.2f} MAC/cycle")


if __name__ == "__main__":
    main()
