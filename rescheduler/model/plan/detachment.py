"""What takes a pod out of its ReplicaSet while it serves on, and what puts it back: as data, and on a pod.

The label by which the ReplicaSet knows its pods gets an ending, and the owner reference becomes a plain one, so that
the ReplicaSet makes another pod while Services and budgets still see this one. With the label as it was, it is taken
again.
"""

from __future__ import annotations

import json
from typing import Final

from msgspec import structs

from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH, SurgeMark, read_surge_mark

ENDING: Final = "-leaving"
_LONGEST_VALUE: Final = 63


class Detachment(SurgeMark, frozen=True):
    """How a pod is taken out, as its annotation says it: its label as it was, and whose plan does that."""

    @property
    def leaving_value(self) -> str:
        """The label's value meanwhile."""
        return self.value + ENDING

    def written(self) -> str:
        """As the annotation's value."""
        return json.dumps({key: value for key, value in structs.asdict(self).items() if value or key != "lease"})


def detachment_for(
    pod: Pod, selector: LabelSelector | None, plan: str, expires: str, lease: str = ""
) -> Detachment | str:
    """How a pod can be taken out of the ReplicaSet with this selector; in words why it cannot."""
    owner = pod.controller
    if owner is None or owner.kind != "ReplicaSet" or owner.api_group != "apps":
        return f'its owner is no ReplicaSet but "{"nobody" if owner is None else owner.kind}"'
    if SURGE in pod.annotations:
        return f"it carries the annotation {SURGE} already"
    selects_by = {rule.key for rule in selector.requirements} if selector is not None else set()
    value = pod.labels.get(TEMPLATE_HASH, "")
    if TEMPLATE_HASH not in selects_by or not value:
        return f'its ReplicaSet has no "label" of its own: it does not select by {TEMPLATE_HASH}'
    if len(value + ENDING) > _LONGEST_VALUE or value.endswith(ENDING):
        return f'its "label" {TEMPLATE_HASH} cannot be given an ending'
    return Detachment(TEMPLATE_HASH, value, plan, expires, lease)


def detachment_of(pod: Pod) -> Detachment | None:
    """What a pod says of having been taken out; None: it was not."""
    text = pod.annotations.get(SURGE)
    return None if text is None else read_detachment(text, pod.labels.get(TEMPLATE_HASH, ""))


def read_detachment(text: str, hash_value: str) -> Detachment:
    """An annotation read; of one that somebody has spoilt, what the label ``pod-template-hash`` itself tells."""
    mark = read_surge_mark(text)
    if mark is None:
        return Detachment(TEMPLATE_HASH, hash_value.removesuffix(ENDING), "", "")
    return Detachment(**structs.asdict(mark))


def taken_out(pod: Pod, detachment: Detachment) -> Pod:
    """The pod once it is taken out of its ReplicaSet."""
    owners = (structs.replace(owner, is_controller=False) for owner in pod.owners)
    return structs.replace(
        pod,
        labels={**pod.labels, detachment.label: detachment.leaving_value},
        annotations={**pod.annotations, SURGE: detachment.written()},
        owners=tuple(owners),
    )


def given_back(pod: Pod) -> Pod:
    """The pod with its label as it was and without our annotation; whose it is then is for its ReplicaSet to say."""
    found = detachment_of(pod)
    if found is None:
        return pod
    labels = dict(pod.labels)
    if labels.get(found.label) == found.leaving_value:
        labels[found.label] = found.value
    return structs.replace(pod, labels=labels, annotations=_without_note(pod))


def as_of_its_owner(pod: Pod) -> Pod:
    """A pod that was taken out, as one of its ReplicaSet's: in a snapshot it counts for its workload until it is gone.

    The annotation stays, so that it can be told from others; any other pod is returned as it is.
    """
    found = detachment_of(pod)
    if found is None or any(owner.is_controller for owner in pod.owners):
        return pod
    labels = given_back(pod).labels
    return structs.replace(pod, labels=labels, owners=tuple(map(_as_controller, pod.owners)))


def controller_as_written(pod: Pod) -> OwnerReference | None:
    """The one owner that the pod itself says controls it: none while it is taken out."""
    controllers = [owner for owner in pod.owners if owner.is_controller]
    return controllers[0] if len(controllers) == 1 else None


def _as_controller(owner: OwnerReference) -> OwnerReference:
    is_replica_set = owner.kind == "ReplicaSet" and owner.api_group == "apps"
    return structs.replace(owner, is_controller=True) if is_replica_set and owner.uid else owner


def _without_note(pod: Pod) -> dict[str, str]:
    return {key: value for key, value in pod.annotations.items() if key != SURGE}
