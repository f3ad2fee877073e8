#!/usr/bin/env python3
"""The recipe of docs/from-tensorflow.md on a small Keras network: dory's integers against TensorFlow Lite's reference kernels,
which round a fully connected layer once, where TensorFlow Lite Micro rounds twice: at most one step.

usage: recipe.py DORY SOURCE_FOLDER      exit status 77: no TensorFlow
Its python blocks marked <!-- recipe --> are run as they stand in the document.
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import tensorflow as tf
except ImportError as missing:
    print(f"skipped: {missing}; the recipe needs TensorFlow, which Debian does not have: set DORY_TENSORFLOW_PYTHON")
    sys.exit(77)


def small_model():
    image = tf.keras.Input((16, 16, 3))
    x = tf.keras.layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(image)
    y = tf.keras.layers.DepthwiseConv2D(3, padding="same")(x)
    x = tf.keras.layers.ReLU()(tf.keras.layers.Add()([x, y]))
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(image, tf.keras.layers.Dense(5)(x))


def main():
    dory, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    with open(f"{source}/docs/from-tensorflow.md") as file:
        blocks = re.findall(r"<!-- recipe -->\n```python\n(.*?)```", file.read(), re.S)
    tf.keras.utils.set_random_seed(1)
    images = np.random.default_rng(1).uniform(-1, 1, (40, 16, 16, 3)).astype(np.float32)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        exec("\n".join(blocks), {"model": small_model(), "training_images": images})
        resolver = tf.lite.experimental.OpResolverType.BUILTIN_REF
        reference = tf.lite.Interpreter("model.tflite", experimental_op_resolver_type=resolver)
        reference.allocate_tensors()
        (given,), (got,) = reference.get_input_details(), reference.get_output_details()
        scale, zero = given["quantization"]
        most = wrong = 0
        for image in images:
            elements = np.clip(np.rint(image[None] / scale) + zero, -128, 127).astype(np.int8)
            np.save("image.npy", elements)
            subprocess.run([dory, "run", "model.tflite", "--quiet", "--input", "image.npy", "--output", "scores.npy"], check=True)
            reference.set_tensor(given["index"], elements)
            reference.invoke()
            off = np.abs(reference.get_tensor(got["index"]).ravel().astype(int) - np.load("scores.npy").ravel().astype(int))
            most, wrong = max(most, off.max()), wrong + int((off > 0).sum())
    print(f"{wrong} of {len(images) * 5} scores differ from TensorFlow Lite's, by {most} at most")
    return 0 if blocks and most <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
