"""`jaxlint server`: the language server on standard input and output."""

from __future__ import annotations

import click


@click.command()
@click.option("--stdio", is_flag=True, hidden=True, help="Taken for granted; some clients say it.")
def server(stdio: bool) -> int:
    """Serve editors that speak the Language Server Protocol, on standard input and output."""
    try:
        from jaxlint.server.serve import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise click.ClickException(
            "the language server needs pygls 2; install it with: pip install 'flake8-jaxlint[lsp]'"
        ) from None
    return serve()
