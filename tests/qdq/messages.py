#!/usr/bin/python3
"""What is said of quantised models that cannot be imported, or not as they are: exit status, and what the text must name.

usage: messages.py DORY [SHARED_FOLDER]      exit status 77: no python3-onnx
"""
import os
import resource
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: no onnx or numpy; on Debian: apt-get install python3-onnx python3-numpy")
    sys.exit(77)

FLOAT = np.float32
MOST_MEGABYTES = 400  # for a model of some kilobytes


class Model:
    """x -> Q -> DQ -> middle -> Conv -> behind -> Q -> DQ -> y; whatever a case changes is an argument."""

    def __init__(self, opset=17):
        self.nodes, self.constants, self.opset, self.last = [], {}, opset, "x"
        self.inputs, self.shape = ["x"], [1, 4, 6, 6]

    def constant(self, name, array):
        self.constants[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=f"{kind}_of_{output}", **attributes))
        self.last = output
        return self

    def quantise(self, output, scale=FLOAT(0.1), zero_point=np.int8(0)):
        ends = [self.constant(f"{output}_scale", scale), self.constant(f"{output}_zero", zero_point)]
        return self.node("QuantizeLinear", [self.last] + ends, output + "_q").node("DequantizeLinear", [output + "_q"] + ends, output)

    def convolution(self, weights=None, scale=FLOAT(0.01), zero_point=np.int8(0), bias=(), output="conv"):
        weights = np.ones((4, 4, 3, 3), np.int8) if weights is None else weights
        source = self.last
        if weights.dtype != FLOAT:
            names = [self.constant("w_q", weights), self.constant("w_scale", scale), self.constant("w_zero", zero_point)]
            self.node("DequantizeLinear", names, "w")
        else:
            self.constant("w", weights)
        return self.node("Conv", [source, "w", *bias], output)

    def done(self):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape) for name in self.inputs],
                                  [helper.make_tensor_value_info(self.last, TensorProto.FLOAT, None)], list(self.constants.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)])


class FourBits(Model):
    """Constants of INT4, a type that python3-onnx need not know: two numbers in a byte, the first in its low bits."""

    def __init__(self, names=("w_q", "w_zero"), packed=False):
        super().__init__()
        self.names, self.packed = names, packed

    def done(self):
        model = super().done()
        for tensor in model.graph.initializer:
            if tensor.name not in self.names:
                continue
            tensor.data_type = 22
            numbers = np.frombuffer(tensor.raw_data, np.uint8) & 15
            if self.packed:
                numbers = np.append(numbers, np.zeros(len(numbers) % 2, np.uint8))
                tensor.raw_data = (numbers[::2] | numbers[1::2] << 4).tobytes()
        return model


def with_bias(scale):
    model = Model().quantise("a")
    source = model.last
    names = [model.constant("b_q", np.ones(4, np.int32)), model.constant("b_scale", FLOAT(scale)), model.constant("b_zero", np.int32(0))]
    model.node("DequantizeLinear", names, "b")
    model.last = source
    return model.convolution(bias=["b"]).quantise("y")


def float_model():
    return Model().convolution(np.full((4, 4, 3, 3), 0.3, FLOAT)).node("Relu", ["conv"], "r")


def dynamic():
    model = Model().node("DynamicQuantizeLinear", ["x"], "q")
    return model


def island():
    return Model().quantise("a").node("Tanh", ["a"], "t").convolution().quantise("y")


def of_optimiser():
    """A node that onnxruntime's optimiser fuses, which no quantiser covers."""
    model = Model().quantise("a").node("BiasGelu", ["a", "a"], "t", domain="com.microsoft")
    return model.convolution().quantise("y")


def moved_in_front():
    """The quantiser leaves a pool in front of what it quantises."""
    model = Model()
    return model.node("MaxPool", [model.last], "t", kernel_shape=[1, 1]).node("Tanh", ["t"], "u").quantise("a").convolution().quantise("y")


def two_islands():
    model = Model().quantise("a").node("Tanh", ["a"], "t").convolution().quantise("m").node("Sigmoid", ["m"], "s")
    return model.node("Conv", ["s", "w"], "c2").quantise("y")


def float_weights():
    return Model().quantise("a").convolution(np.full((4, 4, 3, 3), 0.3, FLOAT)).quantise("y")


def wide_weights():
    return Model().quantise("a").convolution(np.array([0, 255] * 72, np.uint8).reshape(4, 4, 3, 3), zero_point=np.uint8(100)).quantise("y")


def narrow_weights():
    return Model().quantise("a").convolution(np.array([0, 255] * 72, np.uint8).reshape(4, 4, 3, 3), zero_point=np.uint8(128)).quantise("y")


