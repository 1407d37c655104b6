"""Pods that disturb each other go to different nodes."""
