"""removed-api, deprecated-api and mesh-axis-types: what is reported for which JAX, and what the fixes write."""

# ruff: noqa: E501 - programs before and after stand side by side

import ast
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxlint import versions
from jaxlint.analysis.context import Context, Report, Text
from jaxlint.analysis.uses import api_uses
from jaxlint.config.targets import LATEST, Target
from jaxlint.model import Edit, Safety
from jaxlint.program.lower import lower
from jaxlint.rules import deprecated_api, mesh_axis_types, removed_api

RULES = {module.RULE.name: module.check for module in (removed_api, deprecated_api, mesh_axis_types)}


def reports(text: str, target: Target = LATEST) -> list[tuple[str, Report]]:
    """The reports on a text, with the names of their rules."""
    lines = (*text.splitlines(keepends=True), *([""] if text.endswith("\n") else []))
    context = Context(lower(text, "a.py", "a"), Text(lines), target, None)  # type: ignore[arg-type]
    uses = list(api_uses(context.module))
    return [(name, report) for use in uses for name, check in RULES.items() for report in check(use, context)]


def found(text: str, target: Target = LATEST) -> list[tuple[str, int]]:
    return [(name, report.span.line) for name, report in reports(textwrap.dedent(text), target)]


def fixed(text: str, target: Target = LATEST, safety: Safety = Safety.UNSAFE) -> str:
    """The text after its fixes, one after the other, until none is left; each result must parse."""
    text = textwrap.dedent(text)
    allowed = (Safety.SAFE,) if safety is Safety.SAFE else (Safety.SAFE, Safety.UNSAFE)
    for _ in range(60):
        fixes = [report.fix for _, report in reports(text, target) if report.fix and report.fix.safety in allowed]
        if not fixes:
            return text
        text = apply(text, fixes[0].edits)
        ast.parse(text)
    raise AssertionError("the fixes come to no end")


def apply(text: str, edits: tuple[Edit, ...]) -> str:
    lines = text.splitlines(keepends=True) or [""]
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    before = len(text) + 1
    for edit in sorted(set(edits), reverse=True):
        start = starts[edit.span.line - 1] + edit.span.column - 1
        end = starts[edit.span.end_line - 1] + edit.span.end_column - 1
        assert end <= before, "edits of one fix overlap"
        text, before = text[:start] + edit.content + text[end:], start
    return text


