"""The ledger over several objects: nothing is lost or counted twice, and an eviction writes little."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.adapters.kubernetes.ledger import ledger_layout
from rescheduler.adapters.kubernetes.ledger.ledger_layout import CLOSED_BYTES, OPEN_BYTES
from rescheduler.adapters.kubernetes.ledger.ledger_objects import Content
from rescheduler.adapters.kubernetes.ledger.ledger_text import ShardMark, pack, read_head, shard_name, unpack
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.execution.ledger.ledger_writer import LedgerWriter
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ClusterError, LedgerLostError
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.daemon.ledger_changes import announced, closed
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW
from tests.ledger_objects import MemoryObjects
from tests.unit.execution.entries import entry, ledger_of, old_text

WHOLE_EVICTION = 16_000
AROUND = 800
"""Bytes of names, labels and annotations round the content of one object."""


def lifelike(count: int, state: EntryState = EntryState.REPAID, seed: int = 1) -> tuple[LedgerEntry, ...]:
    """Entries as a large cluster has them: random names and uids that cannot be compressed away."""
    random = Random(seed)
    letters = "bcdfghjklmnpqrstvwxz2456789"
    text = lambda length: "".join(random.choices(letters, k=length))  # noqa: E731
    uid = lambda: str(uuid.UUID(int=random.getrandbits(128)))  # noqa: E731
    nodes = [f"gke-prod-pool-{n % 5}-{text(8)}-{text(4)}" for n in range(500)]
    workloads = [(uid(), f"team-{n % 40}", f"service-{n}-{text(10)}") for n in range(400)]
    found = []
    for number in range(1, count + 1):
        owner, namespace, name = random.choice(workloads)
        over = round(random.random(), 3)
        at = round(NOW - 3000 + 0.1 * number + random.random() / 10, 3)
        from_node = random.choice(nodes)
        to_node = random.choice(nodes)
        is_over = state not in (EntryState.OPEN, EntryState.INTENDED)
        found.append(
            LedgerEntry(
                number, 1 + number // 10, PodReference(namespace, f"{name}-{text(5)}", uid()), from_node, to_node,
                at, state, owner, f"Deployment {namespace}/{name}", 5, 5, f"zone-{random.randrange(3)}",
                {"app": name}, 30, "EmptyNodes", f"empties {from_node}",
                to_node if is_over else None, round(at + 40 + over, 3) if is_over else None, "", round(at + over, 3),
                label_keys=("app",),
            )
        )  # fmt: skip
    return tuple(found)


def ledger_with(entries: Sequence[LedgerEntry]) -> Ledger:
    """A ledger of entries that are numbered already."""
    return Ledger(plan=7, next_entry=max((item.number for item in entries), default=0) + 1, entries=tuple(entries))


def written(objects: MemoryObjects, ledger: Ledger) -> None:
    """Somebody writes all of it."""
    store = objects.reader()
    assert store.write(ledger, store.read().version) is not None


def writer_on(objects: MemoryObjects) -> LedgerWriter:
    """A process that writes, seen by whoever meddles."""
    return LedgerWriter(ShardedLedger(objects, "book", counted_seconds=3600.0), SimulatedClock(), keep_seconds=86_400.0)


@given(st.lists(st.sampled_from(EntryState), max_size=30), st.integers(0, 5))
def test_what_is_packed_is_unpacked(states: list[EntryState], seed: int) -> None:
    """Whatever is left out since it is the default."""
    entries = tuple(
        structs.replace(found, state=state, landed_on=None if seed % 2 else found.landed_on, labels={})
        for found, state in zip(lifelike(len(states), seed=seed), states, strict=True)
    )
    assert unpack(pack(entries)) == entries


@pytest.mark.parametrize("packed", [b"x", b"\x00" * 50, pack(lifelike(9))[:-9]])
def test_bytes_that_are_no_entries_are_told(packed: bytes) -> None:
    """Cut off, or never any."""
    with pytest.raises(ValueError, match=r"."):
        unpack(packed)


def test_an_eviction_writes_at_most_16_kb_on_a_ledger_of_thousands_of_entries() -> None:
    """Intent and closing, through every moving out that falls due on the way; everything still counts.

    tests/cluster/faults/test_ledger.py does it beside 20,000, on a real control plane.
    """
    objects = MemoryObjects()
    written(objects, ledger_with(lifelike(6_000)))
    assert len(objects.ledger().entries) == 6_000
    writer = writer_on(objects)
    objects.sizes.clear()
    per_eviction, moved_out = [], 0
    for number, found in enumerate(lifelike(150, EntryState.INTENDED, seed=2)):
        writer.update(lambda ledger, found=found: announced(ledger, found), lambda _: False, NOW)
        writer.note(found.pod.uid, found.at, state=EntryState.REPAID, closed_at=NOW + number)
        per_eviction.append(sum(size + AROUND for _, size in objects.sizes))
        moved_out += any(name != "book" for name, _ in objects.sizes)
        objects.sizes.clear()
    assert max(per_eviction) <= WHOLE_EVICTION
    assert moved_out, "nothing moved out: the figure says nothing"
    assert len(objects.ledger().entries) == 6_150


def test_all_are_read_at_the_start_and_nothing_again_but_one() -> None:
    """A process looks at every shard once, and later at one at each reading, each time another."""
    objects = MemoryObjects()
    written(objects, ledger_with(lifelike(3_000)))
    process = ShardedLedger(objects, "book", counted_seconds=3600.0)
    assert len(process.read().ledger.entries) == 3_000
    shards = len(objects.gets) - 1
    assert shards >= 20
    objects.gets.clear()
    for _ in range(shards):
        process.read()
    assert sorted(set(objects.gets)) == sorted(objects.all)
    assert len(objects.gets) == 2 * shards


def test_the_ledger_of_an_older_version_is_taken_over_whole_and_once() -> None:
    """With 900 kB of it; from then on its form is another, which older versions obey: they evict nothing."""
    objects = MemoryObjects()
    old = ledger_with(
        [
            *lifelike(1_000),
            *[structs.replace(item, number=item.number + 1_000) for item in lifelike(9, EntryState.OPEN)],
        ]
    )
    objects.swap("book", Content({"format": "1", "ledger.json": old_text(old)}, {}, 7, NOW), objects.get("book"))
    assert objects.ledger() == old
    writer = writer_on(objects)
    writer.update(lambda ledger: structs.replace(ledger, plan=8), lambda _: False, NOW)
    assert objects.all["book"].data["format"] == "2"
    assert "ledger.json" in objects.all["book"].data, "without this key an older version takes it for an empty one"
    assert objects.ledger() == structs.replace(old, plan=8)


def test_huge_labels_of_an_older_entry_take_no_room_once_it_is_taken_over() -> None:
    """460 kB on one pod; which keys are known is written down, so that other budgets assume the worst."""
    objects = MemoryObjects()
    huge = entry(state=EntryState.REPAID, labels={f"key-{n}": "x" * 60 for n in range(7_000)} | {"app": "web"})
    objects.swap("book", Content({"ledger.json": old_text(ledger_of(huge))}, {}, 1, NOW), objects.get("book"))
    process = ShardedLedger(objects, "book", counted_seconds=3600.0)
    writer = LedgerWriter(process, SimulatedClock(), keep_seconds=86_400.0, label_keys=["app", "team"])
    objects.sizes.clear()
    writer.update(lambda ledger: structs.replace(ledger, plan=8), lambda _: False, NOW)
    assert max(size for _, size in objects.sizes) < 2_000
    [kept] = objects.ledger().entries
    assert (kept.labels, kept.label_keys) == ({"app": "web"}, ("app", "team"))


def steps(objects: MemoryObjects, stop_at: int, *, is_done: bool) -> bool:
    """One process that moves entries out and dies at a call: before it takes effect, or after; whether it ended."""

    class DiedError(Exception):
        """The process is no more."""

    calls = 0

    def meddle(_verb: str, _name: str) -> None:
        nonlocal calls
        calls += 1
        if calls == stop_at and not is_done:
            raise DiedError
        if calls == stop_at + 1 and is_done:
            raise DiedError

    objects.at_call = meddle
    writer = writer_on(objects)
    try:
        writer.update(lambda ledger: announced(ledger, entry("new", number=0)), lambda _: False, NOW)
    except DiedError:
        return False
    finally:
        objects.at_call = lambda _verb, _name: None
    return True


@pytest.mark.parametrize("is_done", [False, True])
def test_a_process_that_dies_at_any_call_loses_nothing_and_counts_nothing_twice(is_done: bool) -> None:
    """While an older ledger is taken over in many shards, and while its entries move out."""
    old = ledger_with(lifelike(300))
    for stop_at in range(1, 100):
        objects = MemoryObjects()
        objects.swap("book", Content({"ledger.json": old_text(old)}, {}, 7, NOW), objects.get("book"))
        has_ended = steps(objects, stop_at, is_done=is_done)
        found = [item for item in objects.ledger().entries if item.pod.name != "new"]
        assert found == list(old.entries), stop_at
        assert steps(objects, 1_000, is_done=False)
        found = [item for item in objects.ledger().entries if item.pod.name != "new"]
        assert found == list(old.entries), stop_at
        if has_ended:
            return
    raise AssertionError("it never came to its end")


class Interleaved:
    """Two processes over the same objects whose calls take turns as a list says."""

    def __init__(self, turns: Sequence[bool]) -> None:
        import greenlet

        self.turns = list(turns)
        self.objects = MemoryObjects(self._switch)
        self.main = greenlet.getcurrent()
        self.tasks: list[Any] = []
        self._greenlet = greenlet

    def _switch(self, _verb: str, _name: str) -> None:
        if self._greenlet.getcurrent() is not self.main:
            self.main.switch()

    def run(self, *acts: Any) -> None:
        """Until both have ended."""
        self.tasks = [self._greenlet.greenlet(act) for act in acts]
        while any(not task.dead for task in self.tasks):
            which = self.turns.pop(0) if self.turns else False
            task = self.tasks[which] if not self.tasks[which].dead else self.tasks[not which]
            task.switch()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), max_size=60))
def test_two_processes_that_move_out_at_the_same_time_lose_nothing(turns: list[bool]) -> None:
    """In any order of their calls: each entry of the beginning, and each announced, stands there once."""
    pair = Interleaved(turns)
    objects = pair.objects
    full = lifelike(130)
    start = MemoryObjects()
    content = Content({"format": "2", "ledger.json": '{"plan":7,"nextEntry":131}'}, {"entries": pack(full)}, 7, NOW)
    start.swap("book", content, start.get("book"))
    objects.all, objects.version = start.all, start.version

    def act(name: str) -> Any:
        def announce() -> None:
            writer = writer_on(objects)
            for number in range(3):
                new = entry(f"{name}-{number}", number=0, state=EntryState.REFUSED)
                writer.update(lambda ledger, new=new: announced(ledger, new), lambda _: False, NOW)

        return announce

    pair.run(act("a"), act("b"))
    found = objects.ledger().entries
    assert found[:130] == full
    assert sorted(item.pod.name for item in found[130:]) == ["a-0", "a-1", "a-2", "b-0", "b-1", "b-2"]
    assert len({item.number for item in found}) == 136


def test_a_shard_that_somebody_may_yet_name_is_left_alone() -> None:
    """A process was held up between its shard and the main object: another takes another slot, and either may win."""
    objects = MemoryObjects()
    written(objects, ledger_with(lifelike(60)))
    grown = ledger_with(lifelike(130))
    late, fast = objects.reader(), objects.reader()
    version = late.read().version
    fast.read()
    real, held = objects.swap, []

    def hold(name: str, content: Content, found: Any) -> Any:
        if name == "book" and not held:
            held.append((name, content, found))
            raise ClusterError("nobody knows whether it was written")
        return real(name, content, found)

    objects.swap = hold  # type: ignore[method-assign]
    with pytest.raises(ClusterError, match="nobody knows"):
        late.write(grown, version)
    shards = {name: found for name, found in objects.all.items() if name != "book"}
    real_swap, objects.swap = objects.swap, lambda *_: None  # type: ignore[method-assign, assignment]
    assert fast.write(grown, version) is None
    objects.swap = real_swap  # type: ignore[method-assign]
    written_late = real(*held[0])
    assert written_late is not None
    assert {name: objects.all[name] for name in shards} == shards
    assert objects.ledger() == grown


def read_often(process: ShardedLedger, times: int) -> None:
    """Until each shard had its turn."""
    for _ in range(times):
        process.read()


def test_a_shard_that_was_deleted_is_noticed() -> None:
    """By who begins at once, by who has read it when its turn comes; nothing may be evicted, and the remedy is told."""
    objects = MemoryObjects()
    written(objects, ledger_with(lifelike(500)))
    knows = objects.reader()
    knows.read()
    gone = sorted(objects.all)[2]
    removed = objects.all.pop(gone)
    with pytest.raises(LedgerLostError, match=f"ConfigMap holds/{gone} is gone: .* rescheduler ledger accept-loss"):
        objects.ledger()
    with pytest.raises(LedgerLostError):
        read_often(knows, len(objects.all))
    objects.all[gone] = removed
    assert len(objects.ledger().entries) == 500


def test_a_shard_that_was_changed_is_noticed() -> None:
    """By its digest."""
    objects = MemoryObjects()
    written(objects, ledger_with(lifelike(500)))
    name = sorted(objects.all)[1]
    found = objects.all[name]
    objects.all[name] = found._replace(packed={"entries": pack(unpack(found.packed["entries"])[1:])})
    with pytest.raises(LedgerLostError, match="is not as it was written"):
        objects.ledger()


def test_a_loss_that_was_accepted_leaves_the_rest() -> None:
    """What stands in other shards goes on counting, numbers go on rising, and the time of it is written down."""
    objects = MemoryObjects()
    written(objects, ledger_with(lifelike(500)))
    name = sorted(objects.all)[1]
    missing = {item.number for item in unpack(objects.all.pop(name).packed["entries"])}
    [lost] = objects.reader().losses()
    assert f"ConfigMap holds/{name} is gone" in lost
    objects.reader().accept_loss(NOW, 3)
    assert objects.reader().losses() == []
    found = objects.ledger()
    assert {item.number for item in found.entries} == set(range(1, 501)) - missing
    assert (found.plan, found.accepted_at, found.next_entry) == (7, NOW, 501)


@pytest.mark.parametrize("data", [None, {"ledger.json": "{"}])
def test_a_ledger_that_is_gone_or_no_ledger_can_be_begun_anew(data: dict[str, str] | None) -> None:
    """Plans go on from the highest number that is known."""
    objects = MemoryObjects()
    if data is not None:
        objects.swap("book", Content(data, {}, 0, NOW), objects.get("book"))
    assert objects.reader().losses()
    objects.reader().accept_loss(NOW, 12)
    assert objects.ledger() == Ledger(plan=12, accepted_at=NOW)


def test_what_is_somebody_elses_is_never_replaced() -> None:
    """Neither by accepting a loss, nor where a shard is to be."""
    objects = MemoryObjects()
    objects.swap("book", Content({"game.properties": "x"}, {}, 0, NOW), objects.get("book"))
    objects.all["book"] = objects.all["book"]._replace(labels={})
    with pytest.raises(ClusterError, match="is not ours"):
        objects.reader().accept_loss(NOW, 0)
    objects = MemoryObjects()
    foreign = shard_name("book", 0)
    objects.swap(foreign, Content({"x": "y"}, {}, 0, NOW), objects.get(foreign))
    objects.all[foreign] = objects.all[foreign]._replace(labels={})
    written(objects, ledger_with(lifelike(200)))
    assert objects.all[foreign].data == {"x": "y"}
    assert len(objects.ledger().entries) == 200


def test_shards_of_which_nothing_counts_any_more_are_dropped() -> None:
    """Once trimming has taken the last of their entries; their slots are used again."""
    objects = MemoryObjects()
    written(objects, ledger_with(lifelike(1_000)))
    before = {found.slot for found in shards_of(objects)}
    later = ledger_with(lifelike(1_000)[600:])
    written(objects, later)
    assert len(shards_of(objects)) < len(before)
    assert [item for item in objects.ledger().entries if item.number > 600] == list(later.entries)


def shards_of(objects: MemoryObjects) -> tuple[ShardMark, ...]:
    """What the main object names."""
    return read_head(objects.all["book"].data).marks


def open_all(writer: LedgerWriter, entries: Sequence[LedgerEntry]) -> None:
    """One announcement after the other, the answer to each told with the next write."""
    for found in entries:
        writer.update(lambda ledger, new=found: announced(ledger, new), lambda _: False, NOW)
        writer.note(found.pod.uid, found.at, state=EntryState.OPEN)


def test_many_evictions_may_be_open_and_each_writes_at_most_16_kb() -> None:
    """Those that have been open for longest leave the main object, and are told from what became of them there."""
    objects = MemoryObjects()
    writer = writer_on(objects)
    per_eviction = []
    for found in lifelike(600, EntryState.INTENDED):
        objects.sizes.clear()
        open_all(writer, [found])
        per_eviction.append(sum(size + AROUND for _, size in objects.sizes))
    assert len(objects.ledger().debts) == 600
    assert max(per_eviction) <= WHOLE_EVICTION
    for number, found in enumerate(objects.ledger().debts):
        writer.note(found.pod.uid, found.at, state=EntryState.REPAID, closed_at=NOW)
        if number % 10 == 0:
            objects.sizes.clear()
            writer.update(lambda ledger: ledger, lambda _: False, NOW)
            assert sum(size + AROUND for _, size in objects.sizes) <= WHOLE_EVICTION
    writer.update(lambda ledger: ledger, lambda _: False, NOW)
    assert [item.state for item in objects.ledger().entries] == [EntryState.REPAID] * 600
    assert len(shards_of(objects)) <= 600 / 60


@given(
    st.lists(st.tuples(st.sampled_from(["open", "close", "again", "trim", "forget"]), st.integers(0, 30)), max_size=60)
)
def test_whatever_opens_closes_and_goes_is_read_as_it_was_written(steps: list[tuple[str, int]]) -> None:
    """With objects so small that everything moves all the time: nothing is lost, nothing that is over opens again."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MUCH_OPEN_BYTES", 300), ("NEWEST", 1), ("LARGEST_SHARD_BYTES", 500), ("CHUNK", 6)):
            patch.setattr(ledger_layout, name, value)
        objects = MemoryObjects()
        stores = [ShardedLedger(objects, "book", counted_seconds=3600.0, closed_bytes=300) for _ in range(2)]
        for number, (verb, which) in enumerate(steps):
            store = stores[number % 2]
            reading = store.read()
            wanted = stepped(reading.ledger, verb, which)
            assert store.write(wanted, reading.version) is not None
            found = objects.ledger()
            assert found.debts == wanted.debts
            numbers = {item.number for item in wanted.entries}  # what is over outlasts its end where others stand
            assert tuple(item for item in found.entries if item.number in numbers) == wanted.entries


