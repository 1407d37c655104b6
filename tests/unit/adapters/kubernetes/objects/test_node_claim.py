"""Tests of what Karpenter's NodeClaims forbid about their nodes."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.annotations import DO_NOT_DISRUPT
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import kept_mark
from tests.unit.adapters.api_objects import api_object, list_of, node_object, read


def claim(name: str = "web-1", node: Any = "n1", mark: Any = "true") -> dict[str, Any]:
    """A NodeClaim of karpenter.sh with its annotation."""
    metadata = {"annotations": {DO_NOT_DISRUPT: mark, "example.com/owner": "shop"}}
    return api_object("NodeClaim", name, version="karpenter.sh/v1", metadata=metadata, status={"nodeName": node})


def marks(*claims: dict[str, Any]) -> list[str | None]:
    """What forbids to take n1 and n2."""
    seen: Cluster = read(list_of(node_object("n1"), node_object("n2"), *claims))
    assert not seen.warnings
    return [kept_mark(node) for node in seen.nodes]


def test_what_a_claim_forbids_holds_for_its_node() -> None:
    """As if the node itself were annotated, beside the node's other annotations; for no other node."""
    assert marks(claim()) == [DO_NOT_DISRUPT, None]
    marked = node_object("n1")
    marked["metadata"]["annotations"] = {DO_NOT_DISRUPT: "false", "rescheduler.dev/emptied": "soon"}
    (seen,) = read(list_of(marked, claim())).nodes
    assert seen.annotations == {DO_NOT_DISRUPT: "true", "rescheduler.dev/emptied": "soon"}


@pytest.mark.parametrize("other", [claim(mark="false"), claim(mark="1h"), claim(node=None), claim(node=7)])
def test_a_claim_that_forbids_nothing_marks_nothing(other: dict[str, Any]) -> None:
    """Nor does one that has no node yet, or tells none that can be read."""
    assert marks(other) == [None, None]
    assert marks(api_object("NodeClaim", "bare", version="karpenter.sh/v1")) == [None, None]


def test_a_node_s_own_mark_needs_no_claim() -> None:
    """What the claim says beside it changes nothing."""
    marked = node_object("n1")
    marked["metadata"]["annotations"] = {DO_NOT_DISRUPT: "true"}
    (seen,) = read(list_of(marked, claim(mark="false"))).nodes
    assert kept_mark(seen) == DO_NOT_DISRUPT
