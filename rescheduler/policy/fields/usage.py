"""``usage`` of a policy: where measured load comes from, how long it is kept, and when it is believed."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.policy.fields.metrics_access import Credential, FileName, Tls
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds, format_duration
from rescheduler.policy.plugins import known_in

MOST_SAMPLES = 8000
"""Of one node in one window; samples are held in memory."""
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
"""A fraction, 0 to 1."""


class Provider(PolicyModel):
    """One metrics provider."""

    name: Annotated[str, known_in("providers")]
    """Which one."""
    args: dict[str, Any] = Field(default_factory=dict)
    """Its arguments, such as ``address``; docs/load-watcher.md has them all."""


class UsageStorePolicy(PolicyModel):
    """The file that keeps samples over a restart."""

    path: FileName
    """A sqlite file; a relative one is relative to the policy's own folder."""
    keep: PositiveDurationSeconds = 3600.0
    """How long samples are kept, at least the longest window."""


class UsageTrust(PolicyModel):
    """When measured load is believed."""

    maximum_age: PositiveDurationSeconds = 300.0
    """Samples older than this, by the source's own time, are stale."""
    minimum_samples: Annotated[int, Field(ge=1, le=1000)] = 3
    """Samples that a window must hold."""
    coverage: Share = 0.9
    """Share of nodes, and of allocatable cpu, that must be trusted; below it nothing moves by usage."""
    minimum_node_age: PositiveDurationSeconds = 600.0
    """A node younger than this is not judged by its usage."""
    disagreement: Share = 0.2
    """Two providers that differ by more than this fraction of capacity make a node untrusted."""
    largest_drop: Share = 0.3
    """A fall of the whole cluster's usage by more than this from one sample to the next freezes usage for a window."""
    frozen_samples: Annotated[int, Field(ge=2, le=1000)] = 3
    """A node whose value has not changed for so many samples is frozen."""
    clock_skew: PositiveDurationSeconds = 30.0
    """A source whose clock differs by more than this from the local one is not believed."""


def _possible_port(text: str) -> str:
    if int(text.rpartition(":")[2]) > 65535:
        found = {"found": repr(text)}
        raise PydanticCustomError("port", "found {found}; wanted a port of at most 65535, such as 2020", found)
    return text


ListenAddress: TypeAlias = Annotated[
    str,
    Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[-.a-zA-Z0-9]*):[0-9]{1,5}$", max_length=280),
    AfterValidator(_possible_port),
]
"""HOST:PORT; without a host every address of the machine, port 0 any free one."""


class WatcherApi(PolicyModel):
    """The load watcher's REST server; loopback only unless it is protected."""

    address: ListenAddress = "127.0.0.1:2020"
    """HOST:PORT to listen on; 2020 is the port that load watcher clients expect."""
    bearer_token: Credential | None = None
    """Clients must send this token."""
    tls: Tls | None = None
    """The API's certificate (certFile, keyFile); with caFile clients must show one too."""


class UsagePolicy(PolicyModel):
    """Measured load."""

    providers: Annotated[tuple[Provider, ...], Field(max_length=8)] = ()
    """The first that answers is used; further ones corroborate it. None: requests stand in for usage."""
    interval: PositiveDurationSeconds = 15.0
    """Time between samples of the nodes."""
    pod_interval: PositiveDurationSeconds = 60.0
    """Time between samples of the pods."""
    windows: Annotated[tuple[PositiveDurationSeconds, ...], Field(min_length=1, max_length=10)] = (300.0, 600.0, 900.0)
    """Windows over which usage is judged."""
    store: UsageStorePolicy | None = None
    """Where samples are kept over a restart. None: in memory only."""
    trust: UsageTrust = UsageTrust()
    """When usage is believed."""
    api: WatcherApi = WatcherApi()
    """The REST server of ``rescheduler watcher``."""

    @model_validator(mode="after")
    def _fitting_times(self) -> UsagePolicy:
        longest = max(self.windows)
        shown = {
            "interval": format_duration(self.interval),
            "shortest": format_duration(min(self.windows)),
            "longest": format_duration(longest),
            "keep": "" if self.store is None else format_duration(self.store.keep),
        }
        if len(set(self.windows)) < len(self.windows):
            raise PydanticCustomError("windows", "windows names one length twice; write each once")
        if self.interval > min(self.windows):
            text = (
                "interval {interval} is longer than the shortest window, {shortest}; no window would hold two samples"
            )
            raise PydanticCustomError("interval", text, shown)
        if longest > 86400:
            raise PydanticCustomError("windows", "the window {longest} is longer than 24h; keep it at most 24h", shown)
        if longest > MOST_SAMPLES * min(self.interval, self.pod_interval):
            text = (
                f"the window {{longest}} holds more than {MOST_SAMPLES} samples; keep it shorter, or sample less often"
            )
            raise PydanticCustomError("windows", text, shown)
        if self.store is not None and self.store.keep < longest:
            text = "store.keep {keep} is shorter than the longest window, {longest}; keep at least that long"
            raise PydanticCustomError("keep", text, shown)
        return self
