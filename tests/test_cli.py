from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from jaxlint import registry
from jaxlint.cli.main import main
from jaxlint.cli.progress import progress
from jaxlint.meter import Meter

REMOVED = "import jax\n\ny = jax.tree_map(abs, [1])\n"
MENDED = "import jax\n\ny = jax.tree.map(abs, [1])\n"
IDLE = "x = 1  # noqa: JAX101\n"


class Ended(Struct):
    status: int
    out: str
    err: str


class Command:
    """Runs `jaxlint` in this process, in an empty folder."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self.capfd = capfd

    def __call__(self, *args: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main(args)
        out, err = self.capfd.readouterr()
        return Ended(int(ended.value.code or 0), out, err)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    for name in ("NO_COLOR", "FORCE_COLOR", "JAXLINT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return Command(capfd)


class Terminal(io.StringIO):
    """A terminal that says when it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.written.set()


def test_a_terminal_is_told_what_a_long_run_is_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    meter, error = Meter(), Terminal()
    meter.count("files read", 3)
    with progress(meter, error, Terminal(), after=0.0), meter.stage("analyse"):
        assert error.written.wait(60)
    assert "analyse 3 files" in error.getvalue() and error.getvalue().endswith("\r\x1b[K")
    pipe = io.StringIO()
    with progress(meter, error := Terminal(), pipe, after=0.0), progress(meter, pipe, error, after=0.0):
        assert not any(one.name == "progress" for one in threading.enumerate())
    assert error.getvalue() == pipe.getvalue() == ""


def write(files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def codes(ended: Ended) -> list[str]:
    return [one["code"] for one in json.loads(ended.out)]


def test_a_clean_folder(run: Command) -> None:
    write({"a.py": "x = 1\n"})
    ended = run()
    assert (ended.status, ended.out, ended.err) == (0, "No findings in 1 file.\n", "")


def test_findings_give_status_one(run: Command) -> None:
    write({"src/a.py": REMOVED})
    ended = run()
    assert ended.status == 1
    assert ended.out.startswith(f"{os.path.join('src', 'a.py')}:3:5: JAX901 removed-api: ")
    assert run("--exit-zero").status == 0


def test_check_is_what_is_done_unless_told_otherwise(run: Command) -> None:
    write({"a.py": IDLE})
    assert run("check", "a.py") == run("a.py") == run()


def test_a_missing_path_is_an_error_and_the_others_are_linted(run: Command) -> None:
    write({"a.py": IDLE})
    ended = run("nope", "a.py")
    assert ended.status == 2
    assert "nope does not exist" in ended.err
    assert "JAX001" in ended.out


def test_a_mistyped_command_is_told_apart_from_a_path(run: Command) -> None:
    assert "did you mean the command `check`" in run("chek").err


def test_a_folder_without_python(run: Command) -> None:
    write({"docs/readme.txt": ""})
    ended = run("docs")
    assert ended.status == 0
    assert "docs holds no Python files" in ended.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("x = (\n", "never closed"),
        ("def f():\nreturn 1\n", "indent"),
        (b"x = '\xe9'\n", "not valid UTF-8"),
        ("x = 1\n".encode("utf-16"), "UTF-16"),
        (b"x = '\0'\n", "null byte"),
        ("(" * 5000, "too many nested"),
        ("-" * 100_000 + "1", ""),
    ],
)
def test_what_cannot_be_read_is_a_finding_and_the_others_are_linted(
    run: Command, content: str | bytes, words: str
) -> None:
    write({"bad.py": content, "good.py": IDLE})
    ended = run("--output-format", "json")
    assert ended.status == 1
    assert codes(ended) == ["JAX000", "JAX001"]
    assert words in json.loads(ended.out)[0]["message"]


