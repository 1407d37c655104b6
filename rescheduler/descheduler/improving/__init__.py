"""The end that each plugin of a DeschedulerPolicy is after, reached by our own planner with as few evictions as can be.

``scopes.py`` says who may move for a plugin, ``ends.py`` what it is after as a cost of placements, ``improving.py``
plans for all of them, one after the other, and sets what descheduler itself would come to beside it.
"""
