"""A daemon's hand-overs on the real control plane, one step at a time: what it hears, plans, asks for and offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.autoscalers.autoscaler_notices import AutoscalerNotices
from rescheduler.adapters.kubernetes.autoscalers.capacity_target import KubernetesCapacity
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.autoscaler.handing_over import HandOver
from rescheduler.model.daemon.capacity import OFFERING
from rescheduler.model.daemon.notices import CapacityRequested, Notice
from rescheduler.model.daemon.rounds import AutoscalerNotice, RoundReport
from rescheduler.model.objects.annotations import PLAN
from rescheduler.model.objects.cluster import Cluster as Snapshot
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.policy.fields.policy import Policy
from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster, condition
from tests.cluster.plane.custom_kinds import RESOURCE, served_kinds
from tests.cluster.tool import HOLDS
from tests.cluster.waiting import wait_until

RATES = ("per_hour", "per_day", "per_workload_per_hour")
NO_RATES = {"rates": dict.fromkeys(RATES, "unlimited"), "ramp_up": "unlimited"}
"""A test has seconds for what a daemon does in days by default."""
APIS = Path(__file__).parent / "autoscaler_apis.yaml"


class Handing:
    """One policy's hand-over, as some user of the cluster."""

    def __init__(self, kubeconfig: Path, policy: Mapping[str, Any], listener: AutoscalerNotices) -> None:
        self.connection = connect(str(kubeconfig), read_only=False)
        at_once = {
            "mode": "Execute", "limits": {"deadline": "5s"}, "scope": {"minimum_age": 0.0}, **policy,
            "disruption": {**NO_RATES, **policy.get("disruption", {})},
        }  # fmt: skip
        self.policy = Policy.model_validate(at_once, strict=False)
        self.told: list[Notice] = []
        self.heard: list[AutoscalerNotice] = []
        self._listener = listener
        self._clock = SystemClock()
        capacity = KubernetesCapacity(self.connection, self.policy.hold.namespace, self._clock)
        self.hand_over = HandOver(capacity, self.policy, self._clock, self.told.append)

    def look(self) -> Snapshot:
        """One look of the loop."""
        cluster = LiveReader(self.connection).read()
        new = self._listener.take()
        self.heard += new
        self.hand_over.look(cluster, new)
        return cluster

    def round(self, result: PlanResult | None = None) -> Plan:
        """One round; what was carried out is given."""
        cluster = self.look()
        options = CycleOptions(
            self._clock, is_daemon=True, left=self.hand_over.left_to_autoscaler(cluster),
            waiting=self.hand_over.waiting(cluster),
        )  # fmt: skip
        plan = make_plan(cluster, self.policy, options)
        now = self._clock.now()
        report = RoundReport(1, (), now, now, self.policy.mode.value, "test", plan=plan, result=result)
        self.hand_over.after(report, cluster)
        return plan

    def reasons(self) -> set[str]:
        """Everything that the autoscaler has said so far."""
        return {notice.reason for notice in self.heard}

    def asked(self) -> list[tuple[str, list[str]]]:
        """How room was asked for, and for which pods."""
        asked = [notice for notice in self.told if isinstance(notice, CapacityRequested)]
        return [(notice.how, sorted(pod.name for pod in notice.pods)) for notice in asked]

    def until(self, is_so: Any, what: str, timeout_seconds: float = 30.0) -> None:
        """Look again and again."""
        wait_until(lambda: bool((self.look(), is_so())[1]), lambda: f"{what}; told: {self.told[-5:]}; heard: "
                   f"{[n.reason for n in self.heard]}", timeout_seconds=timeout_seconds)  # fmt: skip


def kept_empty(cluster: Cluster) -> set[str]:
    """Nodes that placeholders keep empty."""
    pods = cluster.api.list("pods", HOLDS)
    offered = [pod for pod in pods if pod["metadata"].get("labels", {}).get(PLAN) == OFFERING]
    return {node for pod in offered if (node := pod["metadata"]["annotations"].get("rescheduler.dev/node"))}


@contextmanager
def listening(kubeconfig: Path) -> Iterator[AutoscalerNotices]:
    """What autoscalers say from now on."""
    listener = AutoscalerNotices(connect(str(kubeconfig), read_only=True), SystemClock())
    listener.start()
    try:
        wait_until(lambda: listener.has_synced, lambda: f"all watches: {listener.problems()}")
        yield listener
    finally:
        assert listener.stop(10.0)


@contextmanager
def served(cluster: Cluster) -> Iterator[None]:
    """The APIs of autoscalers are installed."""
    definitions = list(yaml.safe_load_all(APIS.read_text()))
    names = [definition["metadata"]["name"] for definition in definitions]

    def are_served() -> bool:
        found = [cluster.api.get(RESOURCE, name) for name in names]
        discovered = cluster.api.request("GET", "/apis/autoscaling.x-k8s.io/v1")["resources"]
        return all(condition(item, "Established") == "True" for item in found) and bool(discovered)

    with served_kinds(cluster.api, definitions, are_served):
        yield


def left_of_requests(cluster: Cluster) -> list[str]:
    """Everything that is left of requests for room."""
    kinds = ("jobs", "v1/podtemplates", "autoscaling.x-k8s.io/v1/provisioningrequests",
             "autoscaling.x-k8s.io/v1beta1/capacitybuffers")  # fmt: skip
    found = []
    for kind in kinds:
        try:
            found += [f"{kind} {item['metadata']['name']}" for item in cluster.api.list(kind, HOLDS)]
        except ApiError:
            continue
    return found
