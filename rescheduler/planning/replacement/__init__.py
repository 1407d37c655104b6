"""Which machines would take the pods of some nodes for the least money; ``choosing.py`` is where to start reading."""
