"""What each objective of a policy takes as arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError

from rescheduler.model.objects.resources import QuantityError, Resources, requested_amount, resources
from rescheduler.model.printable import printable, shown
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.selectors import LabelKey, NodeSelector, PolicySelector
from rescheduler.policy.fields.values import LARGEST_COUNT, SHARE_SCHEMA, NamespaceName, Share, fraction

ObjectiveName: TypeAlias = Literal[
    "MakeRoom", "EmptyNodes", "SpreadLoad", "SeparateAntagonists", "Defragment", "FaultDomains", "SchedulerScore"
]
ANTAGONISTS_LABEL: Final = "rescheduler.dev/antagonists"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
STATISTIC: Final = re.compile(r"mean(\+(\d{1,3}(\.\d{1,6})?)\*std)?|p(50|90|95|99)", re.ASCII)

HIGHEST_AMOUNT: Final = 1e12
Amount: TypeAlias = Annotated[float, Field(ge=0, le=HIGHEST_AMOUNT)]
"""A price, 0 or more."""


class MakeRoomArgs(PolicyModel):
    """Give pending pods a place by moving the fewest running pods."""

    prize: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """Evictions that helping one pod is worth; left out: any number."""
    all_or_nothing: bool = False
    """Help all pending pods or none."""
    together: LabelKey | None = None
    """Pending pods of one namespace with the same value of this label are helped all or none; those of one PodGroup
    (scheduling.x-k8s.io/pod-group) always are."""


def _price(value: Any) -> Any:
    """A label's name, or a table by instance type, in the long form."""
    if isinstance(value, str):
        return {"label": value}
    if isinstance(value, dict) and value and not {"label", "table", "default"}.intersection(value):
        return {"table": value}
    return value


class NodePrice(PolicyModel):
    """What a node costs: the number in its ``label``, or what ``table`` says of the label's value."""

    label: LabelKey = INSTANCE_TYPE
    """Label of nodes; with a table its value is looked up there, without one it is the price itself."""
    table: dict[str, Amount] = Field(default_factory=dict)
    """Price by the label's value."""
    default: Amount = 1.0
    """Price of a node that has no such label, or whose value is not in the table."""

    def of(self, labels: Mapping[str, str]) -> float:
        """What a node with these labels costs."""
        text = labels.get(self.label)
        if text is None:
            return self.default
        if self.table:
            return self.table.get(text, self.default)
        try:
            number = float(text)
        except ValueError:
            return self.default
        return number if 0 <= number <= HIGHEST_AMOUNT else self.default

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The three forms that are read."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        names = {"not": {"enum": ["label", "table", "default"]}}
        table = {"type": "object", "minProperties": 1, "propertyNames": names}
        table["additionalProperties"] = {"type": "number", "minimum": 0, "maximum": HIGHEST_AMOUNT}
        return {"anyOf": [schema, {"type": "string", "minLength": 1, "maxLength": 317}, table]}


class EmptyNodesArgs(PolicyModel):
    """Empty as many nodes, or as much of their price, as possible."""

    node_selector: NodeSelector = NodeSelector()
    """Only nodes with these labels are emptied; left out: any."""
    price: Annotated[NodePrice, BeforeValidator(_price)] | None = None
    """Save the most cost in place of the most nodes: a label whose value is the price, or a table of prices by a
    label's value (the instance type if none is named)."""
    max_nodes: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] | None = None
    """At most so many nodes are emptied in one plan; left out: as many as can be."""


def _statistic(text: str) -> str:
    if STATISTIC.fullmatch(text.replace(" ", "")) is None:
        found = {"found": repr(printable(text, 40))}
        raise PydanticCustomError("statistic", "found {found}; wanted mean, mean+2*std, p50, p90, p95 or p99", found)
    return text.replace(" ", "")


Statistic: TypeAlias = Annotated[str, AfterValidator(_statistic)]
"""How load over a window becomes one number."""


class OverMean(PolicyModel):
    """A target by the mean of all nodes."""

    over_mean: Share
    """Added to the mean share that nodes use when the plan is made."""


def _target(value: Any) -> float | OverMean:
    """A fraction of allocatable, or so much above the mean."""
    if not isinstance(value, dict):
        return fraction(value)
    if set(value) != {"overMean"}:
        keys = ", ".join(sorted(map(str, value))) or "nothing"
        raise PydanticCustomError(
            "target", "found a map of {keys}; write a share such as 70%, or {form}",
            {"keys": printable(keys, 60), "form": "{overMean: 10%}"},
        )  # fmt: skip
    try:
        return OverMean.model_validate({"overMean": value["overMean"]})
    except ValidationError:
        found = {"found": shown(value["overMean"])}
        raise PydanticCustomError(
            "target", "overMean: found {found}; write a share such as 0.1 or 10%", found
        ) from None


Target: TypeAlias = Annotated[
    float | OverMean,
    PlainValidator(_target),
    PlainSerializer(
        lambda told: {"overMean": told.over_mean} if isinstance(told, OverMean) else told, when_used="json"
    ),
    WithJsonSchema(
        {
            "oneOf": [
                *SHARE_SCHEMA["oneOf"],
                {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["overMean"],
                    "properties": {"overMean": SHARE_SCHEMA},
                },
            ]
        }
    ),
]
"""A share of allocatable, or so much above the mean of all nodes."""


def _named(target: dict[str, float | OverMean]) -> dict[str, float | OverMean]:
    if "" in target:
        raise PydanticCustomError("target", "a share has no resource before it; write cpu: 70%")
    return target


