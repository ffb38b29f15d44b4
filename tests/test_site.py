"""The documentation site is built, and a link that leads nowhere is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint.registry import rules

ROOT = Path(__file__).parents[1]


def built(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    command = ["-m", "sphinx", "-W", "-n", "-q", "--keep-going", "-c", str(ROOT / "docs"), "-b", "html"]
    return subprocess.run([sys.executable, *command, str(source), str(target)], capture_output=True, text=True)


def test_the_site_has_a_page_for_each_rule_and_no_broken_link(tmp_path: Path) -> None:
    ended = built(ROOT, tmp_path)
    assert ended.returncode == 0, ended.stderr
    table = (tmp_path / "docs" / "rules.html").read_text("utf-8")
    for rule in rules():
        assert f"../rules/{rule.name}.html" in table
        assert rule.code in (tmp_path / "rules" / f"{rule.name}.html").read_text("utf-8")


@pytest.mark.parametrize("link", ["nope.md", "index.md#nowhere"])
def test_a_broken_link_is_an_error(tmp_path: Path, link: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Start\n\n[more]({link})\n")
    ended = built(tmp_path, tmp_path / "site")
    assert ended.returncode != 0 and "xref_missing" in ended.stderr
