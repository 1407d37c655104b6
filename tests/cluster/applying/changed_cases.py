"""What may change under a running plan: each case with its step, and how the three moves of the scene end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.cluster.applying import changes
from tests.cluster.applying.changed_scene import DISRUPTION, Scene, Step
from tests.cluster.applying.changes import Change, built
from tests.cluster.plane.kwok import CANNOT_PULL, NEVER_READY
from tests.cluster.shapes import stateful_set

Outcomes = tuple[str, str, str]

LANDED, ELSEWHERE, REFUSED = "Landed", "LandedElsewhere", "Refused"
NOT_ATTEMPTED, UNKNOWN = "NotAttempted", "Unknown"
ALL_LANDED = (LANDED, LANDED, LANDED)
FIRST_REFUSED = (REFUSED, NOT_ATTEMPTED, LANDED)
UNWANTED = (ELSEWHERE, LANDED, LANDED)
CAME_BACK = (ELSEWHERE, NOT_ATTEMPTED, NOT_ATTEMPTED)
FIRST_STAYS = [FIRST_REFUSED, (NOT_ATTEMPTED, NOT_ATTEMPTED, LANDED)]
SECOND_STAYS = [(LANDED, REFUSED, LANDED), (LANDED, NOT_ATTEMPTED, LANDED)]
"""By the gate, or by the proof of what is left, whichever looks first."""
FIRST_ALONE = (LANDED, NOT_ATTEMPTED, NOT_ATTEMPTED)
HALF_A_SECOND = [FIRST_ALONE, (LANDED, NOT_ATTEMPTED, LANDED)]
"""What no version of the ledger tells of is seen half a second later at most; one more pod may have gone by then."""
FIRST_UNKNOWN = (UNKNOWN, NOT_ATTEMPTED, NOT_ATTEMPTED)
UNREADY_FIRST = (UNKNOWN, NOT_ATTEMPTED, LANDED)
UNGUIDED = [(LANDED, second, apart) for second in (LANDED, ELSEWHERE) for apart in (LANDED, ELSEWHERE)]
NOTHING = (NOT_ATTEMPTED, NOT_ATTEMPTED, NOT_ATTEMPTED)


class Case(NamedTuple):
    """``ends``: outcomes of first, second and apart, in each way that is right; ``says``: stands in what is told.

    ``code``: the exit code; ``missing``, ``pending``: pods that are not let in, or are left without a node or unready,
    through the change itself. ``build``: makes the scene; ``options``: of ``apply``; ``disruption``: of its policy.
    """

    name: str
    step: Step
    change: Change
    ends: Sequence[Outcomes]
    says: str = ""
    code: int = 1
    missing: int = 0
    pending: int = 0
    build: Change = Scene.build
    options: tuple[str, ...] = ()
    disruption: str = DISRUPTION


UNREADY = built(annotations={NEVER_READY: "true"})
QUIET = f"{DISRUPTION}, unsettled: Deny"
CLOSED = {"minAvailable": 1}
AWAY_FROM_FIRST = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "first"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}
WIDE = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["first", "odd"]}]}

CASES: tuple[Case, ...] = (
    Case("nothing changes", Step.NUMBERED, lambda _: None, [ALL_LANDED], code=0),
    Case("pod deleted before", Step.BEFORE, changes.delete_pod, [ALL_LANDED], code=0),
    Case("pod deleted", Step.NUMBERED, changes.delete_pod, [FIRST_REFUSED], "is gone"),
    Case("pod deleted after its dry run", Step.TRIED, changes.delete_pod, [FIRST_REFUSED], "default/first-"),
    Case("pod deleted as it is sent", Step.SENDING, changes.delete_pod, [FIRST_REFUSED], "went by itself"),
    Case(
        "pod anew before",
        Step.BEFORE,
        changes.make_pod_anew,
        [ALL_LANDED],
        "done before",
        code=0,
        build=built(stateful_set),
    ),
    Case("pod anew", Step.NUMBERED, changes.make_pod_anew, [FIRST_REFUSED], "another pod", build=built(stateful_set)),
    Case(
        "pod anew as it is sent", Step.SENDING, changes.make_pod_anew, [FIRST_REFUSED], "UID", build=built(stateful_set)
    ),
    Case(
        "pod relabelled as it is sent",
        Step.SENDING,
        changes.change_pod(labels={"tier": "1"}),
        [FIRST_REFUSED],
        "changed",
    ),
    Case("pod protected", Step.NUMBERED, changes.protect_pod, [FIRST_REFUSED], "do-not-evict"),
    Case("pod protected as it is sent", Step.SENDING, changes.protect_pod, [FIRST_REFUSED], "changed"),
    Case("pod resized", Step.NUMBERED, changes.resize_pod, [ALL_LANDED], code=0),
    Case("pod unready", Step.NUMBERED, changes.break_pod, [FIRST_REFUSED], "NotReady", pending=1),
    Case("pod released", Step.NUMBERED, changes.release_pod, [FIRST_REFUSED], "Ownerless"),
    Case("owner scaled to nothing", Step.NUMBERED, changes.scale(0), [FIRST_REFUSED], "is gone"),
    Case(
        "owner scaled to nothing after the eviction",
        Step.EVICTED,
        changes.scale(0),
        [UNWANTED],
        "wants no more than 0",
        code=0,
    ),
    Case("owner scaled up", Step.NUMBERED, changes.scale(2), [FIRST_REFUSED], "WorkloadBudget"),
    Case("owner deleted", Step.NUMBERED, changes.delete_owner, [FIRST_REFUSED], "is gone"),
    Case(
        "owner deleted after the eviction", Step.EVICTED, changes.delete_owner, [UNWANTED], "nothing recreates", code=0
    ),
    Case(
        "owner rolled out", Step.NUMBERED, changes.roll_out, [FIRST_REFUSED], "disruption.unsettled", disruption=QUIET
    ),
    Case(
        "owner rolled out once bound",
        Step.BOUND,
        changes.roll_out,
        [UNREADY_FIRST],
        "not ready",
        build=UNREADY,
        options=("--timeout", "60s"),
    ),
    Case(
        "namespace deleted",
        Step.NUMBERED,
        changes.delete_namespace,
        [FIRST_REFUSED],
        "is gone",
        build=built(namespace="shop"),
    ),
    Case(
        "namespace deleted after the eviction",
        Step.EVICTED,
        changes.delete_namespace,
        [UNWANTED],
        "nothing recreates",
        code=0,
        build=built(namespace="shop"),
    ),
    Case("destination cordoned", Step.NUMBERED, changes.cordon("c-0"), [FIRST_REFUSED], "is cordoned"),
    Case("destination cordoned as it is sent", Step.SENDING, changes.cordon("c-0"), [CAME_BACK], "waits for a node"),
    Case("destination deleted", Step.NUMBERED, changes.delete_node("c-0"), [FIRST_REFUSED], "is not there"),
    Case(
        "destination deleted as it is sent", Step.SENDING, changes.delete_node("c-0"), [CAME_BACK], "waits for a node"
    ),
    Case(
        "destination deleted once bound",
        Step.BOUND,
        changes.delete_node("c-0"),
        [UNREADY_FIRST],
        "is gone and",
        pending=1,
        build=UNREADY,
    ),
    Case(
        "destination tainted",
        Step.NUMBERED,
        changes.change_node("c-0", {"spec": {"taints": [{"key": "x", "value": "y", "effect": "NoSchedule"}]}}),
        [FIRST_REFUSED],
        "has taint x",
    ),
    Case("destination unready", Step.NUMBERED, changes.break_node("c-0"), [FIRST_REFUSED], "is not ready"),
    Case("destination filled", Step.NUMBERED, changes.fill("c-0", "2"), [FIRST_REFUSED], "finds no room"),
    Case("destination filled as it is sent", Step.SENDING, changes.fill("c-0", "2"), [CAME_BACK], "waits for a node"),
    Case(
        "destination taken by one that drives it away",
        Step.NUMBERED,
        changes.fill("c-0", "100m", affinity=AWAY_FROM_FIRST),
        [FIRST_REFUSED],
        "must keep apart",
    ),
    Case("destination shrunk", Step.NUMBERED, changes.shrink("c-0", "3"), [FIRST_REFUSED], "finds no room"),
    Case(
        "destination relabelled",
        Step.NUMBERED,
        changes.change_node("c-0", {"metadata": {"labels": {"pool": "z"}}}),
        [FIRST_REFUSED],
        "leaves node c-0 out",
        build=built(
            spec={
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["b", "c"]}]}
                            ]
                        }
                    }
                }
            }
        ),
    ),
    Case("source cordoned", Step.NUMBERED, changes.cordon("b-0"), SECOND_STAYS, "b-0"),
    Case("source deleted", Step.NUMBERED, changes.delete_node("b-0"), [FIRST_REFUSED], "b-0"),
    Case("budget made", Step.NUMBERED, changes.budget(**CLOSED), [FIRST_REFUSED], "allows no disruption"),
    Case(
        "budget made as it is sent",
        Step.SENDING,
        changes.budget(**CLOSED),
        FIRST_STAYS,
        "allows no disruption",
    ),
    Case(
        "budget tightened",
        Step.NUMBERED,
        changes.change_budget(**CLOSED),
        [FIRST_REFUSED],
        build=changes.budgeted(minAvailable=0),
    ),
    Case("budget deleted", Step.BEFORE, changes.delete_budget, [ALL_LANDED], code=0, build=changes.budgeted(**CLOSED)),
    Case(
        "budget spoilt",
        Step.NUMBERED,
        changes.spoil_budget,
        [FIRST_REFUSED],
        "first",
        build=changes.budgeted(maxUnavailable=1, selector=WIDE),
    ),
    Case(
        "second budget",
        Step.NUMBERED,
        changes.add_budget,
        [FIRST_REFUSED],
        "2 PodDisruptionBudgets",
        build=changes.budgeted(maxUnavailable=1),
    ),
    Case("placeholders deleted", Step.EVICTED, changes.delete_placeholders, UNGUIDED, code=0),
    Case("placeholder deleted at once", Step.HELD, changes.delete_placeholders, [NOTHING], "placeholder"),
    Case(
        "nomination cleared", Step.NOMINATED, changes.clear_nomination, [ALL_LANDED], code=0, build=changes.unscheduled
    ),
    Case("placeholders forbidden", Step.BEFORE, changes.forbid_placeholders, [NOTHING], "made no pods"),
    Case("priority class gone", Step.BEFORE, changes.delete_class, [NOTHING], "made no pods", build=changes.with_class),
    Case("ledger marked", Step.EVICTED, changes.mark_ledger, [FIRST_ALONE], "rack 7"),
    Case("ledger marked at its number", Step.NUMBERED, changes.mark_ledger, [NOTHING], "rack 7"),
    Case("namespace of holds marked", Step.EVICTED, changes.mark_namespace, HALF_A_SECOND, "rack 7"),
    Case("another plan begins", Step.EVICTED, changes.begin_another_plan, [FIRST_ALONE], "takes the place of this one"),
    Case("ledger deleted", Step.EVICTED, changes.delete_ledger, [FIRST_ALONE], "was removed"),
    Case("ledger garbled", Step.EVICTED, changes.garble_ledger, [FIRST_ALONE], "no ledger that can be read"),
    Case(
        "replacements forbidden", Step.SENDING, changes.forbid_pods, [FIRST_UNKNOWN], "nothing has replaced", missing=1
    ),
    Case(
        "no node for the replacement",
        Step.SENDING,
        changes.cordon("a-0", "b-0", "c-0", "d-0"),
        [FIRST_UNKNOWN],
        pending=1,
    ),
    Case(
        "replacement never ready",
        Step.BOUND,
        lambda _: None,
        [UNREADY_FIRST],
        "is not ready",
        pending=1,
        build=UNREADY,
        options=("--timeout", "60s"),
    ),
    Case(
        "replacement cannot run",
        Step.BOUND,
        lambda _: None,
        [UNREADY_FIRST, FIRST_UNKNOWN],
        "cannot run on c-0",
        pending=1,
        build=built(annotations={CANNOT_PULL: "true"}),
    ),
    Case("replacement deleted", Step.BOUND, changes.delete_new, [ALL_LANDED], code=0, build=UNREADY),
)
IN_CI = ("pod anew", "destination relabelled")