def test_a_file_without_permission(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    write({"a.py": "x = 1\n"})
    monkeypatch.setattr(Path, "read_bytes", refuse)
    ended = run("a.py")
    assert ended.status == 1
    assert "JAX000 syntax-error: the file cannot be read: Permission denied" in ended.out


@pytest.mark.parametrize(
    "content",
    [
        REMOVED.encode("utf-8-sig"),
        REMOVED.replace("\n", "\r\n").encode(),
        REMOVED.replace("\n", "\r").encode(),
        b"# coding: latin-1\n# \xe9\n" + REMOVED.encode(),
        REMOVED.replace("\n\n", "\n\f\n").encode(),
        REMOVED.rstrip("\n").encode(),
        REMOVED.replace("y = ", "if 1:\n\ty = ").encode(),
    ],
)
def test_fixing_changes_nothing_else(run: Command, content: bytes) -> None:
    write({"a.py": content})
    os.chmod("a.py", 0o754)
    ended = run("--fix", "a.py")
    assert ended.status == 0
    assert ended.out == "Found 1 finding (1 fixed, 0 remaining).\n"
    assert Path("a.py").read_bytes() == content.replace(b"tree_map", b"tree.map")
    assert Path("a.py").stat().st_mode & 0o777 == 0o754
    assert run("--fix", "a.py").out == "No findings in 1 file.\n"


def test_a_diff_is_shown_and_nothing_is_written(run: Command) -> None:
    write({"a.py": REMOVED})
    ended = run("--diff", "a.py")
    assert ended.status == 1
    assert ended.out.splitlines()[-2:] == ["-y = jax.tree_map(abs, [1])", "+y = jax.tree.map(abs, [1])"]
    assert "1 would be fixed" in ended.err
    assert Path("a.py").read_text() == REMOVED


LONGER = """\
import jax
import jax.numpy as jnp


def noise(key):
    a = jax.random.normal(key)
    b = jax.random.normal(key)
    return a + b


@jax.jit
def grown(x, n):
    while n > 0:
        x, n = 2 * x, n - 1

    if x > 3:  # behind the loop
        print(x)
    return x


last = jnp.ones(5)[7]  # remains
"""


def test_what_a_diff_leaves_is_told_at_the_lines_of_the_file(run: Command) -> None:
    write({"a.py": LONGER})
    found = json.loads(run("--output-format=json", "a.py").out)
    left = json.loads(run("--diff", "--unsafe-fixes", "--output-format=json", "a.py").err)
    marks = {number: line.partition("# ")[2] for number, line in enumerate(LONGER.splitlines(), 1)}
    assert [marks[finding["line"]] for finding in left] == ["behind the loop", "remains"]
    assert len(left) < len(found) and left[1] in found

    shown = run("--diff", "--unsafe-fixes", "a.py").err
    assert "a.py:16:8" in shown and "if x > 3:  # behind the loop" in shown
    assert "last = jnp.ones(5)[7]  # remains" in shown


def test_the_start_of_a_code_lists_the_family(run: Command) -> None:
    ended = run("rule", "JAX90")
    assert ended.status == 0
    assert {line.split()[0] for line in ended.out.splitlines()[1:]} == {
        rule.code for rule in registry.rules() if rule.code.startswith("JAX90")
    }


def test_unfixable_rules_are_not_fixed(run: Command) -> None:
    write({"a.py": REMOVED + IDLE, "jaxlint.toml": 'unfixable = ["removed-api"]\n'})
    assert run("--fix").status == 1
    assert Path("a.py").read_text() == REMOVED + "x = 1\n"
    write({"a.py": REMOVED + IDLE, "jaxlint.toml": 'fixable = ["removed-api"]\n'})
    run("--fix")
    assert Path("a.py").read_text() == MENDED + IDLE


def test_selection_on_the_command_line(run: Command) -> None:
    write({"a.py": REMOVED + IDLE})
    assert codes(run("--output-format=json")) == ["JAX901", "JAX001"]
    assert codes(run("--output-format=json", "--select", "JAX9")) == ["JAX901"]
    assert codes(run("--output-format=json", "--ignore", "removed-api, JAX9")) == ["JAX001"]
    assert codes(run("--output-format=json", "--select=JAX1", "--extend-select=JAX901")) == ["JAX901"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--select", "JAX9O1"], ["--select", "did you mean `JAX901`"]),
        (["--target-jax", "new"], ["--target-jax", "`new`"]),
        (["--config", "nope.toml"], ["nope.toml", "cannot be read"]),
        (["--config", "a.toml", "--isolated"], ["exclude each other"]),
        (["--output-format", "xml"], ["--output-format", "sarif"]),
        (["--jobs", "0"], ["--jobs"]),
        (["--fxi"], ["--fxi", "--fix"]),
        (["--stdin-filename", "a.py", "b.py"], ["--stdin-filename"]),
        (["-", "b.py"], ["standard input"]),
        (["--statistics", "--output-format", "sarif"], ["--statistics"]),
        (["--output-file", "no/such/folder"], ["no/such/folder", "No such file"]),
    ],
)
def test_wrong_use_is_explained(run: Command, args: Sequence[str], words: Sequence[str]) -> None:
    write({"b.py": ""})
    ended = run(*args)
    assert ended.status == 2
    assert all(word in ended.err for word in words), ended.err


