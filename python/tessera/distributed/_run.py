"""Runs the parts of a job here, on Dask or on Ray: each part is a call, tried three times."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from ._errors import ClusterLostError, ShardError, VersionsDifferError

log = logging.getLogger("tessera.distributed")

ATTEMPTS = 3
"""How often a part is tried."""

CALLS_PER_WORKER = 4
"""How many calls a worker gets at least where there are enough shards, so that none waits long for the slowest."""

MOST_TOGETHER = 16
"""How many shards a call has at most."""


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


class Executor(Protocol):
    """Calls functions somewhere."""

    def room(self, patience: float) -> int:
        """How many calls can run at once. Without any worker for that many seconds it is an error."""

    def submit(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Begins a call."""

    def done(self, calls: list[Any], seconds: float) -> list[Any]:
        """Those that have ended, after some seconds at most."""

    def result(self, call: Any) -> Any:
        """What a call gave."""

    def give_up(self, call: Any) -> str | None:
        """Ends a call that took too long, and asks nothing more of the worker that had it; its name. ``None`` where
        the call waits for a worker: then it is asked for anew."""

    def drop(self, call: Any) -> None:
        """Ends a call that nobody waits for."""

    def again(self, seconds: float) -> None:
        """Comes back after the cluster was lost."""


class Here:
    """Calls functions in this process, one after the other."""

    def room(self, patience: float) -> int:
        return 1

    def submit(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return partial(function, *arguments)

    def done(self, calls: list[Any], seconds: float) -> list[Any]:
        return calls

    def result(self, call: Any) -> Any:
        return call()

    def give_up(self, call: Any) -> str | None:
        return None

    def drop(self, call: Any) -> None:
        pass

    def again(self, seconds: float) -> None:
        raise ClusterLostError("expected this process to go on")


class OnDask:
    """Calls functions on the workers of a Dask scheduler."""

    def __init__(self, client: Any, patience: float) -> None:
        from distributed import Client

        self._own = not isinstance(client, Client)
        try:
            self._client = Client(client, timeout=max(1, patience)) if self._own else client
        except (OSError, TimeoutError) as error:
            raise ClusterLostError(f"expected a Dask scheduler at {client}, found none within {patience:g} seconds: {error}") from None
        self._address = self._client.scheduler.address
        self._security = self._client.security
        self._blamed: set[str] = set()
        self._empty_since: float | None = None

    def _check(self) -> None:
        # Whatever was asked is lost with the connection, also where the client connects again by itself.
        if self._client.status != "running":
            raise Lost(f"the client is {self._client.status}")

    def _workers(self) -> dict[str, Any]:
        self._check()
        try:
            return dict(self._client.scheduler_info(n_workers=-1).get("workers", {}))
        except Exception as error:
            if not _is_lost(error):
                raise
            raise Lost(str(error)) from None

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

    def submit(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        workers = [address for address in self._workers() if address not in self._blamed] if self._blamed else None
        key = f"tessera-{name}-{uuid.uuid4().hex}"
        return self._client.submit(function, *arguments, key=key, pure=False, workers=workers)

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

    def result(self, call: Any) -> Any:
        try:
            return call.result(timeout=600)
        except Exception as error:
            if not _is_lost(error):
                raise
            raise Lost(str(error)) from None
        finally:
            call.release()

    def give_up(self, call: Any) -> str | None:
        try:
            at = [worker for worker, keys in self._client.processing().items() if call.key in keys]
        except Exception as error:
            if not _is_lost(error):
                raise
            raise Lost(str(error)) from None
        if not at:
            return None
        self._blamed.update(at)
        call.cancel(force=True)
        # Where it has a nanny it is ended and begun again, under another address.
        threading.Thread(target=self._restart, args=(at,), daemon=True).start()
        return ", ".join(at)

    def drop(self, call: Any) -> None:
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
            try:
                client = Client(self._address, security=self._security, timeout=max(1, until - time.monotonic()))
                client.wait_for_workers(1, timeout=max(1, until - time.monotonic()))
                break
            except (OSError, TimeoutError) as error:
                if time.monotonic() > until:
                    raise ClusterLostError(
                        f"expected the scheduler at {self._address} to come back within {seconds:.0f} seconds, found nothing: {error}"
                    ) from None
                time.sleep(0.2)
        self._client, self._own = client, True
        self._blamed.clear()

    def close(self) -> None:
        if self._own:
            self._client.close()


def _is_lost(error: Exception) -> bool:
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError

    # A call that an answer came from has raised an error of its own.
    return isinstance(error, (CancelledError, CommClosedError))


class OnRay:
    """Calls functions on the workers of Ray."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        if not ray.is_initialized():
            ray.init()
        self._functions: dict[Callable[..., Any], Any] = {}

    def room(self, patience: float) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        remote = self._functions.setdefault(function, self._ray.remote(max_retries=0)(function))
        return remote.remote(*arguments)

    def done(self, calls: list[Any], seconds: float) -> list[Any]:
        if not self._ray.wait(calls, num_returns=1, timeout=seconds)[0]:
            return []
        # Of those that wait asks for it names no more, though others may have ended as well.
        return self._ray.wait(calls, num_returns=len(calls), timeout=0)[0]

    def result(self, call: Any) -> Any:
        try:
            return self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error

    def give_up(self, call: Any) -> str | None:
        self._ray.cancel(call, force=True)
        return "a worker of Ray"

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
    for a part without pieces; others have as much for each of them.
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
                # One more for each that runs, so that none waits for the next; not where time is measured, as nobody
                # tells when a call that waits at a worker begins.
                room = room if timeout is not None or isinstance(where, Here) else 2 * room
                while waiting and len(calls) < room:
                    part = waiting[-1]
                    call = where.submit(part.name, part.function, part.arguments)
                    calls[call] = (waiting.pop(), time.monotonic())
                for call in where.done(list(calls), 0.2):
                    part, _ = calls[call]
                    result: Any = None
                    try:
                        result = where.result(call)
                    except (VersionsDifferError, Lost, KeyboardInterrupt):
                        raise
                    except Exception as error:
                        del calls[call]
                        result = fails(part, error)
                        if result is None:
                            continue
                    else:
                        del calls[call]
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
            late = [call for call, (part, begun) in calls.items() if now - begun > timeout * part.size()]
            if not late:
                continue
            try:
                # Whoever takes the results may have taken long over them, and these calls may have ended meanwhile.
                ended = set(where.done(late, 0))
            except Lost:
                # The next round meets that, too.
                continue
            for call in late:
                if call in ended:
                    continue
                part, _ = calls[call]
                try:
                    worker = where.give_up(call)
                except Lost:
                    break
                if worker is None:
                    # It may wait for workers that are no more.
                    where.drop(call)
                    del calls[call]
                    waiting.append(part)
                    continue
                del calls[call]
                left_out = fails(part, Hung(f"no answer within {timeout * part.size():g} seconds from {worker}"))
                if left_out is not None:
                    n_done += part.size()
                    if told:
                        told(stage, n_done, n_parts)
                    yield part, left_out
    finally:
        # After an error nobody waits for the rest.
        for call in calls:
            where.drop(call)
