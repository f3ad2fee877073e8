#!/usr/bin/env python3
"""Draws the L2 memory of a plan over time: activations blue, weights orange, below them the layers with their waits for L3 in red.

usage: draw_memory.py report.json picture.svg       (report.json: see docs/report.md)

Same report, same bytes. docs/pictures/memory.svg is made by it (scripts/figures picture)."""
import json
import sys

WIDTH, HEIGHT, LEFT, TOP, LAYERS = 800, 240, 44, 8, 14
FOOT = HEIGHT - 44  # where addresses begin, above the row of layers


class Scale:
    def __init__(self, report):
        self.cycles, self.bytes = report["totals"]["timeline_cycles"], report["memory"]["l2_arena_bytes"]

    def x(self, cycle):
        return round(LEFT + (WIDTH - LEFT - 8) * cycle / self.cycles, 1)

    def y(self, address):
        return round(FOOT - (FOOT - TOP) * address / self.bytes, 1)


def box(left, top, right, bottom):
    return f"M{left:g} {top:g}H{right:g}V{bottom:g}H{left:g}Z"


def boxes_of_buffers(report, scale, wanted):
    steps, fetched = report["steps"], {}
    for transfer in report["transfers"]:
        begin = fetched.get(transfer["buffer"], transfer["start_cycle"])
        fetched[transfer["buffer"]] = min(begin, transfer["start_cycle"])
    for index, buffer in enumerate(report["buffers"]):
        if (buffer["kind"] == "weights") != wanted:
            continue
        begin = min(fetched.get(index, steps[buffer["first_step"]]["begin_cycle"]), steps[buffer["first_use_step"]]["begin_cycle"])
        end = steps[buffer["last_step"]]["end_cycle"]
        yield box(scale.x(begin), scale.y(buffer["offset"] + buffer["bytes"]), scale.x(end), scale.y(buffer["offset"]))


def boxes_of_steps(report, scale, begin, end):
    for step in report["steps"]:
        if scale.x(step[end]) > scale.x(step[begin]):
            yield box(scale.x(step[begin]), FOOT + 4, scale.x(step[end]), FOOT + 4 + LAYERS)


def path(boxes, fill):
    return f'<path d="{"".join(boxes)}" fill="{fill}" stroke="#fff" stroke-width=".4"/>'


def text(x, y, words, anchor="start"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>'


def draw(report):
    scale = Scale(report)
    kilobytes, milliseconds = report["memory"]["l2_arena_bytes"] / 1000, report["totals"]["predicted_cycles"] / 1e5
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11" fill="#333">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<path d="{box(LEFT, TOP, WIDTH - 8, FOOT)}" fill="#f4f4f4"/>',
        path(boxes_of_buffers(report, scale, False), "#4a90c2"), path(boxes_of_buffers(report, scale, True), "#e8963c"),
        path(boxes_of_steps(report, scale, "start_cycle", "end_cycle"), "#777"),
        path(boxes_of_steps(report, scale, "begin_cycle", "start_cycle"), "#d03030"),
        text(LEFT - 4, TOP + 10, f"{kilobytes:.0f} kB", "end"), text(LEFT - 4, FOOT, "L2", "end"), text(LEFT - 4, FOOT + 15, "layers", "end"),
        text(LEFT, HEIGHT - 8, "blue: activations, orange: weights on their way from flash and in use, red: waiting for flash"),
        text(WIDTH - 8, HEIGHT - 8, f"{milliseconds:.1f} ms at 100 MHz", "end"), "</svg>", ""])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            picture = draw(json.load(file))
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        sys.exit(f"{sys.argv[1]}: no report of dory ({error})")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
