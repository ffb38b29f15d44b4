"""The value types that every stage passes on: where something is, what is wrong there, and how to mend it.

Positions follow the JSON contract: lines and columns count from 1, columns in Unicode code points of the
decoded text, and the end is exclusive (the column after the last character).
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Severity(StrEnum):
    """How bad a finding is: an error fails or gives wrong results, a warning costs time, info is a hint."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Safety(StrEnum):
    """What a fix promises (see `Fix`)."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


class Span(Struct, frozen=True, order=True, array_like=True):
    """A range of the text; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Edit(Struct, frozen=True, order=True):
    """Replace what `span` covers by `content` (line ends in `content` are `\\n`; the writer adapts them).

    `cell` is the cell of a notebook that `span` speaks of; without it, `span` speaks of the whole program.
    """

    span: Span
    content: str
    cell: int | None = None


class Fix(Struct, frozen=True):
    """A repair. `safe` keeps the program's meaning for every input, `unsafe` nearly always, `display` is to read.

    The edits of one fix belong together: all of them are applied, or none.
    """

    safety: Safety
    message: str
    edits: tuple[Edit, ...]


class Step(Struct, frozen=True):
    """One step of the explanation why something is so, at a place of some file."""

    path: str
    line: int
    message: str
    cell: int | None = None

    @property
    def place(self) -> str:
        """Where it is, for people: the file, and in a notebook the cell."""
        return self.path if self.cell is None else f"{self.path}:cell {self.cell}"


class Speedup(Struct, frozen=True):
    """How many times faster the fixed version is, with a confidence interval."""

    ratio: float
    low: float
    high: float


class Counts(Struct, frozen=True):
    """The same count taken in the original and in the fixed version."""

    before: int
    after: int


class Deviation(Struct, frozen=True):
    """The difference, among those of one comparison, that comes nearest to what rounding may cause, and that bound.

    `what` was compared, with the result `against`.
    """

    what: str
    against: str
    error: float
    allowed: float


class Compiled(Struct, frozen=True):
    """How often one callable was compiled in `calls` warm calls, in the original and in the fixed version."""

    what: str
    calls: int
    before: int
    after: int


class Timed(Struct, frozen=True):
    """The paired ratios original/fixed of one callable, in the order of the rounds; each time is that of `calls`."""

    what: str
    calls: int
    ratios: tuple[float, ...]


class Evidence(Struct, frozen=True):
    """What the figures of a verdict are drawn from, for those who want to see it."""

    errors: tuple[Deviation, ...] = ()
    compiles: tuple[Compiled, ...] = ()
    timed: Timed | None = None
    hardware: str = ""  # the name of the accelerator, where it ran on one


class Verdict(StrEnum):
    """What running both versions showed."""

    CONFIRMED = "confirmed"
    SAME = "same"
    DIFFERENT = "different"
    UNVERIFIED = "unverified"


class Verification(Struct, frozen=True):
    """The verdict on one change and the evidence for it; what was not measured is None."""

    verdict: Verdict
    reason: str
    same: bool | None = None
    max_abs_error: float | None = None
    inputs: str | None = None
    speedup: Speedup | None = None
    traces: Counts | None = None
    compiles: Counts | None = None
    device: str | None = None
    jax: str | None = None
    evidence: Evidence | None = None


class Finding(Struct, frozen=True):
    """One thing that is wrong at one place, with the steps that lead there."""

    code: str
    name: str
    severity: Severity
    path: str
    span: Span
    message: str
    because: tuple[Step, ...] = ()
    fix: Fix | None = None
    cell: int | None = None
    verification: Verification | None = None

    @property
    def place(self) -> str:
        """Where it is, for people: the file, and in a notebook the cell."""
        return self.path if self.cell is None else f"{self.path}:cell {self.cell}"

    @property
    def span_in_file(self) -> Span:
        """Where it is, for tools that count the lines of the file: of a notebook, which is JSON, the start."""
        return self.span if self.cell is None else Span(1, 1, 1, 1)

    @property
    def message_in_file(self) -> str:
        """The message, which says where it is in a notebook."""
        cell = "" if self.cell is None else f"cell {self.cell}, line {self.span.line}: "
        return f"{cell}{self.message}"
