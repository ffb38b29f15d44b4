"""Runs the command: `python -m jaxlint`."""

from jaxlint.cli.main import main

main()
