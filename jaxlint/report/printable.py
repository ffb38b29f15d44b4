"""Texts on a terminal: without what would steer it, and how wide they are there."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """The text without what would steer a terminal; the rest of Unicode stays."""
    return "".join(map(_escaped, text))


def columns(text: str) -> int:
    """How wide the text is on a terminal: wide characters take two columns, combining ones none."""
    return sum(map(_width, text))


def _escaped(character: str) -> str:
    if unicodedata.category(character)[0] != "C":
        return character
    return character.encode("unicode_escape").decode()


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
