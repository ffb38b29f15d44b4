"""Where the nodes of a libcst tree stand in their text.

libcst's own `PositionProvider` costs twice the parse: it looks for line ends in each token and makes two objects for
each node. Here code generation only counts characters, and lines are looked up for the nodes that are asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from types import TracebackType

import libcst as cst
from libcst._nodes.internal import CodegenState

from jaxlint.model import Span
from jaxlint.source.text import LineMap

Range = tuple[int, int]


class Positions:
    """The spans of the nodes of a tree, the module itself not among them.

    A span is what libcst's `PositionProvider` calls one: without the parentheses and white space around. `first_line`
    is the number of the first line, where the text is part of another.
    """

    def __init__(self, module: cst.Module, text: str, first_line: int = 1) -> None:
        state = _Counting(module.default_indent, module.default_newline)
        module._codegen(state)
        self._tree, self._ranges = module, state.ranges  # identities are good as long as the tree lives
        # libcst drops form feeds, and nothing else; then lines are those of what it would write.
        written = module.code if "\f" in text else text
        self._starts = LineMap(written).starts
        self._before = first_line - 1

    def span(self, first: cst.CSTNode, last: cst.CSTNode | None = None) -> Span:
        """From the start of a node to its end, or to that of another one."""
        line, column = self._place(self._ranges[id(first)][0])
        end_line, end_column = self._place(self._ranges[id(last or first)][1])
        return Span(line, column, end_line, end_column)

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line + self._before, offset - self._starts[line - 1] + 1


class _Counting(CodegenState):
    """Writes nothing, and notes at which character of the text each node begins and ends."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent, default_newline)
        self.offset = 0
        self.indent = 0
        self.open: list[int] = []
        self.ranges: dict[int, Range] = {}  # by identity, which is how libcst compares nodes too

    def increase_indent(self, value: str) -> None:
        self.indent_tokens.append(value)
        self.indent += len(value)

    def decrease_indent(self) -> None:
        self.indent -= len(self.indent_tokens.pop())

    def add_indent_tokens(self) -> None:
        self.offset += self.indent

    def add_token(self, value: str) -> None:
        self.offset += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.open.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        # What `record_syntactic_position` noted, inside of white space and parentheses, stands.
        start = self.open.pop()
        if id(node) not in self.ranges:
            self.ranges[id(node)] = (start, self.offset)

    def record_syntactic_position(  # type: ignore[override]
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Syntactic:
        return _Syntactic(self, node, start_node, end_node)


class _Syntactic:
    """Notes the range of a node when its own code is written; parts of it may bound the range."""

    __slots__ = ("end_node", "node", "start", "start_node", "state")

    def __init__(
        self, state: _Counting, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.state, self.node, self.start_node, self.end_node = state, node, start_node, end_node
        self.start = state.offset

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ranges = self.state.ranges
        start = self.start if self.start_node is None else ranges[id(self.start_node)][0]
        end = self.state.offset if self.end_node is None else ranges[id(self.end_node)][1]
        ranges[id(self.node)] = (start, end)
