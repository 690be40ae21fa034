#!/usr/bin/env python3
"""What a user would pick instead of Tessera for folders of photographs: nearest neighbours and SVMs on pixels, edges, colours and
visual words, and a linear probe on the features of SqueezeNet 1.1, beside Tessera's own rows in the same run.

usage: photographs.py SET... [--tessera BINARY] [--elements mixed,all] [--squeezenet squeezenet11.onnx]
Each SET has train/CLASS/* and test/CLASS/*. Prints one JSON object a set and method with its accuracy on the test images. The
ONNX file, if given, takes `image` (1, 3, 227, 227; blue, green, red, less 104.006, 116.669, 122.679) and gives `features` (1, 512).
needs: pip install numpy pillow scikit-learn scikit-image opencv-python-headless (and onnxruntime for --squeezenet)
"""
import argparse, json, os, subprocess, sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
import cv2
import numpy as np
from PIL import Image
from skimage.feature import hog
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

SIDE = 128
WORDS = 400


def read(folder):
    """Images as SIDE x SIDE x 3 bytes, and their classes."""
    images, classes = [], []
    for name in sorted(os.listdir(folder)):
        for file in sorted(os.listdir(os.path.join(folder, name))):
            images.append(np.asarray(Image.open(os.path.join(folder, name, file)).convert("RGB").resize((SIDE, SIDE))))
            classes.append(name)
    return images, np.array(classes)


def pixels(image):
    return np.asarray(Image.fromarray(image).resize((32, 32))).ravel() / 255


def edges(image):
    return hog(np.asarray(Image.fromarray(image).convert("L")), 9, (16, 16), (2, 2))


def colours(image):
    """Square roots of histograms of hue, saturation and value: of the whole image, and of hue and saturation of its quarters."""
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    parts = [cv2.calcHist([hsv], [0, 1, 2], None, [8, 4, 4], [0, 180, 0, 256, 0, 256])]
    half = SIDE // 2
    for y in (0, half):
        for x in (0, half):
            parts.append(cv2.calcHist([np.ascontiguousarray(hsv[y : y + half, x : x + half])], [0, 1], None, [8, 4], [0, 180, 0, 256]))
    values = np.concatenate([part.ravel() for part in parts])
    return np.sqrt(values / values.sum())


SIFT = cv2.SIFT_create()
POINTS = [cv2.KeyPoint(float(x), float(y), 12) for y in range(8, SIDE, 8) for x in range(8, SIDE, 8)]


def patches(image):
    return SIFT.compute(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), POINTS)[1]


def histogram(words, of):
    counts = np.bincount(words.predict(of), minlength=WORDS).astype(float)
    return np.sqrt(counts / counts.sum())


def both(*features):
    return lambda image: np.concatenate([feature(image) for feature in features])


def accuracy(model, feature, train, test):
    of = lambda images: np.array([feature(image) for image in images])
    return float(model.fit(of(train[0]), train[1]).score(of(test[0]), test[1]))


def svm():
    return make_pipeline(StandardScaler(), SVC(C=10, gamma="scale"))


def methods(train, test, network):
    yield "nearest neighbour on pixels", accuracy(KNeighborsClassifier(1), pixels, train, test)
    yield "SVM on pixels", accuracy(svm(), pixels, train, test)
    yield "SVM on HOG", accuracy(svm(), edges, train, test)
    yield "SVM on HOG and colours", accuracy(svm(), both(edges, colours), train, test)
    words = MiniBatchKMeans(WORDS, random_state=0, n_init=1).fit(np.concatenate([patches(image) for image in train[0][::4]]))
    bag = lambda image: histogram(words, patches(image))
    yield "SVM on words of dense SIFT and colours", accuracy(svm(), both(bag, colours), train, test)
    if network:
        probe = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=500))
        yield "linear probe on SqueezeNet", accuracy(probe, network, train, test)


def network_of(file):
    import onnxruntime

    session = onnxruntime.InferenceSession(file)

    def features(image):
        image = np.asarray(Image.fromarray(image).resize((227, 227), Image.BICUBIC)).astype("f4")[:, :, ::-1]
        image = image - np.array([104.006, 116.669, 122.679], "f4")
        return session.run(["features"], {"image": image.transpose(2, 0, 1)[None]})[0][0]

    return features


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("sets", nargs="+")
    arguments.add_argument("--tessera")
    arguments.add_argument("--elements", default="mixed,all")
    arguments.add_argument("--squeezenet")
    arguments = arguments.parse_args()
    network = network_of(arguments.squeezenet) if arguments.squeezenet else None
    for folder in arguments.sets:
        name = os.path.basename(folder.rstrip("/"))
        tell = lambda method, value, **more: print(json.dumps({"set": name, "method": method, "accuracy": round(value, 4), **more}), flush=True)
        for elements in arguments.elements.split(",") if arguments.tessera else []:
            words = [arguments.tessera, "eval", "sets", folder, "--elements", elements, "--json", "--quiet"]
            run = subprocess.run(words, capture_output=True, text=True)
            if run.returncode > 1:
                sys.exit(run.stderr)
            answer = json.loads(run.stdout)
            more = ["n_train", "n_test", "classes", "largest_class", "mean_class_accuracy", "calibration_error", "calibration_error_by_chance"]
            tell(f"Tessera, {elements}", answer["accuracy"], **{key: answer[key] for key in [*more, "test_ms_per_image"]})
        train, test = read(os.path.join(folder, "train")), read(os.path.join(folder, "test"))
        for method, value in methods(train, test, network):
            tell(method, value)


if __name__ == "__main__":
    main()
