"""Which versions of JAX the checked code is meant to run with.

A project that asks for `jax>=0.4.30` runs with 0.4.30 and with the newest JAX alike. Both ends matter: a name is
reported once *any* allowed version has removed it, and a fix is offered only when its replacement exists in
*every* allowed version.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

# The newest release that the table of API changes knows.
NEWEST = "0.12.0"


class TargetError(ValueError):
    """The text is not a version of JAX; the message says what one looks like."""


class Target(Struct, frozen=True):
    """The oldest and the newest version of JAX that the code must run with, both included."""

    minimum: str
    maximum: str


LATEST = Target(NEWEST, NEWEST)


def exactly(text: str) -> Target:
    """The target for one version, as `--target-jax` gives it. Raises `TargetError`."""
    try:
        version = str(Version(text.strip()))
    except InvalidVersion:
        raise TargetError(f"`{text}` is not a version of JAX; write it like `0.4.30` or `{NEWEST}`") from None
    return Target(version, version)


def from_requirements(lines: Iterable[str]) -> Target | None:
    """The target that requirement lines (PEP 508) ask for, or None where none of them bounds JAX.

    Several lines for JAX (an extra, a group) widen the range: the code must run with each of them. Lines that
    are no requirements are skipped, for requirements files hold options and addresses too.
    """
    ranges = [_bounds(specifiers) for specifiers in map(_jax_specifiers, lines) if specifiers]
    lows = [low for low, _ in ranges if low]
    highs = [high for _, high in ranges]
    if not ranges or (not lows and None in highs):
        return None
    newest = Version(NEWEST)
    minimum = min(lows, default=None)
    maximum = newest if None in highs else min(newest, max(high for high in highs if high))
    if minimum and minimum > maximum:
        maximum = minimum
    return Target(str(minimum or maximum), str(maximum))


def _jax_specifiers(line: str) -> SpecifierSet | None:
    try:
        requirement = Requirement(line.split(" #")[0].split(" --")[0].rstrip("\\ \t"))
    except InvalidRequirement:
        return None
    return requirement.specifier if requirement.name.lower() == "jax" else None


def _bounds(specifiers: SpecifierSet) -> tuple[Version | None, Version | None]:
    lows: list[Version] = []
    highs: list[Version] = []
    for specifier in specifiers:
        wildcard = specifier.version.endswith(".*")
        try:
            version = Version(specifier.version.removesuffix(".*"))
        except InvalidVersion:  # `===` takes any text
            continue
        if specifier.operator in {"==", "===", "~=", ">=", ">"}:
            lows.append(version)
        if specifier.operator == "==" and wildcard:
            highs.append(_before(_bump(version.release)))
        elif specifier.operator == "~=":
            highs.append(_before(_bump(version.release[:-1])))
        elif specifier.operator in {"==", "===", "<="}:
            highs.append(version)
        elif specifier.operator == "<":
            highs.append(_before(version.release))
    return max(lows, default=None), min(highs, default=None)


def _bump(release: tuple[int, ...]) -> tuple[int, ...]:
    return (*release[:-1], release[-1] + 1)


def _before(release: tuple[int, ...]) -> Version:
    """What stands just below a release: `0.5` itself is not allowed by `<0.5`, every 0.4 is."""
    return Version(".".join(map(str, release)) + ".dev0")
