#!/usr/bin/env python3
"""What whole images by the network's cells are worth alone, by other kernels, more random waves, and the network's own classes.

usage: whole_images.py SET... [--network assets/squeezenet.onnx] [--mirror]
Each SET has train/CLASS/*; its test images are not looked at. Each quarter of the images of each class, by name, is judged by the
rest. Prints a row for each way: accuracy of each quarter, and their mean. A picture is what `core/src/network` makes of it; a cell
is the mean of 3 x 3 last activations, brought to length 1; a whole is the mean of the roots of its 36 cells. With `--mirror` the
network looks at the mirror image of each picture, too: activations are means of both at the same place, as are logarithms.
needs: pip install numpy scipy pillow scikit-learn onnx onnxruntime
"""
import argparse, os

import numpy as np
import onnx
import onnxruntime
from PIL import Image
from scipy.linalg import cho_factor, cho_solve
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

PARTS = 4
RIDGE = 0.3
# Of the kernel, as a squared distance.
WIDTH = 4
# How much half a unit of the logarithms counts beside waves, which have 127 steps.
CLASS_STEP = 17


def seen(network, folder, is_mirrored):
    """Mean activations, mean roots of cells, and logarithms of probabilities of all images; their classes; their quarters."""
    activations, wholes, classes, labels, quarters = [], [], [], [], []
    for label, name in enumerate(sorted(os.listdir(folder))):
        files = sorted(os.listdir(f"{folder}/{name}"))
        for i, file in enumerate(files):
            picture = Image.open(f"{folder}/{name}/{file}").convert("RGB").resize((227, 227), Image.BILINEAR)
            planes = np.asarray(picture, "f4").transpose(2, 0, 1)[None]
            last, odds = network.run(["cells", "classes"], {"image": planes})
            last, logs = last[0], np.log(odds[0] + 1e-6)
            if is_mirrored:
                other, odds = network.run(["cells", "classes"], {"image": np.ascontiguousarray(planes[..., ::-1])})
                last, logs = (last + other[0][..., ::-1]) / 2, (logs + np.log(odds[0] + 1e-6)) / 2
            cells = np.stack([last[:, 2 * y : 2 * y + 3, 2 * x : 2 * x + 3].mean((1, 2)) for y in range(6) for x in range(6)])
            cells /= np.maximum(np.linalg.norm(cells, axis=1, keepdims=True), 1e-9)
            activations.append(last.mean((1, 2)))
            wholes.append(np.sqrt(cells).mean(0))
            classes.append(logs - logs.mean())
            labels.append(label)
            quarters.append(i * PARTS // len(files))
    return np.array(activations), np.array(wholes), np.array(classes), np.array(labels), np.array(quarters)


def squares(a, b):
    return np.maximum((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T, 0)


def by_kernel(distances, targets, learned):
    """Values of the images that were not learned, by ridge regression with a Gaussian kernel."""
    kernel = np.exp(-distances / 2)
    factor = cho_factor(kernel[np.ix_(learned, learned)] + RIDGE * np.eye(learned.sum()))
    return kernel[np.ix_(~learned, learned)] @ cho_solve(factor, targets[learned])


def by_features(features, targets, learned):
    matrix = features[learned].T @ features[learned] + RIDGE * np.eye(features.shape[1])
    return features[~learned] @ cho_solve(cho_factor(matrix), features[learned].T @ targets[learned])


def waves(values, count, rng):
    """Rahimi and Recht's random waves, along random signs."""
    signs = rng.choice([-1.0, 1.0], (values.shape[1], count))
    return np.cos(values @ signs + rng.random(count) * 2 * np.pi) * np.sqrt(2 / count)


def orthogonal_waves(values, count, rng):
    """Pairs of a cosine and a sine along directions at right angles: Yu and others, Orthogonal random features, NIPS 2016."""
    d = values.shape[1]
    blocks = [np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(-(-count // (2 * d)))]
    angles = values @ np.hstack(blocks)[:, : count // 2] * np.sqrt(d)
    return np.hstack([np.cos(angles), np.sin(angles)]) * np.sqrt(2 / count)


def last_layer(file):
    """What each channel adds to the network's 1,000 classes, less what it adds to all of them."""
    tensors = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in onnx.load(file).graph.initializer}
    layer = tensors["conv10_values"][:, :, 0, 0] * tensors["conv10_step"][:, None]
    return layer - layer.mean(0)


def waves_along(file, values):
    """Pairs of a cosine and a sine along the directions that the program has (`core/src/ckm/whole/features.rs`)."""
    angles = values @ (np.fromfile(file, np.int8).reshape(512, 512) / 32)
    return np.hstack([np.cos(angles), np.sin(angles)]) * np.sqrt(1 / 512)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("sets", nargs="+")
    arguments.add_argument("--network", default="assets/squeezenet.onnx")
    arguments.add_argument("--mirror", action="store_true")
    arguments = arguments.parse_args()
    network = onnxruntime.InferenceSession(arguments.network)
    for folder in arguments.sets:
        activations, wholes, classes, labels, quarters = seen(network, f"{folder}/train", arguments.mirror)
        targets = np.eye(labels.max() + 1)[labels] - 1 / (labels.max() + 1)
        name = os.path.basename(os.path.normpath(folder))

        def tell(way, values):
            right = [float((values(quarters != part).argmax(1) == labels[quarters == part]).mean()) for part in range(PARTS)]
            print(f"| {name} | {way} | " + ", ".join(f"{r:.3f}" for r in right) + f" | {np.mean(right):.4f} |", flush=True)

        def probe(learned):
            model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=500)).fit(activations[learned], labels[learned])
            return model.predict_proba(activations[~learned])

        tell("linear probe", probe)
        distances = squares(wholes, wholes) / WIDTH
        tell("exact kernel", lambda learned: by_kernel(distances, targets, learned))
        for count in (1024, 2048, 4096):
            for way in (waves, orthogonal_waves):
                features = way(wholes / np.sqrt(WIDTH), count, np.random.default_rng(0))
                tell(f"{count} {way.__name__.replace('_', ' ')}", lambda learned: by_features(features, targets, learned))
        sums = wholes @ last_layer(arguments.network).T
        by_layer = distances + squares(sums, sums) / 16
        tell("exact kernel, as the last layer compares", lambda learned: by_kernel(by_layer, targets, learned))
        features = waves_along(arguments.network.replace(".onnx", "-directions.bin"), wholes)
        tell("1024 orthogonal waves, as the last layer compares", lambda learned: by_features(features, targets, learned))
        axes = np.fromfile(arguments.network.replace(".onnx", "-class-axes.bin"), np.int8).reshape(1000, 128) / 512
        said = np.clip(np.round(2 * classes @ axes), -127, 127) * CLASS_STEP / 127 / np.sqrt(512)
        both = np.hstack([features, said])
        tell("the same, and what the network says of its classes along 128 axes", lambda learned: by_features(both, targets, learned))
        usual = np.median(squares(classes[::7], classes[::11]))
        also = distances + squares(classes, classes) / usual
        tell("exact kernel, probabilities of the network's classes too", lambda learned: by_kernel(also, targets, learned))


if __name__ == "__main__":
    main()
