"""Selectors as policies write them: of pods by their labels, of nodes by theirs."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from rescheduler.model.label_selector_text import LABEL_KEY, LABEL_VALUE
from rescheduler.model.printable import shown
from rescheduler.policy.fields.policy_model import PolicyModel

# Keys and values of labels as Kubernetes admits them: a selector with any other could never mean what it says.

_KEY: Final = re.compile(LABEL_KEY)
_VALUE: Final = re.compile(LABEL_VALUE)


def label_key(text: str) -> str:
    """The key itself. Raises PydanticCustomError for what no object can have."""
    if _KEY.fullmatch(text) is None:
        found = {"found": shown(text)}
        raise PydanticCustomError(
            "label_key", "no label has the key {found}; write it like app or example.com/team", found
        )
    return text


def label_value(text: str) -> str:
    """The value itself. Raises PydanticCustomError for what no object can have."""
    if _VALUE.fullmatch(text) is None:
        wanted = "63 letters, digits, -, _ and . at most, a letter or digit at both ends"
        raise PydanticCustomError(
            "label_value", "no label has the value {found}; wanted {wanted}", {"found": shown(text), "wanted": wanted}
        )
    return text


def _labels(found: dict[str, str]) -> dict[str, str]:
    return {label_key(key): label_value(value) for key, value in found.items()}


LabelKey: TypeAlias = Annotated[str, Field(min_length=1, max_length=317), AfterValidator(label_key)]
"""Key of a label, with or without a prefix."""
LabelValue: TypeAlias = Annotated[str, AfterValidator(label_value)]
"""Value of a label, which may be empty."""
Labels: TypeAlias = Annotated[dict[str, str], AfterValidator(_labels)]
"""Labels by key."""


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

    @property
    def keys(self) -> frozenset[str]:
        """Of the labels that it asks about."""
        return frozenset([*self.match_labels, *(rule.key for rule in self.match_expressions)])


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
