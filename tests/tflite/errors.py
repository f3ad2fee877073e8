#!/usr/bin/env python3
"""What dory says of TFLite models that it does not take: exit status 1, each message once, and no crash on damaged files.
Usage: errors.py DORY FOLDER"""
import os
import random
import subprocess
import sys

import tflite_writer as tfl
from tflite_writer import FLOAT32, INT8, INT16, INT4, INT32, UINT8, Table

dory, folder = sys.argv[1:3]
failures = 0


def complain(text):
    global failures
    failures += 1
    print(text)


def run(data, *more):
    path = os.path.join(folder, "model.tflite")
    with open(path, "wb") as file:
        file.write(data)
    return subprocess.run([dory, "inspect", path, *more], capture_output=True, text=True, errors="replace")


def expect(what, data, *texts, options=(), errors=1):
    done = run(data, *options)
    found = done.stderr.count("error: ")
    if done.returncode != 1 or found != errors or not all(text in done.stderr for text in texts):
        complain("%s: exit status %d, %d errors; expected 1, %d and %s\n%s" %
                 (what, done.returncode, found, errors, texts, done.stderr))


def expect_good(what, data, *texts):
    done = run(data)
    if done.returncode != 0 or not all(text in done.stderr for text in texts):
        complain("%s: exit status %d; expected 0 and %s\n%s" % (what, done.returncode, texts, done.stderr))


def expect_quiet(what, data):
    done = run(data)
    if done.returncode != 0 or done.stderr:
        complain("%s: exit status %d; expected 0 and nothing else\n%s" % (what, done.returncode, done.stderr))


def convolution(x_type=INT8, w_type=INT8, shape=(1, 4, 4, 2), scale=0.5, zero=0, output_scale=0.25, weights=None, **more):
    model = tfl.Model()
    x = model.tensor("x", list(shape), x_type, None if x_type == FLOAT32 else scale, zero, signature=more.get("signature"))
    scales = more.get("weight_scale", 0.01)
    w = model.tensor("w", [3, 1, 1, 2], w_type, None if w_type == FLOAT32 else scales, more.get("weight_zero", 0),
                     weights if weights is not None else bytes(6 * (4 if w_type == FLOAT32 else 1)),
                     fields=more.get("weight_fields", {}))
    bias = model.tensor("b", [3], INT32, more.get("bias_scale", 0.005), 0, more.get("bias", bytes(12)))
    y = model.tensor("y", [1, 4, 4, 3], x_type, None if x_type == FLOAT32 else output_scale, 0)
    options = more.get("options", (1, {0: ("b", 0), 1: ("i", 1), 2: ("i", 1)}))
    model.operator(tfl.CONV_2D, [x, w, bias], [y], options)
    return model, x, y


def pack(made, **more):
    model, x, y = made
    return model.pack([x], [y], **more)


def behind(code, custom=None, kind=INT8, count=1):
    """A convolution with further operators behind it."""
    model, x, y = convolution()
    for i in range(count):
        z = model.tensor("z%d" % i, [1, 4, 4, 3], kind, None if kind == FLOAT32 else 0.25)
        model.operator(code, [y], [z], None, custom)
        y = z
    return model, x, y


def float_head():
    model, x, y = behind(tfl.DEQUANTIZE, kind=FLOAT32)
    z = model.tensor("boxes", [1, 10, 4], FLOAT32)
    model.operator(tfl.CUSTOM, [y], [z], None, "TFLite_Detection_PostProcess")
    return model, x, z


def integer_head():
    """A detector that takes integers, and no floats before it."""
    model, x, y = convolution()
    u = model.tensor("u", [1, 4, 4, 3], UINT8, 0.25, 128)
    z = model.tensor("boxes", [1, 10, 4], FLOAT32)
    model.operator(tfl.QUANTIZE, [y], [u])
    model.operator(tfl.CUSTOM, [u], [z], None, "PosenetDecoderOp")
    return model, x, z


