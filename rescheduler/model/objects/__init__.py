"""Kubernetes' objects as frozen data, as far as anybody here asks about them."""
