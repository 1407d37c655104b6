"""What somebody with our account's token would find in a cluster, and what he would try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from rescheduler.adapters.kubernetes.guidance.placeholders import placeholder
from rescheduler.extension_points import HoldRequest
from tests.cluster.api import MERGE_PATCH, Api, ApiError, Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.resources import resource_path
from tests.cluster.shapes import deployment, pod
from tests.cluster.tool import HOLDS
from tests.paths import DEPLOY

SYSTEM = "rescheduler-system"
ACCOUNT = f"system:serviceaccount:{SYSTEM}:rescheduler"
FILES = (
    "reading.yaml", "acting.yaml", "guards.yaml", "eviction-guard.yaml", "taint.yaml", "guide-binding.yaml",
    "autoscaler.yaml", "surge.yaml", "surge-binding.yaml", "overlays/execute/lease.yaml",
)  # fmt: skip
"""Every right that we ship for any mode, all bound at once, with the guards that come with them."""
OURS = {"app.kubernetes.io/managed-by": "rescheduler"}
GUIDE, HOLD = "rescheduler.dev/guide", "rescheduler.dev/hold"
STRATEGIC = "application/strategic-merge-patch+json"
RESTRICTED = {
    "runAsNonRoot": True, "runAsUser": 65535, "seccompProfile": {"type": "RuntimeDefault"},
}  # fmt: skip
QUIET = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}

GUARD, RIGHTS, SERVER = "guard", "rights", "server"
"""Who refuses: an admission policy of ours, RBAC, or the API server's own rules."""


class Attempt(NamedTuple):
    """One request, and who refuses it."""

    refused_by: str
    method: str
    path: str
    body: Any = None
    content_type: str = "application/json"


def refused_by(api: Api, attempt: Attempt) -> str:
    """Who refuses it, if anybody does; sent as a dry run, so that nothing is lost where nobody does."""
    separator = "&" if "?" in attempt.path else "?"
    path = attempt.path if attempt.method == "GET" else f"{attempt.path}{separator}dryRun=All"
    # A deletion with a body is a dry run by its body alone.
    body = {"dryRun": ["All"], **(attempt.body or {})} if attempt.method == "DELETE" else attempt.body
    try:
        api.request(attempt.method, path, body, content_type=attempt.content_type)
    except ApiError as error:
        if "ValidatingAdmissionPolicy" in str(error):
            return GUARD
        return RIGHTS if error.code == 403 else f"{SERVER}: {error}"
    return "nobody"


