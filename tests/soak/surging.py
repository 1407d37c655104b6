"""What runs with surges have besides: ReplicaSets with a hash, Services, rules, moves by surge, and who meddles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final

import yaml
from msgspec import structs

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH
from rescheduler.model.objects.workload import Service, Workload
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan
from tests.soak.world.scenery import Scenery

MEDDLING: Final[Mapping[str, float]] = {
    "owner of one out scaled": 60.0, "one out labelled": 60.0, "one out deleted": 10.0,
}  # fmt: skip
"""How often an hour somebody has to do with a pod that is out, if there is one: surges are short."""
SURGE_SHARE: Final = 0.9
FIRST: Final = "r1"


def hashed(owner: Workload, value: str) -> Workload:
    """A ReplicaSet that selects its pods by a hash as well, as those of Deployments do."""
    asked = () if owner.selector is None else owner.selector.requirements
    kept = tuple(item for item in asked if item.key != TEMPLATE_HASH)
    rules = LabelSelector((*kept, Requirement(TEMPLATE_HASH, "In", (value,))))
    return structs.replace(owner, selector=rules)


def hashed_pod(pod: Pod, value: str) -> Pod:
    """One of its pods, or their template."""
    return structs.replace(pod, labels={**pod.labels, TEMPLATE_HASH: value})


def with_hashes(scenery: Scenery) -> Scenery:
    """The same cluster with hashes at all ReplicaSets of Deployments, and with a Service for each Deployment."""
    seen = scenery.cluster
    children = {item.uid for item in seen.workloads if item.owner is not None}
    tops = [item for item in seen.workloads if item.kind == "Deployment"]
    cluster = replace(
        seen,
        workloads=tuple(hashed(item, FIRST) if item.uid in children else item for item in seen.workloads),
        pods=tuple(
            hashed_pod(pod, FIRST) if pod.controller is not None and pod.controller.uid in children else pod
            for pod in seen.pods
        ),
        services=tuple(Service(item.namespace, item.name, {"app": item.name}) for item in tops),
        network_policies=(),
    )
    templates = {
        uid: hashed_pod(pod, FIRST) if uid in children else pod for uid, pod in scenery.templates.items()
    }  # fmt: skip
    return scenery._replace(cluster=cluster, templates=templates)


def with_surges(text: str, random: Random) -> str:
    """A policy by which pods move by surge, and are evicted or left alone where they cannot."""
    found: dict[str, Any] = yaml.safe_load(text)
    rule: dict[str, Any] = {"method": "Surge", "otherwise": random.choice(("Evict", "Evict", "Refuse"))}
    if random.random() < 0.3:
        rule["namespaces"] = ["shop", "pay"]
    within, settle = random.choice(("60s", "120s")), random.choice(("1s", "5s"))
    more = {"moveBy": [rule], "surge": {"readyWithin": within, "settle": settle}}
    found["disruption"] = {**(found.get("disruption") or {}), **more}
    if found.get("guidance") == "Predict":
        found["guidance"] = random.choice(("Guide", "Hold"))
    return yaml.safe_dump(found, sort_keys=False)


def by_surge(plan: Plan, cluster: Cluster, random: Random) -> Plan:
    """An adversary's plan in which most pods that may be able to move by surge do."""
    moves = []
    for move in plan.moves:
        pod = cluster.pod_by_key.get(move.pod.key)
        can = pod is not None and TEMPLATE_HASH in pod.labels
        is_surge = random.random() < (SURGE_SHARE if can else 1.0 - SURGE_SHARE)
        moves.append(structs.replace(move, method=MoveMethod.SURGE) if is_surge else move)
    return structs.replace(plan, moves=tuple(moves))
