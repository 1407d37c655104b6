"""Tells by its content which scheduler a text configures, and reads it as that scheduler does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rescheduler.model.printable import printable
from rescheduler.scheduling.configuration import kube_scheduler, legacy_policy, volcano
from rescheduler.scheduling.configuration.settings import Configuration, Effect, NotModelled
from rescheduler.scheduling.reading.documents import ConfigurationError, ReadDocument, read_documents, unusable
from rescheduler.scheduling.reading.findings import quoted

_WANTED = "wanted a KubeSchedulerConfiguration, Volcano's (actions, tiers) or a legacy Policy (predicates, priorities)"
_LEGACY_FIELDS = ("predicates", "priorities")
_LOOKS_LEGACY = re.compile(r'"(?:predicates|priorities)"\s*:')
# Within a JSON text, outside quotes: dots that stand for entries left out of a sample.
_STRING_OR_ELLIPSIS = re.compile(r'"(?:\\.|[^"\\\n])*"?|(?:\.\.\.|\u2026)(?:[ \t\r\n]*,)?')
_LONGEST_SAMPLE = 64 * 1024
_MOST_LISTED = 10


def read_configuration(text: str, where: str, *, scheduler_name: str | None) -> Configuration:
    """Read the configuration of one or several schedulers out of a file's text.

    ``where`` names the text in messages. ``scheduler_name`` is for forms that name no scheduler: Volcano's, the legacy
    Policy, and a KubeSchedulerConfiguration with one profile without a name. A ConfigMap that holds one of them is
    opened. Raises ConfigurationError, with everything that is wrong, for what its own scheduler would not start with.
    """
    repaired = _without_ellipses(text)
    documents = read_documents(where, repaired)
    if not documents:
        raise unusable(where, f"empty; {_WANTED}")
    form, chosen = _first_of_a_form(documents)
    if form == "ConfigMap":
        found = read_config_map(_entries(chosen), where, scheduler_name=scheduler_name)
    else:
        found = _READERS[form](chosen, scheduler_name)
    warnings = [*found.warnings]
    if repaired != text:
        found = _as_sample(found)
        warnings.insert(0, f"{where}: dots stand for entries left out of a sample; only those written out are read")
    if len(documents) > 1:
        warnings.append(f"{where}: holds {len(documents)} documents; only the {form} is read")
    return replace(found, warnings=tuple(warnings))


_READERS = {
    kube_scheduler.KIND: kube_scheduler.read_kube_scheduler,
    legacy_policy.FORM: legacy_policy.read_legacy_policy,
    volcano.FORM: volcano.read_volcano,
}


def form_of(data: Any) -> str | None:
    """Which form plain data has, None for none that is read."""
    if not isinstance(data, dict):
        return None
    kind, version = data.get("kind"), data.get("apiVersion")
    if kind == kube_scheduler.KIND or (isinstance(version, str) and version.startswith(kube_scheduler.GROUP)):
        return kube_scheduler.KIND
    if kind == "ConfigMap":
        return "ConfigMap"
    if kind == legacy_policy.KIND or (kind is None and any(name in data for name in _LEGACY_FIELDS)):
        return legacy_policy.FORM
    return volcano.FORM if kind is None and ("actions" in data or "tiers" in data) else None


def configures_scheduler(text: str) -> bool:
    """Whether a text is, or tries to be, the configuration of a scheduler, or a ConfigMap; a policy of ours is none."""
    try:
        documents = read_documents("", _without_ellipses(text))
    except ConfigurationError:
        return _looks_like_one(text)
    return any(form_of(document.data) is not None for document in documents)


def _looks_like_one(text: str) -> bool:
    """For a text that cannot be read: whether words in it are those of such a configuration."""
    return any(
        word in text for word in (kube_scheduler.GROUP, "tiers:", "actions:", *map('"{}"'.format, _LEGACY_FIELDS))
    )


def _as_sample(configuration: Configuration) -> Configuration:
    """The configuration with a note that some of it is not known."""
    note = NotModelled("entries left out", Effect.ESTIMATE, "not known: destinations are estimates")
    profiles = {
        name: replace(profile, not_modelled=(*profile.not_modelled, note))
        for name, profile in configuration.profiles.items()
    }
    return replace(configuration, profiles=profiles)


def _first_of_a_form(documents: list[ReadDocument]) -> tuple[str, ReadDocument]:
    for document in documents:
        form = form_of(document.data)
        if form is not None:
            return form, document
    raise unusable(documents[0].file, f"{_what_it_is(documents[0].data)}; {_WANTED}", 1, 1)


def _what_it_is(data: Any) -> str:
    if not isinstance(data, dict):
        return "no map of fields"
    if isinstance(data.get("kind"), str):
        return f"a {printable(data['kind'], 60)}, which configures no scheduler"
    told = ", ".join(printable(name, 40) for name in list(data)[:5])
    return f"no scheduler's configuration, its fields are {told}" if told else "an empty map"


def read_config_map(entries: Mapping[str, str], where: str, *, scheduler_name: str | None) -> Configuration:
    """Read the one entry of a ConfigMap's ``data`` that configures a scheduler. Raises ConfigurationError."""
    candidates = [name for name, text in entries.items() if _is_one(text, where)]
    if len(candidates) == 1:
        name = candidates[0]
        return read_configuration(entries[name], f"{where}[{printable(name, 60)}]", scheduler_name=scheduler_name)
    if candidates:
        listed = _listed(candidates)
        raise unusable(
            where, f"several entries of the ConfigMap configure schedulers: {listed}; keep one", 1, 1, "data"
        )
    listed = _listed(list(entries)) or "nothing"
    raise unusable(where, f"the ConfigMap holds {listed}; {_WANTED}", 1, 1, "data")


def _listed(names: list[str]) -> str:
    """Names in quotes, the first few of many."""
    more = ", ..." if len(names) > _MOST_LISTED else ""
    return ", ".join(map(quoted, names[:_MOST_LISTED])) + more


def _entries(document: ReadDocument) -> dict[str, str]:
    data = document.data.get("data")
    return {name: text for name, text in data.items() if isinstance(text, str)} if isinstance(data, dict) else {}


def _is_one(text: str, where: str) -> bool:
    """Whether an entry is a configuration, or at least tries to be one: then reading it says what is wrong."""
    try:
        documents = read_documents(where, _without_ellipses(text))
    except ConfigurationError:
        return _looks_like_one(text)
    return any(form_of(document.data) not in (None, "ConfigMap") for document in documents)


def _without_ellipses(text: str) -> str:
    """A printed sample of the legacy form, with blanks where dots stand for what was left out."""
    if len(text) > _LONGEST_SAMPLE or not _LOOKS_LEGACY.search(text):
        return text
    return _STRING_OR_ELLIPSIS.sub(
        lambda match: match.group() if match.group().startswith('"') else re.sub(r"[^\r\n]", " ", match.group()), text
    )
