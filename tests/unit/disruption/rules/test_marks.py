"""Tests of the marks that keep evictions away."""

from __future__ import annotations

import pytest

from tests.builders import NOW, pod
from tests.unit.disruption.cases import rule_against, verdict

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"


@pytest.mark.parametrize(
    ("annotation", "value", "rule"),
    [
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false", "SafeToEvict"),
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "true", None),
        ("descheduler.alpha.kubernetes.io/prefer-no-eviction", "", "PreferNoEviction"),
        ("descheduler.alpha.kubernetes.io/prefer-no-eviction", "false", "PreferNoEviction"),
        ("rescheduler.dev/do-not-evict", "true", "DoNotEvict"),
        ("rescheduler.dev/do-not-evict", "false", None),
        (DO_NOT_DISRUPT, "true", "DoNotDisrupt"),
        (DO_NOT_DISRUPT, "false", None),
        (DO_NOT_DISRUPT, "0", None),
        (DO_NOT_DISRUPT, "25h", "DoNotDisrupt"),
        (DO_NOT_DISRUPT, "23h", None),
        (DO_NOT_DISRUPT, "24h", None),
        (DO_NOT_DISRUPT, "24h0.5s", "DoNotDisrupt"),
        (DO_NOT_DISRUPT, "yes please", "DoNotDisrupt"),
        (DO_NOT_DISRUPT, "", "DoNotDisrupt"),
        (DO_NOT_DISRUPT, "-5m", "DoNotDisrupt"),
        (DO_NOT_DISRUPT, "9999999999h", "DoNotDisrupt"),
    ],
)
def test_marks_protect(annotation: str, value: str, rule: str | None) -> None:
    """Each mark protects with the values that mean it; the pod of this test started a day ago."""
    assert rule_against(pod("web-0", node="n1", annotations={annotation: value})) == rule


def test_a_mark_that_cannot_be_read_says_so() -> None:
    """The refusal names the value and what would have been understood."""
    found = verdict(pod("web-0", node="n1", annotations={DO_NOT_DISRUPT: "soon"}))
    assert found is not None
    assert '"soon"' in found.message
    assert "1h30m" in found.message


def test_a_duration_counts_from_the_start_and_protects_when_that_is_unknown() -> None:
    """The time of creation does not stand in for the start."""
    mark = {DO_NOT_DISRUPT: "1h"}
    started_late = pod("web-0", node="n1", annotations=mark, created_at=NOW - 7200, started_at=NOW - 60)
    assert rule_against(started_late) == "DoNotDisrupt"
    assert rule_against(pod("web-0", node="n1", annotations=mark, started_at=None)) == "DoNotDisrupt"
