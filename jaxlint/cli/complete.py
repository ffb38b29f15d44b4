"""What a shell may complete: codes and names of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The codes and names that begin like this; in a list with commas, its last part is completed."""
    from click.shell_completion import CompletionItem

    from jaxlint import registry

    done, comma, begun = incomplete.rpartition(",")
    words = ((word, rule.summary) for rule in registry.rules() for word in (rule.code, rule.name))
    return [
        CompletionItem(f"{done}{comma}{word}", help=summary)
        for word, summary in words
        if word.lower().startswith(begun.lower())
    ]
