#!/usr/bin/python3
"""The recipe of docs/from-pytorch.md on a small network, from its float model on: dory's integers against onnxruntime's.

usage: recipe.py DORY SOURCE_FOLDER      exit status 77: no onnxruntime
Its python blocks marked <!-- recipe --> are run as they stand in the document.
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}; the recipe needs onnxruntime, which Debian does not have: set DORY_ONNXRUNTIME_PYTHON")
    sys.exit(77)


def float_model(random):
    """Convolutions with ReLU, a residual addition, a mean and a classifier."""
    def constant(name, *shape):
        return numpy_helper.from_array((random.normal(0, 1, shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32), name)
    constants = [constant("w1", 8, 3, 3, 3), constant("b1", 8), constant("w2", 8, 1, 3, 3), constant("b2", 8),
                 constant("w3", 5, 8), constant("b3", 5)]
    nodes = [helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], pads=[1] * 4, strides=[2, 2]),
             helper.make_node("Relu", ["c1"], ["r1"]),
             helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1] * 4, group=8),
             helper.make_node("Add", ["c2", "r1"], ["a"]), helper.make_node("Relu", ["a"], ["r2"]),
             helper.make_node("GlobalAveragePool", ["r2"], ["g"]), helper.make_node("Flatten", ["g"], ["f"]),
             helper.make_node("Gemm", ["f", "w3", "b3"], ["logits"], transB=1)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 5])], constants)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def main():
    dory, source, random = os.path.abspath(sys.argv[1]), sys.argv[2], np.random.default_rng(1)
    with open(f"{source}/docs/from-pytorch.md") as file:
        blocks = re.findall(r"<!-- recipe -->\n```python\n(.*?)```", file.read(), re.S)
    images = [random.uniform(-1, 1, (1, 3, 16, 16)).astype(np.float32) for _ in range(40)]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        onnx.save(float_model(random), "float.onnx")
        names = {}
        exec("\n".join(blocks), names)
        names["quantise"](images)
        options = onnxruntime.SessionOptions()  # as it stands: some PCs' integer kernels saturate, which others of its do not
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession("model.onnx", options)
        scale = np.float32(0)
        wrong = 0
        for image in images:
            np.save("image.npy", image)
            subprocess.run([dory, "run", "model.onnx", "--quiet", "--input", "image.npy", "--output", "logits.npy"], check=True)
            expected, found = session.run(None, {"image": image})[0].ravel(), np.load("logits.npy").ravel().astype(float)
            graph = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load("model.onnx").graph.initializer}
            scale, zero = graph["logits_scale"], int(graph["logits_zero_point"])
            wrong += int((np.rint(expected / scale) + zero != found).sum())
    print(f"{wrong} of {len(images) * 5} logits differ from onnxruntime's")
    return 0 if blocks and wrong <= 1 else 1


sys.exit(main())
