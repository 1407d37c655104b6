"""Selectors as policies write them: of pods by their labels, of nodes by theirs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from rescheduler.policy.labels import LabelKey, Labels, LabelValue
from rescheduler.policy.policy_model import PolicyModel

_FORMS = ("matchLabels", "matchExpressions", "match_labels", "match_expressions")


class LabelSelectorRequirement(PolicyModel):
    """One rule of a label selector, as in Kubernetes."""

    key: LabelKey
    """Key of the label."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    """How the label's value is compared with ``values``."""
    values: Annotated[tuple[LabelValue, ...], Field(strict=False)] = ()
    """Values for In and NotIn; empty for Exists and DoesNotExist."""

    @model_validator(mode="after")
    def _values_suit_the_operator(self) -> LabelSelectorRequirement:
        wants_values = self.operator in ("In", "NotIn")
        if wants_values != bool(self.values):
            raise PydanticCustomError(
                "selector_rule",
                "{operator} {wants} values; {advice}",
                {
                    "operator": self.operator,
                    "wants": "needs" if wants_values else "takes no",
                    "advice": "write values: [...] with at least one" if wants_values else "leave values out",
                },
            )
        return self


class PolicySelector(PolicyModel):
    """A label selector as in Kubernetes; empty selects everything within the scope it narrows."""

    match_labels: Labels = Field(default_factory=dict)
    """Labels that must be there with just these values."""
    match_expressions: Annotated[tuple[LabelSelectorRequirement, ...], Field(strict=False)] = ()
    """Rules that must all hold."""


class NodeSelector(PolicySelector):
    """Labels of nodes: a plain map ``{label: value}`` as in a pod's nodeSelector, or a label selector."""

    @model_validator(mode="before")
    @classmethod
    def _plain_map(cls, value: Any) -> Any:
        if isinstance(value, dict) and value and not any(form in value for form in _FORMS):
            return {"matchLabels": value}
        return value

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Both forms that are read."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        plain = {
            "type": "object",
            "propertyNames": {"not": {"enum": ["matchLabels", "matchExpressions"]}},
            "additionalProperties": {"type": "string"},
        }
        return {"anyOf": [{**schema, "title": "Selector"}, {**plain, "title": "Labels"}], "title": "NodeSelector"}
