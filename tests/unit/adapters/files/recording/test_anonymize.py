"""Anonymised recordings: no name is left, and everything that names agree on still agrees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rescheduler.adapters.files.recording.anonymize import Anonymizer
from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.model.objects.cluster import Cluster
from tests.unit.adapters.api_objects import api_object, container, list_of, node_object, pod_object, read
from tests.unit.adapters.files.recording.test_writing import recorded

SALT = b"0123456789abcdef"


def anonymized(*objects: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects under other names."""
    anonymizer = Anonymizer(SALT)
    return [msgspec.json.decode(anonymizer.anonymized(json.dumps(item).encode())) for item in objects]


def cluster_of(*objects: dict[str, Any]) -> Cluster:
    """The cluster of the objects under other names."""
    return read(list_of(*anonymized(*objects)))


def test_names_are_gone(tmp_path: Path) -> None:
    """None of the names of a recording is in its anonymised form."""
    text = recorded(tmp_path, anonymize=True, salt=SALT).read_text()
    for name in (
        "n1",
        "n2",
        "web",
        "data",
        "pv1",
        "fast",
        "ssd",
        "dedicated-to",
        "u-web",
        "registry.example.com",
        "uid-",
    ):
        assert f'"{name}"' not in text
        assert f'"{name}-' not in text


def test_the_same_salt_gives_the_same_text(tmp_path: Path) -> None:
    """And another salt another one."""
    first = recorded(tmp_path, "a.json", anonymize=True, salt=SALT).read_bytes()
    assert recorded(tmp_path, "b.json", anonymize=True, salt=SALT).read_bytes() == first
    assert recorded(tmp_path, "c.json", anonymize=True).read_bytes() != first


def test_the_form_of_the_cluster_stays(tmp_path: Path) -> None:
    """Counts, resources, priorities, selectors that match, claims that are found: all as before."""
    before = read_recording([str(recorded(tmp_path, "a.json"))])
    after = read_recording([str(recorded(tmp_path, "b.json", anonymize=True, salt=SALT))])

    def form(cluster: Cluster) -> list[Any]:
        return sorted(
            (
                pod.spec.requests, pod.spec.priority, pod.phase, pod.is_ready, pod.spec.host_ports, pod.held,
                len(pod.spec.tolerations), len(pod.spec.topology_spread), len(pod.volumes), len(pod.spec.unmodelled),
                pod.node_name in cluster.node_by_name, cluster.owner_of(pod) is not None,
                sum(claim.name == volume.claim for claim in cluster.claims for volume in pod.volumes),
                sum(rule.values == (dict(pod.labels).get(rule.key),)
                    for budget in cluster.budgets if budget.selector for rule in budget.selector.requirements),
                sum(dict(service.selector).items() <= dict(pod.labels).items() for service in cluster.services),
            )
            for pod in cluster.pods
        )  # fmt: skip

    assert form(after) == form(before)
    assert [node.allocatable for node in after.nodes] == [node.allocatable for node in before.nodes]
    assert after.namespaces == before.namespaces
    assert after.csi_drivers == before.csi_drivers
    assert after.attachments[0].volume_name == after.volumes[0].name == after.claims[0].volume_name
    assert after.budgets[0].disrupted_pods[0] in {pod.name for pod in after.pods}


def test_node_names_agree_wherever_they_stand() -> None:
    """Node, its host name label, pods on it, affinity to it by name and by label."""
    pin = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]},
        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]}]}}  # fmt: skip
    cluster = cluster_of(node_object("n1"), pod_object(affinity={"nodeAffinity": pin}))
    (node,), (pod,) = cluster.nodes, cluster.pods
    assert node.name != "n1"
    assert pod.node_name == node.labels["kubernetes.io/hostname"] == node.name
    assert pod.spec.node_affinity is not None
    by_field, by_label = pod.spec.node_affinity.required or ()
    assert by_field.fields[0].values == by_label.expressions[0].values == (node.name,)


def test_taints_and_tolerations_agree() -> None:
    """Keys of foreign domains and all values are replaced on both sides."""
    node = node_object()
    node["spec"]["taints"] = [{"key": "acme.example/team", "value": "blue", "effect": "NoSchedule"}]
    pod = pod_object(tolerations=[{"key": "acme.example/team", "operator": "Equal", "value": "blue"}])
    cluster = cluster_of(node, pod)
    (taint,), (toleration,) = cluster.nodes[0].taints, cluster.pods[0].spec.tolerations
    assert (taint.key, taint.value) == (toleration.key, toleration.value)
    assert "acme" not in taint.key
    assert taint.value != "blue"


