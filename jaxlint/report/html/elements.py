"""HTML and SVG as trees, so that whatever stands in a text or an attribute is escaped when they are written."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

from jaxlint.report.printable import printable

Child = Element | str | None
Children = Child | Iterable[Child]


def element(tag: str, *children: Children, **attributes: str | float) -> Element:
    """An element. `class_` stands for `class`, `aria_label` for `aria-label`; None among the children is left out.

    Texts and attributes are shown without what would steer or disguise them, such as marks that turn the direction.
    """
    made = Element(tag, {_name(name): printable(_number(value)) for name, value in attributes.items()})
    for child in _flat(children):
        _append(made, child)
    return made


def raw(tag: str, content: str) -> Element:
    """A `style` or `script` element, whose content browsers take as it stands: never anything from a program."""
    made = Element(tag)
    made.text = content
    return made


def prose(text: str) -> list[Child]:
    """A message, with what stands between backquotes as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an odd backquote is one of the text
        return [text]
    return [element("code", part) if number % 2 else part for number, part in enumerate(parts)]


def document(root: Element) -> str:
    """The text of a page."""
    return "<!doctype html>\n" + tostring(root, "unicode", method="html") + "\n"


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-") if name not in _CAMEL else _CAMEL[name]


_CAMEL = {"view_box": "viewBox"}


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _flat(children: Iterable[Children]) -> Iterable[Element | str]:
    for child in children:
        if isinstance(child, (Element, str)):
            yield child
        elif child is not None:
            yield from (one for one in child if one is not None)


def _append(parent: Element, child: Element | str) -> None:
    if isinstance(child, Element):
        parent.append(child)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + printable(child)
    else:
        parent.text = (parent.text or "") + printable(child)
