#!/usr/bin/env python3
"""Near copies beside perceptual hashes: recall and precision by kind of copy.

usage: copies.py NEAR_COPIES DATA WORK [--photos 1000] [--seed 20] [--hasher] [--alone]
NEAR_COPIES: the example of that name (cargo build --release -p tessera-core --example near_copies); DATA: a folder with flickr8k,
photographs and eth80; WORK: an empty folder, or that of an earlier run, whose copies are used again. --hasher also builds a small
program with the crate image_hasher (its hashes are those of czkawka) there, and runs it.
Copies of each kind are made of the photos and lie among them and 5,000 others. Every program names pairs with a distance. The photos
are halved; a threshold is chosen on the first half: the largest recall (mean over kinds) with precision .99 or more over all kinds
together, or the best F1 where none reaches that. On the second half, for each kind alone among originals and others: recall, the
share of copies that are paired with their original, and precision, the share of all pairs named that are such. "turned" peers hash
each original in all eight turns; tessera is also judged at its own threshold, 2. --seed draws other photos, --alone leaves the peers out. Prints one JSON object a program and kind, then a table.
needs: pip install 'numpy>=2' scipy pillow imagehash
"""
import argparse, json, os, random, subprocess, sys, time
from collections import defaultdict
import numpy as np, imagehash
from PIL import Image

a = argparse.ArgumentParser(); a.add_argument("near_copies"); a.add_argument("data"); a.add_argument("work"); a.add_argument("--photos", type=int, default=1000); a.add_argument("--seed", type=int, default=20); a.add_argument("--hasher", action="store_true"); a.add_argument("--alone", action="store_true"); a = a.parse_args()
KINDS = ["recompressed 60", "recompressed 30", "resized 50 %", "resized 25 %", "rotated 90", "rotated 180", "rotated 270", "mirrored", "cropped"]
# Of each set: its share of the photos, and how many others there are.
SETS = {"flickr8k/images": (.5, 2500), "photographs/insects": (.2, 10**6), "photographs/hand-signs": (.1, 600), "photographs/small-pictures": (.15, 1500), "eth80": (.05, 500)}
T = Image.Transpose

def photos():
    """(original, is copied) of each set, in an order that the seed fixes."""
    draw = random.Random(a.seed)
    for name, (share, others) in SETS.items():
        files = sorted(os.path.join(f, x) for f, _, n in os.walk(os.path.join(a.data, name)) for x in n if x.lower().endswith((".jpg", ".jpeg")))
        draw.shuffle(files); n = round(share * a.photos)
        yield from ((f, i < n) for i, f in enumerate(files[:n + others]))

