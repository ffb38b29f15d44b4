"""The settings of one run: the configuration file and the command line brought together, with every word checked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, structs
from pathspec import GitIgnoreSpec

from jaxlint import registry
from jaxlint.config.file import ConfigError, Located, checked, find, nearest, read
from jaxlint.config.form import ConfigFile
from jaxlint.config.metadata import target_of_project
from jaxlint.config.nested import nested
from jaxlint.config.selection import Layer, Rules, expand, resolve
from jaxlint.config.targets import LATEST, Target, exactly
from jaxlint.source.files import DEFAULT_EXCLUDES, FileRules
from jaxlint.store.place import default_folder
from jaxlint.store.store import Store

_OBJECT = re.compile(r"\w+(\.\w+)*:[^\W\d]\w*(\.[^\W\d]\w*)*")

# Always on: a file that cannot be read must not look clean.
SYNTAX_ERROR = "JAX000"


class Options(Struct, frozen=True, kw_only=True):
    """What the command line says; None and empty are what it leaves open."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    target_jax: str | None = None
    config: Path | None = None
    isolated: bool = False
    output_format: str | None = None
    force_exclude: bool = False
    cache: bool = False
    cache_dir: Path | None = None
    baseline: Path | None = None
    run: str | None = None


class PerFileIgnore(Struct, frozen=True):
    """Codes that are off in the files of a pattern (`!` in front: in all other files)."""

    pattern: str
    spec: GitIgnoreSpec
    negated: bool
    codes: frozenset[str]


