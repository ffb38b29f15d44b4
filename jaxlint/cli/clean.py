"""`jaxlint clean`: removes what earlier runs stored."""

from __future__ import annotations

from pathlib import Path

import click

from jaxlint.config.file import ConfigError
from jaxlint.config.settings import Options, cache_folder
from jaxlint.source.files import common_root, shown
from jaxlint.store.folder import remove

CACHE_DIR = click.option(
    "--cache-dir",
    envvar="JAXLINT_CACHE_DIR",
    metavar="FOLDER",
    help="Where results are stored (default: .jaxlint_cache in the project).",
)


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATHS]")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--config", metavar="FILE", help="The configuration file to use.")
@CACHE_DIR
def clean(paths: tuple[str, ...], isolated: bool, config: str | None, cache_dir: str | None) -> int:
    """Remove what earlier runs over files and folders (default: the working folder) stored."""
    options = Options(
        isolated=isolated,
        config=Path(config) if config else None,
        cache_dir=Path(cache_dir) if cache_dir else None,
    )
    try:
        folder = cache_folder(common_root(paths or (".",)), options)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    try:
        removed = remove(folder)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be removed: {error.strerror or error}") from error
    click.echo(f"Removed {shown(folder)}." if removed else f"Nothing is stored in {shown(folder)}.")
    return 0
