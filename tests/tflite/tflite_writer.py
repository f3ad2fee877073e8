"""Writes TFLite files for tests: a FlatBuffer with the tables that dory reads, and nothing else.

    model = Model()
    x = model.tensor("x", [1, 8, 8, 3], INT8, scale=0.5, zero=-3)
    w = model.tensor("w", [4, 3, 3, 3], INT8, scale=[...], zero=0, data=bytes)
    y = model.tensor("y", ...)
    model.operator(CONV_2D, [x, w], [y], options=(1, {0: ("b", 0), 1: ("i", 1), 2: ("i", 1)}))
    model.write("model.tflite", [x], [y])
"""
import struct

FLOAT32, INT32, UINT8, INT64, INT16, INT8, INT4 = 0, 2, 3, 4, 7, 9, 17
ADD, AVERAGE_POOL_2D, CONCATENATION, CONV_2D, DEPTHWISE_CONV_2D, DEQUANTIZE, FULLY_CONNECTED = 0, 1, 2, 3, 4, 6, 9
LOGISTIC, LSTM, MAX_POOL_2D, MUL, RELU, RELU_N1_TO_1, RELU6, RESHAPE, RESIZE_BILINEAR = 14, 16, 17, 18, 19, 20, 21, 22, 23
SOFTMAX, TANH, CUSTOM, PAD, TRANSPOSE, MEAN, SUB, SQUEEZE, STRIDED_SLICE, SPLIT = 25, 28, 32, 34, 39, 40, 41, 43, 45, 49
ARG_MAX, PADV2, SLICE, TRANSPOSE_CONV, EXPAND_DIMS, REDUCE_MAX, RESIZE_NEAREST_NEIGHBOR, LEAKY_RELU = 56, 60, 65, 67, 70, 82, 97, 98
QUANTIZE, HARD_SWISH, SPLIT_V, SHAPE, PACK = 114, 117, 102, 77, 83
PRELU, MAXIMUM, MINIMUM, SELECT_V2, LOG_SOFTMAX = 54, 55, 57, 123, 50
DEPTH_TO_SPACE, SPACE_TO_DEPTH, GATHER, TILE, UNPACK, MIRROR_PAD, ABS, REVERSE_V2, GATHER_ND = 5, 26, 36, 69, 88, 100, 101, 105, 107
SUM, DIV, ARG_MIN, REDUCE_MIN, LOGICAL_OR, LOGICAL_AND, LOGICAL_NOT, BOOL = 74, 42, 79, 89, 84, 86, 87, 6
REDUCE_ANY, REDUCE_ALL, GREATER, LESS_EQUAL = 91, 140, 61, 63
SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND, BROADCAST_TO, BATCH_MATMUL, RSQRT, SQUARED_DIFFERENCE = 38, 37, 130, 126, 76, 99
LESS, SELECT, FILL, FLOOR_MOD, CAST, RELU_0_TO_1, CONV_3D, WHILE, BROADCAST_ARGS = 58, 64, 94, 95, 53, 152, 132, 119, 145
CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, RESOURCE, L2_NORMALIZATION = 129, 142, 143, 144, 13, 11
SIZES = {"b": 1, "B": 1, "i": 4, "I": 4, "q": 8, "f": 4}


class Table:
    """Fields by number: (format, number), or a Table, list of Tables, Numbers or str."""

    def __init__(self, fields):
        self.fields = {number: value for number, value in fields.items() if value is not None}


class Numbers:
    def __init__(self, kind, numbers, align=4):
        self.data = numbers if isinstance(numbers, bytes) else struct.pack("<%d%s" % (len(numbers), kind), *numbers)
        self.count, self.align = len(self.data) // SIZES[kind], max(align, SIZES[kind])


