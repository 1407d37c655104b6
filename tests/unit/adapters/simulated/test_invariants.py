"""What holds in the simulated cluster whatever is done to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.extension_points import HoldRequest
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import PodReference
from tests.builders import budget, cluster, node, pod, workload

WEB_FLOOR = 3
SETTINGS = SimulationSettings(termination_seconds=2.0, startup_seconds=1.5)

evictions = st.tuples(st.just("evict"), st.integers(0, 30), st.sampled_from(["", "right", "wrong"]), st.booleans())
holds = st.tuples(st.just("hold"), st.integers(0, 2), st.integers(0, 3), st.integers(1, 40))
releases = st.tuples(st.just("release"), st.integers(0, 2))
nominations = st.tuples(st.just("nominate"), st.integers(0, 30), st.integers(0, 3))
waits = st.tuples(st.just("wait"), st.floats(0, 12))
scripts = st.lists(st.one_of(evictions, evictions, holds, releases, nominations, waits), max_size=25)


def small_cluster() -> Cluster:
    """Four nodes with a web of five replicas (three to stay), a database of two, and two waiting pods."""
    web = [pod(f"web-{n}", "1500m", node=f"n{n % 4}", owner="web") for n in range(5)]
    database = [pod(f"db-{n}", "1", node=f"n{n}", owner="db", kind="StatefulSet") for n in range(2)]
    waiting = [pod("big-0", "3", owner="big"), pod("vip-0", "2", owner="vip", priority=10)]
    floor = budget("web", 2, min_available=str(WEB_FLOOR), current_healthy=5, desired_healthy=3, expected_pods=5)
    owners = (workload("web", 5), workload("db", 2, kind="StatefulSet"), workload("big", 1), workload("vip", 1))
    return cluster(*(node(f"n{n}") for n in range(4)), *web, *database, *waiting, *owners, floor)


def act(world: SimulatedCluster, step: tuple[object, ...]) -> None:
    """Carry out one step of a script; indices are taken modulo what there is."""
    match step:
        case ("evict", int(number), str(uid), bool(dry_run)):
            target = pick(world, number)
            reference = PodReference("default", target.name, {"right": target.uid, "wrong": "no-uid"}.get(uid, ""))
            before = len(world.writes)
            answer = world.evict(reference, "", dry_run=dry_run)
            assert len(world.writes) - before == (answer.kind == "Accepted" and not dry_run)
        case ("hold", int(name), int(target), int(deadline)):
            if f"h{name}" not in world.leftovers():
                request = HoldRequest(
                    f"h{name}", f"n{target}", (("cpu", 2000),), "", "default-scheduler", deadline, "p"
                )
                world.hold([request])
        case ("release", int(name)):
            world.release([f"h{name}"])
        case ("nominate", int(number), int(target)):
            world.nominate(PodReference("default", pick(world, number).name), f"n{target}")
        case ("wait", float(seconds)):
            world.clock.sleep(seconds)


def pick(world: SimulatedCluster, number: int) -> Pod:
    """One of the pods that are no placeholders."""
    pods = world.read_pods("default", None)
    return pods[number % len(pods)]


def run(script: list[tuple[object, ...]], seed: int, check: Callable[[SimulatedCluster], object]) -> SimulatedCluster:
    """Carry a script out, a look after each step."""
    world = SimulatedCluster(small_cluster(), seed=seed, settings=SETTINGS)
    for step in script:
        act(world, step)
        check(world)
    return world


@settings(max_examples=60)
@given(scripts, st.integers(0, 5))
def test_no_node_is_ever_overfull(script: list[tuple[object, ...]], seed: int) -> None:
    """The scheduler never binds beyond what a node offers, terminating pods counted."""

    def check(world: SimulatedCluster) -> None:
        now = world.read()
        for item in now.nodes:
            used: Counter[str] = Counter()
            for held in now.pods_by_node.get(item.name, ()):
                used.update(dict(held.spec.requests))
            assert all(used[name] <= offered for name, offered in item.allocatable)

    run(script, seed, check)


@settings(max_examples=60)
@given(scripts, st.integers(0, 5))
def test_evictions_never_take_a_budget_below_its_floor(script: list[tuple[object, ...]], seed: int) -> None:
    """However the calls fall, as many ready pods stand as the budget wants."""

    def check(world: SimulatedCluster) -> None:
        web = [item for item in world.read().pods if item.labels.get("app") == "web"]
        assert sum(item.is_ready and not item.is_terminating for item in web) >= WEB_FLOOR

    run(script, seed, check)


@settings(max_examples=60)
@given(scripts, st.integers(0, 5))
def test_a_bound_pod_never_changes_its_node(script: list[tuple[object, ...]], seed: int) -> None:
    """One uid has one name and, once bound, one node until it is gone for good."""
    bound: dict[str, tuple[str, str]] = {}
    gone: set[str] = set()

    def check(world: SimulatedCluster) -> None:
        standing = {item.uid: item for item in world.read().pods}
        gone.update(uid for uid in bound if uid not in standing)
        assert not gone & set(standing)
        for uid, item in standing.items():
            if item.node_name is not None:
                assert bound.setdefault(uid, (item.name, item.node_name)) == (item.name, item.node_name)

    run(script, seed, check)


@settings(max_examples=40)
@given(scripts, st.integers(0, 5))
def test_every_owner_ends_with_its_number_of_pods(script: list[tuple[object, ...]], seed: int) -> None:
    """Never more active pods than wanted, and exactly as many when all is quiet; the holds are gone by then."""
    wanted = {"web": 5, "db": 2, "big": 1, "vip": 1}

    def active(world: SimulatedCluster) -> Counter[str]:
        pods = world.read_pods("default", None)
        return Counter(item.owners[0].name for item in pods if not item.is_terminating)

    def check(world: SimulatedCluster) -> None:
        assert all(active(world)[name] <= number for name, number in wanted.items())

    world = run(script, seed, check)
    world.clock.sleep(60)
    assert active(world) == wanted
    assert not world.leftovers()


@settings(max_examples=25)
@given(scripts, st.integers(0, 5))
def test_a_script_and_a_seed_fix_the_whole_history(script: list[tuple[object, ...]], seed: int) -> None:
    """Two runs end alike in pods, events and writes."""
    one, two = (run(script, seed, lambda world: world.read()) for _ in range(2))
    assert (one.read().pods, one.events, one.writes) == (two.read().pods, two.events, two.writes)