class Loot:
    """Somebody else's objects, in our hold namespace too, and one placeholder of ours."""

    def __init__(self, cluster: Cluster) -> None:
        api = cluster.api
        cluster.control_plane.apply_files(*(DEPLOY / name for name in FILES))
        cluster.add_nodes(2)
        api.patch("nodes", "node-0", {"metadata": {"labels": {"pool": "theirs"}}})
        cluster.create(deployment("web"))
        self.web = cluster.wait_pods_running(1)[0]
        gates = [{"name": GUIDE}, {"name": "example.com/other"}]
        notes = {"rescheduler.dev/plan": "p", "rescheduler.dev/expires": "2030-01-01T00:00:00Z", "theirs": "x"}
        self.gated = api.create(pod("gated", annotations=notes, spec={"schedulingGates": gates}))
        secure = {"securityContext": RESTRICTED, "schedulingGates": [{"name": "example.com/other"}]}
        theirs = pod("theirs", HOLDS, spec=secure)
        theirs["spec"]["containers"][0]["securityContext"] = QUIET
        self.theirs = api.create(theirs)
        self.job = api.create(job("theirs", labels={"app": "theirs"}, suspend=True))
        self.placeholder = api.create(job("hold-p-0", activeDeadlineSeconds=600))
        api.create(config_map("theirs"))
        stopped = {**config_map("rescheduler-ledger"), "data": ledger_data()}
        stopped["metadata"]["annotations"] = {"rescheduler.dev/stop": "maintenance"}
        stopped["metadata"]["labels"] = dict(OURS)
        api.create(stopped)
        api.create(lease("theirs"))
        self.lease = api.create(lease("rescheduler"))
        template = {"metadata": {}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
        api.create({**named("v1", "PodTemplate", "theirs", HOLDS), "template": template})


def named(version: str, kind: str, name: str, namespace: str) -> Manifest:
    """An object with nothing but its name."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}


def config_map(name: str, namespace: str = HOLDS) -> Manifest:
    """An empty ConfigMap."""
    return named("v1", "ConfigMap", name, namespace)


def lease(name: str, namespace: str = SYSTEM) -> Manifest:
    """A Lease that nobody holds."""
    return named("coordination.k8s.io/v1", "Lease", name, namespace)


def event(controller: str, namespace: str = "default") -> Manifest:
    """An Event in the name of some controller."""
    return {
        **named("events.k8s.io/v1", "Event", f"e-{controller.replace('/', '-')}", namespace),
        "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": controller, "reportingInstance": "i",
        "action": "A", "reason": "R", "type": "Normal", "note": "n",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "web", "namespace": namespace},
    }  # fmt: skip


def job(
    name: str,
    namespace: str = HOLDS,
    *,
    labels: Mapping[str, str] | None = None,
    pod: Mapping[str, Any] | None = None,
    container: Mapping[str, Any] | None = None,
    pod_labels: Mapping[str, str] | None = None,
    without: tuple[str, ...] = (),
    **spec: Any,
) -> Manifest:
    """A placeholder's Job as we make it, but for what is said here; ``without``: fields of it or its pods left out."""
    made = deepcopy(placeholder([HoldRequest(name, "node-0", (("cpu", 100),), "", "default-scheduler", 60, "p")],
                                name, namespace, 0.0))  # fmt: skip
    if labels is not None:
        made["metadata"]["labels"] = dict(labels)
    made["spec"].update(spec)
    made["spec"]["template"]["metadata"]["labels"].update(pod_labels or {})
    template = made["spec"]["template"]["spec"]
    template.update(pod or {})
    template["containers"][0].update(container or {})
    for field in without:
        template.pop(field, None)
        made["spec"].pop(field, None)
        template["containers"][0].pop(field, None)
    return made


def attempts(loot: Loot) -> Iterator[tuple[str, Attempt]]:
    """All of them, by what is attempted."""
    yield from _pods(loot)
    yield from _statuses(loot)
    yield from _jobs()
    yield from _records(loot)
    yield from _nodes()
    yield from _beyond(loot)


def springboards() -> Iterator[tuple[str, Attempt]]:
    """The forms that the attempts to make something differ from by one thing each, which nobody refuses."""
    capacity = {**OURS, "rescheduler.dev/capacity": "r"}
    asking = job("mine", labels=capacity, pod={"priorityClassName": "rescheduler-placeholder"},
                 without=("schedulingGates",))  # fmt: skip
    part = config_map("rescheduler-ledger-1")
    part["metadata"]["labels"] = dict(OURS)
    path = resource_path("jobs", HOLDS)
    yield "a placeholder", Attempt("nobody", "POST", path, job("mine"))
    yield "a placeholder that asks for a node", Attempt("nobody", "POST", path, asking)
    yield "a part of the ledger", Attempt("nobody", "POST", resource_path("configmaps", HOLDS), part)
    ledger = resource_path("configmaps", HOLDS, "rescheduler-ledger")
    yield "the ledger as it stands", _put(ledger, {}, "nobody")
    yield "the ledger of a newer plan", _put(ledger, {}, "nobody", ledger_data(8, 10))
    yield "a PodTemplate", Attempt("nobody", "POST", resource_path("podtemplates", HOLDS), pod_template(capacity))
    events = "/apis/events.k8s.io/v1/namespaces/default/events"
    yield "an Event of ours", Attempt("nobody", "POST", events, event("rescheduler.dev/rescheduler"))


def pod_template(labels: Mapping[str, str]) -> Manifest:
    """One by which an autoscaler is asked for room."""
    template = job("mine", without=("schedulingGates",))["spec"]["template"]
    return {**named("v1", "PodTemplate", "mine", HOLDS), "template": template} | {
        "metadata": {"name": "mine", "namespace": HOLDS, "labels": dict(labels)}
    }


def _patch(path: str, body: Any, by: str = GUARD, content_type: str = MERGE_PATCH) -> Attempt:
    return Attempt(by, "PATCH", path, body, content_type)


def _pods(loot: Loot) -> Iterator[tuple[str, Attempt]]:
    """By the right to patch pods, which Guide has."""
    web = resource_path("pods", "default", loot.web["metadata"]["name"])
    gated = resource_path("pods", "default", "gated")
    image = [{"name": "main", "image": "example.invalid/mine"}]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "mine", "uid": "u"}
    yield "image of a pod", _patch(web, {"spec": {"containers": image}}, content_type=STRATEGIC)
    yield "image of a gated pod", _patch(gated, {"spec": {"containers": image}}, content_type=STRATEGIC)
    yield "labels of a pod", _patch(web, {"metadata": {"labels": {"app": "mine"}}})
    yield "no labels", _patch(web, {"metadata": {"labels": None}})
    yield "annotations of a pod", _patch(web, {"metadata": {"annotations": {"a": "b"}}})
    yield "an annotation of others gone", _patch(gated, {"metadata": {"annotations": {"theirs": None}}})
    yield "our annotation on a pod", _patch(web, {"metadata": {"annotations": {"rescheduler.dev/node": "x"}}})
    yield "owners of a pod", _patch(web, {"metadata": {"ownerReferences": [owner]}})
    yield "no owners", _patch(web, {"metadata": {"ownerReferences": None}})
    yield "finalizers of a pod", _patch(web, {"metadata": {"finalizers": ["example.com/mine"]}})
    yield "tolerations of a pod", _patch(web, {"spec": {"tolerations": [
        *loot.web["spec"]["tolerations"], {"key": "a", "operator": "Exists", "effect": "NoSchedule"},
    ]}})  # fmt: skip
    yield "deadline of a pod", _patch(web, {"spec": {"activeDeadlineSeconds": 1}})
    yield "node selector of a gated pod", _patch(gated, {"spec": {"nodeSelector": {"a": "b"}}})
    yield "a gate of others", _patch(gated, {"spec": {"schedulingGates": [{"name": GUIDE}]}})
    yield "all gates", _patch(gated, {"spec": {"schedulingGates": None}})
    ephemeral = {"spec": {"ephemeralContainers": [{"name": "mine", "image": "mine"}]}}
    resize = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
    for part, body in (("ephemeralcontainers", ephemeral), ("resize", resize)):
        yield part, _patch(f"{web}/{part}", body, RIGHTS, STRATEGIC)
    target = {"target": {"kind": "Node", "name": "node-1"}}
    binding = {**named("v1", "Binding", "gated", "default"), **target}
    yield "bind a pod", Attempt(RIGHTS, "POST", f"{gated}/binding", binding)
    yield "delete a pod", Attempt(RIGHTS, "DELETE", web)
    yield "delete a pod of others in our namespace", Attempt(GUARD, "DELETE", resource_path("pods", HOLDS, "theirs"))
    yield "exec", Attempt(RIGHTS, "POST", f"{web}/exec?command=id")
    yield "make a pod", Attempt(RIGHTS, "POST", resource_path("pods", "default"), pod("mine"))


