"""``doctor``: ``diagnosing.py`` reads the live cluster; each of the others makes findings of one source."""
