"""Configurations that extend others, and those of folders inside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_cli import MENDED, REMOVED, Command, codes, run, write

from jaxlint.config.file import ConfigError
from jaxlint.config.settings import Options, Settings, settings_for
from jaxlint.config.targets import Target

__all__ = ["run"]


def settings(folder: Path, files: dict[str, str]) -> Settings:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return settings_for(folder, Options())


def test_a_file_builds_on_the_one_that_it_extends(tmp_path: Path) -> None:
    base = (
        'select = ["JAX1"]\nignore = ["JAX101"]\ntarget-jax = "0.4.30"\ncache-dir = "store"\nextend-exclude = ["a"]\n'
    )
    own = 'extend = "../base/jaxlint.toml"\nextend-select = ["JAX901"]\ntarget-jax = "0.6.0"\nextend-exclude = ["b"]\n'
    found = settings(tmp_path / "own", {"../base/jaxlint.toml": base, "jaxlint.toml": own})
    assert "JAX101" not in found.enabled and {"JAX102", "JAX901"} <= found.enabled
    assert found.target == Target("0.6.0", "0.6.0")
    assert found.files.exclude[-2:] == ("a", "b")
    assert found.root == (tmp_path / "own").resolve()


def test_tables_of_declarations_are_joined(tmp_path: Path) -> None:
    base = '[tool.jaxlint]\nwrappers = {"a.jit" = "jax.jit"}\nverify = {run = "x.py", examples = {"a:f" = "b:g"}}'
    own = 'extend = "base/pyproject.toml"\n[wrappers]\n"b.map" = "jax.vmap"\n[verify]\nexamples = {"c:f" = "d:g"}'
    found = settings(tmp_path, {"base/pyproject.toml": base, "jaxlint.toml": own})
    assert found.wrappers == {"a.jit": "jax.jit", "b.map": "jax.vmap"}
    assert found.verify.factories == {"a:f": "b:g", "c:f": "d:g"}
    assert found.verify.run == "x.py" and found.verify.folder == tmp_path / "base"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"jaxlint.toml": 'extend = "a.toml"', "a.toml": 'extend = "jaxlint.toml"'}, ["a.toml: extend", "in turn"]),
        ({"jaxlint.toml": 'extend = "jaxlint.toml"'}, ["jaxlint.toml: extend", "in turn"]),
        ({"jaxlint.toml": 'extend = "nope.toml"'}, ["jaxlint.toml: extend", "nope.toml"]),
        ({"jaxlint.toml": 'extend = ""'}, ["jaxlint.toml: extend", "there is no file"]),
        ({"jaxlint.toml": 'extend = "a.toml"', "a.toml": 'select = ["X"]'}, ["a.toml: select", "`X`"]),
        ({"jaxlint.toml": 'extend = "a.toml"', "a.toml": "selct = []"}, ["a.toml: unknown key `selct`"]),
        ({"jaxlint.toml": 'extend = "a.toml"', "a.toml": 'target-jax = "new"'}, ["a.toml: target-jax"]),
        ({"pyproject.toml": "tool = 3"}, []),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path: Path, files: dict[str, str], words: list[str]) -> None:
    if not words:
        settings(tmp_path, files)
        return
    with pytest.raises(ConfigError) as caught:
        settings(tmp_path, files)
    for word in words:
        assert word in str(caught.value)


JSON = ("--output-format", "json")


def test_the_nearest_configuration_governs_each_file(run: Command) -> None:
    write({"jaxlint.toml": 'target-jax = "0.10.2"\n', "a.py": REMOVED, "old/b.py": REMOVED, "old/deep/c.py": REMOVED})
    write({"old/jaxlint.toml": 'target-jax = "0.4.24"\n', "old/deep/jaxlint.toml": 'ignore = ["JAX901"]\n'})
    found = json.loads(run(*JSON).out)
    assert [(Path(one["path"]).name, one["code"]) for one in found] == [("a.py", "JAX901")]
    assert codes(run(*JSON, "--isolated")) == ["JAX901"] * 3
    assert codes(run(*JSON, "--config", "jaxlint.toml")) == ["JAX901"] * 3


def test_a_nearer_configuration_excludes_and_forbids_fixes(run: Command) -> None:
    write({"jaxlint.toml": "", "a.py": REMOVED, "in/b.py": REMOVED, "in/gen/c.py": REMOVED})
    write({"in/pyproject.toml": '[tool.jaxlint]\nextend-exclude = ["gen"]\nunfixable = ["JAX901"]\n'})
    assert run("--show-files").out.split() == ["a.py", "in/b.py"]
    assert run("--show-files", "in/gen/c.py").out.split() == ["in/gen/c.py"]
    assert run("--fix").status == 1
    assert [Path(name).read_text() for name in ("a.py", "in/b.py", "in/gen/c.py")] == [MENDED, REMOVED, REMOVED]


def test_a_nearer_configuration_extends_that_of_the_whole(run: Command) -> None:
    write({"pyproject.toml": '[tool.jaxlint]\nignore = ["JAX901"]\n', "a.py": REMOVED, "in/b.py": REMOVED})
    write({"in/jaxlint.toml": 'extend = "../pyproject.toml"\n'})
    assert run().status == 0
    write({"in/jaxlint.toml": 'extend = "../pyproject.toml"\nextend-select = ["JAX901"]\n'})
    assert codes(run(*JSON)) == ["JAX901"]


def test_a_wrong_nearer_configuration_is_an_error_and_foreign_toml_is_not(run: Command) -> None:
    write({"a.py": REMOVED, "in/b.py": REMOVED, "in/pyproject.toml": "not toml"})
    assert codes(run(*JSON)) == ["JAX901"] * 2
    write({"in/jaxlint.toml": "selct = []\n"})
    ended = run()
    assert ended.status == 2 and "in/jaxlint.toml: unknown key `selct`" in ended.err
