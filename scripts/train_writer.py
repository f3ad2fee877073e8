#!/usr/bin/python3
"""Trains the language model of apps/writer, quantises it to QDQ ONNX, and writes what that application is built from.

The model reads a character and says which may come next: a decoder of two layers whose keys and values of the last
characters are a cache, which is an input and an output of the network. It learns sentences that a small grammar makes, in
plain numpy: every gradient is written out below. Adam, one seed, some minutes.

    scripts/train_writer.py apps/writer

writes writer.onnx and alphabet.h: the characters, and what the application draws the next one with. They are committed, so
that nobody needs Python to build the application; another BLAS may round the training differently. Needs numpy and onnx.
"""

import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS, HIDDEN, LAYERS = 32, 4, 64, 2
CONTEXT = 32                    # characters that attention sees, the newest one included
STEPS, BATCH, LENGTH, RATE = 800, 8, 96, 4e-3
TEMPERATURE = 0.6               # below 1: likely characters become likelier
EPSILON = 1e-3

# --- Text ---------------------------------------------------------------------------------------

WORKERS = ["the core", "the cluster", "the camera", "the radio", "the planner", "a sensor", "the timer"]
DEEDS = {
    "loads": ["a tile", "the weights", "an image", "a row"],
    "stores": ["a row", "the result", "a tile"],
    "waits for": ["the camera", "a packet", "the weights", "the timer"],
    "wakes": ["the cluster", "the core", "a sensor"],
    "sends": ["a packet", "the result", "an image"],
    "counts": ["cycles", "frames", "bytes"],
}
MANNERS = ["", "", "", " in time", " again", " at night", " and sleeps"]


def sentence(random):
    def deed():
        verb = random.choice(list(DEEDS))
        return f"{random.choice(WORKERS)} {verb} {random.choice(DEEDS[verb])}{random.choice(MANNERS)}"
    kind = random.integers(4)
    text = f"when {deed()}, {deed()}" if kind == 0 else f"{deed()}, then {deed()}" if kind == 1 else deed()
    return text + ".\n"


def corpus(random, characters):
    text = ""
    while len(text) < characters:
        text += sentence(random)
    return text


ALPHABET = "\n" + "".join(sorted(set("".join(WORKERS + MANNERS + list(DEEDS) + sum(DEEDS.values(), [])) + "when, then.")))

# --- Network ------------------------------------------------------------------------------------


def parameters(random):
    def matrix(rows, columns):
        return (random.normal(0, 1, (rows, columns)) / np.sqrt(rows)).astype(np.float32)
    made = {"embedding": matrix(len(ALPHABET), WIDTH) * np.float32(3), "out": matrix(WIDTH, len(ALPHABET))}
    for i in range(LAYERS):
        for name in "qkvo":
            made[f"{name}{i}"] = matrix(WIDTH, WIDTH)
        made[f"up{i}"], made[f"down{i}"] = matrix(WIDTH, HIDDEN), matrix(HIDDEN, WIDTH)
        made[f"up_bias{i}"] = np.zeros(HIDDEN, np.float32)
        made[f"slots{i}"] = np.tile(np.linspace(-2, 0, CONTEXT, dtype=np.float32), (HEADS, 1))
    for i in range(2 * LAYERS + 1):
        made[f"scale{i}"], made[f"bias{i}"] = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    return made


def norm(x, scale, bias):
    centred = x - x.mean(-1, keepdims=True)
    inverse = 1 / np.sqrt((centred ** 2).mean(-1, keepdims=True) + EPSILON)
    unit = centred * inverse
    return unit * scale + bias, (unit, inverse)


def norm_gradient(gradient, saved, scale):
    unit, inverse = saved
    by_unit = gradient * scale
    by_x = inverse * (by_unit - by_unit.mean(-1, keepdims=True) - unit * (by_unit * unit).mean(-1, keepdims=True))
    return by_x, (gradient * unit).sum((0, 1)), gradient.sum((0, 1))


def heads_of(x):
    return x.reshape(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)


def joined(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], WIDTH)


