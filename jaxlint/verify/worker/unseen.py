"""What calls that nobody makes do not show: other values than defaults where the change concerns them."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.verify.jobs import Target
from jaxlint.verify.worker import overlay
from jaxlint.verify.worker.record import Call
from jaxlint.verify.worker.side import Side
from jaxlint.verify.worker.synthesise import names_given, optional
from jaxlint.verify.worker.usage import mentions


def untried(target: Target, calls: Sequence[Call], before: Side, after: Side, file: tuple[str, str, str]) -> str:
    """A parameter that the change concerns, and of which no value but its default was given; empty when there is none.

    `file` is the path of the file and the texts of both versions.
    """
    if not target.direct:
        return ""
    function = before.function(target.name)
    given = (names_given(function, call.args, call.kwargs) for call in calls if not call.refused)
    return min(_used_otherwise(target.name, before, after, file).difference(*given), default="")


def _used_otherwise(name: str, before: Side, after: Side, file: tuple[str, str, str]) -> set[str]:
    """Parameters that need not be given, and that one version uses more often than the other."""
    path, *texts = file
    counts = []
    for side, text in zip((before, after), texts, strict=True):
        with overlay.shown(path, text):
            counts.append(mentions(side.function(name)))
    one, two = counts
    return {parameter for parameter in optional(before.function(name)) if one[parameter] != two[parameter]}
