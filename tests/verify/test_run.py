"""Arguments from a command of the user, run with recorders around what has changed."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from jaxlint.model import Verdict, Verification
from jaxlint.verify import Change, Verifier
from jaxlint.verify.command import CommandError, read_command
from jaxlint.verify.jobs import Start

GOOD = (Verdict.CONFIRMED, Verdict.SAME)


def test_commands_that_start_python_are_read(tmp_path: Path) -> None:
    def read(text: str) -> tuple[Start, str, tuple[str, ...]]:
        command = read_command(text, tmp_path)
        return command.start, command.what, command.args

    script = tmp_path / "a b.py"
    script.touch()
    tool = tmp_path / "tool"
    tool.write_text(f"#!{sys.executable}\nprint(1)\n")
    assert read("python 'a b.py' --n 3") == (Start.SCRIPT, str(script), ("--n", "3"))
    assert read(f"{sys.executable} -u -W error 'a b.py'") == (Start.SCRIPT, str(script), ())
    assert read("python3.12 -m pkg.main -x") == (Start.MODULE, "pkg.main", ("-x",))
    assert read("python -c 'print(1)' a") == (Start.CODE, "print(1)", ("a",))
    assert read("pytest tests/test_a.py -k 'x and y'") == (Start.MODULE, "pytest", ("tests/test_a.py", "-k", "x and y"))
    assert read("./tool 1") == (Start.SCRIPT, str(tool), ("1",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "only commands that start Python"),
        ("python 'a", "no closing quotation"),
        ("python", "runs nothing"),
        ("python -m", "runs nothing"),
        ("python --help", "the flag `--help` of Python cannot be followed"),
        ("python none.py", "there is no script none.py"),
        ("/bin/sh -c 'python a.py'", "`/bin/sh` is no Python program: only commands that start Python"),
        ("surely-no-such-program", "there is no program `surely-no-such-program`"),
        ("N=3 pytest", "sets a variable"),
    ],
)
def test_other_commands_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        read_command(text, tmp_path)


LIBRARY = """
import dataclasses, functools
import jax
import jax.numpy as jnp
from .scale import SCALE

@functools.partial(jax.tree_util.register_dataclass, data_fields=["weights"], meta_fields=["count"])
@dataclasses.dataclass
class State:
    weights: jax.Array
    count: int = dataclasses.field(metadata={"static": True}, default=0)

class Model:
    def __init__(self, size):
        self.bias = jnp.arange(size) * 1.0

    def __call__(self, state, x):
        return x @ state.weights * SCALE + self.bias

@jax.jit
def step(state, batch):
    total = batch["x"] * batch["y"]
    return dataclasses.replace(state, weights=state.weights - 0.1 * total), state.count
"""
TEST = """
import jax.numpy as jnp
import pytest
from pkg.lib import Model, State, step

@pytest.fixture
def state():
    return State(jnp.ones((2, 3)), 4)

@pytest.mark.parametrize("size", [3])
def test_model(state, size, tmp_path):
    (tmp_path / "log").write_text("x")
    assert Model(size)(state, jnp.ones((5, 2))).shape == (5, size)

def test_step(state):
    new, count = step(state, {"x": jnp.ones((2, 1)), "y": jnp.ones(3)})
    assert count == 4
    assert False, "tests that fail do not matter"
"""
SCRIPT = """
import sys
import jax.numpy as jnp
from pkg import lib

