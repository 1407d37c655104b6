"""The dashboard's panels as we draw them: nothing is invented, hidden or taken for markup."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.telemetry.dashboard_drawing import Frame, page, plot, unbroken
from tests.cluster.telemetry.dashboard_panels import Curve, amount, coloured, curves, stacked, stats, ticks

FRAME = Frame(100.0, 104.0)


def panel(kind: str = "timeseries", **defaults: Any) -> dict[str, Any]:
    """One with two queries."""
    return {
        "id": 1, "type": kind, "title": "<b>Pods</b>", "gridPos": {"x": 0, "y": 0, "w": 8, "h": 7},
        "fieldConfig": {"defaults": {"unit": "short", **defaults}}, "options": {"textMode": "auto"},
        "targets": [{"legendFormat": "{{ kind }}: {{name}}"}, {"legendFormat": "all"}],
    }  # fmt: skip


def series(*values: str, **labels: str) -> dict[str, Any]:
    """As Prometheus answers, from the frame's beginning on."""
    return {"metric": labels, "values": [[100.0 + number, value] for number, value in enumerate(values)]}


def curve(*values: float) -> Curve:
    """From the frame's beginning on."""
    return Curve("", {100.0 + number: value for number, value in enumerate(values)}, "red")


def test_each_series_is_a_curve_with_the_name_of_the_legend() -> None:
    """Labels that it lacks are left out, as in Grafana."""
    found = curves(panel(), [[series("1", "2", kind="a", name="b"), series("3")], [series("4")]])
    assert [one.name for one in found] == ["a: b", ": ", "all"]
    assert found[0].points == {100.0: 1.0, 101.0: 2.0}
    assert len({one.colour for one in found}) == 3


def test_stacks_are_sums_where_both_have_values() -> None:
    """And nothing is added where the panel does not stack."""
    stacking = panel(custom={"stacking": {"mode": "normal"}})
    assert [one.points for one in stacked(stacking, [curve(1, 2), curve(3)])] == [{100: 1, 101: 2}, {100: 4}]
    assert stacked(panel(), [curve(1), curve(3)]) == [curve(1), curve(3)]


def test_what_is_missing_is_not_drawn() -> None:
    """A line ends where values end and begins where they go on; a single value is a dot."""
    broken = Curve("", {100.0: 1.0, 101.0: 1.0, 104.0: 2.0}, "red")
    assert unbroken(broken, 1.0) == [[(100.0, 1.0), (101.0, 1.0)], [(104.0, 2.0)]]
    (line, _, _, _) = plot([broken], "short", FRAME, (300, 100)).lines[0]
    assert (line.count("M"), line.count("h0.1")) == (2, 1)


def test_values_of_a_panel_are_the_newest_coloured_by_thresholds() -> None:
    """Names stand with them where there are several; where there is none the panel's own word does."""
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}, {"color": "red", "value": 1}]
    kind = panel("stat", thresholds={"steps": steps}, noValue="no plan waits")
    found = stats(kind, [curve(1, 0), curve(0, 1)._replace(name="open")])
    assert [(one.name, one.text) for one in found] == [("", "0"), ("open", "1")]
    assert [one.colour for one in found] == [coloured(0, steps), coloured(1, steps)]
    assert found[0].colour != found[1].colour
    assert stats(kind, [])[0].text == "no plan waits"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0, "s", "0 s"), (0.0123, "s", "12.3 ms"), (12.0, "s", "12 s"), (600.0, "s", "10 min"),
        (0.125, "percentunit", "12.5%"), (3.0, "reqps", "3 req/s"), (104857600.0, "short", "105 M"),
        (0.25, "short", "0.25"),
    ],
)  # fmt: skip
def test_amounts_are_told_in_the_panels_unit(value: float, unit: str, text: str) -> None:
    """As the axes and the values have them."""
    assert amount(value, unit) == text


@pytest.mark.parametrize(("low", "high"), [(0, 0), (3, 4), (0, 0.017), (-2, 5), (0, 1e9)])
def test_ticks_hold_all_values_and_nought(low: float, high: float) -> None:
    """At round places, so that no line leaves its diagram."""
    found = ticks(low, high)
    assert found[0] <= min(low, 0)
    assert found[-1] >= high
    assert 2 <= len(found) <= 7


def test_names_from_outside_are_texts() -> None:
    """And the page says who drew it."""
    answers = {1: [[series("1", kind="<script>", name="x")], []]}
    text = page({"title": "T", "panels": [panel()]}, answers, FRAME)
    assert "<script>" not in text
    assert "&lt;script&gt;: x" in text
    assert "<h2>&lt;b&gt;Pods" in text
    assert "This is not Grafana." in text
