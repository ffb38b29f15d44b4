"""The form of the configuration: its keys, their types and what they mean, for reading it and for its JSON schema."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

OutputFormat = Literal["text", "json", "sarif", "github", "gitlab", "junit"]
OUTPUT_FORMATS: tuple[str, ...] = get_args(OutputFormat)

Selector = Annotated[str, Meta(title="Selector", description="The code or name of a rule, a prefix, or a group.")]
Selectors = tuple[Selector, ...]
Transform = Annotated[str, Meta(title="Transform", description="A transform that jaxlint knows, by its dotted name.")]


def _says(description: str) -> Meta:
    return Meta(description=description)


class VerifyTable(Struct, frozen=True, rename="kebab", kw_only=True, forbid_unknown_fields=True):
    """What the verifier is given beside the code."""

    examples: Annotated[
        dict[str, str],
        _says("For a callable (`package.module:function`) the factory of its arguments, written the same way."),
    ] = {}
    run: Annotated[str | None, _says("A command of Python that calls the code, such as `pytest tests`.")] = None


class ConfigFile(Struct, frozen=True, rename="kebab", kw_only=True):
    """The configuration of jaxlint: `[tool.jaxlint]` in pyproject.toml, or jaxlint.toml."""

    # None and empty are what a file leaves open; defaults are in `settings`.
    extend: Annotated[
        str | None, _says("A configuration file that this one builds on, relative to this one; keys set here win.")
    ] = None
    select: Annotated[Selectors | None, _says('The rules that are on; by default `["DEFAULT"]`.')] = None
    ignore: Annotated[Selectors, _says("Rules that are off; the more specific word wins.")] = ()
    extend_select: Annotated[Selectors, _says("Rules that are on beside those selected.")] = ()
    per_file_ignores: Annotated[
        dict[str, Selectors], _says("Rules that are off in the files of a pattern; `!` in front: in all others.")
    ] = {}
    exclude: Annotated[
        tuple[str, ...] | None, _says("What is left out, as in .gitignore; replaces the built-in list.")
    ] = None
    extend_exclude: Annotated[tuple[str, ...], _says("What is left out beside `exclude`.")] = ()
    force_exclude: Annotated[bool, _says("Leave out excluded files even when they are named.")] = False
    respect_gitignore: Annotated[bool, _says("Leave out what git ignores.")] = True
    target_jax: Annotated[
        str | None, _says("The JAX version the code runs with; by default what the project's metadata asks for.")
    ] = None
    fixable: Annotated[Selectors | None, _says("Rules whose fixes may be applied; by default all.")] = None
    unfixable: Annotated[Selectors, _says("Rules whose fixes are never applied.")] = ()
    wrappers: Annotated[
        dict[str, Transform], _says("Your own transforms by dotted name, each with the known one that it behaves like.")
    ] = {}
    output_format: Annotated[OutputFormat, _says("How findings are reported.")] = "text"
    cache_dir: Annotated[str | None, _says("Where results are stored, relative to this file.")] = None
    baseline: Annotated[str | None, _says("The file of known findings, made by `--write-baseline`.")] = None
    verify: Annotated[VerifyTable, _says("What `--verify` is given beside the code.")] = VerifyTable()
