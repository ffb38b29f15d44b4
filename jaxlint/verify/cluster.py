"""Judges changes on the workers of a Dask cluster; imported only where that is asked for.

Each worker process gets a `Verifier` of its own, whose servers stay warm until the run is over. A change carries all
that is needed to judge it, and to judge it twice does no harm: what a worker that ends has not finished is done again
by another. https://distributed.dask.org/en/stable/plugins.html, https://distributed.dask.org/en/stable/killed.html
"""

# mypy: disable-error-code="no-untyped-call,misc,unused-ignore"
# Distributed has functions without annotations, and may not be installed where types are checked.

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from distributed import Client, Future, KilledWorker, Reschedule, WorkerPlugin, get_worker

from jaxlint import __version__
from jaxlint.model import Verdict, Verification
from jaxlint.verify.change import Change
from jaxlint.verify.judging import Judging
from jaxlint.verify.pool import Unavailable
from jaxlint.verify.verifier import Verifier, resolved

_CONNECT_S, _WORKERS_S = 10, 30
_LOOK_S, _LOOKS = 5, 12  # after so many looks without any worker what is left is given up
_IDLE_S = 600  # after which a worker ends its servers: a caller that was killed does not end them
_SAME = f"install `flake8-jaxlint[verify,dask]` {__version__}, as here, in the environment of the workers"

Maker = Callable[..., Verifier]


class Cluster(Judging):
    """Judges changes as `Verifier` does, on the cluster whose scheduler is at `address`.

    `make` makes the verifier of a worker, given how many changes it judges at once; its paths must be absolute.
    `folders` must exist on the workers, beside the folder of each changed file. After `idle_s` seconds without a
    change a worker ends what it has started; it starts that again when it is needed.
    """

    def __init__(self, address: str, make: Maker, folders: Sequence[str] = (), idle_s: float = _IDLE_S) -> None:
        self._address = address
        self._plugin = _Judging(make, tuple(folders), idle_s)
        self._name = f"jaxlint-{uuid.uuid4().hex}"
        self._client: Client | None = None
        self._registered = False
        self._looks = _LOOKS

    def close(self) -> None:
        """End what the workers have started for this run, and leave the cluster."""
        client, self._client = self._client, None
        if client is None:
            return
        if self._registered:
            with contextlib.suppress(Exception):  # of a cluster that has gone away nothing is left to be ended
                client.unregister_worker_plugin(self._name)
        client.close()

    def check(self) -> None:
        """Start a verifier on each worker. Raises `Unavailable` where something is missing, with what to do."""
        if self._client is not None:
            return
        self._client = self._connected()
        self._check_versions(self._client)
        self._client.register_plugin(self._plugin, name=self._name)
        self._registered = True
        started = {
            worker: self._client.submit(_problem, self._name, workers=[worker], allow_other_workers=True, pure=False)
            for worker in self._client.nthreads()
        }
        for worker, future in started.items():
            if problem := self._answer(future, lambda reason: reason):
                raise Unavailable(f"the Dask worker {worker}: {problem}")

    def _connected(self) -> Client:
        try:
            return Client(self._address, timeout=_CONNECT_S, set_as_default=False, name="jaxlint")
        except (OSError, ValueError) as error:
            why = str(error).partition("\n")[0] or type(error).__name__
            raise Unavailable(
                f"no Dask scheduler answers at {self._address} ({why}); `dask scheduler` starts one"
            ) from None

    def _check_versions(self, client: Client) -> None:
        try:
            client.wait_for_workers(1, timeout=_WORKERS_S)
            found = client.run(_version)
        except TimeoutError:
            raise Unavailable(
                f"the Dask cluster at {self._address} has no workers; `dask worker {self._address}` starts one"
            ) from None
        except Exception as error:
            raise Unavailable(f"the Dask workers at {self._address} cannot run jaxlint ({error}); {_SAME}") from None
        for worker, version in found.items():
            if version != __version__:
                raise Unavailable(f"the Dask worker {worker} has jaxlint {version}; {_SAME}")

    def iterate(self, changes: Sequence[Change]) -> Iterator[Verification]:
        """The verdicts in the order of the changes, one at a time as they come in."""
        self.check()
        assert self._client is not None
        futures = [self._client.submit(_judged, self._name, resolved(change), pure=False) for change in changes]
        try:
            for future in futures:
                yield self._answer(future, _unverified)
        finally:
            if self._client is not None:
                with contextlib.suppress(Exception):
                    self._client.cancel(futures)

    def verify(self, change: Change) -> Verification:
        """Judge one change. Whatever becomes of the workers, the answer is a verdict."""
        return self.verify_all([change])[0]

    def _answer(self, future: Future[Any], otherwise: Callable[[str], Any]) -> Any:
        """What the task returns, or what is made of the reason why there is no such thing."""
        where = f"the Dask cluster at {self._address}"
        if not self._ended(future):
            return otherwise(f"{where} has no workers any more")
        try:
            return future.result()
        except KilledWorker:
            return otherwise(f"{where} lost every worker that tried it: its memory may be too small")
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            return otherwise(f"{where} went away before it was done")
        except Exception as error:
            return otherwise(f"{where} failed on it: {type(error).__name__}: {error}")

    def _ended(self, future: Future[Any]) -> bool:
        """Wait for a task; False where there have been no workers for too long."""
        while self._looks and not future.done():
            with contextlib.suppress(TimeoutError, asyncio.CancelledError, concurrent.futures.CancelledError):
                future.exception(timeout=_LOOK_S)
            self._looks = _LOOKS if self._workers() else self._looks - 1
        return bool(future.done())

    def _workers(self) -> int:
        with contextlib.suppress(OSError):
            return len(self._client.nthreads()) if self._client is not None else 0
        return 0


