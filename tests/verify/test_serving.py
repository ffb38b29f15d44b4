"""Where the changed file stands: scripts, packages, modules that others import, data beside it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from jaxlint.model import Verdict
from jaxlint.verify import Change, Verifier, compare

pytestmark = pytest.mark.jax

GOOD = (Verdict.CONFIRMED, Verdict.SAME)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


MODULE = """
import jax
import jax.numpy as jnp
from .scale import SCALE

def total(x):
    return jnp.sum(x * SCALE)

fast = jax.vmap(jax.jit(total))
"""


def package(folder: Path) -> Path:
    write(folder, pkg__sub__scale="SCALE = 2.0\n", pkg__sub__mod=MODULE)
    (folder / "pkg/__init__.py").write_text("")
    (folder / "pkg/sub/__init__.py").write_text("from .mod import total\n")
    return folder / "pkg/sub/mod.py"


def test_a_module_of_a_package(verifier: Verifier, tmp_path: Path) -> None:
    path = package(tmp_path)
    good = MODULE.replace("jax.vmap(jax.jit(total))", "jax.jit(jax.vmap(total))")
    assert verifier.verify(Change(str(path), MODULE, good)).verdict in GOOD
    assert verifier.verify(Change(str(path), MODULE, good.replace("* SCALE", "+ SCALE"))).verdict is Verdict.DIFFERENT


def test_others_that_import_the_file_get_the_version_that_is_judged(verifier: Verifier, tmp_path: Path) -> None:
    write(tmp_path, helper="import main\n\ndef value():\n    return main.NUMBER\n")
    before = "NUMBER = 7.0\n"
    text = "NUMBER = 3.0\n\nif __name__ == '__main__':\n    import helper\n    print(helper.value() * NUMBER)\n"
    path = tmp_path / "main.py"
    path.write_text(before)  # on disk is neither version
    assert verifier.verify(Change(str(path), text, text.replace("3.0", "4.0"))).verdict is Verdict.DIFFERENT
    assert verifier.verify(Change(str(path), text, text.replace("* NUMBER", "* (NUMBER + 0.0)"))).verdict in GOOD
    assert path.read_text() == before


def test_data_beside_the_file_can_be_read_by_its_own_path(verifier: Verifier, tmp_path: Path) -> None:
    (tmp_path / "numbers.txt").write_text("1.5 2.5")
    text = """
    import pathlib
    import jax.numpy as jnp
    x = jnp.array([float(n) for n in pathlib.Path(__file__).with_name("numbers.txt").read_text().split()])
    print(jnp.sum(x))
    """
    text = textwrap.dedent(text)
    assert verifier.verify(Change(str(tmp_path / "a.py"), text, text.replace("jnp.sum(x)", "x.sum()"))).verdict in GOOD


def test_a_file_that_does_not_exist(verifier: Verifier) -> None:
    text = "import jax.numpy as jnp\nx = jnp.arange(3)\nprint(x)\n"
    assert verifier.verify(Change("<stdin>", text, text.replace("3", "4"))).verdict is Verdict.DIFFERENT


def test_source_and_tracebacks_are_those_of_the_version_that_runs(verifier: Verifier, tmp_path: Path) -> None:
    text = "import inspect\n\ndef f():\n    return 1\n\nprint(inspect.getsource(f))\n"
    found = verifier.verify(Change(str(tmp_path / "a.py"), text, text.replace("return 1", "return 2")))
    assert found.verdict is Verdict.DIFFERENT and found.reason == "printed 1 against 2"


def test_compare_two_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        a="import jax.numpy as jnp\nprint(jnp.ones(3) * 2.0)\n",
        b="import jax.numpy as jnp\nprint(jnp.ones(3) * 2.5)\n",
    )
    assert compare(tmp_path / "a.py", tmp_path / "b.py").verdict is Verdict.DIFFERENT
    assert compare(tmp_path / "a.py", tmp_path / "a.py").verdict is Verdict.SAME
    with pytest.raises(OSError):
        compare(tmp_path / "a.py", tmp_path / "none.py")


def test_several_at_once_come_back_in_order(tmp_path: Path) -> None:
    texts = [f"import jax.numpy as jnp\nx = jnp.arange(3) * {n}\nprint(x)\n" for n in range(4)]
    changes = [
        Change(str(tmp_path / "a.py"), text, text if n % 2 else text.replace("arange(3)", "arange(4)"))
        for n, text in enumerate(texts)
    ]
    with Verifier(jobs=2) as verifier:
        found = [v.verdict for v in verifier.verify_all(changes)]
    assert found == [Verdict.DIFFERENT, Verdict.SAME, Verdict.DIFFERENT, Verdict.SAME]
