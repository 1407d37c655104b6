"""Look-ups that are carried over to amended pods are those that would be worked out of them anew."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects import indexed
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.indexed import MOST_LABELS, IndexedPods
from rescheduler.model.objects.pod import OwnerReference, Pod
from tests.builders import NOW, cluster, node, pod, selector, workload

LOOK_UPS: dict[str, Callable[[IndexedPods], object]] = {
    "by_key": lambda pods: dict(pods.by_key),
    "uids": lambda pods: set(pods.uids),
    "by_node": lambda pods: dict(pods.by_node),
    "finished_by_node": lambda pods: dict(pods.finished_by_node),
    "by_namespace": lambda pods: dict(pods.by_namespace),
    "by_owner": lambda pods: dict(pods.by_owner),
    "by_state": lambda pods: dict(pods.by_state),
    "held_by_node": lambda pods: dict(pods.held_by_node),
    "selected": lambda pods: [pods.selected(name, one) for name in ("default", "far") for one in SELECTORS],
}
SELECTORS = [
    *(selector(app=name) for name in ("web", "db")),
    selector(app="web", tier="front"),
    *(
        LabelSelector((Requirement("app", operator, values), *more))
        for operator, values in (("In", ("web", "db", "web")), ("In", ()), ("NotIn", ("web",)), ("Exists", ()))
        for more in ((), (Requirement("tier", "In", ("front", "back")),))
    ),
    LabelSelector(()),
    None,
]
OWNERS = [
    *(OwnerReference("ReplicaSet", name, f"uid-{name}", is_controller=True) for name in ("rs", "other")),
    OwnerReference("ReplicaSet", "left", "uid-left", is_controller=False),
]


APPS, TIERS = st.sampled_from(["web", "db"]), st.sampled_from(["front", "back"])


@st.composite
def pods(draw: st.DrawFn, name: str) -> Pod:
    """One pod in any state that a look-up goes by."""
    surge = {SURGE: '{"owner":{"kind":"ReplicaSet","name":"rs","uid":"uid-rs"},"plan":"p","labels":{}}'}
    return pod(
        name,
        node=draw(st.sampled_from([None, "n0", "n1"])),
        namespace=draw(st.sampled_from(["default", "far"])),
        uid=f"uid-{name}-{draw(st.integers(0, 1))}",
        cpu=draw(st.sampled_from(["100m", "1"])),
        phase=draw(st.sampled_from(["Running", "Succeeded"])),
        deletion_at=draw(st.sampled_from([None, NOW])),
        scheduling_gates=draw(st.sampled_from([(), ("gate",)])),
        labels=draw(st.fixed_dictionaries({}, optional={"app": APPS, "tier": TIERS})),
        annotations=draw(st.sampled_from([{}, surge])),
        owners=tuple(draw(st.lists(st.sampled_from(OWNERS), unique=True))),
    )


@st.composite
def changes(draw: st.DrawFn) -> tuple[IndexedPods, dict[str, Pod | None]]:
    """Pods, and what becomes of some of them and of some that were not there."""
    names = [f"p{number}" for number in range(6)]
    first = {item.key: item for item in (draw(pods(name)) for name in draw(st.sets(st.sampled_from(names))))}
    later = {item.key: item for item in (draw(pods(name)) for name in draw(st.sets(st.sampled_from(names))))}
    gone = draw(st.sets(st.sampled_from([*sorted(first), "default/nobody"])))
    same = draw(st.sets(st.sampled_from(sorted(first)))) if first else set()
    asked = {**dict.fromkeys(gone), **later, **{key: first[key] for key in same}}
    return IndexedPods(sorted(first.values(), key=lambda item: (item.namespace, item.name))), asked


@given(changes(), st.sets(st.sampled_from(sorted(LOOK_UPS))))
def test_amended_pods_are_looked_up_as_if_they_had_been_read_so(
    drawn: tuple[IndexedPods, dict[str, Pod | None]], known: set[str]
) -> None:
    """Whatever has been asked for before, and in order; who was not changed is the very object that he was."""
    before, asked = drawn
    for name in known:
        LOOK_UPS[name](before)
    rows = {**before.by_key, **asked}
    left = sorted((item for item in rows.values() if item is not None), key=lambda item: (item.namespace, item.name))
    fresh, found = IndexedPods(left), before.amended(asked)
    assert all(one is other for one, other in zip(found, fresh, strict=True))
    for name, look_up in LOOK_UPS.items():
        assert look_up(found) == look_up(fresh), name
    assert (found is before) == (len(before) == len(left) and all(map(lambda a, b: a is b, before, left)))
    assert found.places([*rows, "default/nobody"]) == {item.key: place for place, item in enumerate(left)}


@given(changes(), st.sampled_from([0, 1, MOST_LABELS]))
def test_a_selector_finds_the_pods_that_it_matches(
    drawn: tuple[IndexedPods, dict[str, Pod | None]], known: int
) -> None:
    """In order, however many labels pods are kept apart by; an empty one finds all of a namespace, none finds none."""
    before, asked = drawn
    for number in range(MOST_LABELS - known):
        before.selected("default", selector(**{f"label-{number}": "x"}))
    for found in (before, before.amended(asked)):
        for namespace in ("default", "far"):
            for one in SELECTORS:
                wanted = [pod for pod in found if pod.namespace == namespace and selects(one, pod.labels)]
                assert list(found.selected(namespace, one)) == wanted


def test_pods_out_of_order_are_found_where_they_stand() -> None:
    """A snapshot that was put together by hand is amended rightly too."""
    one, two = pod("b", node="n0"), pod("a", node="n0")
    found = IndexedPods([one, two])
    assert found.places(["default/a", "default/b"]) == {"default/a": 1, "default/b": 0}
    assert list(found.amended({"default/a": None})) == [one]
    assert found.by_node["n0"] == (one, two)
    assert found.amended({"default/a": None}).by_node["n0"] == (one,)


def test_look_ups_stay_with_a_snapshot_whose_pods_stay() -> None:
    """One of another time, or with other nodes, does not work them out again; another process does."""
    world = cluster(pod("a", node="n0"), workload("a", 1))
    by_node, by_uid = world.pods_by_node, world.workload_by_uid
    later = Cluster(pods=world.pods, workloads=world.workloads, taken_at=5.0)
    assert later.pods_by_node is by_node
    assert later.workload_by_uid is by_uid
    sent = pickle.loads(pickle.dumps(world.pods))
    assert (sent, type(sent), vars(sent)) == (world.pods, IndexedPods, {})


@given(st.data())
def test_many_pods_are_found_where_few_would_be(data: st.DataObject) -> None:
    """Few are looked for one by one and many in one go; those that are not there are in neither answer."""
    found = data.draw(st.lists(st.sampled_from([f"p{number}" for number in range(9)]), unique=True))
    all_pods = cluster(*(pod(name, namespace=data.draw(st.sampled_from(["default", "far"]))) for name in found)).pods
    index = IndexedPods(all_pods)
    keys = [*(one.key for one in index), "far/p0", "default/p0", "none/none"]
    asked = data.draw(st.lists(st.sampled_from(keys), unique=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexed, "MANY", 0)
        few = index.places(asked)
    assert index.places(asked) == few == {one.key: at for at, one in enumerate(index) if one.key in asked}


def test_a_mark_of_surge_tells_owners_apart() -> None:
    """Owners and labels that pods share are looked at once, yet a pod without the mark has not the other's owner."""
    owners, labels = (OWNERS[2],), {"app": "web"}
    mark = {SURGE: '{"owner":{"kind":"ReplicaSet","name":"left","uid":"uid-left"},"plan":"p","labels":{}}'}
    one, other = (replace(pod(name), owners=owners, labels=labels, annotations=notes)
                  for name, notes in (("one", {}), ("other", mark)))  # fmt: skip
    world = cluster(node("n0"), one, other)
    assert world.owner_of(one) is None
    found = world.owner_of(other)
    assert found is not None
    assert found.name == "left"
