"""Operators of reference.py that float32 computes element by element: comparisons, choices, quotients."""
import numpy as np

from reference_values import FLOAT, Plain


class Compared:
    """Methods of a network."""

    def compared(self, inputs, compute):
        return compute(*(value.floats() if isinstance(value, Plain) else value for value in inputs))

    def node_Max(self, inputs, attributes, node):
        return self.compared(inputs, np.maximum)

    def node_Min(self, inputs, attributes, node):
        return self.compared(inputs, np.minimum)

    def node_Greater(self, inputs, attributes, node):
        return self.compared(inputs, np.greater)

    def node_Less(self, inputs, attributes, node):
        return self.compared(inputs, np.less)

    def node_Div(self, inputs, attributes, node):
        """0 / 0 is no number; any element stands for it, and dory's is that of 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = self.compared(inputs, np.divide).astype(FLOAT)
        return np.nan_to_num(quotient, nan=0, posinf=1e9, neginf=-1e9)

    def node_GreaterOrEqual(self, inputs, attributes, node):
        return self.compared(inputs, np.greater_equal)

    def node_LessOrEqual(self, inputs, attributes, node):
        return self.compared(inputs, np.less_equal)

    def node_And(self, inputs, attributes, node):
        return np.logical_and(*inputs)

    def node_Or(self, inputs, attributes, node):
        return np.logical_or(*inputs)

    def node_Not(self, inputs, attributes, node):
        return ~inputs[0]

    def node_Where(self, inputs, attributes, node):
        return self.compared(inputs, np.where).astype(FLOAT)
