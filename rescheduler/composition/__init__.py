"""Puts concrete parts together for each command; the only room that names adapters, embedded cluster and executor.

Commands load the part that they need when they need it: a watcher that starts anew must not wait for the planner's
libraries.
"""
