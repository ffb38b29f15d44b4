"""What the analysis tells the rules: one type for each kind of thing that a rule may want to look at.

Every event that comes from running code abstractly carries `where`, the chain of calls that leads there.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint.model import Span
from jaxlint.program import nodes as n


@dataclass(frozen=True, slots=True)
class ApiUse:
    """A name of the outside world is used: every attribute chain and import that resolves to a dotted path.

    `path` is canonical as far as imports tell ('jax.tree_map' for `from jax import tree_map as t; t(...)`).
    `node` is the expression (Name or Attribute), None for an import; `imported` the import's entry with `statement`.
    `call` is the call whose function this is. `guarded` is true inside try/except, hasattr or version guards.
    """

    path: str
    span: Span
    node: n.Name | n.Attribute | None = None
    imported: n.ImportedName | None = None
    statement: n.Import | None = None
    call: n.Call | None = None
    guarded: bool = False
    in_annotation: bool = False
