"""Runs programs one after the other and prints what each raised: JSON comes in, JSON goes out in the last line.

Every program is a module of its own; whatever it sets in `jax.config` is taken back.
"""

import contextlib
import io
import json
import linecache
import os
import sys
import traceback
import types

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, "")

import jax


def run(name: str, text: str) -> dict | None:
    module = types.ModuleType("example")
    sys.modules["example"] = module
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, name, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
        message = str(error).strip().splitlines() or [""]
        return {
            "types": [kind.__name__ for kind in type(error).__mro__],
            "what": f"{type(error).__name__}: {message[0]}",
            "line": lines[-1] if lines else getattr(error, "lineno", None),
        }
    return None


def main() -> None:
    before = dict(jax.config.values)
    outcomes = {}
    for program in json.load(sys.stdin):
        outcomes[program["name"]] = run(program["name"], program["text"])
        for name, value in before.items():
            if jax.config.values.get(name) is not value:
                jax.config.update(name, value)
    print(json.dumps(outcomes))


main()