def _statuses(loot: Loot) -> Iterator[tuple[str, Attempt]]:
    """By the right to patch the status of pods, which Hold has; it reaches some metadata too."""
    web = resource_path("pods", "default", loot.web["metadata"]["name"], "status")
    conditions = [{"type": "Ready", "status": "False"}]
    yield "phase", _patch(web, {"status": {"phase": "Failed"}})
    yield "conditions", _patch(web, {"status": {"conditions": conditions}}, content_type=STRATEGIC)
    yield "address", _patch(web, {"status": {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}})
    gated = resource_path("pods", "default", "gated", "status")
    yield "reason beside a nomination", _patch(gated, {"status": {"nominatedNodeName": "node-1", "reason": "x"}})
    yield "container statuses", _patch(web, {"status": {"containerStatuses": None}})
    yield "labels by the status", _patch(web, {"metadata": {"labels": {"app": "mine"}}})
    yield "annotations by the status", _patch(web, {"metadata": {"annotations": {HOLD: "mine"}}})
    yield "finalizers by the status", _patch(web, {"metadata": {"finalizers": ["example.com/mine"]}})
    theirs = resource_path("pods", HOLDS, "theirs", "status")
    yield "our marks on a pod of others in our namespace", _patch(theirs, {"metadata": {"annotations": {HOLD: "x"}}})


