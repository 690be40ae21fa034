"""Runs the parts of a job here, on Dask or on Ray: each part is a call, tried three times."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from .._native import Error
from ._errors import ClusterLostError, ShardError, VersionsDifferError
from ._workers import VERSION, call, call_on_dask

log = logging.getLogger("tessera.distributed")

ATTEMPTS = 3
"""How often a part is tried."""

CALLS_PER_WORKER = 4
"""How many calls a worker gets at least where there are enough shards, so that none waits long for the slowest."""

MOST_TOGETHER = 16
"""How many shards a call has at most."""

RESULT = 600.0
"""Seconds that the result of a call may take to come."""


@dataclass(eq=False)
class Part:
    """A call: its name for messages, the function and what it is given."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    pieces: "list[Part]" = field(default_factory=list)
    """The same work in smaller calls, which are made where this one fails."""

    def size(self) -> int:
        """How many calls without pieces its work is."""
        return sum(piece.size() for piece in self.pieces) or 1


class Lost(Exception):
    """The cluster is gone with all that was asked of it."""


class Hung(Exception):
    """A part took longer than was allowed; the message says where."""


class NotYet(Exception):
    """A call that had ended has no result any more, and is made again."""


class Executor(Protocol):
    """Calls functions of :mod:`._workers` somewhere."""

    knows_begin: bool
    """Whether a call that waits for a worker is told from one that runs."""

    def room(self, patience: float) -> int:
        """How many calls can run at once. Without any worker for that many seconds it is an error."""

    def submit(self, name: str, function: str, arguments: tuple[Any, ...]) -> Any:
        """Begins a call."""

    def done(self, calls: list[Any], seconds: float) -> list[Any]:
        """Those that have ended, after some seconds at most."""

    def result(self, call: Any, seconds: float) -> Any:
        """What a call gave, which may take so long to come; :class:`NotYet` where it is made again."""

    def hung(self, late: dict[Any, float]) -> dict[Any, str | None]:
        """Of calls that were asked for so many seconds ago or more those that have run for as long, with the workers that
        had them: they are ended, and nothing more is asked of these. With ``None`` those that wait for such a worker, or
        for one that is no more, and are to be asked for anew."""

    def drop(self, call: Any) -> None:
        """Ends a call that nobody waits for."""

    def again(self, seconds: float) -> None:
        """Comes back after the cluster was lost."""


class Here:
    """Calls functions in this process, one after the other."""

    knows_begin = True

    def room(self, patience: float) -> int:
        return 1

    def submit(self, name: str, function: str, arguments: tuple[Any, ...]) -> Any:
        return partial(call, VERSION, function, arguments)

    def done(self, calls: list[Any], seconds: float) -> list[Any]:
        return calls

    def result(self, call: Any, seconds: float) -> Any:
        return call()

    def hung(self, late: dict[Any, float]) -> dict[Any, str | None]:
        return {}

    def drop(self, call: Any) -> None:
        pass

    def again(self, seconds: float) -> None:
        raise ClusterLostError("expected this process to go on")


