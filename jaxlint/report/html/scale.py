"""Logarithmic axes: where a number is drawn, and which numbers are written beside an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

_STEPS = (1.0, 2.0, 5.0, 1.5, 3.0, 1.2, 1.1, 1.05, 0.9, 0.95, 7.0, 8.0)
"""What is written, in units of a decade: the roundest first, the finer ones where there is room."""


SMALLEST, LARGEST = 1e-290, 1e290
"""Between these all that is done with an axis stays within the range of floats."""


def drawable(value: float) -> float:
    """The value, or the nearest that an axis can have."""
    return min(max(value, SMALLEST), LARGEST)


class Log(Struct, frozen=True):
    """A logarithmic axis from `low` to `high` (both above zero) drawn between two places."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value; what lies outside is drawn at the end of the axis."""
        clipped = min(max(value, self.low), self.high)
        share = (math.log10(clipped) - math.log10(self.low)) / self._decades
        return self.start + share * (self.end - self.start)

    @property
    def _decades(self) -> float:
        return math.log10(self.high) - math.log10(self.low)

    def ticks(self, distance: float, first: Iterable[float] = ()) -> list[float]:
        """Round numbers on the axis at least `distance` apart, those in `first` before all others."""
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        wanted = [*first, *(step * 10.0**decade for step in _STEPS for decade in decades)]
        chosen: list[float] = []
        for value in wanted:
            inside = self.low <= value <= self.high
            if inside and all(abs(self.at(value) - self.at(other)) >= distance for other in chosen):
                chosen.append(value)
        return sorted(chosen)

    def decades(self, distance: float) -> list[float]:
        """Powers of ten on the axis at least `distance` apart, evenly spaced."""
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        width = abs(self.end - self.start) / self._decades
        step = max(1, math.ceil(distance / width))
        return [10.0**decade for decade in range(first, last + 1, step)]
