"""The documentation site: `make docs`. Its pages are the Markdown files of the repository, where they stand."""

from __future__ import annotations

import json
from collections.abc import Iterator

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from jaxlint import __version__, registry
from jaxlint.config.schema import schema

project = "jaxlint"
release = __version__
copyright = "the jaxlint developers"

extensions = ["myst_parser"]
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "rules/*.md", "benchmarks/*.md"]
root_doc = "docs/index"
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"jaxlint {release}"
html_copy_source = False
html_extra_path = ["root"]  # the start page lies in docs/
# Examples of Python that does not parse, and consoles, are shown all the same.
suppress_warnings = ["misc.highlighting_failure"]


class Table(SphinxDirective):
    """A directive that makes lines of Markdown and reads them."""

    def run(self) -> list[nodes.Node]:
        """What the Markdown says."""
        parent = nodes.Element()
        content = StringList(list(self.lines()), source=self.get_source_info()[0])
        self.state.nested_parse(content, self.content_offset, parent)
        return parent.children

    def lines(self) -> Iterator[str]:
        """The lines of Markdown."""
        raise NotImplementedError


class RuleTable(Table):
    """`{rule-table}`: all rules, each with a link to its page."""

    def lines(self) -> Iterator[str]:
        """A row for each rule."""
        yield from ("| code | rule | finds | on | fix |", "|---|---|---|---|---|")
        for rule in registry.rules():
            name = f"[{rule.name}](/rules/{rule.name}.md)"
            on, fix = "yes" if rule.on_by_default else "hint", rule.fix.value if rule.fix else ""
            yield f"| {rule.code} | {name} | {rule.summary} | {on} | {fix} |"


class ConfigTable(Table):
    """`{config-table}`: all keys of the configuration."""

    def lines(self) -> Iterator[str]:
        """A row for each key."""
        yield from ("| key | meaning | default |", "|---|---|---|")
        keys = schema(registry.rules())["properties"]
        inner = schema(registry.rules())["$defs"]["VerifyTable"]["properties"]
        keys = {key: one for key, one in keys.items() if key != "verify"}
        for key, one in (keys | {f"verify.{name}": one for name, one in inner.items()}).items():
            default = json.dumps(one.get("default"))
            yield f"| `{key}` | {one['description']} | {'' if default == 'null' else f'`{default}`'} |"


def setup(app: Sphinx) -> None:
    """Makes the tables known."""
    app.add_directive("rule-table", RuleTable)
    app.add_directive("config-table", ConfigTable)
