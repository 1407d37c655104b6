"""Bad recordings of a cluster, by the number of their case: refused in one paragraph, or used as far as it is safe."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.adapters.api_objects import Object, api_object, complete, container, list_of, node_object, pod_object
from tests.unit.policy.policies import HEAD


def owned(name: str, node: str | None = "n1", *, metadata: Object | None = None, **spec: Any) -> Object:
    """A pod of the ReplicaSet ``web``; ``metadata`` in part, a field of None is left out."""
    found = pod_object(name, node, **spec)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": True}
    merged = {**found["metadata"], "ownerReferences": [owner], **(metadata or {})}
    return {**found, "metadata": {key: value for key, value in merged.items() if value is not None}}


def offering(**amounts: str) -> Object:
    """The third node, with other amounts allocatable."""
    return node_object("n3", allocatable={"cpu": "4", "memory": "16Gi", "pods": "110", **amounts})


def asking(quantity: str) -> Object:
    """A pod that asks for so much cpu."""
    return owned("q", containers=[container(cpu=quantity)])


def replica_set(replicas: object) -> Object:
    """The ReplicaSet that wants so many."""
    return api_object("ReplicaSet", "web", namespace="default", version="apps/v1", spec={"replicas": replicas})


def budget(name: str, spec: Object, **status: int) -> Object:
    """A PodDisruptionBudget."""
    return api_object("PodDisruptionBudget", name, namespace="default", version="policy/v1", spec=spec, status=status)


GOOD = [
    node_object("n1"),
    node_object("n2"),
    *(owned(f"p{at}", f"n{at % 2 + 1}") for at in range(4)),
    pod_object("big", None, containers=[container(cpu="3")]),
]
"""One pod of two cores must make way for the pending one of three."""
TEXT = json.dumps(list_of(*GOOD)).encode()
COVERING: Object = {"selector": {"matchLabels": {"app": "web"}}}


def recording(folder: Path, *objects: Object) -> str:
    """The good cluster with further objects, as a file."""
    path = folder / "cluster.json"
    path.write_text(json.dumps(complete(*GOOD, *objects)))
    return str(path)


def refused(shell: Any, file: Path, *arguments: str) -> str:
    """The one paragraph on standard error of a command that fails, which names the file."""
    answer = shell("plan", "-f", str(file), *arguments)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(f"error: {file}: ")
    assert len(answer.err.splitlines()) == 1
    return str(answer.err)


TEXTS = [
    ("S1-cut-off", TEXT[:-20], "the text ends in the middle; was it cut off? (byte "),
    ("S1-garbage", TEXT + b"xx", f"found 'x' where {{ or [ was wanted (byte {len(TEXT)})"),
    ("S1-nan", TEXT.replace(b'"4"', b"NaN", 1), "(byte "),
    ("S2-another-kind", b'{"kind": "DeploymentList", "items": []}', "found DeploymentList; wanted nodes and pods"),
    ("S2-empty", json.dumps(list_of()).encode(), "found List; wanted nodes and pods"),
    ("S2-definitions", b'{"kind": "CustomResourceDefinitionList", "items": []}', "found CustomResourceDefinitionList"),
    ("S2-table", b"NAME  READY\nweb-1  1/1\n", "write recordings with kubectl get ... -o json or -o yaml"),
    ("S2-number", b"5", "which is no API object"),
    ("S18-bomb", gzip.compress(b" " * 80_000_000, 9), "no recording does (limit: 300 to 1)"),
    ("S18-damaged", gzip.compress(TEXT)[:-9], "the gzip data ends in the middle"),
    ("S18-zip", b"PK\x03\x04", "is packed with zip; wanted plain text, gzip or xz"),
    ("S2-utf16", TEXT.decode().encode("utf-16"), "is UTF-16 text; wanted UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "text"), [each[1:] for each in TEXTS], ids=[each[0] for each in TEXTS])
def test_a_file_that_is_no_recording_is_refused(shell: Any, tmp_path: Path, raw: bytes, text: str) -> None:
    """Exit 1 with the byte, or with what was found and what was wanted; packed data is known by its first bytes."""
    path = tmp_path / "cluster.json"
    path.write_bytes(raw)
    assert text in refused(shell, path)


OBJECTS = [
    ("S3", node_object("n1", allocatable={"cpu": "2"}), "Node n1: stands twice, with different allocatable"),
    ("S4-uid", owned("p9", metadata={"uid": "uid-Pod-p1"}), "Pod default/p9: metadata.uid: is also the uid of default"),
    ("S4-name", owned("p1", "n1"), "Pod default/p1: stands twice, with different node_name; keep one of them"),
    *((f"S6-request-{text}", asking(text), f"Pod default/q: spec.containers[0].resources.requests.cpu: {text!r} is ")
      for text in ("1.5.5", "-1", "1Kb", "")),
    *((f"S6-offer-{text}", offering(cpu=text), f"Node n3: status.allocatable.cpu: {text!r} is ")
      for text in ("1.5.5", "-1", "1Kb", "")),
    ("S9-no-list", owned("q", metadata={"ownerReferences": "x"}), "metadata.ownerReferences: wanted list, found text"),
    ("S10-no-text", owned("q", metadata={"creationTimestamp": 5}), "metadata.creationTimestamp: wanted text, found wh"),
    ("S19-2^63", replica_set(2**63), "ReplicaSet default/web: spec.replicas: wanted whole number <= 2147483647"),
    ("S19-10^30", replica_set(10**30), "spec.replicas: wanted whole number <= 2147483647"),
    ("S19-negative", replica_set(-(2**63)), "spec.replicas: wanted whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("found", "text"), [each[1:] for each in OBJECTS], ids=[each[0] for each in OBJECTS])
def test_an_object_that_contradicts_itself_or_another_is_refused(
    shell: Any, tmp_path: Path, found: Object, text: str
) -> None:
    """File, object and field are named, with what was found."""
    assert text in refused(shell, Path(recording(tmp_path, found)))


UNUSABLE_NODES = [
    ("S7-missing", node_object("n3", allocatable=None), "Node n3: status.allocatable is missing"),
    ("S7-empty", node_object("n3", allocatable={}), "Node n3: status.allocatable is missing"),
    ("S7-zero", offering(cpu="0", memory="0", pods="0"), "Node n3: status.allocatable offers neither cpu nor memory"),
    ("S15-name", node_object("n3\n\x1b[31m<b>"), "Node n3\\n\\x1b[31m<b>: its name holds characters that no name has"),
    ("S20-pods", node_object("n3", allocatable={"cpu": "4", "memory": "16Gi"}), "status.allocatable.pods is missing"),
]


@pytest.mark.parametrize(("node", "text"), [each[1:] for each in UNUSABLE_NODES], ids=[e[0] for e in UNUSABLE_NODES])
def test_a_node_that_cannot_be_used_is_a_warning_and_no_target(
    shell: Any, tmp_path: Path, node: Object, text: str
) -> None:
    """The rest is planned as if it were not there, although it looks empty."""
    policy = tmp_path / "policy.yaml"
    calm = "health: {headRoom: 0%}\nscope: {minimumAge: 0s}\ndisruption: {rampUp: unlimited}\n"
    policy.write_text(f"apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n{calm}")
    answer = shell("plan", "-f", recording(tmp_path, node), "--policy", str(policy), "-o", "json")
    plan = json.loads(answer.out)
    (warning,) = answer.err.splitlines()
    assert answer.code == 0
    assert text in warning
    assert {place["node"] for place in plan["placements"]} <= {"n1", "n2"}
    assert {move["toNode"] for move in plan["moves"]} <= {"n1", "n2"}
    assert plan["objectives"][0]["helped"] == plan["objectives"][0]["value"] == 1


def owners(*found: Object) -> Object:
    """Metadata with these owners."""
    return {"ownerReferences": list(found)}


CONTROLLER: Object = {"kind": "ReplicaSet", "name": "a", "uid": "a", "controller": True}
STAYING = [
    ("S5", owned("q", "nowhere"), "UnusableNode"),
    ("S9-none", owned("q", metadata={"ownerReferences": None}), "Ownerless"),
    ("S9-two", owned("q", metadata=owners(CONTROLLER, {**CONTROLLER, "uid": "b"})), "SeveralControllers"),
    ("S9-no-uid", owned("q", metadata=owners({**CONTROLLER, "uid": None})), "Ownerless"),
    ("S9-no-controller", owned("q", metadata=owners({**CONTROLLER, "controller": False})), "Ownerless"),
    ("S9-cycle", owned("q", metadata=owners({**CONTROLLER, "kind": "Pod", "name": "q", "uid": "uid-Pod-q"})),
     "SingleReplica"),
    ("S10-missing", owned("q", metadata={"creationTimestamp": None}), "MinimumAge"),
    ("S10-future", owned("q", metadata={"creationTimestamp": "2999-01-01T00:00:00Z"}), "MinimumAge"),
    ("S10-no-time", owned("q", metadata={"creationTimestamp": "yesterday"}), "MinimumAge"),
    ("S10-no-zone", owned("q", metadata={"creationTimestamp": "2026-05-01T10:00:00"}), "MinimumAge"),
    ("S10-wrong-zone", owned("q", metadata={"creationTimestamp": "2026-05-01T10:00:00+25:00"}), "MinimumAge"),
]  # fmt: skip


@pytest.mark.parametrize(("pod", "rule"), [each[1:] for each in STAYING], ids=[each[0] for each in STAYING])
def test_a_pod_of_which_too_little_is_known_stays(shell: Any, tmp_path: Path, pod: Object, rule: str) -> None:
    """Unclear owners, unknown nodes and unknown ages (where the policy asks for one) each name their rule."""
    policy = tmp_path / "p.yaml"
    policy.write_text(HEAD + "scope: {minimumAge: 5m}")
    answer = shell("explain", "pod", "default/q", "-f", recording(tmp_path, pod), "--policy", str(policy), "-o", "json")
    told = json.loads(answer.out)
    assert answer.code == 0
    assert rule in [each["rule"] for each in told["refusals"]]


BUDGETS = [
    ("S17-operator", [budget("b", {"selector": {"matchExpressions": [{"key": "a", "operator": "Foo"}]}},
                             disruptionsAllowed=1)], "PodDisruptionBudget"),
    ("S17-empty", [budget("b", {"selector": {}}, disruptionsAllowed=0)], "PodDisruptionBudget"),
    ("S17-negative", [budget("b", COVERING, disruptionsAllowed=-5)], "PodDisruptionBudget"),
    ("S17-no-status", [budget("b", COVERING)], "PodDisruptionBudget"),
    ("S17-two", [budget(name, COVERING, disruptionsAllowed=2) for name in "ab"], "SeveralPodDisruptionBudgets"),
]  # fmt: skip


@pytest.mark.parametrize(("budgets", "rule"), [each[1:] for each in BUDGETS], ids=[each[0] for each in BUDGETS])
def test_pods_under_an_unclear_budget_stay(shell: Any, tmp_path: Path, budgets: list[Object], rule: str) -> None:
    """No pod of theirs is moved, and each is refused by the rule."""
    plan = json.loads(shell("plan", "-f", recording(tmp_path, *budgets), "-o", "json").out)
    assert plan["moves"] == []
    assert rule in {each["rule"] for each in plan["refusals"]}


def test_p18_names_that_nothing_has_are_warnings(shell: Any, tmp_path: Path) -> None:
    """A policy may be right and select nothing now: the plan says so, and is made."""
    policy = tmp_path / "p.yaml"
    policy.write_text(HEAD + "scope: {namespaces: {include: [gone]}, nodeSelector: {pool: gone}}")
    answer = shell("plan", "-f", recording(tmp_path), "--policy", str(policy), "-o", "json")
    assert (answer.code, json.loads(answer.out)["moves"]) == (0, [])
    assert answer.err.splitlines() == [
        "warning: policy: scope.namespaces.include: the cluster has no pod in namespace gone",
        "warning: policy: scope.nodeSelector: the cluster has no node with pool=gone",
    ]


def test_s8_an_overfull_node_is_a_fact_and_no_target(shell: Any, tmp_path: Path) -> None:
    """Requests above what is allocatable are read as they are; nothing arrives there."""
    file = recording(tmp_path, *(owned(f"full-{at}", "n1") for at in range(5)))
    plan = json.loads(shell("plan", "-f", file, "-o", "json").out)
    assert "n1" not in {move["toNode"] for move in plan["moves"]} | {place["node"] for place in plan["placements"]}


def test_s20_a_priority_class_that_is_missing_is_told(shell: Any, tmp_path: Path) -> None:
    """Its pods count with priority 0 where they do not carry the number; those that carry it need no class."""
    unknown = owned("q", None, priority=None, priorityClassName="gone")
    answer = shell("plan", "-f", recording(tmp_path, unknown, owned("r", None, priority=7, priorityClassName="also")))
    assert answer.code == 0
    assert answer.err == (
        "warning: PriorityClass gone: is not in the snapshot, and some of its pods do not carry their priority; "
        "it counts as 0\n"
    )


def test_s15_hostile_names_are_escaped_in_every_form(shell: Any, tmp_path: Path) -> None:
    """Control characters, markup and marks of direction reach neither terminal nor page."""
    hostile = "x\n\x1b[31m<script>alert(1)</script>\u202e'\""
    found = copy.deepcopy(owned("q"))
    found["metadata"].update(name=hostile, labels={hostile: hostile})
    file = recording(tmp_path, found, node_object(hostile))
    for form in ("table", "wide", "json", "yaml", "html"):
        answer = shell("plan", "-f", file, "-o", form)
        assert answer.code == 0
        assert not {"\x1b", "\u202e"} & set(answer.out + answer.err)
        assert form != "html" or "<script>alert" not in answer.out


def test_s16_very_many_tolerations_of_one_pod_are_read(shell: Any, tmp_path: Path) -> None:
    """A pod of a megabyte is slow to nobody."""
    many = [{"key": f"key-{at}", "operator": "Exists"} for at in range(20_000)]
    answer = shell("schedule", "-f", recording(tmp_path, owned("q", None, tolerations=many)), "-o", "json")
    assert answer.code == 0
    assert {item["pod"]["name"] for item in json.loads(answer.out)["pods"]} == {"big", "q"}
