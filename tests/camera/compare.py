#!/usr/bin/env python3
"""Compares what camera_check prints with what it should have seen and done.

usage: compare.py LOG PICTURES DORY MODEL [--png FILE]

LOG: output of camera_check. PICTURES: the folder of draw_pictures.py, which the camera shows in a circle. Each captured frame must be one
of the pictures, pixel by pixel, and none twice; each image the mean of areas as computed here,
pixel by pixel; each answer the one of DORY run MODEL, the golden model. --png: the frames of the first part, each with
its image beside it."""
import argparse
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

WIDTH, HEIGHT, SIDE = 324, 244, 8


def rows_of(log, name):
    """{number: bytes} of lines such as "frame 0 0a0b0c"."""
    shown = {}
    for number, pixels in re.findall(r'^%s (\d+) ([0-9a-f]+)$' % name, log, re.MULTILINE):
        shown[int(number)] = shown.get(int(number), b'') + bytes.fromhex(pixels)
    return shown


def weights(index):
    """{pixel: weight} of the pixels that pixel `index` of the image covers along one axis, in parts of which SIDE are a pixel."""
    low, high = index * HEIGHT, (index + 1) * HEIGHT
    return {at: min(high, (at + 1) * SIDE) - max(low, at * SIDE) for at in range(low // SIDE, (high - 1) // SIDE + 1)}


def area_mean(picture, row, column):
    """Pixel of the image: mean over its area of the square in the picture's middle, rounded to the nearest, half up."""
    left = (WIDTH - HEIGHT) // 2
    total = sum(picture[y * WIDTH + left + x] * down * across for y, down in weights(row).items() for x, across in weights(column).items())
    return (2 * total + HEIGHT * HEIGHT) // (2 * HEIGHT * HEIGHT)


def golden_logits(dory, model, image):
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
        file.write('\n'.join(map(str, image)) + '\n')
        file.flush()
        output = subprocess.run([dory, 'run', model, '--input', file.name], check=True, capture_output=True, text=True).stdout
    return [int(word) for word in output.split()[1:]]


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def write_png(path, frames, images):
    """A row a frame: the frame, a gap, the image with each pixel enlarged."""
    scale, gap = HEIGHT // SIDE, 16
    lines = []
    for number in sorted(frames):
        for row in range(HEIGHT):
            image_row = min(row // scale, SIDE - 1) * SIDE
            enlarged = b''.join(bytes([pixel]) * scale for pixel in images[number][image_row:image_row + SIDE])
            lines.append(b'\0' + frames[number][row * WIDTH:(row + 1) * WIDTH] + b'\xff' * gap + enlarged)
    header = struct.pack('>IIBBBBB', len(lines[0]) - 1, len(lines), 8, 0, 0, 0, 0)
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(b''.join(lines), 9)) + chunk(b'IEND', b''))


def main():
    parser = argparse.ArgumentParser()
    for name in ('log', 'pictures', 'dory', 'model'):
        parser.add_argument(name)
    parser.add_argument('--png')
    arguments = parser.parse_args()
    with open(arguments.log) as file:
        log = file.read()
    pictures = []
    for number in range(len(glob.glob(os.path.join(arguments.pictures, 'picture-*.raw')))):
        with open(os.path.join(arguments.pictures, 'picture-%d.raw' % number), 'rb') as file:
            pictures.append(file.read())

    # camera_check goes through its frames twice, overlapped and in turn; each part has numbers of its own.
    parts = log.split('in turn begins\n')
    if len(parts) != 2:
        sys.exit('the log has no two parts')
    compared = 0
    for part in parts:
        frames, images = rows_of(part, 'frame'), rows_of(part, 'image')
        answers = {int(n): (int(a), int(logit)) for n, a, logit in re.findall(r'^frame (\d+): a (\d), logit (-?\d+)$', part, re.MULTILINE)}
        if len(frames) < 2 or not frames.keys() == images.keys() == answers.keys():
            sys.exit('the log has frames %s, images %s, answers %s' % (sorted(frames), sorted(images), sorted(answers)))
        seen = []
        for number in sorted(frames):
            if frames[number] not in pictures:
                sys.exit('frame %d is none of the pictures' % number)
            seen.append(pictures.index(frames[number]))
            expected = bytes(area_mean(frames[number], row, column) for row in range(SIDE) for column in range(SIDE))
            if images[number] != expected:
                sys.exit('image %d is %s, should be %s' % (number, images[number].hex(), expected.hex()))
            logits = golden_logits(arguments.dory, arguments.model, expected)
            best = logits.index(max(logits))
            if answers[number] != (best, logits[best]):
                sys.exit('frame %d: answer %s, golden model %s' % (number, answers[number], (best, logits[best])))
            if best != seen[-1] % 10:
                sys.exit('frame %d shows a %d' % (number, seen[-1] % 10))
            compared += 1
        if len(set(seen)) != len(seen):
            sys.exit('pictures %s: one of them twice' % seen)
        if arguments.png and part == parts[0]:
            write_png(arguments.png, frames, images)
        print('pictures %s: frames, images and answers are equal' % ', '.join(map(str, seen)))
    print('%d frames of %d pixels compared' % (compared, WIDTH * HEIGHT))


if __name__ == '__main__':
    main()
