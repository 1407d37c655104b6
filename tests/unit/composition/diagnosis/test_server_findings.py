"""What ``doctor`` says of an API server, as a scripted one answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import Response
from rescheduler.composition.diagnosis.server_findings import server_findings
from rescheduler.report.diagnosis import Diagnosed
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, Request
from tests.unit.policy.policies import policy

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
METRICS = "/apis/metrics.k8s.io/v1beta1"


def found(
    body: str = "", *, minor: str = "36", denied: tuple[str, ...] = (), has_metrics: bool = True, **version: str
) -> list[Diagnosed]:
    """Findings under a policy; ``denied``: verbs and resources, such as ``list pods``."""
    server = FakeServer()
    server.answer("GET", "/version", {"major": "1", "minor": minor, "gitVersion": f"v1.{minor}.0", **version})
    if has_metrics:
        server.answer("GET", METRICS, {"resources": []})

    def review(request: Request) -> Response:
        asked: dict[str, Any] = request.body["spec"]["resourceAttributes"]
        resource = f"{asked['resource']}/{asked['subresource']}" if asked["subresource"] else asked["resource"]
        is_allowed = f"{asked['verb']} {resource}" not in denied
        return Response(201, {}, json.dumps({"status": {"allowed": is_allowed}}).encode())

    server.answer("POST", REVIEWS, review)
    return list(server_findings(server, policy(body)))  # type: ignore[arg-type]


def test_a_server_that_has_everything_is_not_spoken_of() -> None:
    """Under the default policy and one that evicts."""
    assert found() == []
    assert found("mode: Execute") == []


@pytest.mark.parametrize("minor", ["34", "35+", "37"])
def test_another_version_than_the_tested_one_is_said(minor: str) -> None:
    """As a note: it may well work."""
    [finding] = found(minor=minor)
    assert (finding.rule, finding.blocks) == ("ServerVersion", False)
    assert "tested on Kubernetes 1.36" in finding.message


@pytest.mark.parametrize(
    ("body", "blocks"), [("", False), ("mode: Execute", True), ("mode: Approve\nguidance: Guide", True)]
)
def test_a_server_without_scheduling_gates_blocks_who_would_act(body: str, blocks: bool) -> None:
    """Placeholders need them; under Predict nothing does."""
    finding = found(body, minor="26")[0]
    assert (finding.rule, finding.object, finding.blocks) == ("ServerVersion", "v1.26.0", blocks)
    assert "guidance: Predict" in finding.fix
    assert "gates" not in found("mode: Execute\nguidance: Predict", minor="26")[0].message


@pytest.mark.parametrize(
    ("minor", "lacks"),
    [
        ("29", {"ValidatingAdmissionPolicy", "streaming lists", "MutatingAdmissionPolicy"}),
        ("31", {"streaming lists", "MutatingAdmissionPolicy"}),
        ("35", {"MutatingAdmissionPolicy"}),
        ("37", set()),
    ],
)
def test_what_an_older_server_lacks_is_said_with_what_follows(minor: str, lacks: set[str]) -> None:
    """Each by its name, and nothing that it has."""
    [finding] = found("guidance: Predict", minor=minor)
    names = ("ValidatingAdmissionPolicy", "streaming lists", "MutatingAdmissionPolicy")
    assert {name for name in names if name in finding.message} == lacks


def test_what_is_no_kubernetes_is_said() -> None:
    """Its version tells nothing."""
    assert found(major="")[0].message == "the server does not tell a version of Kubernetes"


def test_a_missing_right_blocks_where_the_mode_cannot_do_without_it() -> None:
    """All that is missing for one purpose is one finding."""
    [finding] = found(denied=("watch pods", "watch nodes"))
    assert (finding.rule, finding.object, finding.blocks) == ("Rights", "see the cluster", True)
    assert "may not watch pods, watch nodes, which mode: DryRun needs" in finding.message
    assert "docs/rights.md" in finding.fix


def test_rights_to_act_are_a_note_for_who_only_looks() -> None:
    """And block who evicts."""
    [finding] = found(denied=("create pods/eviction",))
    assert (finding.object, finding.blocks) == ("evict pods", False)
    assert "apply and mode: Execute" in finding.message
    [finding] = found("mode: Execute", denied=("create pods/eviction",))
    assert finding.blocks


def test_rights_that_one_can_do_without_never_block() -> None:
    """Events are told if they may be."""
    [finding] = found("mode: Execute", denied=("create events",))
    assert (finding.rule, finding.blocks) == ("Rights", False)


def test_guide_is_looked_for_where_the_policy_wants_it() -> None:
    """Its rule is not installed here."""
    [finding] = found("mode: Execute\nguidance: Guide")
    assert (finding.rule, finding.object, finding.blocks) == ("Guidance", "Guide", True)
    assert "deploy/guide.yaml" in finding.fix


def test_load_that_is_wanted_and_not_measured_is_said() -> None:
    """With what goes by it; metrics-server that nobody uses only where something would."""
    by_load = "objectives: [{name: SpreadLoad}]"
    [finding] = found(by_load, has_metrics=False)
    assert (finding.rule, finding.blocks) == ("MetricsSource", False)
    assert "metrics.k8s.io is not served; SpreadLoad would go by requests" in finding.message
    [finding] = found(by_load)
    assert "MetricsServer" in finding.fix
    assert found(has_metrics=False)[0].message == "no load is measured here: metrics.k8s.io is not served"
    assert found(f"{by_load}\nusage: {{providers: [{{name: MetricsServer}}]}}", has_metrics=False) == []
