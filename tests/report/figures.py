#!/usr/bin/env python3
"""The page in a browser has the very figures of `dory plan`: every cell of its table, sums, total, distance from the optimum.

usage: figures.py DORY MODEL FOLDER      exit status 77: there is no Chromium, or the model is not there
"""
import html
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from look import SKIPPED, find_chromium, run_chromium

# columns of `dory plan`, and where they are in the page's table
COLUMNS = {"layer": 1, "input": 2, "output": 3, "kernel": 4, "tile": 6, "tiles": 7, "steps": 8, "MAC": 9, "weights B": 10,
           "in RAM": 11, "L1 B": 12, "L2 B": 13, "cycles": 14, "MAC/c": 15}


def plan_table(text):
    """Cells of every layer and of the sums; columns are found by the places of their titles."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("layer "))
    titles = re.findall(r"weights B|in RAM|L1 B|L2 B|\S+", lines[first])
    rows = []
    for line in lines[first + 1:]:
        if not line:
            break
        rows.append(line.split())
    return titles, rows, "\n".join(lines[first + 1 + len(rows):])


def page_table(document):
    body = document[document.index('<table class="plan">'):]
    rows = re.findall(r"<tr>(.*?)</tr>", body[:body.index("</table>")])[1:]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


def plain(text):
    """As `dory plan` writes it."""
    return text.replace(",", "").replace(" × ", "x").replace(" / ", "/").replace("–", "-")


def check_layers(titles, rows, page):
    assert titles == list(COLUMNS), f"the table of dory plan has columns {titles}"
    assert len(rows) == len(page), f"{len(rows)} and {len(page)} rows"
    for row, cells in zip(rows[:-1], page):
        for title, value in zip(titles, row):
            found = plain(cells[COLUMNS[title]])
            empty = title in ("MAC", "weights B") and value == "0" and found == "-"
            assert found == value or empty, f"{row[0]}, {title}: dory plan says {value}, the page {found}"
    sums = [plain(page[-1][COLUMNS[title]]) for title in ("tiles", "steps", "MAC", "weights B", "cycles", "MAC/c")]
    assert rows[-1][2:] == sums, f"sums: dory plan says {rows[-1][2:]}, the page {sums}"


def check_graph(document, report):
    """A box for each layer, input and output, none over another; an arrow for each tensor that one of them reads."""
    graph = document[document.index('<svg class="graph"'):]
    graph = graph[:graph.index("</svg>")]
    boxes = [tuple(map(float, found)) for found in
             re.findall(r'<g class="node [^>]*><rect x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)" height="([0-9.]+)"', graph)]
    ports = len(report["network"]["inputs"]) + len(report["network"]["outputs"])
    assert len(boxes) == len(report["layers"]) + ports, f"{len(boxes)} boxes"
    for i, (x, y, width, height) in enumerate(boxes):
        for left, top, *_ in boxes[:i]:
            assert abs(x - left) >= width or abs(y - top) >= height, f"box {i} lies over another"
    reads = sum(len(layer["inputs"]) for layer in report["layers"]) + len(report["network"]["outputs"])
    arrows = re.findall(r'class="line" d="M([0-9.]+) ([0-9.]+)[^"]*H([0-9.]+)"', graph)
    assert len(arrows) == reads, f"{len(arrows)} arrows instead of {reads}"
    for start, y, end in ((float(a), float(b), float(c)) for a, b, c in arrows):
        assert any(abs(x + width - start) < 0.1 and top <= y <= top + height for x, top, width, height in boxes), "starts at no box"
        assert any(abs(x - end) < 0.1 for x, *_ in boxes), "ends at no box"


def check_names(document, report):
    """A tensor in L2 is named after its layer, not only by its number."""
    for tensor in report["tensors"]:
        if tensor["producer"] is not None:
            name = f"{tensor['producer']} {report['layers'][tensor['producer']]['name']} → {tensor['name']}"
            assert f'aria-label="{html.escape(name)}' in document, f"{name} is not in the page"


def check_totals(text, document):
    """The lines behind the table."""
    body = plain(html.unescape(re.sub("<[^>]*>", " ", document[document.index("<main"):document.index("</main>")])))
    body = re.sub(r"\s+", " ", body)
    cycles, waits, rate = re.search(r"(\d+) cycles in all, (\d+) of them waiting for L3, .*before the first layer: (\S+) MAC/cycle", text).groups()
    assert f"Cycles of one run {cycles} " in body, f"{cycles} cycles"
    assert f"Throughput {rate} MAC/cycle" in body, f"{rate} MAC/cycle"
    assert f" {waits} " in body, f"{waits} cycles of waiting"
    near = re.search(r"within (\S+) % of the optimum: .* fewer than (\d+) cycles", text)
    if near:
        assert plain(f"Within {near[1]} % of the optimum: in these layouts, of all tiles and places of tensors compared, none takes fewer than {near[2]} cycles") in body
    else:
        assert plain("Proven optimal: in these layouts, of all tiles and places of tensors compared, none is faster") in body
    tail = re.search(r"flash: at least (\d+) cycles as (\d+) bytes", plain(text))
    assert bool(tail) == ("still to come" in body), "the L3 tail"
    if tail:
        assert f"lower bound of {tail[1]} cycles" in body and f"{tail[2]} bytes of weights are still to come" in body
    beside = re.search(r"L2 beside it: (\d+) bytes of code (\d+) of application (\d+) of tables", plain(text))
    assert f"L2 has {int(beside[1]) + int(beside[2])} bytes for code and application and {beside[3]} for tables" in body


def main():
    dory, model, folder = sys.argv[1:]
    browser = find_chromium()
    if not browser or not os.path.exists(model):
        print("skipped: no Chromium (Debian: apt-get install chromium), or no model")
        return SKIPPED
    common = [model, "--target", "gap8"]
    plan = subprocess.run([dory, "plan", *common], capture_output=True, text=True, check=True).stdout
    subprocess.run([dory, "report", *common, "--output-dir", folder], capture_output=True, check=True)
    document = run_chromium(browser, os.path.join(folder, "report.html"), "--dump-dom")
    titles, rows, rest = plan_table(plan)
    check_layers(titles, rows, page_table(document))
    check_totals(rest, document)
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    check_graph(document, report)
    check_names(document, report)
    print(f"{len(rows) - 1} layers: {len(titles)} columns and all totals are equal")
    return 0


sys.exit(main())
