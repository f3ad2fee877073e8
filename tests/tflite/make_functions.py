#!/usr/bin/env python3
"""Writes a network of functions of bytes: tables, a maximum pool and a softmax of each pixel, of odd sizes.
tests/models/functions.tflite is its result. Usage: make_functions.py FILE"""
import sys

import tflite_writer as tfl

model = tfl.Model()
x = model.tensor("x", [1, 23, 14, 37], tfl.INT8, 0.05, -3, signature=[-1, 23, 14, 37])
swish = model.tensor("swish", [1, 23, 14, 37], tfl.INT8, 0.03, -110)
leaky = model.tensor("leaky", [1, 23, 14, 37], tfl.INT8, 0.04, -50)
pooled = model.tensor("pooled", [1, 11, 7, 37], tfl.INT8, 0.04, -50)
soft = model.tensor("soft", [1, 11, 7, 37], tfl.INT8, 1 / 256, -128)
squashed = model.tensor("squashed", [1, 11, 7, 37], tfl.INT8, 1 / 256, -128)
model.operator(tfl.HARD_SWISH, [x], [swish])
model.operator(tfl.LEAKY_RELU, [swish], [leaky], (75, {0: ("f", 0.2)}))
model.operator(tfl.MAX_POOL_2D, [leaky], [pooled],
               (5, {0: ("b", 1), 1: ("i", 2), 2: ("i", 2), 3: ("i", 2), 4: ("i", 2), 5: ("b", 0)}))
model.operator(tfl.SOFTMAX, [pooled], [soft], (9, {0: ("f", 1.0)}))
model.operator(tfl.LOGISTIC, [pooled], [squashed])
model.write(sys.argv[1], [x], [soft, squashed])
