"""`jaxlint profile`: programs run as they are, and what was compiled again is explained."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_notebooks import dumped

from jaxlint.cli.main import main
from jaxlint.profile.command import Command, CommandError, command
from jaxlint.profile.differences import Cause, Difference, compare, nearest
from jaxlint.profile.records import Argument, Call, Function, Leaf, Recording, Settings, read
from jaxlint.profile.summary import profile

CAUSES = """\
import functools

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def shape(w, batch):
    return (w * batch["x"][0]).sum()


@jax.jit
def dtype(w, batch):
    return (w * batch).sum()


@jax.jit
def weak(average, loss):
    return 0.9 * average + loss


@jax.jit
def tree(params):
    return sum(jax.tree_util.tree_leaves(params))


@functools.partial(jax.jit, static_argnames="power")
def static(x, power):
    return x**power


@jax.jit
def style(a, b):
    return a + b


@jax.jit
def passed(a, b=1.0):
    return a + b


@jax.jit
def setting(a):
    return a @ a


@jax.jit
def under(a):
    return (a * a).sum()


class Scale:
    def __init__(self, by):
        self.by = by


@functools.partial(jax.jit, static_argnums=0)
def scaled(scale, a):
    return a * scale.by


def fresh(x):
    @jax.jit
    def inner(v):
        return v * 2.0

    return inner(x)


def stepping(loss):
    @jax.jit
    def step(v):
        return loss(v)

    return step


def scanned(xs):
    def body(c, x):
        return c + x, c

    return lax.scan(body, 0.0, xs)


x, one = jnp.arange(4.0), jnp.float32(1.0)
shape(one, {"x": [x, x]})
shape(one, {"x": [x[:2], x]})  # shape
dtype(one, x)
dtype(one, x.astype(jnp.int32))  # dtype
average = 0.0
for _ in range(4):
    average = weak(average, one)  # weak
tree({"a": x, "b": [x, x]})
tree({"a": x, "b": (x, x)})  # tree
static(x, 2)
static(x, 3)  # static
style(x, x)
style(x, b=x)  # style
passed(x)
passed(x, x)  # passed
setting(x)
with jax.default_matmul_precision("float32"):
    setting(x)  # setting
jax.grad(under)(x)
under(x)  # under
scaled(Scale(2.0), x)
scaled(Scale(3.0), x)  # scaled
for _ in range(3):
    fresh(x)
    jax.jit(lambda v: v + 1.0)(x)  # lambda
    scanned(x)
    style(x, x)
for loss in (jnp.sin, jnp.cos, lambda v: v + 2.0):
    stepping(loss)(x)  # different functions of one factory, each compiled once
for n in (5, 6, 7):
    jnp.sin(jnp.zeros(n))  # eager
"""

CLEAN = """\
import sys
import threading

import jax
import numpy as np


@jax.jit
def double(x):
    return 2 * x


@jax.jit
def triple(x):
    return 3 * x


def work(size):
    triple(np.zeros(size, np.float32))


if len(sys.argv) > 1:
    for size in (3, 4):
        thread = threading.Thread(target=work, args=(size,))
        thread.start()
        thread.join()
for _ in range(5):
    double(np.ones(3, np.float32))
print("done")
sys.exit(3)
"""

PLAIN = """\
import os
import sys

print(sys.argv, sys.orig_argv[-1], sys.path[0], __name__, __file__, __package__, __spec__ is None, __doc__)
print(sorted(name for name in globals() if not name.startswith("__")), sys.stdin.read())
print("told", file=sys.stderr)
if sys.argv[-1] == "raise":
    raise ValueError("as it is")
if sys.argv[-1] == "kill":
    os.kill(os.getpid(), 9)
