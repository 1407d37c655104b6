"""Alerts, dashboard and spans of real runs."""
