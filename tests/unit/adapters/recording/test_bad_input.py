"""Recordings that are broken or hostile: one clear paragraph, or a warning where the rest can be used."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from rescheduler.adapters.snapshot_file import read_recording
from rescheduler.extension_points import SnapshotError
from tests.unit.adapters.api_objects import api_object, container, list_of, node_object, pod_object, read

GOOD = list_of(node_object(), pod_object())


def refused(data: object) -> str:
    """The one paragraph that a recording is refused with."""
    with pytest.raises(SnapshotError) as caught:
        read(data)
    text = str(caught.value)
    assert text.startswith("standard input: ")
    assert text.isprintable()
    return text


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


def test_allocatable_above_capacity_is_a_warning() -> None:
    """A node that offers more than it has is not used."""
    cluster = read(list_of(node_object(allocatable={"cpu": "8", "memory": "1Gi", "pods": "10"})))
    assert cluster.nodes[0].problem == "status.allocatable.cpu is more than status.capacity.cpu"


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


@pytest.mark.parametrize("quantity", ["-1", "1e309", "1.5.5", "1e400", "1Kb", "", "9e99", "0x10", "1_000", "١", "1 "])
def test_an_absurd_quantity_names_file_object_and_field(quantity: str) -> None:
    """A quantity that is none, negative or out of range is refused with its place."""
    assert "Pod default/a: spec.containers[0].resources.requests.cpu: " in refused(with_cpu(quantity))


@pytest.mark.parametrize("quantity", [True, [], {}, 10**400, -1, -0.5])
def test_a_quantity_of_another_type_names_file_object_and_field(quantity: object) -> None:
    """Numbers may stand for quantities, other types may not."""
    assert "spec.containers[0].resources.requests.cpu: " in refused(with_cpu(quantity))


def test_a_number_beyond_all_numbers_is_refused() -> None:
    """1e309 as a JSON number is out of range, in a field of the list or of an object."""
    data = json.dumps(with_cpu("@")).replace('"@"', "1e309").encode()
    assert "Pod default/a" in refused(data)


def test_requests_that_add_up_to_too_much_are_refused() -> None:
    """Each may be in range, their sum is not."""
    many = [container(f"c{index}", cpu="4000000000000") for index in range(3)]
    assert "add up to" in refused(list_of(node_object(), pod_object(containers=many)))


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
    """Warnings stay few; the rest is counted."""
    cluster = read(list_of(node_object(), *(pod_object(f"p{number}", "n9") for number in range(70))))
    assert len(cluster.warnings) == 21
    assert cluster.warnings[-1] == "50 more pods are on nodes that are not in the snapshot"


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"items":[' * 100_000,
        json.dumps(GOOD).encode().replace(b'"Running"', b"[" * 100_000 + b"]" * 100_000),
        b"- " * 100_000,
        b"{? " * 100_000,
        b"a: " + b"[" * 100_000,
    ],
)
def test_deep_nesting_is_refused(data: bytes) -> None:
    """100,000 levels end in an error, not in a full stack."""
    refused(data)


def test_lists_in_lists_have_an_end() -> None:
    """Lists may hold lists, but not without end."""
    nested = list_of(node_object())
    assert len(read(list_of(nested)).nodes) == 1
    for _ in range(5):
        nested = list_of(nested)
    assert "lists within lists" in refused(nested)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("items:\n- kind: a\n- b: *x\n", "line 3, column 6: alias *x repeats nothing that is complete"),
        ("kind: Pod\nspec: &x [*x]\n", "line 2, column 11: alias *x repeats nothing that is complete"),
        ("kind: !!python/object/apply:os.system [ls]\n", "tag tag:yaml.org,2002:python/object/apply:os.system"),
        ("kind: ! Pod\n", "is not allowed"),
        ("kind: List\nkind: List\n", "line 2, column 1: key 'kind' stands twice"),
        ("kind: Pod\nspec:\n  a: 1\n  a: 2\n", "line 4, column 3: key 'a' stands twice"),
        ("kind: List\n\t- b\n", "line 2, column 1"),
        ("? [a]\n: b\n", "a key must be a plain text"),
        ("kind: List\nitems:\n- 5\n", "items[0] is no object"),
        ("kind: Pod\nspec: .nan\n", "line 2, column 7: .nan is no number"),
        ("kind: [\n", "line 2"),
    ],
)  # fmt: skip
def test_yaml_is_read_strictly(text: str, complaint: str) -> None:
    """No aliases, tags, doubled keys, tabs or keys that are no text; the place is told."""
    assert complaint in refused(text.encode())


def test_a_large_alias_bomb_is_refused_before_it_is_parsed() -> None:
    """Megabytes of good YAML in front of an alias do not delay the refusal."""
    filler = b"- kind: Event\n  a: [b, c, d]\n" * 200_000
    assert "anchors and aliases are not allowed" in refused(b"kind: List\nitems:\n" + filler + b"- *a\n")


def test_ampersands_in_texts_are_no_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks like an anchor within a text of several lines is only text, in large recordings too."""
    monkeypatch.setattr("rescheduler.adapters.recording.yaml_aliases.LARGEST_YAML_WITH_ALIASES_BYTES", 0)
    text = "kind: List\nitems:\n- kind: Node\n  metadata:\n    name: a\n    annotations:\n      note: |\n"
    cluster = read(f"{text}        case x in\n         *foo) true &bar;;\n        esac &\n".encode())
    assert cluster.nodes[0].name == "a"


