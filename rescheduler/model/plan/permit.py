"""Leave to evict one pod: made by the gate alone, and the only thing that an executor acts on."""

from __future__ import annotations

from msgspec import Struct

from rescheduler.model.plan.plan import Move


class Permit(Struct, frozen=True):
    """One move that may start now.

    ``resource_version`` is that of the pod as the gate saw it. Only ``disruption/gate/gate.py`` constructs permits.
    """

    move: Move
    resource_version: str
