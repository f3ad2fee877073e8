#!/usr/bin/env python3
"""Runs apps/aideck_classifier, apps/aideck_pose or a project of `dory new --board ai-deck` and compares what it sends with what it should
have seen.

usage: compare.py classifier|pose|project PICTURES DORY MODEL HEIGHTxWIDTH[x3] [--slow] [--stream FILE] COMMAND...

Frames must be pictures of the folder PICTURES one behind the other, none left out (--slow: but where the network takes longer than the camera); the packet for each has class, number and output of
DORY run MODEL, the golden model, on an image that is computed here (x3: in colours, of pictures that are taken for a Bayer pattern), or the
four numbers of a pose; the console says the same. --stream: what went to the PC is whole
pictures, pixel by pixel."""
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

WIDTH, HEIGHT = 324, 244


def covered(index, size, pixels):
    """{pixel: weight}: what pixel `index` of `size` covers of `pixels`."""
    low, high = index * pixels, (index + 1) * pixels
    return {at: min(high, (at + 1) * size) - max(low, at * size) for at in range(low // size, (high - 1) // size + 1)}


RED, GREEN, BLUE = ((0, 0),), ((0, 1), (1, 0)), ((1, 1),)  # row and column in a cell


def mean(picture, left, rows, columns, cell, colour):
    """Of an area's pixels of one colour, rounded to the nearest."""
    sum_, area = 0, 0
    for y, down in rows.items():
        for x, across in columns.items():
            for row, column in colour:
                sum_ += picture[(y * cell + row) * WIDTH + left + x * cell + column] * down * across
                area += down * across
    return (2 * sum_ + area) // (2 * area)


def make_input(picture, height, width, channels=1):
    if height * width == WIDTH * HEIGHT and channels == 1:
        return picture
    cell, colours = (1, [RED]) if channels == 1 else (2, [RED, GREEN, BLUE])
    part_width = min(WIDTH, HEIGHT * width // height) // 4 * 4
    part_height = min(HEIGHT, WIDTH * height // width) // cell * cell
    top, left = (HEIGHT - part_height) // 2 // cell * cell, (WIDTH - part_width) // 2
    rows = [covered(row, height, part_height // cell) for row in range(height)]
    columns = [covered(column, width, part_width // cell) for column in range(width)]
    part = picture[top * WIDTH:]
    return bytes(mean(part, left, row, column, cell, colour) for row in rows for column in columns for colour in colours)


def golden(dory, model, image):
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
        file.write('\n'.join(map(str, image)) + '\n')
        file.flush()
        output = subprocess.run([dory, 'run', model, '--input', file.name], check=True, capture_output=True, text=True).stdout
    return [int(word) for word in output.split()[1:]]


class Classifier:
    packet_format = '<xBBHi'

    @staticmethod
    def expected(outputs):
        return outputs.index(max(outputs)), max(outputs)

    @staticmethod
    def answer(packet):  # its frame, and what is expected of that
        kind, _, frame, output = packet
        return frame, (kind, output)

    @staticmethod
    def lines(seen):
        return ['frame %d: .*, %d' % (frame, output) for frame, (_, output) in enumerate(seen)]


class Project:
    packet_format = '<xIIi'

    @staticmethod
    def expected(outputs):
        return Classifier.expected(outputs)

    @staticmethod
    def answer(packet):
        return packet[0], packet[1:]

    @staticmethod
    def lines(seen):
        return ['frame %d: output %d is the largest, %d' % (frame, index, output) for frame, (index, output) in enumerate(seen)]


class Pose:
    packet_format = '<xHffff'
    SCALE = 1 / 64  # of make_pose.py's output

    @staticmethod
    def expected(outputs):
        return tuple(output * Pose.SCALE for output in outputs)

    @staticmethod
    def answer(packet):
        return packet[0], packet[1:]

    @staticmethod
    def lines(seen):
        return ['frame %d: %d %d %d mm, %d mrad' % (frame, *(int(number * 1000) for number in pose))
                for frame, pose in enumerate(seen) if frame % 5 == 0]


def packets_of(log, packet_format):
    packets = [bytes.fromhex(line) for line in re.findall(r'^to the Crazyflie: ([0-9a-f ]+)$', log, re.MULTILINE)]
    for packet in packets:
        assert len(packet) == struct.calcsize(packet_format) and packet[0] == 1, 'a packet %s' % packet.hex()
    return [struct.unpack(packet_format, packet) for packet in packets]


def is_course(answers, first, expected, is_slow):
    """The answers are those for pictures from `first` on, in a circle; where it is slow, some may be left out."""
    at = first
    for number, answer in enumerate(answers):
        left_out = 0
        while is_slow and number > 0 and left_out < len(expected) and answer != expected[at % len(expected)]:
            at += 1
            left_out += 1
        if answer != expected[at % len(expected)]:
            return False
        at += 1
    return True


def compare_answers(log, kind, expected, is_slow):
    answers = [kind.answer(packet) for packet in packets_of(log, kind.packet_format)]
    assert len(answers) >= 4, '%d packets' % len(answers)
    assert [frame for frame, _ in answers] == list(range(len(answers))), 'frames are missing: %s' % answers
    seen = [answer for _, answer in answers]
    firsts = [first for first in range(len(expected)) if is_course(seen, first, expected, is_slow)]
    assert firsts and (is_slow or len(firsts) == 1), 'answers %s, golden model %s' % (seen, expected)
    lines = re.findall(r'^frame \d+: .*$', log, re.MULTILINE)
    patterns = kind.lines(seen)
    assert len(lines) == len(patterns), 'the console has %d lines' % len(lines)
    for line, pattern in zip(lines, patterns):
        assert re.fullmatch(pattern, line), "the console says '%s', not '%s'" % (line, pattern)
    assert 'answers dropped' in log and ', 0 answers dropped' in log, 'answers were dropped'
    print('%d frames from picture %d on, %s: answers as the golden model has them' % (len(seen), firsts[0], 'in order' if is_slow else 'none left out'))


def frames_of(stream):
    while stream:
        length, targets, function = struct.unpack_from('<HBB', stream)
        assert targets & 0x3F == 4 << 3 | 3 and function == 5, 'targets %02x, function %02x' % (targets, function)
        yield stream[4:2 + length]
        stream = stream[2 + length:]


def compare_stream(path, pictures):
    """As the viewer reads it; the last picture is cut off where the program has ended."""
    with open(path, 'rb') as file:
        frames = frames_of(file.read())
    seen = []
    for header in frames:
        assert struct.unpack('<BHHBBI', header) == (0xBC, WIDTH, HEIGHT, 1, 0, WIDTH * HEIGHT), header
        pixels = b''
        while len(pixels) < WIDTH * HEIGHT:
            part = next(frames, None)
            if part is None:
                break
            pixels += part
        if len(pixels) == WIDTH * HEIGHT:
            assert pixels in pictures, 'picture %d of the stream is none' % len(seen)
            seen.append(pictures.index(pixels))
    assert seen, 'no whole picture'
    print('to the PC: pictures %s' % ', '.join(map(str, seen)))


def main():
    name, pictures_folder, dory, model, size, *command = sys.argv[1:]
    kind = {'classifier': Classifier, 'pose': Pose, 'project': Project}[name]
    is_slow = command[0] == '--slow'
    command = command[is_slow:]
    stream = None
    if command[0] == '--stream':
        stream = command[1]
        command = command[2:]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        print(result.stdout[-2000:])
        sys.exit(result.returncode)
    print(result.stdout, end='')
    pictures = []
    for number in range(len(glob.glob(os.path.join(pictures_folder, 'picture-*.raw')))):
        with open(os.path.join(pictures_folder, 'picture-%d.raw' % number), 'rb') as file:
            pictures.append(file.read())
    shape = tuple(map(int, size.split('x')))
    compare_answers(result.stdout, kind, [kind.expected(golden(dory, model, make_input(picture, *shape))) for picture in pictures], is_slow)
    if stream:
        compare_stream(stream, pictures)


main()