def island(code=tfl.SOFTMAX):
    model, x, y = behind(tfl.DEQUANTIZE, kind=FLOAT32)
    z = model.tensor("half", [1, 4, 4, 3], FLOAT32)
    q = model.tensor("again", [1, 4, 4, 3], INT8, 0.5)
    model.operator(code, [y], [z], (9, {0: ("f", 1.0)}) if code == tfl.SOFTMAX else None)
    model.operator(tfl.QUANTIZE, [z], [q])
    last = model.tensor("last", [1, 4, 4, 3], INT8, 0.5)
    model.operator(tfl.RELU, [q], [last])
    return model, x, last


def joined_without_reader():
    """Floats that are joined, for an operator that has lost its output."""
    model, x, y = behind(tfl.DEQUANTIZE, kind=FLOAT32)
    z = model.tensor("joined", [1, 4, 4, 6], FLOAT32)
    q = model.tensor("again", [1, 4, 4, 6], INT8, 0.5)
    model.operator(tfl.CONCATENATION, [y, y], [z], (10, {0: ("i", 3)}))
    model.operator(tfl.QUANTIZE, [z], [])
    model.operator(tfl.QUANTIZE, [z], [q])
    return model, x, q


def float_input():
    model = tfl.Model()
    x = model.tensor("photo", [1, 4, 4, 2], FLOAT32)
    q = model.tensor("q", [1, 4, 4, 2], INT8, 0.5, 3)
    y = model.tensor("y", [1, 4, 4, 2], INT8, 0.25, 3)
    model.operator(tfl.QUANTIZE, [x], [q])
    model.operator(tfl.RELU, [q], [y])
    return model, x, y


def words():
    model = tfl.Model()
    x = model.tensor("words", [1, 4], INT32)
    y = model.tensor("y", [1, 4], INT8, 0.25, 3)
    model.operator(tfl.RELU, [x], [y])
    return model, x, y


