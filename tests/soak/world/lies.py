"""The ways in which a metrics API may be wrong (F21 to F25), and when that can be known at the latest."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

INTERVAL_SECONDS: Final = 30.0
WINDOW_SECONDS: Final = 300.0
USAGE: Final = """\
usage:
  providers: [{name: MetricsServer}]
  interval: 30s
  podInterval: 60s
  windows: [5m]
"""
"""What a policy says of it."""
LIES_AN_HOUR: Final = 1.5
LONGEST_LIE_SECONDS: Final = 3000.0
LYING, TRUE = "metrics lie", "metrics are true"
"""Kinds of events of the world."""


class Lie(NamedTuple):
    """One way to be wrong. ``noticed_after``: samples until nothing may rest on it any more, seconds from its first.

    ``until``: from when on no client can know it, since what has been wrong for so long looks like what is.
    """

    name: str
    fault: str
    noticed_after: float
    until: float = math.inf


STALE: Final = 330.0
"""Where there is simply no more sample: the last good ones are believed for five minutes."""
AT_ONCE: Final = 65.0
"""In the next sample, and in the gate's next question."""
LIES: Final = (
    Lie("down", "F21", STALE),
    Lie("empty list", "F21", STALE),
    Lie("not served", "F21", STALE),
    Lie("cut off", "F21", STALE),
    Lie("all zero", "F22", AT_ONCE),
    Lie("all equal", "F22", AT_ONCE),
    Lie("frozen", "F22", 4 * INTERVAL_SECONDS + AT_ONCE),
    Lie("halved", "F22", AT_ONCE, WINDOW_SECONDS - INTERVAL_SECONDS),
    Lie("another cluster's", "F22", STALE),
    Lie("NaN", "F23", STALE),
    Lie("infinite", "F23", STALE),
    Lie("negative", "F23", STALE),
    Lie("2^64-1", "F23", STALE),
    Lie("1e308", "F23", STALE),
    Lie("words", "F23", STALE),
    Lie("null", "F23", STALE),
    Lie("without usage", "F23", STALE),
    Lie("twice", "F24", STALE),
    Lie("with port", "F24", STALE),
    Lie("FQDN", "F24", STALE),
    Lie("from the future", "F25", STALE),
    Lie("from the past", "F25", STALE),
    Lie("one time for ever", "F25", STALE),
)
