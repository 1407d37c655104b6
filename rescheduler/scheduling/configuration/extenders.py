"""Extenders: services that a scheduler asks for verdicts and scores, and what that leaves unknown."""

from __future__ import annotations

from typing import NamedTuple

from rescheduler.scheduling.configuration.settings import Effect, NotModelled
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import quoted, without_credentials
from rescheduler.scheduling.reading.names import is_extended_resource


class ExtenderSettings(NamedTuple):
    """What extenders leave unknown, and the resources that they take from the scheduler's own filter."""

    not_modelled: tuple[NotModelled, ...] = ()
    ignored_resources: tuple[str, ...] = ()


def read_extenders(fields: Fields, *, is_strict: bool = True) -> ExtenderSettings:
    """``extenders`` of a KubeSchedulerConfiguration or of the legacy Policy."""
    found: list[NotModelled] = []
    ignored: list[str] = []
    binders = 0
    managed: set[str] = set()
    for item in fields.children("extenders"):
        verbs = {verb: item.text(f"{verb}Verb") for verb in ("filter", "prioritize", "preempt", "bind")}
        weight = item.integer("weight", 0)
        if verbs["prioritize"] and weight <= 0:
            text = f"found {weight}; an extender that scores needs a weight of 1 or more"
            item.findings.refuse(item.at("weight"), text)
        binders += bool(verbs["bind"])
        resources = _managed_resources(item, managed, ignored)
        name = f"extender {without_credentials(item.text('urlPrefix')) or '(no urlPrefix)'}"
        note = _note(name, verbs, resources)
        found += [note] if note else []
        _other_fields(item)
        if is_strict:
            item.refuse_unread()
        else:
            item.warn_unread("kube-scheduler")
    if binders > 1:
        fields.findings.refuse(fields.at("extenders"), f"{binders} extenders bind pods; only one can")
    return ExtenderSettings(tuple(found), tuple(ignored))


def _note(name: str, verbs: dict[str, str], resources: tuple[str, ...]) -> NotModelled | None:
    if verbs["filter"]:
        whose = f"pods that ask for {', '.join(resources)}" if resources else "its pods"
        text = f"not modelled, and it filters nodes: no prediction about {whose} and they are not moved"
        return NotModelled(name, Effect.UNKNOWN, text, resources)
    if verbs["prioritize"]:
        return NotModelled(name, Effect.ESTIMATE, "not modelled: its score is unknown: destinations are estimates")
    if verbs["bind"]:
        text = "not modelled, and it binds pods: it may delay or refuse a binding"
        return NotModelled(name, Effect.ESTIMATE, text, resources)
    if verbs["preempt"]:
        return NotModelled(name, Effect.HARMLESS, "not modelled, but it only takes part in preemption: harmless")
    return None


def _managed_resources(fields: Fields, seen: set[str], ignored: list[str]) -> tuple[str, ...]:
    found = []
    for item in fields.children("managedResources"):
        name = item.text("name")
        if not is_extended_resource(name):
            item.findings.refuse(item.at("name"), f"found {quoted(name)}; wanted an extended resource: DOMAIN/NAME")
        if name in seen:
            item.findings.refuse(item.at("name"), f"{quoted(name)} is managed twice")
        seen.add(name)
        found.append(name)
        if item.boolean("ignoredByScheduler", default=False):
            ignored.append(name)
        item.refuse_unread()
    return tuple(found)


def _other_fields(fields: Fields) -> None:
    """Fields about the connection, which decide nothing here."""
    for name in ("enableHTTPS", "enableHttps", "nodeCacheCapable", "ignorable"):
        fields.boolean(name, default=False)
    for name in ("tlsConfig", "httpTimeout"):
        fields.has(name)