class VerifySettings(Struct, frozen=True):
    """What the verifier is given beside the code.

    `root` is the folder that factories are imported from, `run` a command that calls what has changed, `folder` that in
    which it runs, and `asked` what asks for it, for messages.
    """

    root: Path
    factories: dict[str, str] = {}
    run: str | None = None
    folder: Path = Path()
    asked: str = "--run"


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that decides what is looked at and reported."""

    root: Path
    enabled: frozenset[str]
    fixable: frozenset[str]
    per_file_ignores: tuple[PerFileIgnore, ...]
    files: FileRules
    target: Target
    wrappers: dict[str, str]
    output_format: str
    verify: VerifySettings
    baseline: Path | None = None
    store: Store = Store()
    nested: tuple[Settings, ...] = ()  # of folders with a configuration of their own, the deepest first

    def of(self, file: Path) -> Settings:
        """The settings in force for a file: those of the nearest configuration."""
        if not self.nested:
            return self
        path = Path(os.path.abspath(file))
        return next((inner for inner in self.nested if path.is_relative_to(inner.root)), self)

    def enabled_in(self, file: Path) -> frozenset[str]:
        """The codes that are on in a file."""
        own = self.of(file)
        if not own.per_file_ignores:
            return own.enabled
        try:
            relative = Path(os.path.abspath(file)).relative_to(own.root).as_posix()
        except ValueError:
            relative = file.name
        off = [rule.codes for rule in own.per_file_ignores if rule.spec.match_file(relative) != rule.negated]
        return own.enabled.difference(*off)


def settings_for(start: Path, options: Options) -> Settings:
    """The settings for what lies under a folder. Raises `ConfigError`, also for wrong words in the options."""
    return _settings(start, _located(start, options), options)


def with_nested(settings: Settings, files: Iterable[Path], options: Options) -> Settings:
    """The same settings with those of the configurations that are nearer to some of the files. Raises `ConfigError`.

    What concerns the whole run is taken from the settings given: the store, the baseline, the report's form, and what
    the verifier is given.
    """
    if options.config or options.isolated:
        return settings
    located = nested(files, settings.root)
    inner = [_settings(one.root, one, options) for one in located]
    return structs.replace(settings, nested=tuple(sorted(inner, key=lambda one: -len(one.root.parts))))


def _settings(start: Path, located: Located, options: Options) -> Settings:
    file = located.config
    store = _store(located, options)
    rules = _rules(store)
    ignored = file.per_file_ignores.items()
    return Settings(
        root=located.root,
        enabled=_enabled(located, options, rules),
        fixable=_fixable(located, rules),
        per_file_ignores=tuple(_per_file(located, pattern, codes, rules) for pattern, codes in ignored),
        files=FileRules(
            root=located.root,
            exclude=(*(DEFAULT_EXCLUDES if file.exclude is None else file.exclude), *file.extend_exclude),
            respect_gitignore=file.respect_gitignore,
            force_exclude=file.force_exclude or options.force_exclude,
        ),
        target=_target(start, located, options),
        wrappers=_wrappers(located),
        output_format=options.output_format or file.output_format,
        baseline=options.baseline or (located.folder("baseline") / file.baseline if file.baseline else None),
        verify=_verify(located, options),
        store=store,
    )


def verify_settings_for(start: Path, options: Options) -> VerifySettings:
    """What is said of the verifier alone, for what lies under a folder. Raises `ConfigError`."""
    return _verify(_located(start, options), options)


def _located(start: Path, options: Options) -> Located:
    if options.config:
        return read(options.config)
    found = None if options.isolated else find(start)
    return found or Located(ConfigFile(), start)


def cache_folder(start: Path, options: Options) -> Path:
    """Where the store of what lies under a folder is. Raises `ConfigError`."""
    return _cache_folder(_located(start, options), options)


def _cache_folder(located: Located, options: Options) -> Path:
    if options.cache_dir:
        return options.cache_dir
    if located.config.cache_dir is not None:
        return located.folder("cache-dir") / Path(located.config.cache_dir).expanduser()
    return default_folder(located.root if located.file else None)


def _store(located: Located, options: Options) -> Store:
    return Store.at(_cache_folder(located, options)) if options.cache else Store()


def _rules(store: Store) -> Rules:
    """What the rules say of themselves; to import them all takes longer than all else where nothing changed."""
    known = store.rules()
    if known is None:
        known = registry.rules()
        store.keep_rules(known)
    return known


def _enabled(located: Located, options: Options, rules: Rules) -> frozenset[str]:
    for name, file in located.layers:
        _check(located.where("select", name), file.select or (), rules)
        _check(located.where("ignore", name), file.ignore, rules)
        _check(located.where("extend-select", name), file.extend_select, rules)
    _check("--select", options.select or (), rules)
    _check("--ignore", options.ignore, rules)
    _check("--extend-select", options.extend_select, rules)
    layers = [Layer(file.select, file.ignore, file.extend_select) for _, file in located.layers]
    layers.append(Layer(options.select, options.ignore, options.extend_select))
    return resolve(layers, rules) | {SYNTAX_ERROR}


def _fixable(located: Located, rules: Rules) -> frozenset[str]:
    fixable = ("ALL",) if located.config.fixable is None else located.config.fixable
    _check(located.where("fixable"), fixable, rules)
    _check(located.where("unfixable"), located.config.unfixable, rules)
    return resolve([Layer(fixable, located.config.unfixable)], rules)


def _check(where: str, words: tuple[str, ...], rules: Rules) -> None:
    checked(where, lambda: [expand(word, rules) for word in words])


def _per_file(located: Located, pattern: str, words: tuple[str, ...], rules: Rules) -> PerFileIgnore:
    where = located.where(f'per-file-ignores."{pattern}"')
    codes = frozenset().union(*checked(where, lambda: [expand(word, rules) for word in words]))
    return PerFileIgnore(pattern, GitIgnoreSpec.from_lines([pattern.removeprefix("!")]), pattern.startswith("!"), codes)


def _target(start: Path, located: Located, options: Options) -> Target:
    if options.target_jax is not None:
        text = options.target_jax
        return checked("--target-jax", lambda: exactly(text))
    if located.config.target_jax is not None:
        configured = located.config.target_jax
        return checked(located.where("target-jax"), lambda: exactly(configured))
    return (None if options.isolated else target_of_project(start)) or LATEST


def _verify(located: Located, options: Options) -> VerifySettings:
    for name, factory in located.config.verify.examples.items():
        where = f"{located.where('verify.examples')}.{_key(name)}"
        if not _OBJECT.fullmatch(name):
            raise ConfigError(f"{where}: the key is not of the form `package.module:function`")
        if not _OBJECT.fullmatch(factory):
            form = "write the factory as `package.module:function`, for example `tests.examples:make_batch`"
            raise ConfigError(f"{where}: `{factory}` names no function; {form}")
    table = located.config.verify
    if options.run is not None:
        return VerifySettings(located.root, table.examples, options.run)
    if table.run is None:
        return VerifySettings(located.root, table.examples)
    where = located.where("verify.run")
    return VerifySettings(located.root, table.examples, table.run, located.folder("verify.run"), where)


def _key(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'


def known_transforms() -> frozenset[str]:
    """The dotted names of the transforms and control-flow functions that a wrapper may be like."""
    from jaxlint.analysis import ecosystem

    return frozenset({**ecosystem.transforms({}), **ecosystem.control_flow({})})


def _wrappers(located: Located) -> dict[str, str]:
    declared = located.config.wrappers
    if declared:
        known = known_transforms()
        for name, like in declared.items():
            if like not in known:
                hint = nearest(like, known) or "; write a transform such as `jax.jit`"
                raise ConfigError(f"{located.where('wrappers')}.{name}: unknown transform `{like}`{hint}")
    return declared
