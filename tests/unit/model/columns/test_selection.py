"""Selectors are resolved to the pods that they pick, in the namespaces that they look at."""

from __future__ import annotations

from rescheduler.model.columns.columns import Columns, columns_of
from rescheduler.model.columns.selection import Namespaces
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm, Requirement
from rescheduler.model.objects.workload import Namespace
from tests.builders import cluster, node, pod, selector


def names(columns: Columns, namespaces: Namespaces, chosen: LabelSelector | None) -> list[str]:
    """Keys of the pods that are picked."""
    return [columns.cluster.pods[number].key for number in columns.pod_selection.pods(namespaces, chosen)]


def test_selectors_pick_pods_wherever_they_are() -> None:
    """Running, pending and finished ones; positions say where they stand, not whether."""
    pods = [pod("a-1", node="n1"), pod("a-2"), pod("a-3", namespace="other"), pod("b-1")]
    columns = columns_of(cluster(node("n1"), *pods))
    assert names(columns, None, selector(app="a")) == ["default/a-1", "default/a-2", "other/a-3"]
    assert names(columns, frozenset(("default",)), selector(app="a")) == ["default/a-1", "default/a-2"]
    assert names(columns, frozenset(("default", "other")), LabelSelector()) == [p.key for p in columns.cluster.pods]
    assert names(columns, frozenset(("none",)), LabelSelector()) == []
    assert names(columns, None, None) == []


def test_many_label_sets_are_gathered_like_few() -> None:
    """Each pod with a label of its own, as a StatefulSet's."""
    pods = [pod(f"s-{number:03}", labels={"set": "s", "pod": f"s-{number}"}) for number in range(100)]
    columns = columns_of(cluster(*pods, pod("b-1")))
    assert len(names(columns, None, selector(set="s"))) == 100
    assert names(columns, None, selector(set="s", pod="s-7")) == ["default/s-007"]


def test_answers_are_kept_by_value() -> None:
    """Equal selectors share one array."""
    columns = columns_of(cluster(pod("a-1"), pod("b-1")))
    first = columns.pod_selection.pods(None, selector(app="a"))
    assert columns.pod_selection.pods(None, selector(app="a")) is first


def test_one_label_set_is_told_without_arrays() -> None:
    """As the arrays would tell it."""
    columns = columns_of(cluster(pod("a-1"), pod("b-1", namespace="other")))
    for number, (namespace, _) in enumerate(columns.label_sets):
        for chosen in (selector(app="a"), LabelSelector(), LabelSelector((Requirement("app", "NotIn", ("a",)),)), None):
            for namespaces in (None, frozenset(("default",)), frozenset[str]()):
                expected = number in columns.pod_selection.label_sets(namespaces, chosen)
                assert columns.pod_selection.selects(namespaces, chosen, number) == expected, namespace


def test_namespaces_of_a_term() -> None:
    """Named, selected by label, both, all, or the holder's own."""
    known = (Namespace("default"), Namespace("red", {"team": "r"}))
    selection = columns_of(cluster(pod("a-1", namespace="unlisted"), namespaces=known)).pod_selection
    term = PodAffinityTerm("k", LabelSelector())
    assert selection.namespaces(term, "default") == {"default"}
    assert selection.namespaces(PodAffinityTerm("k", None, ("x",)), "default") == {"x"}
    assert selection.namespaces(PodAffinityTerm("k", None, ("x",), selector(team="r")), "default") == {"x", "red"}
    assert selection.namespaces(PodAffinityTerm("k", None, (), LabelSelector()), "default") is None
    by_name = selector(**{"kubernetes.io/metadata.name": "unlisted"})
    assert selection.namespaces(PodAffinityTerm("k", None, (), by_name), "default") == {"unlisted"}
