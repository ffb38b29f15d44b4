"""From sources to findings: the modules are run abstractly, and the rules look at what happens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from jaxlint.model import Finding

if TYPE_CHECKING:
    from jaxlint.analysis.project import Lower, Source
    from jaxlint.config.targets import Target

Failed = Callable[[str, Exception], None]


def analyse(
    sources: Sequence[Source],
    *,
    target: Target,
    wrappers: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
    paths: Collection[str] | None = None,
    lower: Lower | None = None,
    on_failure: Failed | None = None,
) -> list[Finding]:
    """The findings of all rules, or of those named in `only`, in the order of files and lines.

    Args:
        sources: the decoded files of the project; imports between them are followed. Those of JAX and the other
            packages that the API table describes are not looked at.
        target: the JAX versions that the project allows.
        wrappers: users' own transforms and control-flow functions by dotted name, with the known one that each is like.
        only: names of the rules to run.
        paths: the files to look at for their own sake; without it, all.
        lower: turns texts into statements; without it, the parser does so each time.
        on_failure: told of each file that could not be analysed, and why; without it the error is raised.
    """
    from jaxlint.analysis.project import is_described

    sources = [source for source in sources if not is_described(source.path)]
    chosen = [source for source in sources if paths is None or source.path in paths]
    looked_at = _relevant(chosen, wrappers or {})
    if not looked_at:
        return []
    from jaxlint.analysis.run import findings
    from jaxlint.lowering import Lowering

    lower = lower or Lowering()
    lower.ahead([source.text for source in looked_at])
    return findings(sources, looked_at, target, wrappers or {}, only, lower, on_failure or _raise)


def _relevant(sources: Sequence[Source], wrappers: Mapping[str, str]) -> list[Source]:
    """The sources that are looked at for their own sake.

    A file that names no package with transforms is not looked at, unless one that does imports it.
    """
    from jaxlint.analysis.ecosystem import packages

    markers = packages(wrappers)
    return [source for source in sources if any(marker in source.text for marker in markers)]


def _raise(path: str, error: Exception) -> None:
    raise error