class OnDask:
    """Calls functions on the workers of a Dask scheduler."""

    knows_begin = True

    def __init__(self, client: Any, patience: float) -> None:
        from distributed import Client

        self._own = not isinstance(client, Client)
        try:
            self._client = Client(client, timeout=max(1, patience), set_as_default=False) if self._own else client
        except (OSError, TimeoutError) as error:
            raise ClusterLostError(f"expected a Dask scheduler at {client}, found none within {patience:g} seconds: {error}") from None
        if self._client.scheduler is None:
            raise ClusterLostError("expected a client of Dask that is connected, found one that was closed: make a new one")
        self._address = self._client.scheduler.address
        self._security = self._client.security
        self._blamed: set[str] = set()
        self._empty_since: float | None = None
        # Where the call of a key runs, and since when.
        self._begun: dict[str, tuple[str, float]] = {}
        # What the scheduler says of when it last heard of a worker, and since when it says so.
        self._heard: dict[str, tuple[Any, float]] = {}
        self._topic = f"tessera-{uuid.uuid4().hex}"
        self._client.subscribe_topic(self._topic, self._begins)

    def _begins(self, event: tuple[float, Any]) -> None:
        told = event[1]
        self._begun[told["key"]] = (told["worker"], time.monotonic())

    def _check(self) -> None:
        # Whatever was asked is lost with the connection, also where the client connects again by itself.
        if self._client.status != "running":
            raise Lost(f"the client is {self._client.status}")

    def _workers(self) -> dict[str, Any]:
        self._check()
        try:
            workers = dict(self._client.scheduler_info(n_workers=-1).get("workers", {}))
        except Exception as error:
            if not _is_lost(error):
                raise
            raise Lost(str(error)) from None
        now = time.monotonic()
        before, self._heard = self._heard, {}
        for address, worker in workers.items():
            heard, since = before.get(address, (None, now))
            self._heard[address] = (heard, since) if worker.get("last_seen") == heard else (worker.get("last_seen"), now)
        return workers

    def room(self, patience: float) -> int:
        workers = [worker for address, worker in self._workers().items() if address not in self._blamed]
        if workers:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = time.monotonic()
        elif time.monotonic() - self._empty_since > patience:
            raise ClusterLostError(f"expected a worker at {self._address} within {patience:g} seconds, found none: start workers")
        if not workers and self._blamed:
            # Those that hang are being started again.
            return 0
        return max(1, sum(worker["nthreads"] for worker in workers))

    def submit(self, name: str, function: str, arguments: tuple[Any, ...]) -> Any:
        workers = [address for address in self._workers() if address not in self._blamed] if self._blamed else None
        key = f"tessera-{name}-{uuid.uuid4().hex}"
        return self._client.submit(call_on_dask, self._topic, key, VERSION, function, arguments, key=key, pure=False, workers=workers)

    def done(self, calls: list[Any], seconds: float) -> list[Any]:
        # Until Python 3.10 not the usual one.
        from asyncio import TimeoutError as TimedOut

        from distributed import wait

        self._check()
        if not calls:
            time.sleep(seconds)
            return []
        try:
            with self._client.as_current():
                wait(calls, timeout=seconds, return_when="FIRST_COMPLETED")
        except TimedOut:
            pass
        except Exception as error:
            if not _is_lost(error):
                raise
            raise Lost(str(error)) from None
        if any(call.status in ("cancelled", "lost") for call in calls):
            raise Lost("the scheduler knows nothing of what was asked")
        return [call for call in calls if call.done()]

    def result(self, call: Any, seconds: float) -> Any:
        # Until Python 3.10 not the usual one.
        from asyncio import TimeoutError as TimedOut

        try:
            result = call.result(timeout=seconds)
        except Exception as error:
            # The worker that had the result was lost: another makes it.
            if isinstance(error, (TimedOut, TimeoutError)) and not call.done():
                raise NotYet from None
            self._forget(call)
            if not _is_lost(error):
                raise
            raise Lost(str(error)) from None
        self._forget(call)
        return result

    def _forget(self, call: Any) -> None:
        self._begun.pop(call.key, None)
        call.release()

    def hung(self, late: dict[Any, float]) -> dict[Any, str | None]:
        # Whoever takes the results may have taken long over them: when workers were last heard of is asked anew.
        self._workers()
        try:
            at = {key: worker for worker, keys in self._client.processing().items() for key in keys}
        except Exception as error:
            if not _is_lost(error):
                raise
            raise Lost(str(error)) from None
        now, ended = time.monotonic(), dict[Any, str | None]()
        for call, seconds in late.items():
            worker = at.get(call.key)
            runs_on, begun = self._begun.get(call.key, ("", now))
            # Of one that waits nothing is known but whether its worker is still there.
            since = begun if runs_on == worker else self._heard.get(worker or "", ("", now))[1]
            if worker is None or worker in self._blamed:
                self.drop(call)
                ended[call] = None
            elif now - since >= seconds:
                ended[call] = worker
                call.cancel(force=True)
        hung = sorted({worker for worker in ended.values() if worker is not None})
        if hung:
            self._blamed.update(hung)
            # Where they have nannies they are ended and begun again, under other addresses.
            threading.Thread(target=self._restart, args=(hung,), daemon=True).start()
        return ended

    def drop(self, call: Any) -> None:
        self._begun.pop(call.key, None)
        if self._client.status == "running":
            call.cancel()

    def _restart(self, workers: list[str]) -> None:
        try:
            self._client.restart_workers(workers, raise_for_error=False)
        except Exception as error:
            log.warning("%s cannot be started again: %s", ", ".join(workers), error)

    def again(self, seconds: float) -> None:
        from distributed import Client

        until = time.monotonic() + seconds
        if self._own:
            # It may wait for the old scheduler for long.
            threading.Thread(target=self._client.close, daemon=True).start()
            self._own = False
        while True:
            client: Any = None
            try:
                client = Client(self._address, security=self._security, timeout=max(1, until - time.monotonic()), set_as_default=False)
                client.wait_for_workers(1, timeout=max(1, until - time.monotonic()))
                break
            except (OSError, TimeoutError) as error:
                if client is not None:
                    threading.Thread(target=client.close, daemon=True).start()
                if time.monotonic() > until:
                    raise ClusterLostError(
                        f"expected the scheduler at {self._address} to come back within {seconds:.0f} seconds, found nothing: {error}"
                    ) from None
                time.sleep(0.2)
        self._client, self._own = client, True
        self._client.subscribe_topic(self._topic, self._begins)
        self._blamed.clear()
        self._begun.clear()

    def close(self) -> None:
        if self._own:
            self._client.close()
        elif self._client.status == "running":
            self._client.unsubscribe_topic(self._topic)


