"""Rules whose fix is meant to change what the program computes or prints, which decides how it is judged."""

from __future__ import annotations

KEYS = frozenset({"key-reuse", "key-constant"})
"""Other keys: the draws differ, and the rest is the same when draws do not depend on their keys."""

NANS = frozenset({"where-grad-nan"})
"""Numbers take the place of NaN."""

VALUES = frozenset({
    "at-result-discarded", "closed-over-constant", "in-axes-kwargs", "index-out-of-bounds", "inplace-assign",
    "side-effect", "stale-closure", "trace-frozen", "traced-print", "tracer-leak", "x64-dtype",
})  # fmt: skip
"""Other values, which only a reference can judge."""
