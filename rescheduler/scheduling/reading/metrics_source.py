"""Where other schedulers' own files say that load is measured, turned into ``usage.providers`` to offer.

Nothing is connected by itself, and no credential of such a file is kept: it stands there for another program, and a
policy names files and Secrets only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from pydantic import TypeAdapter, ValidationError

from rescheduler.model.printable import printable
from rescheduler.policy.fields.metrics_access import HttpAddress
from rescheduler.policy.fields.usage import Provider
from rescheduler.policy.fields.values import format_duration, parse_duration

_VOLCANO_INTERVAL: Final = 30.0
_METRICBEAT: Final = "metricbeat-*"
_HOST_FIELD: Final = "host.hostname"
_TRIMARAN_PROMETHEUS: Final = "http://prometheus-k8s:9090"
_SIGNALFX: Final = "https://api.signalfx.com"
_ADDRESS: Final[TypeAdapter[str]] = TypeAdapter(HttpAddress)


@dataclass(frozen=True)
class ForeignMetrics:
    """One source of load as a scheduler's file names it.

    ``kind``: as the file writes it. ``has_credential``: one stands in the file, or in the address.
    ``skips_verification``: the scheduler accepts any certificate, by the file or (``is_default``) by itself.
    """

    scheduler: str
    kind: str
    address: str = ""
    skips_verification: bool = False
    is_default: bool = False
    username: str = ""
    has_credential: bool = False
    index: str = ""
    host_field: str = ""
    interval_seconds: float | None = None
    watcher_address: str = ""


@dataclass(frozen=True)
class Offer:
    """Entries of ``usage.providers``, ``usage.interval`` where the file sets one, and what the operator should know."""

    providers: tuple[Provider, ...] = ()
    interval_seconds: float | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The policy's field as it would be written, on one line; "" where nothing can be offered."""
        if not self.providers:
            return ""
        interval = "" if self.interval_seconds is None else f", interval: {format_duration(self.interval_seconds)}"
        entries = [one.model_dump(by_alias=True, exclude_defaults=True) for one in self.providers]
        return f"usage: {{providers: {json.dumps(entries)}{interval}}}"


def volcano_metrics(values: Mapping[str, str]) -> ForeignMetrics | None:
    """Volcano's ``metrics`` block by its flat names; None for a kind that Volcano does not know.

    As Volcano, a truth value is the text ``true`` and nothing else. Its design's basic auth, which its code never
    reads, counts as a credential; the block's interval is 30s where it is no duration.
    """
    written = values.get("type", "")
    kind = {"": "prometheus", "prometheus_adapt": "prometheus_adaptor"}.get(written, written)
    if kind not in ("prometheus", "prometheus_adaptor", "elasticsearch"):
        return None
    group = "elasticsearch." if kind == "elasticsearch" else ""
    address, is_cleared = _cleared(values.get("address", ""))
    return ForeignMetrics(
        "Volcano",
        kind,
        address,
        skips_verification=values.get("tls.insecureSkipVerify") == "true",
        username=printable(values.get(f"{group}username", ""), 250),
        has_credential=is_cleared or bool(values.get(f"{group}password")),
        index=values.get("elasticsearch.index") or _METRICBEAT,
        host_field=values.get("elasticsearch.hostnameFieldName") or _HOST_FIELD,
        interval_seconds=_interval(values.get("interval")),
    )


def trimaran_metrics(provider: Mapping[str, Any], watcher_address: object = "") -> ForeignMetrics:
    """``metricProvider`` and ``watcherAddress`` of a load-aware plugin; wrong types count as left out.

    A truth value is true or false: kube-scheduler refuses a text. Left out, the plugins verify no certificate.
    """
    address, is_cleared = _cleared(_text(provider.get("address")))
    written = provider.get("insecureSkipVerify")
    return ForeignMetrics(
        "the scheduler",
        _text(provider.get("type")) or "KubernetesMetricsServer",
        address,
        skips_verification=written if isinstance(written, bool) else True,
        is_default=not isinstance(written, bool),
        has_credential=is_cleared or bool(provider.get("token")),
        watcher_address=_cleared(_text(watcher_address))[0],
    )