# Attention sees CONTEXT slots: position i of the text those from i on, of keys and values with a context of zeros in front.
SLOT_OF = np.arange(LENGTH + CONTEXT - 1)[None, :] - np.arange(LENGTH)[:, None]
SEES = (SLOT_OF >= 0) & (SLOT_OF < CONTEXT)
SLOT = np.clip(SLOT_OF, 0, CONTEXT - 1)


def attention(x, p, i, seen):
    y, saved_norm = norm(x, p[f"scale{2 * i}"], p[f"bias{2 * i}"])
    query, key, value = (y @ p[f"{name}{i}"] for name in "qkv")
    padded = [np.concatenate([np.zeros((x.shape[0], CONTEXT - 1, WIDTH), np.float32), part], 1) for part in (key, value)]
    q, (k, v) = heads_of(query), (heads_of(part) for part in padded)
    scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH // HEADS)) + p[f"slots{i}"][:, SLOT][None]
    scores = np.where(SEES, scores, np.float32(-1e9))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    mixed = joined(weights @ v)
    seen.update({f"norm{2 * i}": y, f"query{i}": query, f"key{i}": key, f"value{i}": value, f"mixed{i}": mixed,
                 f"product{i}": (q @ k.transpose(0, 1, 3, 2))[:, :, SEES], f"scores{i}": scores[:, :, SEES]})
    return x + mixed @ p[f"o{i}"], (y, saved_norm, q, k, v, weights, mixed)


