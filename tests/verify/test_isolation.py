"""Programs that misbehave harm their own job only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jaxlint.model import Verdict, Verification
from jaxlint.verify import Change, Verifier

pytestmark = pytest.mark.jax

Judge = Callable[[str], Verification]
GOOD = "import jax.numpy as jnp\nx = jnp.arange(3.0).sum()\nprint(x)\n"
linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's fences are Linux only")


@pytest.fixture(scope="module")
def short() -> Iterator[Verifier]:
    with Verifier(timeout_s=8, memory_mb=2048) as verifier:
        yield verifier


@pytest.fixture
def judge(short: Verifier, tmp_path: Path) -> Iterator[Judge]:
    """Judges a bad program, then sees that the next job is none the worse, and that nothing is left running."""

    def judge(text: str) -> Verification:
        text = textwrap.dedent(text)
        path = tmp_path / "bad.py"
        path.write_text(text)
        found = short.verify(Change(str(path), text, text + "\nextra = 1\n"))
        assert path.read_text() == text
        return found

    yield judge
    path = tmp_path / "good.py"
    assert short.verify(Change(str(path), GOOD, GOOD.replace("3.0", "4.0"))).verdict is Verdict.DIFFERENT
    assert not [line for line in _processes() if str(tmp_path) in line]


def _processes() -> list[str]:
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_loop_without_end_is_cut_off(judge: Judge) -> None:
    found = judge("while True:\n    pass\n")
    assert found.verdict is Verdict.UNVERIFIED and "did not end within 8 s" in found.reason


def test_a_compiled_loop_without_end_is_cut_off(judge: Judge) -> None:
    found = judge("import jax\nx = jax.lax.while_loop(lambda v: v >= 0, lambda v: v * 0, 1)\nprint(x)\n")
    assert found.verdict is Verdict.UNVERIFIED and "did not end" in found.reason


def test_memory_without_end_is_an_error_of_the_program(judge: Judge) -> None:
    found = judge("kept = []\nwhile True:\n    kept.append(bytearray(1 << 26))\n")
    assert found.verdict is Verdict.UNVERIFIED


def test_printing_without_end_is_cut_off(judge: Judge) -> None:
    found = judge("for _ in range(1 << 20):\n    print('x' * 1024)\n")
    assert found.verdict is Verdict.UNVERIFIED and ("MB" in found.reason or "File too large" in found.reason)


@linux
def test_forks_are_refused(judge: Judge) -> None:
    found = judge("import os\nwhile True:\n    os.fork()\n")
    assert found.verdict is Verdict.UNVERIFIED and "forbids starting other processes" in found.reason


@linux
def test_forks_past_python_are_refused(judge: Judge) -> None:
    judge("import ctypes\nwhile ctypes.CDLL(None).fork() >= 0:\n    pass\nraise RuntimeError('refused')\n")


@pytest.mark.parametrize(
    "write",
    [
        "open({target!r}, 'w').write('x')",
        "import pathlib; pathlib.Path({target!r}).write_text('x')",
        "import os; os.mkdir({target!r})",
        "import sqlite3; sqlite3.connect({target!r}).execute('create table t (x)')",
        "import ctypes; ctypes.CDLL(None).creat({target!r}.encode(), 0o600)",
        "import numpy; numpy.save({target!r}, [1])",
    ],
)
@linux
def test_nothing_is_written_outside_the_folder(judge: Judge, tmp_path: Path, write: str) -> None:
    target = tmp_path / "written"
    judge(write.format(target=str(target)))
    assert not list(tmp_path.glob("written*"))


def test_the_home_folder_is_another_one(judge: Judge) -> None:
    mark = Path.home() / ".jaxlint-test-mark"
    judge(
        "import os\nwith open(os.path.expanduser('~/.jaxlint-test-mark'), 'w') as f:\n    f.write('x')\nprint('done')\n"
    )
    assert not mark.exists()


def test_a_program_cannot_delete_its_own_source(judge: Judge) -> None:
    found = judge("import os\nos.remove(__file__)\n")
    assert found.verdict is Verdict.UNVERIFIED and "outside its own folder" in found.reason


@linux
@pytest.mark.parametrize(
    "kill", ["os.kill(os.getppid(), 9)", "ctypes.CDLL(None).kill(os.getppid(), 9)", "ctypes.CDLL(None).kill(-1, 9)"]
)
def test_the_parent_cannot_be_killed(judge: Judge, kill: str) -> None:
    judge(f"import ctypes, os\n{kill}\n")


@linux
def test_the_network_is_out_of_reach(judge: Judge) -> None:
    found = judge("import socket\nsocket.socket().connect(('127.0.0.1', 9))\n")
    assert found.verdict is Verdict.UNVERIFIED


@pytest.mark.parametrize("end", ["os._exit(0)", "os.abort()", "os.kill(os.getpid(), 9)"])
def test_an_early_end_is_unverified(judge: Judge, end: str) -> None:
    assert judge(f"import os\n{end}\n").verdict is Verdict.UNVERIFIED


@pytest.mark.parametrize("words", ["{", '{"type": "program"}', '{"type": "ProgramResult", "status": true}'])
def test_a_report_that_cannot_be_read_is_no_verdict(judge: Judge, words: str) -> None:
    found = judge(f"import os\nopen('../result.json', 'w').write('{words}')\nos._exit(0)\n")
    assert found.verdict is Verdict.UNVERIFIED and "cannot be read" in found.reason


def test_secrets_are_not_in_the_environment(judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "hidden")
    text = "import os\nx = os.environ.get('SERVICE_TOKEN', 'nothing')\nprint(x)\n"
    with Verifier(timeout_s=60) as verifier:
        change = Change(str(tmp_path / "a.py"), text, text.replace("print(x)", "assert x == 'nothing'\nprint(x)"))
        assert verifier.verify(change).verdict is not Verdict.DIFFERENT


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Verifier(timeout_s=60) as verifier:
        verifier.verify(Change("a.py", GOOD, GOOD.replace("3.0", "4.0")))
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


@linux
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_when_the_caller_is_stopped_all_ends_with_it(tmp_path: Path, ending: signal.Signals) -> None:
    script = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is started with it ignored
from jaxlint.verify import Change, Verifier
text = "print(1)\\nwhile True: pass\\n"
with Verifier() as verifier:
    verifier.verify(Change({str(tmp_path / "a.py")!r}, text, text + "x = 1\\n"))
"""
    caller = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.DEVNULL
    )
    assert _eventually(lambda: list(tmp_path.glob("jaxlint-*/job-1/stdout")))
    caller.send_signal(ending)
    caller.wait(30)
    assert _eventually(lambda: not list(tmp_path.iterdir()))
    assert _eventually(lambda: not [line for line in _processes() if str(tmp_path) in line])


def _eventually(true: Callable[[], object]) -> bool:
    """Wait for something that other processes do in their own time, half a minute at most."""
    end = time.monotonic() + 30
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_without_jax_the_answer_says_what_to_install(tmp_path: Path) -> None:
    empty = tmp_path / "python"
    hide = "import sys; sys.modules['jax'] = None; exec(sys.argv[1])"
    empty.write_text(f'#!/bin/sh\nshift 2\nexec {sys.executable} -c "{hide}" "$@"\n')
    empty.chmod(0o755)
    with Verifier(python=str(empty)) as verifier:
        found = verifier.verify(Change("a.py", GOOD, GOOD.replace("3.0", "4.0")))
    assert found.verdict is Verdict.UNVERIFIED and "pip install 'flake8-jaxlint[verify]'" in found.reason


def test_importing_the_verifier_imports_neither_jax_nor_numpy() -> None:
    code = "import sys, jaxlint.verify; from jaxlint.verify import Verifier; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
