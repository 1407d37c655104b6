"""Disruption budgets of a policy: how many pods at once, how many in a sliding window of time, and at what times."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from rescheduler.model.printable import shown
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.selectors import PolicySelector
from rescheduler.policy.fields.values import (
    LARGEST_COUNT,
    CountOrShare,
    CountOrUnlimited,
    NamespaceName,
    PositiveDurationSeconds,
    format_duration,
)
from rescheduler.policy.fields.windows import Schedule, TimeZoneName, Window, WindowType, check_window

SHORTEST_RATE_SECONDS = 60.0
HOUR_SECONDS = 3600.0
DAY_SECONDS = 86400.0
LONGEST_RATE_SECONDS = 7 * DAY_SECONDS
RATES_NAME = "disruption.rates"
"""Messages call the budgets that stand by default by their fields."""


class SloForm(StrEnum):
    """The three forms of a disruption objective that the rescheduler's design of 2015 names."""

    GLOBAL_RATE = "GlobalRate"
    SELECTOR_RATE = "SelectorRate"
    SELECTOR_MAX_DOWN = "SelectorMaxDown"


class Per(StrEnum):
    """For what a budget's numbers are counted: once for all its pods, or once for each of these."""

    CLUSTER = "Cluster"
    NODE = "Node"
    ZONE = "Zone"
    NAMESPACE = "Namespace"
    WORKLOAD = "Workload"


def _selects_something(selector: PolicySelector) -> PolicySelector:
    if not selector.match_labels and not selector.match_expressions:
        raise PydanticCustomError("selects_nothing", "selects nothing; leave it out to mean all pods")
    return selector


def _rate_window(seconds: float) -> float:
    if not SHORTEST_RATE_SECONDS <= seconds <= LONGEST_RATE_SECONDS:
        raise PydanticCustomError(
            "rate_window", "found {found}; a rate is counted over 1m to 168h", {"found": format_duration(seconds)}
        )
    return seconds


