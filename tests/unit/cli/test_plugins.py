"""Plugins of other packages in a policy: read, described and made like ours, and named when they are at fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rescheduler.daemon.plugins import policy_sentences
from rescheduler.daemon.triggers import TRIGGERS, make_triggers
from rescheduler.extension_points import MetricsProvider, Trigger
from rescheduler.extension_points.plugin_list import PluginError
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.model.objects.node import Node
from rescheduler.model.usage.samples import MetricsSample, no_samples
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from tests.builders import NOW, cluster
from tests.plugins import installed
from tests.unit.cli.conftest import Answer
from tests.unit.policy.policies import HEAD, policy, problem


class FullMoonArgs(PolicyModel):
    """When the moon is full."""

    nights_before: int = 0
    """So many nights earlier."""


class FullMoon(Trigger):
    """Asks at every look."""

    name = "FullMoon"
    arguments = FullMoonArgs

    def __init__(self, args: FullMoonArgs, setting: Any) -> None:
        if args.nights_before > 28:
            raise ValueError("there is no such night")

    @classmethod
    def sentence(cls, args: FullMoonArgs) -> str:
        """How many nights before."""
        return f"{28 // (28 - args.nights_before)} night before the moon is full"

    @classmethod
    def warnings(cls, args: FullMoonArgs, policy: Policy) -> Iterable[str]:
        """It cannot be seen by day."""
        return ("by day nobody sees the moon",)

    def look(self, sight: Sight) -> Occasion | None:
        """Always."""
        return Occasion(self.name, "the moon is full", sight.cluster.taken_at)

    def wake_at(self, now: float) -> float | None:
        """Never."""
        return None

    def answered(self, report: RoundReport) -> None:
        """Nothing."""


class Bare(FullMoon):
    """A trigger without a model of its arguments."""

    name = "Bare"
    arguments = dict  # type: ignore[assignment]


class StarsArgs(PolicyModel):
    """The stars."""

    sign: str
    """The sign."""


class Stars(MetricsProvider):
    """Knows nothing."""

    name = "Stars"
    arguments = StarsArgs

    @classmethod
    def made(cls, arguments: StarsArgs, context: Any) -> Stars:
        """As it is."""
        return cls()

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """Nothing."""
        return MetricsSample(no_samples(tuple(node.name for node in nodes), now))


@pytest.fixture
def moon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other packages bring triggers."""
    points = [("FullMoon", f"{__name__}:FullMoon"), ("Bare", f"{__name__}:Bare"), ("Lost", "no_such_package:Lost")]
    installed(monkeypatch, "rescheduler.triggers", *points)


@pytest.fixture
def stars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package brings a provider."""
    installed(monkeypatch, "rescheduler.metrics_providers", ("Stars", f"{__name__}:Stars"))


@pytest.mark.usefixtures("moon")
def test_a_trigger_of_another_package_is_read_told_and_made() -> None:
    """Whatever is known of it comes from its class; a field set to nothing has its default."""
    found = policy("triggers: [{name: FullMoon, args: {nightsBefore: }}, {name: OnDemand}]")
    told = list(policy_sentences(found))
    assert "as a daemon runs a round 1 night before the moon is full (FullMoon)" in told
    assert "warning: by day nobody sees the moon" in told
    made = make_triggers(found, 0, NOW)[0]
    assert made.look(Sight(cluster())) == Occasion("FullMoon", "the moon is full", cluster().taken_at)


@pytest.mark.usefixtures("moon")
@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("{name: FullMoon, args: {nightBefore: 1}}", "args.nightBefore: unknown argument; did you mean nightsBefore?"),
        ("{name: FullMoon, args: {nightsBefore: soon}}", "args.nightsBefore: found 'soon'; wanted a whole number"),
        ("{name: FullMoons}", "name: found 'FullMoons'; there are Schedule, PendingPods"),
        ("{name: FullMoons}", "ObjectiveDrift, Bare, FullMoon, Lost; did you mean FullMoon?"),
        ("{name: Bare}", "name: trigger \"Bare\": arguments is <class 'dict'>; wanted a PolicyModel"),
        ("{name: Lost}", 'name: trigger "Lost" of package no_such_package:Lost cannot be loaded: ModuleNotFoundError'),
        ("{name: Lost, args: {a: }}", 'name: trigger "Lost" of package no_such_package:Lost cannot be loaded'),
    ],
)
def test_what_is_wrong_with_it_is_told_with_its_place(entry: str, text: str) -> None:
    """As for ours."""
    found = problem(f"triggers: [{entry}]")
    assert found.startswith("p.yaml:3:")
    assert text in found


def test_a_taken_name_is_refused_and_a_plugin_that_nobody_names_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not left to chance whose trigger it would be."""
    installed(monkeypatch, "rescheduler.triggers", ("NodesAdded", "no_such_package:Lost"))
    assert 'trigger "NodesAdded" of package no_such_package:Lost takes a taken name' in problem(
        "triggers: [{name: NodesAdded}]"
    )
    assert policy("triggers: [{name: OnDemand}]")


@pytest.mark.usefixtures("moon")
def test_a_trigger_that_raises_is_named() -> None:
    """When it is described, and when it is made: nothing runs under such a policy."""
    with pytest.raises(PluginError, match='trigger "FullMoon": sentence raised ZeroDivisionError'):
        list(policy_sentences(policy("triggers: [{name: FullMoon, args: {nightsBefore: 28}}]")))
    with pytest.raises(PluginError, match='trigger "FullMoon": making it raised ValueError: there is no such night'):
        make_triggers(policy("triggers: [{name: FullMoon, args: {nightsBefore: 29}}]"), 0, NOW)


@pytest.mark.usefixtures("moon")
def test_check_uses_it_and_names_it_when_it_fails(shell: Callable[..., Answer], tmp_path: Path) -> None:
    """One line, and no traceback."""
    file = tmp_path / "p.yaml"
    file.write_text(HEAD + "triggers: [{name: FullMoon}]\n")
    good = shell("check", str(file))
    assert (good.code, "runs a round 1 night before the moon is full (FullMoon)" in good.out) == (0, True)
    file.write_text(HEAD + "triggers: [{name: FullMoon, args: {nightsBefore: 28}}]\n")
    bad = shell("check", str(file))
    assert bad.code != 0
    assert 'trigger "FullMoon": sentence raised ZeroDivisionError' in bad.err
    assert "Traceback" not in bad.err


@pytest.mark.usefixtures("stars")
def test_a_provider_of_another_package_is_checked_like_ours(shell: Callable[..., Answer], tmp_path: Path) -> None:
    """By its own arguments."""
    file = tmp_path / "p.yaml"
    file.write_text(HEAD + "usage: {providers: [{name: Stars, args: {sign: lion}}]}\n")
    good = shell("check", str(file))
    assert (good.code, "asks Stars for measured load" in good.out) == (0, True)
    file.write_text(HEAD + "usage: {providers: [{name: Stars, args: {signs: lion}}]}\n")
    bad = shell("check", str(file))
    assert "usage.providers[0].args.signs: unknown argument; did you mean sign?" in bad.err
    assert "usage.providers[0].args.sign: missing; write sign" in bad.err
    file.write_text(HEAD + "usage: {providers: [{name: Star}]}\n")
    assert "found 'Star'; there are Prometheus, MetricsServer" in shell("check", str(file)).err


def test_our_triggers_say_what_the_pages_are_made_from() -> None:
    """Each argument is described, and so is the trigger."""
    for name in TRIGGERS.own:
        model = TRIGGERS.get(name).arguments
        assert model.__doc__, name
        assert all(field.description for field in model.model_fields.values()), name
