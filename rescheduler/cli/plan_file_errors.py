"""What is raised for a file that is no plan."""

from __future__ import annotations

from rescheduler.extension_points import ReschedulerError


class PlanFileError(ReschedulerError):
    """A file is no plan that can be carried out: names the file and the field."""
