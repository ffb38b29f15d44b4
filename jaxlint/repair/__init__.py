"""What rules write fixes with: how to spell an API name at a place, and edits of calls, statements and imports."""

from jaxlint.repair.calls import add_argument, argument_text, remove_argument, rename_keyword
from jaxlint.repair.spelling import Spelling, fresh_name, spell
from jaxlint.repair.text import insert_before, is_line_start, operand

__all__ = [
    "Spelling",
    "add_argument",
    "argument_text",
    "fresh_name",
    "insert_before",
    "is_line_start",
    "operand",
    "remove_argument",
    "rename_keyword",
    "spell",
]
