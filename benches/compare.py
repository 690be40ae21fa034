#!/usr/bin/env python3
"""Runs the micro-benchmarks of two versions in turns and tells the ratio of their fastest times.

    benches/compare.py OLD NEW [--rounds 5] [--most 1.05] [--only NAME]

OLD and NEW are the programs that `cargo bench -p tessera-core --no-run` names. Ends with 1 if a time of NEW is more than --most times that
of OLD.
"""
import argparse
import re
import subprocess
import sys

UNITS = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}


def fastest(program, only):
    """The fastest time of each benchmark in milliseconds, by its path."""
    words = [program, "--bench"] + ([only, "--exact"] if only else [])
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    times, path = {}, []
    for line in text.splitlines():
        found = re.match(r"((?:│  |   )*)[├╰]─ (\S+)\s*(?:([\d.]+) (ns|µs|ms|s)\b)?", line)
        if found:
            path = path[: len(found[1]) // 3] + [found[2]]
            if found[3]:
                times["::".join(path)] = float(found[3]) * UNITS[found[4]]
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=1.05)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    best = [{}, {}]
    for _ in range(arguments.rounds):
        for program, times in zip((arguments.old, arguments.new), best):
            for name, time in fastest(program, arguments.only).items():
                times[name] = min(time, times.get(name, time))
    slower = False
    print(f"{'':32}{'old, ms':>12}{'new, ms':>12}{'ratio':>8}")
    for name in sorted(best[0].keys() | best[1].keys()):
        old, new = (times.get(name) for times in best)
        if old is None or new is None:
            print(f"{name:32}  in one of the two only")
            continue
        slower |= new > arguments.most * old
        print(f"{name:32}{old:12.4f}{new:12.4f}{new / old:8.3f}{'  slower' if new > arguments.most * old else ''}")
    sys.exit(slower)


if __name__ == "__main__":
    main()
