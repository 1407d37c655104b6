"""The load watcher at full size: windows and store, its API, a table beside it."""
