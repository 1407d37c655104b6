"""What an installation carries to begin with: policies, one intent each, their schema, and recordings to try."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import rescheduler

DEFAULT_INTENT: Final = "pending-only"
_PACKAGE: Final = Path(rescheduler.__file__).parent
_MODE: Final = "mode: DryRun                         # DryRun | Approve | Execute"
_SCHEMA_LINE: Final = re.compile(r"^# yaml-language-server: \$schema=.*\n")
_NAME: Final = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_]*")
_FIELD: Final = re.compile(r"^([A-Za-z]+):", re.MULTILINE)


def shipped_folder() -> Path:
    """``examples`` in the package; in a checkout, the checkout, which is laid out alike."""
    packaged = _PACKAGE / "examples"
    return packaged if packaged.is_dir() else _PACKAGE.parent


def shipped_policies() -> dict[str, Path]:
    """File of each shipped policy by its name, in the order of names."""
    return {file.stem: file for file in sorted((shipped_folder() / "policies").glob("*.yaml"))}


def policy_file(file: str) -> str:
    """The file that ``--policy`` means: what was given, or the shipped policy of that name where no such file is."""
    if _NAME.fullmatch(file) is None or Path(file).exists():
        return file
    return str(shipped_policies().get(file, file))


def advice_on_missing(file: str) -> str:
    """What may have been meant by a file that is not there; empty if it is neither a name nor like one of ours."""
    known = list(shipped_policies())
    near = get_close_matches(Path(file).stem, known, n=1)
    if _NAME.fullmatch(file) is not None:
        meant = f"did you mean {near[0]}? There are" if near else "there are"
        return f", and no shipped policy has this name; {meant} {', '.join(known)}"
    return f"; the shipped policy {near[0]} needs no file: --policy {near[0]}" if near else ""


def purpose(text: str) -> str:
    """What a shipped policy is for: the comment that it begins with, as one line."""
    lines = _SCHEMA_LINE.sub("", text).splitlines()
    count = next((number for number, line in enumerate(lines) if not line.startswith("# ")), len(lines))
    return " ".join(line.removeprefix("# ") for line in lines[:count])


def as_shown(text: str) -> str:
    """A shipped policy as it may stand anywhere: its schema is named by where it is installed."""
    schema = (shipped_folder() / "docs" / "policy.schema.json").resolve()
    return _SCHEMA_LINE.sub(lambda _: f"# yaml-language-server: $schema={schema}\n", text)


def commented(text: str, meanings: Mapping[str, str], file: str) -> str:
    """A policy to begin with: a shipped one with what each field means, and those that it leaves at their defaults.

    ``meanings``: of each field of a policy. ``file``: how the commands in its comment call it.
    """
    schema, _, rest = as_shown(text).partition("\n")
    body = rest[rest.index("apiVersion:") :]
    if not re.search(r"^mode:", body, re.MULTILINE):
        body = re.sub(r"(?m)^(metadata:.*\n)", rf"\1{_MODE}\n", body, count=1)
    return "".join([schema, "\n", *_heading(rest, file), *_explained(body, meanings), *_left_out(body, meanings)])


def _heading(rest: str, file: str) -> Iterator[str]:
    yield _comment(purpose(rest)) + "#\n"
    yield f"#   rescheduler check {file}            what it may do, in words\n"
    yield f"#   rescheduler plan --policy {file}    what it would do now; nothing is written\n"
    yield f"#   rescheduler run --policy {file}     the same, on and on; under mode DryRun nothing is written\n"


def _explained(body: str, meanings: Mapping[str, str]) -> Iterator[str]:
    for line in body.splitlines(keepends=True):
        field = _FIELD.match(line)
        if field is not None and field[1] in meanings and field[1] not in ("apiVersion", "kind"):
            yield f"\n{_comment(meanings[field[1]])}"
        yield line


def _left_out(body: str, meanings: Mapping[str, str]) -> Iterator[str]:
    set_here = set(_FIELD.findall(body))
    yield "\n# Not set here, and so at their defaults, which docs/policy-reference.md tells field by field:\n"
    yield from (_comment(f"{name}: {meaning}", "#   ") for name, meaning in meanings.items() if name not in set_here)


def _comment(text: str, lead: str = "# ") -> str:
    further = lead if lead == "# " else lead + "  "
    return textwrap.fill(text, 120, initial_indent=lead, subsequent_indent=further) + "\n"
