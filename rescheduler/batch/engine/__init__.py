"""Where tasks are done that need nothing of each other: processes of this machine, or a Dask cluster.

A task is bytes in and bytes out; nothing here knows what is in them. Whatever the engine, each is done once in what is
handed on, and what a task says never depends on where it was done.
"""
