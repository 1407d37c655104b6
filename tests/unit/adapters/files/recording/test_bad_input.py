"""Recordings with bad content: one clear paragraph, or a warning where the rest can be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.extension_points import SnapshotError
from tests.unit.adapters.api_objects import api_object, container, list_of, node_object, pod_object, read
from tests.unit.adapters.files.recording.refusing import GOOD, refused


def with_cpu(quantity: object) -> dict[str, Any]:
    """A recording whose pod asks for this much."""
    return list_of(node_object(), pod_object(containers=[container(cpu=quantity)]))  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [b"", b" \n\t ", b"---\n", b"null\n", b"# nothing\n"])
def test_an_empty_file_says_what_was_wanted(data: bytes) -> None:
    """Nothing in it is told as nothing, with the command that records."""
    assert "found nothing at all; wanted nodes and pods, as kubectl get" in refused(data)


def test_truncated_json_names_the_byte() -> None:
    """Wherever a recording is cut off, the error says that it ends in the middle, and where."""
    whole = json.dumps(GOOD).encode()
    for end in range(1, len(whole) - 1, 7):
        assert f"ends in the middle; was it cut off? (byte {end})" in refused(whole[:end])


@pytest.mark.parametrize("literal", [b"NaN", b"Infinity", b"-Infinity", b"nan", b"'a'", b"+1", b"\x00"])
def test_what_is_no_json_names_the_byte(literal: bytes) -> None:
    """A literal that JSON does not have is told with its place."""
    data = json.dumps(GOOD).encode().replace(b'"Running"', literal)
    place = data.index(literal)
    text = refused(data)
    assert any(f"(byte {place + shift})" in text for shift in range(2)), text


@pytest.mark.parametrize("garbage", [b" garbage", b"}", b" ]", b", {}", b'"'])
def test_trailing_garbage_names_the_byte(garbage: bytes) -> None:
    """After a document only another may follow."""
    data = json.dumps(GOOD).encode()
    assert f"(byte {len(data) + (garbage[:1] == b' ')})" in refused(data + garbage)


def test_a_deployment_list_says_what_was_found() -> None:
    """A recording of other kinds is told by the kinds that are in it."""
    text = refused({"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [{"metadata": {"name": "d"}}]})
    assert "found Deployment, DeploymentList; wanted nodes and pods" in text
    assert "found List; wanted" in refused(list_of())
    assert "found Plan; wanted" in refused({"apiVersion": "rescheduler/v1alpha1", "kind": "Plan"})


def test_kubectls_table_is_recognised() -> None:
    """The table that kubectl prints without -o is not taken for YAML."""
    text = refused(b"NAME  READY  STATUS\nweb-1  1/1  Running\n")
    assert "-o json or -o yaml" in text


def test_a_node_without_allocatable_is_a_warning() -> None:
    """Such a node is read, named in a warning and marked as unusable."""
    cluster = read(list_of(node_object("n0", allocatable=None), node_object("n1"), pod_object()))
    assert [bool(node.problem) for node in cluster.nodes] == [True, False]
    assert cluster.warnings == ("Node n0: status.allocatable is missing; it is neither source nor target",)


def test_identical_objects_count_once() -> None:
    """The same object in two documents, or written differently, is one."""
    again = json.loads(json.dumps(pod_object()).replace('"1Gi"', '"1024Mi"'))
    cluster = read((json.dumps(GOOD) + json.dumps(list_of(node_object(), again))).encode())
    assert (len(cluster.nodes), len(cluster.pods)) == (1, 1)


def test_different_objects_of_one_name_are_refused() -> None:
    """Two objects of one kind, namespace and name that differ are named with what differs."""
    other = node_object(allocatable={"cpu": "2", "memory": "1Gi", "pods": "1"})
    assert "Node n1: stands twice, with different allocatable" in refused(list_of(node_object(), other))
    moved = pod_object("a", "n2")
    assert "Pod default/a: stands twice, with different node_name" in refused(list_of(*GOOD["items"], moved))


def test_two_pods_of_one_uid_are_refused() -> None:
    """A uid belongs to one pod."""
    twin = pod_object("b") | {"metadata": pod_object("a")["metadata"] | {"name": "b"}}
    assert "Pod default/b: metadata.uid: is also the uid of default/a" in refused(list_of(*GOOD["items"], twin))


@pytest.mark.parametrize("quantity", ["-1", "1.5.5", "1Kb", "", "0x10", "1_000", "١", "1 "])
def test_an_absurd_quantity_names_file_object_and_field(quantity: str) -> None:
    """A quantity that is none, or negative, is refused with its place: no API server has written it."""
    assert "Pod default/a: spec.containers[0].resources.requests.cpu: " in refused(with_cpu(quantity))


@pytest.mark.parametrize("quantity", [True, [], {}, -1, -0.5])
def test_a_quantity_of_another_type_names_file_object_and_field(quantity: object) -> None:
    """Numbers may stand for quantities, other types may not."""
    assert "spec.containers[0].resources.requests.cpu: " in refused(with_cpu(quantity))


def test_a_number_beyond_all_numbers_is_refused() -> None:
    """1e309 as a JSON number is out of range, in a field of the list or of an object."""
    data = json.dumps(with_cpu("@")).replace('"@"', "1e309").encode()
    assert "Pod default/a" in refused(data)


@pytest.mark.parametrize(
    "quantity", ["1e309", "1e400", "9e99", "8Ei", "1e25", "1e999999999", "9" * 300, 10**400, 2**53]
)
def test_more_than_can_be_counted_costs_nobody_else(quantity: str | int) -> None:
    """An API server accepts such amounts of anybody: the pod is set aside, and everybody else is read."""
    odd = with_cpu(quantity)
    cluster = read(list_of(*odd["items"], pod_object("b", "n1")))
    assert [(item.key, "is out of range" in item.problem) for item in cluster.set_aside] == [("default/a", True)]
    assert any(pod.name == "b" and pod.spec.problem is None for pod in cluster.pods)


@pytest.mark.parametrize("quantity", ["1n", "1e-999999999", "0e999999999", "0.0000000000000000000000000000000000001"])
def test_next_to_nothing_is_no_more_than_one(quantity: str) -> None:
    """Whatever is finer than a unit is rounded up to one, and zero stays zero; no exponent costs time."""
    pod = read(list_of(*with_cpu(quantity)["items"])).pods[0]
    assert dict(pod.spec.requests).get("cpu", 0) == (0 if quantity.startswith("0e") else 1)


def test_requests_that_add_up_to_too_much_are_set_aside() -> None:
    """Each may be in range, their sum is not."""
    many = [container(f"c{index}", cpu="4000000000000") for index in range(3)]
    cluster = read(list_of(node_object(), pod_object("b", None), pod_object("a", None, containers=many)))
    assert [pod.name for pod in cluster.pods] == ["b"]
    assert "add up to" in cluster.set_aside[0].problem


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"nodeName": 5}, "spec.nodeName: wanted text, found whole number"),
        ({"containers": {}}, "spec.containers: wanted list, found mapping"),
        ({"containers": []}, "spec.containers: is missing"),
        ({"containers": [5]}, "spec.containers[0]: wanted mapping, found whole number"),
        ({"containers": [container(ports=[{"hostPort": 70000}])]}, "spec.containers[0].ports[0].hostPort"),
        ({"containers": [{**container(), "resources": []}]}, "spec.containers[0].resources: wanted mapping"),
        ({"initContainers": [container(), container(cpu="x")]},
         "spec.initContainers[1].resources.requests.cpu"),
        ({"nodeSelector": {"disk": 1}}, "spec.nodeSelector.disk: wanted text, found whole number"),
        ({"tolerations": [{}, {"key": []}]}, "spec.tolerations[1].key"),
        ({"topologySpreadConstraints": [{"maxSkew": 1}]}, "spec.topologySpreadConstraints[0].topologyKey: is missing"),
        ({"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "z"}]},
         "spec.topologySpreadConstraints[0].maxSkew"),
        ({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}}},
         "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: is missing"),
        ({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": 1}}}},
         "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {}}]}, "spec.volumes[0].persistentVolumeClaim.claimName"),
        ({"volumes": {}}, "spec.volumes: wanted list, found mapping"),
        ({"priority": 2**31}, "spec.priority: wanted whole number <= 2147483647"),
        ({"overhead": {"cpu": "x"}}, "spec.overhead.cpu"),
        ({"resources": {"requests": {"memory": "x"}}}, "spec.resources.requests.memory"),
    ],
)  # fmt: skip
def test_a_wrong_type_names_the_path(spec: dict[str, Any], path: str) -> None:
    """Wherever a value has another type, object and path are told."""
    assert f"Pod default/a: {path}" in refused(list_of(node_object(), pod_object(**spec)))


def test_a_missing_field_names_the_object_it_misses_from() -> None:
    """Objects without a name are told by their place in the list."""
    assert "Pod (without a name, items[1]): metadata.name: is missing" in refused(
        list_of(node_object(), {"apiVersion": "v1", "kind": "Pod", "metadata": {}})
    )
    assert "Pod a: spec: is missing" in refused(list_of(node_object(), api_object("Pod", "a")))
    assert "items[1]: kind: is missing" in refused(list_of(node_object(), {"metadata": {"name": "a"}}))
    assert "items[0]: kind: is no text" in refused(list_of({"kind": 7}))


@pytest.mark.parametrize("items", [[5], [None], ["a"], [[]], [True]])
def test_items_must_be_objects(items: list[Any]) -> None:
    """Other values in a list are refused with their byte."""
    assert "an object of the list was wanted (byte " in refused({"kind": "List", "items": items})


@pytest.mark.parametrize("replicas", [2**63, -(2**63), 10**30, -1, 1.5, "3"])
def test_absurd_replicas_are_refused(replicas: object) -> None:
    """Counts have a range."""
    deployment = api_object("Deployment", "d", namespace="default", version="apps/v1", spec={"replicas": replicas})
    assert "Deployment default/d: spec.replicas: " in refused(list_of(node_object(), deployment))


def test_names_with_control_characters_are_escaped_and_unusable() -> None:
    """A name that could rewrite a terminal is shown escaped; its object is never used."""
    cluster = read(list_of(node_object("n\x1b[31m\n"), node_object(), pod_object("a\u202eb")))
    assert [node.name for node in cluster.nodes] == ["n1", "n\\x1b[31m\\n"]
    assert cluster.nodes[1].problem
    assert cluster.pods[0].name == "a\\u202eb"
    assert cluster.pods[0].spec.unmodelled
    assert len(cluster.warnings) == 2
    assert all(warning.isprintable() for warning in cluster.warnings)
    assert "\\x1b" in refused(list_of(node_object("a\x1b", allocatable={"cpu": "x"})))


def test_pods_on_unknown_nodes_are_named() -> None:
    """The pod, its node and the number of known nodes stand in a warning."""
    cluster = read(list_of(node_object(), pod_object("lost", "n9")))
    assert cluster.warnings == (
        "Pod default/lost: its node n9 is not among the 1 nodes of the snapshot; it is never moved",
    )


def test_many_pods_on_unknown_nodes_are_counted() -> None:
    """Warnings stay few: what is odd about all of them alike is one, and names the first; three are told one by one."""
    what = "its node n9 is not among the 1 nodes of the snapshot; it is never moved"
    for count, wanted in (
        (3, tuple(f"Pod default/p{number}: {what}" for number in range(3))),
        (70, (f"Pod default/p0, Pod default/p1, Pod default/p10 and 67 more: {what}",)),
    ):
        cluster = read(list_of(node_object(), *(pod_object(f"p{number}", "n9") for number in range(count))))
        assert cluster.warnings == wanted


def test_odd_objects_leave_room_for_other_warnings() -> None:
    """A warning that many nodes share takes the place of one, and does not push out what is told last."""
    nodes = [node_object(f"n{number:03}") for number in range(300)]
    for one in nodes:
        one["status"]["capacity"] = {**one["status"]["allocatable"], "cpu": "1"}
    cluster = read(list_of(*nodes, pod_object("lost", "elsewhere")))
    first, last = cluster.warnings
    assert first.startswith("Node n000, Node n001, Node n002 and 297 more: status.allocatable.cpu is more than ")
    assert last.startswith("Pod default/lost: its node elsewhere")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """A missing file, a directory and a name that is none are told by name."""
    for name, complaint in (("missing.json", "No such file"), ("", "is a directory"), ("a\0b", "cannot be read")):
        with pytest.raises(SnapshotError, match=complaint):
            read_recording([str(tmp_path / name)])


def test_errors_name_the_file(tmp_path: Path) -> None:
    """Of several files the bad one is named."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(GOOD))
    bad.write_text(json.dumps(with_cpu("-1")).replace('"a"', '"b"'))
    with pytest.raises(SnapshotError, match=r"bad\.json: Pod default/b: .*'-1' is negative"):
        read_recording([str(good), str(bad)])


def test_no_standard_input_is_told() -> None:
    """``-`` without a standard input is an error, not a wait."""
    with pytest.raises(SnapshotError, match="no standard input"):
        read_recording(["-"])
