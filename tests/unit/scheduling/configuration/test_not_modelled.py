"""Plugins and extenders that are not modelled, and what that means."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.configuration.settings import Effect, NotModelled
from tests.unit.scheduling.configuration.reading import kube, only, read, refusal, with_plugins


def notes(text: str) -> dict[str, NotModelled]:
    """What is not modelled, by name."""
    return {note.name: note for note in only(text).not_modelled}


def test_the_defaults_are_modelled() -> None:
    """Nothing is left open by kube-scheduler's defaults."""
    assert notes(kube("")) == {}


@pytest.mark.parametrize(
    ("plugins", "effect", "said"),
    [
        ("score:\n  enabled: [{name: Mine}]", Effect.ESTIMATE, "destinations are estimates"),
        ("preScore:\n  enabled: [{name: Mine}]", Effect.ESTIMATE, "destinations are estimates"),
        ("filter:\n  enabled: [{name: Mine}]", Effect.UNKNOWN, "they are not moved"),
        ("preFilter:\n  enabled: [{name: Mine}]", Effect.UNKNOWN, "they are not moved"),
        ("multiPoint:\n  enabled: [{name: Mine}]", Effect.UNKNOWN, "they are not moved"),
        ("postFilter:\n  enabled: [{name: Mine}]", Effect.HARMLESS, "no plan counts on preemption"),
        ("permit:\n  enabled: [{name: Mine}]", Effect.ESTIMATE, "delay or refuse a binding"),
        ("bind:\n  enabled: [{name: Mine}]", Effect.ESTIMATE, "delay or refuse a binding"),
        ("preEnqueue:\n  enabled: [{name: Mine}]", Effect.ESTIMATE, "a pod may wait although it fits"),
        (
            "queueSort:\n  enabled: [{name: Mine}]\n  disabled: [{name: '*'}]",
            Effect.HARMLESS,
            "pods may be served in another order",
        ),
    ],
)
def test_an_unknown_plugin(plugins: str, effect: Effect, said: str) -> None:
    """What an unknown plugin means depends on where it stands; it is listed and named in a warning."""
    found = notes(with_plugins(plugins))["Mine"]
    assert found.effect is effect
    assert said in found.meaning
    assert any('"Mine" is no plugin that is known' in warning for warning in read(with_plugins(plugins)).warnings)


def test_a_misspelt_plugin() -> None:
    """The nearest known name is suggested."""
    (warning,) = read(with_plugins("score:\n  enabled: [{name: ImageLocalty}]")).warnings
    assert warning.endswith("did you mean ImageLocality?")


def test_switching_off_an_unknown_plugin() -> None:
    """kube-scheduler ignores that silently; here it is a warning."""
    (warning,) = read(with_plugins("score:\n  disabled: [{name: NodeResourceFit}]")).warnings
    assert 'switches off "NodeResourceFit"' in warning
    assert warning.endswith("did you mean NodeResourcesFit?")


def test_a_known_plugin_beside_the_schedulers_own() -> None:
    """A score that is known but not modelled makes destinations estimates, wherever it is enabled."""
    text = with_plugins("multiPoint:\n  enabled: [{name: NodeResourcesAllocatable, weight: 3}]")
    assert notes(text)["NodeResourcesAllocatable"].effect is Effect.ESTIMATE
    assert not read(text).warnings


COSCHEDULING = "multiPoint:\n  enabled: [{name: Coscheduling}]\n  disabled: [{name: PrioritySort}]"


def test_coscheduling_concerns_members_of_groups() -> None:
    """Pods that belong to no group are foretold as ever."""
    found = notes(with_plugins(COSCHEDULING))["Coscheduling"]
    assert found.effect is Effect.UNKNOWN
    assert "scheduling.x-k8s.io/pod-group" in found.pod_labels


def test_a_load_aware_plugin_is_modelled() -> None:
    """Load-aware scores are modelled: nothing is listed."""
    assert notes(with_plugins("multiPoint:\n  enabled: [{name: TargetLoadPacking}]")) == {}


def extender(lines: str) -> str:
    """A configuration with one extender."""
    return kube(f"extenders:\n- urlPrefix: http://user:secret@gpu.example:80/x\n{lines}")


@pytest.mark.parametrize(
    ("lines", "effect", "resources"),
    [
        ("  filterVerb: filter\n", Effect.UNKNOWN, ()),
        (
            "  filterVerb: f\n  managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]\n",
            Effect.UNKNOWN,
            ("example.com/gpu",),
        ),
        ("  prioritizeVerb: p\n  weight: 2\n", Effect.ESTIMATE, ()),
        ("  bindVerb: b\n", Effect.ESTIMATE, ()),
        ("  preemptVerb: p\n", Effect.HARMLESS, ()),
    ],
)
def test_extenders(lines: str, effect: Effect, resources: tuple[str, ...]) -> None:
    """What an extender leaves open depends on its verbs; it concerns pods that ask for what it manages."""
    ((name, found),) = notes(extender(lines)).items()
    assert (found.effect, found.resources) == (effect, resources)
    assert name == "extender http://gpu.example:80/x"


def test_resources_that_an_extender_takes_over() -> None:
    """The scheduler's own filter does not look at them."""
    lines = "  filterVerb: f\n  managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]\n"
    assert only(extender(lines)).ignored_resources == ("example.com/gpu",)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("  prioritizeVerb: p\n", "extenders[0].weight: found 0; an extender that scores needs a weight of 1 or more"),
        ("  prioritizeVerb: p\n  weight: -1\n", "found -1"),
        ("  managedResources: [{name: cpu}]\n", 'found "cpu"; wanted an extended resource'),
        ("  managedResources: [{name: requests.a.b/c}]\n", 'found "requests.a.b/c"; wanted an extended resource'),
        ("  managedResources: [{name: a.b/c}, {name: a.b/c}]\n", '"a.b/c" is managed twice'),
        ("  bindVerb: b\n- urlPrefix: http://other\n  bindVerb: b\n", "2 extenders bind pods; only one can"),
        ("  filterVerbs: f\n", "did you mean filterVerb?"),
        ("  ignorable: 'true'\n", "found 'true'; wanted true or false, without quotes"),
    ],
)
def test_extenders_that_are_refused(lines: str, said: str) -> None:
    """What kube-scheduler refuses in an extender is an error."""
    assert said in refusal(extender(lines))
