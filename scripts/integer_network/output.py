"""Text files of values, and a summary."""

import os

from .calibration import worst_case


def write_values(path, name, values):
    """The format of input.txt and out_layerN.txt: a header, then one value a line, HWC order."""
    shape = values.shape if values.shape[:2] != (1, 1) else values.shape[2:]
    with open(path, "w", encoding="ascii") as file:
        file.write(f"# {name} (shape {list(shape)}),\n")
        file.writelines(f"{value},\n" for value in values.ravel().tolist())


def write_golden(directory, layers):
    os.makedirs(directory, exist_ok=True)
    write_values(os.path.join(directory, "input.txt"), "input", layers[0].output[0])
    for i, layer in enumerate(layers[1:]):
        write_values(os.path.join(directory, f"out_layer{i}.txt"), layer.name, layer.output[0])


def print_summary(network, layers):
    print("  # layer               kind             output       k MAC   at 0  at 255    max       kappa   div  mul  bits")
    for i, layer in enumerate(layers[1:]):
        print(f"{i:3} {layer.name:19} {layer.kind:15} {'x'.join(map(str, layer.shape)):>12} {layer.macs / 1000:9.0f}"
              f" {activation_summary(layer)} {normalisation_summary(layer)}".rstrip())
    macs = sum(layer.macs for layer in layers)
    weights = sum(layer.weight.size for layer in layers if layer.weight is not None)
    print(f"{network}: {len(layers) - 1} layers, {macs / 1e6:.1f} MMAC, {weights / 1e6:.2f} M weights")


def activation_summary(layer):
    if layer.kind == "fully_connected":
        return f"  {layer.output.min()}..{layer.output.max()}"
    return f"{(layer.output == 0).mean():6.1%} {(layer.output >= 255).mean():6.1%} {layer.output.max():6}"


def normalisation_summary(layer):
    """Range of kappa, divisor, multipliers, and the bits that a signed intermediate needs."""
    kappa, bits = "", ""
    if layer.kappa is not None:
        kappa, bits = f"{layer.kappa.min()}..{layer.kappa.max()}", worst_case(layer).bit_length() + 1
    if not layer.multipliers:
        return ""
    divisor = f"2^{layer.divisor.bit_length() - 1}" if layer.divisor & (layer.divisor - 1) == 0 else layer.divisor
    return f"{kappa:>11} {divisor:>5} {'/'.join(map(str, layer.multipliers)):>5} {bits:>4}"
