"""What stands in a snapshot for objects that cannot be counted, or read: always the reading that allows the least."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from rescheduler.adapters.kubernetes.kinds import WORKLOAD_KINDS
from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ObjectMeta, shown_name
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.set_aside import SetAside
from rescheduler.model.objects.storage import PersistentVolumeClaim
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.printable import shortened

_UNREADABLE: Final = "it cannot be read"
_EFFECTS: Final = {
    "Node": "it is neither source nor target",
    "PersistentVolumeClaim": "pods that wait for it get no place",
    "PodDisruptionBudget": "it covers its whole namespace, and allows nothing",
    "CSINode": "its node is neither source nor target",
    **dict.fromkeys(WORKLOAD_KINDS, "its pods are left alone"),
}


class Glimpse(NamedTuple):
    """What can be seen of an object before it is converted, or although it cannot be."""

    namespace: str
    name: str
    uid: str = ""
    node_name: str | None = None
    phase: str = ""


def glimpse_of(kind: str, found: Any, node_name: str | None) -> Glimpse:
    """Of a decoded object; ``node_name``: a pod's, which its conversion uses up."""
    meta = found.metadata or ObjectMeta()
    if kind != "Pod" or found.spec is None:
        return Glimpse(meta.namespace or "", meta.name or "", meta.uid or "")
    phase = "" if found.status is None else found.status.phase or ""
    return Glimpse(meta.namespace or "default", meta.name or "", meta.uid or "", node_name, phase)


def glimpse_of_text(meta: ObjectMeta, raw: bytes | msgspec.Raw) -> Glimpse:
    """Of an object that could not be decoded as what it is."""
    try:
        whole = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        whole = None
    metadata, spec, status = (_part(whole, name) for name in ("metadata", "spec", "status"))
    return Glimpse(
        _text(metadata, "namespace") or meta.namespace or "",
        _text(metadata, "name") or meta.name or "",
        _text(metadata, "uid") or meta.uid or "",
        _text(spec, "nodeName") or None,
        _text(status, "phase"),
    )


def _part(whole: Any, name: str) -> Mapping[str, Any]:
    part = whole.get(name) if isinstance(whole, dict) else None
    return part if isinstance(part, dict) else {}


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    return value if isinstance(value, str) else ""


class KeptObjects(NamedTuple):
    """What is kept of an object: itself, or what stands for it (None: nothing), and that it was set aside."""

    made: Any
    aside: SetAside | None = None


def kept(kind: str, made: Any) -> KeptObjects:
    """A converted object, of which something may be left that cannot be counted."""
    if type(made) is Pod:
        problem = made.spec.problem
        if problem is None or made.is_finished:
            return KeptObjects(made)
    else:
        problem = made.problem if isinstance(made, PersistentVolumeClaim) else None
    if problem is None:
        return KeptObjects(made)
    return KeptObjects(made, _aside(kind, Glimpse(made.namespace, made.name, made.uid), problem, made))


def stand_in(kind: str, glimpse: Glimpse, error: ObjectError) -> KeptObjects:
    """What stands for an object that cannot be read."""
    problem = str(ObjectError(error.path, error.problem)) or _UNREADABLE
    namespace, name = shown_name(glimpse.namespace or "default"), shown_name(glimpse.name)
    made: Any = None
    if not name:
        pass
    elif kind == "Pod":
        spec = PodSpec(unmodelled=(problem,), problem=problem)
        node = shown_name(glimpse.node_name) if glimpse.node_name else None
        phase = glimpse.phase or ("Running" if node else "Pending")
        made = Pod(namespace, name, glimpse.uid, spec, node_name=node, phase=phase, is_ready=False)
    elif kind == "Node":
        made = Node(name, glimpse.uid, problem=problem, is_ready=False)
    elif kind == "PodDisruptionBudget":
        made = DisruptionBudget(namespace, name, glimpse.uid, problem=problem)
    elif kind in WORKLOAD_KINDS:
        made = Workload(kind, namespace, name, glimpse.uid, is_paused=True, failure=_UNREADABLE)
    return KeptObjects(made, _aside(kind, glimpse, problem, made))


def _aside(kind: str, glimpse: Glimpse, problem: str, made: Any) -> SetAside:
    effect = _EFFECTS.get(kind, "")
    if isinstance(made, Pod):
        where = made.node_name
        effect = "it is left out" if where is None else f"its node {where} is neither source nor target"
    found = SetAside(kind, glimpse.namespace, shown_name(glimpse.name), glimpse.uid, shortened(problem, 300))
    return replace(found, effect=effect) if effect else found


class Usable(NamedTuple):
    """Nodes and pods as they may be used."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    aside: tuple[SetAside, ...]


def usable(nodes: Sequence[Node], pods: tuple[Pod, ...], aside: Sequence[SetAside]) -> Usable:
    """Pods without a node that cannot be counted are left out; the nodes of others are neither source nor target."""
    if not aside:
        return Usable(tuple(nodes), pods, ())
    claims = {(item.namespace, item.name): item for item in aside if item.kind == "PersistentVolumeClaim"}
    barred = {item.name: item.text for item in aside if item.kind == "CSINode"}
    left: list[Pod] = []
    further: list[SetAside] = []
    for pod in pods:
        waits_for = next((claims[key] for key in _claims_of(pod) if key in claims), None) if claims else None
        if pod.is_finished or (pod.spec.problem is None and waits_for is None):
            left.append(pod)
        elif pod.node_name is None:
            if pod.spec.problem is None and waits_for is not None:
                further.append(_waiting(pod, waits_for))
        elif pod.spec.problem is None and waits_for is not None:
            reason = f"claim {waits_for.name}: {waits_for.problem}"
            left.append(replace(pod, spec=replace(pod.spec, unmodelled=(*pod.spec.unmodelled, reason))))
        else:
            left.append(pod)
            barred.setdefault(pod.node_name, f"what pod {pod.key} on it asks for cannot be counted")
    return Usable(tuple(_barred(nodes, barred)), tuple(left), (*aside, *further))


def _claims_of(pod: Pod) -> Iterable[tuple[str, str]]:
    return ((pod.namespace, volume.claim) for volume in pod.volumes if volume.claim)


def _waiting(pod: Pod, claim: SetAside) -> SetAside:
    problem = f"it waits for the claim {claim.name}, whose {claim.problem}"
    return SetAside("Pod", pod.namespace, pod.name, pod.uid, problem, "it is left out")


def _barred(nodes: Iterable[Node], problems: Mapping[str, str]) -> Iterable[Node]:
    for node in nodes:
        problem = problems.get(node.name)
        yield node if problem is None or node.problem is not None else replace(node, problem=problem)
