"""What a filter or score says of itself beside its verdicts: how schedulers' configurations name, weigh and set it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, Self, cast

from rescheduler.extension_points import Filter, Score
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.model.usage.usage import Usage, UsageWindows, no_usage
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.scheduling.reading.fields import Fields, own_form
from rescheduler.scheduling.reading.metrics_source import ForeignMetrics

# The load watcher answers with its longest window that has data.
_WATCHER_WINDOWS = (900.0, 600.0, 300.0)
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
FIRST_FORMS: Final = ("v1alpha1", "v1alpha2", "v1beta1")
"""Versions of KubeSchedulerConfiguration that have a plugin for each strategy of NodeResourcesFit."""
SCORE_POINTS: Final = ("preScore", "score")
FILTER_POINTS: Final = ("preFilter", "filter")


class PluginSettings(NamedTuple):
    """What a configuration sets of one plugin.

    ``score``: None where it scores nothing; ``filter``: only of one that has arguments. ``weight``: of forms that write
    it among the arguments. ``profile``: fields of the configured profile that it decides. ``load_source`` in words and
    ``metrics`` as data: where the scheduler reads the load that it goes by.
    """

    score: SchedulerScore | None = None
    filter: SchedulerFilter | None = None
    weight: int = 0
    profile: Mapping[str, Any] = _NOTHING
    load_source: str = ""
    metrics: ForeignMetrics | None = None


class Priority(NamedTuple):
    """A score under its name in the legacy Policy, with the fields that it is set by."""

    name: str
    settings: Mapping[str, Any] = _NOTHING


class NodeOrder(NamedTuple):
    """A score of Volcano's nodeorder plugin: the argument with its weight, its name, default weight and fields."""

    argument: str
    name: str
    weight: int
    settings: Mapping[str, Any] = _NOTHING


class Surroundings(NamedTuple):
    """What scores may need beside their settings; ``windows`` None: no provider is set."""

    node_count: int
    server_version: str | None = None
    windows: UsageWindows | None = None
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    has_own_defaults: bool = False

    @property
    def usage(self) -> Usage:
        """The longest window of measured load that a load watcher would answer with."""
        found = (self.windows.over(seconds) for seconds in _WATCHER_WINDOWS) if self.windows else ()
        return next((usage for usage in found if usage is not None), None) or no_usage(self.node_count)


class SchedulerFilter(Filter):
    """A filter that schedulers' configurations can name; what a class leaves out is as it is for most.

    One of another package keeps its arguments in a field ``arguments``, a pydantic model with defaults.
    """

    is_static = False
    stands_at: ClassVar[tuple[str, ...]] = FILTER_POINTS
    """Extension points of kube-scheduler at which the plugin stands, beside those of the score of its name."""
    predicates: ClassVar[tuple[str, ...]] = ()
    """Names in the legacy Policy that switch it on."""
    volcano_switch: ClassVar[str] = ""
    """Argument of Volcano's predicates plugin that switches it off."""

    @classmethod
    def read(cls, fields: Fields) -> SchedulerFilter | None:
        """How ``args`` of ``pluginConfig`` set it; None for a filter without arguments."""
        arguments = getattr(cls.of(), "arguments", None)
        return cls.of(arguments=own_form(fields, type(arguments))) if isinstance(arguments, PolicyModel) else None

    @classmethod
    def of(cls, **settings: Any) -> Self:
        """The filter with these fields, others as they are by default."""
        return cast(Self, cast(Any, cls)(**settings))


class SchedulerScore(Score):
    """A score that schedulers' configurations can name; what a class leaves out is as it is for most.

    A class whose configuration has arguments keeps them in a field ``arguments``, a pydantic model with defaults.
    """

    stands_at: ClassVar[tuple[str, ...]] = ("score",)
    """Extension points of kube-scheduler at which the plugin stands, beside those of the filter of its name."""
    default_weight: ClassVar[int] = 1
    """What it counts in kube-scheduler's total where nothing else is written."""
    is_removed: ClassVar[bool] = False
    """Whether v1beta2 and later do not have it."""
    goes_by_load: ClassVar[bool] = False
    """Whether it goes by measured load."""
    inverts: ClassVar[bool] = False
    """Whether a smaller raw number is a higher score."""
    required: ClassVar[str] = ""
    """What its arguments must give, in words; without them it cannot score."""
    priorities: ClassVar[tuple[Priority, ...]] = ()
    """What the legacy Policy calls it."""
    legacy_argument: ClassVar[str] = ""
    """The field of ``argument`` by which the legacy Policy sets it."""
    node_order: ClassVar[tuple[NodeOrder, ...]] = ()
    """What Volcano's nodeorder plugin calls it."""

    @classmethod
    def default(cls) -> PluginSettings:
        """How it is set where ``pluginConfig`` does not name it."""
        return PluginSettings(cls.of())

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:  # noqa: ARG003 - for those whose forms differ
        """How ``args`` of ``pluginConfig`` set it, in a version (``v1``) of KubeSchedulerConfiguration."""
        if not isinstance(getattr(cls.of(), "arguments", None), PolicyModel):
            return cls.default()
        return PluginSettings(cls.of(arguments=cls.read_arguments(fields)))

    @classmethod
    def read_arguments(cls, fields: Fields) -> PolicyModel:
        """Its arguments, by the names of their model unless a scheduler has other names for them."""
        return own_form(fields, type(cast(PolicyModel, cast(Any, cls.of()).arguments)))

    @classmethod
    def read_volcano(cls, fields: Fields, interval_seconds: float) -> PluginSettings:  # noqa: ARG003
        """How the arguments of Volcano's plugin of this name set it; ``interval_seconds``: how old load may be."""
        return cls.default()

    @classmethod
    def read_legacy(cls, fields: Fields) -> SchedulerScore:  # noqa: ARG003 - most have no argument there
        """How its argument in the legacy Policy sets it."""
        return cls.of()

    @classmethod
    def of(cls, **settings: Any) -> Self:
        """The score with these fields, others as they are by default."""
        return cast(Self, cast(Any, cls)(**settings))

    def fitted(self, surroundings: Surroundings) -> Score:  # noqa: ARG002 - most need nothing
        """The score with what it needs beside its settings."""
        return self

    def with_hard_affinity(self, weight: int) -> SchedulerScore:  # noqa: ARG002 - InterPodAffinity's alone
        """The score with a weight of required pod affinity, which old forms write for the whole scheduler."""
        return self

    def raw(self, pod: int, columns: Columns) -> IntArray | None:  # noqa: ARG002 - most scores are no share
        """For a score that is a share of the largest number on any feasible node: these numbers, int64[N]."""
        return None

    @property
    def setting(self) -> str:
        """What ``check`` says of how it is set; empty where there is nothing to say."""
        arguments = getattr(self, "arguments", None)
        if not isinstance(arguments, PolicyModel):
            return ""
        written = arguments.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)
        written.pop("upstreamCompatible", None)
        return ", ".join(f"{name} {value}" for name, value in written.items() if not isinstance(value, dict))

    @property
    def weighed(self) -> tuple[str, ...]:
        """Resources that it looks at by name."""
        return ()