def _is_lost(error: Exception) -> bool:
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError

    # A call that an answer came from has raised an error of its own.
    return isinstance(error, (CancelledError, CommClosedError))


class OnRay:
    """Calls functions on the workers of Ray, which does not tell when a call that waits begins."""

    knows_begin = False

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        if not ray.is_initialized():
            ray.init()
        self._call = ray.remote(max_retries=0)(call)

    def room(self, patience: float) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, name: str, function: str, arguments: tuple[Any, ...]) -> Any:
        return self._call.remote(VERSION, function, arguments)

    def done(self, calls: list[Any], seconds: float) -> list[Any]:
        if not self._ray.wait(calls, num_returns=1, timeout=seconds)[0]:
            return []
        # Of those that wait asks for it names no more, though others may have ended as well.
        return self._ray.wait(calls, num_returns=len(calls), timeout=0)[0]

    def result(self, call: Any, seconds: float) -> Any:
        try:
            return self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error

    def hung(self, late: dict[Any, float]) -> dict[Any, str | None]:
        for call in late:
            self._ray.cancel(call, force=True)
        return dict.fromkeys(late, "a worker of Ray")

    def drop(self, call: Any) -> None:
        self._ray.cancel(call)

    def again(self, seconds: float) -> None:
        raise ClusterLostError("expected Ray to go on")


def executor(client: Any, patience: float = 60.0) -> Any:
    """Where functions are called: ``None`` is here, the module ``ray`` is Ray, an address or a client is Dask's."""
    if client is None:
        return Here()
    if getattr(client, "__name__", "") == "ray":
        return OnRay(client)
    return OnDask(client, patience)


