"""Arguments of RequestedToCapacityRatio: our own form, the scheduler's present one, and the legacy one of KEP-964."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from rescheduler.model.resources import CPU, MEMORY
from rescheduler.policy.policy_model import PolicyModel

LARGEST_WEIGHT: Final = 100


class ShapePoint(PolicyModel):
    """What a resource scores at one utilization."""

    utilization: Annotated[int, Field(ge=0, le=100)]
    """Percent."""
    score: Annotated[int, Field(ge=0, le=10)]
    """0 to 10."""


def _in_order(points: tuple[ShapePoint, ...]) -> tuple[ShapePoint, ...]:
    """Sort by utilization; two scores at one utilization are refused."""
    found = tuple(sorted(points, key=lambda point: point.utilization))
    for one, other in pairwise(found):
        if one.utilization == other.utilization:
            raise PydanticCustomError(
                "shape", "utilization {found} is given twice; give each once", {"found": one.utilization}
            )
    return found


def _rising(points: tuple[ShapePoint, ...]) -> tuple[ShapePoint, ...]:
    """As kube-scheduler, which sorts nothing."""
    for one, other in pairwise(points):
        if one.utilization >= other.utilization:
            raise PydanticCustomError(
                "shape",
                "utilization {later} stands after {earlier}; kube-scheduler wants it strictly increasing",
                {"later": other.utilization, "earlier": one.utilization},
            )
    return points


def _each_once(resources: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [item.resource_name for item in resources]
    for name in names:
        if names.count(name) > 1:
            raise PydanticCustomError("resources", "{name} is given twice; give it one weight", {"name": repr(name)})
    return resources


def _one_for_zero(weight: Any) -> Any:
    """The scheduler's default: a weight of 0 counts as not given."""
    return 1 if weight == 0 and isinstance(weight, int) and not isinstance(weight, bool) else weight


ResourceName: TypeAlias = Annotated[str, Field(min_length=1, max_length=317)]
ResourceWeight: TypeAlias = Annotated[int, BeforeValidator(_one_for_zero), Field(ge=1, le=LARGEST_WEIGHT)]
Points: TypeAlias = Annotated[tuple[ShapePoint, ...], Field(strict=False, min_length=1, max_length=101)]


class WeightedResource(PolicyModel):
    """A resource and what it counts."""

    name: ResourceName
    """As nodes list it."""
    weight: ResourceWeight = 1
    """1 to 100; 0 counts as 1."""

    @property
    def resource_name(self) -> str:
        """The resource."""
        return self.name


class LegacyResource(PolicyModel):
    """The same as the legacy form writes it."""

    resource: ResourceName
    """As nodes list it."""
    weight: ResourceWeight = 1
    """1 to 100; 0 counts as 1."""

    @property
    def resource_name(self) -> str:
        """The resource."""
        return self.resource


Resources: TypeAlias = Annotated[tuple[WeightedResource, ...], Field(strict=False), AfterValidator(_each_once)]
_DEFAULT_RESOURCES = (WeightedResource(name=CPU), WeightedResource(name=MEMORY))


class RequestedToCapacityRatioArguments(PolicyModel):
    """Our own form."""

    shape: Annotated[Points, AfterValidator(_in_order)] = (
        ShapePoint(utilization=0, score=0),
        ShapePoint(utilization=100, score=10),
    )
    """Points in any order."""
    resources: Resources = _DEFAULT_RESOURCES
    """What is scored; none: cpu and memory."""
    absent_resources: Literal["LeaveOut", "ScoreZero"] = "LeaveOut"
    """A resource that a node lacks leaves the mean, as the scheduler has it, or scores 0 in it (KEP-964)."""

    @property
    def weights(self) -> tuple[tuple[str, int], ...]:
        """Resources with their weights."""
        return tuple((item.name, item.weight) for item in self.resources or _DEFAULT_RESOURCES)

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        """Utilization and score of each point, utilization rising."""
        return tuple((point.utilization, point.score) for point in self.shape)


class RequestedToCapacityRatioParam(PolicyModel):
    """``scoringStrategy.requestedToCapacityRatio``."""

    shape: Annotated[Points, AfterValidator(_rising)]
    """Points with utilization strictly increasing."""


class ScoringStrategy(PolicyModel):
    """``scoringStrategy`` of NodeResourcesFitArgs, refused where kube-scheduler refuses it at start."""

    type: Literal["RequestedToCapacityRatio"]
    """The other strategies are NodeResourcesFit's own."""
    resources: Resources = ()
    """What is scored; none: cpu and memory."""
    requested_to_capacity_ratio: RequestedToCapacityRatioParam
    """The shape."""

    @property
    def arguments(self) -> RequestedToCapacityRatioArguments:
        """The same in our form."""
        return RequestedToCapacityRatioArguments(
            shape=self.requested_to_capacity_ratio.shape, resources=self.resources or _DEFAULT_RESOURCES
        )


class LegacyRatioArguments(PolicyModel):
    """``requestedToCapacityRatioArguments`` of the legacy Policy; points may stand in any order, as in KEP-964."""

    shape: Annotated[Points, AfterValidator(_in_order)]
    """Points in any order."""
    resources: Annotated[tuple[LegacyResource, ...], Field(strict=False), AfterValidator(_each_once)] = ()
    """What is scored; none: cpu and memory."""

    @property
    def arguments(self) -> RequestedToCapacityRatioArguments:
        """The same in our form."""
        resources = tuple(WeightedResource(name=item.resource, weight=item.weight) for item in self.resources)
        return RequestedToCapacityRatioArguments(shape=self.shape, resources=resources or _DEFAULT_RESOURCES)
