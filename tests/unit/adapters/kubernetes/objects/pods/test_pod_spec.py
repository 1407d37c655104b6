"""Pod specifications: what the scheduler looks at, one object for all replicas."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.objects.pods import pod_spec
from rescheduler.model.objects.constraints import (
    HostPort,
    LabelSelector,
    NodeSelectorTerm,
    PodAffinityTerm,
    Requirement,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)
from tests.unit.adapters.api_objects import container, list_of, node_object, pod_object, read, read_pod

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u-web", "controller": True}
AT = 1777629600.0  # CREATED


def with_metadata(pod: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The pod with further metadata."""
    return pod | {"metadata": pod["metadata"] | fields}


def test_replicas_share_one_specification() -> None:
    """Replicas differ in node, host name, token volume and restarts, and yet have the very same specification."""
    replicas = []
    for number in range(3):
        token = f"kube-api-access-{number}xyz9"
        mounts = [{"name": token, "mountPath": "/var/run"}]
        pod = pod_object(
            f"web-{number}",
            "n1",
            hostname=f"web-{number}",
            containers=[container(volumeMounts=mounts)],
            volumes=[
                {"name": token, "projected": {}},
                {"name": "d", "persistentVolumeClaim": {"claimName": f"d-{number}"}},
            ],
            tolerations=[{"key": "a", "operator": "Exists"}],
        )
        pod["status"]["containerStatuses"] = [
            {"name": "main", "restartCount": number, "resources": container()["resources"]}
        ]
        replicas.append(pod)
    pods = read(list_of(node_object(), *replicas)).pods
    assert len({id(pod.spec) for pod in pods}) == 1
    assert len({id(pod.labels) for pod in pods}) == 1
    assert [pod.restart_count for pod in pods] == [0, 1, 2]
    assert [pod.volumes for pod in pods] == [(Volume("PersistentVolumeClaim", claim=f"d-{n}"),) for n in range(3)]


