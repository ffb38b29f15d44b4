from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.config.file import ConfigError
from jaxlint.config.metadata import target_of_project
from jaxlint.config.selection import Layer, SelectionError, expand, find_rule, resolve
from jaxlint.config.settings import Options, settings_for
from jaxlint.config.targets import LATEST, NEWEST, Target, TargetError, exactly, from_requirements
from jaxlint.registry import rules

ALL = frozenset(rule.code for rule in rules())
DEFAULT = frozenset(rule.code for rule in rules() if rule.on_by_default)


def test_words_for_rules() -> None:
    assert expand("JAX101") == expand("jax101") == expand("vmap-of-jit") == {"JAX101"}
    assert expand("JAX0") == {"JAX000", "JAX001"}
    assert expand("ALL") == expand("JAX") == ALL
    assert expand("DEFAULT") | expand("HINTS") == ALL
    assert find_rule("JAX000").name == "syntax-error"


@pytest.mark.parametrize(
    ("word", "near"),
    [("JAX9O1", "JAX901"), ("vmap-of-jits", "vmap-of-jit"), ("vmap_of_jit", "vmap-of-jit"), ("#", "jaxlint rules")],
)
def test_an_unknown_word_names_the_nearest(word: str, near: str) -> None:
    with pytest.raises(SelectionError, match=near):
        expand(word)


def test_the_more_specific_word_wins() -> None:
    assert resolve([]) == DEFAULT
    assert resolve([Layer(select=("JAX1",), ignore=("JAX101",))]) == expand("JAX1") - {"JAX101"}
    assert resolve([Layer(select=("JAX101",), ignore=("JAX1",))]) == {"JAX101"}
    assert resolve([Layer(ignore=("ALL",), extend_select=("vmap-of-jit",))]) == {"JAX101"}
    assert resolve([Layer(select=("ALL",))]) == ALL


def test_a_later_layer_that_selects_starts_anew() -> None:
    file = Layer(select=("JAX0",), ignore=("JAX001",))
    assert resolve([file, Layer()]) == {"JAX000"}
    assert resolve([file, Layer(extend_select=("JAX101",))]) == {"JAX000", "JAX101"}
    assert resolve([file, Layer(select=("JAX101", "JAX001"))]) == {"JAX101", "JAX001"}


@pytest.mark.parametrize(
    ("lines", "target"),
    [
        (["jax>=0.4.30"], Target("0.4.30", NEWEST)),
        (["jax[cuda12]>=0.4.30 ; python_version > '3.10'"], Target("0.4.30", NEWEST)),
        (["jax==0.4.30"], Target("0.4.30", "0.4.30")),
        (["jax~=0.4.30"], Target("0.4.30", "0.5.dev0")),
        (["jax==0.4.*"], Target("0.4", "0.5.dev0")),
        (["jax>=0.4.1,<0.6"], Target("0.4.1", "0.6.dev0")),
        (["jax<=0.5.3"], Target("0.5.3", "0.5.3")),
        (["jax>=99"], Target("99", "99")),
        (["jax>=0.5", "jax>=0.4.30"], Target("0.4.30", NEWEST)),
        (["jax"], None),
        (["jaxlib>=0.4.30", "numpy", "-r other.txt", "git+https://example.org/jax"], None),
        (["jax===weird"], None),
    ],
)
def test_requirements_bound_the_versions(lines: list[str], target: Target | None) -> None:
    assert from_requirements(lines) == target


def test_a_version_on_the_command_line() -> None:
    assert exactly(" 0.4.30 ") == Target("0.4.30", "0.4.30")
    with pytest.raises(TargetError, match="write it like"):
        exactly("new")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project]\nname = "p"\ndependencies = ["numpy", "jax>=0.4.30"]\n'),
        ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["jax>=0.4.30"]\n'),
        ("pyproject.toml", '[dependency-groups]\ndev = ["jax>=0.4.30", {include-group = "x"}]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\njax = ">=0.4.30"\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    jax>=0.4.30\n"),
        ("setup.cfg", "[options.extras_require]\ngpu =\n    jax>=0.4.30\n"),
        ("requirements.txt", "# what we need\njax>=0.4.30  # new enough\n"),
        ("requirements-dev.txt", "-r requirements.txt\njax>=0.4.30 --hash=sha256:00\n"),
    ],
)
def test_the_project_says_which_jax_it_needs(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "src" / "deep").mkdir(parents=True)
    assert target_of_project(tmp_path / "src" / "deep") == Target("0.4.30", NEWEST)


