"""The shapes of well-known networks. To add one: a function like mobilenet_v1() and a line in NETWORKS."""

import functools
import random

from .layers import Network

# channels, stride
MOBILENET_V1_BLOCKS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + 5 * [(512, 1)] + [(1024, 2), (1024, 1)]

# expansion, channels, repetitions, stride of the first
MOBILENET_V2_BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]

# channels, stride
RESNET8_BLOCKS = [(16, 1), (32, 2), (64, 2)]
DRONET_BLOCKS = [(32, 2), (64, 2), (128, 2)]


def mobilenet_v1(net, x, classes):
    x = net.conv("conv0", x, net.channels(32), 3, stride=2)
    for i, (channels, stride) in enumerate(MOBILENET_V1_BLOCKS, 1):
        x = net.depthwise(f"block{i}.depthwise", x, 3, stride)
        x = net.conv(f"block{i}.pointwise", x, net.channels(channels), 1)
    x = net.global_average_pool("pool", x)
    net.fully_connected("fc", x, classes)


def mobilenet_v2(net, x, classes):
    x = net.conv("conv0", x, net.channels(32), 3, stride=2)
    blocks = [(expansion, channels, stride if i == 0 else 1)
              for expansion, channels, repetitions, stride in MOBILENET_V2_BLOCKS for i in range(repetitions)]
    for i, (expansion, channels, stride) in enumerate(blocks, 1):
        x = inverted_residual(net, f"block{i}", x, expansion, net.channels(channels), stride)
    # The paper never narrows the last convolution.
    x = net.conv("conv_last", x, max(1280, net.channels(1280)), 1)
    x = net.global_average_pool("pool", x)
    net.fully_connected("fc", x, classes)


def inverted_residual(net, name, x, expansion, channels, stride):
    y = x
    if expansion != 1:
        y = net.conv(f"{name}.expand", y, expansion * x.shape[2], 1)
    y = net.depthwise(f"{name}.depthwise", y, 3, stride)
    y = net.conv(f"{name}.project", y, channels, 1)
    return net.add(f"{name}.add", x, y) if x.shape == y.shape else y


def resnet8(net, x, classes):
    x = net.conv("conv0", x, net.channels(16), 3)
    for i, (channels, stride) in enumerate(RESNET8_BLOCKS, 1):
        x = residual(net, f"block{i}", x, net.channels(channels), stride, relu=True)
    x = net.global_average_pool("pool", x)
    net.fully_connected("fc", x, classes)


def dronet(net, x, classes):
    x = net.conv("conv0", x, net.channels(32), 5, stride=2)
    x = net.max_pool("pool", x, 2)
    for i, (channels, stride) in enumerate(DRONET_BLOCKS, 1):
        x = residual(net, f"block{i}", x, net.channels(channels), stride, relu=i == len(DRONET_BLOCKS))
    net.fully_connected("fc", x, classes, bias=False)


def residual(net, name, x, channels, stride, relu):
    y = net.conv(f"{name}.conv1", x, channels, 3, stride)
    y = net.conv(f"{name}.conv2", y, channels, 3)
    shortcut = x if x.shape == y.shape else net.conv(f"{name}.shortcut", x, channels, 1, stride)
    return net.add(f"{name}.add", y, shortcut, relu)


def ds_cnn(net, x, classes):
    x = net.conv("conv0", x, net.channels(64), (10, 4), stride=2)
    for i in range(1, 5):
        x = net.depthwise(f"block{i}.depthwise", x, 3)
        x = net.conv(f"block{i}.pointwise", x, net.channels(64), 1)
    x = net.global_average_pool("pool", x)
    net.fully_connected("fc", x, classes)


# Layers of the sizes that tests/kernels measures in L1, too large for it.
def convolutions(net, x, classes):
    x = net.conv("first", x, 32, 3, stride=2)
    for channels, kernel in [(32, 3), (64, 1), (64, 1), (32, 3), (128, 1), (64, 1), (256, 1), (64, 1)]:
        x = net.conv(f"{kernel}x{kernel}.{x.shape[2]}-{channels}", x, channels, kernel)
    x = net.global_average_pool("pool", x)
    net.fully_connected("fc", x, classes)


RANDOM_LAYERS, RANDOM_MAC = 13, 8000000     # of a network; at most, of a layer


# Layers of any shape one behind the other, to compare predictions with.
def random_layers(seed, net, x, classes):
    dice = random.Random(seed)
    x = net.conv("first", x, 4 * dice.randint(1, 8), 3, stride=dice.randint(1, 2))
    while len(net.layers) < RANDOM_LAYERS:
        height, width, channels = x.shape
        name, outputs, kernel = f"layer{len(net.layers)}", 4 * dice.randint(1, 40), dice.choice([1, 1, 3, 5])
        stride = 2 if min(height, width) > 12 and dice.random() < 0.25 else 1
        mac = height * width * channels * outputs * kernel * kernel // (stride * stride)
        kind = dice.choice(["convolution"] * 4 + ["depthwise"] * 3 + ["pool", "add"])
        if kind == "depthwise":
            x = net.depthwise(name, x, dice.choice([3, 3, 5]), stride)
        elif kind == "pool" and min(height, width) > 12:
            x = net.max_pool(name, x, 2)
        elif kind == "add":
            x = net.add(name, x, net.depthwise(name + ".other", x, 3))
        elif kind == "convolution" and mac <= RANDOM_MAC:
            x = net.conv(name, x, outputs, kernel, stride)
    net.fully_connected("fc", net.global_average_pool("mean", x), classes)


# name: function, input height, width, channels, classes, padding
NETWORKS = {
    "mobilenet_v1": (mobilenet_v1, (128, 128, 3), 1000, "symmetric"),
    "mobilenet_v2": (mobilenet_v2, (128, 128, 3), 1000, "symmetric"),
    "resnet8": (resnet8, (32, 32, 3), 10, "same"),      # MLPerf Tiny, CIFAR-10
    "ds_cnn": (ds_cnn, (49, 10, 1), 12, "same"),        # MLPerf Tiny, keyword spotting
    "dronet": (dronet, (200, 200, 1), 2, "symmetric"),
    **{f"random_{seed}": (functools.partial(random_layers, seed), (30 + 7 * seed, 48 - 5 * seed, 3), 10, "symmetric") for seed in range(1, 7)},
    "convolutions": (convolutions, (64, 64, 3), 10, "symmetric"),
}


def build(name, width_multiplier, resolution, classes):
    function, shape, default_classes, padding = NETWORKS[name]
    net = Network(width_multiplier, padding)
    x = net.append("input", "input", (), (*(resolution or shape[:2]), shape[2]))
    function(net, x, classes or default_classes)
    return net.layers
