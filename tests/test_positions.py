"""Positions in the text are those that libcst's own provider gives, only sooner."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
import pytest
from examples import ROOT, all_blocks
from libcst.metadata import MetadataWrapper, PositionProvider

from jaxlint.program.positions import Positions

ODD = """@ deco ( 1 )
async def f(a, /, b: int = (1), *args, c=3, **kwargs) -> "x" :
\tx = ( yield  (a) ) ; y = [ *a , (b , c) ]
\twith ( open ( 'é' ) as g , h ) : pass
\tfor i , in (a , ) : continue
\telse : pass
\ttry : pass
\texcept ( A , B ) as e : raise  e  from  None
\tfinally : del x [ : , 1 : 2 ]
\treturn  ( lambda * , k : ( k ) ) (
\t\tk = not a if b else ~ c ,  # ünï
\t\t** { ** d , 'a' : f"{a!r:>{ w }} ü" "b" } ,
\t)
class A ( B , metaclass = C ) : z : int = ( w := 3 )
if (a)<(b)<=c is not d not in e : pass
elif a and b or c : assert a , "b"
else :
    print ( { i for i in x if i } , { i : j for i , j in x } , [ a async for a in b ] , ( i for i in j ) )
match x :
    case [ A ( 1 , b = _ ) , * rest ] | { 'k' : v , ** others } if x : global q"""

WITHOUT_MEANING = (cst.Module, cst.BaseParenthesizableWhitespace, cst.EmptyLine, cst.Newline, cst.TrailingWhitespace)

TEXTS = {
    **{file.stem: file.read_text("utf-8") for file in sorted((ROOT / "fixtures").rglob("*.py"))},
    "pages": "\n".join(block.text for block in all_blocks("bad", "good", "fixed") if block.page != "syntax-error"),
    "odd": ODD,
    "empty": "",
    "comment": "# nothing",
}

CHANGES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "form feeds": lambda text: text.replace("\nimport", "\n\x0cimport"),
    "no last line end": lambda text: text.rstrip("\n"),
    "wide": lambda text: text.replace("a", "á"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", TEXTS)
def test_positions_are_those_of_the_provider(name: str, change: str) -> None:
    text = CHANGES[change](TEXTS[name])
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    except cst.ParserSyntaxError:
        assert change == "wide"  # a keyword was hit
        return
    positions = Positions(wrapper.module, text)
    for node, there in wrapper.resolve(PositionProvider).items():
        if not isinstance(node, WITHOUT_MEANING):
            span = positions.span(node)
            assert (span.line, span.column - 1) == (there.start.line, there.start.column), node
            assert (span.end_line, span.end_column - 1) == (there.end.line, there.end.column), node
