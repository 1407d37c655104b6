"""What may be typed next, for kubectl: it runs ``kubectl_complete-reschedule`` with the words so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from rescheduler.cli.options import objective_names, policy_names

FILES: Final = 0
NO_FILES: Final = 4
"""kubectl's directives: whether the shell should offer files too."""
_TAKES_FILES: Final = ("FILE", "FILES")


class Suggestions(NamedTuple):
    """``lines``: one suggestion each, with a tab and a description where there is one; ``directive``: for the shell."""

    lines: tuple[str, ...]
    directive: int


def suggestions(root: Any, words: Sequence[str]) -> Suggestions:
    """What fits the last word, which may be empty; the others are complete. ``root``: the command of all commands."""
    *before, begun = words or ("",)
    command, option = _reached(root, before)
    if option is not None:
        choices = _choices(option)
        is_file = option.metavar in _TAKES_FILES
        return Suggestions(tuple(text for text in choices if text.startswith(begun)), FILES if is_file else NO_FILES)
    if begun.startswith("-"):
        return Suggestions(tuple(text for text in _options(command) if text.startswith(begun)), NO_FILES)
    if hasattr(command, "commands"):
        return Suggestions(tuple(text for text in _commands(command) if text.startswith(begun)), NO_FILES)
    if before[:1] == ["policy"]:
        return Suggestions(tuple(policy_names(begun)), NO_FILES)
    return Suggestions((), FILES)


def _reached(root: Any, words: Sequence[str]) -> tuple[Any, Any]:
    """The command that complete words lead to, and the option among them that still waits for its value, if any."""
    command, waiting = root, None
    for word in words:
        if waiting is not None:
            waiting = None
        elif word.startswith("-"):
            waiting = next((item for item in command.params if word in item.opts and _takes_value(item)), None)
        else:
            command = getattr(command, "commands", {}).get(word, command)
    return command, waiting


def _choices(option: Any) -> tuple[str, ...]:
    """The values of an option whose default is one of them, and of those whose values are plugins or shipped files."""
    if isinstance(option.default, Enum):
        return tuple(str(choice.value) for choice in type(option.default))
    if "--objective" in option.opts:
        return tuple(objective_names(""))
    return tuple(policy_names("")) if "--policy" in option.opts else ()


def _takes_value(parameter: Any) -> bool:
    return not (getattr(parameter, "is_flag", False) or getattr(parameter, "count", False))


def _options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            name = max(parameter.opts, key=len)
            yield _with_help(name, parameter.help)
    yield "--help\tShow this message and exit."


def _commands(group: Any) -> Iterator[str]:
    for name, command in group.commands.items():
        if not command.hidden:
            yield _with_help(name, command.short_help)


def _with_help(name: str, text: str | None) -> str:
    return f"{name}\t{' '.join(text.split())}" if text else name
