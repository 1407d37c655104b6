"""``policy``: list and show the policies that are shipped, begin one of one's own, and convert descheduler's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rescheduler.cli.failures import DONE, UsageError
from rescheduler.cli.help_screens import GroupedCommand, OrderedGroup
from rescheduler.cli.options import policy_names
from rescheduler.cli.streams import say, show, write
from rescheduler.model.printable import printable
from rescheduler.policy.shipped import DEFAULT_INTENT

commands = typer.Typer(
    cls=OrderedGroup, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)
Output = Annotated[
    str,
    typer.Option(
        "-o", "--output", metavar="FILE", show_default=False, rich_help_panel="Output",
        help="File to write, which must not exist; - is standard output [default: standard output]",
    ),
]  # fmt: skip
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A shipped policy, as list names it", show_default=False, autocompletion=policy_names
    ),
]


@commands.command("list", cls=GroupedCommand, short_help="the policies that are shipped, and what each is for")
def list_policies() -> int:
    """List the policies that are shipped; --policy NAME takes each of them as it is."""
    from rescheduler.policy.shipped import purpose, shipped_folder, shipped_policies
    from rescheduler.report.cells import table

    rows = [(name, purpose(file.read_text(encoding="utf-8"))) for name, file in shipped_policies().items()]
    show([table(("NAME", "DOES"), rows)])
    say(f"recordings to try them on: {shipped_folder() / 'docs' / 'examples'}")
    return DONE


@commands.command("show", cls=GroupedCommand, short_help="one of them, as it is")
def show_policy(name: Name, output: Output = "-") -> int:
    """Write one of the policies that are shipped."""
    from rescheduler.policy.shipped import as_shown

    _deliver(as_shown(_text(name)), output)
    return DONE


@commands.command("init", cls=GroupedCommand, short_help="a policy of your own to begin with, each field explained")
def init_policy(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="The intent: a shipped policy", autocompletion=policy_names)
    ] = DEFAULT_INTENT,
    output: Output = "-",
) -> int:
    """Write a policy to begin with, in mode DryRun: a shipped one, with what each of its fields means.

    It asks nothing, and never writes over a file.
    """
    from rescheduler.policy.fields.policy import Policy
    from rescheduler.policy.shipped import commented

    fields = Policy.model_fields.items()
    meanings = {field.alias or own: (field.description or "").replace("``", "`") for own, field in fields}
    _deliver(commented(_text(name), meanings, "policy.yaml" if output == "-" else output), output)
    return DONE


@commands.command(
    "convert", cls=GroupedCommand, short_help="a DeschedulerPolicy turned into a ReschedulerPolicy, line by line"
)
def convert_policy(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A DeschedulerPolicy, or a ConfigMap that holds one", show_default=False),
    ],
    output: Output = "-",
) -> int:
    """Write the policy that comes nearest to a DeschedulerPolicy, in mode DryRun, with what became of each setting.

    What has no counterpart is told at the end, and why. It asks nothing, and never writes over a file.
    """
    from rescheduler.composition.foretelling import converted_file

    _deliver(converted_file(file), output)
    return DONE


def _text(name: str) -> str:
    """The text of a shipped policy. Raises UsageError for an unknown name."""
    from difflib import get_close_matches

    from rescheduler.policy.shipped import shipped_policies

    known = shipped_policies()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]}? There are" if near else "there are"
        raise UsageError(f"no shipped policy {printable(name, 60)!r}; {meant} {', '.join(known)}")
    return known[name].read_text(encoding="utf-8")


def _deliver(text: str, output: str) -> None:
    """Write to a new file, or to standard output. Raises UsageError for a file that is there already."""
    if output == "-":
        write(text)
        return
    try:
        with Path(output).open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise UsageError(f"-o {output}: it exists, and nothing is written over; name another file") from None
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise UsageError(f"-o {printable(output, 200)!r}: cannot be written: {what}") from None
    say(f"wrote {output}")
