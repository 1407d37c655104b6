"""The store of one kind: versions, order, warnings and what cannot be used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from threading import RLock
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ObjectMeta, SharedMetadata
from rescheduler.adapters.kubernetes.objects.decoding.pages import Unreadable, decode_object
from rescheduler.adapters.kubernetes.objects.decoding.setting_aside import Glimpse
from rescheduler.adapters.kubernetes.watch import kind_store as ordered_objects
from rescheduler.adapters.kubernetes.watch.kind_store import KindStore, OrderedObjects
from rescheduler.adapters.kubernetes.watch.watch_lines import Marked
from rescheduler.adapters.kubernetes.watch.watched_scope import WatchedScope
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from tests.builders import selector
from tests.unit.adapters.api_objects import container, node_object, pod_object

# Objects in order, whatever was put and removed.

Key = tuple[str, str]
keys = st.tuples(st.sampled_from(["", "a", "a-b", "b"]), st.sampled_from(["x", "x-1", "y", "z"]))
steps = st.lists(st.tuples(st.sampled_from(["put", "remove", "ask"]), keys, st.integers()), max_size=60)


@pytest.mark.parametrize("most_moved", [0, 2, 200])
@given(first=st.dictionaries(keys, st.integers()), found=steps)
def test_it_is_a_sorted_dictionary(most_moved: int, first: dict[Key, int], found: list[tuple[str, Key, int]]) -> None:
    """Asked at any time it gives what was put last and not removed, in order of keys; however it gets there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_objects, "_MOST_MOVED", most_moved)
        order, wanted = OrderedObjects(first), dict(first)
        for what, key, value in found:
            if what == "put":
                order.put(key, value)
                wanted[key] = value
            elif what == "remove":
                order.remove(key)
                wanted.pop(key, None)
            else:
                assert order.all() == tuple(wanted[key] for key in sorted(wanted))
        assert order.all() == tuple(wanted[key] for key in sorted(wanted))


class Scene:
    """A store, and how often it changed."""

    def __init__(self, kind: str = "Pod") -> None:
        self.kind = KIND_BY_NAME[kind]
        self.changes = 0
        self.store = KindStore(kind, RLock(), self._changed, SharedMetadata())

    def _changed(self) -> None:
        self.changes += 1

    def found(self, name: str, version: int | str, **fields: Any) -> Any:
        """A decoded object."""
        made = pod_object(name, **fields) if self.kind.name == "Pod" else node_object(name, **fields)
        made["metadata"]["resourceVersion"] = str(version)
        return decode_object(self.kind, json.dumps(made).encode())

    def upsert(self, name: str, version: int | str, **fields: Any) -> None:
        """Tell the store of a new state."""
        self.store.upsert(self.found(name, version, **fields))

    def delete(self, name: str, version: int | str) -> None:
        """Tell the store that an object is gone."""
        namespace = "default" if self.kind.name == "Pod" else None
        self.store.delete(Marked(ObjectMeta(name=name, namespace=namespace, resource_version=str(version))))

    @property
    def names(self) -> list[str]:
        """Names in the order in which they are told."""
        return [item.name for item in self.store.state().objects]


def test_objects_are_told_in_order() -> None:
    """By namespace and name, however they came."""
    scene = Scene()
    for number, name in enumerate(("c", "a", "b")):
        scene.upsert(name, number + 1)
    scene.upsert("z", 9, namespace="a")
    assert scene.names == ["z", "a", "b", "c"]


def test_nothing_is_made_anew_while_nothing_changes() -> None:
    """The same tuple is handed out, and a list of equal versions keeps the objects that are there."""
    scene = Scene()
    scene.store.replace([scene.found("a", 1), scene.found("b", 2)])
    before = scene.store.state()
    scene.upsert("a", 1)
    scene.store.replace([scene.found("b", 2), scene.found("a", 1)])
    assert scene.store.state() is before
    assert scene.changes == 1
    scene.store.replace([scene.found("a", 1), scene.found("b", 3)])
    after = scene.store.state()
    assert after.objects[0] is before.objects[0]
    assert after.objects[1] is not before.objects[1]


def test_a_heartbeat_is_no_change() -> None:
    """A node's new version that says nothing which counts wakes nobody."""
    scene = Scene("Node")
    scene.upsert("n1", 1)
    before = scene.store.state()
    scene.upsert("n1", 2)
    assert scene.changes == 1
    assert scene.store.state() is before
    scene.upsert("n1", 3, conditions=[{"type": "Ready", "status": "False"}])
    assert scene.changes == 2


@pytest.mark.parametrize("version", [6, 7])
def test_an_older_state_is_left_out(version: int) -> None:
    """Neither a state from before nor the same one again takes the place of ours."""
    scene = Scene()
    scene.upsert("a", 7, node="n2")
    scene.upsert("a", version, node="n1")
    assert [pod.node_name for pod in scene.store.state().objects] == ["n2"]


def test_the_end_of_an_earlier_object_is_not_the_end_of_ours() -> None:
    """A pod of the same name was made since: the old one's deletion comes late."""
    scene = Scene()
    scene.upsert("a", 9)
    scene.delete("a", 8)
    assert scene.names == ["a"]
    scene.delete("a", 10)
    assert scene.names == []
    scene.delete("a", 11)
    assert scene.changes == 2


def test_a_list_that_breaks_off_changes_nothing() -> None:
    """Half a list is worse than an old one."""
    scene = Scene()
    scene.upsert("a", 1)

    def half() -> Iterator[Any]:
        yield scene.found("b", 2)
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        scene.store.replace(half())
    assert scene.names == ["a"]
    assert scene.changes == 1