def not_good():
    recipe = "docs/from-tensorflow.md"
    expect("float", pack(convolution(FLOAT32, FLOAT32)), "not quantised", recipe)
    expect("words", pack(words()), "the input is INT32", "embedding")
    model, x, y = convolution()
    expect("many outputs", model.pack([x], [y] * 1001), "more outputs than the 1000 that are supported")
    expect("hybrid", pack(convolution(FLOAT32)), "hybrid", recipe)
    expect("16x8", pack(convolution(INT16)), "INT16", recipe)
    expect("a reader without output", pack(joined_without_reader()), "the operator has no output")
    model, x, y = convolution()
    u = model.tensor("u", [1, 4, 4, 3], UINT8, 0.25, 128)
    model.operator(tfl.QUANTIZE, [y], [u])
    expect("output of two types", model.pack([x], [y, u]), "'u'", "once as INT8 and once as UINT8")
    expect_good("output of one type", model.pack([x], [u]))
    legacy, x, y = tfl.Model(), *[None] * 2
    x, y = (legacy.tensor(n, [1, 4, 4, 2], UINT8, 0.1, 128) for n in "xy")
    legacy.operator(tfl.LEAKY_RELU, [x], [y], (75, {0: ("f", 0.1)}))
    expect("legacy", legacy.pack([x], [y]), "LEAKY_RELU of UINT8", recipe)
    legacy, x, y = tfl.Model(), *[None] * 2
    x, y = (legacy.tensor(n, [1, 4, 4, 1], UINT8, 0.1, 128) for n in "xy")
    legacy.operator(tfl.CONV_2D, [x, legacy.tensor("w", [1, 1, 1, 1], UINT8, 0.1, 0, b"\377")], [y], (1, {1: ("i", 1), 2: ("i", 1)}))
    expect_good("legacy weights of three INT8", legacy.pack([x], [y]))
    expect("packed weights", pack(convolution(w_type=INT4)), "CONV_2D: 'w' is INT4; supported: INT8")
    sparse = {6: Table({0: tfl.Numbers("i", [0])})}
    expect("sparse", pack(convolution(weight_fields=sparse)), "sparse")
    expect("subgraphs", pack(convolution(), subgraphs=2), "2 subgraphs; supported: one")
    expect("version", pack(convolution(), version=4), "version 4")
    expect("custom", pack(behind(tfl.CUSTOM, "MyOperator")), "1 of 2 operators are not supported: 1 MyOperator (first: 'z0')")
    for name in ("edgetpu-custom-op", "ethos-u"):
        expect(name, pack(behind(tfl.CUSTOM, name)), "node '%s'" % name, "compiled for an accelerator", errors=1)
    expect("no identifier", b"a makefile, by its name a model", "not a TFLite model")
    for magic, text in ((b"PK\3\4", ".task"), (b"\211HDF\r\n", "HDF5"), (b"version https://git-lfs.github.com", "git lfs pull"),
                        (b"abcdORTM", "onnxruntime's own format")):
        expect(text, magic + bytes(20), "neither ONNX nor TFLite", text)
    model, x, y = convolution()
    model.operator(tfl.LSTM, [y, model.tensor("memory", [4], INT8, 0.5, fields={5: ("b", 1)})], [model.tensor("z", [4], INT8, 0.5)])
    expect("a state inside", model.pack([x], [y]), "keeps a state inside, in 'memory'", "unroll=True")
    expect("one error for many", pack(behind(tfl.LSTM, count=31)), "31 of 32 operators are not supported: 31 LSTM")
    expect("island", pack(island()), "float island", recipe)
    expect("island of time", pack(island(tfl.CONV_3D)), "by CONV_3D", "2-D convolution of frames")
    model, x, y = behind(tfl.SPACE_TO_BATCH_ND)
    expect("blocks", model.pack([x], [y]), "no more than the border")
    model, x, y = behind(tfl.SPACE_TO_BATCH_ND)
    real = model.tensor("real", [1, 4, 4, 3], FLOAT32)
    model.operator(tfl.DEQUANTIZE, [y], [real])
    expect("blocks in float", model.pack([x], [real]), "build the model with batch_size=1")
    expect("unknown height", pack(convolution(signature=[1, -1, 4, 2])), "dimension 1 of the input is not fixed")
    expect("batch", pack(convolution(shape=(2, 4, 4, 2))), "supported: one image")
    for scale in (0.0, -1.0, float("inf"), float("nan")):
        expect("scale %g" % scale, pack(convolution(scale=scale)), "'x' has the scale")
        expect("output's scale %g" % scale, pack(convolution(output_scale=scale)), "'y' has the scale")
    for scale in (-1.0, float("inf"), float("nan")):
        expect("weights' scale %g" % scale, pack(convolution(weight_scale=scale)), "the weights 'w' have scale")
    expect("zero point", pack(convolution(zero=128)), "zero point 128, which is none of INT8")
    expect("weights' zero point", pack(convolution(weight_zero=3)), "zero point 3")
    expect("scales of another number", pack(convolution(weight_scale=[0.1, 0.2])), "2 scales for its dimension 0")
    expect("short weights", pack(convolution(weights=bytes(5))), "has 5 bytes, and its shape and type INT8 want 6")
    expect("stride", pack(convolution(options=(1, {1: ("i", 0), 2: ("i", 1)}))), "stride_w is 0")
    expect("padding", pack(convolution(options=(1, {0: ("b", 7), 1: ("i", 1), 2: ("i", 1)}))), "padding is 7")
    expect("activation", pack(convolution(options=(1, {1: ("i", 1), 2: ("i", 1), 3: ("b", 4)}))), "fused activation 4")
    expect("options of another kind", pack(convolution(options=(5, {1: ("i", 1)}))), "options of kind 5")
    expect("input bits", pack(convolution()), "--input-bits", options=["--input-bits", "4"])
    expect("exact add", pack(convolution()), "EXACT_ADD", options=["--exact-add"])
    expect("ONNX read as TFLite", b"no model at all", "not a TFLite model", options=["--frontend", "tflite"])
    expect("variable without a first value", pack(stateful(None)), "no first value")
    expect("variable that begins with a ramp", pack(stateful(bytes(range(48)))), "first value has different elements")
    expect("variable that is not assigned", pack(stateful(bytes(48), assigned=False)), "never assigned")
    expect("variable of two scales", pack(stateful(bytes(48), again=0.5)), "different shapes, types, scales")
    expect("variable without a handle", pack(stateful(bytes(48), has_handle=False)), "no handle that VAR_HANDLE gives")
    model, x, y = behind(tfl.WHILE)
    expect("a loop", model.pack([x], [y], subgraphs=3), "the model has a loop", "unroll=True", "tf_keras", recipe)
    expect("subgraph of no use", pack(stateful(bytes(48)), subgraphs=2), "3 subgraphs; supported: one")
    expect("control flow", pack(behind(118)), "IF")
    model, x, y = convolution()
    expect("shape of an output that is passed on", pack(passed_on([1, 255, 12, 1])), "'u' has the shape 1x255x12x1", "other elements")
    expect("no output", model.pack([x], [x]), "not the output of a layer")
    expect("no origin", model.pack([], [y]), "which nothing before it computes")


