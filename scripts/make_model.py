#!/usr/bin/python3
"""Makes an integer network in the form in which NEMO exports it.

The shape is that of a well-known network; the weights are seeded random integers. What makes it
usable as a test or benchmark is the calibration: kappa, lamda and the divisor of every layer are
chosen from a simulation of the network on natural-looking images, so that activations spread over
0..255 in every channel of every layer, as in a trained network. The same simulation, in exact
integers, gives the expected output of every layer (--golden-dir).

    scripts/make_model.py mobilenet_v1 mobilenet.onnx --width-multiplier 0.5 --golden-dir golden

Same options, same bytes: random numbers and statistics are computed in integers, or with float
operations that IEEE 754 fixes to the last bit. Needs numpy and onnx, nothing else.

Networks are in integer_network/shapes.py.
"""

import argparse
import sys

import numpy as np
import onnx

sys.dont_write_bytecode = True      # the source tree may be read-only

from integer_network.calibration import calibrate
from integer_network.onnx_form import OnnxWriter, annotate_weights, check_representable
from integer_network.output import print_summary, write_golden, write_values
from integer_network.randomness import Random, natural_image
from integer_network.shapes import NETWORKS, build

CALIBRATION_IMAGES = 4


def resolution(text):
    try:
        size = tuple(int(part) for part in text.split("x"))
        size = size * 2 if len(size) == 1 else size
    except ValueError:
        size = ()
    if len(size) != 2 or min(size) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is neither SIZE nor HEIGHTxWIDTH")
    return size


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Make an integer network in NEMO's ONNX form, with seeded weights and calibrated requantisation.")
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("output", help="the ONNX file to write")
    parser.add_argument("--width-multiplier", type=float, default=1.0, metavar="X", help="scale of all channel counts")
    parser.add_argument("--resolution", type=resolution, metavar="N|HxW",
                        help="size of the input (default: the network's usual one, for MobileNets 128)")
    parser.add_argument("--classes", type=int, metavar="N", help="number of logits (default: the network's usual one)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of weights and images (default: 1)")
    parser.add_argument("--input-file", metavar="FILE", help="write the first calibration image as input.txt")
    parser.add_argument("--golden-dir", metavar="DIR", help="write input.txt and the expected out_layerN.txt of it")
    parser.add_argument("--verbose", action="store_true", help="print a summary of every layer")

    parser.add_argument("--weight-bits", type=int, choices=[2, 4, 8], default=8,
                        help="of all weights; fewer than 8 are told by Quantlab's attribute weight_bits")

    form = parser.add_argument_group("form of the graph (default: as NEMO writes it)")
    form.add_argument("--constants", choices=["mixed", "initializer", "node"], default="mixed",
                      help="where constants are: weights as initialisers and scalars as Constant nodes, or all alike")
    form.add_argument("--names", choices=["numeric", "words"], default="numeric", help="tensor names")
    form.add_argument("--clip", choices=["attribute", "input"], help="bounds of Clip (default: what the opset has)")
    form.add_argument("--pads", choices=["conv", "node"], default="conv", help="padding in Conv or in Pad nodes")
    form.add_argument("--requantisation", choices=["int64", "float"], default="int64",
                      help="Cast, Mul, Div, Cast, Clip or Mul, Div, Floor, Clip")
    form.add_argument("--opset", type=int, metavar="N", help="9 to 17 (default: 9, with --clip input 13)")

    values = parser.add_argument_group("properties of the values")
    values.add_argument("--divisor", choices=["even", "odd"], default="even",
                        help="divisors of normalisations: 2^n, or 2^n - 1 as in some exports of NEMO")
    values.add_argument("--adds", choices=["bounded", "overflow"], default="bounded",
                        help="residual adds without ReLU stay below 256 for any input, or a few exceed it, as NEMO's do")
    options = parser.parse_args()
    check_options(parser, options)
    return options


def check_options(parser, options):
    options.opset = options.opset or (13 if options.clip == "input" else 9)
    options.clip = options.clip or ("attribute" if options.opset < 11 else "input")
    if not 9 <= options.opset <= 17:
        parser.error(f"--opset {options.opset}: not in 9..17")
    if options.clip != ("attribute" if options.opset < 11 else "input"):
        parser.error(f"--clip {options.clip}: opset {options.opset} does not have it (bounds are inputs from opset 11)")
    if options.classes is not None and options.classes < 1:
        parser.error(f"--classes {options.classes}: must be positive")
    if options.width_multiplier <= 0:
        parser.error(f"--width-multiplier {options.width_multiplier}: must be positive")


def main():
    options = parse_arguments()
    random = Random(options.seed)
    layers = build(options.network, options.width_multiplier, options.resolution, options.classes)
    images = np.stack([natural_image(random, layers[0].shape) for _ in range(CALIBRATION_IMAGES)])
    calibrate(layers, images, random, options)
    check_representable(layers)
    model = OnnxWriter(options).model(layers)
    onnx.checker.check_model(model)
    if options.weight_bits < 8:
        annotate_weights(model, options.weight_bits)
    with open(options.output, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
    if options.input_file:
        write_values(options.input_file, "input", layers[0].output[0])
    if options.golden_dir:
        write_golden(options.golden_dir, layers)
    if options.verbose:
        print_summary(options.network, layers)


if __name__ == "__main__":
    main()