def stepped(ledger: Ledger, verb: str, which: int) -> Ledger:
    """The ledger after somebody has announced, closed, changed or dropped one of its entries."""
    if verb == "open":
        return announced(ledger, entry(f"pod-{ledger.next_entry}", number=0))
    kept = list(ledger.entries)
    if not kept:
        return ledger
    index = which % len(kept)
    if verb == "close":
        kept[index] = closed(kept[index], EntryState.REPAID, NOW)
    elif verb == "again":
        kept[index] = structs.replace(kept[index], message=f"{kept[index].message}.")
    elif verb == "forget":
        del kept[index]
    else:
        kept = [item for item in kept if item.is_debt]
    return structs.replace(ledger, entries=tuple(kept))


def test_open_evictions_that_fill_all_slots_stop_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """They cannot be dropped; what is over may still be written down, and makes room."""
    monkeypatch.setattr(ledger_layout, "SLOTS", 2)
    objects = MemoryObjects()
    writer = writer_on(objects)
    with pytest.raises(PlanStoppedError, match=r"is full: of \d+ evictions that count \d+ are open"):
        open_all(writer, lifelike(400, EntryState.INTENDED))
    stands = objects.ledger()
    assert len(stands.debts) >= 160
    assert max(size for name, size in objects.sizes if name == "book") <= OPEN_BYTES
    for found in stands.debts[-30:]:
        writer.note(found.pod.uid, found.at, state=EntryState.REPAID, closed_at=NOW)
    writer.update(lambda ledger: announced(ledger, entry("new", number=0)), lambda _: False, NOW)
    assert len(objects.ledger().debts) == len(stands.debts) - 29