def passed_on(shape):
    """INT8 and UINT8 of the same values: no layer."""
    model, x, y = convolution()
    u = model.tensor("u", shape, UINT8, 0.25, 128)
    model.operator(tfl.QUANTIZE, [y], [u])
    return model, x, u


def shape_of_a_batch():
    """A reshape whose shape Keras computes, because the batch is not fixed."""
    model, x, y = convolution(signature=[-1, 4, 4, 2])
    shape, batch, packed = (model.tensor(name, sizes, INT32) for name, sizes in (("shape", [4]), ("batch", []), ("packed", [2])))
    numbers = [model.integers("n", [n]) for n in (0, 1, 1)]
    flat = model.tensor("flat", [1, 48], INT8, 0.25)
    model.operator(tfl.SHAPE, [y], [shape])
    model.operator(tfl.STRIDED_SLICE, [shape, *numbers], [batch], (32, {4: ("i", 1)}))
    model.operator(tfl.PACK, [batch, model.integers("rest", [48], [])], [packed])
    model.operator(tfl.RESHAPE, [y, packed], [flat])
    return model, x, flat


def depthwise_of_2020():
    """Of its biases, a vector, converters of that time write the weights' dimension 3."""
    model = tfl.Model()
    x, y = (model.tensor(name, [1, 4, 4, 2], INT8, 0.5) for name in "xy")
    w = model.tensor("w", [1, 1, 1, 2], INT8, [0.01, 0.02], 0, bytes(2), 3)
    bias = model.tensor("b", [2], INT32, [0.005, 0.01], 0, bytes(8), 3)
    model.operator(tfl.DEPTHWISE_CONV_2D, [x, w, bias], [y], (2, {1: ("i", 1), 2: ("i", 1), 3: ("i", 1)}))
    return model, x, y


def stateful(first, assigned=True, again=0.25, has_handle=True):
    """A sum of all that ever was."""
    model, x, y = convolution()
    handle = model.variable("sum", [1, 4, 4, 3], 0.25, 0, first)
    before, after, z = (model.tensor(name, [1, 4, 4, 3], INT8, scale) for name, scale in
                        (("before", 0.25), ("after", again), ("z", 0.5)))
    model.operator(tfl.READ_VARIABLE, [handle if has_handle else x], [before])
    model.operator(tfl.ADD, [before, y], [after])
    if assigned:
        model.operator(tfl.ASSIGN_VARIABLE, [handle, after], [])
    model.operator(tfl.RELU, [after], [z])
    return model, x, z


