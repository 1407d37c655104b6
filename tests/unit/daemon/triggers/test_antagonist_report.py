"""AntagonistReport: pods that come to share a node with an antagonist, by sets and by label."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.checker.recounts.antagonists import pairs_left
from rescheduler.daemon.triggers.antagonist_report import sharing_antagonists
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.objectives import ANTAGONISTS_LABEL, SeparateAntagonistsArgs
from rescheduler.policy.fields.policy import Objective, Policy
from tests.builders import NOW, cluster, node, pod
from tests.unit.daemon.triggers.sights import PLAN, report, sight, trigger

NODES = (node("n1"), node("n2"))
UNTIL = "rescheduler.dev/antagonists-until"


def marked(name: str, where: str | None = "n1", mark: str = "x", **fields: Any) -> Pod:
    """A pod with the label."""
    return pod(name, node=where, labels={ANTAGONISTS_LABEL: mark}, **fields)


def test_pods_of_one_mark_on_one_node_ask_after_a_moment() -> None:
    """Both are named, with their node and what keeps them apart."""
    asked = trigger("AntagonistReport")
    pods = (marked("a-1"), marked("b-1"), marked("c-1", "n2"), marked("d-1", mark="y"))
    assert asked.look(sight(0, *NODES, *pods)) is None
    assert asked.wake_at(NOW) == NOW + 10
    occasion = asked.look(sight(10, *NODES, *pods))
    assert occasion is not None
    assert [reference.name for reference in occasion.pods] == ["a-1", "b-1"]
    assert occasion.nodes == ("n1",)
    assert occasion.reason == (
        "2 pods share a node with antagonists: default/a-1 on n1 (label rescheduler.dev/antagonists=x) and "
        "default/b-1 on n1 (label rescheduler.dev/antagonists=x)"
    )


def test_a_pair_that_stays_asks_again_seldom_and_another_pair_at_once() -> None:
    """The same two are no news; a third is."""
    asked = trigger("AntagonistReport")
    two = (marked("a-1"), marked("b-1"))
    asked.look(sight(0, *NODES, *two))
    assert asked.look(sight(10, *NODES, *two)) is not None
    asked.answered(report(10, 11))
    assert all(asked.look(sight(at, *NODES, *two)) is None for at in (20, 30, 40))
    assert asked.look(sight(50, *NODES, *two, marked("c-1"))) is None
    occasion = asked.look(sight(60, *NODES, *two, marked("c-1")))
    assert occasion is not None
    assert [reference.name for reference in occasion.pods] == ["c-1"]
    times = [at for at in range(70, 300, 10) if asked.look(sight(at, *NODES, *two))]
    assert times[0] == 80


def test_a_change_just_after_a_look_is_not_missed() -> None:
    """Looks are ten seconds apart, and one that was passed over is made up for though nothing else changes."""
    asked = trigger("AntagonistReport")
    assert asked.look(sight(0, *NODES)) is None
    assert asked.wake_at(NOW) is None
    two = (marked("a-1"), marked("b-1"))
    assert asked.look(sight(3, *NODES, *two)) is None
    assert asked.wake_at(NOW + 3) == NOW + 10
    assert asked.look(sight(10, *NODES, *two)) is None
    assert asked.wake_at(NOW + 10) == NOW + 20
    assert asked.look(sight(20, *NODES, *two)) is not None


def test_sets_of_the_policys_objective_count() -> None:
    """With the policy's own label and sets."""
    sets = [{"name": "noisy", "members": [{"matchLabels": {"app": "a"}}, {"matchLabels": {"app": "b"}}]}]
    policy = Policy(objectives=(Objective(name="SeparateAntagonists", args={"sets": sets}),))
    asked = trigger("AntagonistReport", policy=policy)
    pods = (pod("a-1", node="n1"), pod("a-2", node="n1"), pod("b-1", node="n2"))
    assert all(asked.look(sight(at, *NODES, *pods)) is None for at in (0, 10, 20))
    together = (*pods[:2], pod("b-2", node="n1"))
    asked.look(sight(30, *NODES, *together))
    occasion = asked.look(sight(40, *NODES, *together))
    assert occasion is not None
    assert occasion.reason.startswith("3 pods share a node with antagonists: default/a-1 on n1 (set noisy)")


def found(cluster: Cluster, args: dict[str, Any] | None = None) -> list[str]:
    """Names of pods that share a node with an antagonist."""
    return [pod.name for pod, _ in sharing_antagonists(cluster, SeparateAntagonistsArgs.model_validate(args or {}))]


def test_who_is_not_there_any_more_disturbs_nobody() -> None:
    """Pending, finished and leaving pods."""
    here = (marked("a-1"), marked("b-1", None), marked("c-1", phase="Succeeded"), marked("d-1", deletion_at=NOW))
    assert found(cluster(*NODES, *here)) == []


def test_a_mark_or_a_set_that_has_ended_says_nothing() -> None:
    """A time that cannot be read ends nothing."""
    past, future = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
    for until, names in ((past, []), (future, ["a-1", "b-1"]), ("soon", ["a-1", "b-1"])):
        assert found(cluster(*NODES, marked("a-1"), marked("b-1", annotations={UNTIL: until}))) == names
    for expires, names in ((past, []), (future, ["a-1", "a-2"])):
        args = {"sets": ({"name": "s", "members": ({"matchLabels": {"app": "a"}},), "expires": expires},)}
        assert found(cluster(*NODES, pod("a-1", node="n1"), pod("a-2", node="n1")), args) == names


PODS = st.lists(
    st.tuples(st.sampled_from(["n1", "n2"]), st.sampled_from("abc"), st.sampled_from([None, "x", "y"]), st.booleans()),
    max_size=8,
)
SETS = st.lists(
    st.tuples(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True), st.booleans()), max_size=3
)


@given(PODS, SETS)
def test_somebody_is_found_exactly_where_the_proof_counts_pairs(pods: list[Any], sets: list[Any]) -> None:
    """Per pod: without it there would be fewer pairs."""
    made = [
        pod(
            f"{app}-{number}", node=where, namespace="other" if is_other else "default",
            labels={"app": app, **({ANTAGONISTS_LABEL: mark} if mark else {})},
        )
        for number, (where, app, mark, is_other) in enumerate(pods)
    ]  # fmt: skip
    args = SeparateAntagonistsArgs.model_validate(
        {
            "sets": tuple(
                {
                    "name": f"s{number}",
                    "members": tuple({"matchLabels": {"app": app}} for app in apps),
                    "namespaces": ("default",) if is_narrow else (),
                }
                for number, (apps, is_narrow) in enumerate(sets)
            )
        }
    )
    whole = cluster(*NODES, *made)
    pairs = pairs_left(whole, PLAN, args, NOW)
    disturbed = {pod.uid for pod, _ in sharing_antagonists(whole, args)}
    for each in made:
        without = cluster(*NODES, *(other for other in made if other is not each))
        assert (each.uid in disturbed) is (pairs_left(without, PLAN, args, NOW) < pairs)
