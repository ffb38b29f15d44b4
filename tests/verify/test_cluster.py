"""Verification on a Dask cluster: what is missing is told, and the verdicts are those that this machine gives."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jaxlint.cli.main import main
from jaxlint.verify import Change, Verifier

PROGRAM = """import jax
import jax.numpy as jnp


def f(x):
    return jnp.tanh(x) * 2.0 + {constant}


print(jax.jit(f)(jnp.arange(4.0)))
"""
BEFORE = PROGRAM.format(constant="1.0")
AFTERS = ["1.00", "3.0", "0.5 + 0.5", "missing", "jnp.float32(1)", "-x"]


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code, capsys.readouterr().err


@pytest.mark.parametrize("address", ["dask://host", "http://127.0.0.1:8786", "127.0.0.1:8786", "dask://:8786"])
def test_an_address_of_another_form_is_wrong_use(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = said(["--verify", "--executor", address], capsys)
    assert code == 2 and "dask://HOST:PORT" in told


def test_an_executor_without_verification_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = said(["--executor", "dask://127.0.0.1:8786"], capsys)
    assert code == 2 and "--verify" in told


def test_a_missing_package_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "jaxlint.verify.cluster", raising=False)
    Path("a.py").write_text(BEFORE)
    code, told = said(["compare", "a.py", "a.py", "--executor", "dask://127.0.0.1:8786"], capsys)
    assert code == 2 and "flake8-jaxlint[verify,dask]" in told


def test_an_address_at_which_nothing_answers_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("jaxlint.verify.cluster._CONNECT_S", 1)
    monkeypatch.setattr("jaxlint.verify.cluster._WORKERS_S", 1)
    Path("a.py").write_text(BEFORE)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    code, told = said(["compare", "a.py", "a.py", "--executor", f"dask://127.0.0.1:{port}"], capsys)
    assert code == 2 and f"no Dask scheduler answers at tcp://127.0.0.1:{port}" in told
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster:
        port = cluster.scheduler.port
        code, told = said(["compare", "a.py", "a.py", "--executor", f"dask://127.0.0.1:{port}"], capsys)
    assert code == 2 and "has no workers" in told


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes of one thread each."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as found:
        yield found


def _awaited(look: Callable[[], Any]) -> Any:
    """What is seen as soon as there is something to see; each look asks the scheduler."""
    for _ in range(20_000):
        if seen := look():
            return seen
    raise AssertionError("what the test waits for did not happen")


@pytest.mark.jax
def test_what_workers_started_ends_when_nobody_asks_any_more(cluster: Any, tmp_path: Path) -> None:
    from jaxlint.verify.cluster import Cluster

    path = tmp_path / "program.py"
    path.write_text(BEFORE)
    change = Change(str(path), BEFORE, PROGRAM.format(constant="0.5 + 0.5"))
    with Cluster(cluster.scheduler_address, partial(Verifier, root=str(tmp_path)), idle_s=0.1) as workers:
        assert workers.verify(change).same
        client = workers._client
        assert client is not None
        _awaited(lambda: not any(client.run(_servers).values()))
        assert workers.verify(change).same


def _servers() -> list[int]:
    """The servers of verifiers that this process has started."""
    import psutil

    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # it ends at this moment
            found += [child.pid] if any("jaxlint.verify.worker.server" in part for part in child.cmdline()) else []
    return found


@pytest.mark.jax
def test_verdicts_are_the_local_ones_although_a_worker_is_killed(
    cluster: Any, verifier: Verifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    from jaxlint.verify.cluster import Cluster

    path = tmp_path / "program.py"
    path.write_text(BEFORE)
    changes = [Change(str(path), BEFORE, PROGRAM.format(constant=after)) for after in AFTERS]
    lost = Change("/nowhere/to/be/found/program.py", BEFORE, changes[0].after)
    address = cluster.scheduler_address
    with (
        Cluster(address, partial(Verifier, root=str(tmp_path))) as workers,
        Client(address, set_as_default=False) as client,
    ):  # one from the start: to connect while workers leave may fail in distributed
        workers.check()
        processes = client.run(os.getpid)
        found = workers.iterate(changes)
        verdicts = [next(found)]
        at_work = _awaited(lambda: [worker for worker, tasks in client.processing().items() if tasks])
        os.kill(processes[at_work[0]], signal.SIGKILL)
        verdicts += found
        assert [(one.verdict, one.same, one.max_abs_error) for one in verdicts] == [
            (one.verdict, one.same, one.max_abs_error) for one in verifier.iterate(changes)
        ]
        assert {one.verdict.value for one in verdicts} == {"same", "different"}
        there = workers.verify(lost)
        assert there.verdict.value == "unverified"
        assert "/nowhere/to/be/found is not on the worker" in there.reason
        monkeypatch.setattr("jaxlint.verify.cluster._LOOK_S", 1)
        cluster.scale(0)  # retiring workers is not enough: a nanny may start the killed one again afterwards
        _awaited(lambda: not client.nthreads())
        assert {(one.verdict.value, "no workers" in one.reason) for one in workers.iterate(changes)} == {
            ("unverified", True)
        }