def output_scale(scale):
    return Model().quantise("a").convolution().quantise("y", scale)


class ManyOutputs(Model):
    """The same, again and again."""

    def done(self):
        model = super().done()
        model.graph.output.extend([model.graph.output[0]] * 1000)
        return model


def head():
    return Model().quantise("a").convolution().quantise("y").node("Tanh", ["y"], "t")


def normalised(number):
    model = Model()
    model.constant("k", FLOAT(number))
    return model.node("Mul", ["x", "k"], "n").quantise("a").convolution().quantise("y")


def shifted(kind, number, *more):
    """What is added or subtracted in front, and then the factors: the input's scale and zero point, exactly."""
    model = Model()
    model.node(kind, ["x", model.constant("k", FLOAT(number))], "n")
    for i, factor in enumerate(more):
        model.node("Div", [model.last, model.constant(f"k{i}", FLOAT(factor))], f"n{i}")
    return model.quantise("a", FLOAT(1 / 64), np.int8(5)).convolution().quantise("y")


def channels_last():
    model = Model().quantise("a")
    ends = ["a_scale", "a_zero"]
    model.nodes.append(helper.make_node("QLinearAveragePool", ["a_q"] + ends * 2, ["p"], name="pool", kernel_shape=[2, 2],
                                        channels_last=1, domain="com.microsoft"))
    model.last = "p"
    return model.node("DequantizeLinear", ["p"] + ends, "d")


def twice():
    model = Model().quantise("a").convolution().quantise("m")
    model.last = "x"
    model.quantise("b", FLOAT(0.2))
    return model.node("Add", ["m", "b"], "sum").quantise("y")


AT_0, AT_2 = (0, 0.1, np.uint8(5)), (2, 0.2, np.uint8(6))  # first place, scale and zero point of a part


def parts_of(model, source, axis, parts):
    """Pieces of two along an axis, added."""
    total = None
    for first, scale, zero_point in parts:
        name = f"{source}_{first}"
        bounds = [model.constant(f"at_{place}", np.array([place])) for place in (first, first + 2, axis)]
        model.node("Slice", [source, *bounds], f"{name}_part").quantise(name, FLOAT(scale), zero_point)
        total = model.node("Add", [total, name], f"{name}_sum").quantise(f"{name}_total").last if total else name
    return model


def steps(*parts):
    """Rows of an image."""
    return parts_of(Model(), "x", 2, parts).node("Neg", [f"x_{parts[-1][0]}_total"], "n").quantise("y")


def columns_in_turn(rows):
    """Halves of each row by themselves: two parts of memory a row."""
    model = Model()
    model.shape = [1, 1, rows, 4]
    return parts_of(model, "x", 3, (AT_0, AT_2)).node("Neg", ["x_2_total"], "n").quantise("y")


def large_inputs(in_parts):
    """20 of 64 MB in float: in a file of some kilobytes."""
    model = Model()
    model.inputs, model.shape, total = [f"x{i}" for i in range(20)], [1, 1, 4096, 4096], None
    for name in model.inputs:
        model.last = name
        if in_parts:
            parts_of(model, name, 2, (AT_0, AT_2))
        else:
            model.quantise(f"{name}_in")
        total = model.node("Add", [total, model.last], f"{name}_all").quantise(f"{name}_so_far").last if total else model.last
    return model.node("Neg", [total], "n").quantise("y")


def length():
    model = Model().quantise("a").node("ReduceL2", ["a"], "length", axes=[2, 3], keepdims=1)
    return model.node("ReduceMean", ["length"], "mean", axes=[1], keepdims=1).quantise("y")


def unknown_operator():
    return Model().quantise("a").node("Cumulate", ["a"], "t").quantise("y")


def slopes():
    model = Model().quantise("a").convolution().quantise("m")
    return model.node("PRelu", ["m", model.constant("slope", np.full((4, 1, 1), 0.25, FLOAT) * np.arange(4, dtype=FLOAT)[:, None, None])],
                      "p").quantise("y")


def normalised_rows():
    """Sums of eight dimensions, which a BatchNormalization scales."""
    model = Model().quantise("a")
    model.node("Reshape", ["a", model.constant("shape", np.array([1, 36, 1, 1, 1, 1, 1, 4]))], "r")
    weights = [model.constant("w_q", np.ones((4, 4), np.int8)), model.constant("w_scale", FLOAT(0.01)), model.constant("w_zero", np.int8(0))]
    model.node("DequantizeLinear", weights, "w").node("MatMul", ["r", "w"], "m")
    numbers = [model.constant(f"n{i}", np.full(36, 0.5, FLOAT)) for i in range(4)]
    return model.node("BatchNormalization", ["m"] + numbers, "b").quantise("y")


