"""The page of each rule: Markdown with what it finds, why it matters, and examples."""

from __future__ import annotations

from pathlib import Path

from jaxlint import rules


def page(name: str) -> str | None:
    """The page of a rule, or None where it has none yet."""
    file = page_file(name)
    return file.read_text("utf-8") if file else None


def page_file(name: str) -> Path | None:
    """The file of a rule's page, or None where it has none yet."""
    files = (folder / f"{name}.md" for folder in _folders())
    return next((file for file in files if file.is_file()), None)


def _folders() -> tuple[Path, ...]:
    """Where pages are: beside the rules in an installed package, at the top of a working copy."""
    package = Path(rules.__file__).parent
    return package / "pages", package.parent.parent / "rules"
