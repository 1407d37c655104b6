"""Two machines of Karpenter's, and a pod that has a place as soon as one small pod goes from one to the other."""

from __future__ import annotations

from dataclasses import dataclass

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, NO_RATES, DaemonProcess
from tests.cluster.karpenter.lab import NODE_CLAIMS, USER, Karpenter
from tests.cluster.plane.audit import Request
from tests.cluster.shapes import deployment, pod
from tests.cluster.waiting import wait_until

FIRST_TRY = f"""
mode: Execute
objectives: [{{name: MakeRoom}}]
triggers: [{{name: OnDemand}}]
disruption: {{workloads: {{maxUnavailable: 50%}}, singleReplicas: Allow, quiet: 1s, backOff: {{first: 1s, longest: 1s}},
  {NO_RATES}}}
autoscaler: {{firstTry: On, afterScaleDown: 0s}}
leaderElection: {{enabled: false}}
{AT_ONCE.replace("apiLatency: 0s", "apiLatency: 0s, apiErrors: 0%")}
"""
"""A process that has just begun has asked for little, much of it for kinds that are not served."""
HELPED, HELPLESS = "1500m", "3500m"
"""CPU of a pod that one eviction helps, and of one that needs a machine of its own."""


@dataclass(frozen=True)
class Tried:
    """What came of one pod. ``machines``: made for it; ``nominations``: of ours, before and while room was made."""

    machines: int
    evictions: int
    nominations: int


@dataclass(frozen=True)
class TwoMachines:
    """Of 3900m, with bare pods that stay: 1900m are left of the first, 1300m of the second."""

    cluster: Cluster
    lab: Karpenter
    process: DaemonProcess
    nodes: tuple[str, str]

    def crowd(self) -> None:
        """Put the small pod on the first machine, so that a pod of 1500m fits nowhere."""
        api, closed = self.cluster.api, self.nodes[1]
        api.patch("nodes", closed, {"spec": {"unschedulable": True}})
        self.cluster.create(deployment("small", cpu="1000m", spec={"terminationGracePeriodSeconds": 1}))
        self.cluster.wait_pods_running(3)
        api.patch("nodes", closed, {"spec": {"unschedulable": None}})

    def tried(self, cpu: str) -> Tried:
        """A pod of that size comes, and is bound, one way or the other."""
        rounds = len(self.process.events("round ended"))
        mark = self._come(cpu)
        self.process.wait_for("round ended", count=rounds + 1)
        writes = self.cluster.control_plane.audit.writes_since(mark)
        ours = [write for write in writes if write.user_agent.startswith("rescheduler/") and not write.is_dry_run]
        return Tried(
            machines=sum(map(_is_purchase, writes)),
            evictions=sum(write.subresource == "eviction" for write in ours),
            nominations=sum(write.subresource == "status" and write.name.startswith("big-") for write in ours),
        )

    def seconds_until_bought(self) -> float:
        """A pod comes that needs a machine of its own: from its creation until Karpenter makes the NodeClaim."""
        writes = self.cluster.control_plane.audit.writes_since(self._come(HELPLESS))
        made = next(one.at for one in writes if (one.verb, one.resource, one.subresource) == ("create", "pods", ""))
        return next(one.at for one in writes if _is_purchase(one)) - made

    def _come(self, cpu: str) -> int:
        """A pod of that size comes, and is bound; the place in the audit log before it."""
        mark = self.cluster.control_plane.audit.mark()
        self.cluster.create(deployment("big", cpu=cpu, spec={"terminationGracePeriodSeconds": 1}))
        self.cluster.wait_pods_running(4, timeout_seconds=120)
        return mark

    def clear(self) -> None:
        """Take the pods and what was bought for them away."""
        api = self.cluster.api
        for name in ("small", "big"):
            api.delete("deployments", name, "default")
        wait_until(lambda: len(api.list("pods", "default")) == 2, "those that stay to be alone", timeout_seconds=60)
        for name, claim in self.lab.node_claims().items():
            if claim["status"].get("nodeName") not in self.nodes:
                api.delete(NODE_CLAIMS, name)
        wait_until(lambda: len(api.list("nodes")) == 2, "the two machines to be alone", timeout_seconds=60)


def _is_purchase(write: Request) -> bool:
    return (write.user, write.resource, write.verb) == (USER, "nodeclaims", "create")


def buy_two(cluster: Cluster) -> tuple[str, str]:
    """The two machines, bought for the pods that stay."""
    cluster.create(pod("anchor-a", cpu="2000m"), pod("anchor-b", cpu="2600m"))
    cluster.wait_pods_running(2, timeout_seconds=120)
    first, second = (cluster.node_of(f"anchor-{name}") for name in "ab")
    assert first != second
    return first, second
