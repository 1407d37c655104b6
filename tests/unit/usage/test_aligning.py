"""What was collected, in the order of another snapshot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from msgspec import structs

from rescheduler.model.objects.resources import CPU
from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.aligning import aligned
from tests.builders import NOW, node, pod
from tests.unit.daemon.api.records import TRUSTED, collected, pods_using

FROZEN = Trust(TrustState.FROZEN, "alike")


def test_nodes_and_pods_keep_their_own_values_in_another_order() -> None:
    """Load, window, trust and use go with the name; the whole cluster's freeze stays."""
    known = collected(
        {"a": {"average": 1.0}, "b": {"average": 2.0}, "c": {"average": 3.0}},
        trust={"b": FROZEN},
        assessment={"freeze": "drop", "falls_back": True},
        end=[NOW, NOW - 1, NOW - 2],
        **pods_using(("x", "a", 10.0, 1.0), ("y", "b", 20.0, 2.0), windows=(300.0, 600.0, 900.0)),
    )
    usage = aligned(known, [node("c"), node("b")], [pod("y", node="b")]).over(600.0)
    assert usage is not None
    assert usage.percent(CPU).tolist() == [3.0, 2.0]
    assert usage.window_end.tolist() == [NOW - 2, NOW - 1]
    assert usage.is_valid.tolist() == [True, False]
    assert usage.pod_use[CPU].tolist() == [20.0]
    assert usage.assessment is not None
    assert (usage.assessment.nodes, usage.assessment.freeze, usage.assessment.falls_back) == (
        (TRUSTED, FROZEN),
        "drop",
        True,
    )


def test_what_was_not_collected_is_unknown() -> None:
    """A new node or pod, and one made anew under an old name; never 0."""
    known = collected({"a": {"average": 1.0}}, **pods_using(("x", "a", 10.0, 1.0)))
    again = structs.replace(node("a"), uid="another")
    usage = aligned(known, [again, node("new")], [pod("x", node="a", uid="another"), pod("z", node="a")]).over(900.0)
    assert usage is not None
    assert np.isnan(usage.percent(CPU)).all()
    assert not usage.is_valid.any()
    assert np.isnan(usage.pod_use[CPU]).all()
    assert usage.assessment is not None
    assert {trust.state for trust in usage.assessment.nodes} == {TrustState.MISSING}


def test_nothing_collected_aligns_with_anything() -> None:
    """Before the first tick there are no windows; without nodes there is no load."""
    assert aligned(replace(collected({}), nodes=()), [node("a")], ()).over(900.0) is not None
    assert not aligned(replace(collected(windows=[]), ticks=0), [node("a")], ()).by_seconds