def attention_gradient(gradient, saved, p, i, g):
    y, saved_norm, q, k, v, weights, mixed = saved
    g[f"o{i}"] = np.tensordot(mixed, gradient, ((0, 1), (0, 1)))
    by_mixed = heads_of(gradient @ p[f"o{i}"].T)
    by_v = weights.transpose(0, 1, 3, 2) @ by_mixed
    by_weights = by_mixed @ v.transpose(0, 1, 3, 2)
    by_scores = weights * (by_weights - (by_weights * weights).sum(-1, keepdims=True))
    slots = np.zeros((HEADS, CONTEXT), np.float32)
    for head, of_head in enumerate(by_scores.sum(0)):
        slots[head] = np.bincount(SLOT[SEES], of_head[SEES], CONTEXT)
    g[f"slots{i}"] = slots
    by_scores = by_scores / np.float32(np.sqrt(WIDTH // HEADS))
    by_parts = joined(by_scores @ k), joined(by_scores.transpose(0, 1, 3, 2) @ q)[:, CONTEXT - 1:], joined(by_v)[:, CONTEXT - 1:]
    by_y = 0
    for name, by_part in zip("qkv", by_parts):
        g[f"{name}{i}"] = np.tensordot(y, by_part, ((0, 1), (0, 1)))
        by_y = by_y + by_part @ p[f"{name}{i}"].T
    by_x, g[f"scale{2 * i}"], g[f"bias{2 * i}"] = norm_gradient(by_y, saved_norm, p[f"scale{2 * i}"])
    return gradient + by_x


def feed_forward(x, p, i, seen):
    y, saved_norm = norm(x, p[f"scale{2 * i + 1}"], p[f"bias{2 * i + 1}"])
    hidden = np.maximum(y @ p[f"up{i}"] + p[f"up_bias{i}"], 0)
    seen.update({f"norm{2 * i + 1}": y, f"hidden{i}": hidden})
    return x + hidden @ p[f"down{i}"], (y, saved_norm, hidden)


def feed_forward_gradient(gradient, saved, p, i, g):
    y, saved_norm, hidden = saved
    g[f"down{i}"] = np.tensordot(hidden, gradient, ((0, 1), (0, 1)))
    by_hidden = (gradient @ p[f"down{i}"].T) * (hidden > 0)
    g[f"up{i}"] = np.tensordot(y, by_hidden, ((0, 1), (0, 1)))
    g[f"up_bias{i}"] = by_hidden.sum((0, 1))
    by_x, g[f"scale{2 * i + 1}"], g[f"bias{2 * i + 1}"] = norm_gradient(by_hidden @ p[f"up{i}"].T, saved_norm, p[f"scale{2 * i + 1}"])
    return gradient + by_x


def forward(text, p, seen):
    """Logits; `seen` gets the values of all tensors that are quantised."""
    x, saved = p["embedding"][text], []
    seen["state0"] = x
    for i in range(LAYERS):
        for part in (attention, feed_forward):
            before = x
            x, of_part = part(x, p, i, seen)
            saved.append(of_part)
            seen[f"update{len(saved)}"], seen[f"state{len(saved)}"] = x - before, x
    y, saved_norm = norm(x, p[f"scale{2 * LAYERS}"], p[f"bias{2 * LAYERS}"])
    seen[f"norm{2 * LAYERS}"], seen["logits"] = y, y @ p["out"]
    return seen["logits"], saved, (y, saved_norm)


def step(text, p):
    """Loss and gradients of a batch of texts, of LENGTH characters and one more."""
    logits, saved, (y, saved_norm) = forward(text[:, :-1], p, {})
    shifted = np.exp(logits - logits.max(-1, keepdims=True))
    likely = shifted / shifted.sum(-1, keepdims=True)
    batch, position = np.indices((BATCH, LENGTH))
    loss = -np.log(likely[batch, position, text[:, 1:]] + 1e-9).mean()
    likely[batch, position, text[:, 1:]] -= 1
    gradient, g = likely / (BATCH * LENGTH), {}
    g["out"] = np.tensordot(y, gradient, ((0, 1), (0, 1)))
    gradient, g[f"scale{2 * LAYERS}"], g[f"bias{2 * LAYERS}"] = norm_gradient(gradient @ p["out"].T, saved_norm, p[f"scale{2 * LAYERS}"])
    for i in reversed(range(LAYERS)):
        gradient = feed_forward_gradient(gradient, saved[2 * i + 1], p, i, g)
        gradient = attention_gradient(gradient, saved[2 * i], p, i, g)
    g["embedding"] = np.zeros_like(p["embedding"])
    np.add.at(g["embedding"], text[:, :-1], gradient)
    return loss, g


def train(random, steps):
    p, text = parameters(random), np.array([ALPHABET.index(c) for c in corpus(random, 400000)])
    moments = {name: [np.zeros_like(value), np.zeros_like(value)] for name, value in p.items()}
    for n in range(1, steps + 1):
        starts = random.integers(0, len(text) - LENGTH - 1, BATCH)
        loss, gradients = step(np.stack([text[s:s + LENGTH + 1] for s in starts]), p)
        rate = RATE * min(1, n / 100) * (1 - n / (steps + 1))
        for name, gradient in gradients.items():
            first, second = moments[name]
            first += 0.1 * (gradient - first)
            second += 0.01 * (gradient ** 2 - second)
            p[name] = (p[name] - rate * (first / (1 - 0.9 ** n)) / (np.sqrt(second / (1 - 0.99 ** n)) + 1e-8)).astype(np.float32)
        if n % 100 == 0:
            print(f"step {n}: loss {loss:.3f}", flush=True)
    seen = {}
    forward(np.stack([text[s:s + LENGTH] for s in range(0, 64 * LENGTH, LENGTH)]), p, seen)
    return p, seen


# --- File ---------------------------------------------------------------------------------------


class Writer:
    """Nodes of a QDQ graph; every value has the range that the float network's has."""

    def __init__(self, ranges):
        self.ranges, self.nodes, self.constants = ranges, [], []

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def scale_of(self, name):
        low, high = self.ranges[name]
        scale = np.float32(max(high - low, 1e-3) / 255)
        return scale, np.uint8(np.clip(round(-low / scale), 0, 255))

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def dequantised(self, integers, name):
        """`integers` of the range of `name`."""
        if not any(tensor.name == f"{name}_scale" for tensor in self.constants):
            scale, zero = self.scale_of(name)
            self.constant(f"{name}_scale", scale)
            self.constant(f"{name}_zero", zero)
        return self.node("DequantizeLinear", [integers, f"{name}_scale", f"{name}_zero"], f"{integers}_real")

    def quantised(self, real, name, integers=None):
        """The real value in the range of `name`."""
        integers = integers or f"{name}_{len(self.nodes)}_q"
        at = len(self.nodes)
        result = self.dequantised(integers, name)
        self.nodes.insert(at, helper.make_node("QuantizeLinear", [real, f"{name}_scale", f"{name}_zero"], [integers], name=integers))
        return result

    def weights(self, name, value):
        scale = np.float32(max(np.abs(value).max(), 1e-6) / 127)
        integers = np.clip(np.rint(value / scale), -127, 127).astype(np.int8)
        return self.node("DequantizeLinear", [self.constant(f"{name}_integers", integers), self.constant(f"{name}_scale", scale),
                                              self.constant(f"{name}_zero", np.int8(0))], name)

    def bytes(self, name, value):
        """A constant that is added: a tensor of bytes."""
        self.ranges[name] = (min(0, float(value.min())), max(0, float(value.max())))
        scale, zero = self.scale_of(name)
        return self.dequantised(self.constant(f"{name}_integers", np.clip(np.rint(value / scale) + zero, 0, 255).astype(np.uint8)), name)

    def shape(self, x, name, dimensions):
        return self.node("Reshape", [x, self.constant(f"{name}_shape", np.array(dimensions, np.int64))], name)


def write_norm(w, p, x, i):
    scale, bias = w.weights(f"scale{i}", p[f"scale{i}"]), w.weights(f"bias{i}", p[f"bias{i}"])
    return w.quantised(w.node("LayerNormalization", [x, scale, bias], f"norm{i}", axis=-1, epsilon=EPSILON), f"norm{i}")


def write_attention(w, p, x, i):
    y, of_head, parts = write_norm(w, p, x, 2 * i), WIDTH // HEADS, {}
    for name, of_p in (("query", "q"), ("key", "k"), ("value", "v")):
        parts[name] = w.quantised(w.node("MatMul", [y, w.weights(f"{of_p}{i}", p[f"{of_p}{i}"])], f"{name}{i}"), f"{name}{i}")
    for name in ("key", "value"):
        whole = w.node("Concat", [w.dequantised(f"past_{name}{i}", f"{name}{i}"), parts[name]], f"{name}{i}_whole", axis=1)
        whole = w.quantised(whole, f"{name}{i}", f"present_{name}{i}")
        parts[name] = w.shape(whole, f"{name}{i}_heads", [1, CONTEXT, HEADS, of_head])
    query = w.node("Transpose", [w.shape(parts["query"], f"query{i}_heads", [1, 1, HEADS, of_head])], f"query{i}_turned", perm=[0, 2, 1, 3])
    key = w.node("Transpose", [parts["key"]], f"key{i}_turned", perm=[0, 2, 3, 1])
    value = w.node("Transpose", [parts["value"]], f"value{i}_turned", perm=[0, 2, 1, 3])
    # the root of a head's width goes into the slots' scale, and back in front of the softmax
    product = w.quantised(w.node("MatMul", [query, key], f"product{i}"), f"product{i}")
    root = w.constant(f"root{i}", np.float32(np.sqrt(of_head)))
    scores = w.quantised(w.node("Div", [product, root], f"divided{i}"), f"divided{i}")
    slots = w.bytes(f"slots{i}", p[f"slots{i}"].reshape(1, HEADS, 1, CONTEXT))
    scores = w.quantised(w.node("Add", [scores, slots], f"scores{i}"), f"scores{i}")
    weights = w.quantised(w.node("Softmax", [scores], f"weights{i}", axis=-1), f"weights{i}")
    mixed = w.quantised(w.node("MatMul", [weights, value], f"mixed{i}"), f"mixed{i}")
    mixed = w.shape(w.node("Transpose", [mixed], f"mixed{i}_turned", perm=[0, 2, 1, 3]), f"mixed{i}_joined", [1, 1, WIDTH])
    update = w.quantised(w.node("MatMul", [mixed, w.weights(f"o{i}", p[f"o{i}"])], f"update{2 * i + 1}"), f"update{2 * i + 1}")
    return w.quantised(w.node("Add", [x, update], f"state{2 * i + 1}"), f"state{2 * i + 1}")


def write_feed_forward(w, p, x, i):
    y = write_norm(w, p, x, 2 * i + 1)
    up = w.node("MatMul", [y, w.weights(f"up{i}", p[f"up{i}"])], f"up{i}_product")
    scale = np.float32(w.scale_of(f"norm{2 * i + 1}")[0] * np.float32(np.abs(p[f"up{i}"]).max() / 127))
    bias = w.node("DequantizeLinear", [w.constant(f"up_bias{i}_integers", np.rint(p[f"up_bias{i}"] / scale).astype(np.int32)),
                                       w.constant(f"up_bias{i}_scale", scale)], f"up_bias{i}")
    hidden = w.quantised(w.node("Relu", [w.node("Add", [up, bias], f"hidden{i}_sum")], f"hidden{i}"), f"hidden{i}")
    n = 2 * i + 2
    update = w.quantised(w.node("MatMul", [hidden, w.weights(f"down{i}", p[f"down{i}"])], f"update{n}"), f"update{n}")
    return w.quantised(w.node("Add", [x, update], f"state{n}"), f"state{n}")


def write_network(path, p, seen):
    ranges = {name: (min(0, float(value.min())), max(0, float(value.max()))) for name, value in seen.items()}
    ranges["character"] = (0, 255)
    for i in range(LAYERS):
        ranges[f"weights{i}"] = (0, 1)
        ranges[f"divided{i}"] = tuple(bound / float(np.sqrt(WIDTH // HEADS)) for bound in ranges[f"product{i}"])
    w = Writer(ranges)
    # one-hot: the number 1 where the character is
    x = w.node("MatMul", [w.dequantised("character", "character"), w.weights("embedding", p["embedding"])], "state0")
    x = w.quantised(x, "state0")
    for i in range(LAYERS):
        x = write_feed_forward(w, p, write_attention(w, p, x, i), i)
    logits = w.node("MatMul", [write_norm(w, p, x, 2 * LAYERS), w.weights("out", p["out"])], "logits_real")
    w.quantised(logits, "logits", "logits")

    def port(name, rows, columns):
        return helper.make_tensor_value_info(name, TensorProto.UINT8, [1, rows, columns])
    caches = [(name, i) for i in range(LAYERS) for name in ("key", "value")]
    w.nodes.pop()  # nobody reads the logits as real numbers
    graph = helper.make_graph(w.nodes, "writer", [port("character", 1, len(ALPHABET))] + [port(f"past_{name}{i}", CONTEXT - 1, WIDTH) for name, i in caches],
                              [port("logits", 1, len(ALPHABET))] + [port(f"present_{name}{i}", CONTEXT, WIDTH) for name, i in caches], w.constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return w.scale_of("logits")[0], [int(w.scale_of(f"{name}{i}")[1]) for name, i in caches]


def write_alphabet(path, scale, empty):
    letters = ALPHABET.replace("\n", "\\n")
    weights = [round(65535 * float(np.exp(-i * scale / TEMPERATURE))) for i in range(256)]
    with open(path, "w") as file:
        file.write("/* Made by scripts/train_writer.py. */\n#ifndef WRITER_ALPHABET_H\n#define WRITER_ALPHABET_H\n\n#include <stdint.h>\n\n")
        file.write(f"#define ALPHABET \"{letters}\"\n\n")
        file.write("/* What caches are full of before the first character: zero, of each in its own scale. */\n")
        file.write(f"static const uint8_t empty[] = {{{', '.join(map(str, empty))}}};\n\n")
        file.write("/* How likely a character is whose logit is so far below the largest. */\nstatic const uint16_t likelihoods[256] = {\n")
        for i in range(0, 256, 16):
            file.write("    " + ", ".join(map(str, weights[i:i + 16])) + ",\n")
        file.write("};\n\n#endif\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    p, seen = train(np.random.default_rng(1), arguments.steps)
    scale, empty = write_network(os.path.join(arguments.folder, "writer.onnx"), p, seen)
    write_alphabet(os.path.join(arguments.folder, "alphabet.h"), scale, empty)


if __name__ == "__main__":
    main()
