"""MakeRoom: pending pods get a place."""

from __future__ import annotations

from rescheduler.planning.objectives.make_room import MakeRoomAnswer, MakeRoomRequest, plan_make_room
from rescheduler.planning.objectives.make_room.groups import groups_helped_together
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.policy.fields.objectives import MakeRoomArgs

UNIT = "evictions"


def plan(request: PlanRequest, args: MakeRoomArgs) -> ObjectivePlan:
    """See ``plan_make_room``."""
    cluster = request.prediction.columns.cluster
    asked = MakeRoomRequest(
        prediction=request.prediction,
        placement=request.placement,
        eligibility=request.eligibility,
        is_guided_by_holds=request.is_guided_by_holds,
        deadline_seconds=request.deadline_seconds,
        seed=request.seed,
        clock=request.clock,
        progress=request.progress,
        prize=args.prize,
        all_or_nothing=args.all_or_nothing,
        together=groups_helped_together(cluster, args.together),
    )
    return answer_of(plan_make_room(asked))


def answer_of(answer: MakeRoomAnswer) -> ObjectivePlan:
    """The same in the form of every objective."""
    return ObjectivePlan(
        status=answer.status,
        value=answer.value,
        bound=answer.bound,
        unit=UNIT,
        message=answer.message,
        moves=answer.moves,
        placements=answer.placements,
        helped=answer.helped,
        wanted=answer.wanted,
        certificate=answer.certificate,
    )
