"""States, restarts, exit codes and conditions of one pod, for the rules that ask for them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from msgspec import Raw

from rescheduler.adapters.kubernetes.objects.decoding.decode import decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import NULL
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import (
    ContainerState,
    ContainerStatus,
    PodSpecObject,
    PodStatus,
)
from rescheduler.model.objects.pod import APP, INIT
from rescheduler.model.objects.pod_detail import EPHEMERAL, ContainerDetail, PodCondition, PodDetail
from rescheduler.model.printable import shortened
from rescheduler.model.times import read_time


def pod_detail(spec: PodSpecObject, status: PodStatus) -> PodDetail:
    """What ``model/objects/pod_detail.py`` keeps of a decoded pod. Raises ObjectError."""
    ephemeral = bytes(status.ephemeral_container_statuses)
    every = (
        (APP, status.container_statuses or ()),
        (INIT, status.init_container_statuses or ()),
        (EPHEMERAL, () if ephemeral in NULL else decode(ephemeral, list[ContainerStatus], "status")),
    )
    return PodDetail(
        reason=_word(status.reason),
        containers=tuple(_container(kind, item) for kind, items in every for item in items),
        conditions=tuple(_conditions(status)),
        has_priority=spec.priority is not None,
        images=tuple(item.image or "" for item in (*(spec.containers or ()), *(spec.init_containers or ()))),
        claims_resources=bytes(spec.resource_claims) not in (*NULL, b"[]"),
    )


def _container(kind: str, status: ContainerStatus) -> ContainerDetail:
    state = _state(status.state)
    ended = state.terminated
    return ContainerDetail(
        kind=kind,
        restart_count=status.restart_count or 0,
        waiting="" if state.waiting is None else _word(state.waiting.reason),
        terminated="" if ended is None else _word(ended.reason),
        exit_code=None if ended is None else ended.exit_code or 0,
    )


def _state(raw: Raw) -> ContainerState:
    text = bytes(raw)
    return ContainerState() if text in NULL else decode(text, ContainerState, "status.containerStatuses.state")


def _conditions(status: PodStatus) -> Iterator[PodCondition]:
    for item in status.conditions or ():
        yield PodCondition(
            _word(item.type), _word(item.status), _word(item.reason), read_time(item.last_transition_time)
        )


def _word(text: str | None) -> str:
    return sys.intern(shortened(text, 80)) if text else ""