class SpreadLoadArgs(PolicyModel):
    """Bring the load of nodes below a target."""

    target: Annotated[dict[str, Target], Field(min_length=1, max_length=16), AfterValidator(_named)] = Field(
        default_factory=lambda: dict[str, float | OverMean]({"cpu": 0.7, "memory": 0.8}),
        json_schema_extra={"default": {"cpu": 0.7, "memory": 0.8}},
    )
    """For each resource the fraction of allocatable above which a node is overloaded; or ``{overMean: 10%}``, so much
    above the mean of the nodes when the plan is made."""
    statistic: Statistic = "mean"
    """How load over the window is judged: mean, mean+K*std, p50, p90, p95 or p99."""

    @property
    def is_told_by_mean(self) -> bool:
        """Whether a target waits for the mean of the nodes."""
        return any(isinstance(told, OverMean) for told in self.target.values())

    @property
    def shares(self) -> dict[str, float]:
        """The targets that are numbers."""
        return {resource: told for resource, told in self.target.items() if not isinstance(told, OverMean)}


def _expiry(text: str) -> str:
    try:
        if datetime.fromisoformat(text).tzinfo is not None:
            return text
    except ValueError:
        pass
    raise PydanticCustomError(
        "time", "found {found}; wanted a time such as 2030-01-31T12:00:00Z", {"found": repr(printable(text, 40))}
    )


class AntagonistSet(PolicyModel):
    """Pods that must not share a node."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Shown in reports."""
    namespaces: tuple[NamespaceName, ...] = ()
    """Only pods of these namespaces; left out: of all."""
    members: Annotated[tuple[PolicySelector, ...], Field(min_length=1, max_length=32)]
    """One selector: its pods keep apart from each other. Several: pods of different ones keep apart."""
    expires: Annotated[str, AfterValidator(_expiry)] | None = None
    """From this time on the set says nothing."""


def _names_once(sets: tuple[AntagonistSet, ...]) -> tuple[AntagonistSet, ...]:
    seen: set[str] = set()
    for name in (each.name for each in sets):
        if name in seen:
            found = {"name": repr(printable(name, 60))}
            raise PydanticCustomError("doubled_set", "{name} is the name of two sets; give each its own", found)
        seen.add(name)
    return sets


class SeparateAntagonistsArgs(PolicyModel):
    """Separate pods that disturb each other."""

    sets: Annotated[tuple[AntagonistSet, ...], Field(max_length=256), AfterValidator(_names_once)] = ()
    """Sets of pods that must not share a node."""
    label: LabelKey = ANTAGONISTS_LABEL
    """Pods with the same value of this label keep apart, in whatever namespace."""


class Shape(PolicyModel):
    """A pod whose place is wanted: what it requests."""

    resources: Annotated[dict[str, str], Field(min_length=1, max_length=32)]
    """Quantity by resource."""
    weight: Annotated[float, Field(gt=0, le=1e9)] = 1.0
    """What one more of them is worth."""

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, value: Any) -> Any:
        """``{cpu: "16", weight: 2}`` is read like ``{resources: {cpu: "16"}, weight: 2}``."""
        if not isinstance(value, dict) or "resources" in value:
            return value
        amounts = {name: _quantity(amount) for name, amount in value.items() if name != "weight"}
        return {"resources": amounts} | ({"weight": value["weight"]} if "weight" in value else {})

    @property
    def requests(self) -> Resources:
        """Amounts by resource, in millicores, bytes and pieces."""
        return resources((name, requested_amount(name, text)) for name, text in self.resources.items())

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Both forms that are read."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        amount = {"anyOf": [{"type": "string"}, {"type": "number", "exclusiveMinimum": 0}]}
        flat = {"type": "object", "minProperties": 1, "propertyNames": {"not": {"const": "resources"}}}
        return {"anyOf": [schema, {**flat, "additionalProperties": amount}]}

    @model_validator(mode="after")
    def _amounts(self) -> Shape:
        for name, text in self.resources.items():
            found = {"name": printable(name, 60), "found": repr(printable(text, 40))}
            if not name:
                raise PydanticCustomError("quantity", "{found} has no resource before it; write cpu: {found}", found)
            try:
                amount = requested_amount(name, text)
            except QuantityError as error:
                raise PydanticCustomError("quantity", "{name}: {why}", {**found, "why": str(error)}) from None
            if not amount:
                raise PydanticCustomError("quantity", "{name}: found {found}; wanted a quantity above 0", found)
        return self


def _quantity(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


class DefragmentArgs(PolicyModel):
    """Make room for as many further pods of some shapes as possible."""

    shapes: Annotated[tuple[Shape, ...], Field(min_length=1, max_length=16)]
    """Shapes of pods, such as {cpu: "16"} or {nvidia.com/gpu: "1"}, each with a weight."""


class FaultDomainsArgs(PolicyModel):
    """Repair violations of spread and affinity that arose after pods were placed."""


class SchedulerScoreArgs(PolicyModel):
    """Move pods to nodes that their scheduler scores higher."""

    minimum_gain: Annotated[float, Field(gt=0, le=1e9)] = 10.0
    """Points of the scheduler's total score that one move must gain."""


ARGUMENTS: Final[Mapping[str, type[PolicyModel]]] = {
    "MakeRoom": MakeRoomArgs,
    "EmptyNodes": EmptyNodesArgs,
    "SpreadLoad": SpreadLoadArgs,
    "SeparateAntagonists": SeparateAntagonistsArgs,
    "Defragment": DefragmentArgs,
    "FaultDomains": FaultDomainsArgs,
    "SchedulerScore": SchedulerScoreArgs,
}
"""The arguments of each objective, by its name."""
