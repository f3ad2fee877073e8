"""Operators of reference.py on what a Concat joins of several scales: each part by itself."""
import numpy as np

from reference_values import Exact, Parts, Plain


def array_of(value):
    return value.elements if isinstance(value, Plain) else value.numbers if isinstance(value, Exact) else value


def cut(value, axis, start, end):
    """Of a tensor, or of a constant that is repeated where it has one index."""
    array = array_of(value)
    if np.ndim(array) <= axis or array.shape[axis] == 1:
        return value
    part = array[(slice(None),) * axis + (slice(start, end),)]
    return value.moved(part) if isinstance(value, Plain) else part


def joined(values, axis):
    parts = [part for value in values
             for part in (value.parts if isinstance(value, Parts) and value.axis == axis else [value])]
    return parts[0] if len(parts) == 1 else Parts(parts, axis)


class Joined:
    """Methods of a network."""

    def spread(self, compute, inputs, attributes, node):
        whole = next(value for value in inputs if isinstance(value, Parts))
        rank, start, results = array_of(whole.parts[0]).ndim, 0, []
        for i, part in enumerate(whole.parts):
            end = start + array_of(part).shape[whole.axis]
            own = []
            for value in inputs:
                if isinstance(value, Parts):
                    own.append(value.parts[i])
                elif node.op_type == "BatchNormalization":
                    own.append(value[start:end] if whole.axis == 1 else value)
                elif node.op_type in ("Add", "Sub", "Mul") and value is not None:
                    own.append(cut(value, whole.axis - rank + np.ndim(array_of(value)), start, end))
                else:
                    own.append(value)
            results.append(compute(own, attributes, node))
            start = end
        axis = whole.axis
        if node.op_type == "Transpose":
            axis = list(attributes["perm"]).index(axis)
        return joined(results, axis)

    def sliced(self, inputs, attributes, node):
        """Whole parts of other dimensions, and what is left of them along their own."""
        whole, starts, ends, axes, steps = inputs
        along = next((i for i, axis in enumerate(axes) if axis == whole.axis), None)
        start, results = 0, []
        for part in whole.parts:
            size = array_of(part).shape[whole.axis]
            own = [np.array(starts), np.array(ends)]
            if along is not None:
                own = [np.clip(numbers - np.where(np.arange(len(axes)) == along, start, 0), 0, None) for numbers in own]
            if along is None or min(own[1][along], size) > own[0][along]:
                results.append(self.node_Slice([part, *own, axes, steps], attributes, node))
            start += size
        return joined(results, whole.axis)
