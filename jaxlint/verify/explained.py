"""Real runs that differ only in what tracing shows: counts of traces, texts of tracers, errors that are caught.

Pure functions on what two runs left behind.
"""

from __future__ import annotations

import re
from collections import Counter

from jaxlint.verify.compare_text import compare_text, is_prefix, smaller_integers
from jaxlint.verify.compare_values import Captured, compare
from jaxlint.verify.runs import Run, names_of, part_of

_TRACER = re.compile(r"\w*Tracer[<(]")


def explanation(before: Run, after: Run) -> str | None:
    """What the fixed version does better, as far as it explains that the two differ; None when nothing does.

    Both runs must have noted the errors that passed through the program.
    """
    if _only_fewer(before, after):
        was, now = before.result.compiles, after.result.compiles
        return f"{now} compilations instead of {was}" if now < was else ""
    gone = len(before.result.errors) - len(after.result.errors)
    if _gets_further(before, after):
        return f"the original ends at line {_line(before)}, the fixed version gets to line {_line(after)}"
    if before.result.fault or after.result.fault:
        return None
    if gone > 0:
        return f"{gone} of {len(before.result.errors)} errors that the program catches are gone"
    fewer = len(_TRACER.findall(before.stdout)) - len(_TRACER.findall(after.stdout))
    return f"{fewer} tracers fewer are printed" if fewer > 0 else None


def lies_between(before: Run, after: Run, meant: Run) -> bool:
    """Whether each line that the fixed version prints is one of the original's, or one of those that are meant.

    An error that is gone takes one line with it at most: that of the handler which told of it.
    """
    if smaller_integers(before.stdout, after.stdout):
        return True
    known, kept = Counter(before.stdout.splitlines()), Counter(after.stdout.splitlines())
    gone = len(before.result.errors) - len(after.result.errors)
    if gone > 0 and not before.result.fault and (known - kept).total() > gone:
        return False
    new = (line for line in after.stdout.splitlines() if not known[line])
    wanted = meant.stdout.splitlines()
    return all(any(compare_text(line, other)[0] == "same" for other in wanted) for line in new)


def _line(run: Run) -> int | None:
    return run.result.fault.line if run.result.fault else None


def _gets_further(before: Run, after: Run) -> bool:
    """Whether both fail, the fixed version after more of the program."""
    if not before.result.fault or not after.result.fault:
        return False
    is_later = (_line(before) or 0) < (_line(after) or 0) or len(before.stdout) < len(after.stdout)
    return is_later and is_prefix(before.stdout, after.stdout)[0] == "same"


def _only_fewer(before: Run, after: Run) -> bool:
    """Whether the two runs differ in nothing but integers that are smaller in the second."""
    if before.result.status != after.result.status or not smaller_integers(before.stdout, after.stdout):
        return False
    common = {name for name in names_of(before) & names_of(after) if not _grows_less(before, after, name)}
    one, two = part_of(before, common), part_of(after, common)
    return compare(_clipped(one, two), two).level == "same"


def _grows_less(before: Run, after: Run, name: str) -> bool:
    """Whether a global is a collection that the second run has filled with fewer of the same things."""
    was, now = ({leaf.path for leaf in part_of(run, {name}).leaves} for run in (before, after))
    return now < was


def _clipped(before: Captured, after: Captured) -> Captured:
    """The first with its Python integers replaced by those of the second where these are smaller."""
    counts = {leaf.path for leaf in before.leaves if leaf.kind == "number" and leaf.dtype == "int"}
    arrays = dict(before.arrays)
    for path in counts & after.arrays.keys():
        if after.arrays[path] < arrays[path]:
            arrays[path] = after.arrays[path]
    return Captured(before.leaves, arrays)
