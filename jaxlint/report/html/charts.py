"""The pictures: compilations as bars, paired ratios as dots, errors beside what rounding allows.

All are drawn 340 units wide, which is the width of a telephone, and never larger than that on a desk, so that their
texts keep their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from xml.etree.ElementTree import Element

from jaxlint.model import Compiled, Counts, Deviation, Speedup, Timed
from jaxlint.report.figures import number
from jaxlint.report.html.elements import Child, element
from jaxlint.report.html.scale import Log, drawable

_WIDTH, _LEFT, _RIGHT = 340.0, 8.0, 332.0
_ROW, _BAR, _MOST = 56.0, 14.0, 8


def compilations(name: str, program: Counts | None, callables: Sequence[Compiled]) -> Element | None:
    """Bars for the whole program and each callable that compiles; None where nothing was counted."""
    rows = [("the program", program.before, program.after)] if program else []
    compiled = [one for one in callables if one.before or one.after]
    rows += [(f"{one.what}, {one.calls} warm calls", one.before, one.after) for one in compiled[: _MOST - 1]]
    if not rows:
        return None
    most = max(1, *(max(row[1:]) for row in rows))
    bars = [part for index, row in enumerate(rows) for part in _pair_of_bars(row, index * _ROW, most)]
    told = "; ".join(f"{what}: {before} before, {after} after" for what, before, after in rows)
    return _picture(name, "Compilations", told, len(rows) * _ROW, bars)


def _pair_of_bars(row: tuple[str, int, int], top: float, most: int) -> Iterator[Element]:
    what, before, after = row
    yield _text(_short(what), _LEFT, top + 12, class_="name")
    for value, word, y in ((before, "before", top + 18), (after, "after", top + 21 + _BAR)):
        length = (_RIGHT - 60 - 34) * value / most
        yield _text(word, _LEFT, y + 11)
        yield element("rect", x=60, y=y, width=max(length, 1.5), height=_BAR, rx=2, class_=f"bar {word}")
        yield _text(str(value), 60 + max(length, 1.5) + 6, y + 11, class_="value")


def ratios(name: str, timed: Timed, gain: Speedup) -> Element:
    """A dot for each round, the first on top: how many times as long the original took, with interval and median."""
    ordered = sorted(timed.ratios)
    edge = max(1, len(ordered) // 50)
    inner = ordered[edge:-edge] or ordered
    low, high = drawable(min(1.0, inner[0], gain.low)), drawable(max(1.0, inner[-1], gain.high))
    axis = Log(low / 1.04, high * 1.04, _LEFT + 14, _RIGHT - 14)
    top, bottom = 22.0, 142.0
    step = (bottom - top) / len(timed.ratios)
    dots = [_dot(axis, one, top + (index + 0.5) * step) for index, one in enumerate(timed.ratios)]
    one, middle = axis.at(1.0), axis.at(gain.ratio)
    width = max(axis.at(gain.high) - axis.at(gain.low), 1.0)
    marks = [
        element("rect", x=axis.at(gain.low), y=top, width=width, height=bottom - top, class_="interval"),
        element("line", x1=one, x2=one, y1=top - 4, y2=bottom, class_="equal"),
        element("line", x1=middle, x2=middle, y1=top, y2=bottom, class_="median"),
        _text("equal", one, 13, text_anchor=_anchor(one)),
    ]
    if abs(middle - one) > 90:
        marks.append(_text(f"median {number(gain.ratio)}x", middle, 13, text_anchor=_anchor(middle), class_="value"))
    outside = sum(not axis.low <= ratio <= axis.high for ratio in ordered)
    told = (
        f"{len(ordered)} rounds of {timed.calls} calls of {timed.what}: median {number(gain.ratio)} times as fast, "
        f"interval {number(gain.low)} to {number(gain.high)}" + (f"; outside of the picture: {outside}" * bool(outside))
    )
    ticks = _axis(axis, axis.ticks(34, [1.0]), bottom, lambda value: f"{value:g}x")
    title = "Speed-up, round by round (line: median, band: interval)"
    return _picture(name, title, told, bottom + 22, [*marks, *dots, *ticks])


def errors(name: str, deviations: Sequence[Deviation]) -> Element | None:
    """For each comparison the error, as a dot, on the stretch that rounding may cover; None without comparisons."""
    rows = sorted(deviations, key=lambda one: -one.error / drawable(one.allowed))[:_MOST]
    if not rows:
        return None
    values = [drawable(value) for row in rows for value in (row.error, row.allowed) if value] or [1.0]
    axis = Log(min(values) / 30, max(values) * 10, _LEFT + 30, _RIGHT - 10)
    bottom = len(rows) * 40.0 + 4
    parts = [part for index, row in enumerate(rows) for part in _stretch(row, index * 40.0, axis)]
    ticks = _axis(axis, axis.decades(44), bottom, lambda value: f"{value:.0e}")
    zero = _text("0", _LEFT + 6, bottom + 15, text_anchor="middle")
    told = "; ".join(f"{row.what}: {row.error:.2g} against {row.against}, {row.allowed:.2g} allowed" for row in rows)
    return _picture(name, "Largest error and what rounding allows", told, bottom + 22, [*parts, zero, *ticks])


def _stretch(row: Deviation, top: float, axis: Log) -> Iterator[Element]:
    middle, end = top + 28, axis.at(row.allowed)
    x = axis.at(row.error) if row.error else _LEFT + 6
    yield _text(_short(row.what, 24), _LEFT, top + 13, class_="name")
    yield _text(f"{row.error:.2g} of {row.allowed:.2g} allowed", _RIGHT, top + 13, text_anchor="end", class_="value")
    yield element("rect", x=_LEFT, y=middle - 4, width=end - _LEFT, height=8, class_="allowed")
    yield element("line", x1=end, x2=end, y1=middle - 7, y2=middle + 7, class_="bound")
    if row.error <= row.allowed:
        yield element("circle", cx=x, cy=middle, r=4.5, class_="error")
    else:  # told apart by its form too
        d = f"M{x - 5:.6g} {middle - 5:.6g}l10 10m0 -10l-10 10"
        yield element("path", d=d, class_="excess")


def _axis(axis: Log, ticks: Sequence[float], y: float, say: Callable[[float], str]) -> Iterator[Element]:
    yield element("line", x1=_LEFT, x2=_RIGHT, y1=y, y2=y, class_="axis")
    for value in ticks:
        x = axis.at(value)
        yield element("line", x1=x, x2=x, y1=y, y2=y + 4, class_="axis")
        yield _text(say(value), x, y + 15, text_anchor="middle")


def _dot(axis: Log, ratio: float, y: float) -> Element:
    """Hollow at the edge, for what lies outside."""
    inside = axis.low <= ratio <= axis.high
    return element("circle", cx=axis.at(ratio), cy=y, r=2.2, class_="round" if inside else "outside")


def _anchor(x: float) -> str:
    return "start" if x < 60 else "end" if x > _WIDTH - 60 else "middle"


def _text(content: str, x: float, y: float, **attributes: str) -> Element:
    return element("text", content, x=x, y=y, **attributes)


def _short(text: str, most: int = 44) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _picture(name: str, title: str, told: str, height: float, parts: Sequence[Child]) -> Element:
    """A figure with a caption; `told` says the same to those who do not see it."""
    svg = element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", told, id=f"{name}-desc"),
        parts,
        view_box=f"0 0 {_WIDTH:g} {height:g}",
        width=_WIDTH,
        height=height,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )
    return element("figure", element("figcaption", title), svg)