REMOVED = [("removed-api", 2)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import jax\njax.tree_map(f, x)\n", REMOVED),
        ("import jax as j\nj.tree_map(f, x)\n", REMOVED),
        ("from jax import tree_map\ntree_map(f, x)\ntree_map(g, x)\n", [("removed-api", 1)]),
        ("import jax\ntm = jax.tree_map\ntm(f, x)\n", REMOVED),
        ("import jax.numpy as jnp\nx: jnp.DeviceArray\n", REMOVED),
        ("import jax.util\njax.util.safe_map(f, x)\n", [("removed-api", 1), ("removed-api", 2)]),
        ("from jax.util import safe_map, safe_zip\n", [("removed-api", 1), ("removed-api", 1)]),
        ("from jax.util import *\n", [("removed-api", 1)]),
        ("import jax.config\n", [("removed-api", 1)]),
        ("from jax.config import config\n", [("removed-api", 1)]),
        ("from jax.config import update\n", [("removed-api", 1)]),
        ("import jax\njax.config.update('jax_enable_x64', True)\n", []),
        ("from jax import config\nconfig.update('jax_enable_x64', True)\n", []),
        ("import jax\njax.config.update('jax_spmd_mode', 'allow_all')\n", REMOVED),
        ("import jax\njax.ad\n", []),
        ("import jax\nclass A:\n    def tree_map(self): ...\nA().tree_map()\n", []),
        ("def tree_map(f, x): ...\ntree_map(f, x)\n", []),
        ("from .jax import tree_map\ntree_map(f, x)\n", []),
        ("import jax\nif hasattr(jax, 'tree_map'):\n    jax.tree_map(f, x)\n", []),
        ("import jax.numpy as jnp\njnp.clip(x, a_min=0)\n", REMOVED),
        ("import jax.numpy as jnp\njnp.clip(x, 0, 1)\n", []),
        ("import jax.numpy as jnp, functools\nfunctools.partial(jnp.clip, a_min=0)\n", REMOVED),
        ("import numpy as np, functools\nfunctools.partial(np.clip, a_min=0)\n", []),
        ("import numpy as np\nnp.clip(x, a_min=0)\n", []),
        ("import jax\njax.jit(f, (0,))\n", REMOVED),
        ("import jax\njax.jit(f, static_argnums=(0,))\n", []),
        ("import jax\njax.jit(f, device=jax.devices()[0])\n", [("deprecated-api", 2)]),
        ("import jax\ndef jit(f, device=None): return jax.jit(f, device=device)\n", []),
        ("import jax.numpy as jnp\njnp.linalg.pinv(x, rcond=0)\n", []),
        ("from jax.experimental.shard_map import shard_map\nshard_map(f)\n", [("deprecated-api", 1)]),
        ("import jax\n@jax.vmap(in_axes=0)\ndef f(x): ...\n", REMOVED),
        ("import jax\n@jax.jit(static_argnames='n')\ndef f(x, n): ...\n", []),
        ("import jax\njax.jit(**options)\n", []),
        ("import jax\njax.grad(fun=f)\n", []),
    ],
)
def test_reports_for_the_newest_jax(text: str, expected: list[tuple[str, int]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "minimum", "maximum", "expected"),
    [
        ("import jax\njax.tree_map(f, x)\n", "0.4.25", "0.4.25", []),
        ("import jax\njax.tree_map(f, x)\n", "0.4.30", "0.5.3", [("deprecated-api", 2)]),
        ("import jax\njax.tree_map(f, x)\n", "0.4.30", "0.6.0", REMOVED),
        ("import jax\n@jax.jit(static_argnames='n')\ndef f(x, n): ...\n", "0.8.0", "0.9.0", REMOVED),
        ("import jax\n@jax.jit()\ndef f(x): ...\n", "0.8.1", "0.9.0", []),
        (
            "from jax.lib import xla_bridge\nxla_bridge.get_backend()\n",
            "0.8.0",
            "0.8.3",
            [("deprecated-api", 1), *REMOVED],
        ),
        ("import jax\njax.ad.f\n", "0.9.0", "0.9.0", REMOVED),
        ("import jax.numpy as jnp\njnp.linalg.pinv(x, rcond=0)\n", "0.7.0", "0.7.0", [("deprecated-api", 2)]),
    ],
)
def test_the_target_decides(text: str, minimum: str, maximum: str, expected: list[tuple[str, int]]) -> None:
    assert found(text, Target(minimum, maximum)) == expected


