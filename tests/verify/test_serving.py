"""Where the changed file stands: scripts, packages, modules that others import, data beside it."""

from __future__ import annotations

import re
import sysconfig
import textwrap
import venv
from pathlib import Path

import pytest

from jaxlint.model import Verdict
from jaxlint.verify import Change, Verifier, compare
from jaxlint.verify.command import read_command

pytestmark = pytest.mark.jax

GOOD = (Verdict.CONFIRMED, Verdict.SAME)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / (re.sub("(?<=[a-z])__(?=[a-z_])", "/", name) + ".py")
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


NAMESPACE = """
import importlib.resources
import jax.numpy as jnp
from ..scale import SCALE

NUMBERS = [float(n) for n in importlib.resources.files("space.data").joinpath("numbers.txt").read_text().split()]

def total(x):
    return jnp.sum(x * SCALE) + NUMBERS[1]

print(__name__, total(jnp.array(NUMBERS)))
"""


def test_packages_without_init_files_and_their_data(verifier: Verifier, tmp_path: Path) -> None:
    write(tmp_path / "src", space__scale="SCALE = 2.0\n", space__deep__mod=NAMESPACE)
    (tmp_path / "src/space/data").mkdir()
    (tmp_path / "src/space/data/numbers.txt").write_text("1.5 2.5")
    (tmp_path / "pyproject.toml").touch()
    path = str(tmp_path / "src/space/deep/mod.py")
    good = verifier.verify(Change(path, NAMESPACE, NAMESPACE.replace("jnp.sum(x * SCALE)", "SCALE * jnp.sum(x)")))
    assert good.verdict in GOOD and "the program's own" in str(good.inputs)
    bad = verifier.verify(Change(path, NAMESPACE, NAMESPACE.replace("NUMBERS[1]", "NUMBERS[0]")))
    assert bad.verdict is Verdict.DIFFERENT
    renamed = verifier.verify(Change(path, NAMESPACE, NAMESPACE.replace("__name__", "'space.deep.mod'")))
    assert renamed.verdict in GOOD


def test_the_file_of_a_package_itself(verifier: Verifier, tmp_path: Path) -> None:
    text = "from .scale import SCALE\nfrom . import user\n\ndef f(x):\n    return x * SCALE\n\nprint(user.g(2.0))\n"
    write(tmp_path, pkg__scale="SCALE = 2.0\n", pkg__user="import pkg\n\ndef g(x):\n    return pkg.f(x)\n")
    path = tmp_path / "pkg/__init__.py"
    path.write_text("raise SystemExit('not this version')")
    assert verifier.verify(Change(str(path), text, text.replace("x * SCALE", "SCALE * x"))).verdict in GOOD
    assert verifier.verify(Change(str(path), text, text.replace("x * SCALE", "x + 3"))).verdict is Verdict.DIFFERENT


def test_the_part_of_a_module_that_runs_when_it_is_started(verifier: Verifier, tmp_path: Path) -> None:
    text = "from .scale import SCALE\n\nif __name__ == '__main__':\n    print(__package__, 3.0 * SCALE)\n"
    write(tmp_path, pkg____init__="", pkg__scale="SCALE = 2.0\n")
    path = str(tmp_path / "pkg/mod.py")
    assert verifier.verify(Change(path, text, text.replace("3.0 * SCALE", "SCALE * 3.0"))).verdict in GOOD
    assert verifier.verify(Change(path, text, text.replace("3.0 *", "4.0 *"))).reason == "printed 6.0 against 8.0"


@pytest.mark.usefixtures("tree_map_is_gone")
def test_a_package_that_fails_with_the_file(verifier: Verifier, tmp_path: Path) -> None:
    text = "import jax\n\ny = jax.tree_map(abs, [-1])\n"
    write(tmp_path, pkg____init__="from .mod import y\n", pkg__mod=text)
    found = verifier.verify(
        Change(str(tmp_path / "pkg/mod.py"), text, text.replace("tree_map", "tree.map"), "removed-api")
    )
    assert found.verdict is Verdict.CONFIRMED and "the original fails at line 3" in found.reason


