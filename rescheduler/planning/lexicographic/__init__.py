"""Objectives in order: each begins where those before it end, and keeps what they reached."""
