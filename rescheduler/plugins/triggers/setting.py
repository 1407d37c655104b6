"""What triggers are made from, beside their own arguments."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from rescheduler.policy.models import Policy


class Setting(NamedTuple):
    """``started_at``: when the process began, seconds since the epoch; ``schedulers``: names of those that can be
    predicted; ``random``: a trigger's own.
    """

    policy: Policy
    started_at: float
    schedulers: frozenset[str]
    random: Random