@pytest.mark.parametrize(
    ("version", "target"),
    [("^0.4.30", Target("0.4.30", "0.5.dev0")), ("~0.4.30", Target("0.4.30", "0.5.dev0")), ("*", None)],
)
def test_poetry_versions(tmp_path: Path, version: str, target: Target | None) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text(f'[tool.poetry.dependencies]\njax = "{version}"\n')
    assert target_of_project(tmp_path) == target


def test_the_search_ends_at_the_repository(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("jax>=0.4.30\n")
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    assert target_of_project(tmp_path / "repo") is None


def test_metadata_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text("not toml")
    (tmp_path / "setup.cfg").write_bytes(b"\xff\xfe[")
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfe")
    assert target_of_project(tmp_path) is None


def configured(tmp_path: Path, text: str, **options: object) -> object:
    (tmp_path / ".git").mkdir(exist_ok=True)
    (tmp_path / "jaxlint.toml").write_text(text)
    return settings_for(tmp_path, Options(**options))  # type: ignore[arg-type]


def test_the_nearest_configuration_counts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.jaxlint]\nselect = ["JAX101"]\ntarget-jax = "0.4.30"\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    assert settings_for(inner, Options()).enabled == {"JAX000", "JAX101"}
    assert settings_for(inner, Options()).target == Target("0.4.30", "0.4.30")
    (inner / "pyproject.toml").write_text("[tool.other]\n")
    assert settings_for(inner, Options()).enabled == {"JAX000", "JAX101"}
    (inner / "jaxlint.toml").write_text('ignore = ["JAX101"]\n')
    assert settings_for(inner, Options()).enabled == DEFAULT - {"JAX101"}
    assert settings_for(inner, Options(isolated=True)).enabled == DEFAULT
    assert settings_for(inner, Options(isolated=True)).target == LATEST
    assert settings_for(inner, Options(config=tmp_path / "pyproject.toml")).enabled == {"JAX000", "JAX101"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('selct = ["JAX101"]', ["unknown key `selct`", "`select`"]),
        ('extend_select = ["JAX101"]', ["unknown key `extend_select`", "`extend-select`"]),
        ('select = "JAX101"', ["select", "expected a list", "`str`"]),
        ('select = ["JAX9O1"]', ["select", "JAX9O1", "`JAX901`"]),
        ('ignore = ["vmap-of-jits"]', ["ignore", "`vmap-of-jit`"]),
        ('unfixable = ["X"]', ["unfixable", "`X`"]),
        ('[per-file-ignores]\n"a.py" = ["X"]', ['per-file-ignores."a.py"', "`X`"]),
        ('output-format = "jsno"', ["output-format", "`jsno`", "`json`"]),
        ('target-jax = "new"', ["target-jax", "`new`"]),
        ("respect-gitignore = 1", ["respect-gitignore", "`bool`"]),
        ('[wrappers]\n"mine.jit" = "jax.jitt"', ["mine.jit", "`jax.jit`"]),
        ('[verify]\nexample = { "a:f" = "b:g" }', ["unknown key `verify.example`", "`examples`"]),
        ('[verify]\nexamples = ["a:f"]', ["verify.examples", "expected a table"]),
        ('[verify]\nexamples = { "a.f" = "b:g" }', ['verify.examples."a.f"', "`package.module:function`"]),
        ('[verify]\nexamples = { "a:f" = "b g" }', ['verify.examples."a:f"', "`b g` names no function"]),
        ("verify = true", ["verify", "expected a table"]),
        ("select = [", ["not valid TOML"]),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, text)
    for word in ["jaxlint.toml", *words]:
        assert word in str(caught.value)


def test_a_key_of_pyproject_is_named_in_full(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.jaxlint]\nselect = ["X"]\n')
    with pytest.raises(ConfigError, match=r"pyproject.toml: tool.jaxlint.select: unknown .*`X`"):
        settings_for(tmp_path, Options())


def test_a_wrong_word_on_the_command_line_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--ignore: unknown"):
        settings_for(tmp_path, Options(ignore=("X",)))


def test_per_file_ignores(tmp_path: Path) -> None:
    text = '[per-file-ignores]\n"tests/*" = ["JAX101"]\n"!src/**" = ["JAX001"]\n'
    settings = configured(tmp_path, text)
    assert settings.enabled_in(tmp_path / "src" / "a.py") == DEFAULT  # type: ignore[attr-defined]
    assert settings.enabled_in(tmp_path / "tests" / "a.py") == DEFAULT - {"JAX101", "JAX001"}  # type: ignore[attr-defined]


def test_a_missing_configuration_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nope.toml: cannot be read"):
        settings_for(tmp_path, Options(config=tmp_path / "nope.toml"))