def test_what_cannot_be_used_is_set_aside_until_it_is_mended_or_gone() -> None:
    """Something stands for a pod that exists, since it holds room, and it is said why; all others are as ever."""
    scene = Scene()
    scene.upsert("a", 1)
    scene.upsert("b", 2, containers=[])
    scene.upsert("c", 3, containers=[container(cpu="1e25")])
    barred = "its node n1 is neither source nor target"
    few, much = (item.text for item in scene.store.state().aside)
    assert few == f"Pod default/b: spec.containers: is missing; a pod has at least one container; {barred}"
    assert much.startswith("Pod default/c: spec.containers[0].resources.requests.cpu: '1e25' is out of range; ")
    assert much.endswith(f"; {barred}")
    again = [scene.found("a", 1), scene.found("b", 2, containers=[]), scene.found("c", 3)]
    before = scene.changes
    scene.store.replace(again)
    assert scene.changes == before
    scene.upsert("b", 4)
    scene.upsert("c", 5)
    assert (scene.names, scene.store.state().aside) == (["a", "b", "c"], ())


@pytest.mark.parametrize("kind", ["Pod", "Node"])
def test_what_cannot_be_decoded_is_set_aside_until_it_is_gone(kind: str) -> None:
    """Its name is all that need be readable for that."""
    scene = Scene(kind)
    scene.upsert("a", 1)
    error = ObjectError("spec.nodeName", "wanted text, found whole number")
    namespace = "default" if kind == "Pod" else None
    meta = ObjectMeta(name="c", namespace=namespace, resource_version="4")
    scene.store.upsert(Unreadable(meta, error, Glimpse(namespace or "", "c")))
    assert [(item.key, item.problem) for item in scene.store.state().aside] == [
        ("default/c" if namespace else "c", "spec.nodeName: wanted text, found whole number")
    ]
    scene.delete("c", 5)
    assert (scene.names, scene.store.state().aside) == (["a"], ())


def test_warnings_go_with_their_object() -> None:
    """What is said of an object is said no more once it is mended or gone."""
    scene = Scene("Node")
    scene.upsert("n1", 1, allocatable={})
    scene.upsert("n2", 2, allocatable={})
    assert [text.split(":")[0] for text in scene.store.state().warnings] == ["Node n1", "Node n2"]
    scene.upsert("n1", 3)
    assert [text.split(":")[0] for text in scene.store.state().warnings] == ["Node n2"]
    scene.store.replace([scene.found("n1", 3), scene.found("n2", 2, allocatable={})])
    assert [text.split(":")[0] for text in scene.store.state().warnings] == ["Node n2"]
    scene.delete("n2", 4)
    assert scene.store.state().warnings == ()


def test_pods_without_priority_are_known() -> None:
    """They are those whose class says what it is; what is mended is among them no more."""
    scene = Scene()
    scene.upsert("a", 1, priority=None)
    scene.upsert("b", 2)
    assert [pod.name for pod in scene.store.state().without_priority] == ["a"]
    scene.store.replace([scene.found("a", 1, priority=None), scene.found("b", 2)])
    assert [pod.name for pod in scene.store.state().without_priority] == ["a"]
    scene.upsert("a", 3, priority=0)
    assert scene.store.state().without_priority == ()


def test_objects_without_versions_are_taken_as_they_come() -> None:
    """A server that tells no versions cannot be asked which state is later."""
    scene = Scene("Node")
    scene.upsert("n1", "")
    scene.upsert("n1", "", allocatable={"cpu": "9"})
    (node,) = scene.store.state().objects
    assert dict(node.allocatable)["cpu"] == 9000
    scene.delete("n1", "")
    assert scene.names == []


labels = st.fixed_dictionaries({}, optional={"app": st.sampled_from(["web", "db"]), "tier": st.just("front")})
changes = st.lists(
    st.tuples(st.sampled_from(["upsert", "delete", "replace"]), st.sampled_from(["a", "b", "c"]), labels), max_size=15
)
SELECTORS = [
    *(selector(app=name) for name in ("web", "db")),
    selector(app="web", tier="front"),
    LabelSelector((Requirement("app", "In", ("web", "db", "web")),)),
    LabelSelector((Requirement("app", "In", ()),)),
    LabelSelector((Requirement("app", "NotIn", ("web",)),)),
    LabelSelector((Requirement("app", "Exists", ()), Requirement("tier", "In", ("front",)))),
    LabelSelector(()),
]


@pytest.mark.parametrize("kind", ["Pod", "Node"])
@given(told=changes, most=st.sampled_from([0, 1, 32]))
def test_a_part_that_labels_select_holds_all_of_it_at_any_time(
    kind: str, told: list[tuple[str, str, dict[str, str]]], most: int
) -> None:
    """Whatever came, changed its labels or went since it was asked for first, and however few labels are looked for."""
    scene, namespace = Scene(kind), "default" if kind == "Pod" else ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_objects, "MOST_LABELS", most)
        for version, (what, name, own) in enumerate(told, 1):
            if what == "delete":
                scene.delete(name, version)
            elif what == "upsert":
                scene.upsert(name, version, labels=own)
            else:
                scene.store.replace([scene.found(name, version, labels=own)])
            for one in SELECTORS:
                scope = WatchedScope(kind, namespace, labels=one)
                wanted = {item.name for item in scene.store.state().objects if selects(one, item.labels)}
                assert {item.name for item in scene.store.found_in(scope)} == wanted
                assert {found for _, found in scene.store.versions_in(scope)} == wanted