def _jobs() -> Iterator[tuple[str, Attempt]]:
    """By the rights to make, change and delete Jobs in the hold namespace."""
    path = resource_path("jobs", HOLDS)
    mount = [{"name": "v", "mountPath": "/v"}]
    host = {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}
    empty = {"volumes": [{"name": "v", "emptyDir": {}}]}
    capacity = {**OURS, "rescheduler.dev/capacity": "r"}
    gates = ("schedulingGates",)
    made: dict[str, Manifest] = {
        "privileged": job("mine", container={"securityContext": {"privileged": True}}),
        "more capabilities": job("mine", container={"securityContext": {
            **QUIET, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}}),
        "as root": job("mine", pod={"securityContext": {**RESTRICTED, "runAsUser": 0}}),
        "with hostPath": job("mine", pod=host, container={"volumeMounts": mount}),
        "with a volume": job("mine", pod=empty),
        "with the host's network": job("mine", pod={"hostNetwork": True}),
        "with host ports": job("mine", container={"ports": [{"containerPort": 80, "hostPort": 80}]}),
        "with an account": job("mine", pod={"serviceAccountName": "default"}),
        "with an account's token": job("mine", pod={"automountServiceAccountToken": True}),
        "with another image": job("mine", container={"image": "example.invalid/mine"}),
        "with a command": job("mine", container={"command": ["sh"]}),
        "with arguments": job("mine", container={"args": ["-c"]}),
        "with environment": job("mine", container={"env": [{"name": "A", "value": "b"}]}),
        "with two containers": job("mine", pod={"containers": [
            {"name": name, "image": "registry.k8s.io/pause:3.10", "securityContext": QUIET} for name in ("a", "b")]}),
        "with an init container": job("mine", pod={"initContainers": [
            {"name": "i", "image": "registry.k8s.io/pause:3.10", "securityContext": QUIET}]}),
        "without the gate": job("mine", without=gates),
        "with another gate": job("mine", pod={"schedulingGates": [{"name": "example.com/mine"}]}),
        "bound to a node": job("mine", pod={"nodeName": "node-0"}, without=gates),
        "with a node selector": job("mine", pod={"nodeSelector": {"a": "b"}}),
        "without a deadline": job("mine", without=("activeDeadlineSeconds",)),
        "for a year": job("mine", activeDeadlineSeconds=31_536_000),
        "that stays": job("mine", without=("ttlSecondsAfterFinished",)),
        "tried again": job("mine", backoffLimit=6),
        "that chooses its pods": job("mine", manualSelector=True, selector={"matchLabels": {HOLD: "mine"}}),
        "suspended": job("mine", suspend=True),
        "indexed": job("mine", completionMode="Indexed"),
        "of another controller": job("mine", managedBy="example.com/mine"),
        "without our label": job("mine", labels={"app": "mine"}),
        "with another label": job("mine", labels={**OURS, HOLD: "mine", "app": "web"}),
        "with another label of pods": job("mine", pod_labels={"app": "web"}),
        "that asks for a node in plain sight": job("mine", labels=capacity, without=gates),
        "that asks for a node as a high priority": job(
            "mine", labels=capacity, pod={"priorityClassName": "system-node-critical"}, without=gates),
        "in both forms": job("mine", labels={**capacity, HOLD: "mine"}),
    }  # fmt: skip
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "theirs", "uid": "u"}
    made["with an owner"] = job("mine")
    made["with an owner"]["metadata"]["ownerReferences"] = [owner]
    made["with a finalizer"] = job("mine")
    made["with a finalizer"]["metadata"]["finalizers"] = ["example.com/mine"]
    for name, body in made.items():
        yield f"a Job {name}", Attempt(GUARD, "POST", path, body)
    yield "a Job elsewhere", Attempt(RIGHTS, "POST", resource_path("jobs", "default"), job("mine", "default"))
    theirs, ours = (resource_path("jobs", HOLDS, name) for name in ("theirs", "hold-p-0"))
    yield "delete a Job of others", Attempt(GUARD, "DELETE", theirs)
    yield "delete ours and leave its pods", Attempt(GUARD, "DELETE", ours, {"propagationPolicy": "Orphan"})
    yield "let a Job of others run", _patch(theirs, {"spec": {"suspend": False}})
    yield "make a Job of others ours", _patch(theirs, {"metadata": {"labels": OURS}})
    yield "deadline of a Job of others", _patch(theirs, {"spec": {"activeDeadlineSeconds": 1}})
    yield "labels of our Job", _patch(ours, {"metadata": {"labels": {"app": "web"}}})
    yield "our Job for a year", _patch(ours, {"spec": {"activeDeadlineSeconds": 31_536_000}})
    yield "more pods of our Job", _patch(ours, {"spec": {"parallelism": 100}})
    yield "finalizer on our Job", _patch(ours, {"metadata": {"finalizers": ["example.com/mine"]}})


