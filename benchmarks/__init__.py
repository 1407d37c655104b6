"""Benchmarks: reproducible measurements of plan quality and speed; not part of the installed package."""
