"""The annotation on a pod that was taken out of its ReplicaSet while its replacement becomes Ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from rescheduler.model.objects.annotations import SURGE

TEMPLATE_HASH: Final = "pod-template-hash"
"""The label that is changed, its value then ending in ``-leaving``; each pod of a Deployment has it. Every ReplicaSet
of a Deployment selects by it, and no Service, budget or policy of a user names it."""


class SurgeMark(Struct, frozen=True):
    """The annotation's value: the label that was changed, its value before, and whose plan did that.

    ``expires``: when that plan is over at the latest, RFC 3339. ``lease``: whoever leads by it from then on gives the
    pod back at once; "": nobody leads by any.
    """

    label: str
    value: str
    plan: str
    expires: str
    lease: str = ""


def surge_mark(annotations: Mapping[str, str]) -> SurgeMark | None:
    """What a pod's annotations say of its move by surge; None for what says nothing, or cannot be read."""
    text = annotations.get(SURGE)
    return None if text is None else read_surge_mark(text)


def read_surge_mark(text: str) -> SurgeMark | None:
    """The annotation's value read; None for what somebody has spoilt, however: whoever may edit a pod may write it."""
    try:
        return msgspec.json.decode(text, type=SurgeMark)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return None


def labels_before(labels: Mapping[str, str], annotations: Mapping[str, str]) -> Mapping[str, str]:
    """A pod's labels as they were before it was taken out of its ReplicaSet; of any other pod its labels."""
    mark = surge_mark(annotations)
    return labels if mark is None else {**labels, mark.label: mark.value}
