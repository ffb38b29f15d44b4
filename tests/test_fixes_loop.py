from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.engine import Linted, Loaded
from jaxlint.fixes.diff import unified
from jaxlint.fixes.loop import PASSES, fix_all
from jaxlint.fixes.tidy import without_unused_imports
from jaxlint.fixes.write import WriteError, create, replace
from jaxlint.model import Edit, Finding, Fix, Safety, Severity, Span
from jaxlint.source.text import LineMap, SourceFile


def replacing(pattern: str, by: str | Callable[[re.Match[str]], str]) -> Callable[[Loaded], Linted]:
    """A linter that wants every match of a pattern to be replaced."""

    def found(source: SourceFile) -> Iterator[Finding]:
        lines = LineMap(source.text)
        for match in re.finditer(pattern, source.text):
            span = Span(*lines.position(match.start()), *lines.position(match.end()))
            content = by if isinstance(by, str) else by(match)
            fix = Fix(Safety.SAFE, "", (Edit(span, content),))
            yield Finding("JAX101", "vmap-of-jit", Severity.WARNING, source.path, span, "wrong", (), fix)

    return lambda loaded: Linted(tuple(one for source in loaded.sources for one in found(source)))


def loaded(text: str | bytes) -> Loaded:
    data = text.encode() if isinstance(text, str) else text
    return Loaded((SourceFile.from_bytes("a.py", data),), {"a.py": Path("a.py")})


def every(_: Loaded, findings: object) -> object:
    return findings


def test_fixes_are_applied_until_nothing_is_left() -> None:
    result = fix_all(loaded("x = aaaa\n"), replacing("aa", "a"), every)  # type: ignore[arg-type]
    assert result.loaded.sources[0].text == "x = a\n"
    assert len(result.applied) == 3
    assert result.remaining.findings == ()
    assert result.notes == ()


def test_a_fix_that_does_not_mend_what_it_is_for_is_left_out() -> None:
    lint = replacing(r"^a+\b", lambda match: match[0] + "a")
    result = fix_all(loaded("a = 1\n"), lint, every)  # type: ignore[arg-type]
    assert result.loaded.sources[0].text == "a = 1\n" and result.applied == ()
    assert len(result.notes) == 1 and "do not mend" in result.notes[0]


def test_fixes_that_never_settle_end_with_a_note() -> None:
    def further(match: re.Match[str]) -> str:
        return f"\n{match[0]}"  # each time in another line

    result = fix_all(loaded("x = 1\n"), replacing("x", further), every)  # type: ignore[arg-type]
    assert len(result.applied) == PASSES
    assert f"after {PASSES} passes" in result.notes[0]


def test_fixes_that_undo_each_other_are_left_out_and_told() -> None:
    def other(match: re.Match[str]) -> str:
        return {"a": "b", "b": "a", "c": "d"}[match[0]]

    result = fix_all(loaded("c = 1\na = 1\n"), replacing(r"(?m)^[abc]\b", other), every)  # type: ignore[arg-type]
    assert result.loaded.sources[0].text in ("c = 1\na = 1\n", "d = 1\na = 1\n", "d = 1\nb = 1\n")
    assert len(result.notes) == 1 and "undo each other" in result.notes[0]
    again = fix_all(result.loaded, replacing(r"(?m)^[ab]\b", other), every)  # type: ignore[arg-type]
    assert again.loaded == result.loaded and again.applied == ()


def test_lines_that_python_does_not_count_are_none() -> None:
    import_of_two = "s = '\u2028\f'\nfrom jax import jit, tree_map\ny = tree_map(abs, [1])\nz = jit(abs)\n"
    source = SourceFile.from_text("a.py", import_of_two)
    after = without_unused_imports(source, source.with_text(import_of_two.replace("= tree_map", "= jit")))
    assert after.text == import_of_two.replace("= tree_map", "= jit").replace("jit, tree_map", "jit")


def test_a_fix_that_breaks_the_syntax_is_left_out() -> None:
    lint = replacing(r"\b[xy]\b", lambda match: "z" if match[0] == "x" else "(")
    result = fix_all(loaded("a = x\nb = y\nc = x\n"), lint, every)  # type: ignore[arg-type]
    assert result.loaded.sources[0].text == "a = z\nb = y\nc = z\n"
    assert len(result.applied) == 2
    assert [one.span.line for one in result.remaining.findings] == [2]
    assert result.notes == ("a.py:2:5: the fix for JAX101 would break the syntax and was left out",)


def test_only_what_is_chosen_is_fixed() -> None:
    def first(_: Loaded, findings: tuple[Finding, ...]) -> list[Finding]:
        return [one for one in findings if one.span.line == 1]

    result = fix_all(loaded("a = x\nb = x\n"), replacing("x", "y"), first)  # type: ignore[arg-type]
    assert result.loaded.sources[0].text == "a = y\nb = x\n"
    assert len(result.remaining.findings) == 1


def test_a_text_that_the_encoding_cannot_hold_is_not_written() -> None:
    result = fix_all(loaded(b"# coding: latin-1\nx = 1\n"), replacing("x", "日"), every)  # type: ignore[arg-type]
    assert result.applied == ()
    assert "iso-8859-1 has no `日`" in result.notes[0]


PIECES = st.lists(st.sampled_from(["x = '\t'", "# é\f", "y = x", "", "'''", "\f"]), max_size=8)


@given(PIECES, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["utf-8", "utf-8-sig", "latin-1"]), st.booleans())
def test_bytes_outside_the_fixes_are_kept(pieces: list[str], ending: str, encoding: str, final: bool) -> None:
    lines = [f"# coding: {encoding.removesuffix('-sig')}", *pieces]
    data = (ending.join(lines) + (ending if final else "")).encode(encoding)
    result = fix_all(loaded(data), replacing(r"\bx\b", "zz"), every)  # type: ignore[arg-type]
    after = result.loaded.sources[0].data
    if result.applied:
        assert after == re.sub(rb"\bx\b", b"zz", data)
        assert fix_all(loaded(after), replacing(r"\bx\b", "zz"), every).loaded.sources[0].data == after  # type: ignore[arg-type]
    else:
        assert after == data


def test_a_file_is_replaced_with_its_mode_kept_and_links_followed(tmp_path: Path) -> None:
    file, link = tmp_path / "a.py", tmp_path / "link.py"
    file.write_bytes(b"old")
    file.chmod(0o751)
    link.symlink_to(file)
    replace(link, b"old", b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o751
    assert link.is_symlink()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.py", "link.py"]


def test_a_file_that_changed_in_the_meantime_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"newer")
    with pytest.raises(WriteError, match="changed on disk"):
        replace(file, b"old", b"new")
    assert file.read_bytes() == b"newer"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    monkeypatch.setattr("jaxlint.fixes.write.os.replace", fail)
    with pytest.raises(WriteError, match="No space left"):
        replace(file, b"old", b"new")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_report_cannot_be_written_into_nowhere(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="No such file"):
        create(tmp_path / "no" / "report.json", b"[]")


def test_a_diff_is_one_that_patch_reads() -> None:
    assert unified("a.py", "a\nb", "a\nc") == (
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )
    assert unified("a.py", "a\r\n\fb\r\n", "a\r\n\fc\r\n") == (
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n a\r\n-\fb\r\n+\fc\r\n"
    )
    assert unified("a.py", "same\n", "same\n") == ""
