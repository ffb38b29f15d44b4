"""The evidence as one page for browsers, without scripts and without anything from elsewhere."""

from jaxlint.report.html.page import render

__all__ = ["render"]
