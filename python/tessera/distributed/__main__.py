"""``python -m tessera.distributed``: one question to a collection, answered as JSON lines, for other programs."""

import argparse
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import numpy as np

from .._native import Error
from .collection import Collection, Report

CANCELLED = 130


class Lines:
    """Writes JSON objects, one a line, from any thread."""

    def __init__(self, to: TextIO) -> None:
        self._to, self._lock = to, threading.Lock()

    def put(self, **line: Any) -> None:
        with self._lock:
            self._to.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._to.flush()


class Told(logging.Handler):
    """What is logged, with shard and reason, as lines."""

    def __init__(self, lines: Lines) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.put(log=record.getMessage(), level=record.levelname.lower())


def arguments() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(
        prog="python -m tessera.distributed",
        description="Asks a collection here or on the workers of a Dask scheduler. Writes JSON objects, one a line: `progress`, `log`, "
        "and at the end `answer` or `error`.",
    )
    parser.add_argument("collection", help="its folder, or what fsspec takes")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of Dask, such as tcp://10.0.0.1:8786 [the work is done in this process]")
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="after which a shard is asked of another worker [none: a worker that hangs is waited for without end]"
    )
    parser.add_argument("--patience", type=float, default=60.0, metavar="SECONDS", help="to wait for a scheduler or workers [60]")
    parser.add_argument("--leave-out", action="store_true", help="leave shards out that fail three times, and tell which")
    parser.add_argument("--keep-states", action="store_true", help="keep the state of each shard in the collection, so that asking again goes on")
    parser.add_argument("--until-input-ends", action="store_true", help="cancel once the standard input ends: whoever asked is gone")
    questions = parser.add_subparsers(dest="question", required=True)
    recognise = questions.add_parser("recognise", help="what images show")
    recognise.add_argument("images", nargs="+")
    recognise.add_argument("--report", metavar="FILE", help="of `evaluate`: its answer, for terms of classes and the confidence")
    similar = questions.add_parser("similar", help="images that look like others")
    similar.add_argument("images", nargs="+")
    similar.add_argument("--by", default="appearance", choices=["appearance", "edges", "colours"])
    search = questions.add_parser("search", help="images by words")
    search.add_argument("words", nargs="+")
    search.add_argument("--engine", default="index", choices=["index", "memory"], help="the exact index, or a memory tree of each shard [index]")
    similar.add_argument("--recall", type=float, default=1.0, metavar="SHARE", help="below 1: by an index of each shard [1: all are compared]")
    search.add_argument("--recall", type=float, default=0.9, metavar="SHARE", help="of memory trees [0.9]")
    for parts in (similar, search):
        parts.add_argument("-k", type=int, default=10, help="images that are wanted [10]")
    evaluate = questions.add_parser("evaluate", help="how often the collection's own images are recognised")
    evaluate.add_argument("--limit", type=int, default=400, help="images that are judged, at most [400]")
    return parser


def read_report(path: str) -> Report:
    """The part of a report that recognition needs."""
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    learned = told.get("learned") if isinstance(told, dict) else None
    if not isinstance(learned, str):
        raise Error(f"{path}: expected the answer of `evaluate`, found none with `learned`; write that answer to a file")
    return Report({}, 0, None, {}, np.zeros((0, 0), dtype=np.int64), learned)


def answer(collection: Collection, asked: argparse.Namespace) -> dict[str, Any]:
    """The answer to a question."""
    if asked.question == "recognise":
        report = read_report(asked.report) if asked.report else None
        found = collection.recognise(asked.images, report=report)
        sure = [one.confidence if report else None for one in found]
        rows = zip(asked.images, found, sure)
        return {"images": [{"path": path, "class": one.label, "confidence": share, "scores": one.scores} for path, one, share in rows]}
    if asked.question == "similar":
        near = collection.similar(asked.images, asked.k, look=asked.by, recall=asked.recall)
        images = [{"path": path, "hits": [one._asdict() for one in hits]} for path, hits in zip(asked.images, near)]
        return {"images": images, "recall": near.recall}
    if asked.question == "search":
        hits = collection.search(" ".join(asked.words), asked.k, engine=asked.engine, recall=asked.recall)
        return {"hits": [one._asdict() for one in hits], "recall": hits.recall}
    report = collection.evaluate(limit=asked.limit)
    return report._asdict() | {"confusion": report.confusion.tolist()}


def run(asked: argparse.Namespace, lines: Lines, is_stopped: threading.Event) -> int:
    """Asks, and writes what comes; the exit code."""

    def check() -> None:
        # What is raised in a callback of another library is lost.
        if is_stopped.is_set():
            raise KeyboardInterrupt

    def told(stage: str, done: int, total: int) -> None:
        check()
        lines.put(progress={"stage": stage, "done": done, "total": total})

    handler, log = Told(lines), logging.getLogger("tessera.distributed")
    log.addHandler(handler)
    log.propagate = False
    try:
        with Collection(
            asked.collection,
            client=asked.scheduler,
            timeout=asked.timeout,
            patience=asked.patience,
            leave_out=asked.leave_out,
            keep_states=asked.keep_states,
            progress=told,
        ) as collection:
            found = answer(collection, asked)
            check()
            lines.put(answer=found | {"left_out": collection.left_out})
        return 0
    except KeyboardInterrupt:
        lines.put(error="cancelled", kind="Cancelled")
        return CANCELLED
    except (Error, OSError, ValueError, ImportError) as error:
        lines.put(error=str(error), kind=type(error).__name__)
        return 1
    finally:
        log.removeHandler(handler)


def interrupt() -> None:
    """What Ctrl+C does. The main thread wakes at once where the system can tell it alone."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def watch(stream: TextIO, interrupt: Callable[[], object]) -> None:
    """Interrupts once a stream ends."""

    def wait() -> None:
        while stream.read(1):
            pass
        interrupt()

    threading.Thread(target=wait, daemon=True).start()


def main(given: Sequence[str] | None = None) -> int:
    """The command."""
    asked = arguments().parse_args(given)
    # The answer is on the stream that was given, whatever libraries print.
    lines = Lines(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    sys.stdout = sys.stderr

    is_stopped = threading.Event()

    def stop(*_: object) -> None:
        is_stopped.set()
        raise KeyboardInterrupt

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, stop)
    if asked.until_input_ends:
        watch(sys.stdin, interrupt)
    # Warnings of shards that were left out are in the answer.
    import warnings

    warnings.simplefilter("ignore")
    try:
        return run(asked, lines, is_stopped)
    except KeyboardInterrupt:
        lines.put(error="cancelled", kind="Cancelled")
        return CANCELLED


if __name__ == "__main__":
    sys.stdout.flush()
    code = main()
    sys.stderr.flush()
    # Threads of a client that was cancelled must not keep the process.
    os._exit(code)
