"""The command `jaxlint`: `check` is what it does unless told otherwise."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from jaxlint import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "check": "jaxlint.cli.check",
    "clean": "jaxlint.cli.clean",
    "compare": "jaxlint.cli.compare",
    "profile": "jaxlint.cli.profile",
    "rule": "jaxlint.cli.rules",
    "rules": "jaxlint.cli.rules",
    "schema": "jaxlint.cli.schema",
    "server": "jaxlint.cli.server",
}
"""The module of each command, which is imported when the command is run or its help shown."""

EPILOG = "Exit status: 0 nothing found, 1 findings, 2 wrong use or internal failure."


class _Commands(click.Group):
    """A group that takes `check` for granted, so that `jaxlint --fix src/` works."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version", "-V"}
        if not args and ctx.resilient_parsing:  # a shell asks what may come first
            return super().parse_args(ctx, args)
        if not args or (args[0] not in COMMANDS and args[0] not in own):
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        check = self.get_command(ctx, "check")
        assert check is not None
        inside = click.Context(check, parent=ctx, info_name="check", resilient_parsing=True)
        return [*super().shell_complete(ctx, incomplete), *check.shell_complete(inside, incomplete)]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        return command


@click.group(cls=_Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="jaxlint", message="%(prog)s %(version)s")
def cli() -> None:
    """Finds misuse of JAX transforms, fixes it, and proves the fixes by running both versions.

    `jaxlint PATHS` is short for `jaxlint check PATHS`; `jaxlint check --help` lists its options.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Runs the command and ends the process with its exit status."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:  # a terminal that cannot show a character must not end the run
            reconfigure(errors="backslashreplace")
    sys.exit(_run(args))


def _run(args: Sequence[str] | None) -> int:
    try:
        status = cli.main(list(args) if args is not None else None, prog_name="jaxlint", standalone_mode=False)
        sys.stdout.flush()
        return int(status or 0)
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        print("jaxlint: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except Exception as error:
        if os.environ.get("JAXLINT_DEBUG"):
            import traceback

            traceback.print_exc()
        message = f"jaxlint: internal error: {type(error).__name__}: {error}"
        print(f"{message} (please report this; JAXLINT_DEBUG=1 shows more)", file=sys.stderr)
        return 2