def test_a_wrong_configuration_is_explained(run: Command) -> None:
    write({"a.py": "", "pyproject.toml": '[tool.jaxlint]\nselct = ["JAX101"]\n'})
    ended = run()
    assert ended.status == 2
    assert "unknown key `tool.jaxlint.selct`; did you mean `select`?" in ended.err
    assert run("--isolated").status == 0


def test_the_configuration_is_used(run: Command) -> None:
    config = "[tool.jaxlint]\noutput-format = 'json'\nexclude = ['gen']\nper-file-ignores = {'old/*' = ['JAX9']}\n"
    write({"pyproject.toml": config, "gen/a.py": REMOVED, "old/b.py": REMOVED, "c.py": REMOVED})
    assert [one["path"] for one in json.loads(run().out)] == ["c.py"]


def test_the_target_decides_what_is_removed(run: Command) -> None:
    write({"a.py": REMOVED})
    assert run("--target-jax", "0.4.20").status == 0
    write({"requirements.txt": "jax==0.4.20\n"})
    assert run().status == 0
    assert run("--isolated").status == 1


class Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def test_standard_input(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(REMOVED.encode()))
    ended = run("--stdin-filename", "src/a.py", "--output-format", "json")
    assert [one["path"] for one in json.loads(ended.out)] == [os.path.join("src", "a.py")]


def test_standard_input_is_fixed_onto_standard_output(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\xef\xbb\xbf" + REMOVED.replace("\n", "\r\n").encode()
    monkeypatch.setattr(sys, "stdin", Stdin(data))
    ended = run("-", "--fix")
    assert ended.status == 0
    assert ended.out.encode() == data.replace(b"tree_map", b"tree.map")
    assert "1 fixed" in ended.err


def test_a_report_in_a_file(run: Command) -> None:
    write({"a.py": IDLE})
    ended = run("--output-format", "json", "--output-file", "report.json")
    assert (ended.status, ended.out) == (1, "")
    assert [one["code"] for one in json.loads(Path("report.json").read_text())] == ["JAX001"]


def test_statistics(run: Command) -> None:
    write({"a.py": IDLE * 3 + "y = 1\n"})
    assert run("--statistics").out == "3  JAX001  [*]  unused-suppression\n"
    assert json.loads(run("--statistics", "--output-format", "json").out)[0]["count"] == 3


@pytest.mark.parametrize(
    ("env", "args", "colored"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
        ({"FORCE_COLOR": "1"}, ["--color", "never"], False),
    ],
)
def test_colour(
    run: Command, monkeypatch: pytest.MonkeyPatch, env: Mapping[str, str], args: Sequence[str], colored: bool
) -> None:
    write({"a.py": IDLE})
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run(*args).out) is colored


