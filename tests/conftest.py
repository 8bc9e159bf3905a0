"""What all tests share: how hard hypothesis tries, chosen by HYPOTHESIS_PROFILE."""

import os

from hypothesis import HealthCheck, settings

_SLOW_MACHINE = [HealthCheck.too_slow]

settings.register_profile("default", max_examples=60, deadline=None)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=_SLOW_MACHINE
)
settings.register_profile(
    "long", max_examples=20_000, deadline=None, suppress_health_check=_SLOW_MACHINE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
