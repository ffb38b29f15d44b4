"""Imports that fixes leave unused go, and no others."""

from __future__ import annotations

import pytest

from jaxlint.fixes.tidy import without_unused_imports
from jaxlint.source.text import SourceFile


def tidied(before: str, after: str, path: str = "a.py") -> str:
    return without_unused_imports(SourceFile.from_text(path, before), SourceFile.from_text(path, after)).text


HEAD = '"""Doc."""\n\nfrom functools import partial\n\nimport jax\n'


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (HEAD + "partial(jax)\n", HEAD + "jax()\n", '"""Doc."""\n\nimport jax\n' + "jax()\n"),
        ("import a\nimport b\na, b\n", "import a\nimport b\nb\n", "import b\nb\n"),
        ("from m import a, b, c\na, b, c\n", "from m import a, b, c\na, c\n", "from m import a, c\na, c\n"),
        ("import a\r\na\r\n", "import a\r\n1\r\n", "1\r\n"),
        # Left alone: never read, read in an annotation in quotes, exported, with a comment, in a block, over lines.
        ("import a, b\nb\n", "import a, b\nb or 1\n", "import a, b\nb or 1\n"),
        ('import a\nx: "a.B"\na\n', 'import a\nx: "a.B"\n1\n', 'import a\nx: "a.B"\n1\n'),
        ('import a\n__all__ = ["a"]\na\n', 'import a\n__all__ = ["a"]\n1\n', 'import a\n__all__ = ["a"]\n1\n'),
        ("import a  # noqa: F401\na\n", "import a  # noqa: F401\n1\n", "import a  # noqa: F401\n1\n"),
        ("try:\n    import a\nfinally:\n    a\n", "try:\n    import a\nfinally:\n    1\n",
         "try:\n    import a\nfinally:\n    1\n"),
        ("from m import (\n    a,\n    b,\n)\na, b\n", "from m import (\n    a,\n    b,\n)\nb\n",
         "from m import (\n    a,\n    b,\n)\nb\n"),
    ],
)  # fmt: skip
def test_imports(before: str, after: str, expected: str) -> None:
    assert tidied(before, after) == expected


def test_a_package_exports_what_it_imports() -> None:
    assert tidied("import a\na\n", "import a\n1\n", "p/__init__.py") == "import a\n1\n"
