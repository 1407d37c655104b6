"""The end of every run: placeholders and taints removed, the gate opened, and what could not be done told."""

from __future__ import annotations

from typing import Final

from rescheduler.execution.guidance.gates import Gates
from rescheduler.execution.guidance.holds import Holds
from rescheduler.extension_points import ClusterError

SURE_DEATH_SECONDS: Final = 5.0
"""A placeholder is gone this long after its deadline at the latest."""


def leave_nothing(holds: Holds, gates: Gates, deadline_seconds: float) -> str | None:
    """Remove everything, with a second try; what still stands then, in words, and when it goes."""
    for is_last in (False, True):
        try:
            try:
                holds.release_all()
            finally:  # placeholders go by themselves, a gate does not
                gates.end()
        except (KeyboardInterrupt, ClusterError) as error:
            if is_last:
                return _told_left(holds, gates, deadline_seconds, str(error))
        else:
            return None
    return None


def _told_left(holds: Holds, gates: Gates, deadline_seconds: float, why: str) -> str:
    if gates.stands:
        return f"the gate could not be opened ({why}): `rescheduler clean` lets go of pods that may still wait there"
    if holds.tainted:
        nodes = ", ".join(holds.tainted)
        return f"our taint could not be taken off {nodes} ({why}): remove it with `rescheduler clean`"
    return (
        f"placeholders could not be removed ({why}); they go by themselves within "
        f"{deadline_seconds + SURE_DEATH_SECONDS:.0f} s, or at once with `rescheduler clean`"
    )
