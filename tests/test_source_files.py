from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from jaxlint.source.files import FileRules, common_root, discover, shown


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def found(*paths: str, **rules: object) -> list[str]:
    files = discover(paths or (".",), FileRules(Path.cwd(), **rules)).files  # type: ignore[arg-type]
    return sorted(file.as_posix() for file in files)


def test_folders_are_walked_for_python_files() -> None:
    write({"a.py": "", "b.pyi": "", "c.txt": "", "sub/d.py": "", "sub/deep/e.py": ""})
    assert found() == ["a.py", "b.pyi", "sub/d.py", "sub/deep/e.py"]
    assert found("sub") == ["sub/d.py", "sub/deep/e.py"]


def test_folders_of_tools_are_left_out() -> None:
    write({"a.py": "", ".venv/lib/b.py": "", "node_modules/c.py": "", "sub/.tox/d.py": "", "environment/e.py": ""})
    assert found() == ["a.py", "environment/e.py"]


def test_a_named_folder_is_walked_even_if_it_is_left_out() -> None:
    write({".venv/lib/b.py": "", ".gitignore": ".venv/\n", ".git/config": ""})
    assert found(".venv") == [".venv/lib/b.py"]
    assert found(".venv/lib") == [".venv/lib/b.py"]


def test_a_named_file_is_taken_whatever_it_is_called() -> None:
    write({"script": "", "build/a.py": ""})
    assert found("script", "build/a.py", exclude=("build",)) == ["build/a.py", "script"]


def test_named_files_can_be_left_out_too() -> None:
    write({"a.py": "", "build/b.py": "", ".venv/c.py": ""})
    assert found("a.py", "build/b.py", exclude=("build",), force_exclude=True) == ["a.py"]
    assert found("a.py", ".venv/c.py", force_exclude=True) == ["a.py"]


def test_excludes_are_patterns_as_in_gitignore() -> None:
    write({"a.py": "", "gen/b.py": "", "sub/gen/c.py": "", "sub/d_pb2.py": ""})
    assert found(exclude=("/gen", "*_pb2.py")) == ["a.py", "sub/gen/c.py"]


def test_gitignore_is_respected_at_every_level() -> None:
    write(
        {
            ".git/config": "",
            ".git/info/exclude": "local.py\n",
            ".gitignore": "ignored/\n*.gen.py\n",
            "a.py": "",
            "local.py": "",
            "a.gen.py": "",
            "ignored/b.py": "",
            "sub/.gitignore": "!keep.gen.py\nc.py\n",
            "sub/keep.gen.py": "",
            "sub/c.py": "",
            "sub/d.py": "",
        }
    )
    assert found() == ["a.py", "sub/d.py", "sub/keep.gen.py"]
    assert found("sub") == ["sub/d.py", "sub/keep.gen.py"]
    assert "ignored/b.py" in found(respect_gitignore=False)


def test_links_that_loop_end(tmp_path: Path) -> None:
    write({"sub/a.py": ""})
    os.symlink("..", "sub/up")
    os.symlink("a.py", "sub/same.py")
    os.symlink("nowhere.py", "sub/broken.py")
    assert found() == ["sub/a.py"]


def test_a_file_that_is_given_twice_is_taken_once() -> None:
    write({"a.py": ""})
    assert found("a.py", "./a.py", ".") == ["a.py"]


def test_missing_and_empty_paths_are_told_apart() -> None:
    write({"docs/readme.txt": "", "a.py": ""})
    os.symlink("nowhere", "dangling")
    result = discover(["nope", "dangling", "docs", "a.py"], FileRules(Path.cwd()))
    assert result.missing == (("nope", "does not exist"), ("dangling", "is no file or folder"))
    assert result.empty == ("docs",)
    assert [file.name for file in result.files] == ["a.py"]


def test_paths_are_shown_relative_to_the_working_folder(tmp_path: Path) -> None:
    assert shown(tmp_path / "sub" / "a.py") == os.path.join("sub", "a.py")
    assert shown(Path("/elsewhere/a.py")) == "/elsewhere/a.py"
    assert shown(Path(os.fsdecode(b"\xff.py"))) == "\\xff.py"


def test_the_common_root_of_paths(tmp_path: Path) -> None:
    write({"one/a/x.py": "", "one/b/y.py": ""})
    assert common_root(["one/a/x.py", "one/b"]) == tmp_path / "one"
    assert common_root(["one/a/x.py"]) == tmp_path / "one" / "a"
