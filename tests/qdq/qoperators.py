"""QDQ to QOperator: an operator with DequantizeLinear in front of every operand and QuantizeLinear behind, as one node."""
from onnx import helper

MICROSOFT = "com.microsoft"

# the operator: name, domain, operands; then output's scale, zero point
SIMPLE = {"Add": ("QLinearAdd", 2), "Mul": ("QLinearMul", 2), "Sigmoid": ("QLinearSigmoid", 1), "LeakyRelu": ("QLinearLeakyRelu", 1),
          "AveragePool": ("QLinearAveragePool", 1), "GlobalAveragePool": ("QLinearGlobalAveragePool", 1)}


def fuse(node, operands, output):
    """The inputs of operands and output are [elements, scale, zero point] of their nodes; None: there is no such operator."""
    triples = [list(operand.input) for operand in operands]
    flat, ends = sum(triples[:2], []), list(output.input)[1:]
    kind, domain = None, MICROSOFT
    if node.op_type in SIMPLE and len(triples) == SIMPLE[node.op_type][1]:
        kind, inputs = SIMPLE[node.op_type][0], flat + ends
    elif node.op_type == "Conv":
        kind, domain, inputs = "QLinearConv", "", flat + ends + [triple[0] for triple in triples[2:]]
    elif node.op_type == "MatMul":
        kind, domain, inputs = "QLinearMatMul", "", flat + ends
    elif node.op_type == "Gemm" and not any(entry.name in ("alpha", "beta") for entry in node.attribute):
        kind, inputs = "QGemm", flat + [triples[2][0] if len(triples) > 2 else ""] + ends
    elif node.op_type == "Concat":
        kind, inputs = "QLinearConcat", ends + sum(triples, [])
    if kind is None:
        return None
    made = helper.make_node(kind, inputs, list(output.output), name=f"{kind}_of_{node.name}", domain=domain)
    made.attribute.extend(node.attribute)
    return made


def fused(nodes):
    """The nodes of a network, with as many QOperators as there can be."""
    makers = {name: node for node in nodes for name in node.output}
    readers = {}
    for node in nodes:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    result = []
    for node in nodes:
        inner = makers.get(node.input[0]) if node.op_type == "QuantizeLinear" else None
        operands = [makers.get(name) for name in inner.input] if inner else []
        if inner and len(readers[node.input[0]]) == 1 and operands and all(
                operand is not None and operand.op_type == "DequantizeLinear" for operand in operands):
            node = fuse(inner, operands, node) or node
        result.append(node)
    return without_unread(result)


def without_unread(nodes):
    """Nodes of which nothing is left to read them; the last ones are the network's outputs."""
    while True:
        read = {name for node in nodes for name in node.input}
        left = [node for node in nodes if node.op_type in ("QuantizeLinear", "Clip") or node.op_type.startswith("QLinear") or
                node.op_type in ("QGemm", "ArgMax", "ArgMin") or any(name in read for name in node.output)]
        if len(left) == len(nodes):
            return nodes
        nodes = left
