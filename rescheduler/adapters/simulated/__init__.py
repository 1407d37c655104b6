"""The embedded cluster: a cluster in memory behind the same protocols; its controllers are its own on purpose."""
