"""Settings for all tests: no test depends on how fast the machine is, and each run tries the same."""

from __future__ import annotations

import gc
import os
import signal

from hypothesis import HealthCheck, settings

from tests.second_attempts import pytest_configure

__all__ = ["pytest_collection_finish", "pytest_configure"]

# `make test` tries the same examples each time; continuous integration looks for new ones (CONTRIBUTING.md, Checks).
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("repeatable", settings.get_profile("random"), derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# A shell that starts this in the background has it ignore Ctrl-C, and so would all processes that tests send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: whoever looks for garbage need not go through it each time."""
    gc.freeze()
    gc.set_threshold(10_000, 20)
