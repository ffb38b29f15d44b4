"""Notebooks: findings by cell, fixes that change nothing but the lines of the fix, and verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_cli import Command, codes, run, write

from jaxlint.config.settings import Options, settings_for
from jaxlint.engine import Loaded, lint
from jaxlint.fixes.loop import fix_all
from jaxlint.fixes.noqa import with_noqa
from jaxlint.report.report import Report, by_cell
from jaxlint.source.notebook.cells import read, rewritten
from jaxlint.source.notebook.magics import is_other_language, magics
from jaxlint.source.notebook.program import program
from jaxlint.source.text import LineMap, SourceFile

__all__ = ["run"]

JSON = ("--output-format", "json")
REMOVED, MENDED = "y = jax.tree_map(abs, [1])\n", "y = jax.tree.map(abs, [1])\n"


def notebook(cells: Sequence[tuple[str, str] | str], language: str = "python", **more: Any) -> dict[str, Any]:
    """A notebook of format 4.5; a cell that is a text alone is a code cell."""
    pairs = [("code", cell) if isinstance(cell, str) else cell for cell in cells]
    made = []
    for number, (kind, text) in enumerate(pairs):
        cell = {"cell_type": kind, "id": f"id{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
        made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"kernelspec": {"display_name": "x", "language": language, "name": "x"}}
    return {"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5, **more}


def dumped(cells: Sequence[tuple[str, str] | str], **more: Any) -> str:
    return json.dumps(notebook(cells, **more), indent=1, ensure_ascii=False) + "\n"


def text_of(cells: Sequence[str]) -> str:
    return SourceFile.from_bytes("a.ipynb", dumped(cells).encode()).text


# ---- linting --------------------------------------------------------------------------------------------------------


def test_findings_are_told_by_cell_with_the_state_of_earlier_ones(run: Command) -> None:
    cells = [
        ("markdown", "# Title\n"),
        "import jax\n",
        "@jax.jit\ndef f(x):\n    return x\n",
        "z = 1\ny = jax.vmap(f)\n",
    ]
    write({"a.ipynb": dumped(cells)})
    (found,) = json.loads(run(*JSON).out)
    assert (found["path"], found["cell"], found["line"], found["code"]) == ("a.ipynb", 4, 2, "JAX101")
    assert found["because"] == [{"path": "a.ipynb", "cell": 3, "line": 1, "message": "`f` is jitted"}]
    assert {edit["cell"] for edit in found["fix"]["edits"]} == {4}
    shown = run().out
    assert shown.startswith("a.ipynb:cell 4:2:5: JAX101") and "2 | y = jax.vmap(f)" in shown
    assert "because a.ipynb:cell 3:1" in shown


def test_tools_that_count_the_lines_of_the_json_are_told_no_lines_of_cells(run: Command) -> None:
    cells = ["import jax\n", "@jax.jit\ndef f(x):\n    return x\n", "z = 1\ny = jax.vmap(f)\n"]
    write({"a.ipynb": dumped(cells)})
    assert "file=a.ipynb,line=1,col=1," in run("--output-format", "github").out
    (entry,) = json.loads(run("--output-format", "gitlab").out)
    assert (
        entry["location"]["positions"]["begin"] == {"line": 1, "column": 1} and "cell 3, line 2" in entry["description"]
    )
    assert 'line="1"' in run("--output-format", "junit").out
    (result,) = json.loads(run("--output-format", "sarif").out)["runs"][0]["results"]
    assert "fixes" not in result and "cell 3, line 2: " in result["message"]["text"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 1


def test_a_cell_that_does_not_parse_is_told_and_the_others_are_linted(run: Command) -> None:
    write({"a.ipynb": dumped(["import jax\n", "x = 1\ndef broken(:\n", "    indented = 1\n", REMOVED])})
    found = [(one["code"], one["cell"], one["line"]) for one in json.loads(run(*JSON).out)]
    assert found == [("JAX000", 2, 2), ("JAX000", 3, 1), ("JAX901", 4, 1)]


def test_comments_in_cells_suppress(run: Command) -> None:
    slow = "@jax.jit\ndef f(x):\n    return x\nz = jax.vmap(f)"
    write({"a.ipynb": dumped(["import jax\n", REMOVED.replace("\n", "  # noqa: JAX901\n"), slow])})
    assert [one["cell"] for one in json.loads(run(*JSON).out)] == [3]
    assert run("--add-noqa").status == 0
    assert run().status == 0
    assert read(Path("a.ipynb").read_text()).cells[2].text == f"{slow}  # noqa: JAX101"


def test_a_baseline_knows_findings_in_notebooks(run: Command) -> None:
    write({"a.ipynb": dumped(["import jax\n", REMOVED])})
    assert run("--write-baseline", "known.json").status == 0
    write({"a.ipynb": dumped([("markdown", "new"), "import jax\n", "x = 1\n", REMOVED])})
    assert run("--baseline", "known.json").status == 0


def test_other_languages_are_passed_over(run: Command) -> None:
    write({"a.ipynb": dumped(["x <- jax.tree_map\n"], language="R")})
    assert run().status == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "JSON cannot be read"),
        (b"[]", "no list of cells"),
        (b'{"worksheets": []}', "format 3"),
        (b'{"cells": [{"cell_type": "code", "source": 3}]}', "cell 1"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "JSON cannot be read"),
    ],
)
def test_what_is_no_notebook_is_a_finding(run: Command, content: bytes, words: str) -> None:
    write({"a.ipynb": content, "b.py": "import jax\n" + REMOVED})
    (broken, other) = json.loads(run(*JSON).out)
    assert broken["code"] == "JAX000" and words in broken["message"] and other["code"] == "JAX901"


@pytest.mark.parametrize("cells", [[], [("markdown", "x")], [""], ["", ""], [{"cell_type": "code"}], [None, 3]])
def test_notebooks_without_code_are_clean(run: Command, cells: list[Any]) -> None:
    odd = [cell for cell in cells if not isinstance(cell, (str, tuple))]
    write({"a.ipynb": json.dumps({"cells": odd}) if odd else dumped(cells)})
    assert run().status == (1 if odd == [{"cell_type": "code"}] else 0)


def test_standard_input(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    before = dumped(["import jax\n", REMOVED])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(before.encode())))
    assert run("--fix", "--stdin-filename", "a.ipynb", "-").out == dumped(["import jax\n", MENDED])


# ---- magics ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install a \\\n  b\nx = 1\n", "pass\n\nx = 1\n"),
        ("files = !ls\n", "files = get_ipython()\n"),
        ("a, b = %magic x\n", "a, b = get_ipython()\n"),
        ("obj?\nobj.attr??\n?obj\n", "pass\npass\npass\n"),
        ("%%time\nx = 1\n", "pass\nx = 1\n"),
        ("%%capture out\nx = 1\n", "pass\nx = 1\n"),
        ("%%bash\nfor f in\n", "\n\n"),
        ("x = (3\n% 2)\n", "x = (3\n% 2)\n"),
        ("s = '''\n%not magic\n!no\n'''\n%yes\n", "s = '''\n%not magic\n!no\n'''\npass\n"),
        ("x = 5 \\\n% 3\n", "x = 5 \\\n% 3\n"),
        ("# what?\nx = y if z else w  # really?\n", "# what?\nx = y if z else w  # really?\n"),
        ("if a:\n    !ls\nelse:\n    %cd x\n", "if a:\n    pass\nelse:\n    pass\n"),
        ("a != b\nx = y != z\n", "a != b\nx = y != z\n"),
        ("%x\r\ny = 1\r\n", "pass\r\ny = 1\r\n"),
        ("y = 'a' 'b?'\n", "y = 'a' 'b?'\n"),
        ("await f()\n", "await f()\n"),
        ("%time y = f(x)\n", "pass; y = f(x)\n"),
        ("%timeit -n 10 -r3 f(x);  # why\n", "pass;             f(x);  # why\n"),
        ("if a:\n    %prun -s cumtime f(x)\n", "if a:\n    pass;            f(x)\n"),
        ("%time !ls\n%timeit -x f(\n%time\n", "pass\npass\npass\n"),
        ("%time f(1, \\\n  2)\n", "pass\n\n"),
        ("%%python\nimport a\n", "\n\n"),
    ],
)
def test_magics_stand_aside_line_for_line(cell: str, python: str) -> None:
    assert re.sub(r"  # jaxlint cell 1: \d+", "", text_of([cell])) == python


@given(st.sampled_from(["%time ", "%timeit -n 3 ", "%lprun -f f ", ""]), st.sampled_from(["f(x)", "y = 1;  # a", "f("]))
def test_what_a_magic_runs_may_change_and_its_line_may_get_a_comment(magic: str, code: str) -> None:
    source = SourceFile.from_bytes("a.ipynb", dumped(["x = 1\n", f"{magic}{code}\nz = 2\n"]).encode())
    if "f(x)" in source.text:
        changed = source.with_text(source.text.replace("f(x)", "g(x, x)").replace(": 0\n", ": 0  # noqa: JAX101\n"))
        assert changed.program is not None
        noqa = "  # noqa: JAX101" if magic else ""
        assert changed.program.cells[1].text == f"{magic}g(x, x){noqa}\nz = 2\n"
    assert source.with_text(source.text).data == source.data


def test_fixes_reach_what_a_magic_runs_and_imports_that_magics_need_stay(run: Command) -> None:
    big = "big = jnp.ones((2000, 2000))\n@jax.jit\ndef f(x):\n    return x @ big\n"
    cells = ["import jax\nimport jax.numpy as jnp\n", big, "%timeit -n 3 f(jnp.ones(2000))"]
    write(
        {
            "a.ipynb": dumped(cells),
            "b.ipynb": dumped(["from jax import tree_map\ntree_map(abs, [])\n", "!echo {tree_map}"]),
        }
    )
    run("--fix", "--unsafe-fixes", "--select", "ALL")
    assert read(Path("a.ipynb").read_text()).cells[2].text == "%timeit -n 3 f(jnp.ones(2000), big)"
    assert "tree_map" in read(Path("b.ipynb").read_text()).cells[0].text.splitlines()[0]


def test_cells_of_other_languages() -> None:
    assert is_other_language("%%bash\nx") and is_other_language("\n%%html") and not is_other_language("%%time\nx")


PIECES = st.sampled_from(
    ["x = 1", "%magic", "!ls", "y = !ls", "(", ")", "'''", "#", "\\", "\n", "\r\n", "\r", " ", "é?", "%%time"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_magics_never_overlap_and_end_with_their_lines(cell: str) -> None:
    position = 0
    for magic in magics(cell):
        assert position <= magic.start < magic.end <= len(cell)
        assert cell[magic.end : magic.end + 1] in ("", "\n", "\r")
        position = magic.end


# ---- fixing ---------------------------------------------------------------------------------------------------------

LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8)
CELL = st.lists(LINE, max_size=4).map("\n".join)
CELLS = st.lists(st.one_of(CELL, PIECES, st.tuples(st.sampled_from(["markdown", "raw"]), CELL)), max_size=5)
FORM = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 1, 2, "\t"]),
        "ensure_ascii": st.booleans(),
        "sort_keys": st.booleans(),
        "separators": st.sampled_from([None, (",", ":"), (" , ", " : ")]),
    }
)


@given(CELLS, FORM, st.booleans())
def test_what_is_not_changed_stays_byte_for_byte(cells: list[Any], form: dict[str, Any], as_text: bool) -> None:
    made = notebook(cells)
    for cell in made["cells"]:
        cell["source"] = "".join(cell["source"]) if as_text else cell["source"]
    data = json.dumps(made, **form).encode()
    source = SourceFile.from_bytes("a.ipynb", data)
    assert source.with_text(source.text).data == data
    assert source.program is not None
    assert source.program.texts(source.text) == {cell.number: cell.text for cell in source.program.cells}


@given(CELLS, FORM, st.booleans(), st.data())
def test_a_changed_cell_says_the_new_text_and_nothing_else_moves(
    cells: list[Any], form: dict[str, Any], as_text: bool, data: st.DataObject
) -> None:
    made = notebook(["start = 1\nmore = 2\n", *cells])
    for cell in made["cells"]:
        cell["source"] = "".join(cell["source"]) if as_text else cell["source"]
    text = json.dumps(made, **form)
    found = read(text)
    chosen = data.draw(st.sampled_from(found.cells))
    new = data.draw(
        st.one_of(CELL, st.just(chosen.text.replace("1", "2")), st.just(chosen.text + "\nlast"), st.just(""))
    )
    after = rewritten(text, found.cells, {chosen.number: new})
    again = read(after)
    assert [cell.text for cell in again.cells] == [new if c is chosen else c.text for c in found.cells]
    assert after[: chosen.start] == text[: chosen.start]
    assert after.endswith(text[chosen.end :])


@example('"a\\u00e9\\n\\u000a\\/b"')
@given(st.lists(st.sampled_from(["a", "\\n", "\\u000a", "\\/", "\\u00e9", "\\\\", '\\"', "é", "\\ud83d\\ude00"])).map(
    lambda parts: f'"{"".join(parts)}"'
))  # fmt: skip
def test_lines_that_stay_are_written_as_they_were(raw: str) -> None:
    text = f'{{"cells": [{{"cell_type": "code", "source": {raw}}}]}}'
    found = read(text)
    (cell,) = found.cells
    after = rewritten(
        text, found.cells, {1: cell.text + "\nnew" if not cell.text.endswith("\n") else cell.text + "new"}
    )
    kept = raw[1:-1] if cell.text.endswith("\n") or not cell.text else raw[1 : 1 + raw[1:-1].rfind("\\n") + 2]
    assert kept.startswith(after[after.index('"source": "') + 11 :][: len(kept)]) or kept in after


def test_a_fix_changes_only_its_lines_and_leaves_a_valid_notebook(run: Command) -> None:
    cells = [("markdown", "# é\n"), "%matplotlib inline\nimport jax\n", "a = 1\n" + REMOVED + "b = 'é'", "!ls\n"]
    before = dumped(cells, metadata_of_ours={"x": [1.50, "\\u00e9"]})
    write({"a.ipynb": before, "b.ipynb": dumped(["x = 1\n"])})
    other = Path("b.ipynb").read_bytes()
    assert run("--fix").status == 0
    after = Path("a.ipynb").read_text("utf-8")
    changed = [pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]]
    assert changed == [('    "y = jax.tree_map(abs, [1])\\n",', '    "y = jax.tree.map(abs, [1])\\n",')]
    assert Path("b.ipynb").read_bytes() == other
    made = json.loads(after)
    del made["metadata_of_ours"]
    nbformat.validate(nbformat.from_dict(made))


PROGRAM = st.lists(
    st.sampled_from([
        "import jax", "y = jax.tree_map(abs, [1])", "", "# é", "%time jax.tree_map(abs, [1])", "def (:", "%%time",
        "@jax.jit\ndef f(x, flag):\n    if flag:\n        return x\n    return x + 1", "f(1, True);", '"""\n%x\n"""',
        "z = jax.vmap(f)", "    indented = 1", "a = !ls", "x = jax.numpy.zeros(3)\nx[0] = 1.0", "\ta = 1 \\", "\x0c",
        "!ls",
    ]), max_size=4,
)  # fmt: skip
END = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def notebooks(draw: st.DrawFn) -> str:
    """Notebooks of the formats 4.0 to 4.5, their sources as texts, lists of lines, and lists cut anywhere."""
    cells = draw(st.lists(st.tuples(st.sampled_from(["code", "code", "markdown", "raw"]), PROGRAM, END), max_size=5))
    made = notebook([(kind, end.join(lines) + draw(st.sampled_from(["", end]))) for kind, lines, end in cells])
    made["nbformat_minor"] = draw(st.integers(0, 5))
    for cell in made["cells"]:
        text = "".join(cell["source"])
        cuts = [0, *sorted(draw(st.lists(st.integers(0, len(text)), max_size=2))), len(text)]
        pieces = [text[start:end] for start, end in pairwise(cuts)]
        cell["source"] = draw(st.sampled_from([text, cell["source"], pieces]))
        cell["metadata"] = draw(st.sampled_from([{}, {"source": ["import jax"], "cells": [1]}]))
        if made["nbformat_minor"] < 5:
            del cell["id"]
    text = json.dumps(dict(draw(st.permutations(list(made.items())))), **draw(FORM))
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n", "\r\n"]))


def outside(text: str) -> list[str]:
    """What stands between the sources of the code cells."""
    cells = read(text).cells
    starts, ends = [cell.start for cell in cells], [cell.end for cell in cells]
    return [text[start:end] for start, end in zip([0, *ends], [*starts, len(text)], strict=True)]


@given(notebooks())
def test_fixes_comments_and_reports_of_any_notebook(text: str) -> None:
    settings = settings_for(Path.cwd(), Options(select=("ALL",), isolated=True, cache=False))
    source = SourceFile.from_bytes("a.ipynb", text.encode())
    start = Loaded((source,), {"a.ipynb": Path("a.ipynb")})
    first = lint(start, settings)
    done = fix_all(start, lambda loaded: lint(loaded, settings), lambda _, found: [one for one in found if one.fix])
    after = done.loaded.sources[0]
    assert not first.failures and not done.remaining.failures
    before, now = (one.data.decode(one.encoding) for one in (source, after))
    assert outside(before) == outside(now)
    for old, new in zip(read(before).cells, read(now).cells, strict=True):
        assert old.text != new.text or before[old.start : old.end] == now[new.start : new.end]
        assert before[old.start] == now[new.start]
    nbformat.validate(nbformat.from_dict(json.loads(now)))
    assert source.with_text(with_noqa(source.text, first.findings)).program is not None
    assert len(LineMap(source.runnable(source.text))) == len(LineMap(source.text))
    told = by_cell(Report(findings=first.findings), start.sources, {})
    lines = {cell.number: LineMap(cell.text) for cell in read(before).cells}
    for finding in told.findings:
        line = lines[finding.cell or 0].line(finding.span.line)
        assert 1 <= finding.span.column <= len(line) + 1


def test_the_diff_is_told_by_cell(run: Command) -> None:
    write({"a.ipynb": dumped(["import jax\n", REMOVED])})
    shown = run("--diff")
    assert "--- a.ipynb:cell 2\n" in shown.out and f"-{REMOVED}+{MENDED}" in shown.out


def test_an_import_that_a_fix_needs_stands_in_a_cell_of_imports(run: Command) -> None:
    cells = ["import jax\n%load_ext x", "x = jax.numpy.ones(3)\nd = jax.abstract_arrays.ShapedArray\n" + REMOVED]
    write({"a.ipynb": dumped(cells)})
    run("--fix", "--unsafe-fixes", "--select", "ALL")
    texts = [cell.text for cell in read(Path("a.ipynb").read_text()).cells]
    assert len(texts) == 2 and texts[0].startswith("import jax\n") and MENDED in texts[1]


def test_a_change_across_cells_is_refused() -> None:
    source = SourceFile.from_bytes("a.ipynb", dumped(["x = 1\n", "%time x\n"]).encode())
    from jaxlint.source.text import SourceError

    assert source.program is not None
    for text in (source.text.replace(f"# {source.program.marker}\n", ""), source.text.replace("pass", "")):
        with pytest.raises(SourceError, match="cannot be changed"):
            source.with_text(text + "y = 2\n" if "pass" in text else text)
    timed = SourceFile.from_bytes("a.ipynb", dumped(["%%time\nx = 1\n"]).encode())
    with pytest.raises(SourceError, match="cannot be changed"):
        timed.with_text(f"import os\n{timed.text}")
    assert timed.with_text(f"{timed.text}y = 1\n").program is not None
    with pytest.raises(SourceError, match="Python by itself"):
        source.with_text(source.text.replace("x = 1\n", "@decorator\n"))


def test_every_prefix_of_a_notebook_ends_without_an_internal_error(run: Command) -> None:
    text = dumped(["import jax\n%time x\n", REMOVED])
    for end in range(0, len(text), 37):
        write({"a.ipynb": text[:end]})
        assert run().status == 1


def test_files_are_found_and_left_out_like_others(run: Command) -> None:
    write({"a.ipynb": dumped([]), ".ipynb_checkpoints/a.ipynb": dumped([]), "old/b.ipynb": dumped([])})
    assert run("--show-files").out.split() == ["a.ipynb", "old/b.ipynb"]
    write({"jaxlint.toml": 'extend-exclude = ["*.ipynb"]\nper-file-ignores = { "*.ipynb" = ["ALL"] }\n'})
    assert run("--show-files").out.split() == []
    write({"a.ipynb": dumped(["import jax\n", REMOVED])})
    assert codes(run(*JSON, "a.ipynb")) == []


# ---- verifying ------------------------------------------------------------------------------------------------------

SLOW = [
    "%matplotlib inline\nimport jax\nimport jax.numpy as jnp\n",
    "@jax.jit\ndef f(x):\n    return jnp.sum(x ** 2)\n",
    "%%time\nrows = jax.vmap(f)\nrows(jnp.arange(12.0).reshape(4, 3))",
    "!ls\ndisplay(rows(jnp.ones((2, 3))));\n",
]


@pytest.mark.jax
def test_the_cells_are_run_in_their_order(run: Command) -> None:
    write({"a.ipynb": dumped(SLOW), "b.ipynb": dumped([*SLOW[:1], SLOW[1].replace("** 2", "** 3"), *SLOW[2:]])})
    (found,) = json.loads(run(*JSON, "--verify", "a.ipynb").out)
    assert found["verification"]["verdict"] in ("confirmed", "same"), found["verification"]["reason"]
    assert run("compare", "a.ipynb", "a.ipynb").status == 0
    ended = run("compare", "a.ipynb", "b.ipynb")
    assert ended.status == 1 and "different" in ended.out


@pytest.mark.jax
@pytest.mark.parametrize("magic", ["%run other.py", "n = !nproc", "%%writefile other.py\nx = 1"])
def test_nothing_is_proved_behind_a_magic_that_may_change_the_rest(run: Command, magic: str) -> None:
    write({"a.ipynb": dumped([magic, *SLOW, "n = 2" if "nproc" not in magic else "print(n)"])})
    (found,) = json.loads(run(*JSON, "--verify", "a.ipynb").out)
    assert found["verification"]["verdict"] == "unverified"
    first = magic.splitlines()[0].removeprefix("n = ")
    assert f"`{first}` is not run" in found["verification"]["reason"]


def test_what_a_magic_gives_is_none_where_nothing_uses_it() -> None:
    for cells, ends in ([["files = !ls\n", "x = 1\n"], False], [["files = !ls\n", "print(files)\n"], True]):
        source = SourceFile.from_bytes("a.ipynb", dumped(cells).encode())  # type: ignore[arg-type]
        assert ("RuntimeError" in source.runnable(source.text)) is ends
        assert source.runnable(source.text).count("\n") == source.text.count("\n")


@pytest.mark.jax
def test_what_stands_last_in_a_cell_is_shown(run: Command) -> None:
    cells = ["import jax.numpy as jnp\nx = jnp.arange(3.0)\ny = 2\n", "x * y"]
    write({"a.ipynb": dumped(cells), "b.ipynb": dumped([cells[0], "x * 3"]), "c.ipynb": dumped([cells[0], "x * 3;"])})
    assert run("compare", "a.ipynb", "b.ipynb").status == 1
    write({"d.ipynb": dumped([cells[0], "x[0].item()"]), "e.ipynb": dumped([cells[0], "x[0]"])})
    assert run("compare", "d.ipynb", "e.ipynb").status == 1  # 0.0 is shown otherwise than Array(0., dtype=float32)
    shown = SourceFile.from_bytes("c.ipynb", Path("c.ipynb").read_bytes())
    assert "print" not in shown.runnable(shown.text)


@pytest.mark.jax
def test_what_is_awaited_outside_of_functions_is_waited_for(run: Command) -> None:
    awaited = "import asyncio\nawait asyncio.sleep(0)\nasync def two():\n    return 2\nn = await two()\n"
    cells = [*SLOW[:2], awaited, "rows = jax.vmap(f)\nrows(jnp.ones((n, 3)))", "await two()"]
    write({"a.ipynb": dumped(cells), "b.ipynb": dumped([*cells, "await two() + 1"])})
    (found,) = json.loads(run(*JSON, "--verify", "a.ipynb").out)
    assert found["verification"]["verdict"] in ("confirmed", "same"), found["verification"]["reason"]
    assert run("compare", "a.ipynb", "b.ipynb").status == 1


def test_the_program_of_no_cells_is_empty() -> None:
    assert program(read(dumped([]))).text == ""
