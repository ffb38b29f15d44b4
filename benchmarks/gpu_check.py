#!/usr/bin/env python3
"""Verifies the fixes of the fixtures on an accelerator and prints a Markdown table.

    gpu_check.py [FILE_OR_FOLDER ...] [--device gpu|tpu|cpu] [--jobs N]

Exit status 2, with the reason, where there is no such device; 1 when a fix is called different.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from jaxlint.config.settings import Options, settings_for  # noqa: E402
from jaxlint.engine import lint, load  # noqa: E402
from jaxlint.fixes.loop import text_with  # noqa: E402
from jaxlint.model import Finding, Verdict, Verification  # noqa: E402
from jaxlint.report.figures import counts, run_on, speedup  # noqa: E402
from jaxlint.verify import Change, Unavailable, Verifier  # noqa: E402

HEAD = ("fixture", "rule", "verdict", "speed-up", "compilations")


def offered(paths: Sequence[Path]) -> list[tuple[Finding, Change]]:
    """The fixes that jaxlint offers for these files, each as a change by itself."""
    loaded = load(paths)
    sources = {source.path: source for source in loaded.sources}
    found = []
    for finding in lint(loaded, settings_for(ROOT, Options(isolated=True))).findings:
        source = sources[finding.path]
        after, _ = text_with(source, [finding])
        if after != source.text:
            found.append((finding, Change(str(loaded.files[source.path]), source.text, after, finding.name)))
    return found


def row(finding: Finding, found: Verification) -> str:
    """A line of the table."""
    place = f"{Path(finding.path).name}:{finding.span.line}"
    gain, compiled = speedup(found.speedup), counts(found.compiles).replace("->", "→")
    return f"| {' | '.join((place, finding.name, found.verdict.value, gain, compiled))} |"


def main() -> int:
    """Exit status 1 when a fix is called different, 2 when there is no such device."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "fixtures", ROOT / "fixtures/demo"])
    parser.add_argument("--device", choices=("gpu", "tpu", "cpu"), default="gpu")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    files = sorted(f for p in options.paths for f in ([p] if p.is_file() else p.glob("*.py")) if ".fixed" not in f.name)
    with Verifier(device=options.device, jobs=options.jobs) as verifier:
        try:
            verifier.check()
        except Unavailable as error:
            print(f"gpu_check.py: {error}", file=sys.stderr)
            return 2
        fixes = offered(files)
        print("\n".join([f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]), flush=True)
        verdicts = []
        for (finding, _), found in zip(fixes, verifier.iterate([change for _, change in fixes]), strict=True):
            verdicts.append(found)
            print(row(finding, found), flush=True)
            if found.verdict in (Verdict.DIFFERENT, Verdict.UNVERIFIED):
                print(f"{finding.path}:{finding.span.line}: {finding.name}: {found.reason}", file=sys.stderr)
    print(f"\nFixes: {len(verdicts)}, run on {'; '.join({run_on(found) for found in verdicts if found.evidence})}.")
    return 1 if any(found.verdict is Verdict.DIFFERENT for found in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
