"""A stolen token of our account, with every right that we ship bound to it, changes nothing but what we write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.api import Api, ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.rights import thief_scene
from tests.cluster.rights.thief_scene import GUARD, RIGHTS, SYSTEM, Attempt, Loot, refused_by, springboards
from tests.cluster.rights.thief_verbs import by_other_verbs
from tests.cluster.waiting import wait_until


@pytest.fixture
def loot(cluster: Cluster) -> Loot:
    """What stands in the cluster."""
    return Loot(cluster)


@pytest.fixture
def thief(cluster: Cluster, loot: Loot) -> Iterator[Api]:
    """The API by the stolen token, once all guards are in force."""
    api = Api.from_kubeconfig(cluster.control_plane.service_account_kubeconfig("rescheduler", SYSTEM))
    wait_until(lambda: not unexpected(api, loot, GUARD), lambda: f"the guards: {unexpected(api, loot, GUARD)}")
    yield api
    api.close()


def attempts(loot: Loot) -> Iterator[tuple[str, Attempt]]:
    """All that a thief tries."""
    yield from thief_scene.attempts(loot)
    yield from by_other_verbs(loot)


def unexpected(api: Api, loot: Loot, by: str) -> dict[str, str]:
    """Attempts that these should have refused, with who did."""
    found = {name: refused_by(api, attempt) for name, attempt in attempts(loot) if attempt.refused_by == by}
    return {name: who for name, who in found.items() if who != by}


def test_everything_else_is_refused(thief: Api, loot: Loot) -> None:
    """By the guards where RBAC cannot say what a right is for, by RBAC where we have no right at all."""
    assert unexpected(thief, loot, GUARD) == {}
    assert unexpected(thief, loot, RIGHTS) == {}
    assert len(list(attempts(loot))) > 150


def test_the_forms_that_attempts_spring_from_are_let_through(thief: Api, loot: Loot) -> None:
    """So each of them is refused for the one thing in which it differs."""
    found = {name: refused_by(thief, attempt) for name, attempt in springboards()}
    assert {name: who for name, who in found.items() if who != "nobody"} == {}


def test_a_refusal_is_told_as_forbidden(thief: Api, loot: Loot) -> None:
    """With 403 and the guard's own words; 422 would be taken for a pod that was bound meanwhile."""
    for name, attempt in attempts(loot):
        if attempt.refused_by == GUARD and "/pods" in attempt.path and "eviction" not in attempt.path:
            with pytest.raises(ApiError, match="the rescheduler may") as refused:
                thief.request(attempt.method, attempt.path, attempt.body, content_type=attempt.content_type)
            assert refused.value.code == 403, name


def test_without_the_guards_the_same_would_be_let_through(cluster: Cluster, thief: Api, loot: Loot) -> None:
    """So it is the guards that refuse, and each attempt is one that would have worked."""
    for name in ("pod", "job", "room", "record", "node", "eviction", "surge"):
        cluster.api.delete("validatingadmissionpolicybindings", f"rescheduler-{name}-guard")
    guarded = [(name, attempt) for name, attempt in attempts(loot) if attempt.refused_by == GUARD]

    def held() -> dict[str, str]:
        found = {name: refused_by(thief, attempt) for name, attempt in guarded}
        return {name: who for name, who in found.items() if who != "nobody"}

    wait_until(lambda: GUARD not in held().values(), "the guards to be gone")
    assert held() == {}


def test_nobody_else_is_bound(cluster: Cluster, thief: Api, loot: Loot) -> None:
    """The administrator may do all of it."""
    found = {name: refused_by(cluster.api, attempt) for name, attempt in attempts(loot) if attempt.refused_by == GUARD}
    assert {name: who for name, who in found.items() if who != "nobody"} == {}
