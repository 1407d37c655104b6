"""When a plan that was carried out ended well."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from rescheduler.model.plan import OutcomeKind
from rescheduler.report.outcomes import is_as_planned
from tests.unit.report.plans import small_result


@pytest.mark.parametrize(
    ("outcome", "is_well"),
    [
        (OutcomeKind.LANDED, True),
        (OutcomeKind.LANDED_ELSEWHERE, True),
        (OutcomeKind.REFUSED, False),
        (OutcomeKind.NOT_ATTEMPTED, False),
        (OutcomeKind.UNKNOWN, False),
    ],
)
def test_only_pods_that_landed_count_as_well(outcome: OutcomeKind, is_well: bool) -> None:
    """Elsewhere is no harm; refused, not attempted and unknown mean that the plan stopped early."""
    assert is_as_planned(small_result(outcome)) is is_well


@pytest.mark.parametrize(("landed_on", "is_well"), [("n3", True), ("n1", False)])
def test_a_pod_on_a_node_that_was_to_be_empty_is_harm(landed_on: str, is_well: bool) -> None:
    """Elsewhere is no harm, but for the nodes that the plan was made to empty."""
    result = small_result(OutcomeKind.LANDED_ELSEWHERE)
    (move,) = result.moves
    strayed = replace(move, objective="EmptyNodes", landed_on=landed_on)
    assert is_as_planned(replace(result, moves=(strayed,), placements=())) is is_well
