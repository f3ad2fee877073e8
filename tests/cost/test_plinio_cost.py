"""The cost model for PLiNIO's searches against dory's own: the same at whole fours of channels, rising between them. Where
there are torch and PLiNIO (its folder in DORY_PLINIO), also slopes and PLiNIO's CostSpec. Usage: test_plinio_cost.py MODULE_FOLDER"""
import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1]] + [folder for folder in (os.environ.get("DORY_PLINIO"),) if folder]
import dory_cost  # noqa: E402
import plinio_cost  # noqa: E402

SPEC = {"in_channels": 16, "out_channels": 32, "kernel_size": (3, 3), "stride": (1, 1), "dilation": (1, 1), "padding": (1, 1),
        "groups": 1, "output_shape": [1, 32, 16, 20]}
LINEAR = {"in_features": 64, "out_features": 12}
model, layer_cost = dory_cost.Model("gap8"), plinio_cost.LayerCost("gap8")


def own(**fields):
    return model.cost(height=16, width=20, kernel=3, padding=1, **fields).cycles


assert layer_cost.convolution(SPEC) == own(channels=16, outputs=32)
assert layer_cost.convolution({**SPEC, "w_precision": 2}) == own(channels=16, outputs=32, weight_bits=2)
assert layer_cost.convolution({**SPEC, "padding": "same"}) == own(channels=16, outputs=32)
assert layer_cost.depthwise({**SPEC, "in_channels": 32, "groups": 32}) == own(channels=32, outputs=32, groups=32)
assert layer_cost.linear(LINEAR) == model.cost(operation="linear", height=1, width=1, channels=64, outputs=12).cycles
signal = {"in_channels": 16, "out_channels": 32, "kernel_size": (5,), "stride": (2,), "dilation": (1,), "padding": (2,),
          "output_shape": [1, 32, 50]}
assert layer_cost.convolution(signal) == model.cost(height=1, width=99, channels=16, outputs=32, kernel=(1, 5), stride=(1, 2),
                                                    padding=(0, 2)).cycles
middle = layer_cost.convolution({**SPEC, "out_channels": 34})
assert own(channels=16, outputs=32) < middle < own(channels=16, outputs=36)
assert abs(middle - (own(channels=16, outputs=32) + own(channels=16, outputs=36)) / 2) < 1
assert layer_cost.convolution({**SPEC, "in_channels": 0.5}) < layer_cost.convolution({**SPEC, "in_channels": 4})

try:
    import torch
except ImportError:
    print("no torch: slopes were not tested")
    sys.exit(0)
channels = torch.tensor(34.0, requires_grad=True)
layer_cost.convolution({**SPEC, "out_channels": channels}).backward()
assert channels.grad > 0, channels.grad
try:
    import plinio.cost
except ImportError:
    print("no PLiNIO: its CostSpec was not tested")
    sys.exit(0)
specification = plinio_cost.specification("gap8")
found = specification[(torch.nn.Conv2d, {**SPEC, "in_channels": 32, "groups": 32})]
assert found({**SPEC, "in_channels": 32, "groups": 32}) == own(channels=32, outputs=32, groups=32)
assert specification[(torch.nn.Linear, LINEAR)](LINEAR) == layer_cost.linear(LINEAR)
