"""`jaxlint rules` and `jaxlint rule`: what the rules are, and the page of one."""

from __future__ import annotations

import click
from msgspec import to_builtins

from jaxlint import registry
from jaxlint.cli.complete import complete_rules
from jaxlint.config.selection import SelectionError, find_rule
from jaxlint.pages import page
from jaxlint.registry import Rule
from jaxlint.report.json import dump


@click.command()
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rules(output_format: str) -> None:
    """List the rules: code, name, severity, fix, and what each finds."""
    known = registry.rules()
    if output_format == "json":
        click.echo(dump([to_builtins(rule) for rule in known]), nl=False)
    else:
        click.echo(_table(known), nl=False)


@click.command()
@click.argument("rule", required=False, metavar="[CODE|NAME]", shell_complete=complete_rules)
@click.pass_context
def rule(ctx: click.Context, rule: str | None) -> None:
    """Explain a rule, by its code or name; list those of a family (JAX1), or without one all rules."""
    if rule is None:
        ctx.invoke(rules, output_format="text")
        return
    family = tuple(one for one in registry.rules() if one.code.startswith(rule.upper()) and one.code != rule.upper())
    if len(rule) > len("JAX") and family:
        click.echo(_table(family), nl=False)
        return
    try:
        found = find_rule(rule)
    except SelectionError as error:
        raise click.UsageError(str(error)) from None
    click.echo(page(found.name) or _headline(found), nl=False)


def _headline(rule: Rule) -> str:
    fix = f"{rule.fix.value} fix" if rule.fix else "no fix"
    on = "on by default" if rule.on_by_default else "off by default"
    return f"# {rule.name} ({rule.code})\n\n{rule.summary}.\n\n{rule.severity.value}, {on}, {fix}\n"


def _table(known: tuple[Rule, ...]) -> str:
    width = max((len(rule.name) for rule in known), default=0)
    lines = [
        f"{rule.code}  {rule.name:<{width}}  {rule.severity.value:<7}  {rule.fix.value if rule.fix else '-':<7}  "
        f"{'on ' if rule.on_by_default else 'off'}  {rule.summary}"
        for rule in known
    ]
    return "\n".join([f"{'code':<6}  {'name':<{width}}  severity fix      on   summary", *lines, ""])
