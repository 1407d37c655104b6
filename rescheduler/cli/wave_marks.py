"""Waves whose pods leave before they arrive, as a plan file marks them: in its list of waves, or on each move."""

from __future__ import annotations

from msgspec import UNSET, structs

from rescheduler.cli.plan_file_errors import PlanFileError
from rescheduler.model.plan import Plan, marked_waves


def with_marks_of_waves(plan: Plan) -> Plan:
    """The plan with its marks on the moves and in the list alike. Raises PlanFileError where they contradict."""
    listed = _listed(plan)
    first: dict[int, tuple[int, bool]] = {}
    for number, move in enumerate(plan.moves):
        where = f"moves[{number}].evictFirst"
        is_marked = bool(move.evict_first)
        if move.wave in listed:
            said = listed[move.wave]
            if move.evict_first is not UNSET and is_marked != said:
                raise PlanFileError(
                    f"{where}: found {_json(is_marked)}; the list of waves says {_json(said)} of wave {move.wave}"
                )
            is_marked = said
        earlier, said = first.setdefault(move.wave, (number, is_marked))
        if is_marked != said:
            raise PlanFileError(
                f"{where}: found {_json(is_marked)}; wanted {_json(said)} as in moves[{earlier}] of the same wave, "
                "whose pods leave first all or none"
            )
    moves = tuple(
        structs.replace(move, evict_first=True, needs_guidance=True)
        if first[move.wave][1]
        else structs.replace(move, evict_first=UNSET)
        for move in plan.moves
    )
    return structs.replace(plan, moves=moves, waves=marked_waves(moves))


def _listed(plan: Plan) -> dict[int, bool]:
    """What the list of waves says, by wave."""
    listed: dict[int, bool] = {}
    known = {move.wave for move in plan.moves}
    for number, item in enumerate(plan.waves or ()):
        where = f"waves[{number}].wave"
        if item.wave in listed:
            raise PlanFileError(f"{where}: wave {item.wave} stands twice")
        if item.wave not in known:
            raise PlanFileError(f"{where}: found {item.wave}, and no move is in that wave")
        listed[item.wave] = item.evict_first
    return listed


def _json(value: bool) -> str:
    return "true" if value else "false"
