"""The load watcher's REST API, as Trimaran's load watcher serves it."""
