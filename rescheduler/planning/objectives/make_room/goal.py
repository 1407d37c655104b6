"""MakeRoom: pending pods get a place."""

from __future__ import annotations

from rescheduler.planning.objectives.make_room import MakeRoomAnswer, MakeRoomRequest, plan_make_room
from rescheduler.planning.objectives.make_room.groups import groups_helped_together
from rescheduler.planning.problem.plan_request import Answer, Question
from rescheduler.policy.fields.objectives import MakeRoomArgs

UNIT = "evictions"


def plan(question: Question, args: MakeRoomArgs) -> Answer:
    """See ``plan_make_room``."""
    cluster = question.prediction.columns.cluster
    asked = MakeRoomRequest(
        prediction=question.prediction,
        placement=question.placement,
        eligibility=question.eligibility,
        is_guided_by_holds=question.is_guided_by_holds,
        deadline_seconds=question.deadline_seconds,
        seed=question.seed,
        clock=question.clock,
        progress=question.progress,
        prize=args.prize,
        all_or_nothing=args.all_or_nothing,
        together=groups_helped_together(cluster, args.together),
    )
    return answer_of(plan_make_room(asked))


def answer_of(answer: MakeRoomAnswer) -> Answer:
    """The same in the form of every objective."""
    return Answer(
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
