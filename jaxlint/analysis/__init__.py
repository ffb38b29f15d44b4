"""From sources to findings: the modules are run abstractly, and the rules look at what happens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jaxlint.model import Finding

if TYPE_CHECKING:
    from jaxlint.analysis.project import Source
    from jaxlint.config.targets import Target

Failed = Callable[[str, Exception], None]

MARKERS = ("jax", "flax", "equinox", "haiku")
"""A file in which none of these words stands is not looked at, unless a file that is imports it."""


def analyse(
    sources: Sequence[Source],
    *,
    target: Target,
    wrappers: Mapping[str, Any] | None = None,
    only: Collection[str] | None = None,
    on_failure: Failed | None = None,
) -> list[Finding]:
    """The findings of all rules, or of those named in `only`, in the order of files and lines.

    Args:
        sources: the decoded files of the project; imports between them are followed.
        target: the JAX versions that the project allows.
        wrappers: users' own transforms, by dotted name.
        only: names of the rules to run.
        on_failure: told of each file that could not be analysed, and why; without it the error is raised.
    """
    relevant = [source for source in sources if any(marker in source.text for marker in MARKERS)]
    if not relevant:
        return []
    from jaxlint.analysis.run import findings

    return findings(sources, relevant, target, wrappers or {}, only, on_failure or _raise)


def _raise(path: str, error: Exception) -> None:
    raise error
