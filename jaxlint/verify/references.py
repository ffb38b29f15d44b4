"""What stands in for an original that fails or is meant to change: the worlds to run it in, and their names."""

from __future__ import annotations

from jaxlint.verify.jobs import Fault, World

MISSING = {"AttributeError", "ImportError", "ModuleNotFoundError"}
"""How a program ends that uses a name which is not there."""

_VERSIONS = {"deprecated-api", "mesh-axis-types", "removed-api"}
_NAMES = {
    World.RESTORED: "the original with removed names and former defaults put back",
    World.EAGER: "eager semantics (the original without jit)",
    World.LOOPS: "the original with vmap and control flow as Python loops, without jit",
    World.LENIENT: "the original with transforms that take what JAX refuses",
    World.WIDE: "the original run with 64-bit types switched on",
}
# How the lenient world reads what these rules report.
_READINGS = {
    "at-result-discarded": "the original where `x.at[i].set(v)` as a statement changes x itself",
    "control-flow-signature": "the original as Python control flow, where values may stand for functions "
    "and a scan needs no outputs",
    "grad-int-input": "the derivative at the equal floats, taken in forward mode",
    "grad-kwargs": "the derivative by the argument of that name, taken in forward mode",
    "grad-nonscalar": "the derivative of the first output, taken in forward mode",
    "has-aux": "value, auxiliary output and derivative (in forward mode), unpacked in this order",
    "in-axes-arity": "a Python loop over the examples, where entries for arguments that are not passed do not count",
    "in-axes-kwargs": "a Python loop over the examples, where arguments passed by name have the entry of their place",
    "in-axes-pytree": "a Python loop over the examples, where False is read as None",
    "in-axes-rank": "a Python loop over the examples, where vectors are mapped along their only axis",
    "inplace-assign": "the original where `x[i] = v` changes x itself",
    "out-axes": "a Python loop over the examples, where outputs that depend on the example are stacked at 0",
    "unbound-axis": "the original with the axis name bound by the vmap around it",
}
_SILENT = {"at-result-discarded", "in-axes-kwargs"}  # of those, the rules whose original runs to its end


def name_of(world: World, rule: str | None) -> str:
    """What the user is told that the result was compared with."""
    return _READINGS.get(rule or "", _NAMES[world]) if world is World.LENIENT else _NAMES[world]


def worlds(rule: str | None, fault: Fault | None) -> tuple[World, ...]:
    """The worlds to try, in this order, for an original that fails with `fault`, or prints what it should not."""
    eager = (World.EAGER, World.LOOPS)
    if fault is None and rule is None:
        return ()
    if fault is None and rule == "x64-dtype":
        return (World.WIDE,)
    if fault is None:
        return (*eager, World.LENIENT) if rule in _SILENT else eager
    if fault.type in MISSING or rule in _VERSIONS:
        return (World.RESTORED, *eager)
    return (*eager, World.LENIENT) if rule is None or rule in _READINGS else eager


def worlds_without_tracing(rule: str | None) -> tuple[World, ...]:
    """The worlds in which both versions can be compared when what differs are signs of tracing, or errors caught."""
    return (World.EAGER, World.LOOPS, *((World.LENIENT,) if rule in _READINGS else ()))
