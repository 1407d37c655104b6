"""Reads a DeschedulerPolicy as leniently as descheduler does, and names what it silently reads over."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ValidationError

from rescheduler.descheduler.arguments import DeschedulerArguments
from rescheduler.descheduler.evictor import DefaultEvictorArguments
from rescheduler.descheduler.plugins import PLUGINS
from rescheduler.descheduler.plugins.node_utilization import LowNodeUtilizationArguments
from rescheduler.descheduler.reading.file_fields import (
    PluginConfig,
    PluginSets,
    PointPlugins,
    PolicyFields,
    ProfileFields,
    PrometheusServer,
    UsageProvider,
)
from rescheduler.descheduler.reading.file_text import read_document, with_zero_values
from rescheduler.descheduler.reading.go_url import url_problem
from rescheduler.descheduler.telling.lint import argument_findings
from rescheduler.model.label_selector_text import parse_label_selector
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Document, Path
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.policy.reading.wording import text_for

API_VERSION: Final = "descheduler/v1alpha2"
KIND: Final = "DeschedulerPolicy"
DEFAULT_EVICTOR: Final = "DefaultEvictor"
RUNNING_POINTS: Final = ("deschedule", "balance")
_EVICTOR_POINTS: Final = ("filter", "preevictionfilter")
_UNUSED_POINTS: Final = ("presort", "sort")


class EnabledProfile(NamedTuple):
    """A profile with its arguments read; plugins by name and arguments, in running order."""

    name: str
    evictor: DefaultEvictorArguments
    deschedule: tuple[tuple[str, DeschedulerArguments], ...]
    balance: tuple[tuple[str, DeschedulerArguments], ...]


class DeschedulerPolicy(NamedTuple):
    """A file that upstream would run. ``findings``: what of it has no effect, or ends in an error in each cycle."""

    fields: PolicyFields
    node_selector: LabelSelector | None
    profiles: tuple[EnabledProfile, ...]
    findings: tuple[ReadingProblem, ...]


def read_descheduler_policy(text: str, file: str) -> DeschedulerPolicy:
    """Read one file, or a ConfigMap that holds one. Raises PolicyError with all that upstream would refuse."""
    document, findings = read_document(text, file)
    if isinstance(document.data, dict) and document.data.get("kind") == "ConfigMap":
        return _from_config_map(document)
    if not isinstance(document.data, dict):
        raise PolicyError([document.problem((), f"no {KIND}; write fields such as apiVersion: {API_VERSION}")])
    document.data = with_zero_values(document.data)
    return _Policy(document, findings).read()


def _from_config_map(document: Document) -> DeschedulerPolicy:
    texts = document.data.get("data")
    held = (
        [text for text in texts.values() if isinstance(text, str) and KIND in text] if isinstance(texts, dict) else []
    )
    if len(held) != 1:
        raise PolicyError([document.problem(("data",), f"holds {len(held)} texts of kind {KIND}; wanted one")])
    return read_descheduler_policy(held[0], f"{document.file} (ConfigMap)")


class _Policy:
    """Reads one document; ``problems`` are what upstream refuses, ``findings`` what it reads over."""

    def __init__(self, document: Document, findings: Sequence[ReadingProblem]) -> None:
        self._document = document
        self._problems: list[ReadingProblem] = []
        self._findings = list(findings)

    def read(self) -> DeschedulerPolicy:
        """Raises PolicyError."""
        fields = self._fields()
        selector = self._node_selector(fields)
        self._check_providers(fields)
        profiles = [self._profile(fields, number) for number in range(len(fields.profiles))]
        self._find_unknown_keys()
        self._find_unused(fields, profiles)
        if self._problems:
            raise PolicyError(sorted(self._problems, key=lambda problem: (problem.line, problem.column)))
        findings = sorted(self._findings, key=lambda problem: (problem.line, problem.column))
        return DeschedulerPolicy(fields, selector, tuple(profiles), tuple(findings))

    def _fields(self) -> PolicyFields:
        data, document = self._document.data, self._document
        identity = {"apiVersion": API_VERSION, "kind": KIND}
        for field, wanted in identity.items():
            found = data.get(field)
            if not found and (found is None or isinstance(found, str)):
                self._find((field,), f"missing; it is read as {wanted}")
            elif found != wanted:
                self._refuse((field,), f"found {printable(str(found), 60)}; wanted {wanted}")
        if self._problems:
            raise PolicyError(self._problems)
        try:
            return PolicyFields.model_validate_json(json.dumps({**data, **identity}), by_alias=True, by_name=False)
        except ValidationError as error:
            raise PolicyError([*_told(document, (), error)]) from None

    def _refuse(self, path: Path, text: str) -> None:
        self._problems.append(self._document.problem(path, text))

    def _find(self, path: Path, text: str) -> None:
        self._findings.append(self._document.problem(path, text, at_key=True))

    def _node_selector(self, fields: PolicyFields) -> LabelSelector | None:
        return None if fields.node_selector is None else self._selector(("nodeSelector",), fields.node_selector)

    def _selector(self, path: Path, text: str) -> LabelSelector | None:
        try:
            return parse_label_selector(text)
        except ValueError as error:
            self._refuse(path, str(error))
            return None

    def _check_providers(self, fields: PolicyFields) -> None:
        seen = set()
        for number, provider in enumerate(fields.metrics_providers):
            path: Path = ("metricsProviders", number)
            if provider.source in seen:
                self._refuse((*path, "source"), f"{provider.source} stands in the list already; write it once")
            seen.add(provider.source)
            if provider.source == "Prometheus":
                self._check_prometheus((*path, "prometheus"), provider.prometheus)
        if fields.metrics_collector is not None and fields.metrics_collector.enabled:
            self._find(("metricsCollector",), "deprecated; write metricsProviders: [{source: KubernetesMetrics}]")
            if "KubernetesMetrics" in seen:
                self._refuse(("metricsCollector",), "and a provider KubernetesMetrics together; write one of them")

    def _check_prometheus(self, path: Path, server: PrometheusServer | None) -> None:
        if server is None or not server.url:
            self._refuse((*path, "url"), "missing; a provider Prometheus needs the server's address")
        elif (problem := url_problem(server.url)) is not None:
            self._refuse((*path, "url"), f"{printable(server.url, 60)!r} {problem}")
        if server is None or server.auth_token is None:
            return
        reference = server.auth_token.secret_reference
        if reference is None or not (reference.namespace and reference.name):
            self._refuse((*path, "authToken", "secretReference"), "half a reference; write namespace and name")

    def _profile(self, fields: PolicyFields, number: int) -> EnabledProfile:
        profile, path = fields.profiles[number], ("profiles", number)
        arguments = self._arguments(profile, path)
        evictor = arguments.get(DEFAULT_EVICTOR)
        evictor = evictor if isinstance(evictor, DefaultEvictorArguments) else DefaultEvictorArguments()
        for point in _EVICTOR_POINTS:
            for place, name in enumerate(getattr(profile.plugins, point).enabled):
                if name != DEFAULT_EVICTOR:
                    self._refuse((*path, "plugins", point, "enabled", place), self._wrong_point(name, point))
        running = {point: tuple(self._running(profile, path, point, arguments)) for point in RUNNING_POINTS}
        return EnabledProfile(profile.name, evictor, running["deschedule"], running["balance"])

    def _arguments(self, profile: ProfileFields, path: Path) -> dict[str, DeschedulerArguments]:
        """By plugin; of two entries of one name the first counts, and both are looked at."""
        found: dict[str, DeschedulerArguments] = {}
        for number, config in enumerate(profile.plugin_config):
            where: Path = (*path, "pluginConfig", number)
            form = DefaultEvictorArguments if config.name == DEFAULT_EVICTOR else _form_of(config.name)
            if form is None:
                self._refuse((*where, "name"), f"no plugin {printable(config.name, 60)!r}; there are {_names()}")
                continue
            try:
                read = form.model_validate_json(json.dumps(config.args), by_alias=True, by_name=False)
            except ValidationError as error:
                self._problems += _told(self._document, (*where, "args"), error)
                continue
            if config.name in found:
                self._find((*where, "name"), f"a second entry of {config.name}; only the first one counts")
            found.setdefault(config.name, read)
        return found

    def _running(
        self, profile: ProfileFields, path: Path, point: str, arguments: Mapping[str, DeschedulerArguments]
    ) -> Iterator[tuple[str, DeschedulerArguments]]:
        configured = {config.name for config in profile.plugin_config}
        seen = set()
        for number, name in enumerate(getattr(profile.plugins, point).enabled):
            where = (*path, "plugins", point, "enabled", number)
            kind = PLUGINS.get(name)
            if kind is None or kind.point != point:
                self._refuse(where, self._wrong_point(name, point))
            elif name not in configured:
                self._refuse(where, f"{name} has no entry in pluginConfig; write one, args may be left out")
            elif name in arguments:
                if name in seen:
                    self._find(where, f"{name} stands twice, so it runs twice")
                seen.add(name)
                yield name, arguments[name]

    def _wrong_point(self, name: str, point: str) -> str:
        kind = PLUGINS.get(name)
        if name == DEFAULT_EVICTOR:
            return f"{name} does not stand at {point}; it stands at filter and preevictionfilter"
        if kind is None:
            return f"no plugin {printable(name, 60)!r}; there are {_names()}"
        return f"{name} does not stand at {point}; it stands at {kind.point}"

    def _config_path(self, profile: ProfileFields, path: Path, name: str) -> Path:
        number = next(number for number, config in enumerate(profile.plugin_config) if config.name == name)
        return (*path, "pluginConfig", number)

    def _find_unknown_keys(self) -> None:
        for path, known in _levels(self._document.data):
            for key in _at(self._document.data, path):
                if key not in known:
                    near = next((name for name in known if name.lower() == str(key).lower()), None)
                    meant = f"; {near} is meant" if near else ""
                    self._find((*path, key), f"is no field here, and is read over{meant}")

    def _find_unused(self, fields: PolicyFields, profiles: Sequence[EnabledProfile]) -> None:
        wanted = set()
        for number, (written, profile) in enumerate(zip(fields.profiles, profiles, strict=True)):
            path: Path = ("profiles", number)
            for point in _UNUSED_POINTS:
                if getattr(written.plugins, point).enabled:
                    self._find((*path, "plugins", point), "is read and not used")
            for point in (*RUNNING_POINTS, *_EVICTOR_POINTS, *_UNUSED_POINTS):
                if getattr(written.plugins, point).disabled:
                    self._find((*path, "plugins", point, "disabled"), "is read and not used: nothing is disabled by it")
            running = {name for name, _ in (*profile.deschedule, *profile.balance)}
            for place, config in enumerate(written.plugin_config):
                if config.name != DEFAULT_EVICTOR and config.name not in running:
                    self._find(
                        (*path, "pluginConfig", place), f"no extension point enables {config.name}: it does not run"
                    )
            ran = dict((*profile.deschedule, *profile.balance))
            if any(config.name == DEFAULT_EVICTOR for config in written.plugin_config):
                ran[DEFAULT_EVICTOR] = profile.evictor
            for name, arguments in ran.items():
                self._find_in_arguments((*self._config_path(written, path, name), "args"), arguments)
            for _, arguments in profile.balance:
                if isinstance(arguments, LowNodeUtilizationArguments) and arguments.metrics_utilization is not None:
                    wanted.add(arguments.metrics_utilization.provider)
        self._find_unused_providers(fields, wanted)

    def _find_unused_providers(self, fields: PolicyFields, wanted: set[str]) -> None:
        given = given_providers(fields)
        for number, provider in enumerate(fields.metrics_providers):
            if provider.source not in wanted:
                self._find(("metricsProviders", number), f"no plugin asks {provider.source or repr('')} for usage")
        for source in sorted(wanted - given):
            text = f"a plugin asks {source} for usage, which no provider gives" if source else _NO_SOURCE
            self._find(("profiles",), f"{text}: it ends with an error in every cycle")

    def _find_in_arguments(self, path: Path, arguments: DeschedulerArguments) -> None:
        for below, text in argument_findings(arguments):
            self._find((*path, *below), text)


def given_providers(fields: PolicyFields) -> frozenset[str]:
    """Sources of measured use that are set up; ``metricsCollector`` stands for one."""
    is_collected = fields.metrics_collector is not None and fields.metrics_collector.enabled
    older = ["KubernetesMetrics"] if is_collected else []
    return frozenset([*(provider.source for provider in fields.metrics_providers), *older])


_NO_SOURCE: Final = "metricsUtilization names no source"


def _form_of(name: str) -> type[DeschedulerArguments] | None:
    kind = PLUGINS.get(name)
    return None if kind is None else kind.arguments


def _names() -> str:
    return ", ".join((DEFAULT_EVICTOR, *PLUGINS))


def _told(document: Document, above: Path, error: ValidationError) -> Iterator[ReadingProblem]:
    for one in error.errors(include_url=False):
        path: Path = (*above, *one["loc"])
        is_unknown = one["type"] == "extra_forbidden"
        text = (
            "unknown argument; arguments are read strictly, case included"
            if is_unknown
            else text_for(document, path, one)
        )
        if text is not None:
            yield document.problem(path, text, at_key=is_unknown)


def _levels(data: Mapping[str, Any]) -> Iterator[tuple[Path, frozenset[str]]]:
    """Every map of the file outside of arguments that is there, with the fields it knows."""
    yield (), _aliases(PolicyFields)
    for number, profile in enumerate(data.get("profiles", ())):
        yield ("profiles", number), _aliases(ProfileFields)
        for place, _ in enumerate(profile.get("pluginConfig", ())):
            yield ("profiles", number, "pluginConfig", place), _aliases(PluginConfig)
        if "plugins" in profile:
            yield ("profiles", number, "plugins"), _aliases(PluginSets)
        for point in _aliases(PluginSets).intersection(profile.get("plugins", ())):
            yield ("profiles", number, "plugins", point), _aliases(PointPlugins)
    for number, provider in enumerate(data.get("metricsProviders", ())):
        yield ("metricsProviders", number), _aliases(UsageProvider)
        if "prometheus" in provider:
            yield ("metricsProviders", number, "prometheus"), _aliases(PrometheusServer)


def _aliases(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(str(field.alias) for field in model.model_fields.values())


def _at(data: Any, path: Path) -> Mapping[str, Any]:
    for step in path:
        data = data[step]
    return data if isinstance(data, dict) else {}
