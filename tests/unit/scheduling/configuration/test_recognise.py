"""Telling forms apart by content, opening ConfigMaps, and samples with dots."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.configuration import configures_scheduler, read_config_map
from rescheduler.scheduling.configuration.settings import Effect
from tests.unit.scheduling.configuration.reading import kube, only, read, refusal

VOLCANO = "actions: allocate\ntiers: []\n"
FORMS = [
    (kube(""), "KubeSchedulerConfiguration v1"),
    (VOLCANO, "Volcano's scheduler configuration"),
    ('{"kind": "Policy", "apiVersion": "v1"}', "legacy Policy"),
    ('{"priorities": []}', "legacy Policy"),
    ('"predicates": []', "legacy Policy"),
]


@pytest.mark.parametrize(("text", "form"), FORMS)
def test_forms(text: str, form: str) -> None:
    """The content tells which scheduler a text configures."""
    assert read(text).form == form


@pytest.mark.parametrize(("text", "form"), FORMS)
def test_config_maps(text: str, form: str) -> None:
    """A ConfigMap's one entry of such a form is opened, whatever its key; messages name the key."""
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    wrapped = f"apiVersion: v1\nkind: ConfigMap\ndata:\n  notes: hello\n  any.conf: |\n{lines}"
    assert read(wrapped).form == form
    assert all(warning.startswith("conf[any.conf]:") for warning in read(wrapped).warnings)


def test_a_config_map_from_the_cluster() -> None:
    """Its data may be given as it is."""
    found = read_config_map({"x.conf": VOLCANO}, "configMap volcano-system/x", scheduler_name="batch")
    assert list(found.profiles) == ["batch"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty; wanted a KubeSchedulerConfiguration"),
        ("# nothing\n", "empty"),
        ("hello", "no map of fields"),
        ("[]", "no map of fields"),
        ("kind: Deployment\n", "a Deployment, which configures no scheduler"),
        ("apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n", "a ReschedulerPolicy"),
        ("rules: []\n", "its fields are rules"),
        ("{}", "an empty map"),
        ("kind: 5\n", "its fields are kind"),
        ("kind: ConfigMap\ndata: {a: hello}\n", 'the ConfigMap holds "a"'),
        ("kind: ConfigMap\n", "the ConfigMap holds nothing"),
        ("kind: ConfigMap\ndata: {a: 'actions: x', b: 'tiers: []'}\n", 'configure schedulers: "a", "b"; keep one'),
        ("kind: ConfigMap\ndata: {a: 'tiers: ['}\n", "conf[a]:1:"),
        ("a: [", "neither YAML nor JSON"),
    ],
)
def test_what_is_no_configuration(text: str, said: str) -> None:
    """Anything else is refused, with what it is and what was wanted."""
    assert said in refusal(text)


def test_config_maps_in_each_other() -> None:
    """A ConfigMap within a ConfigMap is none that is opened."""
    text = "kind: ConfigMap\ndata:\n  a: |\n    kind: ConfigMap\n    data: {b: 'tiers: []'}\n"
    assert "the ConfigMap holds" in refusal(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        *((text, True) for text, _ in FORMS),
        ("kind: ConfigMap\ndata: {}\n", True),
        ("actions: allocate\ntiers: [", True),
        ("apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n", False),
        ("kind: [", False),
        ("", False),
        ("hello", False),
    ],
)
def test_which_texts_configure_a_scheduler(text: str, wanted: bool) -> None:
    """A policy of ours, or anything else, is none; a broken text is one by its words."""
    assert configures_scheduler(text) is wanted


def test_several_documents() -> None:
    """The first that configures a scheduler is read, and that there are more is told."""
    configuration = read("kind: Namespace\n---\n" + VOLCANO)
    assert configuration.form.startswith("Volcano")
    assert "conf: holds 2 documents; only the Volcano's scheduler configuration is read" in configuration.warnings


SAMPLE = """\
"priorities": [
   ...{
      "name": "MostRequestedPriority",
      "weight": 5
   },
   ...
]
"""


@pytest.mark.parametrize("sample", [SAMPLE, "{" + SAMPLE + "}", SAMPLE.replace("...", "\u2026")])
def test_samples_with_dots(sample: str) -> None:
    """Dots stand for what a sample leaves out: the rest is read, and destinations are estimates."""
    profile = only(sample)
    assert [(score.plugin, score.weight) for score in profile.scores] == [("MostRequestedPriority", 5)]
    assert profile.not_modelled[-1].effect is Effect.ESTIMATE
    assert "dots stand for entries left out" in read(sample).warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "actions: allocate\n" + "".join(f"speed{number}: 1\n" for number in range(500)),
        "actions: allocate\ntiers:\n- plugins:\n" + "".join(f"  - {{name: p{number}}}\n" for number in range(500)),
    ],
)
def test_warnings_are_bounded(text: str) -> None:
    """Of very many warnings the first are told, and that there may be more."""
    warnings = read(text).warnings
    assert len(warnings) == 101
    assert warnings[-1] == "conf: there may be more warnings; only the first 100 are told"


def test_very_many_problems() -> None:
    """An error stays readable."""
    text = refusal(kube("".join(f"speed{number}: 1\n" for number in range(500))))
    assert len(text.splitlines()) <= 101


@pytest.mark.parametrize("tail", ['"\\' * 20_000, "... " * 10_000, '"' + '\\"' * 20_000])
def test_samples_made_to_be_slow(tail: str) -> None:
    """Quotes without an end are looked at once, and refused."""
    assert "neither YAML nor JSON" in refusal(f'"predicates": [{tail}')


def test_dots_in_texts_stay() -> None:
    """Dots within quotes are part of a name."""
    assert '"Most..."' in refusal('{"priorities": [{"name": "Most...", "weight": 1}]}')