def test_since_when_containers_run_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicas that started at different times are recognised by their text: the specification is made once."""
    made = []
    making = pod_spec._converted

    def counted(*arguments: Any) -> Any:
        made.append(arguments)
        return making(*arguments)

    monkeypatch.setattr(pod_spec, "_converted", counted)
    replicas = []
    for number in range(3):
        pod = pod_object(f"web-{number}")
        state = {"running": {"startedAt": f"2026-05-01T10:00:0{number}Z"}}
        pod["status"]["containerStatuses"] = [{"name": "main", "restartCount": number, "state": state}]
        replicas.append(pod)
    waiting = pod_object("web-9")
    waiting["status"]["conditions"] = []
    waiting["status"]["containerStatuses"] = [{"name": "main", "state": {"waiting": {"reason": "ErrImagePull"}}}]
    pods = read(list_of(node_object(), *replicas, waiting)).pods
    assert len(made) == 1
    assert [pod.trouble for pod in pods] == ["", "", "", "ErrImagePull"]


def test_specifications_that_mean_the_same_are_one() -> None:
    """Two texts of one meaning give one object."""
    other = pod_object("b", containers=[container(cpu="1000m", name="other")])
    pods = read(list_of(node_object(), pod_object(), other)).pods
    assert pods[0].spec is pods[1].spec


@pytest.mark.parametrize(
    "change",
    [
        {"containers": [container(cpu="2")]},
        {"containers": [container(image="other:v1")]},
        {"containers": [container(ports=[{"hostPort": 80}])]},
        {"containers": [container(), container("b")]},
        {"initContainers": [container(cpu="9")]},
        {"nodeSelector": {"a": "b"}},
        {"tolerations": [{"operator": "Exists"}]},
        {"overhead": {"cpu": "1"}},
        {"resources": {"requests": {"cpu": "7"}}},
        {"priority": 5},
        {"priorityClassName": "high"},
        {"preemptionPolicy": "Never"},
        {"schedulerName": "other"},
        {"terminationGracePeriodSeconds": 0},
        {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z"}]},
        {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}]}}},
        {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}]}}},
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}},
        {"resourceClaims": [{"name": "gpu"}]},
        {"schedulingGroup": {"podGroupName": "g"}},
    ],
)
def test_specifications_that_differ_stay_apart(change: dict[str, Any]) -> None:
    """Nothing that is looked at is lost in sharing."""
    first, second = read(list_of(node_object(), pod_object("a"), pod_object("b", **change))).pods
    assert first.spec != second.spec


def test_pods_of_a_daemon_set_share_their_specification_too() -> None:
    """The node affinity that pins each to its node is left out, once it sits there."""

    def daemon(name: str, node: str | None) -> dict[str, Any]:
        pin = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [pin]}}}
        pod = pod_object(name, node, affinity=affinity)
        return with_metadata(pod, ownerReferences=[OWNER | {"kind": "DaemonSet"}])

    pods = read(list_of(node_object(), daemon("a", "n1"), daemon("b", "n1"), daemon("c", None))).pods
    assert pods[0].spec is pods[1].spec
    assert pods[0].spec.node_affinity is None
    pinned = pods[2].spec.node_affinity
    assert pinned is not None
    assert pinned.required == (NodeSelectorTerm((), (Requirement("metadata.name", "In", ("c",)),)),)


def test_affinity_tolerations_and_spread() -> None:
    """All that the scheduler reads, in the model's form."""
    web = {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]}
    term = {"topologyKey": "zone", "labelSelector": web, "namespaceSelector": {}, "namespaces": ["x"]}
    newer = {"matchExpressions": [{"key": "n", "operator": "Gt", "values": ["4"]}]}
    spec = read_pod(
        pod_object(
            nodeSelector={"disk": "ssd", "arch": "arm"},
            affinity={
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 3, "preference": newer}
                    ]
                },
                "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 7, "podAffinityTerm": {"topologyKey": "host"}}
                    ]
                },
            },
            tolerations=[{"key": "a", "effect": "NoSchedule", "value": "v"}, {"operator": "Exists"}],
            topologySpreadConstraints=[
                {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 3,
                 "matchLabelKeys": ["pod-template-hash"], "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor",
                 "labelSelector": {}},
                {"maxSkew": 1, "topologyKey": "host"},
            ],
        )
    ).spec  # fmt: skip
    rules = (Requirement("a", "In", ("1",)), Requirement("b", "In", ("2",)), Requirement("c", "Exists"))
    assert spec.node_selector == (("arch", "arm"), ("disk", "ssd"))
    assert spec.node_affinity is not None
    assert spec.node_affinity.required is None
    assert spec.node_affinity.preferred[0].weight == 3
    assert spec.affinity == (PodAffinityTerm("zone", LabelSelector(rules), ("x",), LabelSelector()),)
    assert spec.preferred_anti_affinity[0].term == PodAffinityTerm("host")
    assert spec.tolerations == (Toleration("a", "Equal", "v", "NoSchedule"), Toleration("", "Exists"))
    assert spec.topology_spread == (
        TopologySpreadConstraint("zone", 2, "ScheduleAnyway", LabelSelector(), 3, ("pod-template-hash",), False, True),
        TopologySpreadConstraint("host", 1),
    )
    assert spec.unmodelled == ()


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ({"resourceClaims": [{"name": "gpu"}]}, "resourceClaims"),
        ({"schedulingGroup": {"podGroupName": "g"}}, "schedulingGroup"),
        ({"workloadRef": {"name": "w"}}, "schedulingGroup"),
        ({"tolerations": [{"operator": "Near"}]}, "Near"),
        ({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "Maybe"}]}, "Maybe"),
        ({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "nodeTaintsPolicy": "Some"}]}, "Some"),
        ({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "z", "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}}]}}},
         "Like"),
        ({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "In"}]}]}}}}, "In without values"),
        ({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "spec.x", "operator": "In", "values": ["a"]}]}]}}}}, "spec.x"),
    ],
)  # fmt: skip
def test_what_is_not_modelled_is_named(spec: dict[str, Any], word: str) -> None:
    """A predicate that is not understood makes the pod unmovable, by name."""
    (found,) = read_pod(pod_object(**spec)).spec.unmodelled
    assert word in found


def test_host_ports() -> None:
    """Of containers and sidecars, not of other init containers; on the host's network every port."""
    ports = [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]
    init = [container("s", restartPolicy="Always", ports=[{"hostPort": 9, "protocol": "UDP", "hostIP": "10.0.0.1"}]),
            container("i", ports=[{"hostPort": 7}])]  # fmt: skip
    spec = read_pod(pod_object(containers=[container(ports=ports)], initContainers=init)).spec
    assert spec.host_ports == (HostPort(8080), HostPort(9, "UDP", "10.0.0.1"))
    assert read_pod(pod_object(containers=[container(ports=ports)], hostNetwork=True)).spec.host_ports == (
        HostPort(8080),
        HostPort(81),
    )


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("nginx", "nginx:latest"),
        ("nginx:1.25", "nginx:1.25"),
        ("host:5000/nginx", "host:5000/nginx:latest"),
        ("nginx@sha256:abc", "nginx@sha256:abc"),
    ],
)
def test_images_carry_a_tag(image: str, name: str) -> None:
    """As nodes name them."""
    assert read_pod(pod_object(containers=[container(image=image)])).spec.images == (name,)