def test_well_known_labels_and_words_stay() -> None:
    """Zones, instance types, architectures, numbers, true and false decide plans and say nothing."""
    labels = {
        "topology.kubernetes.io/zone": "eu-1a",
        "node.kubernetes.io/instance-type": "m6i.large",
        "kubernetes.io/arch": "arm64",
        "type": "virtual-kubelet",
        "generation": "7",
        "spot": "true",
        "team": "blue",
    }
    node = node_object()
    node["metadata"]["labels"] = labels
    kept = cluster_of(node).nodes[0].labels
    assert {key: value for key, value in kept.items() if key != "team"} == {
        key: value for key, value in labels.items() if key != "team"
    }
    assert kept["team"] != "blue"


def test_namespaces_of_every_cluster_keep_their_names() -> None:
    """Policies name kube-system; others are replaced, wherever they are named."""
    term = {"topologyKey": "kubernetes.io/hostname", "namespaces": ["shop", "kube-system"]}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cluster = cluster_of(
        node_object(),
        pod_object(namespace="shop", affinity=affinity),
        pod_object("b", namespace="kube-system"),
        api_object("Namespace", "shop", metadata={"labels": {"kubernetes.io/metadata.name": "shop"}}),
    )
    (shop,) = cluster.namespaces
    assert {pod.namespace for pod in cluster.pods} == {"kube-system", shop.name}
    assert shop.labels["kubernetes.io/metadata.name"] == shop.name != "shop"
    selected = next(pod for pod in cluster.pods if pod.namespace == shop.name).spec.affinity[0].namespaces
    assert selected == (shop.name, "kube-system")


def test_claims_of_ephemeral_volumes_are_found_again() -> None:
    """Their names are made of pod and volume."""
    pod = pod_object(volumes=[{"name": "scratch", "ephemeral": {}}])
    owner = {"kind": "Pod", "name": "a", "uid": "uid-Pod-a", "controller": True}
    claim = api_object("PersistentVolumeClaim", "a-scratch", namespace="default", metadata={"ownerReferences": [owner]})
    cluster = cluster_of(node_object(), pod, claim)
    assert cluster.pods[0].volumes[0].claim == cluster.claims[0].name != "a-scratch"


def test_images_agree_with_and_without_a_tag() -> None:
    """A pod's image is found among its node's."""
    node = node_object(images=[{"names": ["docker.io/shop/app:latest"], "sizeBytes": 9}])
    cluster = cluster_of(node, pod_object(containers=[container(image="docker.io/shop/app")]))
    assert cluster.pods[0].spec.images[0] == cluster.nodes[0].images[0][0]
    assert "shop" not in cluster.pods[0].spec.images[0]


@pytest.mark.parametrize("name", ["system-cluster-critical", "system-node-critical"])
def test_built_in_priority_classes_stay(name: str) -> None:
    """Their names carry their priority."""
    pod = pod_object(priorityClassName=name)
    del pod["spec"]["priority"]
    assert cluster_of(node_object(), pod).pods[0].spec.priority >= 2_000_000_000


def test_drivers_keep_their_names_and_nodes_do_not() -> None:
    """A CSINode is named after its node, its drivers are software."""
    found = api_object("CSINode", "n1", version="storage.k8s.io/v1", spec={"drivers": [{"name": "ebs"}]})
    cluster = cluster_of(node_object(), found)
    assert cluster.csi_nodes[0].name == cluster.nodes[0].name
    assert cluster.csi_nodes[0].drivers == (("ebs", None),)


def test_addresses_are_gone_and_host_names_still_fit() -> None:
    """Nobody learns an address; a Hostname that was the node's name still is."""
    addresses = [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": "n1"}]
    (node,) = cluster_of(node_object(addresses=addresses)).nodes
    assert [kind for kind, _ in node.addresses] == ["InternalIP", "Hostname"]
    assert "10.0.0.1" not in node.addresses[0][1]
    assert node.addresses[1][1] == node.name != "n1"


def test_what_a_node_pool_asks_for_is_anonymised_as_labels_are() -> None:
    """So that it still fits its nodes; what is no rule is left out."""
    node = node_object("n1")
    node["metadata"]["labels"].update({"karpenter.sh/nodepool": "secret", "corp.example/team": "cash"})
    rules = [{"key": "corp.example/team", "operator": "In", "values": ["cash"]}, {"key": 7}, "words"]
    spec = {"template": {"spec": {"requirements": rules}}}
    pool = api_object("NodePool", "secret", version="karpenter.sh/v1", spec=spec)
    assert not {"secret", "cash", "corp"} & set(json.dumps(anonymized(node, pool)).replace("/", '"').split('"'))
    found = cluster_of(node, pool)
    [(rule,), seen] = found.node_pools[0].requirements, found.nodes[0]
    assert found.pool_of(seen) == found.node_pools[0]
    assert seen.labels[rule.key] == rule.values[0]