def _records(loot: Loot) -> Iterator[tuple[str, Attempt]]:
    """By the rights to write the ledger, the rule of Guide, the Lease, Events and requests for room."""
    maps, ledger = (resource_path("configmaps", HOLDS, name) for name in ("", "rescheduler-ledger"))
    yield "another ConfigMap", Attempt(GUARD, "POST", maps, config_map("mine"))
    owned = config_map("rescheduler-ledger-1")
    owned["metadata"] |= {"labels": dict(OURS), "finalizers": ["example.com/mine"]}
    yield "a part of the ledger that cannot be removed", Attempt(GUARD, "POST", maps, owned)
    for name, value in (("stop", None), ("stop", "x"), ("approved", "7"), ("breaker-closed", "2030-01-01T00:00:00Z")):
        yield f"{name}={value} on the ledger", _put(ledger, {f"rescheduler.dev/{name}": value})
    for name, data in (
        ("an older plan", ledger_data(plan=6)), ("an earlier eviction", ledger_data(next_entry=8)),
        ("nothing", {"format": "2"}), ("an older form", {**ledger_data(), "format": "1"}),
        ("something else", {**ledger_data(), "mine": "x"}),
    ):  # fmt: skip
        yield f"the ledger with {name}", _put(ledger, {}, data=data)
    sealed = config_map("rescheduler-ledger-1")
    sealed["metadata"]["labels"], sealed["immutable"] = dict(OURS), True
    yield "a sealed ledger", Attempt(GUARD, "POST", maps, sealed)
    yield "delete the ledger", Attempt(RIGHTS, "DELETE", ledger)
    yield "write a ConfigMap of others", Attempt(RIGHTS, "PUT", f"{maps}/theirs", config_map("theirs"))
    yield "a ConfigMap elsewhere", Attempt(RIGHTS, "POST", resource_path("configmaps", "default"),
                                           config_map("rescheduler-ledger", "default"))  # fmt: skip
    leases = resource_path("leases", SYSTEM)
    yield "another Lease", Attempt(GUARD, "POST", leases, lease("mine"))
    yield "write a Lease of others", Attempt(RIGHTS, "PUT", f"{leases}/theirs", lease("theirs"))
    kept = lease("rescheduler")
    kept["metadata"] = {**loot.lease["metadata"], "labels": dict(OURS), "finalizers": ["example.com/mine"]}
    yield "a finalizer on our Lease", Attempt(GUARD, "PUT", f"{leases}/rescheduler", kept)
    yield "a Lease of a node", Attempt(RIGHTS, "PUT", resource_path("leases", "kube-node-lease", "node-0"),
                                       lease("node-0", "kube-node-lease"))  # fmt: skip
    events = "/apis/events.k8s.io/v1/namespaces/default/events"
    yield "an Event of another", Attempt(GUARD, "POST", events, event("cluster-autoscaler"))
    templates = resource_path("podtemplates", HOLDS)
    yield "delete a PodTemplate of others", Attempt(GUARD, "DELETE", f"{templates}/theirs")
    body = pod_template({**OURS, "rescheduler.dev/capacity": "r"})
    body["template"]["spec"]["containers"][0]["image"] = "example.invalid/mine"
    yield "a PodTemplate with another image", Attempt(GUARD, "POST", templates, body)