class File:
    def __init__(self, root, identifier):
        self.bytes = bytearray(8)
        self.bytes[4:8] = identifier
        self.refer(0, root)

    def align(self, size, before=0):
        while (len(self.bytes) + before) % size:
            self.bytes.append(0)

    def refer(self, at, thing):
        """Writes a thing behind all others, and its distance at `at`."""
        place = self.table(thing) if isinstance(thing, Table) else self.vector(thing)
        self.bytes[at:at + 4] = struct.pack("<I", place - at)

    def table(self, table):
        offset, places = 4, {}
        for number, value in sorted(table.fields.items(), key=lambda item: -SIZES.get(item[1][0], 4) if
                                    isinstance(item[1], tuple) else -4):
            size = SIZES[value[0]] if isinstance(value, tuple) else 4
            offset += -offset % size
            places[number] = offset
            offset += size
        last = max(places, default=-1) + 1
        self.align(2)
        vtable = len(self.bytes)
        self.bytes += struct.pack("<HH", 4 + 2 * last, offset)
        self.bytes += struct.pack("<%dH" % last, *[places.get(number, 0) for number in range(last)])
        self.align(8)
        start = len(self.bytes)
        self.bytes += struct.pack("<i", start - vtable) + bytes(offset - 4)
        for number, place in places.items():
            value = table.fields[number]
            if isinstance(value, tuple):
                struct.pack_into("<" + value[0], self.bytes, start + place, value[1])
            else:
                self.refer(start + place, value)
        return start

    def vector(self, thing):
        if isinstance(thing, str):
            thing = Numbers("B", thing.encode() + b"\0")
            thing.count -= 1
        if isinstance(thing, Numbers):
            self.align(thing.align, before=4)
            place = len(self.bytes)
            self.bytes += struct.pack("<I", thing.count) + thing.data
            self.align(4)
            return place
        self.align(4)
        place = len(self.bytes)
        self.bytes += struct.pack("<I", len(thing)) + bytes(4 * len(thing))
        for i, item in enumerate(thing):
            self.refer(place + 4 + 4 * i, item)
        return place


class Model:
    def __init__(self):
        self.tensors, self.codes, self.operators = [], [], []
        self.buffers = [Table({})]
        self.first = None  # the subgraph that gives variables their first values

    def tensor(self, name, shape, kind, scale=None, zero=0, data=None, axis=0, signature=None, **more):
        buffer = 0
        if data is not None:
            buffer = len(self.buffers)
            self.buffers.append(Table({0: Numbers("B", bytes(data), 16)}))
        scales = scale if isinstance(scale, (list, tuple)) else [scale]
        zeros = zero if isinstance(zero, (list, tuple)) else [zero] * len(scales)
        quantisation = None
        if scale is not None:
            quantisation = Table({2: Numbers("f", scales), 3: Numbers("q", zeros), 6: ("i", axis)})
        fields = {0: Numbers("i", shape), 1: ("b", kind), 2: ("I", buffer), 3: name, 4: quantisation,
                  7: Numbers("i", signature) if signature else None}
        fields.update(more.get("fields", {}))
        self.tensors.append(Table(fields))
        return len(self.tensors) - 1

    def integers(self, name, numbers, shape=None):
        return self.tensor(name, [len(numbers)] if shape is None else shape, INT32,
                           data=struct.pack("<%di" % len(numbers), *numbers))

    def operator(self, code, inputs, outputs, options=None, custom=None):
        fields = {0: ("b", min(code, 127)), 1: custom, 2: ("i", 1), 3: ("i", code)}
        entry = (code, custom)
        if entry not in [known for known, _ in self.codes]:
            self.codes.append((entry, Table(fields)))
        index = [known for known, _ in self.codes].index(entry)
        kind, values = options if options else (None, None)
        self.operators.append(Table({0: ("I", index), 1: Numbers("i", inputs), 2: Numbers("i", outputs),
                                     3: ("B", kind) if kind else None, 4: Table(values) if kind else None}))

    def variable(self, name, shape, scale, zero, first):
        """A handle; `first` are the bytes before the first run, or None: nobody gives them."""
        handle = self.tensor(name, [], RESOURCE)
        if first is not None:
            if not self.first:
                self.first = Model()
                self.first.buffers, self.first.codes = self.buffers, self.codes
                self.operator(CALL_ONCE, [], [], (103, {0: ("i", 1)}))
            value = self.first.tensor("first", shape, INT8, scale, zero, first)
            self.first.operator(VAR_HANDLE, [], [self.first.tensor(name, [], RESOURCE)], (111, {1: name}))
            self.first.operator(ASSIGN_VARIABLE, [len(self.first.tensors) - 1, value], [])
        self.operator(VAR_HANDLE, [], [handle], (111, {1: name}))
        return handle

    def subgraph(self, inputs, outputs):
        return Table({0: self.tensors, 1: Numbers("i", inputs), 2: Numbers("i", outputs), 3: self.operators, 4: "main"})

    def pack(self, inputs, outputs, version=3, subgraphs=1):
        graph = self.subgraph(inputs, outputs)
        root = Table({0: ("I", version), 1: [code for _, code in self.codes], 3: "made by a test",
                      2: [graph] * subgraphs + ([self.first.subgraph([], [])] if self.first else []),
                      4: self.buffers})
        return bytes(File(root, b"TFL3").bytes)

    def write(self, path, inputs, outputs, **more):
        with open(path, "wb") as file:
            file.write(self.pack(inputs, outputs, **more))