def _unverified(reason: str) -> Verification:
    return Verification(Verdict.UNVERIFIED, reason)


# On the workers


class _Judging(WorkerPlugin):
    """What a worker process judges with, from the start of a run to its end."""

    def __init__(self, make: Maker, folders: tuple[str, ...], idle_s: float) -> None:
        self._make = make
        self._folders = folders
        self._idle_s = idle_s

    def setup(self, worker: Any) -> None:
        """One server for each task that the worker may run at once; they start when they are needed."""
        self._verifier = self._make(jobs=worker.state.nthreads)
        self._over = threading.Event()
        self._rest_later()

    def teardown(self, worker: Any) -> None:
        """End the servers, also those at work."""
        self._over.set()
        self._timer.cancel()
        self._verifier.close()

    def _rest_later(self) -> None:
        self._timer = threading.Timer(self._idle_s, self._verifier.rest)
        self._timer.daemon = True
        self._timer.start()

    @contextlib.contextmanager
    def _awake(self) -> Iterator[None]:
        """What is started inside the block ends some time after it."""
        try:
            yield
        finally:
            self._timer.cancel()
            if not self._over.is_set():
                self._rest_later()

    def problem(self) -> str:
        """Why nothing can be judged here; empty where that is possible."""
        try:
            with self._awake():
                self._verifier.check()
        except Unavailable as error:
            return str(error)
        return ""

    def judge(self, change: Change) -> Verification:
        """The verdict on one change."""
        for folder in (os.path.dirname(change.path), *self._folders):
            if not os.path.isdir(folder):
                return _unverified(
                    f"the folder {folder} is not on the worker {socket.gethostname()}: "
                    "what the program imports and reads must lie there at the same path"
                )
        try:
            with self._awake():
                return self._verifier.verify(change)
        finally:
            if self._over.is_set():  # the end of this worker is no verdict
                raise Reschedule


def _version() -> str:
    return __version__


def _mine(name: str) -> _Judging:
    found = get_worker().plugins[name]
    assert isinstance(found, _Judging)
    return found


def _problem(name: str) -> str:
    return _mine(name).problem()


def _judged(name: str, change: Change) -> Verification:
    return _mine(name).judge(change)
