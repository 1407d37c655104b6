"""What makes a scheduler's configuration unusable."""

from __future__ import annotations

from rescheduler.policy.reading.errors import PolicyError


class ConfigurationError(PolicyError):
    """A scheduler's configuration that its own scheduler would not start with, or that is none.

    ``problems`` are all that were found, each with file, line, field, what was found and what was wanted.
    """