def test_at_the_end_of_the_slots_what_counts_no_more_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """And where everything counts, nothing is evicted any more; what is there stays readable."""
    monkeypatch.setattr(ledger_layout, "SLOTS", 2)
    objects = MemoryObjects()
    writer = writer_on(objects)
    few = structs.replace(entry("new", number=0, state=EntryState.INTENDED))

    def fill(until: float) -> int:
        objects.time = until
        for number, found in enumerate(lifelike(900)):
            writer.update(lambda ledger, new=found: announced(ledger, new), lambda _: False, NOW)
            try:
                writer.update(lambda ledger: announced(ledger, few), lambda _: False, NOW)
            except PlanStoppedError:
                return number
            writer.note(few.pod.uid, few.at, state=EntryState.NOT_EVICTED, closed_at=NOW)
        return 900

    assert 100 < fill(NOW) < 900
    assert len(objects.ledger().debts) == 0
    written_before = len(objects.ledger().entries)
    assert fill(NOW + 4_000) > 0
    assert len(objects.ledger().entries) < written_before + 900


def test_moving_out_begins_late_enough_to_fill_shards() -> None:
    """Small ones are merged, so that slots last."""
    objects = MemoryObjects()
    writer = writer_on(objects)
    for found in lifelike(500):
        writer.update(lambda ledger, new=found: announced(ledger, new), lambda _: False, NOW)
    assert len(shards_of(objects)) <= 500 / 80
    assert max(size for name, size in objects.sizes if name == "book") <= CLOSED_BYTES + 500
