"""Make room: pending pods get a place by the fewest evictions, with a proof."""

from rescheduler.planning.objectives.make_room.planner import plan_make_room
from rescheduler.planning.objectives.make_room.request import MakeRoomAnswer, MakeRoomRequest

__all__ = ["MakeRoomAnswer", "MakeRoomRequest", "plan_make_room"]
