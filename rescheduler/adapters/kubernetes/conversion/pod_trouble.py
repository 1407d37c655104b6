"""What keeps a pod from running, in the kubelet's own words."""

from __future__ import annotations

import sys
from itertools import chain
from typing import Final

from rescheduler.adapters.kubernetes.conversion.metadata import NULL
from rescheduler.adapters.kubernetes.decoding.decode import decode
from rescheduler.adapters.kubernetes.decoding.pod import ContainerState, PodStatus
from rescheduler.model.printable import shortened

_IN_ORDER: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
"""Reasons to wait that every pod gives on its way."""


def trouble_of(status: PodStatus) -> str:
    """The reason of a pod that was refused or failed, or for which a container waits in vain; "" without one.

    Raises ObjectError.
    """
    if status.phase == "Failed":
        return _word(status.reason)
    for item in chain(status.init_container_statuses or (), status.container_statuses or ()):
        text = bytes(item.state)
        if text in NULL or b"waiting" not in text:
            continue
        waiting = decode(text, ContainerState, "status.containerStatuses.state").waiting
        reason = "" if waiting is None else _word(waiting.reason)
        if reason not in _IN_ORDER:
            return reason
    return ""


def _word(text: str | None) -> str:
    return sys.intern(shortened(text, 60)) if text else ""
