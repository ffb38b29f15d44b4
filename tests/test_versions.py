"""The tables of API changes: every row can be read, and agrees with the JAX that is installed."""

import importlib
import warnings

import pytest

from jaxlint import versions
from jaxlint.config.targets import LATEST, Target
from jaxlint.repair.spelling import needed_module

CHANGES = versions.changes()


def is_readable(change: versions.Change) -> bool:
    texts = (change.deprecated_in, change.removed_in, change.returned_in, change.replacement_since)
    known = [versions.version(text) for text in texts if text]
    in_order = sorted(known[:2]) == known[:2] or not (change.deprecated_in and change.removed_in)
    is_known = change.kind in ("symbol", "module", "import") and change.name.startswith("jax.")
    return is_known and in_order and bool(change.deprecated_in or change.removed_in)


def test_every_row_can_be_read() -> None:
    assert [change.name for change in CHANGES.values() if not is_readable(change)] == []


def test_the_longest_prefix_decides() -> None:
    assert (found := versions.find("jax.util.safe_map.cache")) is not None and found.name == "jax.util.safe_map"
    assert (found := versions.find("jax.util.something")) is not None and found.name == "jax.util"
    assert versions.find("jax.tree_mapping") is None
    assert versions.find("jax") is None


def test_a_module_may_go_as_an_import_path_only() -> None:
    assert versions.find("jax.config.update") is None
    assert versions.find_module("jax.config") is not None


@pytest.mark.parametrize(
    ("maximum", "expected"),
    [("0.4.25", None), ("0.4.26", versions.DEPRECATED), ("0.5.3", versions.DEPRECATED), ("0.6.0", versions.REMOVED)],
)
def test_the_newest_allowed_version_decides(maximum: str, expected: str | None) -> None:
    assert versions.status(CHANGES["jax.tree_map"], Target("0.4.1", maximum)) == expected


def test_a_name_that_came_back_is_not_reported() -> None:
    assert versions.status(CHANGES["jax.ad"], Target("0.9.0", "0.9.2")) == versions.REMOVED
    assert versions.status(CHANGES["jax.ad"], LATEST) is None


def test_a_replacement_must_be_there_in_the_oldest_version() -> None:
    assert versions.is_usable("jax.tree.map", "0.4.25", Target("0.4.25", "0.6.0"))
    assert not versions.is_usable("jax.tree.map", "0.4.25", Target("0.4.24", "0.6.0"))


def test_flags() -> None:
    assert versions.flag_removed_in("jax_spmd_mode") == "0.6.1"
    assert versions.flag_removed_in("jax_enable_x64") is None


@pytest.mark.jax
def test_replacements_are_there_in_the_installed_jax() -> None:
    jax = pytest.importorskip("jax")
    target = Target(jax.__version__, jax.__version__)
    missing = [
        change.replacement
        for change in CHANGES.values()
        if change.drop_in
        and change.replacement not in ("", "None")
        and change.replacement.startswith("jax.")
        and not change.replacement.startswith(("jax.experimental.pallas", "jax.Array.", "jax.stages."))
        and versions.is_usable(change.replacement, change.replacement_since, target)
        and not _is_there(change.replacement)
    ]
    assert missing == []


@pytest.mark.jax
def test_names_are_gone_from_the_installed_jax_as_the_table_says() -> None:
    jax = pytest.importorskip("jax")
    target = Target(jax.__version__, jax.__version__)
    classes = (
        "jax.Array.",
        "jax.Device.",
        "jax.ShapeDtypeStruct.",
        "jax.core.ShapedArray.",
        "jax.stages.",
        "jax.sharding.NamedSharding.",
    )
    wrong = [
        change.name
        for change in CHANGES.values()
        if change.kind == "symbol"
        and not change.name.startswith(("jax.experimental.pallas", *classes))
        and versions.status(change, target) == versions.REMOVED
        and _is_there(change.name)
    ]
    assert wrong == []


def _is_there(dotted: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = importlib.import_module(needed_module(dotted))
            for name in dotted[len(needed_module(dotted)) + 1 :].split("."):
                if not hasattr(value, name):
                    importlib.import_module(dotted)  # a module that nothing has loaded yet
                value = getattr(value, name)
        except (ImportError, AttributeError):
            return False
    return True
