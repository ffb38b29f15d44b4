"""What judges changes, wherever it runs them: on this machine or on the workers of a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from jaxlint.model import Verification
from jaxlint.verify.change import Change


class Judging(ABC):
    """A context manager that judges changes; what it started ends with it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End what was started and remove what it left."""

    @abstractmethod
    def check(self) -> None:
        """Start what runs the changes. Raises `Unavailable` where something is missing, with what to do."""

    @abstractmethod
    def iterate(self, changes: Sequence[Change]) -> Iterator[Verification]:
        """The verdicts in the order of the changes, one at a time as they come in."""

    def verify_all(self, changes: Sequence[Change]) -> list[Verification]:
        """Judge all changes, in this order."""
        return list(self.iterate(changes))
