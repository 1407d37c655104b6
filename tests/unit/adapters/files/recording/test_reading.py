"""Recordings in every form that kubectl and we ourselves write."""

from __future__ import annotations

import gzip
import io
import json
import lzma
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.extension_points import SnapshotError
from rescheduler.model.objects.cluster import Cluster
from tests.unit.adapters.api_objects import CREATED, api_object, list_of, node_object, pod_object, read

NODE, POD = node_object(), pod_object(tolerations=[{"key": "a", "operator": "Exists"}])
BOTH = list_of(NODE, POD)


def bare(found: dict[str, Any]) -> dict[str, Any]:
    """An item as ``kubectl get --raw`` prints it."""
    return {key: value for key, value in found.items() if key not in ("kind", "apiVersion")}


def same(cluster: Cluster) -> bool:
    """Whether this is the cluster of one node and one pod."""
    expected = read(BOTH)
    return cluster.nodes == expected.nodes and cluster.pods == expected.pods and not cluster.warnings


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(BOTH),
        json.dumps(BOTH, indent=4),
        json.dumps(BOTH, sort_keys=True),
        json.dumps([NODE, POD]),
        json.dumps(NODE) + json.dumps(POD),
        json.dumps(NODE) + "\n\n" + json.dumps(list_of(POD), indent=2) + "\n",
        "\ufeff" + json.dumps(BOTH),
        "  \n" + json.dumps(BOTH),
        json.dumps({"kind": "NodeList", "items": [bare(NODE)]}) + json.dumps({"kind": "PodList", "items": [bare(POD)]}),
        json.dumps({"items": [bare(POD)], "kind": "PodList"}) + json.dumps(NODE),
        json.dumps(list_of(list_of(NODE), POD)),
        json.dumps(list_of(NODE, POD, api_object("ConfigMap", "c", data={"a": "b"}), {"kind": "Widget", "x": 1})),
        yaml.safe_dump(BOTH),
        yaml.safe_dump(BOTH, default_flow_style=True, width=10**6).replace("{", "---\n{", 1),
        yaml.safe_dump(NODE) + "---\n" + yaml.safe_dump(POD) + "...\n",
        "# recorded today\n---\n" + yaml.safe_dump(list_of(NODE)) + "\n---\n---\n" + yaml.safe_dump([POD]),
        yaml.safe_dump({"kind": "NodeList", "items": [bare(NODE)]}) + "---\n" + yaml.safe_dump(POD),
        "\ufeff" + yaml.safe_dump(BOTH),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_every_form_gives_the_same_cluster(data: str, pack: Any) -> None:
    """JSON and YAML, lists, documents and single objects, packed or not: told apart by content."""
    assert same(read(pack(data.encode())))


NO_BUDGETS = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudgetList", "metadata": {}, "items": []}


@pytest.mark.parametrize(
    ("data", "is_absent"),
    [
        (json.dumps(BOTH), True),
        (json.dumps(list_of(NODE, POD, NO_BUDGETS)), False),
        (json.dumps(BOTH) + json.dumps(NO_BUDGETS), False),
        (json.dumps(BOTH) + json.dumps({"items": [], "kind": "PodDisruptionBudgetList"}), False),
        (yaml.safe_dump(list_of(NODE, POD, NO_BUDGETS)), False),
        (yaml.safe_dump(BOTH) + "---\n" + yaml.safe_dump(NO_BUDGETS), False),
        (json.dumps(BOTH) + json.dumps({**NO_BUDGETS, "apiVersion": "example.com/v1"}), True),
        (json.dumps(BOTH) + json.dumps({"kind": "List", "items": []}), True),
    ],
)
def test_a_kind_is_absent_unless_there_is_one_or_an_empty_list_of_it(data: str, is_absent: bool) -> None:
    """kubectl get leaves out what there is none of; an empty list of the kind says so."""
    found = read(data.encode()).absent_kinds
    assert ("PodDisruptionBudget" in found) is is_absent
    assert "StatefulSet" in found
    assert not {"Pod", "Node"} & found


def test_several_files_make_one_cluster(tmp_path: Path) -> None:
    """Whatever their suffixes say; standard input among them."""
    (tmp_path / "nodes.json").write_bytes(gzip.compress(yaml.safe_dump(NODE).encode()))
    cluster = read_recording([str(tmp_path / "nodes.json"), "-"], io.BytesIO(json.dumps(POD).encode()))
    assert same(cluster)
    assert cluster.source == f"{tmp_path}/nodes.json, standard input"


def test_several_packed_parts_are_one_text() -> None:
    """gzip and xz files may be put one after the other."""
    text = json.dumps(BOTH).encode()
    for pack in (gzip.compress, lzma.compress):
        assert same(read(pack(text[:100]) + pack(text[100:])))


def test_yaml_keeps_texts_and_numbers_apart() -> None:
    """As YAML 1.2 and kubectl have it: unquoted times, versions and words like ``on`` stay texts."""
    text = f"""
kind: Node
metadata:
  name: "7"
  creationTimestamp: {CREATED}
  labels: {{a: "true", b: 'null', c: on, d: 1.2.3, e: 2026-01-01, f: 0x10, g: "", h: 1_0, i: 010}}
status:
  allocatable: {{cpu: 2, memory: 1.5e9, pods: "110"}}
spec: {{unschedulable: true, taints: ~}}
"""
    (node,) = read(text.encode()).nodes
    assert node.name == "7"
    assert dict(node.allocatable) == {"cpu": 2000, "memory": 1_500_000_000, "pods": 110}
    assert dict(node.labels) == {
        "a": "true", "b": "null", "c": "on", "d": "1.2.3", "e": "2026-01-01", "f": "0x10", "g": "", "h": "1_0",
        "i": "010"
    }  # fmt: skip
    assert node.is_unschedulable
    assert node.created_at is not None