def product(kind, axis=None, **attributes):
    """By a constant of 4 x 4: in float, or with a scale for each place along an axis."""
    model = Model().quantise("a")
    model.node("Reshape", ["a", model.constant("shape", np.array([1, 36, 4]))], "r")
    weights = model.constant("w_q", np.ones((4, 4), FLOAT if axis is None else np.int8))
    if axis is not None:
        ends = [model.constant("w_scale", FLOAT([0.1, 0.2, 0.3, 0.4])), model.constant("w_zero", np.zeros(4, np.int8))]
        weights = model.node("DequantizeLinear", [weights] + ends, "w", axis=axis).last
    return model.node(kind, ["r", weights], "m", **attributes).quantise("y")


def compared_input():
    model = Model()
    model.constant("zero", FLOAT(0))
    return model.node("Greater", ["x", "zero"], "g").node("Not", ["g"], "n").node("And", ["n", "g"], "c").quantise("a")


def sums():
    return Model().quantise("a").convolution()


# name, model, exit status, what the text has
def joined_and(channels):
    """Two tensors of 4 channels that are joined, plus a constant of so many, before anything is rounded."""
    model = Model().quantise("a")
    model.node("Abs", ["a"], "b").quantise("c", FLOAT(0.2)).node("Concat", ["a", "c"], "j", axis=1)
    terms = model.constant("terms", np.ones((1, channels, 1, 1), FLOAT))
    return model.node("Add", ["j", terms], "t").quantise("y")


def constant_transposed():
    """A transposed convolution of constants by what the network computes."""
    model = Model().quantise("a")
    model.convolution()
    return model.node("ConvTranspose", ["w", "a"], "t").quantise("y")


def split(*sizes):
    model = Model().quantise("a")
    names = [f"part_{i}" for i in range(len(sizes))]
    model.nodes.append(helper.make_node("Split", ["a", model.constant("sizes", np.array(sizes))], names, name="split", axis=1))
    model.last = "part_0"
    return model.quantise("y")


def sums_of_images():
    """Of two images, which the application gets unrounded."""
    model = Model().quantise("a").node("Reshape", ["a", "shape"], "images")
    model.constant("shape", np.array([2, 4, 3, 6]))
    return model.convolution()


