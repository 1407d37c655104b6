"""Tests of the gate's veto by trust in measured use."""

from __future__ import annotations

import pytest

from rescheduler.disruption.gate.gate import distrusted
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Refusal
from rescheduler.model.usage.trust import NodeTrust, Trust, TrustState
from rescheduler.policy.fields.policy import Policy
from tests.unit.disruption.gate.test_gate import move, world

FINE = Trust(TrustState.TRUSTED)
USABLE = {TrustState.TRUSTED, TrustState.PREDICTED}


@pytest.mark.parametrize("state", list(TrustState))
@pytest.mark.parametrize("node", ["n1", "n2"])
def test_only_trusted_and_predicted_nodes_let_a_usage_based_move_go(state: TrustState, node: str) -> None:
    """Source and target alike; the reason names the node, its state and why."""
    trust = NodeTrust({"n1": FINE, "n2": FINE, node: Trust(state, "why")})
    found = list(distrusted(move(0, objective="SpreadLoad"), trust))
    assert found == ([] if state in USABLE else [("UsageTrust", f"stays: the usage of node {node} is {state}: why")])


def test_a_node_that_nobody_measured_is_not_believed() -> None:
    """No data is no leave."""
    ((rule, reason),) = distrusted(move(0, objective="SpreadLoad"), NodeTrust({"n1": FINE}))
    assert rule == "UsageTrust"
    assert "node n2 is Missing" in reason


def test_a_freeze_stops_every_usage_based_move() -> None:
    """Even between trusted nodes."""
    trust = NodeTrust({"n1": FINE, "n2": FINE}, freeze="cpu fell by 75 %")
    ((rule, reason),) = distrusted(move(0, objective="SpreadLoad"), trust)
    assert (rule, reason) == ("UsageFrozen", "stays: nothing moves by usage now: cpu fell by 75 %")


def test_other_objectives_do_not_ask() -> None:
    """Room is made by requests, whatever is measured."""
    broken = NodeTrust({}, freeze="everything is wrong")
    assert list(distrusted(move(0, objective="MakeRoom"), broken)) == []
    assert list(distrusted(move(0, objective="SpreadLoad"), None)) == []


def test_the_gate_asks_anew_before_each_wave() -> None:
    """What was trusted when the plan was made may be stale by now; use never gives leave, it only takes it."""
    answers = [NodeTrust({"n1": FINE, "n2": FINE}), NodeTrust({"n1": FINE, "n2": Trust(TrustState.STALE, "60s old")})]
    gate = PolicyGate(Policy(), trust=lambda: answers.pop(0))
    moves = [move(0, objective="SpreadLoad"), move(1, objective="MakeRoom")]
    assert all(isinstance(verdict, Permit) for verdict in gate.permit(moves, world(), []))
    first, second = gate.permit(moves, world(), [])
    assert isinstance(first, Refusal)
    assert first.rule == "UsageTrust"
    assert first.message == "default/web-0 stays: the usage of node n2 is Stale: 60s old"
    assert isinstance(second, Permit)


def test_what_has_changed_about_the_pod_speaks_before_usage() -> None:
    """The order of the gate: usage comes last."""
    gate = PolicyGate(Policy(), trust=lambda: NodeTrust(freeze="frozen"))
    seen = [verdict.rule for verdict in gate.permit([move(0, objective="SpreadLoad", from_node="n3")], world(), [])
            if isinstance(verdict, Refusal)]  # fmt: skip
    assert seen == ["PodMoved"]