def test_now_is_the_newest_time_in_it() -> None:
    """Among the fields that Kubernetes fills; labels and annotations may hold any time."""
    late = node_object(conditions=[{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-05-02T00:00:00Z"}])
    pod = pod_object()
    pod["metadata"]["annotations"] = {"expires": "2099-01-01T00:00:00Z", "note": '{"time":"2098-01-01T00:00:00Z"}'}
    pod["metadata"]["labels"] = {"until": "2097-01-01T00:00:00Z"}
    newest = read(list_of(late, pod)).taken_at
    assert newest == 1_777_680_000.0
    assert read(yaml.safe_dump(list_of(late, pod)).encode()).taken_at == newest
    assert read(list_of(api_object("Node", "n"))).taken_at == 0.0


def test_times_count_with_their_fractions_and_zones() -> None:
    """Microseconds and other zones are times too."""
    pod = pod_object()
    pod["status"]["startTime"] = "2026-05-02T02:00:00.25+02:00"
    assert read(list_of(node_object(), pod)).taken_at == 1_777_680_000.25


def test_a_recordings_own_time_wins() -> None:
    """What it says itself, the newest of several."""
    first, second = list_of(NODE), list_of(POD)
    first["metadata"] = {"annotations": {"rescheduler.dev/takenAt": "2026-06-01T00:00:00Z"}}
    second["metadata"] = {"annotations": {"rescheduler.dev/takenAt": "2026-06-01T00:00:01Z",
                                          "rescheduler.dev/serverVersion": "v1.36.3"}}  # fmt: skip
    cluster = read((json.dumps(first) + json.dumps(second)).encode())
    assert cluster.taken_at == 1_780_272_001.0
    assert cluster.server_version == "v1.36.3"
    first["metadata"]["annotations"]["rescheduler.dev/takenAt"] = "noon"
    with pytest.raises(SnapshotError, match=r"takenAt: 'noon' is no time"):
        read(first)


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    """How much of the file has been read."""
    told: list[tuple[str, int, int | None]] = []
    path = tmp_path / "a.json"
    path.write_text(json.dumps(BOTH))
    read_recording([str(path)], None, lambda step, done=0, total=None: told.append((step, done, total)))
    assert told[-1] == (f"reading {path}", path.stat().st_size, path.stat().st_size)


def test_no_nodes_is_a_warning() -> None:
    """A recording of pods alone can be explained, not planned for."""
    cluster = read(list_of(POD))
    assert "no nodes in it" in cluster.warnings[0]


DOCUMENT = json.dumps(
    list_of(
        node_object(images=[{"names": ["a:1"], "sizeBytes": 1}]),
        pod_object(
            volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
            affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "z", "labelSelector": {"matchLabels": {"a": "b"}}}]}},
            topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "z"}],
        ),
        api_object("ReplicaSet", "r", namespace="default", version="apps/v1", spec={"replicas": 1}, status={}),
        api_object("PodDisruptionBudget", "b", namespace="default", version="policy/v1", spec={"maxUnavailable": 1}),
        api_object("PersistentVolumeClaim", "c", namespace="default", spec={"accessModes": ["ReadWriteOnce"]}),
    )
)  # fmt: skip
HOSTILE = [None, True, -1, 0, 1.5, 10**30, "", "x", "-1", "1e309", "\x1b[0m", [], {}, [None], {"a": None}, [[]], "2026"]


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    found = [path] if path else []
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in steps:
        found += paths_in(part, (*path, key))
    return found


def read_or_refused(data: bytes) -> bool:
    """Whether a text is a cluster, or refused in words that can be printed; anything else is raised."""
    try:
        return bool(read(data).source)
    except SnapshotError as error:
        return str(error).isprintable()


PATHS = paths_in(json.loads(DOCUMENT))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A JSON value with another part at one place; as it is where the place is gone."""
    if not path:
        return new
    if isinstance(value, dict) and path[0] in value:
        return value | {path[0]: changed(value[path[0]], path[1:], new)}
    if isinstance(value, list) and isinstance(path[0], int) and path[0] < len(value):
        return [changed(part, path[1:], new) if index == path[0] else part for index, part in enumerate(value)]
    return value


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(HOSTILE)), min_size=1, max_size=3))
def test_any_value_anywhere_is_read_or_refused(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    """Whatever stands wherever: a cluster, or one clear error."""
    document = json.loads(DOCUMENT)
    for path, value in changes:
        document = changed(document, path, value)
    for data in (json.dumps(document), yaml.safe_dump(document)):
        assert read_or_refused(data.encode())


@settings(deadline=None)
@given(st.integers(0, len(DOCUMENT) - 1), st.binary(max_size=3), st.integers(0, 4))
def test_any_bytes_anywhere_are_read_or_refused(position: int, inserted: bytes, deleted: int) -> None:
    """Damaged text ends the same way."""
    raw = DOCUMENT.encode()
    assert read_or_refused(raw[:position] + inserted + raw[position + deleted :])


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    """Random bytes are no recording."""
    with pytest.raises(SnapshotError):
        read(noise)
