"""The JSON schema of the configuration says what the loader says."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from jaxlint import registry
from jaxlint.config.file import ConfigError
from jaxlint.config.schema import schema
from jaxlint.config.settings import Options, settings_for
from jaxlint.report.json import dump

ROOT = Path(__file__).parents[1]
SCHEMA: dict[str, Any] = json.loads(dump(schema(registry.rules())))


def test_the_committed_schema_is_the_one_that_is_printed() -> None:
    assert json.loads((ROOT / "docs" / "jaxlint.schema.json").read_text("utf-8")) == SCHEMA, "run `make schema`"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("", True),
        ('select = ["ALL"]\nignore = ["JAX9", "jax101", "key-reuse"]', True),
        ('[per-file-ignores]\n"tests/*" = ["HINTS"]', True),
        ('[wrappers]\n"mine.jit" = "jax.jit"', True),
        ('[verify]\nrun = "pytest tests"\nexamples = { "a:f" = "b:g" }', True),
        ('select = ["JAX9012"]', False),
        ('select = "ALL"', False),
        ('unfixable = ["vmap-of-jits"]', False),
        ("select = [1]", False),
        ("force-exclude = 1", False),
        ('output-format = "jsno"', False),
        ("selct = []", False),
        ("extend = 3", False),
        ('[per-file-ignores]\n"a.py" = ["X"]', False),
        ('[wrappers]\n"mine.jit" = "jax.jitt"', False),
        ("[verify]\nexample = {}", False),
    ],
)
def test_the_schema_accepts_what_the_loader_accepts(tmp_path: Path, text: str, good: bool) -> None:
    (tmp_path / "jaxlint.toml").write_text(text)
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(tomllib.loads(text)) == good
    if good:
        settings_for(tmp_path, Options())
    else:
        with pytest.raises(ConfigError):
            settings_for(tmp_path, Options())