print("started with", sys.argv[1:])
state = lib.State(jnp.ones((2, 3)), 1)
print(lib.step(state, {"x": jnp.ones((2, 1)), "y": jnp.ones(3)}), lib.Model(3)(state, jnp.ones((1, 2))))
sys.exit(3)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    files = {
        "src/pkg/__init__.py": "from .lib import step\n",
        "src/pkg/scale.py": "SCALE = 2.0\n",
        "src/pkg/lib.py": LIBRARY,
        "src/pkg/__main__.py": SCRIPT,
        "tests/test_lib.py": TEST,
        "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\naddopts = '-q'\n",
        "examples/train.py": "import sys; sys.path.insert(0, 'src')\n" + SCRIPT,
        "own.py": "import jax.numpy as jnp\n\ndef f(x, n):\n    return x[n:] * 2.0\n",
        "use.py": "import own, jax.numpy as jnp\nown.f([jnp.ones(3)], 1) if 0 else own.f(jnp.ones((3, 2)), n=1)\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text))
    return root


def verdict(project: Path, command: str, name: str, *edits: tuple[str, str]) -> list[Verification]:
    path = project / name
    text = path.read_text()
    assert all(old in text for old, _ in edits)
    with Verifier(command=read_command(command, project), root=project) as verifier:
        return [verifier.verify(Change(str(path), text, text.replace(*edit))) for edit in edits]


STEP = ('batch["x"] * batch["y"]', 'batch["y"] * batch["x"]'), ('batch["x"] * batch["y"]', 'batch["x"] + batch["y"]')
CALL = (
    ("x @ state.weights * SCALE + self.bias", "self.bias + SCALE * (x @ state.weights)"),
    ("+ self.bias", "- self.bias"),
)


@pytest.mark.jax
@pytest.mark.parametrize("command", ["pytest tests/test_lib.py", "python examples/train.py 1"])
def test_what_a_command_calls_is_recorded(project: Path, command: str) -> None:
    good, bad, good_method, bad_method = verdict(project, command, "src/pkg/lib.py", *STEP, *CALL)
    assert good.verdict in GOOD and good.inputs.startswith("recorded ("), good.reason
    assert good_method.verdict in GOOD and good_method.inputs.startswith("recorded ("), good_method.reason
    assert bad.verdict is bad_method.verdict is Verdict.DIFFERENT


@pytest.mark.jax
def test_the_file_may_be_what_the_command_starts(project: Path) -> None:
    for command in ("python use.py", "python -c 'import own, numpy; own.f(numpy.ones(4), 2)'"):
        good, bad = verdict(project, command, "own.py", ("x[n:] * 2.0", "2.0 * x[n:]"), ("x[n:]", "x[:n]"))
        assert good.verdict in GOOD and bad.verdict is Verdict.DIFFERENT
    main = project / "src"
    with Verifier(command=read_command("python -m pkg 7", main)) as verifier:
        path, text = str(main / "pkg/lib.py"), LIBRARY
        assert verifier.verify(Change(path, text, text.replace(*STEP[1]))).verdict is Verdict.DIFFERENT


@pytest.mark.jax
def test_a_source_folder_that_is_on_the_path_stays_there(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("PYTHONPATH", "src")
    command = (
        "python -c 'import numpy as np; from pkg.lib import State, step; "
        'step(State(np.ones((2, 3)), 1), {"x": np.ones((2, 1)), "y": np.ones(3)})\''
    )
    good, bad = verdict(project, command, "src/pkg/lib.py", *STEP)
    assert good.verdict in GOOD and good.inputs.startswith("recorded ("), good.reason
    assert bad.verdict is Verdict.DIFFERENT


@pytest.mark.jax
def test_clocks_are_found_by_their_names(project: Path) -> None:
    looks = "[getattr(sys.modules[t.__module__], t.__name__) for t in (time.perf_counter, time.sleep)]"
    command = f"python -c 'import sys, time, own, numpy; {looks}; own.f(numpy.ones(4), 2)'"
    good, bad = verdict(project, command, "own.py", ("x[n:] * 2.0", "2.0 * x[n:]"), ("x[n:]", "x[:n]"))
    assert good.verdict in GOOD and bad.verdict is Verdict.DIFFERENT


@pytest.mark.jax
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("python -c 1", "the command `python -c 1` does not import own.py"),
        ("python -c 'import own'", "calls none of the functions that changed in own.py"),
        ("python -m nosuch", "does not import own.py, and fails with ImportError: No module named nosuch"),
        ("pytest none", "does not import own.py, and ends with status 4"),
    ],
)
def test_a_command_that_shows_nothing_is_told(project: Path, command: str, message: str) -> None:
    (found,) = verdict(project, command, "own.py", ("x[n:]", "x[0:][n:]"))
    assert message in found.reason
