"""Placeholders, gates, nominations and taints: all that leads pods to nodes on a live cluster."""
