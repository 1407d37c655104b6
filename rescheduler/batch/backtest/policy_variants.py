"""The policies and settings that are asked about: each ``--policy`` with each combination of what ``--set`` gives."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import structs

from rescheduler.batch.backtest.carried_prices import packed_prices
from rescheduler.batch.backtest.task import Task
from rescheduler.daemon.plugins import PLUGINS, parse_policy
from rescheduler.model.printable import in_one_line, printable
from rescheduler.policy.fields.policy import API_VERSION, KIND
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.policy.reading.loader import loaded_with_places
from rescheduler.policy.reading.policy_text import read_document
from rescheduler.policy.reading.price_file import with_price_file

NONE: Final = "none"
"""The history in which nothing is moved."""
_STEP: Final = re.compile(r"([A-Za-z][A-Za-z0-9]*)((?:\[\d{1,4}\])*)", re.ASCII)
_DEFAULT: Final = "default"


class PolicyVariant(NamedTuple):
    """One policy with one setting.

    ``policy``: as given; ``text``: all of it in one, "" where nothing is moved; ``prices``: as its tasks carry them.
    """

    policy: str
    setting: dict[str, Any]
    text: str
    prices: bytes = b""


class SetField(NamedTuple):
    """A field of policies, and the values that are tried."""

    path: str
    values: tuple[Any, ...]


class PolicyVariants(NamedTuple):
    """What is asked about, and policies that cannot be, with the reason."""

    cases: tuple[PolicyVariant, ...]
    failed: tuple[tuple[str, str], ...]


def read_variants(policies: Sequence[str], fields: Sequence[SetField], prices: str | None = None) -> PolicyVariants:
    """Read and check everything before anything is planned. Raises PolicyError.

    ``prices``: a file in place of the policies' ``prices.file``. A policy of another version is left out with the
    reason, as long as another is left.
    """
    found: list[PolicyVariant] = []
    failed: list[tuple[str, str]] = []
    errors: list[PolicyError] = []
    for given in policies or [""]:
        try:
            data = _data(given, prices)
        except PolicyError as error:
            if not all(problem.path == "apiVersion" and "missing" not in problem.text for problem in error.problems):
                raise
            failed.append((given, in_one_line(error)))
            errors.append(error)
            continue
        found += _settings(given or _DEFAULT, data, fields, prices)
    if not found:
        raise errors[0]
    return PolicyVariants(tuple(found), tuple(failed))


def _data(given: str, prices: str | None) -> dict[str, Any]:
    """The fields that a policy, or several laid over each other, say. Raises PolicyError."""
    files = given.split(",") if given else []
    _, document = loaded_with_places(files, PLUGINS, prices)
    return {"apiVersion": API_VERSION, "kind": KIND} if document is None else dict(document.data)


def _settings(
    name: str, data: dict[str, Any], fields: Sequence[SetField], prices: str | None
) -> Iterator[PolicyVariant]:
    for values in product(*(field.values for field in fields)):
        setting = {field.path: value for field, value in zip(fields, values, strict=True)}
        changed = copy.deepcopy(data)
        for path, value in setting.items():
            _set(changed, path, value)
        _anchor_prices(changed)
        text = json.dumps(changed)
        told = " ".join(f"--set {path}={json.dumps(value)}" for path, value in setting.items())
        policy = with_price_file(parse_policy(text, f"{name} {told}".strip()), prices)
        yield PolicyVariant(name, setting, text, packed_prices(policy))


def _anchor_prices(data: dict[str, Any]) -> None:
    """Make the file of prices absolute: by now it is relative to the working directory, whoever has named it."""
    prices = data.get("prices")
    if isinstance(prices, dict) and isinstance(prices.get("file"), str):
        prices["file"] = str(Path(prices["file"]).absolute())


def parse_set(text: str) -> SetField:
    """``FIELD=A,B``. Raises ValueError; whether there is such a field is for the policies to say."""
    path, equals, values = text.partition("=")
    if not equals or not path or not values:
        raise ValueError(f"found {printable(text, 80)!r}; wanted FIELD=VALUE or FIELD=VALUE,VALUE")
    steps(path)
    return SetField(path, tuple(_value(part) for part in _parts(values)))


def steps(path: str) -> list[str | int]:
    """``a.b[0].c`` step by step. Raises ValueError."""
    found: list[str | int] = []
    for part in path.split("."):
        match = _STEP.fullmatch(part)
        if match is None:
            raise ValueError(f"found {printable(path, 80)!r}; wanted a field such as limits.maxEvictions")
        found.append(match[1])
        found += [int(number) for number in re.findall(r"\d+", match[2])]
    return found


def _parts(values: str) -> Iterator[str]:
    """Split at commas that stand in no bracket."""
    depth, start = 0, 0
    for at, sign in enumerate(values):
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0:
            yield values[start:at]
            start = at + 1
    yield values[start:]


def _value(text: str) -> Any:
    """A value as a policy file would have it. Raises ValueError."""
    document = read_document("--set", f"value: {text}".encode())
    if document.problems or not isinstance(document.data, dict):
        raise ValueError(f"found {printable(text, 80)!r}; wanted a value as a policy file has it")
    return document.data.get("value")


def _set(data: Any, path: str, value: Any) -> None:
    """Put a value where a path leads; maps are made on the way. Raises PolicyError for a list that is not there."""
    *way, last = steps(path)
    here = data
    for number, step in enumerate([*way, last]):
        is_last = number == len(way)
        if isinstance(step, int):
            if not isinstance(here, list) or step >= len(here):
                raise PolicyError([ReadingProblem("--set", 0, 0, path, f"there is no entry [{step}] to set")])
            if is_last:
                here[step] = value
            here = here[step]
        elif not isinstance(here, dict):
            raise PolicyError([ReadingProblem("--set", 0, 0, path, f"nothing has a field {step} there")])
        elif is_last:
            here[step] = value
        else:
            following = [*way, last][number + 1]
            if here.get(step) is None:
                here[step] = [] if isinstance(following, int) else {}
            here = here[step]


def tasks_of(cases: Sequence[PolicyVariant], times: Sequence[int], like: Task) -> list[tuple[int, Task]]:
    """The tasks of each case by its number; in a replay one for its whole history."""
    spans = [tuple(times)] if like.replay else [(time,) for time in times]
    return [
        (number, structs.replace(like, times=span, policy=case.text, name=case.policy, prices=case.prices))
        for number, case in enumerate(cases)
        for span in spans
    ]