FIXES = [
    ("import jax as j\nj.tree_map(f, x)\n", "import jax as j\nj.tree.map(f, x)\n"),
    ("from jax import tree_map, jit\ntree_map(f)\n", "from jax.tree_util import tree_map\nfrom jax import jit\ntree_map(f)\n"),
    ("from jax import tree_map as t\nt(f)\n", "from jax.tree_util import tree_map as t\nt(f)\n"),
    ("import jax\n\nx = jax.core.Var\n", "import jax\nimport jax.extend.core\n\nx = jax.extend.core.Var\n"),
    ("from jax.core import Var, Tracer\n", "from jax.extend.core import Var\nfrom jax.core import Tracer\n"),
    (
        "from jax.core import Atom, Var, Literal as L  # x\n",
        "from jax.extend.core import Var, Literal as L\nfrom jax.core import Atom  # x\n",
    ),
    ("from jax import tree_map, tree_leaves\n", "from jax.tree_util import tree_map, tree_leaves\n"),
    ("from jax.core import (Var,\n    Literal)\n", "from jax.extend.core import Var\nfrom jax.extend.core import (Literal)\n"),
    ("from jax.config import config  # why\nconfig.update(a, b)\n", "from jax import config  # why\nconfig.update(a, b)\n"),
    ("import jax.config\njax.config.update(a, b)\n", "import jax\njax.config.update(a, b)\n"),
    ("import jax\nimport jax.config\n", "import jax\n"),
    ("import jax.linear_util as lu\nlu.cache(f)\n", "import jax.extend.linear_util as lu\nlu.cache(f)\n"),
    ("from jax.random import KeyArray\nk: KeyArray\n", "from jax import Array as KeyArray\nk: KeyArray\n"),
    (
        "import jax\nfrom jax.lib import xla_bridge\nprint(xla_bridge.get_backend().platform)\n",
        "import jax\nprint(jax.default_backend())\n",
    ),
    (
        "import jax\nfrom jax.lib import xla_bridge as xb\nb = xb.get_backend('cpu')\n",
        "import jax\nimport jax.extend.backend\nb = jax.extend.backend.get_backend('cpu')\n",
    ),
    ("import jax\nx = jax.ops.index_update(-x, i, f(y))\n", "import jax\nx = (-x).at[i].set(f(y))\n"),
    (
        "import jax\nx = jax.ops.index_add(x, jax.ops.index[1:, ...], y, unique_indices=True)\n",
        "import jax\nx = x.at[1:, ...].add(y, unique_indices=True)\n",
    ),
    (
        "from jax.ops import index, index_update\nx = index_update(index_update(x, 0, a), index[0, 1], b)\n",
        "x = x.at[0].set(a).at[0, 1].set(b)\n",
    ),
    (
        "from jax.experimental.shard_map import shard_map\nf = shard_map(g, m, i, o, check_rep=False)\n",
        "from jax import shard_map\nf = shard_map(g, mesh=m, in_specs=i, out_specs=o, check_vma=False)\n",
    ),
    (
        "import functools\nfrom jax.experimental.shard_map import shard_map\n@functools.partial(shard_map, check_rep=False)\ndef f(x): ...\n",
        "import functools\nfrom jax import shard_map\n@functools.partial(shard_map, check_vma=False)\ndef f(x): ...\n",
    ),
    ("import jax\nfrom jax.experimental.pjit import pjit\npjit(f)(x)\n", "import jax\njax.jit(f)(x)\n"),
    ("import jax\nwith jax.experimental.enable_x64():\n    f()\n", "import jax\nwith jax.enable_x64(True):\n    f()\n"),
    ("import jax.numpy as jnp\nx = [jnp.NINF, 2 * jnp.NINF]\n", "import jax.numpy as jnp\nx = [-jnp.inf, 2 * (-jnp.inf)]\n"),
    ("import jax.numpy as jnp\njnp.clip(x, a_min=0, a_max=1)\n", "import jax.numpy as jnp\njnp.clip(x, min=0, max=1)\n"),
    ("import jax.numpy as jnp\njnp.where(c, x=(a), y=b)\n", "import jax.numpy as jnp\njnp.where(c, (a), b)\n"),
    ("import jax\n@jax.vmap(in_axes=0)\ndef f(x): ...\n", "import functools\n\nimport jax\n@functools.partial(jax.vmap, in_axes=0)\ndef f(x): ...\n"),
    ("import jax\n@jax.grad()\ndef f(x): ...\n", "import jax\n@jax.grad\ndef f(x): ...\n"),
    ("from jax.interpreters import batching\nx = batching.not_mapped\n", "from jax.interpreters import batching\nx = None\n"),
    (
        "def f():\n    from jax.ops import index_add\n    return index_add(x, i, y)\n",
        "def f():\n    return x.at[i].add(y)\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), FIXES)
def test_fixes(before: str, after: str) -> None:
    assert fixed(before, safety=Safety.SAFE) == after
    assert fixed(after, safety=Safety.SAFE) == after


@pytest.mark.parametrize(
    "text",
    [
        "import jax\nisinstance(x, jax.random.KeyArray)\n",
        "from jax.random import KeyArray\nisinstance(x, KeyArray)\n",
        "from jax.experimental.shard_map import shard_map\nmap_with(shard_map)\n",
        "from jax.experimental.shard_map import shard_map\n__all__ = ['shard_map']\n",
    ],
)
def test_what_may_change_meaning_is_unsafe(text: str) -> None:
    assert fixed(text, safety=Safety.SAFE) == text
    assert fixed(text) != text


@pytest.mark.parametrize(
    "text",
    [
        "from jax.experimental.pjit import pjit\npjit(f, in_shardings=s)\n",
        "from jax.experimental.shard_map import shard_map\nshard_map(f, m, i, o, auto=a)\n",
        "from jax.experimental.shard_map import shard_map\nshard_map(*a)\n",
        "from jax.ops import index_update\nindex_update(x, idx=i, y=v)\n",
        "from jax.ops import index_update\nindex_update(x,  # one\n    i, v)\n",
        "from jax.lib import xla_bridge\nuse(xla_bridge)\n",
        "from jax.lib import xla_bridge\nxla_bridge.get_backend()\n__all__ = ['xla_bridge']\n",
        "from jax.util import safe_map\nsafe_map(f, x)\n",
    ],
)
def test_no_fix_where_nothing_fits(text: str) -> None:
    assert found(text)
    assert fixed(text) == text


def test_an_unused_import_is_dropped_for_sure_only_where_it_always_fails() -> None:
    text = "import jax\nfrom jax.util import safe_map\n"
    assert fixed(text, safety=Safety.SAFE) == "import jax\n"
    assert fixed(text, Target("0.6.0", "0.12.0"), Safety.SAFE) == text
    assert fixed(text, Target("0.6.0", "0.12.0")) == "import jax\n"


def test_a_fix_waits_until_the_oldest_version_has_the_replacement() -> None:
    text = "import jax\nx = jax.core.get_aval(y)\n"
    assert fixed(text, Target("0.5.2", "0.10.0")) == text
    assert fixed(text, Target("0.5.3", "0.10.0")) == "import jax\nx = jax.typeof(y)\n"


def test_an_old_minimum_gets_the_name_that_every_version_has() -> None:
    assert (
        fixed("import jax\njax.tree_map(f, x)\n", Target("0.4.1", "0.6.0"))
        == "import jax\njax.tree_util.tree_map(f, x)\n"
    )


def test_messages_say_since_when_and_what_instead() -> None:
    ((_, report),) = reports("import jax\njax.tree_map(f, x)\n")
    assert report.message == "JAX 0.6.0 removed `jax.tree_map`; use `jax.tree.map`"
    ((_, report),) = reports("import jax\njax.core.get_aval(y)\n", Target("0.5.0", "0.9.0"))
    assert (
        "0.8.2 deprecated" in report.message
        and "0.10.0 removes it" in report.message
        and "came with 0.5.3" in report.message
    )


MESH = "import jax\nm = jax.make_mesh((2, 1), ('x', 'y'){})\nf = jax.shard_map(g, mesh=m, in_specs=i, out_specs=o)\n"


def test_a_mesh_without_axis_types() -> None:
    assert found(MESH.format("")) == [("mesh-axis-types", 2)]
    assert fixed(MESH.format("")) == MESH.format(", axis_types=(jax.sharding.AxisType.Auto,) * 2")
    assert found(MESH.format(""), Target("0.8.0", "0.8.3")) == []
    assert found(MESH.format(", axis_types=t")) == []
    assert found(MESH.format(", **more")) == []
    assert found("import jax\nm = jax.make_mesh((2,), ('x',))\n") == []


NAMES = sorted(change.name for change in versions.changes().values() if change.kind == "symbol")
FORMS = (
    "import {package}\n{package}.{leaf}\n",
    "import {package} as p\ny = p.{leaf}(x)\n",
    "from {package} import {leaf}\n{leaf}(x)\n",
    "from {package} import {leaf} as q, other\nf(q, other)\n",
    "def f():\n    from {package} import (\n        other,\n        {leaf},\n    )\n    return {leaf}\n",
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(NAMES), st.sampled_from(FORMS), st.sampled_from(["0.4.1", "0.4.30", "0.6.1", "0.10.0", "0.12.0"])
)
def test_every_fix_parses_and_is_final(name: str, form: str, minimum: str) -> None:
    package, _, leaf = name.rpartition(".")
    target = Target(minimum, LATEST.maximum)
    text = form.format(package=package, leaf=leaf)
    after = fixed(text, target)
    ast.parse(after)
    if text != after:
        assert [line for _, line in found(after, target)] != [line for _, line in found(text, target)]


@pytest.mark.parametrize(
    ("between", "after"),
    [
        ("y = jax.core.jaxpr_as_fun(1)\n", "import jax.dlpack\n"),
        ("def f():\n    return jax.core.jaxpr_as_fun(1)\n\nf()\n", "import jax.dlpack\n"),
        ("y = jax.core.jaxpr_as_fun(1)\n", "import jax.extend.core\n"),
    ],
)
def test_an_import_stands_above_all_that_needs_it(between: str, after: str) -> None:
    text = fixed(f"import jax\n{between}{after}")
    assert "import jax.extend.core\n" in text[: text.index("jaxpr_as_fun")].partition("def f")[0]
