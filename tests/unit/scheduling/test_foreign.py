"""Filters and scores of other packages work where a scheduler's configuration names them, or are named in errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from rescheduler.extension_points import Rejection
from rescheduler.extension_points.plugin_list import PluginError
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.scheduling.configuration import combined, configuration_sentences, known_plugins
from rescheduler.scheduling.plugin import SchedulerFilter, SchedulerScore
from rescheduler.scheduling.schedulers import Schedulers
from tests.builders import cluster, node, pod
from tests.plugins import installed
from tests.unit.scheduling.configuration.reading import read, refusal, with_plugins

WORLD = cluster(node("a"), node("b", zone="z"), node("c"), pod("x", labels={"for": "c"}), pod("y"))


class FavouriteArguments(PolicyModel):
    """Arguments of Favourite."""

    node: str = "a"
    """The node to prefer."""


@dataclass(frozen=True)
class Favourite(SchedulerScore):
    """One node scores 100."""

    arguments: FavouriteArguments = field(default_factory=FavouriteArguments)
    name = "Favourite"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """100 for the node of that name."""
        names = np.array([each.name for each in placement.columns.cluster.nodes])
        return 100 * (names == self.arguments.node).astype(np.int64)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """The number alone."""
        scores = self.score(pod, placement, feasible)
        return [f"favourite or not: {scores[each]}" for each in nodes]


class ForLabel(SchedulerFilter):
    """A pod with the label goes to the node that it names."""

    name = "ForLabel"
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """All others."""
        wanted = placement.columns.cluster.pods[pod].labels.get("for")
        names = [each.name for each in placement.columns.cluster.nodes]
        mask = np.array([wanted is not None and name != wanted for name in names])
        return (Rejection("node(s) not named", mask, is_resolvable=False),)


class ByOthers(ForLabel):
    """A filter that says that places of other pods matter."""

    name = "ByOthers"
    is_static = False


class Faulty(Favourite):
    """Answers as it is told to."""

    name = "Faulty"
    answer: Any = None

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """The answer, or the error."""
        if isinstance(self.answer, Exception):
            raise self.answer
        answer: IntArray = self.answer
        return answer


class FaultyFilter(ForLabel):
    """Gives a mask that fits no cluster."""

    name = "FaultyFilter"

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Two nodes only."""
        return (Rejection("no", np.ones(2, dtype=np.bool_), is_resolvable=False),)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """What is known of names is forgotten before and after."""
    found = (known_plugins.score_class, known_plugins.filter_class, known_plugins.points_of)
    for each in found:
        each.cache_clear()
    yield
    for each in found:
        each.cache_clear()


def best(text: str, name: str) -> list[str]:
    """The best nodes of a pod under this configuration."""
    schedulers = Schedulers(combined([("conf", read(text))]))
    world = schedulers.configured(WORLD)
    columns = columns_of(world)
    found = schedulers.model(world).best_nodes(columns.pod_index[f"default/{name}"], Placement(columns))
    return [world.nodes[each].name for each in found]


def test_a_score_of_another_package_counts_with_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weight and arguments stand in the scheduler's own file; check says how it is set."""
    installed(monkeypatch, "rescheduler.scores", ("Favourite", f"{__name__}:Favourite"))
    plain = with_plugins("score: {enabled: [{name: Favourite, weight: 100}]}")
    assert best(plain, "y") == ["a"]
    text = f"{plain}  pluginConfig: [{{name: Favourite, args: {{node: c}}}}]\n"
    assert best(text, "y") == ["c"]
    ((_, sentences),) = configuration_sentences(read(text))
    assert any("Favourite x100 (node c)" in sentence for sentence in sentences)
    assert not any("not modelled" in sentence for sentence in sentences)


def test_its_arguments_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against its own model, with the line in the scheduler's file."""
    installed(monkeypatch, "rescheduler.scores", ("Favourite", f"{__name__}:Favourite"))
    plain = with_plugins("score: {enabled: [{name: Favourite}]}")
    text = f"{plain}  pluginConfig: [{{name: Favourite, args: {{no: c}}}}]\n"
    assert "args.no: an unknown field" in refusal(text)


def test_a_filter_of_another_package_keeps_pods_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks at what it likes, so pods that are alike to kube-scheduler's filters share nothing."""
    installed(monkeypatch, "rescheduler.filters", ("ForLabel", f"{__name__}:ForLabel"))
    text = with_plugins("filter: {enabled: [{name: ForLabel}]}")
    assert best(text, "y") == ["a", "b", "c"]
    assert best(text, "x") == ["c"]


def test_a_filter_by_other_pods_leaves_pods_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans cannot follow it: its pods are not predicted and not moved."""
    installed(monkeypatch, "rescheduler.filters", ("ByOthers", f"{__name__}:ByOthers"))
    text = with_plugins("filter: {enabled: [{name: ByOthers}]}")
    ((_, sentences),) = configuration_sentences(read(text))
    assert sentences[-1].startswith("predictions: none")
    assert best(text, "y") == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ValueError("no such thing"), "score raised ValueError: no such thing"),
        (np.zeros(2, dtype=np.int64), r"shape (2,); wanted (3,), a whole number for each node"),
        (np.array([np.nan, 0, 0]), "score gave NaN; wanted a whole number for each node"),
        (np.array([0.5, 0, 0]), "score gave float64 values"),
        ([1, 2, 3], "score gave [1, 2, 3]; wanted an array"),
        (np.array([0, 101, 0]), "score gave 101; wanted 0 to 100"),
    ],
)
def test_a_wrong_answer_is_named(answer: object, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No prediction comes of it, hence no plan."""
    installed(monkeypatch, "rescheduler.scores", ("Faulty", f"{__name__}:Faulty"))
    monkeypatch.setattr(Faulty, "answer", answer)
    with pytest.raises(PluginError) as caught:
        best(with_plugins("score: {enabled: [{name: Faulty}]}"), "y")
    assert 'score "Faulty": ' in str(caught.value)
    assert message in str(caught.value)


def test_a_wrong_mask_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter's answer is looked at too."""
    installed(monkeypatch, "rescheduler.filters", ("FaultyFilter", f"{__name__}:FaultyFilter"))
    with pytest.raises(PluginError, match=r'filter "FaultyFilter": reject gave an array of shape \(2,\)'):
        best(with_plugins("filter: {enabled: [{name: FaultyFilter}]}"), "y")


def test_a_taken_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody replaces a score of this project unseen."""
    installed(monkeypatch, "rescheduler.scores", ("SafeBalancing", f"{__name__}:Favourite"))
    with pytest.raises(PluginError, match=r'score "SafeBalancing" of package .* takes a taken name'):
        read(with_plugins("score: {enabled: [{name: SafeBalancing}]}"))