def _name(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise PydanticCustomError("budget_name", "found {found}; wanted a plain text", {"found": shown(text)})
    return text


BudgetName: TypeAlias = Annotated[str, Field(min_length=1, max_length=63), AfterValidator(_name)]
"""A short text for messages."""
PodSelector: TypeAlias = Annotated[PolicySelector, AfterValidator(_selects_something)]
"""A label selector with at least one rule."""


class Rate(PolicyModel):
    """At most so many evictions in any window of this length."""

    max_evictions: Annotated[int, Field(ge=0, le=LARGEST_COUNT)]
    """Evictions that were sent, whatever became of them, unless they were refused."""
    window: Annotated[PositiveDurationSeconds, AfterValidator(_rate_window)]
    """The window's length, from 1m to 168h; it slides, and restarts do not empty it."""


class Budget(PolicyModel):
    """One budget. Of several that cover a pod the strictest holds; none allows what another limit forbids."""

    name: BudgetName | None = None
    """For messages; left out: its place in the list, from 1."""
    slo: SloForm | None = None
    """The form that this budget is meant to have; other fields must fit it."""
    namespaces: Annotated[tuple[NamespaceName, ...], Field(min_length=1)] | None = None
    """Only pods of these namespaces; left out: of all."""
    label_selector: PodSelector | None = None
    """Only pods with these labels; left out: all."""
    per: Per = Per.CLUSTER
    """Counted once for all these pods, or for each node, zone, namespace or workload apart."""
    max_unavailable: CountOrShare | None = None
    """Pods that may be unready at once, whoever made them so: a number, or a share of the pods (rounded down)."""
    max_moving: CountOrShare | None = None
    """Pods that may be on the move at once by its own evictions: a number, or a share of the pods (rounded down)."""
    rate: Rate | None = None
    """Evictions in a sliding window."""
    windows: Annotated[tuple[Window, ...], Field(min_length=1, max_length=32)] | None = None
    """When these pods may be moved: in some Allow window if there are any, and in no Freeze window."""
    schedule: Schedule | None = None
    """Short for one Allow window: when it opens."""
    duration: PositiveDurationSeconds | None = None
    """Short for one Allow window: how long it stays open."""
    time_zone: TimeZoneName | None = None
    """Short for one Allow window: the time zone of ``schedule``."""

    @property
    def counts_pods(self) -> bool:
        """Whether what it allows depends on how many pods there are, or are ready."""
        return self.max_unavailable is not None or isinstance(self.max_moving, str)

    @property
    def all_windows(self) -> tuple[Window, ...]:
        """Windows, the short form written out."""
        if self.schedule is None or self.duration is None or self.time_zone is None:
            return self.windows or ()
        short = Window(type=WindowType.ALLOW, schedule=self.schedule, duration=self.duration, time_zone=self.time_zone)
        return (short,)

    @model_validator(mode="after")
    def _is_whole(self) -> Budget:
        for problem in (*self._wrong_windows(), *self._missing_limits(), *self._unlike_its_form()):
            raise PydanticCustomError("budget", "{problem}", {"problem": problem})
        if self.schedule is not None and self.duration is not None:
            check_window(self.schedule, self.duration)
        return self

    def _wrong_windows(self) -> Iterator[str]:
        short = {"schedule": self.schedule, "duration": self.duration, "timeZone": self.time_zone}
        missing = [name for name, value in short.items() if value is None]
        if 0 < len(missing) < len(short):
            given = " and ".join(name for name in short if name not in missing)
            yield f"has {given}, but no {' and no '.join(missing)}; a window needs all three"
        if self.windows is not None and not missing:
            yield "has windows, and one more in its short form; write that one under windows too"

    def _missing_limits(self) -> Iterator[str]:
        if (self.max_unavailable, self.max_moving, self.rate, self.windows, self.schedule) == (None,) * 5:
            yield "limits nothing; write maxUnavailable, maxMoving, rate or windows"

    def _unlike_its_form(self) -> Iterator[str]:
        """What the named form asks for and is not there, or is there and does not belong to it."""
        if self.slo is None:
            return
        given = {
            "namespaces": self.namespaces is not None,
            "labelSelector": self.label_selector is not None,
            "maxUnavailable": self.max_unavailable is not None,
            "maxMoving": self.max_moving is not None,
            "rate": self.rate is not None,
            f"per: {self.per.value}": self.per is not Per.CLUSTER,
        }
        wanted, possible, meaning = _FORMS[self.slo]
        wrong = [f"no {name}" for name in wanted if not given[name]]
        wrong += [name for name, is_given in given.items() if is_given and name not in (*wanted, *possible)]
        if wrong:
            yield f"{self.slo.value} is {meaning}; this has {', '.join(wrong)}"


_FORMS: dict[SloForm, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    SloForm.GLOBAL_RATE: (("rate",), (), "a rate across all pods"),
    SloForm.SELECTOR_RATE: (
        ("labelSelector", "rate"),
        ("namespaces",),
        "a rate across the pods that a labelSelector selects",
    ),
    SloForm.SELECTOR_MAX_DOWN: (
        ("labelSelector", "maxUnavailable"),
        ("namespaces",),
        "the most pods down at once among those that a labelSelector selects (maxUnavailable)",
    ),
}
"""Of each form: fields that it needs, fields that it may have, and what it means. Windows go with every form."""


def unlike_names(budgets: tuple[Budget, ...]) -> tuple[Budget, ...]:
    """The budgets themselves. Raises PydanticCustomError where two have one name."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names_of(budgets), start=1):
        if name in seen:
            context = {"name": name, "first": seen[name], "second": number}
            raise PydanticCustomError(
                "doubled_budget", "budgets {first} and {second} of the list are both named {name}; rename one", context
            )
        seen[name] = number
    return budgets


def names_of(budgets: tuple[Budget, ...]) -> tuple[str, ...]:
    """What messages call each budget."""
    return tuple(budget.name or str(number) for number, budget in enumerate(budgets, start=1))


Budgets: TypeAlias = Annotated[tuple[Budget, ...], Field(max_length=64), AfterValidator(unlike_names)]
"""All budgets of a policy."""


class Rates(PolicyModel):
    """Budgets that stand under ``run`` unless a policy says otherwise; those that it writes bind every command."""

    per_hour: CountOrUnlimited = 20
    """Evictions in any hour, of all pods; ``unlimited``: no such budget."""
    per_day: CountOrUnlimited = 100
    """Evictions in any 24 hours, of all pods; ``unlimited``: no such budget."""
    per_workload_per_hour: CountOrUnlimited = 2
    """Evictions in any hour, of the pods of one workload; ``unlimited``: no such budget."""

    def budgets(self, *, with_defaults: bool) -> tuple[Budget, ...]:
        """Those of them that limit something; without the defaults: that the policy writes."""
        found = (
            ("per_hour", self.per_hour, Per.CLUSTER, HOUR_SECONDS),
            ("per_day", self.per_day, Per.CLUSTER, DAY_SECONDS),
            ("per_workload_per_hour", self.per_workload_per_hour, Per.WORKLOAD, HOUR_SECONDS),
        )
        return tuple(
            Budget(name=f"{RATES_NAME}.{to_camel(field)}", per=per, rate=Rate(max_evictions=number, window=window))
            for field, number, per, window in found
            if number is not None and (with_defaults or field in self.model_fields_set)
        )
