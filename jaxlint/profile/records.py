"""The lines that the recorder in the profiled program writes (`child/recorder.py`), as values."""

from __future__ import annotations

import msgspec
from msgspec import Struct


class Leaf(Struct, frozen=True):
    """One array or number of an argument. `source` is `numpy` or the Python type that it came as, or empty."""

    path: str
    shape: tuple[int | str, ...]
    dtype: str
    weak: bool
    source: str = ""
    placement: str = ""


class Site(Struct, frozen=True):
    """A line of the program and the instruction in it, the function around and its first and last line."""

    file: str
    line: int
    instruction: int
    function: str
    first: int
    last: int


class Start(Struct, frozen=True, tag="start"):
    """The first thing that JAX did."""

    jax: str


class Ready(Struct, frozen=True, tag="ready"):
    """The program is about to run."""


class Refused(Struct, frozen=True, tag="refused"):
    """The program could not be run."""

    text: str


class Trouble(Struct, frozen=True, tag="trouble"):
    """Something that the recorder did not understand; it went on."""

    text: str


class Function(Struct, frozen=True, tag="function"):
    """A function by its code. `around` are its wrappers from outside in, `origin` whose code it is."""

    id: int
    kind: str
    key: str
    label: str
    name: str
    file: str
    line: int
    last: int
    nested: bool
    origin: str
    around: tuple[str, ...]


class Argument(Struct, frozen=True, tag="argument"):
    """One argument of a call: its pytree with `*` for the leaves, or the text of a static value."""

    id: int
    name: str
    keyword: bool
    static: bool
    value: str = ""
    structure: str = "*"
    leaves: tuple[Leaf, ...] = ()


class Settings(Struct, frozen=True, tag="settings"):
    """JAX's settings at a call."""

    id: int
    values: dict[str, str]


class Call(Struct, frozen=True, tag="call"):
    """A call that was not cached. `objects` number the function objects, `under` names the tracers of its arguments."""

    id: int
    function: int
    objects: tuple[int, ...]
    arguments: tuple[int, ...]
    under: tuple[str, ...]
    options: dict[str, str]
    ahead: bool
    settings: int
    site: Site | None


class Event(Struct, frozen=True, tag="event"):
    """One trace, lowering or compilation; `name` and `site` where it belongs to no call."""

    kind: str
    call: int | None
    seconds: float
    platform: str = ""
    name: str = ""
    site: Site | None = None


Record = Start | Ready | Refused | Trouble | Function | Argument | Settings | Call | Event


class Recording(Struct, frozen=True):
    """Everything that was recorded, by number."""

    jax: str = ""
    ready: bool = False
    refused: str = ""
    trouble: tuple[str, ...] = ()
    functions: dict[int, Function] = {}
    arguments: dict[int, Argument] = {}
    settings: dict[int, Settings] = {}
    calls: dict[int, Call] = {}
    events: tuple[Event, ...] = ()


def read(data: bytes) -> Recording:
    """Reads the lines. The last may be cut off where the program was killed; it is left out then."""
    records = list(_records(data))
    by_type: dict[type, list[Record]] = {}
    for record in records:
        by_type.setdefault(type(record), []).append(record)
    return Recording(
        jax=next((one.jax for one in records if isinstance(one, Start)), ""),
        ready=Ready in by_type,
        refused=next((one.text for one in records if isinstance(one, Refused)), ""),
        trouble=tuple(one.text for one in records if isinstance(one, Trouble)),
        functions={one.id: one for one in records if isinstance(one, Function)},
        arguments={one.id: one for one in records if isinstance(one, Argument)},
        settings={one.id: one for one in records if isinstance(one, Settings)},
        calls={one.id: one for one in records if isinstance(one, Call)},
        events=tuple(one for one in records if isinstance(one, Event)),
    )


def _records(data: bytes) -> list[Record]:
    decoder = msgspec.json.Decoder(Record)
    whole = data[: data.rfind(b"\n") + 1]
    return [decoder.decode(line) for line in whole.splitlines() if line]