CASES = [
    ("split_parts", split(1, 3), 0, []),
    ("split_too_far", split(1, 4), 1, ["node 'split'", "do not add up to 4"]),
    ("split_behind", split(4, 1), 1, ["node 'split'", "do not add up to 4"]),
    ("sums_of_images", sums_of_images(), 1, ["'Conv_of_conv'", "unrounded sums of several images"]),
    ("terms_of_joined", joined_and(8), 0, []),
    ("too_few_terms_of_joined", joined_and(5), 1, ["'Add_of_t'", "floating point"]),
    ("no_terms_of_joined", joined_and(0), 1, ["'Add_of_t'", "floating point"]),
    ("transposed_constant", constant_transposed(), 1, ["ConvTranspose_of_t"]),
    ("float_model", float_model(), 1, ["in floating point", "144 of the 144", "docs/from-pytorch.md"]),
    ("dynamic", dynamic(), 1, ["quantised dynamically", "DynamicQuantizeLinear", "quantize_static"]),
    ("old_opset", Model(9).quantise("a").convolution().quantise("y"), 1, ["opset 9", "10 to 25"]),
    ("island", island(), 1, ["floating point in the middle", "Tanh_of_t", "op_types_to_quantize=[..., 'Tanh']", "which Conv 'Conv_of_conv' reads"]),
    ("two_islands", two_islands(), 1, ["Tanh_of_t", "floating point"]),
    ("of_optimiser", of_optimiser(), 1, ["BiasGelu_of_t", "without optimize_model"]),
    ("moved_in_front", moved_in_front(), 1, ["MaxPool", "extra_options={'ForceQuantizeNoInputCheck': True}"]),
    ("float_weights", float_weights(), 1, ["node 'Conv_of_conv'", "'w' are float", "op_types_to_quantize"]),
    ("wide_weights", wide_weights(), 0, []),
    ("narrow_weights", narrow_weights(), 0, []),
    ("scale_zero", output_scale(FLOAT(0)), 1, ["attribute 'scale'", "is 0", "positive"]),
    ("scale_negative", output_scale(FLOAT(-0.5)), 1, ["is -0.5"]),
    ("scale_infinite", output_scale(FLOAT("inf")), 1, ["is inf"]),
    ("scale_no_number", output_scale(FLOAT("nan")), 1, ["is nan", "y_scale"]),
    ("scale_per_channel", output_scale(np.array([1, 2, 3, 4], FLOAT)), 1, ["has 4 numbers"]),
    ("sixteen_bits", Model().quantise("a", zero_point=np.uint16(5)).convolution().quantise("y"), 1, ["UINT16", "activation_type"]),
    ("four_bits", FourBits().quantise("a").convolution().quantise("y"), 1, ["'w_q' has 144 bytes of data; its dimensions say 72"]),
    ("four_packed_bits", FourBits(packed=True).quantise("a").convolution().quantise("y"), 0, []),
    ("activations_of_four_bits", FourBits(("y_zero",), True).quantise("a").convolution().quantise("y"), 1, ["is INT4", "activation_type"]),
    ("bias_of_other_scale", with_bias(0.5), 0, ["warning", "'b_q' has scale 0.5", "0.000999999993"]),
    ("bias_of_its_scale", with_bias(FLOAT(0.1) * FLOAT(0.01)), 0, []),
    ("channels_last", channels_last(), 1, ["node 'pool', attribute 'channels_last'"]),
    ("quantised_twice", twice(), 1, ["elements of input 'x' are quantised twice", "0.1", "0.2"]),
    ("steps_that_overlap", steps(AT_0, (1, 1.1, np.uint8(5))), 1,
     ["node 'QuantizeLinear_of_x_1_q'", "elements of input 'x' are quantised twice: with scale 0.100000001 and zero point 5, and here with 1.10000002"]),
    ("step_that_overlaps_a_later", steps(AT_0, AT_2, (3, 0.5, np.uint8(7))), 1,
     ["node 'QuantizeLinear_of_x_3_q'", "quantised twice: with scale 0.200000003 and zero point 6, and here with 0.5 and 7"]),
    ("steps_of_two_types", steps(AT_0, (2, 0.1, np.int8(5))), 1,
     ["node 'QuantizeLinear_of_x_2_q'", "quantises elements of input 'x' to INT8, of which others are UINT8", "activation_type"]),
    ("steps", steps(AT_0, AT_2), 0, []),
    ("most_parts", columns_in_turn(512), 0, []),
    ("too_many_parts", columns_in_turn(513), 1, ["input 'x' is quantised in more than 1024 parts", "extra_options={'ForceQuantizeNoInputCheck': True}"]),
    ("many_outputs", ManyOutputs().quantise("a").convolution().quantise("y"), 1, ["has 1001 outputs; supported: up to 1000"]),
    ("head", head(), 0, ["note", "Tanh_of_t", "left to the application"]),
    ("normalised_exactly", normalised(0.5), 0, []),
    ("normalised_inexactly", normalised(0.3), 0, ["note", "left to the application"]),
    ("length", length(), 1, ["ReduceL2_of_length", "op_types_to_quantize=[..., 'ReduceL2']"]),
    ("attention", Model(23).quantise("a").node("Attention", ["a", "a", "a"], "t").quantise("y"), 1,
     ["Attention_of_t", "opset_version=20", "inline_selected_functions(model, [('', 'Attention')]"]),
    ("causal_attention", Model(23).quantise("a").node("Attention", ["a", "a", "a"], "t", is_causal=1).quantise("y"), 1,
     ["opset_version=20", "in place of is_causal=True"]),
    ("compared_input", compared_input(), 1,
     ["selects by an input that is not quantised", "a mask of 0 and 1"]),
    ("einsum_of_three", Model().quantise("a").node("Einsum", ["a", "a", "a"], "t", equation="bchw,bchw,bchw->bchw").quantise("y"), 1,
     ["Einsum_of_t", "two factors", "one einsum behind the other"]),
    ("unknown_operator", unknown_operator(), 1, ["operator Cumulate is not supported"]),
    ("slopes", slopes(), 0, []),
    ("scales_of_columns", product("MatMul", 1), 0, []),
    ("scales_of_terms", product("MatMul", 0), 1, ["'w_q' have scales along a dimension that is not that of the output channels", "the last one of MatMul"]),
    ("float_einsum", product("Einsum", equation="bij,jk->bik"), 1, ["'w_q' are float", "op_types_to_quantize=[..., 'Einsum']"]),
    ("uncovered_reader", Model().quantise("a").node("Sigmoid", ["a"], "s").node("MatMul", ["s", "s"], "p").node("Sqrt", ["p"], "r").quantise("y"), 1,
     ["Sigmoid_of_s", "op_types_to_quantize=[..., 'Sigmoid', 'MatMul']"]),
    ("activation_between", Model().quantise("a").node("MatMul", ["a", "a"], "p").node("Relu", ["p"], "r").node("MatMul", ["r", "r"], "m").quantise("y"), 1,
     ["Relu_of_r", "op_types_to_quantize=[..., 'MatMul']"]),
    ("sums_of_32_bits", sums(), 0, []),
    ("normalised_rows", normalised_rows(), 0, []),
]

