"""What of a pod's status and containers only some rules ask about: states, restarts, exit codes, conditions."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from rescheduler.model.objects.pod import APP


class ContainerDetail(Struct, frozen=True, gc=False):
    """One container's status. ``kind``: App, Init or Ephemeral. ``waiting`` and ``terminated`` are reasons.

    ``exit_code``: of a container that has ended, None of one that has not.
    """

    kind: str = APP
    restart_count: int = 0
    waiting: str = ""
    terminated: str = ""
    exit_code: int | None = None


class PodCondition(Struct, frozen=True, gc=False):
    """One condition. ``since``: its last transition, seconds since the epoch; None where it does not say."""

    type: str
    status: str = ""
    reason: str = ""
    since: float | None = None


class PodDetail(Struct, frozen=True, gc=False):
    """Read only where it is asked for, since it differs from replica to replica.

    ``reason``: of the status as a whole. ``has_priority``: whether the specification carries a number of its own.
    ``images``: of all containers as written. ``claims_resources``: whether it uses dynamic resource allocation.
    """

    reason: str = ""
    containers: tuple[ContainerDetail, ...] = ()
    conditions: tuple[PodCondition, ...] = ()
    has_priority: bool = False
    images: tuple[str, ...] = ()
    claims_resources: bool = False


EPHEMERAL: Final = "Ephemeral"
"""Kind of a container that somebody put into a running pod to look at it."""
NO_DETAIL: Final = PodDetail()