def run_states():
    """A state that is left out is the first one; one that the model assigns and reads again in the run is no other."""
    path, x, y = (os.path.join(folder, name) for name in ("state.tflite", "x.bin", "y.txt"))
    model, first, last = stateful(bytes([5]) * 48)
    with open(path, "wb") as file:
        file.write(model.pack([first], [last]))
    with open(x, "wb") as file:
        file.write(bytes(32))
    done = subprocess.run([dory, "run", path, "--input", x, "--output", y], capture_output=True, text=True)
    if done.returncode != 0 or "this variable is a state" not in done.stderr:
        complain("a state that is left out: %d\n%s" % (done.returncode, done.stderr))
    elif {line.strip(" ,\n") for line in open(y) if line[0] != "#"} != {"3"}:
        complain("the first state is not what the model says: %s" % open(y).read()[:200])
    done = subprocess.run([dory, "run", path, *["--input", x] * 3], capture_output=True, text=True)
    if done.returncode != 1 or "are a state and may be left out" not in done.stderr:
        complain("three inputs: %d\n%s" % (done.returncode, done.stderr))
    done = subprocess.run([dory, "generate", path, "--target", "host", "--output-dir", folder], capture_output=True, text=True)
    header = open(os.path.join(folder, "state.h")).read() if done.returncode == 0 else done.stderr
    for line in ("STATE_STATE_COUNT 1", "STATE_STATE_0_INPUT 1 /* 'sum' in the model */", "STATE_STATE_0_OUTPUT 1",
                 "STATE_STATE_0_FIRST 133"):
        if "#define %s\n" % line not in header:
            complain("no '%s' in the header\n%s" % (line, header))


def softened(scale):
    model, x, y = convolution(output_scale=scale)
    z, last = model.tensor("z", [1, 4, 4, 3], INT8, 1 / 256, -128), model.tensor("last", [1, 4, 4, 3], INT8, 0.01)
    model.operator(tfl.SOFTMAX, [y], [z], (9, {0: ("f", 1.0)}))
    model.operator(tfl.QUANTIZE, [z], [last])
    return model.pack([x], [last])


def of_images(rows, kernel=(1, 1), inputs="swx", transposed=True, padding=1, dilation=1):
    """Two images of 3 x 4 x 2 in front of a convolution; `inputs` of a missing one: -."""
    model = tfl.Model()
    first = model.tensor("first", [1, 1, 24, 2], INT8, 0.5)
    x, y = (model.tensor(name, [2, height, 4, 2], INT8, 0.5) for name, height in (("x", 3), ("y", rows)))
    w = model.tensor("w", [2, *kernel, 2], INT8, 0.01, 0, bytes(4 * kernel[0] * kernel[1]))
    last = model.tensor("last", [1, 1, 8 * rows, 2], INT8, 0.5)
    places = {"x": x, "w": w, "s": model.integers("size", [2, rows, 4, 2]), "-": -1}
    options = {0: ("b", padding), 1: ("i", 1), 2: ("i", 1), 4: ("i", dilation), 5: ("i", dilation)}
    model.operator(tfl.RESHAPE, [first, model.integers("images", [2, 3, 4, 2])], [x])
    model.operator(tfl.TRANSPOSE_CONV if transposed else tfl.CONV_2D, [places[name] for name in inputs], [y],
                   (49, {i: options[i] for i in (0, 1, 2)}) if transposed else (1, options))
    model.operator(tfl.RESHAPE, [y, model.integers("flat", [1, 1, 8 * rows, 2])], [last])
    return pack((model, first, last))


def bad_images():
    expect("more rows than a transposed convolution makes", of_images(1000), "a height of 3 elements gives 3, and the output has 1000")
    expect("fewer rows", of_images(2), "a height of 3 elements gives 3, and the output has 2")
    expect("higher kernel", of_images(4, (2, 1)), "several images and a kernel of more than a row")
    expect("images without weights", of_images(3, inputs="s-x"), "no input 1")
    expect("no images", of_images(3, inputs="sw-"), "no input 2")
    for kernel in (1, 65535), (65535, 1):
        expect("wide border", of_images(3, kernel, "xw", False, 0, 65535), "with its border, of more than 65535 elements")
    expect("no window", of_images(0, (65535, 1), "xw", False, 1, 65535), "no window")


