"""Machines that a plan names are asked for, and awaited, before any of its moves."""
