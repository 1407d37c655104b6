"""Texts that the real API server accepts, wherever one may stand: everybody else is read and planned as ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.reading.test_amounts import POD, SELECTED, at
from tests.cluster.reading.test_mirror import mirrored, wait_until_equal
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool

TEXTS = (
    "", " ", "\x00", "\x1b[2J\x1b]0;x\x07", "\u202e\u2066", "\ud7ff\U0010ffff", "\r\nFROM: x", "<script>",
    "x" * 200_000, "9" * 5000, "NaN", "-1s", "292471209h", "9999999999999999h", "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z", "{" * 20_000, '{"label":null}', "true ", "TRUE", "é", "\u0130",
)  # fmt: skip
STEERING = (
    "karpenter.sh/do-not-disrupt", "cluster-autoscaler.kubernetes.io/safe-to-evict", "rescheduler.dev/do-not-evict",
    "rescheduler.dev/surge", "rescheduler.dev/expires", "rescheduler.dev/plan", "rescheduler.dev/antagonists-until",
    "rescheduler.dev/reschedule", "rescheduler.dev/stop", "descheduler.alpha.kubernetes.io/prefer-no-eviction",
    "controller.kubernetes.io/pod-deletion-cost", "kubernetes.io/config.source", "example.com/any",
)  # fmt: skip
LABELS = ("", "a", "9" * 63, "a_-.Z")
LONG = ".".join(["a" * 63] * 3 + ["b" * 61])


def odd_texts() -> Iterator[dict[str, Any]]:
    """Pods, workloads, budgets and claims with a text where one may stand; names are given later but for long ones."""
    for text in TEXTS:
        yield at(POD, "metadata/annotations", dict.fromkeys(STEERING[:1] if len(text) > 9000 else STEERING, text))
        yield at(POD, "spec/schedulerName", text)
        yield at(POD, "spec/nodeSelector", {"kubernetes.io/hostname": text})
        yield at(POD, "spec/containers/0/image", text)
        yield at(POD, "spec/containers/0/env", [{"name": text, "value": text}])
        yield at(POD, "spec/priorityClassName", text)
        wish = {"topologyKey": text, "labelSelector": {"matchLabels": {"a": text}}}
        yield at(POD, "spec/affinity", {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [wish]}})
        yield at(POD, "spec/tolerations", [{"key": text, "operator": "Exists"}])
        yield at(POD, "spec/tolerations", [{"key": "a", "operator": "Equal", "value": text}])
        yield at(POD, "metadata/labels", {"app": text, "rescheduler.dev/antagonists": text})
    for label in LABELS:
        yield at(POD, "metadata/labels", {"app": label, "rescheduler.dev/antagonists": label, label or "k": label})
    for rule in (
        {"key": "a", "operator": "In", "values": []}, {"key": "a", "operator": "Exists", "values": ["b"]},
        {"key": "", "operator": "In", "values": ["b"]}, {"key": "a", "operator": "Gt", "values": ["1"]},
        {"key": "a", "operator": "NotIn", "values": ["", "9" * 63]},
    ):  # fmt: skip
        selector = {"selector": {"matchExpressions": [rule]}, "maxUnavailable": "99999999999%"}
        yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": selector,
               "metadata": {"namespace": "other"}}  # fmt: skip
    for percent in ("99999999999%", "100%", "0%", "0099%", "1", "-1%", "1.5%"):
        for field in ("minAvailable", "maxUnavailable"):
            yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {**SELECTED, field: percent},
                   "metadata": {"namespace": "other"}}  # fmt: skip
    yield at(POD, "metadata/name", LONG)
    yield at(POD, "metadata/generateName", "b" * 200)


@pytest.mark.campaign
def test_whatever_text_the_server_accepts_hinders_nobody(cluster: Cluster, tool: Tool) -> None:
    """All of it is read, the mirror sees the same, a plan is made for others, and nothing plays with a terminal."""
    cluster.add_nodes(2)
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    taken = 0
    for number, manifest in enumerate(odd_texts()):
        manifest["metadata"].setdefault("namespace", "other")
        if manifest["metadata"].get("name") != LONG:
            manifest["metadata"]["name"] = f"odd-{number}"
        with suppress(ApiError):
            cluster.create(manifest)
            taken += 1
    assert taken > 60
    cluster.create(deployment("good", replicas=2, cpu="100m"))
    cluster.wait_pods_running(2, labels="app=good")
    found = LiveReader(connect(str(cluster.control_plane.kubeconfig), read_only=True)).read()
    assert sum(pod.labels.get("app") == "good" for pod in found.pods) == 2
    assert [node.problem for node in found.nodes] == [None, None]
    with mirrored(cluster) as (mirror, connection):
        wait_until_equal(mirror, connection, lambda seen: len(seen.pods) == len(found.pods))
    for command in (("plan",), ("plan", "-o", "html"), ("schedule",), ("explain", "pod", f"default/{LONG}")):
        answer = tool.run(*command, code=None)
        told = answer.output + answer.errors
        assert answer.code in (0, 1)
        assert not {"\x1b", "\x00", "\x07", "\u202e", "\u2066"} & set(told), command
    print(taken, "taken;", len(found.set_aside), "set aside")
