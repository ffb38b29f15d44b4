"""The page of each rule: Markdown with what it finds, why it matters, and examples."""

from __future__ import annotations

from pathlib import Path

from jaxlint import rules


def page(name: str) -> str | None:
    """The page of a rule, or None where it has none yet."""
    for folder in _folders():
        file = folder / f"{name}.md"
        if file.is_file():
            return file.read_text("utf-8")
    return None


def _folders() -> tuple[Path, ...]:
    """Where pages are: beside the rules in an installed package, at the top of a working copy."""
    package = Path(rules.__file__).parent
    return package / "pages", package.parent.parent / "rules"