def ledger_data(plan: int = 7, next_entry: int = 9) -> dict[str, str]:
    """What the ledger's main object holds, with these numbers in its head."""
    return {"format": "2", "ledger.json": f'{{"plan":{plan},"holder":"a\\"plan\\":1","nextEntry":{next_entry}}}'}


def _put(path: str, notes: Mapping[str, str | None], by: str = GUARD, data: Mapping[str, str] | None = None) -> Attempt:
    """The ledger with other annotations, of which one that is None is left out, or with other data."""
    body = {**config_map("rescheduler-ledger"), "data": dict(ledger_data() if data is None else data)}
    kept = {"rescheduler.dev/stop": "maintenance", **notes}
    body["metadata"]["labels"] = dict(OURS)
    body["metadata"]["annotations"] = {key: value for key, value in kept.items() if value is not None}
    return Attempt(by, "PUT", path, body)


def _nodes() -> Iterator[tuple[str, Attempt]]:
    """By the right to patch nodes, which Taint has; test_guards.py has more."""
    path = resource_path("nodes", None, "node-0")
    taint = {"key": "example.com/mine", "effect": "NoExecute"}
    yield "cordon", _patch(path, {"spec": {"unschedulable": True}})
    yield "a taint of others", _patch(path, {"spec": {"taints": [taint]}})
    yield "our taint that evicts", _patch(path, {"spec": {"taints": [{"key": "rescheduler.dev/leaving",
                                                                      "effect": "NoExecute"}]}})  # fmt: skip
    yield "labels of a node", _patch(path, {"metadata": {"labels": {"pool": "mine"}}})
    yield "status of a node", _patch(f"{path}/status", {"status": {"conditions": []}}, RIGHTS)
    yield "delete a node", Attempt(RIGHTS, "DELETE", path)


def _beyond(loot: Loot) -> Iterator[tuple[str, Attempt]]:
    """What no mode has any right to, and evictions without care."""
    web = loot.web["metadata"]
    eviction = resource_path("pods", "default", web["name"], "eviction")
    body = named("policy/v1", "Eviction", web["name"], "default")
    uid = {"preconditions": {"uid": web["uid"]}}
    yield "evict whatever has that name", Attempt(GUARD, "POST", eviction, body)
    for option in ({"gracePeriodSeconds": 0}, {"propagationPolicy": "Orphan"}):
        yield f"evict with {option}", Attempt(GUARD, "POST", eviction, {**body, "deleteOptions": {**uid, **option}})
    yield "read secrets", Attempt(RIGHTS, "GET", resource_path("secrets"))
    yield "read secrets of our namespace", Attempt(RIGHTS, "GET", resource_path("secrets", SYSTEM))
    account = resource_path("serviceaccounts", "kube-system", "default", "token")
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    yield "a token of another account", Attempt(RIGHTS, "POST", account, request)
    yield "scale", _patch(resource_path("deployments", "default", "web", "scale"), {"spec": {"replicas": 0}}, RIGHTS)
    yield "workload", _patch(resource_path("deployments", "default", "web"), {"spec": {"paused": True}}, RIGHTS)
    for kind in ("validatingadmissionpolicies", "validatingadmissionpolicybindings"):
        for name in ("pod-guard", "job-guard", "room-guard", "record-guard", "node-guard", "eviction-guard"):
            guard = resource_path(kind, None, f"rescheduler-{name}")
            yield f"delete {kind} {name}", Attempt(RIGHTS, "DELETE", guard)
            yield f"change {kind} {name}", _patch(guard, {"spec": {"failurePolicy": "Ignore"}}, RIGHTS)
    role = {**named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "mine", ""),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "rescheduler", "namespace": SYSTEM}]}  # fmt: skip
    yield "bind a role", Attempt(RIGHTS, "POST", resource_path("clusterrolebindings"), role)
    yield "label a namespace", _patch(resource_path("namespaces", None, HOLDS), {"metadata": {"labels": None}}, RIGHTS)
