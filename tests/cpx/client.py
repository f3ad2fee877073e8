#!/usr/bin/env python3
"""Bitcraze's own client library, cflib, talks to a program of this build as to an AI-deck.

Usage: client.py PROGRAM      exit status 77: no cflib here (pip install cflib)"""
import os
import queue
import socket
import struct
import subprocess
import sys
import threading
import time

try:
    from cflib.cpx import CPX, CPXFunction, CPXPacket, CPXTarget
    from cflib.cpx.transports import SocketTransport
except ImportError as error:
    print('skipped: %s has no cflib: %s' % (sys.executable, error))
    sys.exit(77)

WIDTH, HEIGHT = 324, 244
SECONDS = 20


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def start(program, port):
    process = subprocess.Popen([program], env=dict(os.environ, DORY_CPX_PORT=str(port)), stdout=subprocess.PIPE, text=True)
    for _ in range(100 * SECONDS):
        with socket.socket() as probe:
            if probe.connect_ex(('127.0.0.1', port)) == 0:
                return process  # client 1, which goes at once
        assert process.poll() is None, 'the program has ended: %s' % process.stdout.read()
        time.sleep(0.01)
    raise AssertionError('nobody listens')


class Client:
    """cflib's router drops packets of a function that nobody has asked for yet, and reads for ever where its peer has gone."""

    def __init__(self, port):
        self.cpx = CPX(SocketTransport('127.0.0.1', port))
        try:
            self.cpx.receivePacket(CPXFunction.APP, timeout=0.01)  # its queue is there from now on
        except queue.Empty:
            pass

    def send(self, data, function=CPXFunction.APP, destination=CPXTarget.GAP8):
        self.cpx.sendPacket(CPXPacket(function, destination, data=bytearray(data)))

    def receive(self):
        return self.cpx.receivePacket(CPXFunction.APP, timeout=SECONDS)

    def close(self):
        self.cpx._router._connected = False
        self.cpx.close()


def test_answers(client):
    for count in [0, 1, 2, 3, 97, 98, 99, 255, 256, 1000, 1019, 1020]:
        data = bytes(i * 37 % 251 for i in range(count))
        client.send(data)
        packet = client.receive()
        assert bytes(packet.data) == data[::-1], 'an answer to %d bytes has %d' % (count, len(packet.data))
        assert packet.source == CPXTarget.GAP8 and packet.destination == CPXTarget.HOST and packet.lastPacket
    print('answers of 0 to 1020 bytes are right')


def test_many(client):
    """More at once than all queues hold: back-pressure, nothing lost, nothing out of order."""
    sent = [struct.pack('<I', i) * (1 + i % 200) for i in range(2000)]

    def send_all():
        for data in sent:
            client.send(data)

    sender = threading.Thread(target=send_all)
    sender.start()
    for data in sent:
        assert bytes(client.receive().data) == data[::-1]
    sender.join()
    print('2000 packets in a row come back in order')


def test_picture(client, number):
    client.send(b'picture')
    header = client.receive()
    magic, width, height, depth, kind, size = struct.unpack('<BHHBBI', header.data)
    assert (magic, width, height, depth, kind, size) == (0xBC, WIDTH, HEIGHT, 1, 0, WIDTH * HEIGHT), header.data
    pixels = bytearray()
    while len(pixels) < size:
        packet = client.receive()
        pixels += packet.data
        assert packet.lastPacket == (len(pixels) == size)
    expected = bytes((i * i % 2**32 // 7 + number) % 256 for i in range(size))
    assert bytes(pixels) == expected, 'the pixels differ'
    print('a picture of %d x %d is as it was sent' % (width, height))


def test_viewer(port, number):
    """As Bitcraze's opencv-viewer reads the socket: bytes of a packet, its header, and all behind it."""
    with socket.create_connection(('127.0.0.1', port), SECONDS) as viewer, viewer.makefile('rb') as stream:
        viewer.sendall(struct.pack('<HBB', 2 + 7, 3 << 3 | 4, 5) + b'picture')
        length, _, function = struct.unpack('<HBB', stream.read(4))
        magic, width, height, _, _, size = struct.unpack('<BHHBBI', stream.read(length - 2))
        assert (magic, width, height, function) == (0xBC, WIDTH, HEIGHT, 5)
        pixels = bytearray()
        while len(pixels) < size:
            length, _, _ = struct.unpack('<HBB', stream.read(4))
            pixels += stream.read(length - 2)
        assert bytes(pixels) == bytes((i * i % 2**32 // 7 + number) % 256 for i in range(size))
    print('as the viewer reads it')


def test_leaving(port):
    """A client that goes in the middle of a picture, and one that sends what is no packet: neither is any harm to the next."""
    with socket.create_connection(('127.0.0.1', port), SECONDS) as rude:
        rude.sendall(struct.pack('<HBB', 9, 3 << 3 | 4, 5) + b'picture')
        rude.recv(100)
    with socket.create_connection(('127.0.0.1', port), SECONDS) as wrong:
        wrong.sendall(b'\xff' * 100)
        assert wrong.recv(100) == b'', 'it goes on with a stream that has no packets'


def main():
    port = free_port()
    program = start(sys.argv[1], port)
    try:
        client = Client(port)
        test_answers(client)
        test_many(client)
        client.send(b'x', CPXFunction.SYSTEM, CPXTarget.STM32)  # not for GAP8
        client.send(b'x', CPXFunction.BOOTLOADER)  # for nobody here: no answer
        test_picture(client, 2)
        client.close()
        test_viewer(port, 3)
        test_leaving(port)
        client = Client(port)
        test_answers(client)
        test_picture(client, 6)
        client.send(b'end')
        assert bytes(client.receive().data) == b'dne'
        client.close()
        text, _ = program.communicate(timeout=SECONDS)
    finally:
        program.kill()
    print(text, end='')
    assert program.returncode == 0, 'exit status %d' % program.returncode
    for line in ['client 2 is here', 'client 6 is here', 'success']:
        assert line + '\n' in text, "no '%s'" % line
    assert 'bad 0, strange 1\n' in text
    print('cflib and dory understand each other')


main()
