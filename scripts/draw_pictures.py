#!/usr/bin/env python3
"""Draws what a camera sees: digits in chalk on a blackboard, one a picture, 324 x 244 grey pixels. Same arguments, same pictures.

usage: draw_pictures.py FOLDER [COUNT]

FOLDER gets picture-0.raw, picture-1.raw, ..., which show 0, 1, ..., 9, 0, ..., row by row, a byte a pixel; and pictures.raw, all of them
one after the other. gvsoc's camera shows the former (run_gvsoc.py --camera FOLDER/picture-%d.raw)."""
import math
import os
import random
import sys

WIDTH, HEIGHT = 324, 244
CHALK_RADIUS = 17

# Strokes as polylines in a square of 8 x 8 whose middle is the picture's. ('arc', x, y, radius x, radius y, from, to) is a part of an
# ellipse; degrees, clockwise from the right.
DIGITS = [
    [[('arc', 4.0, 4.0, 1.9, 3.1, 0, 360)]],
    [[(2.7, 2.2), (4.4, 0.9), (4.4, 7.1)]],
    [[('arc', 3.9, 2.6, 1.9, 1.7, 190, 400), (2.0, 6.9), (6.2, 6.9)]],
    [[('arc', 3.7, 2.4, 1.8, 1.5, 210, 440), ('arc', 3.7, 5.4, 2.0, 1.7, 280, 510)]],
    [[(4.3, 0.9), (1.8, 4.9), (6.4, 4.9)], [(5.0, 3.2), (4.6, 7.1)]],
    [[(5.9, 1.0), (2.6, 1.0), (2.4, 3.6), ('arc', 3.8, 5.2, 2.0, 1.8, 235, 510)]],
    [[(4.7, 0.8), (2.4, 4.2), ('arc', 3.9, 5.4, 1.7, 1.6, 180, 540)]],
    [[(1.9, 1.1), (5.9, 1.1), (3.6, 7.1)], [(2.6, 4.1), (5.4, 4.1)]],
    [[('arc', 4.0, 2.4, 1.4, 1.4, 0, 360)], [('arc', 4.0, 5.5, 1.6, 1.6, 0, 360)]],
    [[('arc', 4.0, 2.6, 1.7, 1.7, 0, 360)], [(5.7, 2.6), (5.3, 5.0), (4.2, 7.1)]],
]


def corners(stroke):
    for part in stroke:
        if part[0] != 'arc':
            yield part
            continue
        _, x, y, radius_x, radius_y, start, end = part
        for step in range(25):
            angle = math.radians(start + (end - start) * step / 24)
            yield x + radius_x * math.cos(angle), y + radius_y * math.sin(angle)


def points(stroke):
    """Points of the chalk's way, at most two pixels apart, in pixels of the picture."""
    unit = HEIGHT / 8
    path = [((WIDTH - HEIGHT) / 2 + x * unit, y * unit) for x, y in corners(stroke)]
    for (x0, y0), (x1, y1) in zip(path, path[1:]):
        steps = max(1, math.ceil(math.dist((x0, y0), (x1, y1)) / 2))
        for step in range(steps + 1):
            yield x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps


def chalk_layer(digit):
    """0 to 1 a pixel: how much chalk there is."""
    layer = [0.0] * (WIDTH * HEIGHT)
    for stroke in DIGITS[digit]:
        for x, y in points(stroke):
            for row in range(max(0, int(y) - CHALK_RADIUS), min(HEIGHT, int(y) + CHALK_RADIUS + 2)):
                for column in range(max(0, int(x) - CHALK_RADIUS), min(WIDTH, int(x) + CHALK_RADIUS + 2)):
                    edge = CHALK_RADIUS - math.hypot(column - x, row - y)
                    if edge > 0:
                        at = row * WIDTH + column
                        layer[at] = max(layer[at], min(1.0, edge / 4))
    return layer


def draw(digit, dice):
    """A dark board that is lit from the left, chalk with grain, a sensor's noise."""
    picture = bytearray(WIDTH * HEIGHT)
    grain, noise = dice.randbytes(WIDTH * HEIGHT), dice.randbytes(WIDTH * HEIGHT)
    for at, chalk in enumerate(chalk_layer(digit)):
        row, column = divmod(at, WIDTH)
        board = 14 - 8 * column / WIDTH + 3 * math.sin(row / 9) * math.sin(column / 23)
        white = 250 - 20 * column / WIDTH - (grain[at] % 64 if grain[at] > 90 else 0) * 0.8
        value = board + chalk * (white - board) + noise[at] % 7 - 3
        picture[at] = max(0, min(255, round(value)))
    return bytes(picture)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else len(DIGITS)
    os.makedirs(folder, exist_ok=True)
    dice = random.Random(324244)
    pictures = [draw(index % len(DIGITS), dice) for index in range(count)]
    for index, picture in enumerate(pictures):
        with open(os.path.join(folder, 'picture-%d.raw' % index), 'wb') as file:
            file.write(picture)
    with open(os.path.join(folder, 'pictures.raw'), 'wb') as file:
        file.write(b''.join(pictures))


if __name__ == '__main__':
    main()