def test_a_few_aliases_are_read() -> None:
    """Some YAML writers repeat equal parts by alias; that is the same recording."""
    labels = {"app": "web"}
    pod = pod_object()
    pod["metadata"]["labels"] = pod["spec"]["nodeSelector"] = labels
    text = yaml.safe_dump(list_of(node_object(), pod))
    assert "*id" in text
    assert read(text.encode()).pods == read(list_of(node_object(), pod)).pods


def test_an_alias_bomb_is_refused() -> None:
    """Aliases of aliases grow beyond all bounds in a few hundred bytes; they are not expanded."""
    lines = ["kind: List", "a0: &a0 [lol, lol, lol]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 12)]
    assert "aliases expand to more than 16 MiB" in refused("\n".join(lines).encode())


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_damaged_archives_are_told(pack: Any) -> None:
    """Cut off or changed, packed data is refused as such."""
    packed = pack(json.dumps(GOOD).encode())
    assert "in the middle" in refused(packed[:-12])
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    refused(bytes(damaged))


def test_a_gzip_bomb_is_stopped() -> None:
    """Data that grows out of proportion is refused long before it is unpacked."""
    engine = zlib.compressobj(9, wbits=31)
    bomb = b"".join(engine.compress(b" " * 2**20) for _ in range(80)) + engine.flush()
    assert "packed bytes grew to" in refused(bomb)


def test_one_endless_text_is_stopped() -> None:
    """A single value may not fill the memory."""
    engine = zlib.compressobj(1, wbits=31)
    start = engine.compress(b'{"kind":"List","items":[{"kind":"Node","metadata":{"name":"')
    bomb = start + b"".join(engine.compress(b"a" * 2**20) for _ in range(150)) + engine.flush()
    assert "one value is larger than 64 MiB" in refused(bomb)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (json.dumps(GOOD).encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04...", "zip"),
        (b"\x28\xb5\x2f\xfd...", "zstd"),
        (b"BZh9...", "bzip2"),
        (json.dumps(GOOD).encode().replace(b'"web"', b'"\xff\xfe"'), "not UTF-8"),
        (b"kind: \xff\xfe\n", "standard input"),
        (b'{"kind":"Pod","metadata":{"name":"\\ud800"},"spec":{"containers":[{}]}}', "standard input"),
        (b"\x00" * 100, "standard input"),
        (os.urandom(0) + bytes(range(256)), "standard input"),
    ],
)
def test_other_forms_of_data_are_refused(data: bytes, complaint: str) -> None:
    """Other encodings, other packers and plain noise are one clear error."""
    assert complaint in refused(data)


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


def test_a_flood_of_useless_objects_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds that are not needed may be there, but not without end."""
    monkeypatch.setattr("rescheduler.adapters.recording.reading.MOST_UNUSED_OBJECTS", 10)
    useless = [api_object("Event", f"e{number}") for number in range(11)]
    assert len(read(list_of(node_object(), *useless[:10])).nodes) == 1
    assert "more than 10 objects of kinds that are not needed" in refused(list_of(node_object(), *useless))


def test_the_largest_recording_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """So may those that are needed."""
    monkeypatch.setattr("rescheduler.adapters.recording.reading.MOST_OBJECTS", 5)
    nodes = [node_object(f"n{number}") for number in range(6)]
    assert "more than 5 objects" in refused(list_of(*nodes))
    assert len(read_recording(["-"], io.BytesIO(json.dumps(list_of(*nodes[:5])).encode())).nodes) == 5
