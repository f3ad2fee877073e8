"""What layers cost on a machine, as a cost model for the searches of PLiNIO (eml-eda/plinio on GitHub).

    from plinio_cost import specification
    model = MPS(network, input_shape=(3, 32, 32), cost=specification("gap8"))

A search asks for fractions of channels and wants a slope. dory_cost knows whole channels, whose cycles rise in steps; this
file asks it at multiples of four on either side, and interpolates: along the input's channels, the output's, or both.
"""
import dory_cost

GRID = 4  # kernels compute four output channels at once, and read four input channels as one word


def _number(value):
    """Of a tensor with one element, too."""
    return float(value.detach()) if hasattr(value, "detach") else float(value)


def _neighbours(value):
    """Channels below and above on the grid, and how far `value` is from the first: 0 to 1, as differentiable as it is."""
    low = max(int(_number(value)) // GRID * GRID, GRID)
    return low, low + GRID, (value - low) / GRID


class LayerCost:
    """Cycles of single layers, from what PLiNIO says of one: a dictionary with in_channels, kernel_size, output_shape..."""

    def __init__(self, target="gap8", model=None):
        self._model, self._known = model or dory_cost.Model(target), {}

    def _cycles(self, **fields):
        key = tuple(sorted(fields.items()))
        if key not in self._known:
            self._known[key] = self._model.cost(**fields).cycles
        return self._known[key]

    def _between(self, inputs, outputs, fields):
        """Bilinear between the four corners of a grid's cell."""
        low_in, high_in, part_in = _neighbours(inputs)
        low_out, high_out, part_out = _neighbours(outputs)
        rows = []
        for channels in (low_in, high_in):
            first, second = (self._cycles(channels=channels, outputs=count, **fields) for count in (low_out, high_out))
            rows.append(first + (second - first) * part_out)
        return rows[0] + (rows[1] - rows[0]) * part_in

    def _along(self, channels, fields):
        """A depth-wise layer, which has as many inputs as outputs."""
        low, high, part = _neighbours(channels)
        first, second = (self._cycles(channels=count, outputs=count, groups=count, **fields) for count in (low, high))
        return first + (second - first) * part

    @staticmethod
    def _bits(spec):
        """2, 4 or 8, of weights and of the input. A search asks for each alternative; pruned channels have 0 bits."""
        fields = {}
        for name, field in (("w_precision", "weight_bits"), ("in_precision", "input_bits")):
            precision = spec.get(name)
            if precision is not None and _number(precision) in (2, 4, 8):
                fields[field] = int(_number(precision))
        return fields

    @staticmethod
    def _window(spec):
        """The window of a convolution over one dimension or two, and a size of the input that gives its output."""
        pair = lambda value: (1,) * (2 - len(value)) + tuple(int(part) for part in value)
        kernel, stride, dilation = pair(spec["kernel_size"]), pair(spec["stride"]), pair(spec["dilation"])
        outputs = pair(spec["output_shape"][2:])
        extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
        padding = spec.get("padding", 0)
        if isinstance(padding, str):
            padding = [e // 2 for e in extent] if padding == "same" else (0, 0)
        padding = (0,) * (2 - len(padding)) + tuple(int(part) for part in padding)
        size = [max((o - 1) * s + e - 2 * p, 1) for o, s, e, p in zip(outputs, stride, extent, padding)]
        return {"height": size[0], "width": size[1], "kernel": kernel, "stride": stride, "dilation": dilation,
                "padding": padding}

    def convolution(self, spec):
        return self._between(spec["in_channels"], spec["out_channels"], {**self._window(spec), **self._bits(spec)})

    def depthwise(self, spec):
        return self._along(spec["out_channels"], {**self._window(spec), **self._bits(spec)})

    def linear(self, spec):
        fields = {"operation": "linear", "height": 1, "width": 1, **self._bits(spec)}
        return self._between(spec["in_features"], spec["out_features"], fields)


def specification(target="gap8"):
    """PLiNIO's CostSpec of a machine; other layers cost nothing, as in PLiNIO's own."""
    from plinio.cost import CostSpec
    from plinio.cost.pattern import Conv1dDW, Conv1dGeneric, Conv2dDW, Conv2dGeneric, LinearGeneric
    layer_cost = LayerCost(target)
    spec = CostSpec(shared=False, default_behavior="zero")
    for generic, depthwise in ((Conv1dGeneric, Conv1dDW), (Conv2dGeneric, Conv2dDW)):
        spec[generic] = layer_cost.convolution
        spec[depthwise] = layer_cost.depthwise
    spec[LinearGeneric] = layer_cost.linear
    return spec
