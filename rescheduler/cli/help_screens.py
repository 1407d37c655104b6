"""Help as plain text that reads the same in every locale and at every width: a sentence, commands, grouped options."""

from __future__ import annotations

from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

GROUPS = ("Cluster", "Policy", "What if", "Limits", "Engine", "Output")
"""Groups of options in the order in which help shows them; what is in none of them stands under Options."""


class GroupedCommand(TyperCommand):
    """A command whose help shows its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then one section for each group."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", "Options", *GROUPS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                default = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections[getattr(parameter, "rich_help_panel", None) or default].append(record)
        sections["Options"] = sections.pop("Options")  # the rest, --help among them, stands last
        for name, records in sections.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


class OrderedGroup(TyperGroup):
    """A group of commands whose help begins with what it is for, and lists commands in the order of learning them."""

    order: ClassVar[tuple[str, ...]] = ("demo", "check", "policy", "doctor", "simulate", "plan", "explain")

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of commands: those that one learns first, then the others as they were registered."""
        names = list(super().list_commands(ctx))
        return [name for name in self.order if name in names] + [name for name in names if name not in self.order]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the sentence, the commands, the usage and the options."""
        formatter.write_text(self.help or "")
        formatter.write_paragraph()
        commands = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        with formatter.indentation():
            formatter.write_dl([(name, command.short_help or "") for name, command in commands if not command.hidden])
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(self.epilog)