def test_an_editable_install_gives_the_name(tmp_path: Path) -> None:
    write(tmp_path / "lib", space__inner__scale="SCALE = 2.0\n")
    text = "from space.inner import scale\nfrom . import scale as again\nprint(scale is again, __name__)\n"
    path = tmp_path / "lib/space/inner/mod.py"
    venv.create(tmp_path / "venv", symlinks=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (site / "editable.pth").write_text(f"{tmp_path / 'lib'}\n{sysconfig.get_path('purelib')}\n")
    with Verifier(python=str(tmp_path / "venv/bin/python")) as verifier:
        found = verifier.verify(Change(str(path), text, text.replace("__name__", "'space.inner.mod'")))
        assert found.verdict in GOOD, found.reason
        found = verifier.verify(Change(str(path), text, text.replace("scale is again", "False")))
        assert "True space.inner.mod" in found.reason


def test_whoever_reads_the_file_gets_the_version_that_is_judged(verifier: Verifier, tmp_path: Path) -> None:
    ways = """
    import importlib.util, pathlib, runpy

    if __name__ == "__main__":
        spec = importlib.util.spec_from_file_location("another_name", __file__)
        other = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(other)
        import link
        ran = runpy.run_path(__file__)
        exec(open(__file__).read(), executed := {"__name__": "executed"})
        exec(pathlib.Path(__file__).read_bytes(), again := {"__name__": "again"})
        print(other.NUMBER, link.NUMBER, ran["NUMBER"], executed["NUMBER"], again["NUMBER"])

    NUMBER = 7
    """
    path = tmp_path / "main.py"
    path.write_text("NUMBER = 1\n")
    (tmp_path / "link.py").symlink_to(path)
    text = textwrap.dedent(ways)
    assert verifier.verify(Change(str(path), text, text.replace("= 7", "= 14 // 2"))).verdict in GOOD
    found = verifier.verify(Change(str(path), text, text.replace("= 7", "= 8")))
    assert found.verdict is Verdict.DIFFERENT and found.reason == "printed 7 against 8"


def test_there_is_no_verdict_where_the_file_on_disk_is_read(verifier: Verifier, tmp_path: Path) -> None:
    text = "import os\nexec(os.read(os.open(__file__, os.O_RDONLY), 1000))\nx = 1\nprint(x)\n"
    path = tmp_path / "main.py"
    path.write_text("print('this version')\n")
    found = verifier.verify(Change(str(path), text, text.replace("x = 1", "x = 0 + 1")))
    assert found.verdict is Verdict.UNVERIFIED and "main.py is read from disk" in found.reason


def test_files_of_tests(verifier: Verifier, tmp_path: Path) -> None:
    text = """
    import jax.numpy as jnp

    def helper(x):
        return jnp.sum(x) * 2.0

    def test_helper(data):
        assert helper(data["x"]) == 6.0
    """
    text, path = textwrap.dedent(text), tmp_path / "test_it.py"
    path.write_text(text)
    write(
        tmp_path,
        conftest="import pytest, jax.numpy as jnp\n\n@pytest.fixture\ndef data():\n    return {'x': jnp.ones(3)}\n",
    )
    change = Change(str(path), text, text.replace('helper(data["x"]) == 6.0', '6.0 == helper(data["x"])'))
    found = verifier.verify(change)
    assert found.verdict is Verdict.UNVERIFIED and "--run 'pytest " in found.reason, found.reason
    with Verifier(command=read_command("pytest test_it.py", tmp_path)) as followed:
        found = followed.verify(change)
        assert found.verdict in GOOD and "recorded (" in found.inputs, found


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


TAKEN = """
import jax

def scaled(box):
    return box.value * 2.0

def total(x):
    from .user import Box, boxed
    return jax.jit(boxed)(x).sum() if x.ndim else scaled(Box(x))

total(jax.numpy.arange(3.0))
"""

TAKES = """
from .mod import scaled
from . import mod

class Box:
    def __init__(self, value):
        self.value = value

CALLS = {"scaled": scaled}

def boxed(x):
    assert mod.scaled is scaled
    return CALLS["scaled"](Box(x))
"""


@pytest.mark.parametrize("init", ["", "from .mod import total\n"])
def test_what_others_took_from_the_file_is_of_the_version_that_is_judged(
    verifier: Verifier, tmp_path: Path, init: str
) -> None:
    write(tmp_path, pkg__mod=TAKEN, pkg__user=TAKES)
    (tmp_path / "pkg/__init__.py").write_text(init)
    path = str(tmp_path / "pkg/mod.py")
    different = verifier.verify(Change(path, TAKEN, TAKEN.replace("* 2.0", "* 3.0")))
    assert different.verdict is Verdict.DIFFERENT, different.reason
    good = verifier.verify(Change(path, TAKEN, TAKEN.replace("box.value * 2.0", "2.0 * box.value")))
    assert good.verdict in GOOD, good.reason
