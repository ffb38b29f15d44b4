"""`jaxlint schema`: the JSON schema of the configuration."""

from __future__ import annotations

import click

from jaxlint import registry
from jaxlint.config.schema import schema as schema_of
from jaxlint.report.json import dump


@click.command()
def schema() -> None:
    """Print the JSON schema of the configuration, for editors."""
    click.echo(dump(schema_of(registry.rules())), nl=False)