def together(where: Any, n: int, patience: float) -> int:
    """How many of n shards are asked in one call: the more there are for each worker, the fewer answers go round."""
    if isinstance(where, Here):
        return 1
    try:
        room = max(1, where.room(patience))
    except Lost:
        return 1
    return max(1, min(MOST_TOGETHER, -(-n // (CALLS_PER_WORKER * room))))


def run(
    where: Any,
    parts: list[Part],
    *,
    timeout: float | None,
    patience: float,
    leave_out: bool,
    told: Callable[[str, int, int], object] | None,
    stage: str,
) -> Iterator[tuple[Part, Any]]:
    """The result of each part, in the order in which they end; of one with pieces that failed, those of its pieces.

    No more calls are under way than the cluster has room for, so what is not merged yet stays few. A part without
    pieces that fails three times is an error; or, where it may be left out, its result is the error. ``timeout`` is
    for a part without pieces, once it runs; others have as much for each of them.
    """
    waiting = parts[::-1]
    failed: dict[Part, int] = {}
    # Each call with the part that it is of, and when it began.
    calls: dict[Any, tuple[Part, float]] = {}
    n_done, n_parts = 0, sum(part.size() for part in parts)

    def fails(part: Part, error: Exception) -> ShardError | None:
        """Tries a part once more, or in pieces, unless it has failed too often."""
        if part.pieces:
            log.warning("%s: failed, so its %d pieces are tried alone: %s", part.name, len(part.pieces), error)
            waiting.extend(part.pieces)
            return None
        failed[part] = failed.get(part, 0) + 1
        log.warning("%s: attempt %d of %d failed: %s", part.name, failed[part], ATTEMPTS, error)
        if failed[part] < ATTEMPTS:
            waiting.append(part)
            return None
        why = ShardError(f"{part.name}: failed {ATTEMPTS} times, the last time because of: {error}")
        if not leave_out:
            raise why from None
        return why

    try:
        while waiting or calls:
            try:
                room = where.room(patience)
                # One more for each that runs, so that none waits for the next; not where time is measured and nobody
                # tells when a call that waits at a worker begins.
                room = room if isinstance(where, Here) or (timeout is not None and not where.knows_begin) else 2 * room
                while waiting and len(calls) < room:
                    part = waiting[-1]
                    asked = where.submit(part.name, part.function.__name__, part.arguments)
                    calls[asked] = (waiting.pop(), time.monotonic())
                for ended in where.done(list(calls), 0.2):
                    part, _ = calls[ended]
                    result: Any = None
                    try:
                        result = where.result(ended, RESULT if timeout is None else max(60, timeout))
                    except NotYet:
                        calls[ended] = (part, time.monotonic())
                        continue
                    except (VersionsDifferError, Lost, KeyboardInterrupt):
                        raise
                    except ImportError as error:
                        # That is no fault of the shard, and another attempt cannot mend it.
                        raise Error(f"{part.name}: a worker lacks a package: {error}; install the same packages on all workers") from None
                    except Exception as error:
                        del calls[ended]
                        result = fails(part, error)
                        if result is None:
                            continue
                    else:
                        del calls[ended]
                    n_done += part.size()
                    if told:
                        told(stage, n_done, n_parts)
                    yield part, result
            except Lost as error:
                log.warning("the scheduler was lost: %s; what is missing is asked for again", error)
                waiting.extend(part for part, _ in calls.values())
                calls.clear()
                where.again(patience)
                continue
            if timeout is None:
                continue
            now = time.monotonic()
            late = {asked: timeout * part.size() for asked, (part, begun) in calls.items() if now - begun > timeout * part.size()}
            if not late:
                continue
            try:
                # Whoever takes the results may have taken long over them, and these calls may have ended meanwhile.
                for asked in where.done(list(late), 0):
                    del late[asked]
                hung = where.hung(late)
            except Lost:
                # The next round meets that, too.
                continue
            for asked, worker in hung.items():
                part, _ = calls.pop(asked)
                if worker is None:
                    waiting.append(part)
                    continue
                left_out = fails(part, Hung(f"no answer within {timeout * part.size():g} seconds from {worker}"))
                if left_out is not None:
                    n_done += part.size()
                    if told:
                        told(stage, n_done, n_parts)
                    yield part, left_out
    finally:
        # After an error nobody waits for the rest.
        for asked in calls:
            where.drop(asked)
