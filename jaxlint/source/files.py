"""Which files are linted: folders are walked, what git ignores and what is excluded is left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyi", ".ipynb")

# Folders of tools, environments and builds. The list is ruff's, so that both look at the same files.
DEFAULT_EXCLUDES = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".jaxlint_cache", ".mypy_cache",
    ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv",
    ".vscode", "__pypackages__", "_build", "buck-out", "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip


class FileRules(Struct, frozen=True):
    """What is left out. `exclude` holds patterns as in .gitignore, relative to `root`.

    With `force_exclude` they hold for files that are named too, as pre-commit does with every file that changed.
    """

    root: Path
    exclude: tuple[str, ...] = DEFAULT_EXCLUDES
    respect_gitignore: bool = True
    force_exclude: bool = False


class Found(Struct, frozen=True):
    """The files to lint, and the paths given that lead to none, each with the reason."""

    files: tuple[Path, ...]
    missing: tuple[tuple[str, str], ...] = ()
    empty: tuple[str, ...] = ()


class _Scoped(Struct, frozen=True):
    """Patterns with the folder that they are relative to."""

    base: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Whether the patterns leave a path out (True), take it back in (False) or say nothing."""
        if not path.startswith(self.base + os.sep):
            return None
        relative = path[len(self.base) + 1 :].replace(os.sep, "/")
        return self.spec.check_file(relative + "/" if folder else relative).include


def discover(paths: Sequence[str], rules: FileRules) -> Found:
    """Finds the files under `paths`. A file that is named is taken whatever is left out, unless that is forced."""
    files: dict[str, Path] = {}
    missing: list[tuple[str, str]] = []
    empty: list[str] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            inside = list(_walk(path, rules))
            for file in inside:
                _add(files, file)
            if not inside:
                empty.append(given)
        elif path.is_file():
            if not (rules.force_exclude and excluded([path], rules)):
                _add(files, path)
        else:
            missing.append((given, "is no file or folder" if os.path.lexists(path) else "does not exist"))
    return Found(tuple(files.values()), tuple(missing), tuple(empty))


def excluded(files: Sequence[Path], rules: FileRules) -> list[Path]:
    """Those of the files that the patterns of `exclude` leave out."""
    patterns = _Scoped(str(rules.root), GitIgnoreSpec.from_lines(rules.exclude))
    return [file for file in files if patterns.verdict(os.path.abspath(file), folder=False)]


def shown(path: Path) -> str:
    """How a path is shown to users: relative to the working folder when inside, always printable."""
    absolute = os.path.abspath(path)
    inside = absolute.startswith(os.getcwd().rstrip(os.sep) + os.sep)
    text = os.path.relpath(absolute) if inside else absolute
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def common_root(paths: Iterable[str]) -> Path:
    """The deepest folder above all paths; the working folder where they have none in common."""
    folders = [os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path) or ".") for path in paths]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:
        return Path.cwd()


def _add(files: dict[str, Path], path: Path) -> None:
    """Keeps a file once, however many names lead to it; its own name is preferred to a link's."""
    real = os.path.realpath(path)
    if real not in files or (files[real].is_symlink() and not path.is_symlink()):
        files[real] = path


def _walk(root: Path, rules: FileRules) -> Iterator[Path]:
    top = os.path.abspath(root)
    patterns = GitIgnoreSpec.from_lines(rules.exclude)
    excludes = [_Scoped(str(rules.root), patterns)]
    if not _inside(top, str(rules.root)):
        excludes.append(_Scoped(top, patterns))
    ignores = _ignores_above(top) if rules.respect_gitignore else []
    # Who names an excluded folder wants to see it: what leaves out the folder itself is not asked again inside.
    walk = _Walk(
        tuple(scoped for scoped in excludes if not scoped.verdict(top, folder=True)),
        tuple(scoped for scoped in ignores if not scoped.verdict(top, folder=True)),
        rules.respect_gitignore,
    )
    for inner in walk.files(top):
        yield root / os.path.relpath(inner, top)


class _Walk(Struct, frozen=True):
    """The patterns in force in a folder; of git's, the nearest stand first."""

    excludes: tuple[_Scoped, ...]
    ignores: tuple[_Scoped, ...]
    gitignore: bool

    def files(self, top: str) -> Iterator[str]:
        """Every Python file below `top`. A folder is visited once, links to folders last, so that they cannot loop."""
        seen: set[tuple[int, int]] = set()
        pending: list[tuple[str, _Walk]] = [(top, self)]
        links: list[tuple[str, _Walk]] = []
        while pending or links:
            current, walk = pending.pop() if pending else links.pop(0)
            try:
                status = os.stat(current)
                entries = sorted(os.scandir(current), key=lambda entry: entry.name)
            except OSError:
                continue
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            walk = walk.inside(current)
            folders: list[tuple[str, _Walk]] = []
            for entry in entries:
                is_folder = _is_folder(entry)
                if walk.leaves_out(entry.path, folder=is_folder):
                    continue
                if is_folder:
                    (links if entry.is_symlink() else folders).append((entry.path, walk))
                elif entry.name.endswith(SUFFIXES) and os.path.isfile(entry.path):
                    yield entry.path
            pending += reversed(folders)

    def inside(self, folder: str) -> _Walk:
        """The patterns in force inside a folder."""
        own = _ignore_file(folder) if self.gitignore else []
        return _Walk(self.excludes, (*own, *self.ignores), self.gitignore) if own else self

    def leaves_out(self, path: str, *, folder: bool) -> bool:
        """The configuration's patterns are final; of git's, the nearest that says anything decides."""
        if any(scoped.verdict(path, folder=folder) for scoped in self.excludes):
            return True
        verdicts = (scoped.verdict(path, folder=folder) for scoped in self.ignores)
        return bool(next((verdict for verdict in verdicts if verdict is not None), False))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _ignores_above(folder: str) -> list[_Scoped]:
    """The ignore files of the folders above, up to the root of the repository, the nearest first."""
    found: list[_Scoped] = []
    here = Path(folder)
    for parent in (here, *here.parents):
        if parent != here:
            found += _ignore_file(str(parent))
        if (parent / ".git").exists():
            return [*found, *_patterns(str(parent / ".git" / "info" / "exclude"), str(parent))]
    return []


def _ignore_file(folder: str) -> list[_Scoped]:
    return _patterns(os.path.join(folder, ".gitignore"), folder)


def _patterns(file: str, base: str) -> list[_Scoped]:
    try:
        lines = Path(file).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    return [_Scoped(base, GitIgnoreSpec.from_lines(lines))]


def _inside(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