SHARED = [("mixed_qop_u8s8_pc", ["convtranspose_27", "'w_26' are float"])]


def run(dory, path, *options):
    return subprocess.run([dory, "inspect", path, *options], capture_output=True, text=True)


def judge(name, done, status, parts):
    faults = [f"lacks '{part}'" for part in parts if part not in done.stderr]
    faults += ["no message expected"] if not parts and done.stderr else []
    faults += [f"exit status {done.returncode}, expected {status}"] if (done.returncode != 0) != (status != 0) else []
    if faults:
        print(f"{name}: {'; '.join(faults)}:\n{done.stderr}")
    return not faults


def external(dory, scratch):
    """Weights in a second file; then without it, and with a name that leaves the folder."""
    good = True
    for location, remove, status, parts in [("w.bin", False, 0, []), ("w.bin", True, 1, ["w.bin", "is it there?"]),
                                            ("../w.bin", False, 1, ["beside the model"])]:
        model = Model().quantise("a").convolution().quantise("y").done()
        path = f"{scratch}/external.onnx"
        onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
        changed = onnx.load(path, load_external_data=False)
        for tensor in changed.graph.initializer:
            for entry in tensor.external_data:
                entry.value = location if entry.key == "location" else entry.value
        with open(path, "wb") as file:
            file.write(changed.SerializeToString())
        if remove:
            os.remove(f"{scratch}/w.bin")
        good &= judge(f"external {location}", run(dory, path), status, parts)
    return good


def folded(dory, scratch):
    """What `inspect` says of an input in front of which there is arithmetic: real = scale * (element - zero point)."""
    good = True
    for kind, number, more, text in [("Add", -1, [], "scale 0.015625, zero point 69,"), ("Sub", 0.5, [], "scale 0.015625, zero point 101,"),
                                     ("Sub", 64, [64], "scale 1, zero point 69,"), ("Mul", 0.5, [], "scale 0.03125, zero point 133,")]:
        path = f"{scratch}/folded.onnx"
        onnx.save(shifted(kind, number, *more).done(), path)
        done = run(dory, path)
        line = next((line for line in done.stdout.splitlines() if "input 'x'" in line), "")
        if text not in line or done.stderr:
            good = False
            print(f"{kind} {number}: expected '{text}', found: {line}\n{done.stderr}")
    return good


def memory(dory, scratch):
    """Of a small file, that says of its inputs that they are large."""
    path, good = f"{scratch}/large.onnx", True
    for in_parts, status, parts in (False, 0, []), (True, 1, ["input 'x0' has 16777216 elements", "quantised by themselves"]):
        onnx.save(large_inputs(in_parts).done(), path)
        good &= judge(f"large inputs, in parts: {in_parts}", run(dory, path), status, parts)
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        if megabytes > MOST_MEGABYTES:
            good = False
            print(f"large inputs, in parts: {in_parts}: {megabytes} MB; expected at most {MOST_MEGABYTES}")
    return good


def foreign_options(dory, scratch):
    """Options of integer networks."""
    path, good = f"{scratch}/plain.onnx", True
    onnx.save(Model().quantise("a").convolution().quantise("y").done(), path)
    for options in (["--exact-add"], ["--input-bits", "4"], ["--input-signed"]):
        good &= judge(str(options), run(dory, path, *options), 1, [options[0], "Quantlab"])
    return good


def main():
    dory, good = sys.argv[1], True
    with tempfile.TemporaryDirectory() as scratch:
        for name, model, status, parts in CASES:
            path = f"{scratch}/model.onnx"
            with open(path, "wb") as file:
                file.write(model.done().SerializeToString())
            good &= judge(name, run(dory, path), status, parts)
        good &= external(dory, scratch)
        good &= foreign_options(dory, scratch)
        good &= folded(dory, scratch)
        good &= memory(dory, scratch)
    for name, parts in SHARED:
        path = f"{sys.argv[2]}/{name}/model.onnx" if len(sys.argv) > 2 else ""
        if os.path.exists(path):
            good &= judge(name, run(dory, path), 1, parts)
    print(f"{len(CASES)} models" if good else "some messages are not as they should be")
    return 0 if good else 1


sys.exit(main())
