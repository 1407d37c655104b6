"""A server on its address, and who may ask it; the same for the daemon and the load watcher."""
