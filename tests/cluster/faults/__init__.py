"""Requests and components that fail, processes that are killed at any request; what the ledger keeps meanwhile."""