def test_an_internal_failure_in_one_file_loses_only_that_file(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxlint import engine

    real = engine.analyse

    def analyse(sources: Sequence[object], **options: object) -> object:
        if any("BOOM" in source.text for source in sources):  # type: ignore[attr-defined]
            raise KeyError("boom")
        return real(sources, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "analyse", analyse)
    write({"bad.py": "import jax\n# BOOM\n", "good.py": REMOVED})
    ended = run()
    assert ended.status == 2
    assert "bad.py: internal error, not linted: KeyError: 'boom'" in ended.err
    assert "Traceback" not in ended.err
    assert "good.py:3:5: JAX901" in ended.out


def test_a_file_that_cannot_be_written_is_named(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"a.py": IDLE})
    monkeypatch.setattr("jaxlint.fixes.write.os.access", lambda *_: False)
    ended = run("--fix")
    assert ended.status == 2
    assert "a.py: is read-only" in ended.err
    assert Path("a.py").read_text() == IDLE


def test_a_long_file(run: Command) -> None:
    write({"a.py": "import jax\nx = 1\n" * 25_000 + IDLE})
    ended = run("--output-format", "json")
    assert [one["line"] for one in json.loads(ended.out)] == [50_001]


def test_rules_are_listed(run: Command) -> None:
    listed = json.loads(run("rules", "--output-format", "json").out)
    assert [one["code"] for one in listed] == [rule.code for rule in registry.rules()]
    assert set(listed[0]) == {"code", "name", "summary", "severity", "on_by_default", "fix"}
    table = run("rules").out.splitlines()
    assert len(table) == len(listed) + 1
    assert run("rule").out == run("rules").out


def test_every_rule_is_explained(run: Command) -> None:
    for rule in registry.rules():
        ended = run("rule", rule.code)
        assert ended.status == 0
        assert rule.name in ended.out
        assert run("rule", rule.name).out == ended.out


def test_an_unknown_rule_names_the_nearest(run: Command) -> None:
    ended = run("rule", "syntax-eror")
    assert ended.status == 2
    assert "did you mean `syntax-error`" in ended.err


def test_the_version(run: Command) -> None:
    from jaxlint import __version__

    assert run("--version").out == f"jaxlint {__version__}\n"


def test_compare_refuses_what_it_cannot_read(run: Command) -> None:
    write({"a.py": "x = 1\n", "b.py": "x = (\n"})
    assert "b.py:1:5" in run("compare", "a.py", "b.py").err
    assert run("compare", "a.py", "nope.py").status == 2


def test_linting_imports_neither_jax_nor_numpy(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(REMOVED)
    code = (
        "import sys\nfrom jaxlint.cli.main import main\n"
        "try:\n    main(['--isolated', 'a.py'])\nexcept SystemExit as ended:\n    assert ended.code == 1\n"
        "print(sorted({'jax', 'numpy', 'flake8', 'rich'} & set(sys.modules)))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_the_settings_that_hold_are_shown_as_a_configuration(run: Command) -> None:
    write({"a.py": MENDED, "jaxlint.toml": 'select = ["JAX1"]\nper-file-ignores = { "a.py" = ["JAX101"] }\n'})
    shown = run("--show-settings", "--target-jax", "0.6.0").out
    assert "JAX2" not in shown.partition("fixable")[0] and 'target-jax = "0.6.0"' in shown
    write({"jaxlint.toml": shown})
    assert run("--show-settings").out == shown


def test_the_files_that_would_be_checked_are_shown(run: Command) -> None:
    write({"a.py": REMOVED, "b/c.py": REMOVED, "d.txt": "", "jaxlint.toml": 'extend-exclude = ["b"]\n'})
    ended = run("--show-files", ".")
    assert (ended.status, ended.out) == (0, "a.py\n")
