"""Every write of docs/what-we-write.md is let through by the guards, with the rights that we ship and no others."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from msgspec.structs import replace

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.autoscalers.capacity_target import KubernetesCapacity
from rescheduler.adapters.kubernetes.autoscalers.machine_market import KubernetesMarket
from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.client.paths import ensure_namespace
from rescheduler.adapters.kubernetes.eviction.events import Act, record
from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.guidance.guidance_support import why_no_gates, why_no_holds
from rescheduler.adapters.kubernetes.leases import KubernetesLease
from rescheduler.adapters.kubernetes.ledger.ledger_objects import ConfigMaps
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.adapters.kubernetes.leftovers.cleaning import find_leftovers, remove_leftovers
from rescheduler.adapters.kubernetes.leftovers.stale_leftovers import remove_stale
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.kubernetes.rights.access_reviews import AccessReviews
from rescheduler.extension_points import HoldRequest
from rescheduler.model.daemon.capacity import BUYING, OFFERING, CapacityRequest, PodSet
from rescheduler.model.daemon.lease import LeaseRecord
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.pod import OwnerReference
from rescheduler.model.plan.detachment import Detachment, detachment_for
from rescheduler.model.plan.plan import PodReference
from tests.builders import pod as built_pod
from tests.cluster.api import MERGE_PATCH, Api, ApiError, Manifest
from tests.cluster.autoscaler.handing_over_scene import served
from tests.cluster.cluster import Cluster
from tests.cluster.guidance.guided_scenes import install
from tests.cluster.plane.kwok import GONE_AFTER
from tests.cluster.resources import resource_path
from tests.cluster.rights.thief_scene import (
    ACCOUNT,
    FILES,
    GUARD,
    GUIDE,
    SYSTEM,
    Attempt,
    config_map,
    job,
    named,
    pod_template,
    refused_by,
)
from tests.cluster.shapes import deployment, pod, stateful_set
from tests.cluster.tool import HOLDS
from tests.cluster.waiting import wait_until
from tests.paths import DEPLOY
from tests.unit.adapters.kubernetes.ledger.test_sharded_ledger import lifelike

NOTES = {"rescheduler.dev/plan": "p", "rescheduler.dev/expires": "2030-01-01T00:00:00Z", "theirs": "x"}
ROOM = built_pod("big-0", "500m", ports=[80]).spec


class Account:
    """What the rescheduler does, by its own code and under its own account."""

    def __init__(self, cluster: Cluster, connection: Connection) -> None:
        self.cluster, self.connection = cluster, connection
        self.clock: Final = SystemClock()
        self.target = KubernetesTarget(connection, LiveReader(connection), clock=self.clock, hold_namespace=HOLDS)
        self.capacity = KubernetesCapacity(connection, HOLDS, self.clock)

    def web(self) -> PodReference:
        """A running pod of somebody."""
        return reference(self.cluster.wait_pods_running(1, labels="app=web")[0])

    def evict(self) -> None:
        """As a dry run, and in earnest."""
        live = self.target.read_pod("default", self.web().name)
        assert live is not None
        for dry_run in (True, False):
            answer = self.target.evict(self.web(), live.resource_version, dry_run=dry_run)
            assert answer.kind == "Accepted", answer

    def hold(self) -> None:
        """Made, nominated, renewed, let go and used for another, and removed."""
        assert why_no_holds(self.connection, HOLDS) is None
        requests = [HoldRequest(f"hold-p-{number}", "node-0", (("cpu", 100), ("example.com/gpu", 1)), "",
                                "default-scheduler", 60, "p") for number in range(2)]  # fmt: skip
        self.target.hold(requests)
        assert self.target.renew(requests) == []
        self.target.release(["hold-p-0"])
        self.target.hold([requests[0]._replace(name="hold-p-2", node="node-1")])
        assert {item["status"]["nominatedNodeName"] for item in self.cluster.api.list("pods", HOLDS)} == {
            "node-0", "node-1",
        }  # fmt: skip
        self.target.release(["hold-p-1", "hold-p-2"])
        assert self.target.leftovers() == []

    def nominate(self) -> None:
        """A pending pod of somebody."""
        found = self.cluster.api.create(pod("waits", spec={"schedulingGates": [{"name": "example.com/other"}]}))
        assert self.target.nominate(reference(found), "node-1")
        assert self.cluster.api.get("pods", "waits", "default")["status"]["nominatedNodeName"] == "node-1"
        assert self.target.withdraw_nomination(reference(found), "node-1")
        assert "nominatedNodeName" not in self.cluster.api.get("pods", "waits", "default")["status"]

    def tell(self) -> None:
        """On a pod and on its owner."""
        owner = OwnerReference("ReplicaSet", "web", "u")
        assert record(self.connection, self.web(), owner, self.clock.now(), Act("Moved", "from here to there"))
        events = self.cluster.api.request("GET", "/apis/events.k8s.io/v1/namespaces/default/events")["items"]
        assert {item["regarding"]["kind"] for item in events if item["reason"] == "Moved"} == {"Pod", "ReplicaSet"}

    def make_namespace(self) -> None:
        """Where the right to make one was given: into it comes no pod with any privilege."""
        role = {"rules": [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["create"]}]}
        group = "rbac.authorization.k8s.io"
        self.cluster.create(
            {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "more"}, **role},
            {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "more"},
             "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "more"},
             "subjects": [{"kind": "ServiceAccount", "name": "rescheduler", "namespace": SYSTEM}]},
        )  # fmt: skip
        ensure_namespace(self.connection, "rooms")
        with pytest.raises(ApiError, match="PodSecurity"):
            self.cluster.api.create(pod("any", "rooms"))

    def write_ledger(self) -> None:
        """Made, and written again, with what an operator has noted there meanwhile."""
        objects = ConfigMaps(self.connection, HOLDS, keep_seconds=60.0)
        ledger = ShardedLedger(objects, "rescheduler-ledger", counted_seconds=60.0)
        past = Ledger(plan=1, next_entry=201, entries=lifelike(200))
        assert ledger.write(past, "")
        assert len(ledger.read().ledger.entries) == 200
        marks = {"rescheduler.dev/stop": "maintenance", "rescheduler.dev/approved": "7", "theirs": "x"}
        self.cluster.api.patch("configmaps", "rescheduler-ledger",
                               {"metadata": {"annotations": marks, "labels": {"theirs": "x"}}}, HOLDS)  # fmt: skip
        reading = ledger.read()
        assert reading.stop == "maintenance"
        assert ledger.write(replace(past, plan=2), reading.version)

    def gate(self) -> None:
        """In force for one owner, renewed, changed and taken away."""
        assert why_no_gates(self.connection, HOLDS) is None
        for owners in (["u1"], ["u1"], ["u1", "u2"], []):
            self.target.gate_replacements(owners, "p", 60)

    def ungate(self) -> None:
        """The gate and our notes go; a gate and a note of others stay."""
        gates = [{"name": GUIDE}, {"name": "example.com/other"}]
        found = self.cluster.api.create(pod("gated", annotations=NOTES, spec={"schedulingGates": gates}))
        assert self.target.ungate(reference(found))
        freed = self.cluster.api.get("pods", "gated", "default")
        assert freed["spec"]["schedulingGates"] == [{"name": "example.com/other"}]
        assert freed["metadata"]["annotations"] == {"theirs": "x"}
        last = self.cluster.api.create(pod("free", annotations=NOTES, spec={"schedulingGates": gates[:1]}))
        assert self.target.ungate(reference(last))

    def detach(self) -> None:
        """Taken out of its ReplicaSet, and given back."""
        web = self.web()
        live = self.target.read_pod("default", web.name)
        assert live is not None
        owner = self.target.read().owner_of(live)
        assert owner is not None
        detachment = detachment_for(live, owner.selector, "p", "2030-01-01T00:00:00Z")
        assert isinstance(detachment, Detachment)
        assert self.target.detach(web, live.resource_version, detachment)
        self.cluster.wait_pods_running(2, labels="app=web")
        assert self.target.give_back(web)
        self.cluster.wait_pods_running(1, labels="app=web")

    def taint(self) -> None:
        """Put, renewed and taken off."""
        for _ in range(2):
            self.target.taint(["node-0", "node-1"], "p", 60)
        self.target.untaint(["node-0", "node-1"])

    def ask(self) -> None:
        """By each of the three ways, and withdrawn again."""
        pods = (PodReference("default", "big-0", "u0"),)
        for how in ("Placeholders", "ProvisioningRequest", "CapacityBuffer"):
            assert self.capacity.cannot(how) is None
            self.capacity.ask(CapacityRequest("room", how, pods, (PodSet(ROOM, 1),), self.clock.now() + 60))
            assert [item.name for item in self.capacity.standing(how)] == ["room"]
            self.capacity.withdraw(how, ["room"])

    def buy(self) -> None:
        """Two machines are asked for, for longer, and no longer."""
        market = KubernetesMarket(self.connection, HOLDS, self.clock)
        assert market.cannot() is None
        shapes = (PodSet(ROOM, 1), PodSet(ROOM, 1))
        market.ask(CapacityRequest(f"{BUYING}r1", "Placeholders", (), shapes, self.clock.now() + 60))
        assert market.renew(60)
        assert len(market.asked()) == 2
        market.withdraw()

    def mark(self) -> None:
        """By the annotation and by the taint, renewed and taken off."""
        for how in ("Annotate", "Taint", "Annotate"):
            assert self.capacity.cannot(how) is None
            self.capacity.offer(["node-1"], how, self.clock.now() + 60)
        self.capacity.take_back(["node-1"])

    def keep_empty(self) -> None:
        """A placeholder on an emptied node comes, lives on, and goes."""
        assert self.capacity.cannot("Hold") is None
        kept = [HoldRequest("hold-emptied-0", "node-1", (("cpu", 100),), "", "default-scheduler", 60, OFFERING)]
        self.capacity.hold(kept)
        assert self.capacity.renew(kept) == []
        self.capacity.release(["hold-emptied-0"])

    def lead(self) -> None:
        """Taken, renewed and given up, beside labels of others."""
        lease = KubernetesLease(self.connection, SYSTEM, "rescheduler", timeout_seconds=5.0)
        assert lease.create(LeaseRecord("me", 15, 0.0, 0.0, 0))
        self.cluster.api.patch("leases", "rescheduler", {"metadata": {"labels": {"theirs": "x"}}}, SYSTEM)
        for holder in ("me", ""):
            found = lease.read()
            assert found is not None
            assert lease.update(LeaseRecord(holder, 15, 0.0, 1.0, 0), found.version)

    def review(self) -> None:
        """Of a token that is none."""
        assert AccessReviews(self.connection, "rescheduler", self.clock).account_of("none") is None


def reference(found: Manifest) -> PodReference:
    """A pod as moves name it."""
    return PodReference(found["metadata"]["namespace"], found["metadata"]["name"], found["metadata"]["uid"])


ACTS: Final[dict[str, Callable[[Account], None]]] = {
    "Eviction": Account.evict,
    "Placeholder": Account.hold,
    "Nomination of a placeholder": Account.hold,
    "Nomination of a pod": Account.nominate,
    "First nomination of a pod": Account.nominate,
    "Events": Account.tell,
    "Events of a DeschedulerPolicy": Account.tell,
    "Events of `run`": Account.tell,
    "Namespace": Account.make_namespace,
    "Ledger": Account.write_ledger,
    "Gate rule": Account.gate,
    "Scheduling gate": Account.ungate,
    "Detachment": Account.detach,
    "Taint": Account.taint,
    "Request for room": Account.ask,
    "Request for a machine": Account.buy,
    "Mark of an emptied node": Account.mark,
    "Placeholder on an emptied node": Account.keep_empty,
    "Lease": Account.lead,
    "Questions about rights": Account.hold,
    "Questions about who asks": Account.review,
}
"""By the first column of the table of docs/what-we-write.md."""


@pytest.fixture
def account(cluster: Cluster) -> Iterator[Account]:
    """Two nodes and a pod that takes its time to go; every right that we ship, and every guard, in force."""
    install(cluster)
    cluster.control_plane.apply_files(*(DEPLOY / name for name in (*FILES, "api.yaml")))
    cluster.add_nodes(2)
    cluster.create(deployment("web", annotations={GONE_AFTER: "30s"}))
    cluster.create(stateful_set("any"))
    cluster.wait_pods_running(2)
    kubeconfig = cluster.control_plane.service_account_kubeconfig("rescheduler", SYSTEM)
    api = Api.from_kubeconfig(kubeconfig)
    wait_until(lambda: all(refused_by(api, attempt) == GUARD for attempt in guarded()), "the guards")
    api.close()
    with served(cluster):
        yield Account(cluster, connect(str(kubeconfig), read_only=False))


def guarded() -> Iterator[Attempt]:
    """What is refused by each guard that is bound, to see that it is in force."""
    labels = {"metadata": {"labels": {"a": "b"}}}
    yield Attempt(GUARD, "PATCH", resource_path("nodes", None, "node-0"), labels, MERGE_PATCH)
    yield Attempt(GUARD, "PATCH", resource_path("pods", "default", "any-0"), labels, MERGE_PATCH)
    for body in (config_map("a"), job("a", suspend=True), pod_template({})):
        resource = f"{body['kind'].lower()}s"
        yield Attempt(GUARD, "POST", resource_path(resource, HOLDS), body)
    eviction = named("policy/v1", "Eviction", "any-0", "default")
    yield Attempt(GUARD, "POST", resource_path("pods", "default", "any-0", "eviction"), eviction)


def test_every_write_of_the_page_is_let_through(account: Account) -> None:
    """One act for each row of its table; by the audit log none of their requests was refused."""
    page = (DEPLOY.parent / "docs" / "what-we-write.md").read_text()
    rows = [name for name in re.findall(r"^\| ([^|]+?) \|", page, re.MULTILINE) if name not in ("What", "---")]
    assert rows == list(ACTS)
    log = account.cluster.control_plane.audit
    for act in dict.fromkeys(ACTS.values()):
        mark = log.mark()
        act(account)
        refused = [item for item in log.writes_since(mark, user=ACCOUNT) if item.code in (403, 422)]
        assert refused == [], act.__name__


def test_leftovers_are_removed_under_the_guards(account: Account) -> None:
    """Of each kind, all at once and those that have run out; the guards come with `clean` as with a run."""
    account.target.hold([HoldRequest("hold-p-0", "node-0", (("cpu", 100),), "", "default-scheduler", 60, "p")])
    account.target.gate_replacements(["u1"], "p", 60)
    account.target.taint(["node-0"], "p", 60)
    account.capacity.offer(["node-1"], "Taint", time.time() + 60)
    account.capacity.hold([HoldRequest("hold-e-0", "node-1", (("cpu", 9),), "", "default-scheduler", 60, OFFERING)])
    gates = [{"name": GUIDE}, {"name": "example.com/other"}]
    account.cluster.api.create(pod("gated", annotations=NOTES, spec={"schedulingGates": gates}))
    found = find_leftovers(account.connection, HOLDS)
    assert {item.kind for item in found} == {"Job", "ConfigMap", "Gate", "Taint", "Mark"}
    remove_leftovers(account.connection, found)
    wait_until(lambda: find_leftovers(account.connection, HOLDS) == [], "nothing left")
    account.target.taint(["node-1"], "q", -60)
    cleaned = remove_stale(account.connection, HOLDS, time.time)
    assert (len(cleaned.removed), cleaned.failures) == (1, ())


def test_the_guards_are_written_without_a_fault(cluster: Cluster) -> None:
    """The cluster's own check of types has no warning about any expression of any guard."""
    cluster.control_plane.apply_files(*(DEPLOY / name for name in FILES))
    names = ("pod-guard", "job-guard", "room-guard", "record-guard", "node-guard", "eviction-guard")

    def checks() -> dict[str, Manifest]:
        found = {name: cluster.api.get("validatingadmissionpolicies", f"rescheduler-{name}") for name in names}
        return {name: item.get("status", {}).get("typeChecking") for name, item in found.items()}

    wait_until(lambda: None not in checks().values(), lambda: f"checks of types: {checks()}")
    assert [check["expressionWarnings"] for check in checks().values() if "expressionWarnings" in check] == []