def without_input(code, options, index):
    """One of two inputs has no tensor."""
    model = tfl.Model()
    first, last = (model.tensor(name, [1, 2, 2, 4], INT8, 0.5) for name in ("first", "last"))
    model.operator(code, [-1 if i == index else first for i in range(2)], [last], options)
    return pack((model, first, last))


def left_out():
    for shape in [0, 2], [2, 0], [2, 3]:
        for joined, name in (True, "indices"), (False, "reshaped"):
            expect("numbers that are not as many as their shape says", pack(numbers_as(shape, joined)), f"'{name}', is computed by")
    for code, options in (tfl.ADD, (11, {})), (tfl.MUL, (21, {})), (tfl.CONCATENATION, (10, {0: ("i", 3)})), (tfl.BATCH_MATMUL, None):
        for index in 0, 1:
            expect("an input that is left out", without_input(code, options, index), "the operator has no input %d" % index)


def numbers_as(shape, joined):
    """A list of four numbers as a tensor of another shape: the indices, or joined with itself to them."""
    model = tfl.Model()
    x = model.tensor("x", [1, 4, 4, 3], INT8, 0.5)
    reshaped = model.tensor("reshaped", shape, INT32)
    model.operator(tfl.RESHAPE, [model.integers("numbers", [0, 0, 1, 2]), model.integers("shape", shape)], [reshaped])
    indices = model.tensor("indices", [4, 2], INT32) if joined else reshaped
    if joined:
        model.operator(tfl.CONCATENATION, [reshaped, reshaped], [indices], (10, {0: ("i", 0)}))
    y = model.tensor("y", [4, 4, 3], INT8, 0.5)
    model.operator(tfl.GATHER_ND, [x, indices], [y])
    return model, x, y


def good():
    expect_quiet("images of a transposed convolution", of_images(3))
    expect_good("scores with a mask of -10000", softened(39.2), "warning: node 'z'", "steps of 39.2", "use -20")
    expect_quiet("scores with a mask of -20", softened(0.1))
    expect_good("an output that is passed on", pack(passed_on([1, 4, 4, 3])))
    expect_good("a state", pack(stateful(bytes(48))), "the application carries it from output 1 of each run to input 1 of the next")
    expect_good("dimension of a bias' scales", pack(depthwise_of_2020()))
    expect_good("shape of a batch", pack(shape_of_a_batch()))
    expect_good("batch of -1", pack(convolution(signature=[-1, 4, 4, 2])), "the batch is not fixed in the model; it is 1")
    expect_quiet("zeros of another scale", pack(convolution(bias_scale=0.5)))
    expect_good("bias scale", pack(convolution(bias_scale=0.5, bias=b"\1" + bytes(11))), "the bias 'b' has the scale 0.5, and input and weights have 0.005")
    expect_good("float head", pack(float_head()), "left to the application")
    expect_good("integer head", pack(integer_head()), "node 'boxes'", "PosenetDecoderOp works on float", "left to the application")
    expect_good("float input", pack(float_input()))


def damaged():
    """Any bytes, and any length: an error or none, but never a crash. Some here, by the program; many by the fuzzer, in its process."""
    pick = random.Random(1)
    for whole in [pack(float_head())] * 60 + [pack(stateful(bytes(48)))] * 40:
        data = bytearray(whole[:pick.choice([len(whole), pick.randint(0, len(whole))])])
        for _ in range(pick.randint(0, 3)):
            if data:
                data[pick.randrange(len(data))] = pick.choice([0, 1, 127, 128, 255, pick.randint(0, 255)])
        done = run(bytes(data))
        if done.returncode not in (0, 1) or (done.returncode == 1) != ("error: " in done.stderr):
            complain("damaged file: exit status %d\n%s" % (done.returncode, done.stderr))


os.makedirs(folder, exist_ok=True)
not_good()
bad_images()
left_out()
good()
run_states()
damaged()
print("%d failures" % failures)
sys.exit(1 if failures else 0)
