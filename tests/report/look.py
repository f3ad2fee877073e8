#!/usr/bin/env python3
"""Opens a report in headless Chromium: does it draw, does its script run without an error, are names only text?

usage: look.py PAGE SCREENSHOT LAYERS      exit status 77: there is no Chromium
"""
import html
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

WIDTH, HEIGHT = 1400, 2400
SKIPPED = 77
CYCLES_CELL = r'<td class="number">([0-9,]+)</td><td class="number weak">[^<]*</td><td class="number"><span class="timed"'
LEAST_COLOURS, LEAST_INK = 20, 0.05    # of a picture that is not blank; ink: pixels that are not background


def find_chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def run_chromium(browser, page, *options):
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                   "--disable-background-networking", "--hide-scrollbars", "--enable-logging=stderr",
                   f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}", *options,
                   "file://" + os.path.abspath(page)]
        done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    messages = [line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    assert not messages, f"the page's script reports: {messages}"
    return done.stdout.decode()


def unfilter(kind, line, above, step):
    """One line of a PNG, in place."""
    for i, value in enumerate(line):
        left = line[i - step] if i >= step else 0
        up = above[i]
        corner = above[i - step] if i >= step else 0
        if kind == 1:
            value += left
        elif kind == 2:
            value += up
        elif kind == 3:
            value += (left + up) // 2
        elif kind == 4:
            estimate = left + up - corner
            distances = abs(estimate - left), abs(estimate - up), abs(estimate - corner)
            value += (left, up, corner)[distances.index(min(distances))]
        line[i] = value & 255
    return line


def pixels(path):
    """Every 16th line of an 8-bit RGB or RGBA picture, as a list of pixels."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and colour in (2, 6) and (width, height) == (WIDTH, HEIGHT)
    body, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    step, raw, found = (3 if colour == 2 else 4), zlib.decompress(body), []
    above = bytearray(width * step)
    for row in range(height):
        start = row * (width * step + 1)
        above = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + width * step]), above, step)
        if row % 16 == 0:
            found += [bytes(above[i:i + 3]) for i in range(0, len(above), step)]
    return found


def check_picture(path):
    found = pixels(path)
    colours = set(found)
    background = max(colours, key=found.count) if len(colours) < 50 else found[0]
    ink = sum(pixel != background for pixel in found) / len(found)
    assert len(colours) >= LEAST_COLOURS and ink >= LEAST_INK, f"blank: {len(colours)} colours, {ink:.3f} ink"


ACTIONS = """<script>
document.querySelector("[data-key=steps]").click();
const send = (type, x) => {
  const chart = document.querySelector("svg:not(.graph)"), box = chart.getBoundingClientRect();
  chart.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + 50, bubbles: true }));
};
send("pointermove", 400); send("pointerdown", 400); send("pointermove", 700); send("pointerup", 700); send("pointermove", 500);
[...document.querySelectorAll("th.sortable")].find((title) => title.textContent === "cycles").click();
const tips = [];
for (const node of ["svg .buffer", "svg .node[data-layer='1']", "svg .edge"].map((place) => document.querySelector(place))) {
  node.dispatchEvent(new PointerEvent("pointerenter", { clientX: 9, clientY: 9 }));
  tips.push(document.getElementById("tip").textContent);
}
const times = () => [...document.querySelectorAll(".timed")].map((node) => node.textContent);
const input = document.querySelector(".clock input"), before = times();
input.value = 2 * input.value;
input.dispatchEvent(new Event("input"));
const labels = [...document.querySelectorAll(".scale span, svg:not(.graph) text:not(.inside)")];
const boxes = labels.map((label) => label.getBoundingClientRect()), overlapping = [];
boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, k) => {
  if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
    overlapping.push(labels[k].textContent + " and " + labels[i].textContent);
}));
document.body.setAttribute("data-result", JSON.stringify({ tips, before, after: times(), overlapping }));
</script>
</body>"""


def check_actions(browser, page):
    """Other axis, zoom, sorting, hover, clock; labels of axes that overlap."""
    with open(page, encoding="utf-8") as file:
        acted = file.read().replace("</body>", ACTIONS)
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as file:
        file.write(acted)
        file.flush()
        document = run_chromium(browser, file.name, "--dump-dom")
    assert re.search(r'class="readout">cycle [0-9,]+: layer ', document), "nothing is said about the time under the pointer"
    result = json.loads(html.unescape(re.search(r'data-result="([^"]*)"', document)[1]))
    for tip, words in zip(result["tips"], ("lives in steps", "normalisation", "lies in")):
        assert words in tip, f"'{tip}' says nothing of '{words}' under the pointer"
    assert len(result["before"]) > 3, "there are no times"
    for before, after in zip(result["before"], result["after"]):
        assert before != after, f"{before} does not follow the clock"
    assert not result["overlapping"], f"labels overlap: {result['overlapping']}"
    cycles = [int(text.replace(",", "")) for text in re.findall(CYCLES_CELL, document)]
    assert len(cycles) > 2 and cycles == sorted(cycles, reverse=True), "layers are not sorted"


def check_document(document, layers):
    """The page as the browser has it after its script has run."""
    body = document[document.index("<main"):document.index("</main>")]
    for title, following in (("Cycles per layer", "Plan of the layers"), ("Plan of the layers", "L1 arena per layer")):
        rows = len(re.findall(r"<tr", body[body.index(f"<h2>{title}"):body.index(f"<h2>{following}")]))
        assert rows == layers + 2, f"{rows} rows below '{title}'"     # titles and total
    graph = body[body.index('class="graph"'):body.index("<h2>Memory")]
    assert graph.count("data-layer=") == layers and graph.count('class="node port"') == 2, "boxes are missing in the graph"
    assert graph.count('class="edge"') == layers + 1, "arrows are missing in the graph"
    assert body.count('class="buffer') >= 2 * layers + 1, "buffers are missing in the memory map"
    assert "<script" not in body and "<img" not in body, "a name became an element"
    assert "NaN" not in body and "undefined" not in body and "Infinity" not in body, "numbers are missing"
    proof = "Proven optimal" if layers < 10 else "Within [0-9.]+ % of the optimum"
    assert re.search(proof, body), "nothing is said about the optimum"
    tail = re.search("L3 sets a lower bound of [0-9,]+ cycles: when .* starts, 77,000 bytes of weights", body)
    assert bool(tail) == (layers >= 10), "the L3 tail is said where there is none, or not said"
    assert "still to come" in body or layers < 10
    assert "<script>" in html.unescape(body), "names are missing"


def main():
    page, picture, layers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    browser = find_chromium()
    if not browser:
        print("skipped: there is no Chromium (Debian: apt-get install chromium)")
        return SKIPPED
    if os.path.exists(picture):
        os.remove(picture)
    run_chromium(browser, page, f"--screenshot={os.path.abspath(picture)}")
    check_picture(picture)
    check_document(run_chromium(browser, page, "--dump-dom"), layers)
    check_actions(browser, page)
    print(f"{page}: drawn in {picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