sys.exit("with a text" if sys.argv[-1] == "text" else 3)
"""


def line_of(text: str, comment: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if line.endswith(f"# {comment}"))


def ended(*args: str) -> int:
    with pytest.raises(SystemExit) as error:
        main(["profile", *args])
    return int(error.value.code or 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def profiled(*args: str) -> tuple[int, dict[str, Any]]:
    status = ended("--output-format", "json", "-o", "profile.json", *args)
    return status, json.loads(Path("profile.json").read_text())


def causes(item: dict[str, Any]) -> set[tuple[str, str, int]]:
    """Cause, parameter with path, line."""
    return {
        (change["cause"], change["argument"] + change["path"], again["line"])
        for again in item["again"]
        for example in again["changes"]
        for change in example
    }


@pytest.mark.jax
def test_each_cause_is_named_with_its_argument_line_and_rule(folder: Path) -> None:
    Path("causes.py").write_text(CAUSES)
    status, told = profiled("causes.py")
    assert (status, told["status"], told["trouble"], told["platform"]) == (0, 0, [], "cpu")
    assert Path("causes.py").read_text() == CAUSES
    found = {item["function"]: item for item in told["functions"]}
    at = {comment: line_of(CAUSES, comment) for comment in re.findall(r"# (\w+)$", CAUSES, re.MULTILINE)}
    inside = CAUSES.splitlines().index("    return inner(x)") + 1
    scan = CAUSES.splitlines().index("    return lax.scan(body, 0.0, xs)") + 1
    expected = {
        "shape": ("shape", "batch['x'][0]", at["shape"], "shape-retrace"),
        "dtype": ("dtype", "batch", at["dtype"], None),
        "weak": ("weak type", "average", at["weak"], "python-scalar-retrace"),
        "tree": ("pytree structure", "params", at["tree"], None),
        "static": ("static value", "power", at["static"], "static-retrace"),
        "style": ("keyword or position", "b", at["style"], "call-style-retrace"),
        "passed": ("arguments passed", "b", at["passed"], None),
        "setting": ("setting of JAX", "jax_default_matmul_precision", at["setting"], None),
        "under": ("transform around", "", at["under"], "grad-of-jit"),
        "scaled": ("static value", "scale", at["scaled"], "static-retrace"),
        "inner": ("function object", "", inside, "jit-in-function"),
        "<lambda>": ("function object", "", at["lambda"], "jit-in-loop"),
        "lax.scan(body)": ("body function", "", scan, "fresh-control-flow-body"),
    }
    assert set(found) == set(expected)
    for name, (*cause, rule) in expected.items():
        assert causes(found[name]) == {tuple(cause)}, name
        assert {one["name"] for again in found[name]["again"] for one in again["explanations"]} == {rule}, name
    assert {found[name]["cost"]["compiles"] for name in ("inner", "<lambda>", "lax.scan(body)")} == {3}
    assert {found[name]["again"][0]["calls"] for name in ("inner", "<lambda>", "lax.scan(body)")} == {2}
    assert (found["lax.scan(body)"]["after_first"]["compiles"], found["static"]["after_first"]["compiles"]) == (2, 1)
    lambdas = found["<lambda>"]["again"][0]["explanations"][0]["finding"]
    assert (lambdas["code"], lambdas["line"], lambdas["fix"]["safety"]) == ("JAX110", at["lambda"], "safe")
    [change] = found["scaled"]["again"][0]["changes"][0]
    assert (change["before"], change["after"]) == ("Scale(by=2.0)", "Scale(by=3.0)")
    assert {line["line"] for line in told["lines"]} >= {at["eager"]}
    stages = ("trace_ms", "lower_ms", "compile_ms")
    order = [sum(item["after_first"][stage] for stage in stages) for item in told["functions"]]
    assert order == sorted(order, reverse=True)


@pytest.mark.jax
def test_a_clean_program_and_threads(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("clean.py").write_text(CLEAN)
    assert ended("clean.py") == 3
    out, err = capfd.readouterr()
    assert out.startswith("done\njaxlint profile of clean.py: exit status 3 after ")
    assert "No function was traced or compiled more than once (1 function once)." in out
    assert err == ""
    assert ended("clean.py", "threads") == 3
    out, _ = capfd.readouterr()
    assert re.search(r"^triple \(clean.py:13\) was compiled twice, \d+ ms$", out, re.MULTILINE)
    where, what = r"from clean.py:19 in work: once more, \d+ ms", r"shape of `x`: float32\[3\] → float32\[4\]"
    assert re.search(rf"^  {where}\n    {what}$", out, re.MULTILINE)


@pytest.mark.parametrize("word", ["exit", "raise", "text"])
@pytest.mark.parametrize("how", ["script", "module"])
def test_a_program_runs_as_under_python(how: str, word: str, folder: Path) -> None:
    Path("sub").mkdir()
    Path("sub", "plain.py").write_text(PLAIN)
    words = ["sub/plain.py"] if how == "script" else ["-m", "sub.plain"]
    under = [sys.executable, *words, "--flag", word]
    ours = [sys.executable, "-m", "jaxlint", "profile", "-o", "told.txt", *words, "--flag", word]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    plain, told = (subprocess.run(one, input="given", capture_output=True, text=True, env=env) for one in (under, ours))
    assert (told.stdout, told.stderr, told.returncode) == (plain.stdout, plain.stderr, plain.returncode)
    assert "JAX traced and compiled nothing" in Path("told.txt").read_text()


def test_a_killed_program_is_told(folder: Path) -> None:
    Path("plain.py").write_text(PLAIN)
    assert profiled("plain.py", "kill")[1]["status"] == 128 + signal.SIGKILL


def test_an_interrupted_program_is_told(folder: Path) -> None:
    Path("waits.py").write_text("import sys\nprint('waits', flush=True)\nsys.stdin.read()\n")
    ours = [sys.executable, "-m", "jaxlint", "profile", "waits.py"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)

    def listens() -> None:  # a shell's background jobs are started with interrupts ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(ours, **pipes, text=True, env=env, start_new_session=True, preexec_fn=listens) as ran:
        assert ran.stdout and ran.stdout.readline() == "waits\n"
        os.killpg(ran.pid, signal.SIGINT)  # as a terminal does
        out, err = ran.communicate()
    assert (ran.returncode, err.splitlines()[-1], err.count("Traceback")) == (130, "KeyboardInterrupt", 1)
    assert out.startswith("jaxlint profile of waits.py: exit status 130 after ")


CELLS = (
    ("markdown", "# Title"),
    "from __future__ import annotations\n%matplotlib inline\nimport jax\nimport jax.numpy as jnp",
    "@jax.jit\ndef double(x: Unknown):\n    return 2 * x",
    "%%bash\nls",
    "import sys\nprint(sys.argv[1:], __name__, open('data.txt').read())\nfor n in (2, 3):\n    double(jnp.ones(n))",
    "def fresh(x):\n    return jax.jit(lambda v: v + 1.0)(x)\n\nfor _ in range(3):\n    fresh(1.0)\n1 + 1",
)


@pytest.mark.jax
def test_a_notebook_runs_cell_by_cell(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("sub").mkdir()
    Path("sub/data.txt").write_text("data")
    Path("sub/a.ipynb").write_text(dumped([*CELLS, "def fails():\n    return 1 / 0\n", "fails()"]))
    status, told = profiled("sub/a.ipynb", "--epochs", "3")
    out, err = capfd.readouterr()
    assert out.splitlines() == ["['--epochs', '3'] __main__ data", "2"]
    path = str(Path("sub/a.ipynb").resolve())
    assert [line.strip() for line in err.splitlines() if line.strip("^~ ")] == [
        "Traceback (most recent call last):",
        f'File "{path}:cell 8", line 1, in <module>',
        "fails()",
        f'File "{path}:cell 7", line 2, in fails',
        "return 1 / 0",
        "ZeroDivisionError: division by zero",
    ]
    assert (status, told["program"]) == (1, {"kind": "notebook", "target": "sub/a.ipynb", "args": ["--epochs", "3"]})
    found = {item["function"]: item for item in told["functions"]}
    places = {name: [(item["path"], item["cell"], item["line"])] for name, item in found.items()}
    again = {name: (one["path"], one["cell"], one["line"]) for name, item in found.items() for one in item["again"]}
    assert places == {"double": [(path, 3, 1)], "<lambda>": [(path, 6, 2)]}
    assert again == {"double": (path, 5, 4), "<lambda>": (path, 6, 2)}
    [explained] = found["<lambda>"]["again"][0]["explanations"]
    finding = explained["finding"]
    assert (finding["code"], finding["path"], finding["cell"], finding["line"]) == ("JAX111", "sub/a.ipynb", 6, 2)
    Path("sub/a.ipynb").write_text(dumped(CELLS))
    assert ended("sub/a.ipynb") == 0
    out, _ = capfd.readouterr()
    assert re.search(r"^double \(sub/a.ipynb:cell 3:1\) was compiled twice", out, re.MULTILINE)
    assert re.search(r"^  from sub/a.ipynb:cell 5:4: once more", out, re.MULTILINE)
    assert "    = sub/a.ipynb:cell 6:2:12: JAX111 jit-in-function: " in out


def test_notebooks_that_cannot_be_run(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    texts = {
        "a": dumped(["x = 1", "x = 1\nx = (\n"]), "b": dumped(["x = 1", "await x"]),
        "c": dumped(["x = 1"], language="R"), "d": "{}",
    }  # fmt: skip
    for name, text in texts.items():
        Path(f"{name}.ipynb").write_text(text)
    said = {
        "a": "a.ipynb:cell 2:2: ", "b": "b.ipynb:cell 2:1 is not Python: 'await' outside function",
        "c": "c.ipynb has no cells of Python", "d": "d.ipynb: the file is no notebook: its JSON has no list of cells",
        "e": "e.ipynb does not exist",
    }  # fmt: skip
    for name, words in said.items():
        assert ended(f"{name}.ipynb") == 2
        out, err = capfd.readouterr()
        assert words in err
        assert (out, "Traceback" in err) == ("", False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.py"], "none.py does not exist"),
        (["bad.py"], "bad.py:2 is not Python"),
        (["binary.py"], "binary.py is not Python"),
        (["-m", "no_such_module"], "there is no module no_such_module"),
        (["--python", "no-such-python", "ok.py"], "no-such-python cannot be run"),
        (["-o", "none/told.txt", "ok.py"], "told.txt cannot be written: there is no folder none"),
        (["-o", "bare", "ok.py"], "bare is a folder"),
        (["--", "python", "-m"], "`-m` needs a word after it"),
        ([], "name the program to run"),
        (["--python", "bare/bin/python", "ok.py"], "JAX is not installed for"),
    ],
)
def test_what_cannot_be_run(words: list[str], said: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("bad.py").write_text("x = 1\nx = (\n")
    Path("binary.py").write_bytes(b"\x00\x01\xff")
    Path("ok.py").write_text("print('ran')\n")
    Path("bare").mkdir()
    if "bare/bin/python" in words:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "bare"], check=True)
    assert ended(*words) == 2
    out, err = capfd.readouterr()
    assert said in err
    assert (out, "Traceback" in err) == ("", False)


@pytest.mark.parametrize(
    ("words", "module", "expected"),
    [
        (["a.py", "-x", "--y"], False, Command("py", (), "script", "a.py", ("-x", "--y"))),
        (["a.b", "-m"], True, Command("py", (), "module", "a.b", ("-m",))),
        (["python", "a.py"], False, Command("python", (), "script", "a.py", ())),
        (
            ["/x/python3.11", "-u", "-X", "dev", "-m", "a", "b"],
            False,
            Command("/x/python3.11", ("-u", "-X", "dev"), "module", "a", ("b",)),
        ),
        (["python3", "-c", "pass", "b"], False, Command("python3", (), "code", "pass", ("b",))),
    ],
)
def test_the_words_of_a_command(words: list[str], module: bool, expected: Command) -> None:
    assert command(words, module=module, python="py") == expected


@pytest.mark.parametrize("words", [[], ["-"], ["python"], ["python", "-c"]])
def test_words_that_name_no_program(words: list[str]) -> None:
    with pytest.raises(CommandError):
        command(words, module=False, python="py")


FUNCTION = Function(0, "jit", "f", "f", "f", "a.py", 1, 2, False, "program", ())
leaves = st.builds(
    Leaf,
    path=st.just(""),
    shape=st.lists(st.integers(0, 3), max_size=2).map(tuple),
    dtype=st.sampled_from(["float32", "int32"]),
    weak=st.booleans(),
    source=st.sampled_from(["", "numpy"]),
    placement=st.sampled_from(["", "cpu:0"]),
)


def recording(*arguments: Argument) -> Recording:
    """A call for each argument."""
    calls = {i: Call(i, 0, (0,), (i,), (), {}, False, 0, None) for i in range(len(arguments))}
    return Recording(
        functions={0: FUNCTION}, arguments=dict(enumerate(arguments)), settings={0: Settings(0, {})}, calls=calls
    )


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(leaves, leaves)
def test_what_jax_keys_its_caches_on_differs_and_nothing_else(one: Leaf, other: Leaf) -> None:
    made = recording(*(Argument(i, "x", False, False, leaves=(leaf,)) for i, leaf in enumerate((one, other))))
    found = {difference.cause for difference in compare(made.calls[1], made.calls[0], made)}
    assert (Cause.SHAPE in found) == (one.shape != other.shape)
    assert (Cause.DTYPE in found) == (one.dtype != other.dtype)
    assert (Cause.WEAK_TYPE in found) == (one.weak != other.weak and one.dtype == other.dtype)
    assert (Cause.PLACEMENT in found) == (one.placement != other.placement)
    assert found <= {Cause.SHAPE, Cause.DTYPE, Cause.WEAK_TYPE, Cause.PLACEMENT}


def test_the_nearest_earlier_call_is_compared() -> None:
    def argument(number: int, *parts: tuple[tuple[int, ...], str]) -> Argument:
        leaves = tuple(Leaf(f"[{i}]", *part, False) for i, part in enumerate(parts))
        return Argument(number, "x", False, False, "", "(*, *)", leaves)

    made = recording(
        argument(0, ((3,), "float32"), ((3,), "float32")),
        argument(1, ((9,), "int32"), ((9,), "int32")),
        argument(2, ((3,), "float32"), ((4,), "float32")),
    )
    calls = made.calls
    assert nearest(calls[2], [calls[0], calls[1]], made) == (
        Difference(Cause.SHAPE, "x", "[1]", "float32[3]", "float32[4]"),
    )
    assert nearest(calls[2], [calls[2]], made) == (Difference(Cause.UNKNOWN),)


def test_a_static_field_that_is_another_object_is_named() -> None:
    made = recording(*(Argument(i, "state", False, False, "", f"State[(apply#1, adam#{i + 2})](*)") for i in range(2)))
    assert nearest(made.calls[1], [made.calls[0]], made) == (
        Difference(Cause.STRUCTURE, "state", "", "adam", "another object of the same form"),
    )


def test_leaves_that_differ_alike_are_counted() -> None:
    def argument(number: int, size: int) -> Argument:
        leaves = tuple(Leaf(f"[{i}]", (size,), "float32", False) for i in range(3))
        return Argument(number, "x", False, False, "", "[*, *, *]", leaves)

    made = recording(argument(0, 4), argument(1, 5))
    assert nearest(made.calls[1], [made.calls[0]], made) == (
        Difference(Cause.SHAPE, "x", "[0]", "float32[4]", "float32[5]", others=2),
    )


def test_a_recording_that_was_cut_off_is_read_up_to_there() -> None:
    whole = b'{"type": "ready"}\n{"type": "start", "jax": "0.10.2"}\n{"type": "event", "ki'
    told = read(whole)
    assert (told.ready, told.jax, profile(told).functions) == (True, "0.10.2", ())
