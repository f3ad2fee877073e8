"""Seeded random numbers, images and weights."""

import math

import numpy as np


class Random:
    """The splitmix64 generator: unlike numpy's own, its numbers depend on no version and no libm."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, seed):
        self.state = seed

    def bits(self, count):
        z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(self.STEP) + np.uint64(self.state % 2**64)
        self.state += count * self.STEP
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    def uniform(self, low, high, count):
        """Integers, low and high included."""
        return low + (self.bits(count) >> np.uint64(1)).astype(np.int64) % (high - low + 1)

    def one(self, low, high):
        return int(self.uniform(low, high, 1)[0])

    def normal(self, shape):
        """Integers in -1020..1020, bell-shaped with deviation 209: each the sum of eight bytes."""
        octets = self.bits(math.prod(shape)).view(np.uint8).reshape(-1, 8)
        return (octets.sum(axis=1, dtype=np.int64) - 1020).reshape(shape)


def natural_image(random, shape):
    """Gradients, soft blobs, discs with an edge, and noise, stretched over 0..255."""
    height, width, channels = shape
    y = ((2 * np.arange(height) + 1 - height) / max(height, width))[:, None, None]
    x = ((2 * np.arange(width) + 1 - width) / max(height, width))[None, :, None]
    image = x * random.uniform(-60, 60, channels) + y * random.uniform(-60, 60, channels)
    for i in range(12):
        down, right = random.uniform(-100, 100, 2) / 100
        radius = random.one(10, 60) / 100
        distance = (np.square(y - down) + np.square(x - right)) / (radius * radius)
        profile = 1 / np.square(1 + distance) if i % 2 else (distance < 0.25) * 1.0
        image = image + profile * (random.one(-80, 80) + random.uniform(-30, 30, channels))
    image = image + random.normal(shape) / 50
    image = image - image.min()
    return np.floor(image * 255 / image.max() + 0.5).astype(np.int64)


def random_weight(random, shape, bits):
    """Weights of one scale for the whole layer, so that output channels differ in range. With fewer
    than 8 bits the largest are cut off, or nearly all would be zero."""
    gain = random.uniform(64, 256, shape[0]).reshape(-1, *(1 for _ in shape[1:]))
    value = random.normal(shape) * gain
    peak = np.abs(value).max()
    most = 2 ** (bits - 1) - 1
    scale = 8 // bits * most
    return np.clip((2 * scale * value + peak) // (2 * peak), -most - 1, most)