def offer_of(found: ForeignMetrics) -> Offer:
    """What to write into a policy so that load is read from the same source."""
    warnings: list[str] = []
    make = _MAKERS.get(found.kind)
    if found.watcher_address:
        warnings.append(
            f"{found.scheduler} reads a load watcher at {printable(found.watcher_address, 250)}; name the source "
            "behind it under usage.providers, and point watcherAddress at `rescheduler watcher` for the same figures"
        )
    elif make is None:
        warnings.append(f"{found.scheduler} reads {printable(found.kind, 60)}, for which there is no provider")
    entry = None if make is None or found.watcher_address else make(found, warnings)
    return Offer(() if entry is None else (entry,), found.interval_seconds, tuple(warnings))


def _prometheus(found: ForeignMetrics, warnings: list[str]) -> Provider | None:
    default = _TRIMARAN_PROMETHEUS if found.scheduler != "Volcano" else ""
    _warn_credential(found, "basicAuth or bearerToken", warnings)
    return _http("Prometheus", found, default, {}, warnings)


def _elasticsearch(found: ForeignMetrics, warnings: list[str]) -> Provider | None:
    further = {"index": found.index, "hostField": found.host_field}
    defaults = {"index": _METRICBEAT, "hostField": _HOST_FIELD}
    _warn_credential(found, "basicAuth or apiKey", warnings)
    kept = {name: value for name, value in further.items() if value != defaults[name]}
    return _http("Elasticsearch", found, "", {"cpuFields": [_VOLCANO_CPU], **kept}, warnings)


def _signalfx(found: ForeignMetrics, warnings: list[str]) -> Provider | None:
    where = "" if found.address in ("", _SIGNALFX) else f"address: {printable(found.address, 250)}, "
    warnings.append(
        f"{found.scheduler} reads SignalFx, which needs a token from a file: write usage.providers: "
        f"[{{name: SignalFx, args: {{{where}token: {{file: PATH}}}}}}]; a token in the scheduler's file is not used"
    )
    return None


def _custom_metrics(found: ForeignMetrics, warnings: list[str]) -> Provider:  # noqa: ARG001
    return Provider(name="CustomMetrics")


def _metrics_server(found: ForeignMetrics, warnings: list[str]) -> Provider:  # noqa: ARG001
    return Provider(name="MetricsServer")


_VOLCANO_CPU: Final = "host.cpu.usage"
_MAKERS: Final[Mapping[str, Callable[[ForeignMetrics, list[str]], Provider | None]]] = {
    "prometheus": _prometheus,
    "Prometheus": _prometheus,
    "prometheus_adaptor": _custom_metrics,
    "elasticsearch": _elasticsearch,
    "KubernetesMetricsServer": _metrics_server,
    "SignalFx": _signalfx,
}


def _http(
    name: Any, found: ForeignMetrics, default: str, further: Mapping[str, Any], warnings: list[str]
) -> Provider | None:
    address = found.address or default
    try:
        arguments: dict[str, Any] = {"address": _ADDRESS.validate_python(address), **further}
    except ValidationError:
        shown = printable(address, 250)
        warnings.append(f"{found.scheduler}'s address for {name} is {shown!r}; wanted one such as http://host:9090")
        return None
    if found.skips_verification and found.is_default and address.startswith("https:"):
        warnings.append(f"{found.scheduler} verifies no certificate of {name} by default; here it is verified")
    elif found.skips_verification and not found.is_default:
        arguments["tls"] = {"insecureSkipVerify": True}
        warnings.append(
            f"{found.scheduler} trusts any certificate of {name} (insecureSkipVerify); better set tls.caFile"
        )
    return Provider(name=name, args=arguments)


def _warn_credential(found: ForeignMetrics, instead: str, warnings: list[str]) -> None:
    if found.has_credential or found.username:
        warnings.append(
            f"a credential stands in the scheduler's file and is not used; put it into a file, for {instead}"
        )


def _cleared(address: str) -> tuple[str, bool]:
    """The address without user and password, and whether there were any."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", False
    if "@" not in parts.netloc:
        return address, False
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])), True


def _interval(written: str | None) -> float:
    try:
        seconds = parse_duration(written) if written else _VOLCANO_INTERVAL
    except ValueError:
        return _VOLCANO_INTERVAL
    return seconds if seconds > 0 else _VOLCANO_INTERVAL


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
