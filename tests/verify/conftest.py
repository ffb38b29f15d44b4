"""One verifier for all tests of a session: its process is started once."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterator

import pytest

from jaxlint.model import Verification
from jaxlint.verify import Change, Verifier

Judge = Callable[..., Verification]


@pytest.fixture(scope="session")
def verifier() -> Iterator[Verifier]:
    with Verifier(timeout_s=120) as verifier:
        yield verifier


@pytest.fixture(scope="session")
def tree_map_is_gone() -> None:
    """Skips where `jax.tree_map` still works: JAX 0.4.26 deprecated it, 0.6.0 removed it."""
    jax = pytest.importorskip("jax")
    if hasattr(jax, "tree_map"):
        pytest.skip("this JAX still has jax.tree_map")


@pytest.fixture(scope="session")
def judge(verifier: Verifier, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """Judges two texts as versions of one file in a folder of its own, and remembers what it said."""
    path = tmp_path_factory.mktemp("judged") / "program.py"

    @functools.cache
    def judge(before: str, after: str, rule: str | None = None) -> Verification:
        path.write_text(textwrap.dedent(before))
        return verifier.verify(Change(str(path), textwrap.dedent(before), textwrap.dedent(after), rule))

    return judge
