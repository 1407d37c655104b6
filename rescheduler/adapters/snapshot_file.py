"""Recordings of a cluster: read what kubectl prints, write what we need."""

from __future__ import annotations

from rescheduler.adapters.recording.reading import read_recording
from rescheduler.adapters.recording.writing import record

__all__ = ["read_recording", "record"]