def copies(photo):
    w, h = photo.size; dx, dy = round(w * .1), round(h * .1)
    side = sum(photo.tobytes()[:64]) % 4
    yield from (("recompressed 60", photo, 60), ("recompressed 30", photo, 30))
    yield from ((f"resized {p} %", photo.resize((max(1, w * p // 100), max(1, h * p // 100)), Image.LANCZOS), 90) for p in (50, 25))
    yield from ((k, photo.transpose(t), 90) for k, t in (("rotated 90", T.ROTATE_270), ("rotated 180", T.ROTATE_180), ("rotated 270", T.ROTATE_90), ("mirrored", T.FLIP_LEFT_RIGHT)))
    yield "cropped", photo.crop([(dx, 0, w, h), (0, 0, w - dx, h), (0, dy, w, h), (0, 0, w, h - dy)][side]), 90

# Every image: its path, which photo it shows, and its kind.
paths, photo_of, kind_of = [], [], []
folder = os.path.join(a.work, "images"); fresh = not os.path.isdir(folder); os.makedirs(folder, exist_ok=True)
for i, (f, is_copied) in enumerate(photos()):
    def add(kind, save):
        p = os.path.join(folder, f"{i:05}-{kind.replace(' %', '').replace(' ', '-')}.jpg")
        if fresh: save(p)
        paths.append(p); photo_of.append(i); kind_of.append(kind)
    add("original" if is_copied else "other", lambda p: open(p, "wb").write(open(f, "rb").read()))
    if is_copied:
        for kind, picture, quality in copies(Image.open(f).convert("RGB")): add(kind, lambda p: picture.save(p, quality=quality))
photo_of, kind_of = np.array(photo_of), np.array(kind_of); at = {p: i for i, p in enumerate(paths)}
base = np.where((kind_of == "original") | (kind_of == "other"))[0]
print(json.dumps({"images": len(paths), "photos": int((kind_of == "original").sum()), "others": int((kind_of == "other").sum())}), flush=True)

# Photos that are there twice, byte by byte, count as one.
first = {}
for i in base: photo_of[photo_of == photo_of[i]] = first.setdefault(open(paths[i], "rb").read(), photo_of[i])

def ours():
    out = subprocess.run([a.near_copies, folder, "20"], capture_output=True, text=True)
    if out.returncode: sys.exit(out.stderr[-1000:])
    print(out.stderr.strip(), file=sys.stderr); best = {}
    for line in out.stdout.splitlines():
        p, q, d = line.split("\t")[:3]; key = tuple(sorted((at[p], at[q]))); best[key] = min(best.get(key, 1e9), float(d))
    return np.array([[i, j, d] for (i, j), d in best.items()])

def pairs(plain, turned, most):
    """All pairs of an original or other image (in all its turns) and any image whose bits differ in at most `most`."""
    plain = np.where(plain, 1, -1).astype(np.float32); bits = plain.shape[1]; best = {}
    for hashes in turned:
        hashes = np.where(hashes, 1, -1).astype(np.float32)
        for lo in range(0, len(base), 500):
            far = (bits - hashes[lo:lo + 500] @ plain.T) / 2
            for x, y in zip(*np.nonzero(far <= most)):
                i, j = base[lo + x], y
                if i != j: key = (min(i, j), max(i, j)); best[key] = min(best.get(key, 1e9), far[x, y])
    return np.array([[i, j, d] for (i, j), d in best.items()])

TURNS = [None, T.FLIP_LEFT_RIGHT, T.FLIP_TOP_BOTTOM, T.ROTATE_90, T.ROTATE_180, T.ROTATE_270, T.TRANSPOSE, T.TRANSVERSE]
def theirs(name, of, most):
    """The program as it is, and with its hashes in all turns."""
    plain = np.array([of(Image.open(p)).hash.ravel() for p in paths])
    yield name, pairs(plain, [plain[base]], most)
    yield f"{name}, turned", pairs(plain, [plain[base] if t is None else np.array([of(Image.open(paths[i]).convert("RGB").transpose(t)).hash.ravel() for i in base]) for t in TURNS], most)

HASHER = """
use image_hasher::{HashAlg, HasherConfig};
fn main() {
    let all: Vec<String> = std::io::stdin().lines().map(Result::unwrap).collect();
    let gradient = HasherConfig::new().hash_size(16, 16).hash_alg(HashAlg::Gradient).to_hasher();
    let phash = HasherConfig::new().hash_size(16, 16).hash_alg(HashAlg::Median).preproc_dct().to_hasher();
    for path in all {
        let picture = image_hasher_image::open(&path).unwrap();
        let turned = [picture.clone(), picture.fliph(), picture.flipv(), picture.rotate90(), picture.rotate180(), picture.rotate270(), picture.rotate90().fliph(), picture.rotate90().flipv()];
        for hasher in [&gradient, &phash] {
            let hex = |p: &image_hasher_image::DynamicImage| hasher.hash_image(p).as_bytes().iter().map(|b| format!("{b:02x}")).collect::<String>();
            print!("{}\\t", turned.iter().map(hex).collect::<Vec<_>>().join(" "));
        }
        println!("{path}");
    }
}
"""
def hasher():
    project = os.path.join(a.work, "hasher"); os.makedirs(os.path.join(project, "src"), exist_ok=True)
    open(os.path.join(project, "Cargo.toml"), "w").write('[package]\nname = "hasher"\nedition = "2021"\n[dependencies]\nimage_hasher = "3"\nimage_hasher_image = { package = "image", version = "0.25", default-features = false, features = ["jpeg"] }\n[workspace]\n')
    open(os.path.join(project, "src", "main.rs"), "w").write(HASHER)
    env = {**os.environ, "CARGO_TARGET_DIR": os.path.join(project, "target")}
    subprocess.run(["cargo", "build", "--release", "-q"], cwd=project, env=env, check=True)
    out = subprocess.run([os.path.join(project, "target", "release", "hasher")], input="\n".join(paths), capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    for n, name in enumerate(("image_hasher gradient", "image_hasher DCT median")):
        bits = np.array([[np.unpackbits(np.frombuffer(bytes.fromhex(h), np.uint8)) for h in row[n].split(" ")] for row in rows]) > 0
        yield name, pairs(bits[:, 0], [bits[base, 0]], 90)
        yield f"{name}, turned", pairs(bits[:, 0], [bits[base, t] for t in range(8)], 90)

half = photo_of % 2
def counts(p, kinds, which, most):
    """(copies found, pairs named, copies there) of one half, among originals, others and copies of some kinds."""
    i, j = p[:, 0].astype(int), p[:, 1].astype(int); there = np.isin(kind_of, [*kinds, "original", "other"]) & (half == which)
    is_named = there[i] & there[j] & (p[:, 2] <= most); is_base = np.isin(kind_of, ["original", "other"])
    same = photo_of[i] == photo_of[j]
    # Pairs of two copies of one photo, or of the same photo twice, say nothing either way.
    says = ~same | (is_base[i] != is_base[j])
    return int((is_named & same & says).sum()), int((is_named & says).sum()), int((np.isin(kind_of, kinds) & (half == which)).sum())

def judge(name, p, seconds):
    if name.endswith("default"): most = 2.0
    else:
        grid = np.unique(p[:, 2]); grid = grid[:: max(1, len(grid) // 200)]
        def value(t):
            found, named, there = counts(p, KINDS, 0, t); precision = found / max(named, 1); recall = found / there
            return (precision >= .99, recall if precision >= .99 else 2 * precision * recall / max(precision + recall, 1e-9))
        most = max(grid, key=value)
    for kind in KINDS:
        found, named, there = counts(p, [kind], 1, most)
        row = {"program": name, "kind": kind, "recall": round(found / there, 4), "precision": round(found / max(named, 1), 4), "threshold": float(most), "seconds": round(seconds, 1)}
        table[name][kind] = (row["recall"], row["precision"]); print(json.dumps(row), flush=True)

table = defaultdict(dict)
def run(programs):
    t = time.time()
    for name, p in programs: judge(name, p, time.time() - t); t = time.time()
named = ours()
run([("tessera, default", named), ("tessera", named)])
if not a.alone:
    run(theirs("imagehash phash 8", lambda i: imagehash.phash(i), 20))
    run(theirs("imagehash phash 16", lambda i: imagehash.phash(i, 16), 90))
    run(theirs("imagehash dhash 16", lambda i: imagehash.dhash(i, 16), 90))
    run(theirs("imagehash whash 8", lambda i: imagehash.whash(i), 20))
if a.hasher: run(hasher())
print("| program | " + " | ".join(KINDS) + " |\n|" + "---|" * (len(KINDS) + 1))
for name, row in table.items(): print(f"| {name} | " + " | ".join("{:.3f} / {:.3f}".format(*row[k]) for k in KINDS) + " |")
