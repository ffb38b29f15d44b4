"""Runs the command: `python -m jaxlint`."""

from jaxlint.cli.main import main

if __name__ == "__main__":  # processes that a run starts may import this
    main()
