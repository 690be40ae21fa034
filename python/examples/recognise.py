"""Images recognised from few examples, and why; one is forgotten again."""

import numpy as np

from tessera import CkmClassifier


def paint(kind, rng):
    """A disc or a cross, moved about on a noisy ground."""
    y, x = np.mgrid[:64, :64] - 32 - rng.integers(-6, 7, (2, 1, 1))
    shape = x**2 + y**2 < 300 if kind == "disc" else (abs(x) < 5) | (abs(y) < 5)
    pixels = rng.integers(90, 130, (64, 64, 3))
    pixels[shape] += 80
    return pixels.astype(np.uint8)


rng = np.random.default_rng(0)
labels = ["disc", "cross"] * 8
images = [paint(label, rng) for label in labels]
shapes = CkmClassifier().fit(images, labels, groups=range(16))
print(f"{shapes.held_out_accuracy_:.3f} of the examples are recognised without themselves")
query = paint("disc", rng)
print(f"it is a {shapes.predict([query])[0]}, with a probability of {shapes.confidence([query])[0]:.2f}")
best, second = shapes.explain(query)
print(f"{best.label} {best.score:.2f}, {second.label} {second.score:.2f}; the pieces that add most:")
for piece in best.pieces[:3]:
    print(f"  {piece.kind} at {piece.position[0]:.0f}, {piece.position[1]:.0f}: {piece.value:.3f}, like {piece.matched.name}")
print(f"{shapes.forget([0])} image is forgotten, {len(shapes.images_)} are left")
picture = shapes.picture(query, images={number: image for number, image in enumerate(images)})
print(f"a picture of why, which notebooks show: {len(picture.png)} bytes")
