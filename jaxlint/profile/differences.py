"""What differs between two calls of one function, in the terms of what JAX keys its caches on.

Measured on JAX 0.4.30, 0.5.3 and 0.10.2: a call is traced again for another shape, dtype, weak type, pytree, static
value, split into positional and keyword arguments, function object, or setting in `RETRACING`; not for the value of a
number, the order of a dict's keys, NumPy instead of JAX arrays, or float64 input while 64-bit types are off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import takewhile

from msgspec import Struct, structs

from jaxlint.profile.records import Argument, Call, Leaf, Recording, Settings


class Cause(StrEnum):
    """What about a call was new."""

    FUNCTION = "function object"
    BODY = "body function"
    SHAPE = "shape"
    DTYPE = "dtype"
    WEAK_TYPE = "weak type"
    STRUCTURE = "pytree structure"
    STATIC = "static value"
    ARGUMENTS = "arguments passed"
    KEYWORD = "keyword or position"
    PLACEMENT = "placement"
    TRANSFORM = "transform around"
    OPTIONS = "options of jit"
    SETTING = "setting of JAX"
    UNKNOWN = "unknown"


class Difference(Struct, frozen=True):
    """One thing that was new. `argument` is the parameter's name, `path` the place in its pytree.

    `others` counts the further leaves of the same argument that differ in the same way.
    """

    cause: Cause
    argument: str = ""
    path: str = ""
    before: str = ""
    after: str = ""
    python_number: bool = False
    others: int = 0


RETRACING = frozenset(
    {
        "check_vma", "eager_constant_folding", "jax_allow_f16_reductions", "jax_auto_pcast",
        "jax_check_static_indices", "jax_custom_vjp3", "jax_default_device", "jax_default_matmul_precision",
        "jax_dynamic_shapes", "jax_embedded_constants_max_bytes", "jax_enable_memories", "jax_enable_pgle",
        "jax_enable_x64", "jax_no_execution", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion",
        "jax_pallas_enable_debug_checks", "jax_pallas_use_mosaic_gpu", "jax_pgle_profiling_runs",
        "jax_ragged_dot_use_gpu_pallas_triton_lowering", "jax_random_seed_offset", "jax_remat3",
        "jax_remove_size_one_mesh_axis_from_type", "jax_scan3", "jax_softmax_custom_jvp",
        "jax_threefry_gpu_kernel_lowering", "jax_threefry_partitionable", "jax_use_direct_linearize",
        "jax_use_emit_pipeline_primitive", "jax_use_shardy_partitioner", "jax_use_simplified_jaxpr_constants",
        "jax_varying_axes_in_types", "jax_xla_profile_version", "mesh",
    }
)  # fmt: skip
"""The settings that, changed by themselves, made a compiled function compile again (0.4.30, 0.5.3, 0.10.2)."""

_TRANSFORMS = {"JVPTracer": "jvp or grad", "BatchTracer": "vmap", "LinearizeTracer": "grad", "JaxprTracer": "grad"}
_NUMBER = re.compile(r"#\d+")
_OBJECT = re.compile(r"([\w.<>]*(?:\([^()#]*\))?)#(\d+)")
_SHOWN = 60


def nearest(call: Call, earlier: Sequence[Call], recording: Recording) -> tuple[Difference, ...]:
    """What differs from the earlier call that is most alike, the latest of those; never empty."""
    best: tuple[Difference, ...] | None = None
    for other in reversed(earlier):
        found = compare(call, other, recording)
        if best is None or len(found) < len(best):
            best = found
        if len(best) <= 1:
            break
    return best or (Difference(Cause.UNKNOWN),)


def compare(call: Call, other: Call, recording: Recording) -> tuple[Difference, ...]:
    """What is new in a call, seen from another of the same function."""
    found = [*_objects(call, other, recording)]
    found += _arguments(_named(call, recording), _named(other, recording))
    if call.under != other.under:
        found.append(Difference(Cause.TRANSFORM, before=_transforms(other.under), after=_transforms(call.under)))
    found += [
        Difference(Cause.OPTIONS, name, before=other.options.get(name, "none"), after=call.options.get(name, "none"))
        for name in sorted({*call.options, *other.options})
        if call.options.get(name) != other.options.get(name)
    ]
    changed = list(_settings(recording.settings[call.settings], recording.settings[other.settings]))
    found += [one for one in changed if one.argument in RETRACING or not found]
    return tuple(found)


def _objects(call: Call, other: Call, recording: Recording) -> Iterator[Difference]:
    function = recording.functions[call.function]
    if call.objects != other.objects and function.origin != "jax":
        yield Difference(Cause.BODY if function.kind == "loop" else Cause.FUNCTION)


def _named(call: Call, recording: Recording) -> dict[str, Argument]:
    return {argument.name: argument for argument in map(recording.arguments.__getitem__, call.arguments)}


def _arguments(new: Mapping[str, Argument], old: Mapping[str, Argument]) -> Iterator[Difference]:
    missing, added = [n for n in old if n not in new], [n for n in new if n not in old]
    if missing or added:
        yield Difference(Cause.ARGUMENTS, ", ".join([*missing, *added]), before=", ".join(old), after=", ".join(new))
    for name, argument in new.items():
        if name in old and argument != old[name]:
            yield from _argument(argument, old[name])


def _argument(new: Argument, old: Argument) -> Iterator[Difference]:
    if new.keyword != old.keyword:
        ways = {True: "by keyword", False: "by position"}
        yield Difference(Cause.KEYWORD, new.name, before=ways[old.keyword], after=ways[new.keyword])
    if new.static or old.static:
        if new.value != old.value:
            yield Difference(Cause.STATIC, new.name, "", *_readable(old.value, new.value))
        return
    if new.structure != old.structure:
        yield _structure(new, old)
    before = {leaf.path: leaf for leaf in old.leaves}
    by_cause: dict[Cause, list[Difference]] = {}
    for leaf in new.leaves:
        if leaf.path in before and leaf != before[leaf.path]:
            for difference in _leaf(new.name, leaf, before[leaf.path]):
                by_cause.setdefault(difference.cause, []).append(difference)
    for first, *others in by_cause.values():
        yield structs.replace(first, others=len(others))


def _leaf(name: str, new: Leaf, old: Leaf) -> Iterator[Difference]:
    number = any(leaf.source in ("int", "float", "bool", "complex") for leaf in (new, old))
    texts = array_text(old), array_text(new)
    if texts[0] == texts[1]:  # numbers of Python, which 64-bit types being on or off makes others
        texts = f"{texts[0]} as {old.dtype}", f"{texts[1]} as {new.dtype}"
    if new.shape != old.shape:
        yield Difference(Cause.SHAPE, name, new.path, *texts, number)
    if new.dtype != old.dtype:
        yield Difference(Cause.DTYPE, name, new.path, *texts, number)
    elif new.weak != old.weak:
        yield Difference(Cause.WEAK_TYPE, name, new.path, *texts, number)
    if new.placement != old.placement:
        yield Difference(
            Cause.PLACEMENT, name, new.path, old.placement or "where JAX put it", new.placement or "where JAX put it"
        )


def array_text(leaf: Leaf) -> str:
    """A leaf as JAX writes types, with what it came as where that is no array."""
    weak = "weak " if leaf.weak and leaf.source not in ("int", "float", "complex") else ""
    text = f"{weak}{leaf.dtype}[{','.join(map(str, leaf.shape))}]"
    return f"Python {leaf.source}" if leaf.source in ("int", "float", "bool", "complex") else text


def _structure(new: Argument, old: Argument) -> Difference:
    before, after = _readable(*(text if text != "*" else _only(one) for one, text in _both(old, new)))
    paths, known = {leaf.path for leaf in new.leaves}, {leaf.path for leaf in old.leaves}
    changed = sorted((paths ^ known) - {""})
    return Difference(Cause.STRUCTURE, new.name, changed[0] if changed else "", before, after)


def _both(old: Argument, new: Argument) -> Iterator[tuple[Argument, str]]:
    yield old, old.structure
    yield new, new.structure


def _only(argument: Argument) -> str:
    return array_text(argument.leaves[0]) if argument.leaves else "*"


def _readable(before: str, after: str) -> tuple[str, str]:
    """Two texts around where they begin to differ, without the numbers of objects."""
    old, new = _NUMBER.sub("", before), _NUMBER.sub("", after)
    if old == new:
        return _renewed(before, after)
    if len(old) <= _SHOWN and len(new) <= _SHOWN:
        return old, new
    start = max(0, _common(old, new) - _SHOWN // 3)
    return _window(old, start), _window(new, start)


def _renewed(before: str, after: str) -> tuple[str, str]:
    """Which objects are others, in two texts that differ in the numbers of objects alone."""
    pairs = zip(_OBJECT.findall(before), _OBJECT.findall(after), strict=False)
    names = dict.fromkeys(old[0] for old, new in pairs if old[1] != new[1])
    return ", ".join(names), f"{'another object' if len(names) == 1 else 'other objects'} of the same form"


def _common(old: str, new: str) -> int:
    """How many characters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _window(text: str, start: int) -> str:
    end = start + _SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if len(text) > end else ''}"


def _transforms(names: Sequence[str]) -> str:
    return ", ".join(sorted({_TRANSFORMS.get(name, name) for name in names})) or "none"


def _settings(new: Settings, old: Settings) -> Iterator[Difference]:
    for name in sorted({*new.values, *old.values}):
        values = old.values.get(name, "None"), new.values.get(name, "None")
        if values[0] != values[1]:
            yield Difference(Cause.SETTING, name, "", *values)
