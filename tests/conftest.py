"""Settings for all tests: no test depends on how fast the machine is, and what failed in CI fails again."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

from tests.second_attempts import pytest_configure

__all__ = ["pytest_configure"]

settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# People who run the tests look for new examples each time; in CI a failure has to come from the change.
settings.register_profile("repeatable", settings.get_profile("project"), derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))

# A shell that starts this in the background has it ignore Ctrl-C, and so would all processes that tests send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
