#!/usr/bin/env python3
"""Kills `jaxlint --fix` at random moments: each file must be as it was, or as the fix leaves it.

    kill_fix.py [--trials N] [--files N] [--seed N]

The moments lie between the start of the process and somewhat after its normal end, half of them while it writes.
Prints how many files were found old and new; exit status 1 when one is neither.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLD = "import jax\n\n\ndef doubled(tree):\n    return jax.tree_map(lambda leaf: 2 * leaf, tree)\n" + "# é\n" * 2000
NEW = OLD.replace("jax.tree_map", "jax.tree.map")


def filled(folder: Path, count: int) -> None:
    """Write the old text into each of the files."""
    for number in range(count):
        (folder / f"module_{number}.py").write_text(OLD, encoding="utf-8")


def started(folder: Path) -> subprocess.Popen[bytes]:
    """The command at work in the folder."""
    command = [sys.executable, "-m", "jaxlint", "--isolated", "--no-cache", "--fix", "--jobs", "1", str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def killed(folder: Path, moment: float, wait_for_write: bool) -> None:
    """Start it and kill it after so many seconds, counted from the first file that it wrote if asked for."""
    process = started(folder)
    while wait_for_write and process.poll() is None and (folder / "module_0.py").read_text("utf-8") == OLD:
        time.sleep(0.001)
    time.sleep(moment)
    process.kill()
    process.wait()


def main() -> int:
    """Exit status 1 when a file is damaged."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    old = new = mixed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        filled(folder, options.files)
        start = time.monotonic()
        started(folder).wait()
        length = time.monotonic() - start
        for trial in range(options.trials):
            filled(folder, options.files)
            writes = trial % 2 == 0
            killed(folder, rng.random() * (0.05 if writes else 1.1 * length), writes)
            texts = [file.read_text("utf-8") for file in folder.glob("module_*.py")]
            if len(texts) != options.files or any(text not in (OLD, NEW) for text in texts):
                print(f"trial {trial}: a file is damaged or lost")
                return 1
            old, new = old + texts.count(OLD), new + texts.count(NEW)
            mixed += 0 < texts.count(NEW) < len(texts)
    print(f"{options.trials} kills: {old} files old, {new} new, none damaged; {mixed} kills between two writes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
