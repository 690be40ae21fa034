"""Imports files that mean harm with the real program, and tells what became of them.

    TESSERA_DATA=... python3 benches/hostile.py target/release/tessera

The files of hostile-images.tar.xz, 2,400 of them with seeded changes, and 12 small files that claim to be large. Each set goes
through `import`, and then each file by itself through a worker, on a clock. Checked: every file is counted, the failed ones have
a line each, nothing panics, and the floors below hold; it ends with 1 where something does not.
"""

import json, os, random, select, struct, subprocess, sys, tarfile, tempfile, time, zlib
from pathlib import Path

# MB that the program may need beyond what a few good images need, and a worker at all.
PROGRAM, WORKER = 64, 1536
# Seconds that a file may take: the longest, and 99 of 100.
LONGEST, P99 = 30, 1

program = sys.argv[1]
archive = Path(os.environ["TESSERA_DATA"]) / "hostile-images.tar.xz"


def mutants(files, to, n=2400, seed=0):
    rng = random.Random(seed)
    to.mkdir()
    for i in range(n):
        path = rng.choice(files)
        data = bytearray(path.read_bytes())
        for _ in range(rng.randint(1, 16)):
            kind, at = rng.random(), rng.randrange(len(data) or 1)
            if kind < 0.6 and data:
                data[at] = rng.randrange(256)
            elif kind < 0.75:
                data[at:at] = rng.randbytes(rng.randint(1, 32))
            elif kind < 0.9:
                del data[at:at + rng.randint(1, 64)]
            else:
                data[at:at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0"])
        (to / f"{i:04}{path.suffix or '.bin'}").write_bytes(data)


def bombs(to):
    to.mkdir()
    def png(width, height):
        body = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
        return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body)) + b"\0\0\0\x10IDAT\x78\x9c\xed\xc1\x01\x01"
    def bmp(width, height, bits, compression):
        return b"BM" + struct.pack("<IIIIIIHHIIIIII", 200, 0, 54, 40, width, height, 1, bits, compression, 0, 0, 0, 0, 0) + bytes(64)
    def gif(width, height):
        size = struct.pack("<HH", width, height)
        return b"GIF89a" + size + b"\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0" + size + b"\0\x02\x02\x44\x01\0;"
    def jpeg(width, height, kind):
        return (b"\xff\xd8\xff" + kind + b"\0\x11\x08" + struct.pack(">HH", height, width)
                + b"\3\1\x22\0\2\x11\0\3\x11\0\xff\xda\0\x0c\3\1\0\2\0\3\0\0\x3f\0" + bytes(200))
    def tiff(width, height):
        tags = [(256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 8), (278, 1), (279, 2**31 - 1)]
        return b"II*\0\x08\0\0\0\x08\0" + b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags) + bytes(40)
    raw = lambda n: zlib.compress(bytes(n), 9)
    itxt = b"iTXtx\0\1\0\0\0" + raw(200_000_000)
    whole = png(8, 8)[:33]
    for name, data in {
        "huge.png": png(65535, 65535), "wide.png": png(2**31 - 1, 1), "just.png": png(10000, 10000),
        "text.png": whole + struct.pack(">I", len(itxt) - 4) + itxt + struct.pack(">I", zlib.crc32(itxt)),
        "huge.bmp": bmp(60000, 60000, 24, 0), "runs.bmp": bmp(9900, 9900, 8, 1), "huge.gif": gif(65535, 65535), "wide.gif": gif(65535, 1500),
        "huge.jpg": jpeg(65500, 65500, b"\xc0"), "slow.jpg": jpeg(9000, 9000, b"\xc2"), "huge.tif": tiff(2**31 - 1, 2**31 - 1),
        "huge.webp": b"RIFF\x40\0\0\0WEBPVP8L\x20\0\0\0\x2f\xff\xff\xff\x0f" + b"\x5a" * 60,
    }.items():
        (to / name).write_bytes(data)


