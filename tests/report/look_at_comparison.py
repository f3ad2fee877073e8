#!/usr/bin/env python3
"""Opens a comparison of two reports in headless Chromium: its figures are those of the two files, and both plans are drawn.

usage: look_at_comparison.py FOLDER      with first.json, second.json, comparison.html; exit status 77: there is no Chromium
"""
import html
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from look import SKIPPED, check_picture, find_chromium, run_chromium


def cells_of(table):
    rows = re.findall(r"<tr>(.*?)</tr>", table)[1:]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


def table_of(document, style):
    body = document[document.index(f'<table class="{style}">'):]
    return cells_of(body[:body.index("</table>")])


def change(first, second):
    return "=" if first == second else f"{'+' if second > first else '−'}{abs(second - first):,}"


def check_sums(rows, first, second):
    for name, place, key in (("cycles of one run", "totals", "predicted_cycles"), ("L2 used, bytes", "memory", "l2_peak_bytes"),
                             ("flash, bytes", "memory", "flash_bytes"), ("tiles", "totals", "tiles")):
        row = next(row for row in rows if row[0] == name)
        assert row[1:3] == [f"{report[place][key]:,}" for report in (first, second)], f"{name}: {row}"


def check_layers(rows, first, second):
    """Every layer of both once; pairs have the same name, and the difference of their cycles."""
    names = [[layer["name"] for layer in report["layers"]] for report in (first, second)]
    spans = [[layer["profile_cycles"] for layer in report["layers"]] for report in (first, second)]
    assert len(rows) == len(names[1]) and names[1][:len(names[0])] == names[0], "the sample's second plan has more layers"
    for index, row in enumerate(rows):
        if index < len(names[0]):
            assert row[4:6] == [f"{cycles[index]:,}" for cycles in spans], row
            assert row[7] == change(spans[0][index], spans[1][index]), row
        else:
            assert row[4:7] == ["–", f"{spans[1][index]:,}", "second only"], row


def main():
    folder, browser = sys.argv[1], find_chromium()
    if not browser:
        print("skipped: there is no Chromium (Debian: apt-get install chromium)")
        return SKIPPED
    first, second = (json.load(open(os.path.join(folder, name))) for name in ("first.json", "second.json"))
    page, picture = os.path.join(folder, "comparison.html"), os.path.join(folder, "screenshot.png")
    run_chromium(browser, page, f"--screenshot={os.path.abspath(picture)}")
    check_picture(picture)
    document = run_chromium(browser, page, "--dump-dom")
    body = document[document.index("<main"):document.index("</main>")]
    assert "<script" not in body and "NaN" not in body and "undefined" not in body
    check_sums(table_of(body, "sums"), first, second)
    check_layers(table_of(body, "pairs"), first, second)
    assert body.count('class="buffer') >= len(first["buffers"]) + len(second["buffers"]), "buffers are missing"
    assert body.count("<svg") == 2, "two plans are to be drawn"
    print(f"{page}: drawn in {picture}")
    return 0


sys.exit(main())
