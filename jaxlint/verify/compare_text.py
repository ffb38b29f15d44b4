"""Is printed text the same, up to rounding of its numbers, addresses of objects and measured durations?"""

from __future__ import annotations

import re

_NUMBER = re.compile(
    r"(?<!\w)[-+]?(?:nan|inf)\b|(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)|[-+]?\d+\.\d*(?:[eE][-+]?\d+)?"
)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_TRACER_ID = re.compile(r"\bTracer<.*?>")
_TYPE = re.compile(r", (?:dtype=\w+|weak_type=True)")
_DURATION = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?\s*(?:ns|us|µs|ms|s|sec|secs|seconds|milliseconds)\b", re.I)
_PADDING = re.compile(r"(?<=[\[(])[ \t]+|[ \t]+(?=[\]),])")  # NumPy pads columns to the longest number
_EXACT, _ROUNDED = 4e-6, 1e-3


def compare_text(before: str, after: str, *, heal: bool = False, types: bool = True) -> tuple[str, str]:
    """`(level, why)` with level same, unclear or different.

    `heal` lets any number take the place of a NaN; without `types` the types in the texts of arrays do not count.
    """
    if before == after:
        return "same", ""
    if not types:
        before, after = (_TYPE.sub("", text) for text in (before, after))
    was, now = _mask(before).splitlines(), _mask(after).splitlines()
    one, two = _NUMBER.sub("#", "\n".join(was)).split(), _NUMBER.sub("#", "\n".join(now)).split()
    if one != two:
        return "different", _first_difference(was, now)
    return _compare_numbers("\n".join(was), "\n".join(now), heal)


def smaller_integers(before: str, after: str) -> bool:
    """Whether the texts are the same but for integers that are smaller in the second."""
    was, now = _mask(before), _mask(after)
    if _NUMBER.sub("#", was).split() != _NUMBER.sub("#", now).split():
        return False
    pairs = [(a, b) for a, b in zip(_NUMBER.findall(was), _NUMBER.findall(now), strict=True) if a != b]
    return all(_is_integer(a) and _is_integer(b) and int(b) < int(a) for a, b in pairs)


def is_prefix(before: str, after: str) -> tuple[str, str]:
    """The same for a run that ended early: `after` must begin with `before`."""
    lines = before.splitlines()
    return compare_text("\n".join(lines), "\n".join(after.splitlines()[: len(lines)]))


def _mask(text: str) -> str:
    text = _ADDRESS.sub("0x..", text)
    text = _TRACER_ID.sub("Tracer<..>", text)
    text = _DURATION.sub("<duration>", text)
    return _PADDING.sub("", text)


def _first_difference(was: list[str], now: list[str]) -> str:
    for number, (one, two) in enumerate(zip(was, now, strict=False), 1):
        if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", two).split():
            return f"printed line {number}: {one.strip()[:60]!r} against {two.strip()[:60]!r}"
    return f"{len(was)} printed lines against {len(now)}"


def _compare_numbers(was: str, now: str, heal: bool) -> tuple[str, str]:
    level, why = "same", ""
    one, two = _NUMBER.findall(was), _NUMBER.findall(now)
    # Numbers printed close together most likely belong to one array, and share its scale.
    sizes = [abs(float(n)) if _is_finite(n) else 0.0 for n in one]
    scale = [max(sizes[max(0, i - 8) : i + 9]) for i in range(len(one))]
    for first, second, size in zip(one, two, scale, strict=True):
        if first == second or (heal and first.endswith("nan")):
            continue
        if not (_is_finite(first) and _is_finite(second)):
            return "different", f"printed {first} against {second}"
        found = _number_level(first, second, size)
        if found == "different":
            return found, f"printed {first} against {second}"
        if found == "unclear":
            level, why = found, f"printed {first} against {second}"
    return level, why


def _number_level(first: str, second: str, scale: float) -> str:
    if _is_integer(first) and _is_integer(second):
        return "different"
    gap = abs(float(first) - float(second))
    own = max(abs(float(first)), abs(float(second)))
    if gap <= _EXACT * max(own, scale / 4) or (_digits(first) >= 6 and gap <= 1.01 * _last_place(first)):
        return "same"
    # Rounding hardly ever moves a number that is printed with fewer digits over the edge to the next one.
    return "unclear" if gap <= _ROUNDED * own else "different"


def _is_finite(number: str) -> bool:
    return not number.endswith(("nan", "inf"))


def _is_integer(number: str) -> bool:
    return "." not in number and "e" not in number.lower()


def _digits(number: str) -> int:
    mantissa = number.lower().split("e")[0]
    return len(mantissa.replace(".", "").lstrip("+-0"))


def _last_place(number: str) -> float:
    mantissa, _, exponent = number.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(10.0 ** (int(exponent or 0) - decimals))
