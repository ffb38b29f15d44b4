"""What made-up calls do not show: other values than defaults, derivatives, and whether a function can be traced."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.verify.jobs import Target
from jaxlint.verify.worker import overlay
from jaxlint.verify.worker.record import Call
from jaxlint.verify.worker.side import Side
from jaxlint.verify.worker.synthesise import optional
from jaxlint.verify.worker.transformed import told_apart
from jaxlint.verify.worker.usage import mentions


def unseen(
    target: Target, calls: Sequence[Call], good: Call | None, before: Side, after: Side, file: tuple[str, str, str]
) -> str:
    """Why calls on which both versions do the same do not settle the matter; empty when they do.

    `good` is one that both take, `file` the path of the file and the texts of both versions.
    """
    name = target.name
    concerned = _used_otherwise(name, before, after, file) if target.direct else set[str]()
    untried = sorted(concerned.difference(*(call.kwargs for call in calls if not call.refused)))
    if untried:
        return f"{name}: the change concerns {untried[0]}, and no value but its default was found; say one"
    return told_apart(name, good, before, after) if good else ""


def _used_otherwise(name: str, before: Side, after: Side, file: tuple[str, str, str]) -> set[str]:
    """Parameters that need not be given, and that one version uses more often than the other."""
    path, *texts = file
    counts = []
    for side, text in zip((before, after), texts, strict=True):
        with overlay.shown(path, text):
            counts.append(mentions(side.function(name)))
    one, two = counts
    return {parameter for parameter in optional(before.function(name)) if one[parameter] != two[parameter]}
