"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine; speed is measured in `benchmarks/`.
settings.register_profile("jaxlint", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("jaxlint")
