"""The bridge to the verifier: the only place that starts it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from jaxlint.fixes.verdicts import Judge, Request
from jaxlint.model import Verification


@contextmanager
def judging(device: str, jobs: int) -> Iterator[Judge]:
    """A judge that runs changes on a device. Raises `click.ClickException` where no JAX can be started."""
    from jaxlint.verify import Change, Verifier

    with Verifier(device=device, jobs=jobs) as verifier:

        def judge(requests: Sequence[Request]) -> Sequence[Verification]:
            changes = [
                Change(request.path, request.before, request.after, rule=request.rule, lines=request.lines)
                for request in requests
            ]
            verdicts: list[Verification] = verifier.verify_all(changes)
            return verdicts

        yield judge
