from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REMOVED = "import jax\n\ny = jax.tree_map(abs, [1])\n"


def installed() -> bool:
    try:
        return any(entry.name == "JAX" for entry in distribution("flake8-jaxlint").entry_points)
    except PackageNotFoundError:
        return False


def flake8(folder: Path, *args: str, stdin: str | None = None) -> list[str]:
    """Runs flake8 with the plugin; where the package is not installed, through a local plugin."""
    config = "" if installed() else "[flake8:local-plugins]\nextension =\n    JAX = jaxlint.flake8_plugin:Plugin\n"
    (folder / "flake8.cfg").write_text("[flake8]\n" + config)
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--config", "flake8.cfg", "-j1", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=stdin,
        capture_output=True,
        text=True,
    )
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_findings_come_with_flake8s_columns(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(REMOVED)
    (line,) = flake8(tmp_path, "a.py")
    assert line.startswith("a.py:3:5: JAX901 removed-api: ")


def test_columns_count_characters(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(REMOVED.replace("y = jax", "y = '日本', jax"), "utf-8")
    assert flake8(tmp_path, "a.py")[0].startswith("a.py:3:11: JAX901")


def test_noqa_is_left_to_flake8(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(REMOVED.rstrip() + "  # noqa: JAX901\n")
    assert flake8(tmp_path, "a.py") == []
    assert len(flake8(tmp_path, "--disable-noqa", "a.py")) == 1


def test_own_comments_are_honoured(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(REMOVED.rstrip() + "  # jaxlint: ignore[removed-api]\n")
    assert flake8(tmp_path, "--disable-noqa", "a.py") == []


def test_selection_is_flake8s(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(REMOVED)
    assert flake8(tmp_path, "--ignore", "JAX9", "a.py") == []
    assert len(flake8(tmp_path, "--select", "JAX", "a.py")) == 1


def test_the_target_is_an_option(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(REMOVED)
    assert flake8(tmp_path, "--jaxlint-target-jax", "0.4.20", "a.py") == []


def test_the_projects_configuration_is_read(tmp_path: Path) -> None:
    (tmp_path / "jaxlint.toml").write_text('target-jax = "0.4.20"\n')
    (tmp_path / "a.py").write_text(REMOVED)
    assert flake8(tmp_path, "a.py") == []
    (tmp_path / "jaxlint.toml").write_text("target = 1\n")
    assert "unknown key `target`; did you mean `target-jax`?" in flake8(tmp_path, "a.py")[0]


def test_standard_input(tmp_path: Path) -> None:
    assert len(flake8(tmp_path, "-", stdin=REMOVED)) == 1


def test_rules_that_are_off_by_default_are_off_in_flake8_until_selected() -> None:
    from flake8.options.manager import OptionManager

    from jaxlint.flake8_plugin import Plugin
    from jaxlint.registry import rules

    manager = OptionManager(version="1", plugin_versions="", parents=[], formatter_names=[])
    Plugin.add_options(manager)
    assert {rule.code for rule in rules() if not rule.on_by_default} <= set(manager.extended_default_ignore)
    assert not {rule.code for rule in rules() if rule.on_by_default} & set(manager.extended_default_ignore)


@pytest.mark.parametrize(("text", "heavy"), [("x = 1\n", False), (REMOVED, True)])
def test_nothing_heavy_is_imported_until_a_file_mentions_jax(text: str, heavy: bool) -> None:
    code = (
        "import sys, ast\nfrom jaxlint.flake8_plugin import Plugin\n"
        f"text = {text!r}\nlist(Plugin(ast.parse(text), 'a.py', text.splitlines(True)).run())\n"
        "print('libcst' in sys.modules, 'jax' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.stdout.split() == [str(heavy), "False"], done.stderr