def peak(pid):
    """The most memory that a process had, in MB."""
    try:
        return next(int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        return 0.0


def memory(pid):
    """The most memory that a process and its children had, in MB."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += (task / "children").read_text().split()
    except OSError:
        children = []
    return peak(pid), max(map(peak, children), default=0.0)


def run(folder, library, report):
    start = time.time()
    said = open(f"{report}.err", "w+")
    child = subprocess.Popen([program, "import", library, folder, "--json", "--quiet", "--report", report], stdout=subprocess.PIPE, stderr=said)
    own = workers = 0.0
    while child.poll() is None:
        a, b = memory(child.pid)
        own, workers = max(own, a), max(workers, b)
        time.sleep(0.01)
    out = child.communicate()[0]
    said.seek(0)
    return json.loads(out), said.read(), child.returncode, time.time() - start, own, workers


class Ended(Exception):
    """A worker ended, or took too long."""


class Worker:
    """A worker as the program has them (core/src/picture/workers/protocol.rs)."""

    def __init__(self):
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.child = subprocess.Popen([program, "decode-worker"], bufsize=0, **pipes)
        self.until = time.monotonic() + LONGEST
        if self.read(8) != b"TESSERA1":
            sys.exit("expected a worker's greeting, found another; run this with a program of the same version")

    def read(self, n):
        parts = bytearray()
        while len(parts) < n:
            left = self.until - time.monotonic()
            if left <= 0 or not select.select([self.child.stdout], [], [], left)[0]:
                raise Ended
            part = os.read(self.child.stdout.fileno(), min(n - len(parts), 1 << 16))
            if not part:
                raise Ended
            parts += part
        return bytes(parts)

    def numbers(self, n):
        return struct.unpack(f"<{n}I", self.read(4 * n))

    def decode(self, path, side=1024):
        self.until = time.monotonic() + LONGEST
        name = os.fsencode(path)
        try:
            self.child.stdin.write(struct.pack("<II", side, len(name)) + name)
            while (kind := self.read(1)) == b"N":
                self.read(8)
                self.child.stdin.write(b"+")
        except BrokenPipeError:
            raise Ended from None
        if kind == b"P":
            _, _, width, height = self.numbers(4)
            self.read(width * height * 3)
        elif kind == b"E":
            self.read(5)
            for _ in range(2):
                self.read(*self.numbers(1))
        else:
            raise Ended

    def end(self):
        self.child.kill()
        self.child.communicate()


def each(folder):
    """Decodes each file by itself. The times in seconds, sorted; those that ended a worker; the most memory of a worker in MB."""
    worker, times, ended, most = Worker(), [], [], 0.0
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        start = time.monotonic()
        try:
            worker.decode(path)
            times.append(time.monotonic() - start)
            most = max(most, peak(worker.child.pid))
        except Ended:
            times.append(time.monotonic() - start)
            ended.append(path.name)
            worker.end()
            worker = Worker()
    worker.end()
    return sorted(times), ended, most


with tempfile.TemporaryDirectory() as scratch:
    scratch = Path(scratch)
    good = scratch / "good"
    good.mkdir()
    subprocess.run([program, "generate", "toys", "--to", good / "toys", "--instances", "1", "--views", "2"], check=True, capture_output=True)
    base = run(good, scratch / "base.tessera", scratch / "base.jsonl")[4]
    with tarfile.open(archive) as tar:
        tar.extractall(scratch / "corpus", filter="data")
    files = sorted(path for path in (scratch / "corpus").rglob("*") if path.is_file())
    mutants(files, scratch / "mutants")
    bombs(scratch / "bombs")
    failed = False
    for name in ("corpus", "mutants", "bombs"):
        n = sum(path.is_file() and not path.name.startswith(".") for path in (scratch / name).rglob("*"))
        answer, err, code, seconds, own, workers = run(scratch / name, scratch / f"{name}.tessera", scratch / f"{name}.jsonl")
        lines = sum(1 for _ in open(scratch / f"{name}.jsonl"))
        counts = {key: answer[key] for key in ("imported", "unchanged", "duplicate", "unsupported", "failed")}
        times, ended, most = each(scratch / name)
        workers, p99 = max(workers, most), times[int((len(times) - 1) * 0.99 + 0.5)]
        broken = [words for is_so, words in (
            (answer["found"] != sum(counts.values()) or answer["found"] != n, "files that are not counted"),
            (lines != counts["failed"], "failed files without a line"),
            (code not in (0, 1) or "panicked" in err, f"it ended with {code} and said {err[-200:]!r}"),
            (own - base > PROGRAM, f"the program needs more than {PROGRAM} MB more"),
            (workers > WORKER, f"a worker needs more than {WORKER} MB"),
            (times[-1] >= LONGEST, f"a file takes {LONGEST} s or more"),
            (p99 > P99, f"more than one file of a hundred takes longer than {P99} s"),
        ) if is_so]
        failed |= bool(broken)
        print(f"{name}: {n} files, found {answer['found']}, {counts}, worker deaths {answer['worker_deaths']}, {seconds:.1f} s, "
              f"program {own:.0f} MB ({own - base:+.0f} to a few good images), worker {workers:.0f} MB; alone: "
              f"p99 {1000 * p99:.0f} ms a file, longest {1000 * times[-1]:.0f} ms, ended a worker {ended}")
        for words in broken:
            print(f"{name}: NOT SOUND: {words}")
    sys.exit(failed)
