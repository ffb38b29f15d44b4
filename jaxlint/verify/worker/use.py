"""What is known of one value from the text of a function: how it is used."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(slots=True)
class Use:
    """How one value is used; filled in while the function is read, since what it is called changes on the way."""

    attributes: dict[str, Use] = dataclasses.field(default_factory=dict)
    keys: dict[str, Use] = dataclasses.field(default_factory=dict)
    parts: list[Use] = dataclasses.field(default_factory=list)  # of what it is unpacked to
    items: Use | None = None  # of each of its items
    annotations: list[Any] = dataclasses.field(default_factory=list)  # of parameters that it is handed on to
    texts: list[str] = dataclasses.field(default_factory=list)  # that it is compared with
    numbers: list[int] = dataclasses.field(default_factory=list)  # the same
    called: bool = False
    returns: str = ""  # where it is called so: a number, or what the function of a loop returns
    tree: bool = False
    count: bool = False
    key: bool = False
    index: bool = False
    axis: bool = False
    is_complex: bool = False  # it may be, as what is made of it tells
    dims: str | None = None  # its letters in an einsum
    rank: int | None = None  # its very rank
    least: int = 0  # a rank that it has at least

    def attribute(self, name: str) -> Use:
        """The use of what it has under a name."""
        return self.attributes.setdefault(name, Use())

    def item(self) -> Use:
        """The use of each of its items."""
        self.items = self.items or Use()
        return self.items

    def unpacked(self, count: int) -> list[Use]:
        """The uses of the parts that it is unpacked to."""
        self.parts += [Use() for _ in range(count - len(self.parts))]
        return self.parts[:count]


def merge(use: Use, other: Use, *, ranks: bool) -> None:
    """Add what is known of another use of the same value; without `ranks`, of its rows or its parts."""
    for name, inner in other.attributes.items():
        merge(use.attribute(name), inner, ranks=ranks)
    for name, inner in other.keys.items():
        merge(use.keys.setdefault(name, Use()), inner, ranks=ranks)
    for one, two in zip(use.unpacked(len(other.parts)), other.parts, strict=False):
        merge(one, two, ranks=ranks)
    if other.items:
        merge(use.item(), other.items, ranks=ranks)
    for flag in ("called", "tree", "count", "key", "index", "axis", "is_complex"):
        setattr(use, flag, getattr(use, flag) or getattr(other, flag))
    use.annotations += other.annotations
    use.texts += other.texts
    use.numbers += other.numbers
    use.returns = use.returns or other.returns
    if ranks:
        use.dims, use.least = use.dims or other.dims, max(use.least, other.least)
        use.rank = other.rank if use.rank is None else use.rank
